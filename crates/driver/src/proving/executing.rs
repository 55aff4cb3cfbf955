//! The other direction of `raddle prove`: runs the program, for a race that can be replayed.
//!
//! Bounded prefixes of runs are searched ([`prefixes`]), with few threads, rounds and values first. At each bound random runs come first, then
//! one run of each equivalence class, then random runs with priorities; each has a share of the time, so that no bound takes all of it. What
//! they find is confirmed by `certify` without any bound. That they find nothing says nothing.

use crate::board::Board;
use crate::confirm::{Confirmed, confirm};
use crate::engine::simplify;
use crate::guard::guarded;
use crate::load::Loaded;
use crate::outcome::{Draft, unfinished};
use crate::{Mode, Subject, Substrate, plain, witness};
use raddle_explore::enumerate::{Exploration, Goal, Limits};
use raddle_explore::prefixes::{self, Bounds, How};
use raddle_explore::random::{Plan, Strategy};
use raddle_finding::{Outcome, UnknownReason, Verdict};
use raddle_interp::Interp;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// From shallow to deep.
const BOUNDS: [Bounds; 6] = [
    Bounds { creations: 2, rounds: 1, variants: 2 },
    Bounds { creations: 2, rounds: 2, variants: 3 },
    Bounds { creations: 3, rounds: 2, variants: 8 },
    Bounds { creations: 3, rounds: 4, variants: u32::MAX },
    Bounds { creations: 4, rounds: 10, variants: u32::MAX },
    Bounds { creations: 6, rounds: 300, variants: u32::MAX },
];
/// Shares of the time, per bound: of random runs, of the search, of runs with priorities.
const SHARES: [u32; 3] = [30, 10, 30];
/// Random runs in a row.
const RUNS: u64 = 300;
/// Visible operations of one run: of the search, and of a random run.
const LONGEST: [u64; 2] = [500, 5_000];

pub(super) struct Executing<'a> {
    loaded: &'a Loaded,
    subject: &'a Subject,
    witness_dir: Option<&'a Path>,
    stop: &'a AtomicBool,
    board: &'a Board,
    seed: u64,
    pub(super) executions: u64,
    /// About witnesses that could not be written.
    pub(super) warnings: Vec<String>,
    /// Races that `certify` did not confirm.
    pub(super) refused: Vec<UnknownReason>,
}

impl<'a> Executing<'a> {
    pub(super) fn new(
        loaded: &'a Loaded,
        subject: &'a Subject,
        witness_dir: Option<&'a Path>,
        stop: &'a AtomicBool,
        board: &'a Board,
    ) -> Self {
        let (warnings, refused) = (Vec::new(), Vec::new());
        Self { loaded, subject, witness_dir, stop, board, seed: 0, executions: 0, warnings, refused }
    }

    /// Looks for a race for so long; an outcome only if it was replayed.
    pub(super) fn race(&mut self, time: Duration) -> Option<Outcome> {
        if !self.loaded.has_main {
            return None;
        }
        let found = guarded("prove", || self.searched(time));
        let confirmed = found.unwrap_or_else(|bug| {
            self.refused.push(bug);
            None
        })?;
        Some(self.outcome(confirmed))
    }

    fn searched(&mut self, time: Duration) -> Option<Confirmed> {
        let Loaded { program, models, options, .. } = self.loaded;
        let mut machine = Interp::new(Arc::clone(program), Arc::clone(models), options.clone()).ok()?;
        let began = Instant::now();
        // The last ones again, with other seeds, as long as there is time.
        let deeper = BOUNDS.iter().skip(2).cycle();
        for bounds in BOUNDS.iter().chain(deeper) {
            for (part, share) in SHARES.iter().enumerate() {
                let left = time.saturating_sub(began.elapsed());
                if left.is_zero() || self.stop.load(Ordering::Relaxed) {
                    return None;
                }
                self.seed += 1;
                let sample = |strategy| How::Sample(Plan { strategy, seed: self.seed, runs: RUNS });
                let (how, run_steps) = match part {
                    0 => (sample(Strategy::Walk), LONGEST[1]),
                    1 => (How::All, LONGEST[0]),
                    _ => (sample(Strategy::Pct { depth: 3 }), LONGEST[1]),
                };
                let limits = Limits {
                    goal: Goal::FirstRace,
                    time: Some(left.min(time / *share)),
                    run_steps,
                    interrupt: Some(self.stop),
                    ..Limits::default()
                };
                let exploration = prefixes::search(&mut machine, &limits, *bounds, how);
                self.executions += exploration.runs.executions + exploration.runs.truncated;
                if let Some(confirmed) = self.confirmed(&mut machine, exploration) {
                    return Some(confirmed);
                }
            }
        }
        None
    }

    fn confirmed(&mut self, machine: &mut Interp, mut exploration: Exploration) -> Option<Confirmed> {
        if exploration.races.is_empty() {
            return None;
        }
        simplify(machine, &mut exploration, self.stop);
        let judge = self.loaded.certify_subject();
        let confirmed = confirm(&judge, self.loaded, &exploration, Mode::Optimal, self.board);
        if confirmed.shown.is_empty() {
            self.refused.extend(confirmed.refused.into_iter().chain(confirmed.doubtful));
            return None;
        }
        Some(confirmed)
    }

    fn outcome(&mut self, confirmed: Confirmed) -> Outcome {
        let reason = plain("the search ended with the first race; other races were not looked for");
        let mut draft: Draft = unfinished(confirmed.shown, reason);
        debug_assert_eq!(draft.rest.verdict, Verdict::Race);
        draft.rest.unknown_reasons.extend(confirmed.refused);
        draft.rest.stats.executions = self.executions;
        for shown in draft.shown_mut() {
            shown.finding.engine = "prove";
        }
        if let Some(folder) = self.witness_dir {
            let (loaded, subject) = (self.loaded, self.subject);
            let warnings = witness::write_all(loaded, subject, Substrate::Interpreter, folder, &mut draft);
            self.warnings.extend(warnings);
        }
        draft.into_outcome()
    }
}
