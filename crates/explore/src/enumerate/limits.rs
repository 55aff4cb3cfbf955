//! How far a search may go, and who may stop or watch it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(Clone, Copy)]
pub struct Limits<'a> {
    pub goal: Goal,
    /// Runs over the whole search.
    pub executions: u64,
    /// Visible operations over all runs.
    pub steps: u64,
    /// Visible operations of one run.
    pub run_steps: u64,
    /// Events of one run that [`sync`](super::sync) keeps; about 32 bytes each.
    pub run_events: usize,
    /// Preemptions of one run. Not for the enumerators.
    pub preemptions: Option<u32>,
    /// How often a thread may come to the same visible operation in one run. Not for the enumerators.
    pub loop_rounds: Option<u32>,
    pub time: Option<Duration>,
    /// Stops the search before its next step.
    pub interrupt: Option<&'a AtomicBool>,
    /// Called now and then.
    pub progress: Option<&'a (dyn Fn(&Progress) + Sync)>,
    /// For [`every_access`](super::every_access) alone.
    pub cache: StateCache,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Ends with the first run that shows a race: decides whether there is one.
    FirstRace,
    /// Goes on until all races are listed.
    AllRaces,
}

/// Whether a state that was seen before is searched again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateCache {
    Off,
    /// By fingerprint; the answer then rests on A-HASH.
    Fingerprints,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub executions: u64,
    pub steps: u64,
    /// Visible operations of the present run.
    pub depth: usize,
    /// Races found so far.
    pub races: usize,
    /// Which time the search goes through all runs, from 1: each race makes more accesses visible.
    pub pass: u32,
    /// The estimated share of the pass that is done, in thousandths: see [`Exploration::explored`](super::Exploration::explored).
    pub explored: Option<u32>,
}

impl Limits<'_> {
    pub const DEFAULT: Limits<'static> = Limits {
        goal: Goal::FirstRace,
        executions: u64::MAX,
        steps: u64::MAX,
        run_steps: 100_000,
        run_events: 8_000_000,
        preemptions: None,
        loop_rounds: None,
        time: None,
        interrupt: None,
        progress: None,
        cache: StateCache::Off,
    };

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Self::DEFAULT
    }
}
