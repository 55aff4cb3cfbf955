//! Runs the enumerator on the interpreter, within the limits, behind a guard.

use crate::bounded::{Bounded, Covers};
use crate::guard::guarded;
use crate::load::Loaded;
use crate::watchdog::{Bounds, watched};
use crate::{Control, Goal, Mode, Search};
use raddle_explore::enumerate::{self, Exploration, Limits};
use raddle_finding::UnknownReason;
use raddle_interp::Interp;
use std::sync::Arc;
use std::sync::atomic::Ordering;
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
        let machine =
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
            let mut machine = Bounded::new(machine, watch);
            let exploration = match search.mode {
                Mode::Sync => enumerate::sync(&mut machine, &limits),
                Mode::EveryAccess => enumerate::every_access(&mut machine, &limits),
            };
            let incomplete = machine
                .uncovered()
                .iter()
                .map(|text| UnknownReason { place: String::new(), text: text.clone() })
                .collect();
            let stopped = if watch.flag().load(Ordering::Relaxed) { watch.reason() } else { String::new() };
            Explored { exploration, incomplete, stopped }
        }))
    })?
}

impl Covers for Interp {
    fn uncovered(&self) -> Vec<String> {
        self.incomplete_reasons().to_vec()
    }
}
