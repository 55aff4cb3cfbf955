//! Runs a search on the interpreter, within the limits, behind a guard.

use crate::guard::guarded;
use crate::kept::{self, Resumed};
use crate::load::Loaded;
use crate::pruning::{Pairs, StaticOracle};
use crate::reached::Reached;
use crate::statics::Statically;
use crate::watchdog::{Bounds, Watch, watched};
use crate::{Chance, Checkpoint, Control, Engines, Goal, Mode, Search, plain};
use raddle_event::SearchTree;
use raddle_explore::dpor::{Keeping, Kept};
use raddle_explore::enumerate::{self, Coverage, Exploration, Gap, Limits, RunCount};
use raddle_explore::pdp::{self, Anything, Oracle, Pruned};
use raddle_explore::random::{Plan, Strategy, random};
use raddle_explore::stateful::{Caching, stateful};
use raddle_explore::{dpor, minimise};
use raddle_finding::{Deadlocks, PruningCounts, UnknownReason};
use raddle_interp::{Interp, Options};
use raddle_machine::{Machine, Visibility};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

pub(crate) struct Explored {
    pub(crate) exploration: Exploration,
    /// Of the search that prunes, if it ran.
    pub(crate) pruning: Option<PruningCounts>,
    pub(crate) seconds: f64,
    /// What the machine did not cover although every run was seen: values that were not all tried.
    pub(crate) incomplete: Vec<UnknownReason>,
    /// Why the search was stopped from outside; empty if it was not.
    pub(crate) stopped: String,
    /// What `certify` can check, or why there is nothing.
    pub(crate) tree: Result<SearchTree, String>,
    /// What executions came to.
    pub(crate) reached: Reached,
    /// Why a checkpoint could not be written.
    pub(crate) warnings: Vec<String>,
}

/// What to search, and what is known before.
pub(crate) struct Aim<'a> {
    pub(crate) search: &'a Search,
    pub(crate) known: Option<&'a Statically>,
    /// Where an earlier search stopped.
    pub(crate) resumed: Option<Resumed>,
}

/// `Err` is the reason for an `unknown` without any finding.
pub(crate) fn explore(
    loaded: &Loaded,
    aim: Aim<'_>,
    control: Control<'_>,
    began: Instant,
) -> Result<Explored, UnknownReason> {
    let Aim { search, known, resumed } = aim;
    guarded("explore", || {
        let machine =
            Interp::new(Arc::clone(&loaded.program), Arc::clone(&loaded.models), loaded.options.clone())
                .map_err(|error| UnknownReason { place: String::new(), text: error.to_string() })?;
        let oracle = known.filter(|_| may_prune(search)).and_then(|known| {
            let open = known.open.clone()?;
            let oracle = StaticOracle::new(&loaded.program, &loaded.models, Pairs::Open(open));
            Some((oracle, &known.assumptions))
        });
        let helpers = vec![machine.clone(); search.helpers];
        let tree = Err(match search.mode {
            Mode::Pdp => SECTIONS.to_owned(),
            _ => "only `--search optimal` writes down what `certify` can check".to_owned(),
        });
        let earlier = resumed.as_ref().map(|resumed| resumed.seen.clone()).unwrap_or_default();
        let mut work = Work {
            loaded,
            machine,
            helpers,
            for_races: None,
            search,
            oracle,
            resumed,
            pruning: None,
            tree,
            warnings: Vec::new(),
        };
        let whole = Bounds { time: search.time, memory: search.memory, began };
        let bounds = Bounds { time: search.time.map(|time| time - for_replays(time)), ..whole };
        let start = Instant::now();
        watched(control.interrupt, bounds, |watch| {
            let limits = limits(search, control, watch);
            let left = bounds.time.map(|time| time.saturating_sub(began.elapsed()));
            let mut exploration = work.run(&limits, left).map_err(|text| plain(&text))?;
            if search.certificate.is_some()
                && exploration.coverage == Coverage::Complete
                && exploration.races.is_empty()
            {
                work.certify(&limits);
            }
            let seconds = start.elapsed().as_secs_f64();
            if search.mode != Mode::EveryAccess && !watch.is_over() {
                simplify(&mut work.machine, &mut exploration, watch.flag());
            }
            let machines = || work.helpers.iter().chain(&work.for_races).chain([&work.machine]);
            let uncovered: BTreeSet<String> =
                machines().flat_map(Interp::uncovered).chain(earlier.uncovered).collect();
            let mut reached = Reached::by(machines());
            reached.add(earlier.reached);
            Ok(Explored {
                exploration,
                pruning: work.pruning,
                seconds,
                incomplete: uncovered
                    .into_iter()
                    .map(|text| UnknownReason { place: String::new(), text })
                    .collect(),
                stopped: if watch.is_over() { whole.words(watch.cause()) } else { String::new() },
                tree: work.tree,
                reached,
                warnings: work.warnings,
            })
        })
    })?
}

