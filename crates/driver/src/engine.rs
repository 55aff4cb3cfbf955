//! Runs a search on the interpreter, within the limits, behind a guard.

use crate::guard::guarded;
use crate::load::Loaded;
use crate::pruning::StaticOracle;
use crate::statics::Statically;
use crate::watchdog::{Bounds, watched};
use crate::{Chance, Control, Engines, Goal, Mode, Search};
use raddle_explore::enumerate::{self, Exploration, Gap, Limits, RunCount};
use raddle_explore::pdp::{self, Anything};
use raddle_explore::random::{Plan, Strategy, random};
use raddle_explore::stateful::{Caching, stateful};
use raddle_explore::{dpor, minimise};
use raddle_finding::{Deadlocks, UnknownReason};
use raddle_interp::Interp;
use raddle_machine::Visibility;
use std::sync::Arc;
use std::time::Instant;

pub(crate) struct Explored {
    pub(crate) exploration: Exploration,
    /// What the machine did not cover although every run was seen: values that were not all tried.
    pub(crate) incomplete: Vec<UnknownReason>,
    /// Why the search was stopped from outside; empty if it was not.
    pub(crate) stopped: String,
}

/// `Err` is the reason for an `unknown` without any finding.
pub(crate) fn explore(
    loaded: &Loaded,
    search: &Search,
    known: Option<&Statically>,
    control: Control<'_>,
    began: Instant,
) -> Result<Explored, UnknownReason> {
    guarded("explore", || {
        let mut machine =
            Interp::new(Arc::clone(&loaded.program), Arc::clone(&loaded.models), loaded.options.clone())
                .map_err(|error| UnknownReason { place: String::new(), text: error.to_string() })?;
        let bounds = Bounds { time: search.time, memory: search.memory, began };
        let oracle = known.filter(|_| may_prune(search)).and_then(|known| {
            let open = known.open.clone()?;
            Some((StaticOracle::new(&loaded.program, &loaded.models, open), &known.assumptions))
        });
        Ok(watched(control.interrupt, bounds, |watch| {
            let mut limits = Limits {
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
            };
            let pruned = |machine: &mut Interp, limits: &Limits| match &oracle {
                None => pdp::search(machine, limits, Visibility::SyncOnly, &Anything).reduced.exploration,
                Some((oracle, assumptions)) => {
                    let mut pruned = pdp::search(machine, limits, Visibility::SyncOnly, oracle);
                    pruned.reduced.exploration.assumptions.extend(*assumptions);
                    pruned.reduced.exploration
                }
            };
            let mut exploration = match search.mode {
                Mode::Enumerate => enumerate::sync(&mut machine, &limits),
                Mode::EveryAccess => enumerate::every_access(&mut machine, &limits),
                Mode::Dpor => dpor::baseline(&mut machine, &limits, Visibility::SyncOnly).exploration,
                Mode::Stateful => {
                    stateful(&mut machine, &limits, Visibility::SyncOnly, Caching::On).exploration
                }
                Mode::Random | Mode::Pct => {
                    let Chance { seed, runs, depth } = search.chance;
                    let strategy = match search.mode {
                        Mode::Pct => Strategy::Pct { depth },
                        _ => Strategy::Walk,
                    };
                    random(&mut machine, &limits, Visibility::SyncOnly, Plan { strategy, seed, runs })
                }
                Mode::Pdp => pruned(&mut machine, &limits),
                Mode::Optimal => {
                    if search.engines == Engines::All {
                        limits.time = search.time.map(|time| time.saturating_sub(began.elapsed()) / 2);
                    }
                    let all = dpor::optimal(&mut machine, &limits, Visibility::SyncOnly).exploration;
                    limits.time = None;
                    match all.unknown_reasons.contains(&Gap::Time) && all.races.is_empty() {
                        true => after(all, pruned(&mut machine, &limits)),
                        false => all,
                    }
                }
            };
            if search.mode != Mode::EveryAccess && !watch.is_over() {
                simplify(&mut machine, &mut exploration);
            }
            let incomplete = machine
                .uncovered()
                .into_iter()
                .map(|text| UnknownReason { place: String::new(), text })
                .collect();
            let stopped = if watch.is_over() { watch.reason() } else { String::new() };
            Explored { exploration, incomplete, stopped }
        }))
    })?
}

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

fn simplify(machine: &mut Interp, exploration: &mut Exploration) {
    for race in &mut exploration.races {
        *race = minimise::race(machine, race, SIMPLER);
    }
    for problem in &mut exploration.problems {
        *problem = minimise::problem(machine, problem, SIMPLER);
    }
}
