//! The fast first step: which bytes may race in some reordering (2015 paper, section 3).
//!
//! As in the paper, happens-before without the edges of mutexes, then locksets: two conflicting accesses are kept when neither is ordered before the
//! other by creation, join, barriers and once, and no lock excludes one from the other. Where we differ: a signal orders nothing here.
//! What a waiter has seen comes through the mutex and the value that it tests, not through the signal, and the paper loses the pairs that it
//! takes for ordered. Semaphores and atomics order nothing here either, because their order may change.
//!
//! Two passes. The first one finds, at a constant cost for each access, granules of 8 bytes that threads share in no order and without a common lock
//! ([`coarse`]); it keeps one state for each granule. The second one keeps, for those, the last access of each thread, kind and lockset: when it is
//! ordered before another access, all earlier ones are. So memory is bounded by the memory that the program touches, and by the objects that
//! are shared times the threads and locksets that touch them, and not by the length of the trace. Which way it errs: towards keeping bytes.

mod coarse;
mod fixed_order;
mod locksets;

use crate::clock::Clock;
use crate::reads_from::granules;
use coarse::Coarse;
use fixed_order::FixedOrder;
pub(crate) use locksets::Locksets;
use raddle_base::fast_hash::FastMap;
use raddle_event::{ThreadId, Trace};
use raddle_order::{Epoch, VectorClock};

/// What the filter has left.
#[derive(Debug, Default)]
pub(crate) struct Filtered {
    /// Bytes of granules (object, offset by 8) that may race.
    pub(crate) bytes: FastMap<(u32, u32), u8>,
    pub(crate) granules_seen: usize,
    /// The time was over before the end: what is kept is not all.
    pub(crate) cut: bool,
}

/// An access, or the last one of a thread, of one kind, with one lockset.
#[derive(Clone, Copy)]
struct Access {
    thread: u32,
    count: u32,
    lockset: u32,
    bytes: u8,
    writes: bool,
    atomic: bool,
}

/// The accesses of a trace with the clock and the locks of each.
struct Pass<'a> {
    trace: &'a Trace,
    time: &'a Clock,
    order: FixedOrder,
    locksets: Locksets,
}

impl<'a> Pass<'a> {
    fn new(trace: &'a Trace, time: &'a Clock) -> Self {
        Self { trace, time, order: FixedOrder::default(), locksets: Locksets::new() }
    }

    /// Visits each granule of each access. False: the time is over.
    fn run(mut self, mut visit: impl FnMut((u32, u32), Access, &VectorClock, &mut Locksets)) -> bool {
        for event in &self.trace.events {
            if self.time.step_is_over() {
                return false;
            }
            let Some((loc, class)) = raddle_order::access(&event.kind) else {
                self.order.take(event);
                self.locksets.take(event);
                continue;
            };
            let lockset = self.locksets.of(event.thread);
            let clock = &*self.order.clock(event.thread);
            let (thread, count) = (event.thread.0, clock.count(event.thread));
            let (writes, atomic) = (class.writes(), class.is_atomic());
            for (granule, bytes) in granules(loc) {
                let access = Access { thread, count, lockset, bytes, writes, atomic };
                visit((loc.object.0, granule), access, clock, &mut self.locksets);
            }
        }
        true
    }
}

/// Of a granule that the first pass has left.
#[derive(Default)]
struct Accesses {
    lasts: Vec<Access>,
    racy: u8,
}

impl Accesses {
    fn take(&mut self, access: Access, clock: &VectorClock, locksets: &Locksets) {
        let bytes = access.bytes;
        if bytes & !self.racy == 0 {
            return;
        }
        let mut own = false;
        for last in &mut self.lasts {
            if last.thread == access.thread {
                let same = last.is_like(&access);
                if same && last.bytes & bytes == last.bytes {
                    // The later one stands for it.
                    (last.count, last.bytes) = (access.count, bytes);
                    own = true;
                } else if same && last.count == access.count {
                    last.bytes |= bytes;
                    own = true;
                }
            } else if last.bytes & bytes != 0
                && (last.writes || access.writes)
                && !(last.atomic && access.atomic)
                && !clock.covers(Epoch { thread: ThreadId(last.thread), count: last.count })
                && locksets.disjoint(last.lockset, access.lockset)
            {
                self.racy |= last.bytes & bytes;
            }
        }
        if !own {
            self.lasts.retain(|last| !(last.is_like(&access) && last.bytes & !bytes == 0));
            self.lasts.push(access);
        }
    }
}

impl Access {
    /// One may stand for the other.
    fn is_like(&self, other: &Access) -> bool {
        (self.thread, self.lockset, self.writes, self.atomic)
            == (other.thread, other.lockset, other.writes, other.atomic)
    }
}

pub(crate) fn filter(trace: &Trace, time: &Clock) -> Filtered {
    let mut coarse = Coarse::default();
    let read = Pass::new(trace, time)
        .run(|granule, access, clock, locksets| coarse.access(granule, access, clock, locksets));
    let granules_seen = coarse.len();
    let mut left: FastMap<(u32, u32), Accesses> =
        coarse.left().map(|granule| (granule, Accesses::default())).collect();
    drop(coarse);
    let read = read
        && (left.is_empty()
            || Pass::new(trace, time).run(|granule, access, clock, locksets| {
                if let Some(accesses) = left.get_mut(&granule) {
                    accesses.take(access, clock, locksets);
                }
            }));
    let racy = left.into_iter().filter(|(_, accesses)| accesses.racy != 0);
    let bytes = racy.map(|(granule, accesses)| (granule, accesses.racy)).collect();
    Filtered { bytes, granules_seen, cut: !read }
}

#[cfg(test)]
mod tests {
    use super::{Access, Clock, Pass, filter};
    use raddle_base::fast_hash::FastMap;
    use raddle_event::{ThreadId, Trace};
    use raddle_order::Epoch;
    use raddle_testkit::traces::random;
    use std::time::Instant;

    /// The definition: every pair of accesses.
    fn all_pairs(trace: &Trace) -> FastMap<(u32, u32), u8> {
        let mut seen: FastMap<(u32, u32), Vec<Access>> = FastMap::default();
        let mut racy: FastMap<(u32, u32), u8> = FastMap::default();
        Pass::new(trace, &Clock::default()).run(|granule, access, clock, locksets| {
            let earlier = seen.entry(granule).or_default();
            for other in earlier.iter() {
                let epoch = Epoch { thread: ThreadId(other.thread), count: other.count };
                if other.thread != access.thread
                    && (other.writes || access.writes)
                    && !(other.atomic && access.atomic)
                    && !clock.covers(epoch)
                    && locksets.disjoint(other.lockset, access.lockset)
                    && other.bytes & access.bytes != 0
                {
                    *racy.entry(granule).or_default() |= other.bytes & access.bytes;
                }
            }
            earlier.push(access);
        });
        racy
    }

    #[test]
    fn two_passes_keep_what_pairs_of_accesses_ask_for() {
        let mut kept = 0;
        let mut dropped = 0;
        for seed in 0..3_000 {
            let trace = random(seed);
            let filtered = filter(&trace, &Clock::default());
            assert_eq!(filtered.bytes, all_pairs(&trace), "seed {seed}");
            assert!(!filtered.cut);
            kept += filtered.bytes.len();
            dropped += filtered.granules_seen - filtered.bytes.len();
        }
        assert!(kept > 1_000 && dropped > 1_000, "{kept} kept, {dropped} dropped");
    }

    #[test]
    fn a_filter_without_time_says_so() {
        let trace = random(1);
        assert!(filter(&trace, &Clock::new(Some(Instant::now()))).cut);
    }
}
