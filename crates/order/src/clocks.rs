//! Happens-before as vector clocks: one clock per thread, kept up to date event by event.
//!
//! An event takes effect in two halves. [`Clocks::arrive`] brings in what the event is ordered after; after it, the thread's clock
//! covers exactly the epochs of the events that happen before this one. [`Clocks::depart`] makes the event known to those that will
//! be ordered after it. Accesses are checked in between: an acquire load is ordered after what its value tells, and a release
//! store is part of what it tells.
//!
//! A thread's own count grows after each event that others can be ordered after, and only then. Threads other than the main thread
//! must be created by an event; ids are dense.

use crate::messages::Messages;
use crate::undo::Log;
use crate::vector_clock::{Epoch, VectorClock};
use raddle_base::fast_hash::FastMap;
use raddle_base::{Id, IdVec};
use raddle_event::{AccessKind, Addr, AtomicOp, Event, EventKind, Loc, LockMode, ThreadId};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Clocks {
    pub(crate) threads: IdVec<ThreadId, Thread>,
    pub(crate) locks: FastMap<Addr, Lock>,
    pub(crate) semaphores: FastMap<Addr, VectorClock>,
    pub(crate) onces: FastMap<Addr, VectorClock>,
    /// Open rounds of each barrier.
    pub(crate) barriers: FastMap<Addr, Rounds>,
    pub(crate) messages: Messages,
    pub(crate) log: Log,
}

pub(crate) type Rounds = FastMap<u32, Round>;

#[derive(Clone, Debug)]
pub(crate) struct Thread {
    clock: VectorClock,
    life: Life,
    /// The clock at the last release fence: what relaxed stores tell.
    release_fence: Option<Arc<VectorClock>>,
    /// What relaxed loads have read since the start: what the next acquire fence brings in.
    relaxed_reads: Option<Arc<VectorClock>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Unborn,
    Alive,
    Ended,
}

/// Releases so far, by mode: those of readers order later writers only.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lock {
    exclusive: VectorClock,
    shared: VectorClock,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Round {
    arrivals: VectorClock,
    inside: u32,
}

impl Clocks {
    pub fn new() -> Self {
        let mut clocks = Self {
            threads: IdVec::new(),
            locks: FastMap::default(),
            semaphores: FastMap::default(),
            onces: FastMap::default(),
            barriers: FastMap::default(),
            messages: Messages::default(),
            log: Log::default(),
        };
        clocks.thread(ThreadId::MAIN).life = Life::Alive;
        clocks
    }

    /// What happens before the thread's present event, from `arrive` until `depart`.
    pub fn clock(&self, thread: ThreadId) -> &VectorClock {
        &self.threads[thread].clock
    }

    pub fn epoch(&self, thread: ThreadId) -> Epoch {
        self.clock(thread).epoch(thread)
    }

    /// Whether everything that any thread but its own may still do is ordered after this epoch.
    pub fn is_settled(&self, epoch: Epoch) -> bool {
        self.threads
            .iter()
            .filter(|(id, thread)| *id != epoch.thread && thread.life == Life::Alive)
            .all(|(_, thread)| thread.clock.covers(epoch))
    }

    pub fn arrive(&mut self, event: &Event) {
        let id = event.thread;
        if self.log.is_kept() {
            self.save(event);
        }
        let thread = self.thread(id);
        if thread.life == Life::Unborn {
            thread.life = Life::Alive;
        }
        match event.kind {
            EventKind::Join { child } => {
                self.thread(child);
                let last = self.threads[child].clock.clone();
                self.threads[id].clock.join(&last);
            }
            EventKind::Acquire { lock, mode } => {
                let Some(lock) = self.locks.get(&lock) else { return };
                let clock = &mut self.threads[id].clock;
                clock.join(&lock.exclusive);
                if mode == LockMode::Exclusive {
                    clock.join(&lock.shared);
                }
            }
            EventKind::BarrierLeave { barrier, round } => self.leave(id, barrier, round),
            EventKind::SemWait { sem } => {
                if let Some(posts) = self.semaphores.get(&sem) {
                    self.threads[id].clock.join(posts);
                }
            }
            EventKind::OncePass { once } => {
                if let Some(end) = self.onces.get(&once) {
                    self.threads[id].clock.join(end);
                }
            }
            EventKind::Atomic { loc, op } => self.read_message(id, loc, op),
            EventKind::Fence { order } if order.acquires() => {
                let thread = &mut self.threads[id];
                if let Some(reads) = &thread.relaxed_reads {
                    thread.clock.join(reads);
                }
            }
            _ => {}
        }
    }

