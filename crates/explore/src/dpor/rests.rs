//! Which reversals of the last run hold for the present one too.
//!
//! The beginning of a run in which a race goes the other way is what does not depend on its first step, and then the second. While the first
//! step stays, runs differ in what comes later. If the first step comes before all that is new now, and before all that was taken back
//! for it, the beginning is the same as it was in the last run: it is planned or covered already. Not so when a thread goes round in
//! circles: what is covered is then looked at more closely.

use super::run::{Run, Step};
use raddle_base::Id;

#[derive(Default)]
pub(super) struct Rests {
    /// For each step of the last run whether its races were looked at and no thread went round in circles.
    settled: Vec<bool>,
    same: Vec<bool>,
}

/// What all of some steps know of each thread.
#[derive(Default)]
pub(super) struct Floor {
    counts: Vec<u32>,
    steps: usize,
}

impl Floor {
    /// Another of the steps.
    pub(super) fn lower(&mut self, step: &Step) {
        self.steps += 1;
        step.clock().lower(&mut self.counts);
    }

    /// No steps, of so many threads.
    pub(super) fn clear(&mut self, threads: usize) {
        self.steps = 0;
        self.counts.clear();
        self.counts.resize(threads, u32::MAX);
    }

    /// Whether the step comes before all of them.
    fn is_behind(&self, step: &Step) -> bool {
        self.steps == 0
            || self.counts.get(step.thread().index()).is_some_and(|known| step.epoch().count <= *known)
    }
}

impl Rests {
    /// A run has ended whose first `fresh` steps are those of the last one. Its races up to `end` are looked at and none of its threads
    /// goes round in circles; otherwise `end` is 0.
    pub(super) fn look(&mut self, run: &mut Run, fresh: usize, end: usize) {
        let threads = run.steps.iter().map(|step| step.thread().index() + 1).max().unwrap_or(0);
        let mut new = Floor::default();
        new.clear(threads);
        run.steps[fresh..].iter().for_each(|step| new.lower(step));
        let old = run.gone();
        self.same.clear();
        let settled = self.settled.iter().take(fresh).chain(std::iter::repeat(&false));
        let same = |(step, settled): (&Step, &bool)| *settled && new.is_behind(step) && old.is_behind(step);
        self.same.extend(run.steps[..end].iter().zip(settled).map(same));
        run.start_anew(threads);
        self.settled.clear();
        self.settled.resize(end, true);
    }

    pub(super) fn is_same(&self, depth: usize) -> bool {
        self.same.get(depth).is_some_and(|same| *same)
    }
}
