//! The fast first step: which bytes may race in some reordering (2015 paper, section 3).
//!
//! As in the paper, happens-before without the edges of mutexes, then locksets: two conflicting accesses are kept when neither is ordered before the
//! other by creation, join, barriers and once, and no lock excludes one from the other. Where we differ: a signal orders nothing here.
//! What a waiter has seen comes through the mutex and the value that it tests, not through the signal, and the paper loses the pairs that it
//! takes for ordered. Semaphores and atomics order nothing here either, because their order may change.
//!
//! One pass. Of the accesses to a granule of 8 bytes only the last one of each thread, kind and lockset is kept: when it is ordered before another
//! access, all earlier ones are. So memory is bounded by the memory that the program touches, times the threads and locksets that touch it,
//! and not by the length of the trace. Which way it errs: towards keeping bytes.

use crate::reads_from::granules;
use raddle_base::fast_hash::FastMap;
use raddle_event::{Addr, Event, EventKind, LockMode, ThreadId, Trace};
use raddle_order::{Epoch, VectorClock};
use std::collections::BTreeMap;

/// What the filter has left.
#[derive(Debug, Default)]
pub(crate) struct Filtered {
    /// Bytes of granules (object, offset by 8) that may race.
    pub(crate) bytes: FastMap<(u32, u32), u8>,
    pub(crate) granules_seen: usize,
}

/// The locks that a thread holds, sorted; by number.
#[derive(Debug, Default)]
pub(crate) struct Locksets {
    numbers: FastMap<Vec<(Addr, LockMode)>, u32>,
    sets: Vec<Vec<(Addr, LockMode)>>,
    held: Vec<Vec<(Addr, LockMode)>>,
    present: Vec<u32>,
}

impl Locksets {
    pub(crate) fn new() -> Self {
        let mut locksets = Self::default();
        locksets.number(Vec::new());
        locksets
    }

    fn number(&mut self, set: Vec<(Addr, LockMode)>) -> u32 {
        if let Some(number) = self.numbers.get(&set) {
            return *number;
        }
        let number = self.sets.len() as u32;
        self.sets.push(set.clone());
        self.numbers.insert(set, number);
        number
    }

    pub(crate) fn of(&self, thread: ThreadId) -> u32 {
        self.present.get(thread.0 as usize).copied().unwrap_or(0)
    }

    /// Follows acquisitions and releases.
    pub(crate) fn take(&mut self, event: &Event) {
        let index = event.thread.0 as usize;
        let change = match event.kind {
            EventKind::Acquire { lock, mode } => Some((lock, mode, true)),
            EventKind::Release { lock, mode } => Some((lock, mode, false)),
            _ => None,
        };
        let Some((lock, mode, acquires)) = change else { return };
        if self.held.len() <= index {
            self.held.resize_with(index + 1, Vec::new);
            self.present.resize(index + 1, 0);
        }
        let held = &mut self.held[index];
        match acquires {
            true => {
                let place = held.partition_point(|one| *one < (lock, mode));
                held.insert(place, (lock, mode));
            }
            false => {
                if let Some(place) = held.iter().rposition(|one| *one == (lock, mode)) {
                    held.remove(place);
                }
            }
        }
        self.present[index] = self.number(self.held[index].clone());
    }

    /// Whether no lock of the one set excludes one of the other.
    pub(crate) fn disjoint(&self, a: u32, b: u32) -> bool {
        if a == 0 || b == 0 {
            return true;
        }
        let (a, b) = (&self.sets[a as usize], &self.sets[b as usize]);
        a.iter().all(|(lock, mode)| {
            let excludes = |other: &(Addr, LockMode)| {
                other.0 == *lock && (*mode == LockMode::Exclusive || other.1 == LockMode::Exclusive)
            };
            !b.iter().any(excludes)
        })
    }
}

/// The last access of a thread, of one kind, with one lockset, to these bytes.
#[derive(Clone, Copy)]
struct Last {
    thread: u32,
    count: u32,
    lockset: u32,
    bytes: u8,
    writes: bool,
    atomic: bool,
}

/// Order that no reordering changes, by vector clocks.
#[derive(Default)]
struct FixedOrder {
    clocks: Vec<VectorClock>,
    created: BTreeMap<ThreadId, VectorClock>,
    barriers: FastMap<Addr, BTreeMap<u32, Round>>,
    onces: FastMap<Addr, VectorClock>,
}

