//! What ends a query without an answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The reason of a query that was ended by the flag or the deadline.
pub(crate) const STOPPED: &str = "stopped";
pub(crate) const TIMEOUT: &str = "timeout";
pub(crate) const RESOURCES: &str = "resource limit";

#[derive(Clone, Debug)]
pub struct Limits {
    /// For each query, in Z3's count of steps (`rlimit`): the same on every machine. A million takes some tenths of a second.
    pub resources: u32,
    /// For each query.
    pub timeout: Duration,
    /// For all queries together.
    pub deadline: Option<Instant>,
    /// Once it is set, every query is unknown.
    pub stop: Arc<AtomicBool>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            resources: 10_000_000,
            timeout: Duration::from_secs(60),
            deadline: None,
            stop: Arc::new(AtomicBool::new(false)),
        }
    }
}

impl Limits {
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The time that is left for a query that has taken so much.
    pub(crate) fn time(&self, taken: Duration) -> Duration {
        let own = self.timeout.saturating_sub(taken);
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        left.map_or(own, |left| left.min(own))
    }
}
