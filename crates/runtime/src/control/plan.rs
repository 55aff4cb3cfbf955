//! A schedule for the real program, as a value and as the text that the tool hands to the run-time library.

use super::model::Spurious;
use super::operation::Kind;
use super::steering::Steering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

const HEADER: &str = "raddle-native-schedule 1";

/// A step of the schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    pub thread: u32,
    pub kind: Kind,
    /// 0: anywhere.
    pub site: u32,
    pub variant: u32,
    pub value: Option<u64>,
    /// Numbers the objects of the schedule; 0: not said.
    pub object: u32,
}

/// A schedule as the tool wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub steps: Vec<Step>,
    pub visible: Visible,
    pub spurious: Spurious,
    /// Places of the two accesses that are to race: the run ends when they do.
    pub race: [BTreeSet<u32>; 2],
    /// Places that are copies of others, made by inlining.
    pub copies: BTreeMap<u32, u32>,
    /// Calls of library functions that the schedule knows nothing of: operations that libraries make there pass.
    pub aside: BTreeSet<u32>,
    /// For a debugger: the run does not end when what the schedule is for is there, but calls `__raddle_stopped`.
    pub debugged: bool,
    /// The two accesses before which their threads are held for it; thread, place, how-manieth.
    pub hold: Vec<(u32, u32, u32)>,
    /// No progress for so long is a divergence.
    pub patience: Option<Duration>,
    /// The steps are events of a recorded run. What leaves no event passes; atomics that do not come are passed over.
    pub recorded: Option<Afterwards>,
    /// Threads that go first after the last step of a recorded run: to their accesses, or to where they block.
    pub last: Vec<u32>,
    /// How a recorded run goes on after its last step, if not in turn.
    pub steering: Option<Steering>,
}

/// What becomes of a recorded run once the two accesses were seen to race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Afterwards {
    /// To its own end, with the races that it has there.
    GoesOn,
    Ends,
}

/// Which plain accesses are stops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Visible {
    #[default]
    None,
    Sites(BTreeSet<u32>),
    All,
}

impl Plan {
    /// `key value` lines, then one line for each step: thread, kind, site, variant, object, value (`-`: none).
    pub fn parse(text: &str) -> Result<Plan, String> {
        let mut lines = text.lines().enumerate();
        if lines.next().map(|(_, line)| line) != Some(HEADER) {
            return Err(format!("it does not start with `{HEADER}`"));
        }
        let mut plan = Plan::default();
        for (number, line) in lines {
            let bad = || format!("line {}: `{line}` is not understood", number + 1);
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["visible", "all"] => plan.visible = Visible::All,
                ["visible", "sites", ref sites @ ..] => {
                    let sites: Result<BTreeSet<u32>, _> = sites.iter().map(|site| site.parse()).collect();
                    plan.visible = Visible::Sites(sites.map_err(|_| bad())?);
                }
                ["debugged"] => plan.debugged = true,
                ["recorded", "goes-on"] => plan.recorded = Some(Afterwards::GoesOn),
                ["recorded", "ends"] => plan.recorded = Some(Afterwards::Ends),
                ["last", ref threads @ ..] => {
                    let threads: Result<Vec<u32>, _> = threads.iter().map(|thread| thread.parse()).collect();
                    plan.last = threads.map_err(|_| bad())?;
                }
                ["steer", ref words @ ..] => plan.steering = Some(Steering::parse(words).ok_or_else(bad)?),
                ["hold", thread, site, nth] => {
                    let number = |word: &str| word.parse().map_err(|_| bad());
                    plan.hold.push((number(thread)?, number(site)?, number(nth)?));
                }
                ["aside", ref sites @ ..] => {
                    let sites: Result<BTreeSet<u32>, _> = sites.iter().map(|site| site.parse()).collect();
                    plan.aside = sites.map_err(|_| bad())?;
                }
                ["race", end @ ("0" | "1"), ref sites @ ..] => {
                    let sites: Result<BTreeSet<u32>, _> = sites.iter().map(|site| site.parse()).collect();
                    plan.race[usize::from(end == "1")] = sites.map_err(|_| bad())?;
                }
                ["copy", site, original] => {
                    let number = |word: &str| word.parse().map_err(|_| bad());
                    plan.copies.insert(number(site)?, number(original)?);
                }
                ["spurious", "off"] => plan.spurious = Spurious::Off,
                ["patience", milliseconds] => {
                    plan.patience = Some(Duration::from_millis(milliseconds.parse().map_err(|_| bad())?));
                }
                _ => plan.steps.push(Step::parse(&words).ok_or_else(bad)?),
            }
        }
        Ok(plan)
    }
}

