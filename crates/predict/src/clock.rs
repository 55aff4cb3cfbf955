//! When a prediction has to end. Loops that may be as long as the trace ask for it; what they were about is then left open.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// Without a time it never is over.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    end: Option<Instant>,
    /// Of the question at hand.
    until: Cell<Option<Instant>>,
    ticks: Cell<u32>,
}

/// Steps of a loop from one look at the time to the next: some tens of microseconds.
const PERIOD: u32 = 1024;

/// A question may take so many times its share of the time that is left, because most take less; and always this.
const SHARES: u32 = 8;
const SHORTEST: Duration = Duration::from_millis(5);

impl Clock {
    pub(crate) fn new(end: Option<Instant>) -> Self {
        Self { end, until: Cell::new(end), ticks: Cell::new(0) }
    }

    /// For one of so many questions that are still to be asked.
    pub(crate) fn share(&self, questions: usize) {
        let Some(end) = self.end else { return };
        let now = Instant::now();
        let left = end.saturating_duration_since(now);
        let share = left.saturating_mul(SHARES) / u32::try_from(questions.max(1)).unwrap_or(u32::MAX);
        self.until.set(Some(end.min(now + share.max(SHORTEST))));
    }

    /// All that is left.
    pub(crate) fn unshare(&self) {
        self.until.set(self.end);
    }

    pub(crate) fn until(&self) -> Option<Instant> {
        self.until.get()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.until.get().is_some_and(|until| Instant::now() >= until)
    }

    /// The same for one of many short steps: the time is looked at now and then.
    pub(crate) fn step_is_over(&self) -> bool {
        self.looks() && self.is_over()
    }

    /// For steps on what was found already: no share bounds them.
    pub(crate) fn step_is_last(&self) -> bool {
        self.looks() && self.end.is_some_and(|end| Instant::now() >= end)
    }

    fn looks(&self) -> bool {
        let ticks = self.ticks.get();
        self.ticks.set(ticks.wrapping_add(1));
        ticks.is_multiple_of(PERIOD)
    }
}
