//! Time, memory and the user's interrupt, watched while a search runs.

use crate::aside::Lost;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// Looks at the bounds this often.
const PERIOD: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// From `began` on.
    pub(crate) time: Option<Duration>,
    /// Bytes of the whole process.
    pub(crate) memory: Option<u64>,
    pub(crate) began: Instant,
}

/// Which bound was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Interrupt,
    Memory,
    Time,
}

impl Bounds {
    /// The first bound that is reached now.
    pub(crate) fn reached(&self, interrupt: &AtomicBool) -> Option<Cause> {
        let full = |memory| resident_bytes().is_some_and(|bytes| bytes > memory);
        let late = |time| self.began.elapsed() >= time;
        if interrupt.load(Ordering::Relaxed) {
            Some(Cause::Interrupt)
        } else if self.memory.is_some_and(full) {
            Some(Cause::Memory)
        } else {
            self.time.is_some_and(late).then_some(Cause::Time)
        }
    }

    /// Why work was stopped that was told to. Time does not come back, nor does an interrupt; memory does, once a tool was killed.
    pub(crate) fn lost(&self, interrupt: &AtomicBool) -> Lost {
        let given_back = if self.memory.is_some() { Cause::Memory } else { Cause::Time };
        Lost::Stopped(self.words(self.reached(interrupt).unwrap_or(given_back)))
    }

    pub(crate) fn words(&self, cause: Cause) -> String {
        match cause {
            Cause::Interrupt => "interrupted".to_owned(),
            Cause::Memory => {
                format!("the memory limit of {} bytes was reached", self.memory.unwrap_or_default())
            }
            Cause::Time => {
                format!("the time limit of {} s was reached", self.time.unwrap_or_default().as_secs_f64())
            }
        }
    }
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
    over: &'a AtomicBool,
    cause: &'a OnceLock<Cause>,
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

    /// Meaningful once it is over.
    pub(crate) fn cause(&self) -> Cause {
        self.cause.get().copied().unwrap_or(Cause::Time)
    }

    /// The same in words.
    pub(crate) fn reason(&self) -> String {
        self.bounds.words(self.cause())
    }
}

/// Runs `work` under a watch.
pub(crate) fn watched<T>(interrupt: &AtomicBool, bounds: Bounds, work: impl FnOnce(&Watch<'_>) -> T) -> T {
    let (cause, over, done) = (OnceLock::new(), AtomicBool::new(false), AtomicBool::new(false));
    let look = || {
        if let Some(reached) = bounds.reached(interrupt) {
            cause.get_or_init(|| reached);
            over.store(true, Ordering::Release);
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
        work(&Watch { over: &over, cause: &cause, bounds })
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

/// Memory of this process, and of tools that it runs, that is in use; `None` where the system does not tell.
pub(crate) fn resident_bytes() -> Option<u64> {
    let own = raddle_frontend::resident_bytes("/proc/self/statm")?;
    Some(own + raddle_frontend::resident_bytes_of_tools())
}

#[cfg(test)]
mod tests {
    use super::{Bounds, Lost, watched};
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
    fn memory_that_was_given_back_is_still_the_reason() {
        let (running, late) = (AtomicBool::new(false), Some(Duration::ZERO));
        let bounds =
            Bounds { time: Some(Duration::from_secs(3600)), memory: Some(u64::MAX), ..Bounds::none() };
        let words = |bounds: Bounds| match bounds.lost(&running) {
            Lost::Stopped(words) => words,
            Lost::Bug(bug) => panic!("{bug:?}"),
        };
        assert_eq!(words(bounds), format!("the memory limit of {} bytes was reached", u64::MAX));
        assert_eq!(words(Bounds { time: late, ..bounds }), "the time limit of 0 s was reached");
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
