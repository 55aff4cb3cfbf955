//! Work on a thread of its own, so that limits hold whatever it does.
//!
//! The caller watches time, memory and the user's interrupt. At a limit the work is told to stop; what does not come back within its
//! grace is left behind and goes on until the process ends, so the caller should not start many; its result is never seen. The stack is
//! large: recursion over deep programs must not end the process.

use crate::guard::guarded;
use crate::watchdog::{Bounds, Cause, resident_bytes};
use raddle_explore::enumerate::Progress;
use raddle_finding::UnknownReason;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const STACK: usize = 1 << 30;
const PERIOD: Duration = Duration::from_millis(10);

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// A limit was reached, or the user interrupts; in words.
    Stopped(String),
    Bug(UnknownReason),
}

/// What the work is given.
#[derive(Clone, Default)]
pub(crate) struct Job {
    /// By the user: to stop soon.
    pub(crate) interrupt: Arc<AtomicBool>,
    /// For whatever reason: to stop at once.
    pub(crate) stop: Arc<AtomicBool>,
    progress: Arc<Mutex<Option<Progress>>>,
}

impl Job {
    /// For the user to see.
    pub(crate) fn report(&self, progress: &Progress) {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = Some(*progress);
    }
}

/// How long work may go on that was told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grace {
    /// It cannot be told.
    None,
    /// Long enough to come to an end in an orderly way; limits hold to within a second and a tenth.
    Short,
}

impl Grace {
    /// Whether the work is left behind, so long after it was told to stop.
    fn is_over(self, told: Instant, cause: Cause, bounds: &Bounds) -> bool {
        let most = match (self, cause) {
            (Grace::None, _) => return true,
            (Grace::Short, Cause::Time) => Duration::from_millis(700),
            // Somebody may be saving the search; the user can press again.
            (Grace::Short, Cause::Interrupt) => Duration::from_secs(5),
            // Memory is given back slowly; while it does not grow there is time.
            (Grace::Short, Cause::Memory) => Duration::from_secs(3),
        };
        let grows = || {
            let most = bounds.memory.map(|memory| memory.saturating_add(memory / 16));
            most.is_some_and(|most| resident_bytes().is_some_and(|bytes| bytes > most))
        };
        told.elapsed() >= most || grows()
    }
}

/// Work that looks at no flag.
pub(crate) fn aside<T: Send + 'static>(
    part: &'static str,
    interrupt: &AtomicBool,
    bounds: Bounds,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Lost> {
    supervised(part, (interrupt, None), bounds, Grace::None, move |_| work())
}

/// Who sees what the work reports.
pub(crate) type Watcher<'a> = &'a dyn Fn(&Progress);

/// Work that is told when to stop; `progress` is called with what it reports.
pub(crate) fn supervised<T: Send + 'static>(
    part: &'static str,
    (interrupt, progress): (&AtomicBool, Option<Watcher<'_>>),
    bounds: Bounds,
    grace: Grace,
    work: impl FnOnce(&Job) -> T + Send + 'static,
) -> Result<T, Lost> {
    let job = Job::default();
    let (sender, receiver) = sync_channel(1);
    let given = job.clone();
    let run = move || {
        let _ = sender.send(guarded(part, || work(&given)));
    };
    let started = std::thread::Builder::new().name(part.to_owned()).stack_size(STACK).spawn(run);
    if let Err(error) = started {
        return Err(Lost::Stopped(format!("no thread could be started for {part} ({error})")));
    }
    let mut told: Option<(Instant, Cause)> = None;
    loop {
        match receiver.recv_timeout(PERIOD) {
            Ok(result) => return result.map_err(Lost::Bug),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Lost::Bug(crate::bug(&format!("{part} ended without a result"))));
            }
        }
        job.interrupt.store(interrupt.load(Ordering::Relaxed), Ordering::Relaxed);
        let reported = job.progress.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Some(progress), Some(reported)) = (progress, reported) {
            progress(&reported);
        }
        if told.is_none() {
            told = bounds.reached(interrupt).map(|cause| (Instant::now(), cause));
            job.stop.store(told.is_some(), Ordering::Relaxed);
        }
        if let Some((at, cause)) = told
            && grace.is_over(at, cause, &bounds)
        {
            return Err(Lost::Stopped(bounds.words(cause)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Grace, Lost, aside, supervised};
    use crate::watchdog::Bounds;
    use raddle_explore::enumerate::Progress;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::time::{Duration, Instant};

    fn short() -> Bounds {
        Bounds { time: Some(Duration::from_millis(50)), ..Bounds::none() }
    }

    #[test]
    fn a_result_a_panic_a_limit() {
        let interrupt = AtomicBool::new(false);
        assert_eq!(aside("test", &interrupt, Bounds::none(), || 7), Ok(7));
        let Err(Lost::Bug(bug)) = aside("test", &interrupt, Bounds::none(), || -> u32 { panic!("odd") })
        else {
            panic!("a panic is a bug");
        };
        assert!(bug.text.starts_with("internal error in test (odd)"), "{}", bug.text);
        let slow = || std::thread::sleep(Duration::from_secs(3600));
        let stopped = Err(Lost::Stopped("the time limit of 0.05 s was reached".to_owned()));
        assert_eq!(aside("test", &interrupt, short(), slow), stopped);
    }

    #[test]
    fn work_that_stops_when_it_is_told_is_waited_for() {
        let interrupt = AtomicBool::new(false);
        let told = supervised("test", (&interrupt, None), short(), Grace::Short, |job| {
            while !job.stop.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            job.interrupt.load(Ordering::Relaxed)
        });
        assert_eq!(told, Ok(false));
        let deaf = |_: &super::Job| std::thread::sleep(Duration::from_secs(3600));
        let began = Instant::now();
        let left = supervised("test", (&interrupt, None), short(), Grace::Short, deaf);
        assert_eq!(left, Err(Lost::Stopped("the time limit of 0.05 s was reached".to_owned())));
        assert!(began.elapsed() >= Duration::from_millis(700));
        let full = Bounds { memory: Some(1), ..Bounds::none() };
        let left = supervised("test", (&interrupt, None), full, Grace::Short, deaf);
        assert_eq!(left, Err(Lost::Stopped("the memory limit of 1 bytes was reached".to_owned())));
    }

    #[test]
    fn the_user_sees_and_interrupts() {
        let (interrupt, seen) = (AtomicBool::new(false), AtomicU64::new(0));
        let progress = |progress: &Progress| {
            seen.store(progress.executions, Ordering::Relaxed);
            interrupt.store(true, Ordering::Relaxed);
        };
        let told = supervised("test", (&interrupt, Some(&progress)), Bounds::none(), Grace::Short, |job| {
            job.report(&Progress { executions: 5, steps: 0, depth: 0, races: 0, pass: 1, explored: None });
            while !job.interrupt.load(Ordering::Relaxed) || !job.stop.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        });
        assert_eq!((told, seen.into_inner()), (Ok(()), 5));
    }

    #[test]
    fn deep_recursion_has_room() {
        fn deep(n: u64) -> u64 {
            let room = std::hint::black_box([n; 16]);
            if n == 0 { 0 } else { 1 + deep(n - 1) + room[0] - n }
        }
        let interrupt = AtomicBool::new(false);
        assert_eq!(aside("test", &interrupt, Bounds::none(), || deep(300_000)), Ok(300_000));
    }
}