impl Plan {
    /// The place in the program as it was before inlining.
    pub fn original(&self, site: u32) -> u32 {
        self.copies.get(&site).copied().unwrap_or(site)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |sites: &BTreeSet<u32>| sites.iter().map(|site| format!(" {site}")).collect::<String>();
        writeln!(f, "{HEADER}")?;
        match &self.visible {
            Visible::None => {}
            Visible::Sites(sites) => writeln!(f, "visible sites{}", list(sites))?,
            Visible::All => writeln!(f, "visible all")?,
        }
        for (end, sites) in self.race.iter().enumerate().filter(|(_, sites)| !sites.is_empty()) {
            writeln!(f, "race {end}{}", list(sites))?;
        }
        if self.debugged {
            writeln!(f, "debugged")?;
        }
        match self.recorded {
            None => {}
            Some(Afterwards::GoesOn) => writeln!(f, "recorded goes-on")?,
            Some(Afterwards::Ends) => writeln!(f, "recorded ends")?,
        }
        if !self.last.is_empty() {
            let threads: String = self.last.iter().map(|thread| format!(" {thread}")).collect();
            writeln!(f, "last{threads}")?;
        }
        if let Some(steering) = &self.steering {
            writeln!(f, "steer {steering}")?;
        }
        for (thread, site, nth) in &self.hold {
            writeln!(f, "hold {thread} {site} {nth}")?;
        }
        if !self.aside.is_empty() {
            writeln!(f, "aside{}", list(&self.aside))?;
        }
        for (site, original) in &self.copies {
            writeln!(f, "copy {site} {original}")?;
        }
        if self.spurious == Spurious::Off {
            writeln!(f, "spurious off")?;
        }
        if let Some(patience) = self.patience {
            writeln!(f, "patience {}", patience.as_millis())?;
        }
        for Step { thread, kind, site, variant, object, value } in &self.steps {
            let value = value.map_or("-".to_owned(), |value| value.to_string());
            writeln!(f, "{thread} {} {site} {variant} {object} {value}", kind.name())?;
        }
        Ok(())
    }
}

impl Step {
    fn parse(words: &[&str]) -> Option<Step> {
        let [thread, kind, site, variant, object, value] = *words else { return None };
        Some(Step {
            thread: thread.parse().ok()?,
            kind: Kind::named(kind)?,
            site: site.parse().ok()?,
            variant: variant.parse().ok()?,
            value: if value == "-" { None } else { Some(value.parse().ok()?) },
            object: object.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Afterwards, Plan, Step, Visible};
    use crate::control::{Kind, Preference, Spurious, Steering};
    use std::time::Duration;

    #[test]
    fn text_and_back() {
        let step = |kind| Step { thread: 1, kind, site: 7, variant: 2, value: None, object: 3 };
        let mut plan = Plan { steps: Kind::ALL.into_iter().map(step).collect(), ..Plan::default() };
        plan.steps[0].value = Some(u64::MAX);
        assert_eq!(Plan::parse(&plan.to_string()), Ok(plan.clone()));
        plan.visible = Visible::Sites([1, 5].into());
        plan.race = [[9, 8].into(), [4].into()];
        plan.patience = Some(Duration::from_millis(1500));
        plan.spurious = Spurious::Off;
        plan.copies = [(20, 7), (21, 7)].into();
        plan.aside = [2, 3].into();
        plan.debugged = true;
        plan.hold = vec![(1, 7, 1), (2, 7, 3)];
        plan.recorded = Some(Afterwards::GoesOn);
        plan.last = vec![2, 1];
        plan.steering = Some(Steering { preference: Preference::Random(3), meet: vec![7] });
        assert_eq!(Plan::parse(&plan.to_string()), Ok(plan.clone()));
        plan.visible = Visible::All;
        plan.recorded = Some(Afterwards::Ends);
        assert_eq!(Plan::parse(&plan.to_string()), Ok(plan.clone()));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (text, words) in [
            ("", "does not start"),
            ("raddle-native-schedule 1\n0 begin 0 0 0", "line 2"),
            ("raddle-native-schedule 1\n0 begin 0 0 0 -\n0 beginn 0 0 0 -", "line 3"),
            ("raddle-native-schedule 1\nvisible sites x", "line 2"),
            ("raddle-native-schedule 1\nrecorded", "line 2"),
            ("raddle-native-schedule 1\nlast x", "line 2"),
            ("raddle-native-schedule 1\nsteer x", "line 2"),
        ] {
            assert!(Plan::parse(text).is_err_and(|error| error.contains(words)), "{text}");
        }
    }
}
