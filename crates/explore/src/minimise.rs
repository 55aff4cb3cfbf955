//! Schedules with few context switches: what a person has to follow in their head.
//!
//! Greedy, by trial: at each switch away from a thread, let the thread go on with what it does later anyway; leave out a block that
//! nothing needs. A change is kept when the changed schedule can be followed on the machine, shows the same race or problem by exact
//! happens-before, and is simpler: fewer switches, or as many and fewer steps. So the result is a real schedule whatever was
//! tried; it is not always the simplest there is. The work is bounded by a number of steps, and stopped by a flag.

use crate::enumerate::{FoundProblem, FoundRace, Recorder, Taken, found_race, key_of, problem_groups};
use raddle_event::{Choice, Schedule};
use raddle_machine::{Machine, Visibility};
use raddle_order::Listing;
use std::sync::atomic::{AtomicBool, Ordering};

/// The same race with a simpler schedule, or as it is. The machine stands at its start; leaves it there.
pub fn race<M: Machine>(machine: &mut M, found: &FoundRace, steps: u64, stop: &AtomicBool) -> FoundRace {
    let mut replays = Replays::new(machine, &found.visibility, steps, stop);
    let shown = shorten(
        found.clone(),
        |race| &race.schedule,
        |choices| {
            replays.follow(choices, |_, recorder, path| {
                let pairs = raddle_order::pairs::list(recorder.trace(), Listing::OncePerSite);
                let same = pairs.into_iter().find(|pair| key_of(recorder.trace(), *pair) == found.key)?;
                Some(found_race(recorder.trace(), same, path, &found.visibility))
            })
        },
    );
    replays.end();
    shown
}

/// The same problem with a simpler schedule, or as it is. The machine stands at its start; leaves it there.
pub fn problem<M: Machine>(
    machine: &mut M,
    found: &FoundProblem,
    steps: u64,
    stop: &AtomicBool,
) -> FoundProblem {
    let mut replays = Replays::new(machine, &found.visibility, steps, stop);
    let wanted = replays.follow(&found.schedule.choices, |machine, _, _| {
        problem_groups(machine).into_iter().find(|(_, group)| *group == found.problems).map(|(key, _)| key)
    });
    let Tried::Shown(wanted) = wanted else {
        replays.end();
        return found.clone();
    };
    let shown = shorten(
        found.clone(),
        |problem| &problem.schedule,
        |choices| {
            replays.follow(choices, |machine, _, path| {
                let (_, problems) = problem_groups(machine).into_iter().find(|(key, _)| *key == wanted)?;
                let schedule = Schedule { choices: path.iter().map(|taken| taken.choice).collect() };
                Some(FoundProblem { problems, schedule, visibility: found.visibility.clone() })
            })
        },
    );
    replays.end();
    shown
}

/// How often another thread goes on.
pub fn switches(choices: &[Choice]) -> usize {
    choices.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count()
}

enum Tried<T> {
    Shown(T),
    /// It cannot be followed, or shows something else.
    Not,
    /// All steps are used up.
    Over,
}

fn shorten<T>(
    mut best: T,
    schedule: impl Fn(&T) -> &Schedule,
    mut attempt: impl FnMut(&[Choice]) -> Tried<T>,
) -> T {
    let cost = |choices: &[Choice]| (switches(choices), choices.len());
    let mut at = 1;
    while at <= schedule(&best).choices.len() {
        let present = &schedule(&best).choices;
        let mut better = None;
        for candidate in changes(present, at) {
            if cost(&candidate) >= cost(present) {
                continue;
            }
            match attempt(&candidate) {
                Tried::Shown(shown) => {
                    better = Some(shown);
                    break;
                }
                Tried::Not => {}
                Tried::Over => return best,
            }
        }
        match better {
            // What comes before may be simpler now.
            Some(shown) => (best, at) = (shown, 1),
            None => at += 1,
        }
    }
    best
}

/// What to try at this position, where a block of one thread ends.
fn changes(choices: &[Choice], at: usize) -> Vec<Vec<Choice>> {
    let thread = choices[at - 1].thread;
    if choices.get(at).is_some_and(|next| next.thread == thread) {
        return Vec::new();
    }
    let mut tries = Vec::new();
    if let Some(again) = choices[at..].iter().position(|choice| choice.thread == thread) {
        let start = at + again;
        let end = choices[start..].iter().position(|choice| choice.thread != thread);
        let end = end.map_or(choices.len(), |length| start + length);
        tries.push([&choices[..at], &choices[start..end], &choices[at..start], &choices[end..]].concat());
    }
    let begin = choices[..at].iter().rposition(|choice| choice.thread != thread).map_or(0, |last| last + 1);
    tries.push([&choices[..begin], &choices[at..]].concat());
    tries
}

struct Replays<'m, M: Machine> {
    machine: &'m mut M,
    start: M::Checkpoint,
    recorder: Recorder,
    left: u64,
    stop: &'m AtomicBool,
}

impl<'m, M: Machine> Replays<'m, M> {
    fn new(machine: &'m mut M, visibility: &Visibility, steps: u64, stop: &'m AtomicBool) -> Self {
        machine.set_visibility(visibility.clone());
        let start = machine.checkpoint();
        Self { machine, start, recorder: Recorder::default(), left: steps, stop }
    }

    fn follow<T>(
        &mut self,
        choices: &[Choice],
        show: impl FnOnce(&M, &Recorder, &[Taken]) -> Option<T>,
    ) -> Tried<T> {
        self.recorder.truncate(0);
        let mut path = Vec::with_capacity(choices.len());
        let mut enabled = Vec::new();
        let mut followed = true;
        for choice in choices {
            self.machine.enabled(&mut enabled);
            followed = enabled.contains(choice);
            if self.stop.load(Ordering::Relaxed) {
                self.left = 0;
            }
            if !followed || self.left == 0 {
                break;
            }
            self.left -= 1;
            path.push(Taken { choice: *choice, events: self.recorder.len() });
            self.machine.step(*choice, &mut self.recorder);
        }
        let tried = match followed && path.len() == choices.len() {
            true => show(self.machine, &self.recorder, &path).map_or(Tried::Not, Tried::Shown),
            false if self.left == 0 => Tried::Over,
            false => Tried::Not,
        };
        self.machine.restore(&self.start);
        tried
    }

    fn end(self) {
        self.machine.discard(self.start);
        self.machine.set_visibility(Visibility::SyncOnly);
    }
}