/// Of a time limit, what is kept for replaying the races found, so that none is lost for want of time.
fn for_replays(limit: Duration) -> Duration {
    (limit / 4).min(Duration::from_secs(2))
}

/// What bounds a search.
pub(crate) fn limits<'a>(search: &Search, control: Control<'a>, watch: &'a Watch<'_>) -> Limits<'a> {
    Limits {
        goal: match search.goal {
            Goal::AllRaces => enumerate::Goal::AllRaces,
            Goal::FirstRace => enumerate::Goal::FirstRace,
        },
        executions: search.executions.unwrap_or(u64::MAX),
        steps: search.steps.unwrap_or(u64::MAX),
        preemptions: search.preemptions,
        loop_rounds: search.rounds,
        progress: control.progress,
        interrupt: Some(watch.flag()),
        ..Limits::default()
    }
}

struct Work<'a> {
    loaded: &'a Loaded,
    machine: Interp,
    helpers: Vec<Interp>,
    /// The one that searched for races alone, if one did.
    for_races: Option<Interp>,
    search: &'a Search,
    /// Static facts, and the assumptions that they rest on.
    oracle: Option<(StaticOracle<'a>, &'a BTreeSet<&'static str>)>,
    resumed: Option<Resumed>,
    pruning: Option<PruningCounts>,
    tree: Result<SearchTree, String>,
    warnings: Vec<String>,
}

/// States of a tree that is kept without being asked for, and when it is.
const MOST_STATES: [usize; 2] = [20_000, 2_000_000];

/// Time between two checkpoints.
const KEPT_EVERY: Duration = Duration::from_secs(5);

