//! Runs a search on the interpreter, within the limits, behind a guard.

use crate::guard::guarded;
use crate::load::Loaded;
use crate::watchdog::{Bounds, watched};
use crate::{Control, Goal, Mode, Search};
use raddle_explore::enumerate::{self, Exploration, Limits};
use raddle_explore::{dpor, minimise};
use raddle_finding::UnknownReason;
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
    control: Control<'_>,
    began: Instant,
) -> Result<Explored, UnknownReason> {
    guarded("explore", || {
        let mut machine =
            Interp::new(Arc::clone(&loaded.program), Arc::clone(&loaded.models), loaded.options.clone())
                .map_err(|error| UnknownReason { place: String::new(), text: error.to_string() })?;
        let bounds = Bounds { time: search.time, memory: search.memory, began };
        Ok(watched(control.interrupt, bounds, |watch| {
            let limits = Limits {
                goal: match search.goal {
                    Goal::AllRaces => enumerate::Goal::AllRaces,
                    Goal::FirstRace => enumerate::Goal::FirstRace,
                },
                executions: search.executions.unwrap_or(u64::MAX),
                progress: control.progress,
                interrupt: Some(watch.flag()),
                ..Limits::default()
            };
            let mut exploration = match search.mode {
                Mode::Enumerate => enumerate::sync(&mut machine, &limits),
                Mode::EveryAccess => enumerate::every_access(&mut machine, &limits),
                Mode::Dpor => dpor::baseline(&mut machine, &limits, Visibility::SyncOnly).exploration,
                Mode::Optimal => dpor::optimal(&mut machine, &limits, Visibility::SyncOnly).exploration,
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
