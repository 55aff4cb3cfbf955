//! Work on a thread of its own that is left behind when its limits are reached.
//!
//! For parts that cannot look at a flag themselves. What is left behind goes on until the process ends, so the caller should not start
//! many; its result is never seen. The stack is large: recursion over deep programs must not end the process.

use crate::guard::guarded;
use crate::watchdog::{Bounds, watched};
use raddle_finding::UnknownReason;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

const STACK: usize = 1 << 30;
const PERIOD: Duration = Duration::from_millis(10);

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// A limit was reached, or the user interrupts; in words.
    Stopped(String),
    Bug(UnknownReason),
}

pub(crate) fn aside<T: Send + 'static>(
    part: &'static str,
    interrupt: &AtomicBool,
    bounds: Bounds,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Lost> {
    let (sender, receiver) = sync_channel(1);
    let run = move || {
        let _ = sender.send(guarded(part, work));
    };
    let started = std::thread::Builder::new().name(part.to_owned()).stack_size(STACK).spawn(run);
    if let Err(error) = started {
        return Err(Lost::Stopped(format!("no thread could be started for {part} ({error})")));
    }
    watched(interrupt, bounds, |watch| {
        loop {
            match receiver.recv_timeout(PERIOD) {
                Ok(result) => return result.map_err(Lost::Bug),
                Err(RecvTimeoutError::Timeout) if watch.is_over() => {
                    return Err(Lost::Stopped(watch.reason()));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Lost::Bug(crate::bug(&format!("{part} ended without a result"))));
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{Lost, aside};
    use crate::watchdog::Bounds;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    #[test]
    fn a_result_a_panic_a_limit() {
        let interrupt = AtomicBool::new(false);
        assert_eq!(aside("test", &interrupt, Bounds::none(), || 7), Ok(7));
        let Err(Lost::Bug(bug)) = aside("test", &interrupt, Bounds::none(), || -> u32 { panic!("odd") })
        else {
            panic!("a panic is a bug");
        };
        assert!(bug.text.starts_with("internal error in test (odd)"), "{}", bug.text);
        let bounds = Bounds { time: Some(Duration::from_millis(50)), ..Bounds::none() };
        let slow = || std::thread::sleep(Duration::from_secs(3600));
        let stopped = Err(Lost::Stopped("the time limit of 0.05 s was reached".to_owned()));
        assert_eq!(aside("test", &interrupt, bounds, slow), stopped);
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