impl Work<'_> {
    /// `Err` when it cannot go on from where an earlier search stopped.
    fn run(&mut self, limits: &Limits, left: Option<Duration>) -> Result<Exploration, String> {
        let machine = &mut self.machine;
        Ok(match self.search.mode {
            Mode::Enumerate => enumerate::sync(machine, limits),
            Mode::EveryAccess => enumerate::every_access(machine, limits),
            Mode::Dpor => dpor::baseline(machine, limits, Visibility::SyncOnly).exploration,
            Mode::Symmetric => dpor::up_to_symmetry(machine, limits, Visibility::SyncOnly).exploration,
            Mode::Stateful => stateful(machine, limits, Visibility::SyncOnly, Caching::On).exploration,
            Mode::Random => self.by_chance(limits, Strategy::Walk),
            Mode::Pct => self.by_chance(limits, Strategy::Pct { depth: self.search.chance.depth }),
            Mode::Pdp => self.pruned(limits),
            Mode::Optimal if self.search.engines == Engines::All => {
                // What takes too long is tried again for races alone.
                let half = Limits { time: left.map(|left| left / 2), ..*limits };
                let all = self.optimal(&half)?;
                match all.unknown_reasons.contains(&Gap::Time) && all.races.is_empty() {
                    true => {
                        self.tree = Err(SECTIONS.to_owned());
                        after(all, self.pruned(limits))
                    }
                    false => all,
                }
            }
            Mode::Optimal => self.optimal(limits)?,
        })
    }

    fn optimal(&mut self, limits: &Limits) -> Result<Exploration, String> {
        if self.helpers.is_empty() && self.search.checkpoint.is_none() {
            return Ok(self.recorded(limits));
        }
        self.tree =
            Err("a search with several jobs or a checkpoint writes down no tree; --certificate FILE repeats it with one job"
                .to_owned());
        let mut machines: Vec<&mut Interp> =
            std::iter::once(&mut self.machine).chain(&mut self.helpers).collect();
        let Some(Checkpoint { file, .. }) = &self.search.checkpoint else {
            return Ok(dpor::optimal_together(&mut machines, limits, Visibility::SyncOnly).exploration);
        };
        let resumed = self.resumed.take();
        let earlier = resumed.as_ref().map(|resumed| resumed.seen.clone()).unwrap_or_default();
        let failed = RefCell::new(None);
        let save = |kept: &Kept, machines: &[&Interp]| {
            if let Err(error) = kept::write(file, self.loaded, self.search, kept, machines, &earlier) {
                failed.replace(Some(format!("cannot write the checkpoint {}: {error}", file.display())));
            }
        };
        let from = resumed.map(|resumed| resumed.kept);
        let keeping = Keeping { every: KEPT_EVERY, save: &save, from };
        let reduced = dpor::optimal_kept(&mut machines, limits, &keeping);
        self.warnings.extend(failed.take());
        reduced.map(|reduced| reduced.exploration).map_err(|misfit| kept::misfit(file, misfit))
    }

    /// With one job, and the tree if it may be wanted.
    fn recorded(&mut self, limits: &Limits) -> Exploration {
        let Search { certificate, witness_dir, .. } = self.search;
        let most = match (certificate, witness_dir) {
            (Some(_), _) => MOST_STATES[1],
            (None, Some(_)) => MOST_STATES[0],
            (None, None) => {
                self.tree = Err("none was asked for".to_owned());
                return dpor::optimal(&mut self.machine, limits, Visibility::SyncOnly).exploration;
            }
        };
        let (reduced, tree) = dpor::optimal_with_tree(&mut self.machine, limits, Visibility::SyncOnly, most);
        self.tree = tree.ok_or_else(|| match certificate {
            _ if reduced.exploration.coverage != Coverage::Complete => {
                "the search that can be checked did not come to its end".to_owned()
            }
            Some(_) => format!("the search has more than {most} states"),
            None => format!("the search has more than {most} states; --certificate FILE keeps more"),
        });
        reduced.exploration
    }

    /// Repeats a search that cannot be checked with one that can.
    fn certify(&mut self, limits: &Limits) {
        if self.search.mode != Mode::Optimal || !self.helpers.is_empty() || self.search.checkpoint.is_some() {
            self.recorded(limits);
        }
    }

    fn by_chance(&mut self, limits: &Limits, strategy: Strategy) -> Exploration {
        let Chance { seed, runs, .. } = self.search.chance;
        random(&mut self.machine, limits, Visibility::SyncOnly, Plan { strategy, seed, runs })
    }

    fn pruned(&mut self, limits: &Limits) -> Exploration {
        let machine = &self.machine;
        let known = self.oracle.take().map(|(oracle, assumptions)| {
            (oracle.with_branches(|global| machine.address_of(global)), assumptions)
        });
        let (oracle, branches): (&dyn Oracle, _) = match &known {
            Some((oracle, _)) => (oracle, oracle.reported()),
            None => (&Anything, Arc::default()),
        };
        let Loaded { program, models, options, .. } = self.loaded;
        let options = Options { branches, ..options.clone() };
        let mut machine = Interp::new(Arc::clone(program), Arc::clone(models), options)
            .expect("it could be started before");
        let Pruned { reduced, counters, size } =
            pdp::search(&mut machine, limits, Visibility::SyncOnly, oracle, self.search.property);
        self.for_races = Some(machine);
        let mut exploration = reduced.exploration;
        if let Some((_, assumptions)) = &known {
            exploration.assumptions.extend(*assumptions);
        }
        let pdp::Counters { checks, yes, skipped } = counters;
        let pdp::Size { threads, variables, accesses, locks } = size;
        self.pruning = Some(PruningCounts { threads, variables, accesses, locks, checks, yes, skipped });
        exploration
    }
}

/// Why a search for races alone has no tree.
const SECTIONS: &str =
    "the search for races alone leaves out orders of critical sections, which `certify` cannot check";

fn may_prune(search: &Search) -> bool {
    search.mode == Mode::Pdp || search.mode == Mode::Optimal && search.engines == Engines::All
}

/// A search for races, after one for everything that has not come to its end and found none.
fn after(all: Exploration, races: Exploration) -> Exploration {
    let mut problems = all.problems;
    for problem in races.problems {
        if !problems.iter().any(|known| known.problems == problem.problems) {
            problems.push(problem);
        }
    }
    let found = Deadlocks::Found;
    Exploration {
        problems,
        deadlocks: if all.deadlocks == found || races.deadlocks == found {
            found
        } else {
            Deadlocks::Unknown
        },
        runs: RunCount {
            executions: all.runs.executions + races.runs.executions,
            infeasible: all.runs.infeasible + races.runs.infeasible,
            truncated: all.runs.truncated + races.runs.truncated,
        },
        steps: all.steps + races.steps,
        passes: all.passes + races.passes,
        assumptions: all.assumptions.into_iter().chain(races.assumptions).collect(),
        ..races
    }
}

/// Visible operations that may be spent on one schedule.
const SIMPLER: u64 = 50_000;

pub(crate) fn simplify<M: Machine>(machine: &mut M, exploration: &mut Exploration, stop: &AtomicBool) {
    for race in &mut exploration.races {
        *race = minimise::race(machine, race, SIMPLER, stop);
    }
    for problem in &mut exploration.problems {
        *problem = minimise::problem(machine, problem, SIMPLER, stop);
    }
}
