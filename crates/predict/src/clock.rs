//! When a prediction has to end. Loops that may be as long as the trace ask for it; what they were about is then left open.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// Without a time it never is over.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    until: Option<Instant>,
    ticks: AtomicU32,
}

/// Steps of a loop from one look at the time to the next: some tens of microseconds.
const PERIOD: u32 = 1024;

impl Clock {
    pub(crate) fn new(until: Option<Instant>) -> Self {
        Self { until, ticks: AtomicU32::new(0) }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// The same for one of many short steps: the time is looked at now and then.
    pub(crate) fn step_is_over(&self) -> bool {
        self.until.is_some()
            && self.ticks.fetch_add(1, Ordering::Relaxed).is_multiple_of(PERIOD)
            && self.is_over()
    }
}
