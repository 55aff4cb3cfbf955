//! Time, memory and the user's interrupt, watched while a search runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// Looks at the bounds this often.
const PERIOD: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// From `began` on.
    pub(crate) time: Option<Duration>,
    /// Bytes of the whole process.
    pub(crate) memory: Option<u64>,
    pub(crate) began: Instant,
}

#[cfg(test)]
impl Bounds {
    /// No limits, from now on.
    pub(crate) fn none() -> Bounds {
        Bounds { time: None, memory: None, began: Instant::now() }
    }
}

/// What a search asks: is it over, and why.
pub(crate) struct Watch<'a> {
    interrupt: &'a AtomicBool,
    full: &'a AtomicBool,
    over: &'a AtomicBool,
    bounds: Bounds,
}

impl Watch<'_> {
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// For a search to look at.
    pub(crate) fn flag(&self) -> &AtomicBool {
        self.over
    }

    /// In words; meaningful once it is over.
    pub(crate) fn reason(&self) -> String {
        if self.interrupt.load(Ordering::Relaxed) {
            "interrupted".to_owned()
        } else if self.full.load(Ordering::Relaxed) {
            format!("the memory limit of {} bytes was reached", self.bounds.memory.unwrap_or_default())
        } else {
            let seconds = self.bounds.time.unwrap_or_default().as_secs_f64();
            format!("the time limit of {seconds} s was reached")
        }
    }
}

/// Runs `work` under a watch.
pub(crate) fn watched<T>(interrupt: &AtomicBool, bounds: Bounds, work: impl FnOnce(&Watch<'_>) -> T) -> T {
    let (full, over, done) = (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
    let deadline = bounds.time.and_then(|time| bounds.began.checked_add(time));
    let look = || {
        if bounds.memory.is_some_and(|memory| resident_bytes().is_some_and(|bytes| bytes > memory)) {
            full.store(true, Ordering::Relaxed);
        }
        let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if late || full.load(Ordering::Relaxed) || interrupt.load(Ordering::Relaxed) {
            over.store(true, Ordering::Relaxed);
        }
    };
    look();
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) && !over.load(Ordering::Relaxed) {
                std::thread::park_timeout(PERIOD);
                look();
            }
        });
        let _end = EndOfWork { done: &done, watcher: watcher.thread() };
        work(&Watch { interrupt, full: &full, over: &over, bounds })
    })
}

/// Ends the watching thread also when the work panics.
struct EndOfWork<'a> {
    done: &'a AtomicBool,
    watcher: &'a Thread,
}

impl Drop for EndOfWork<'_> {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        self.watcher.unpark();
    }
}

/// Memory of this process that is in use; `None` where the system does not tell.
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

#[cfg(test)]
mod tests {
    use super::{Bounds, watched};
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    fn reason(interrupt: bool, time: Option<Duration>, memory: Option<u64>) -> String {
        let interrupt = AtomicBool::new(interrupt);
        watched(&interrupt, Bounds { time, memory, ..Bounds::none() }, |watch| {
            while !watch.is_over() {
                std::thread::yield_now();
            }
            watch.reason()
        })
    }

    #[test]
    fn each_bound_ends_the_work() {
        let short = Some(Duration::from_millis(30));
        assert_eq!(reason(false, short, None), "the time limit of 0.03 s was reached");
        assert_eq!(reason(false, short, Some(u64::MAX)), "the time limit of 0.03 s was reached");
        assert_eq!(reason(false, None, Some(1)), "the memory limit of 1 bytes was reached");
        assert_eq!(reason(true, None, None), "interrupted");
        assert_eq!(reason(true, None, Some(u64::MAX)), "interrupted");
    }

    #[test]
    fn nothing_ends_what_is_within_bounds() {
        let interrupt = AtomicBool::new(false);
        let bounds =
            Bounds { time: Some(Duration::from_secs(3600)), memory: Some(u64::MAX), ..Bounds::none() };
        assert!(watched(&interrupt, bounds, |watch| !watch.is_over()));
        assert!(watched(&interrupt, Bounds::none(), |watch| !watch.is_over()));
    }
}