/// Of a barrier: what all arrivals together know.
#[derive(Default)]
struct Round {
    clock: VectorClock,
    arrived: u32,
    left: u32,
}

impl FixedOrder {
    fn clock(&mut self, thread: ThreadId) -> &mut VectorClock {
        let index = thread.0 as usize;
        while self.clocks.len() <= index {
            let new = ThreadId(self.clocks.len() as u32);
            let mut clock = self.created.get(&new).cloned().unwrap_or_default();
            clock.set(Epoch { thread: new, count: 1 });
            self.clocks.push(clock);
        }
        &mut self.clocks[index]
    }

    /// The clock as it is given on; what follows is later.
    fn give(&mut self, thread: ThreadId) -> VectorClock {
        let clock = self.clock(thread);
        let given = clock.clone();
        clock.increment(thread);
        given
    }

    fn take(&mut self, event: &Event) {
        let me = event.thread;
        match event.kind {
            EventKind::Create { child } => {
                let given = self.give(me);
                match self.clocks.get_mut(child.0 as usize) {
                    Some(clock) => clock.join(&given),
                    None => _ = self.created.insert(child, given),
                }
            }
            EventKind::Join { child } => {
                let end = self.clock(child).clone();
                self.clock(me).join(&end);
            }
            EventKind::BarrierArrive { barrier, round } => {
                let given = self.give(me);
                let rounds = self.barriers.entry(barrier).or_default();
                rounds.retain(|number, earlier| *number >= round || earlier.left < earlier.arrived);
                let present = rounds.entry(round).or_default();
                present.clock.join(&given);
                present.arrived += 1;
            }
            EventKind::BarrierLeave { barrier, round } => {
                let present = self.barriers.get_mut(&barrier).and_then(|rounds| rounds.get_mut(&round));
                if let Some(present) = present {
                    present.left += 1;
                    let arrived = present.clock.clone();
                    self.clock(me).join(&arrived);
                }
            }
            EventKind::OnceEnd { once } => {
                let given = self.give(me);
                self.onces.insert(once, given);
            }
            EventKind::OncePass { once } => {
                if let Some(end) = self.onces.get(&once).cloned() {
                    self.clock(me).join(&end);
                }
            }
            EventKind::SyncInit { object } => {
                self.onces.remove(&object);
                self.barriers.remove(&object);
            }
            _ => {}
        }
    }
}

pub(crate) fn filter(trace: &Trace) -> Filtered {
    let mut order = FixedOrder::default();
    let mut locksets = Locksets::new();
    let mut memory: FastMap<(u32, u32), Vec<Last>> = FastMap::default();
    let mut bytes_left: FastMap<(u32, u32), u8> = FastMap::default();
    for event in &trace.events {
        let Some((loc, class)) = raddle_order::access(&event.kind) else {
            order.take(event);
            locksets.take(event);
            continue;
        };
        let thread = event.thread;
        let lockset = locksets.of(thread);
        let clock = &*order.clock(thread);
        let count = clock.count(thread);
        let (writes, atomic) = (class.writes(), class.is_atomic());
        for (granule, bytes) in granules(loc) {
            let key = (loc.object.0, granule);
            let lasts = memory.entry(key).or_default();
            let mut own = false;
            let mut racy = 0;
            for last in lasts.iter_mut() {
                if last.thread == thread.0 {
                    let same = (last.lockset, last.writes, last.atomic) == (lockset, writes, atomic);
                    if same && last.bytes & bytes == last.bytes {
                        // The later one stands for it.
                        (last.count, last.bytes) = (count, bytes | last.bytes);
                        own = true;
                    } else if same && last.count == count {
                        last.bytes |= bytes;
                        own = true;
                    }
                } else if last.bytes & bytes != 0
                    && (last.writes || writes)
                    && !(last.atomic && atomic)
                    && !clock.covers(Epoch { thread: ThreadId(last.thread), count: last.count })
                    && locksets.disjoint(last.lockset, lockset)
                {
                    racy |= last.bytes & bytes;
                }
            }
            if racy != 0 {
                *bytes_left.entry(key).or_default() |= racy;
            }
            if !own {
                lasts.retain(|last| {
                    let same = (last.thread, last.lockset, last.writes, last.atomic)
                        == (thread.0, lockset, writes, atomic);
                    !(same && last.bytes & !bytes == 0)
                });
                lasts.push(Last { thread: thread.0, count, lockset, bytes, writes, atomic });
            }
        }
    }
    Filtered { bytes: bytes_left, granules_seen: memory.len() }
}
