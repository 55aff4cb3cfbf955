//! What the runs of [`sync`](super::sync) have shown so far: races and problems, each once, and with them the sites that
//! are visible in the next pass.

use super::exploration::{Atomicity, FoundProblem, FoundRace, RaceAccess, RaceKey, common};
use super::sync_runs::Taken;
use raddle_base::SiteId;
use raddle_event::{Problem, ProblemKind, Schedule, Trace};
use raddle_machine::{Machine, Visibility};
use raddle_order::{Listing, RacePair};
use std::collections::BTreeSet;

#[derive(Default)]
pub(crate) struct Ledger {
    found: Found,
    known_races: BTreeSet<RaceKey>,
    known_problems: BTreeSet<Vec<ProblemKey>>,
    /// Sites of plain accesses in races.
    racy: BTreeSet<SiteId>,
    visibility: Visibility,
    learned: Learned,
}

#[derive(Default)]
pub(crate) struct Found {
    pub(crate) races: Vec<FoundRace>,
    pub(crate) problems: Vec<FoundProblem>,
    pub(crate) assumptions: BTreeSet<&'static str>,
}

type ProblemKey = (ProblemKind, SiteId, String);

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Learned {
    #[default]
    Nothing,
    Something,
}

impl Ledger {
    /// Starts with these accesses visible.
    pub(crate) fn seeing(visibility: Visibility) -> Self {
        let racy = match &visibility {
            Visibility::Sites(sites) => sites.iter().copied().collect(),
            Visibility::SyncOnly | Visibility::EveryAccess => BTreeSet::new(),
        };
        Self { racy, visibility, ..Self::default() }
    }

    /// The visibility of the next pass.
    pub(crate) fn start_pass(&mut self) -> Visibility {
        self.learned = Learned::Nothing;
        if !self.racy.is_empty() && self.visibility != Visibility::EveryAccess {
            self.visibility = Visibility::Sites(self.racy.iter().copied().collect());
        }
        self.visibility.clone()
    }

    /// Whether this pass has shown races that were not known when it started.
    pub(crate) fn learned(&self) -> bool {
        self.learned == Learned::Something
    }

    /// Whether a plain access in a race is not visible in this pass.
    pub(crate) fn has_outgrown_its_pass(&self) -> bool {
        match &self.visibility {
            Visibility::SyncOnly => !self.racy.is_empty(),
            Visibility::Sites(sites) => self.racy.len() > sites.len(),
            Visibility::EveryAccess => false,
        }
    }

    pub(crate) fn race_count(&self) -> usize {
        self.found.races.len()
    }

    /// Takes note of a run that has ended, or of the beginning of one.
    pub(crate) fn run<M: Machine>(&mut self, machine: &M, trace: &Trace, path: &[Taken]) {
        self.races(trace, path);
        self.problems(machine, path);
        self.found.assumptions.extend(machine.assumptions());
    }

    /// Takes note of the races of a run, or of the beginning of one.
    pub(crate) fn races(&mut self, trace: &Trace, path: &[Taken]) {
        for RacePair { first, second } in raddle_order::pairs::list(trace, Listing::OncePerSite) {
            self.race(trace, first, second, path);
        }
    }

    pub(crate) fn knows(&self, race: &RaceKey) -> bool {
        self.known_races.contains(race)
    }

    pub(crate) fn results(mut self) -> Found {
        self.found.races.sort_by_key(|race| race.key);
        self.found
    }

    fn race(&mut self, trace: &Trace, first: usize, second: usize, path: &[Taken]) {
        let (first, second_event) = (trace.events[first], trace.events[second]);
        let (Some((a, a_loc)), Some((b, b_loc))) = (RaceAccess::of(&first), RaceAccess::of(&second_event))
        else {
            unreachable!("a race is between accesses");
        };
        let key = RaceKey::new(a, b);
        if !self.known_races.insert(key) {
            return;
        }
        self.learned = Learned::Something;
        let plain = [a, b].into_iter().filter(|access| access.atomicity == Atomicity::Plain);
        self.racy.extend(plain.map(|access| access.site));
        let steps = path.partition_point(|taken| taken.events <= second);
        self.found.races.push(FoundRace {
            key,
            first,
            second: second_event,
            loc: common(a_loc, b_loc),
            schedule: Schedule { choices: path[..steps].iter().map(|taken| taken.choice).collect() },
            visibility: self.visibility.clone(),
        });
    }

    fn problems<M: Machine>(&mut self, machine: &M, path: &[Taken]) {
        let (stuck, single): (Vec<&Problem>, Vec<&Problem>) = machine
            .problems()
            .iter()
            .partition(|problem| matches!(problem.kind, ProblemKind::Deadlock | ProblemKind::Livelock));
        let groups =
            single.into_iter().map(|problem| vec![problem]).chain((!stuck.is_empty()).then_some(stuck));
        for group in groups {
            let key_of =
                |problem: &&Problem| (problem.kind, problem.site, machine.thread_info(problem.thread).entry);
            let mut key: Vec<ProblemKey> = group.iter().map(key_of).collect();
            key.sort();
            if self.known_problems.insert(key) {
                self.found.problems.push(FoundProblem {
                    problems: group.into_iter().cloned().collect(),
                    schedule: Schedule { choices: path.iter().map(|taken| taken.choice).collect() },
                    visibility: self.visibility.clone(),
                });
            }
        }
    }
}
