//! What the runs of [`sync`](super::sync) have shown so far: races and problems, each once, and with them the sites that
//! are visible in the next pass.

use super::exploration::{Atomicity, FoundProblem, FoundRace, RaceAccess, RaceKey, common};
use super::sync_runs::Taken;
use raddle_base::SiteId;
use raddle_event::{Loc, Problem, ProblemKind, Schedule, Trace};
use raddle_finding::Deadlocks;
use raddle_machine::{Machine, Visibility};
use raddle_order::{Listing, RacePair};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(crate) struct Ledger {
    found: Found,
    known_races: BTreeSet<RaceKey>,
    /// Where they are among those found.
    known_problems: BTreeMap<Vec<ProblemKey>, usize>,
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

impl Found {
    /// `all` tells whether every deadlock would have been seen.
    pub(crate) fn deadlocks(&self, all: bool) -> Deadlocks {
        if self.problems.iter().any(|found| found.problems[0].kind == ProblemKind::Deadlock) {
            Deadlocks::Found
        } else if all {
            Deadlocks::None
        } else {
            Deadlocks::Unknown
        }
    }
}

/// Kind, place and the function of the thread.
pub(crate) type ProblemKey = (ProblemKind, SiteId, String);

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

    pub(crate) fn visibility(&self) -> &Visibility {
        &self.visibility
    }

    pub(crate) fn assumptions(&self) -> &BTreeSet<&'static str> {
        &self.found.assumptions
    }

    /// What shows the races and problems found.
    pub(crate) fn schedules(&self) -> impl Iterator<Item = (&Schedule, &Visibility)> {
        let races = self.found.races.iter().map(|race| (&race.schedule, &race.visibility));
        races.chain(self.found.problems.iter().map(|problem| (&problem.schedule, &problem.visibility)))
    }

    /// Takes over what another ledger of the same pass has.
    pub(crate) fn add(&mut self, other: Ledger) {
        for race in other.found.races {
            if self.known_races.insert(race.key) {
                self.learned = Learned::Something;
                self.found.races.push(race);
            }
        }
        for (key, index) in other.known_problems {
            self.known_problems.entry(key).or_insert_with(|| {
                self.found.problems.push(other.found.problems[index].clone());
                self.found.problems.len() - 1
            });
        }
        self.racy.extend(other.racy);
        self.found.assumptions.extend(other.found.assumptions);
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

    /// Whether a plain access there is in a race.
    pub(crate) fn is_racy(&self, site: SiteId) -> bool {
        self.racy.contains(&site)
    }

    pub(crate) fn race_count(&self) -> usize {
        self.found.races.len()
    }

    /// Takes note of a run that has ended, or of the beginning of one.
    pub(crate) fn run<M: Machine>(&mut self, machine: &M, trace: &Trace, path: &[Taken]) {
        self.races(trace, path);
        self.raceless_run(machine, path);
    }

    /// The same for a run that is known to have no race.
    pub(crate) fn raceless_run<M: Machine>(&mut self, machine: &M, path: &[Taken]) {
        self.problems(machine, path);
        self.found.assumptions.extend(machine.assumptions());
    }

    /// Takes note of the races of a run, or of the beginning of one.
    pub(crate) fn races(&mut self, trace: &Trace, path: &[Taken]) {
        for pair in raddle_order::pairs::list(trace, Listing::OncePerSite) {
            self.race(trace, pair, path);
        }
    }

    pub(crate) fn knows(&self, race: &RaceKey) -> bool {
        self.known_races.contains(race)
    }

    pub(crate) fn results(mut self) -> Found {
        self.found.races.sort_by_key(|race| race.key);
        self.found
    }

    /// Takes note of one race.
    pub(crate) fn race(&mut self, trace: &Trace, pair: RacePair, path: &[Taken]) {
        let key = key_of(trace, pair);
        if !self.known_races.insert(key) {
            return;
        }
        self.learned = Learned::Something;
        let plain = [key.low, key.high].into_iter().filter(|access| access.atomicity == Atomicity::Plain);
        self.racy.extend(plain.map(|access| access.site));
        self.found.races.push(found_race(trace, pair, path, &self.visibility));
    }

    /// Takes note of the problems of a run, or of the beginning of one.
    pub(crate) fn problems<M: Machine>(&mut self, machine: &M, path: &[Taken]) {
        if machine.problems().is_empty() {
            return;
        }
        for (key, problems) in problem_groups(machine) {
            self.known_problems.entry(key).or_insert_with(|| {
                self.found.problems.push(FoundProblem {
                    problems,
                    schedule: Schedule { choices: path.iter().map(|taken| taken.choice).collect() },
                    visibility: self.visibility.clone(),
                });
                self.found.problems.len() - 1
            });
        }
    }
}

pub(crate) fn key_of(trace: &Trace, pair: RacePair) -> RaceKey {
    let [(a, _), (b, _)] = accesses(trace, pair);
    RaceKey::new(a, b)
}

/// The race with the shortest beginning of the path that shows it.
pub(crate) fn found_race(
    trace: &Trace,
    pair: RacePair,
    path: &[Taken],
    visibility: &Visibility,
) -> FoundRace {
    let [(a, a_loc), (b, b_loc)] = accesses(trace, pair);
    let steps = path.partition_point(|taken| taken.events <= pair.second);
    FoundRace {
        key: RaceKey::new(a, b),
        first: trace.events[pair.first],
        second: trace.events[pair.second],
        loc: common(a_loc, b_loc),
        schedule: Schedule { choices: path[..steps].iter().map(|taken| taken.choice).collect() },
        visibility: visibility.clone(),
    }
}

fn accesses(trace: &Trace, pair: RacePair) -> [(RaceAccess, Loc); 2] {
    [pair.first, pair.second].map(|at| RaceAccess::of(&trace.events[at]).expect("a race is between accesses"))
}

/// The problems of this run: each alone, but the threads that are stuck together.
pub(crate) fn problem_groups<M: Machine>(machine: &M) -> Vec<(Vec<ProblemKey>, Vec<Problem>)> {
    let (stuck, single): (Vec<&Problem>, Vec<&Problem>) = machine
        .problems()
        .iter()
        .partition(|problem| matches!(problem.kind, ProblemKind::Deadlock | ProblemKind::Livelock));
    let groups = single.into_iter().map(|problem| vec![problem]).chain((!stuck.is_empty()).then_some(stuck));
    let keyed = |group: Vec<&Problem>| {
        let key_of =
            |problem: &&Problem| (problem.kind, problem.site, machine.thread_info(problem.thread).entry);
        let mut key: Vec<ProblemKey> = group.iter().map(key_of).collect();
        key.sort();
        (key, group.into_iter().cloned().collect())
    };
    groups.map(keyed).collect()
}
