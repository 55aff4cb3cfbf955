//! Which reversals of the last run hold for the present one too.
//!
//! The beginning of a run in which a race goes the other way is what does not depend on its first step, and then the second. While the first
//! step stays, runs differ in what comes later. If the first step comes before all that is new now, and before all that was new in the
//! last run, the beginning is the same as it was then: it is planned or covered already. Not so when a thread goes round in circles:
//! what is covered is then looked at more closely.

use super::run::Run;
use raddle_base::Id;
use raddle_event::ThreadId;

#[derive(Default)]
pub(super) struct Rests {
    /// For each step of the run the last one that is not ordered behind it.
    last: Vec<Last>,
    /// What all new steps know of each thread.
    known: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Last {
    /// 0 when there is none.
    at: usize,
    /// It was the same in the last run, whose races were all looked at.
    same: bool,
    /// The races of the run at hand are looked at.
    counts: bool,
}

impl Rests {
    /// A run has ended whose first `fresh` steps are those of the last one. Its races up to `end` are looked at and none of its threads
    /// goes round in circles; otherwise `end` is 0.
    pub(super) fn look(&mut self, run: &Run, fresh: usize, end: usize) {
        let steps = &run.steps;
        let threads = steps[..fresh].iter().map(|step| step.thread().index() + 1).max().unwrap_or(0);
        self.known.clear();
        self.known.resize(threads, u32::MAX);
        for step in &steps[fresh..] {
            for (thread, known) in self.known.iter_mut().enumerate() {
                *known = step.knows(ThreadId::from_index(thread)).min(*known);
            }
        }
        self.last.truncate(fresh);
        for (depth, step) in steps.iter().enumerate() {
            let behind = |later: &usize| step.is_before(&steps[*later]);
            let settled = depth < fresh && step.epoch().count <= self.known[step.thread().index()];
            let before = self.last.get(depth).copied();
            let same = settled && before.is_some_and(|last| last.counts && last.at < fresh);
            let at = match before {
                Some(last) if same => last.at,
                _ => (depth + 1..steps.len()).rev().find(|later| !behind(later)).unwrap_or(0),
            };
            let last = Last { at, same: same && depth < end, counts: depth < end };
            match self.last.get_mut(depth) {
                Some(before) => *before = last,
                None => self.last.push(last),
            }
        }
    }

    pub(super) fn is_same(&self, depth: usize) -> bool {
        self.last[depth].same
    }
}