    pub fn depart(&mut self, event: &Event) {
        let id = event.thread;
        match event.kind {
            EventKind::Create { child } => {
                let clock = self.threads[id].clock.clone();
                let born = self.thread(child);
                born.clock.join(&clock);
                born.life = Life::Alive;
            }
            EventKind::End => self.threads[id].life = Life::Ended,
            EventKind::Release { lock, mode } => {
                let lock = self.locks.entry(lock).or_default();
                match mode {
                    LockMode::Exclusive => lock.exclusive.join(&self.threads[id].clock),
                    LockMode::Shared => lock.shared.join(&self.threads[id].clock),
                }
            }
            EventKind::BarrierArrive { barrier, round } => {
                let round = self.barriers.entry(barrier).or_default().entry(round).or_default();
                round.arrivals.join(&self.threads[id].clock);
                round.inside += 1;
            }
            EventKind::SemPost { sem } => {
                self.semaphores.entry(sem).or_default().join(&self.threads[id].clock)
            }
            EventKind::OnceEnd { once } => self.onces.entry(once).or_default().join(&self.threads[id].clock),
            EventKind::Access { loc, kind: AccessKind::Write } => return self.messages.write(loc, None),
            EventKind::Atomic { loc, op } => {
                self.write_message(id, loc, op);
                if !op.releases() {
                    return;
                }
            }
            EventKind::Fence { order } if order.releases() => {
                let thread = &mut self.threads[id];
                thread.release_fence = Some(Arc::new(thread.clock.clone()));
            }
            EventKind::SyncInit { object } | EventKind::SyncDestroy { object } => return self.forget(object),
            _ => return,
        }
        self.threads[id].clock.increment(id);
    }

    fn read_message(&mut self, id: ThreadId, loc: Loc, op: AtomicOp) {
        if op.reads() {
            let thread = &mut self.threads[id];
            let reader = match op.acquires() {
                true => &mut thread.clock,
                false => Arc::make_mut(thread.relaxed_reads.get_or_insert_default()),
            };
            self.messages.read(loc, reader);
        }
    }

    fn write_message(&mut self, id: ThreadId, loc: Loc, op: AtomicOp) {
        let thread = &self.threads[id];
        let message = match op.releases() {
            true => Some(Arc::new(thread.clock.clone())),
            false => thread.release_fence.clone(),
        };
        match op {
            AtomicOp::Load(_) => {}
            AtomicOp::Store(_) => self.messages.write(loc, message),
            AtomicOp::Rmw(_) => self.messages.modify(loc, message),
        }
    }

    fn leave(&mut self, id: ThreadId, barrier: Addr, number: u32) {
        let Some(rounds) = self.barriers.get_mut(&barrier) else { return };
        let Some(round) = rounds.get_mut(&number) else { return };
        self.threads[id].clock.join(&round.arrivals);
        round.inside = round.inside.saturating_sub(1);
        if round.inside == 0 {
            rounds.remove(&number);
        }
    }

    /// A new life of a synchronisation object: what was done with the old one orders nothing any more.
    fn forget(&mut self, object: Addr) {
        self.locks.remove(&object);
        self.semaphores.remove(&object);
        self.onces.remove(&object);
        self.barriers.remove(&object);
    }

    fn thread(&mut self, id: ThreadId) -> &mut Thread {
        while self.threads.len() <= id.index() {
            let next = ThreadId::from_index(self.threads.len());
            let mut clock = VectorClock::default();
            clock.increment(next);
            self.threads.push(Thread { clock, life: Life::Unborn, release_fence: None, relaxed_reads: None });
        }
        &mut self.threads[id]
    }
}

impl Thread {
    pub(crate) fn is_unborn(&self) -> bool {
        self.life == Life::Unborn
    }
}

impl Default for Clocks {
    fn default() -> Self {
        Self::new()
    }
}
