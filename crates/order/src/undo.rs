//! Clocks that can be set back: what an event will change is written down before it happens.

use crate::clocks::{Clocks, Lock, Rounds, Thread};
use crate::vector_clock::VectorClock;
use raddle_base::fast_hash::FastMap;
use raddle_event::{AccessKind, Addr, Event, EventKind, Loc, ThreadId};
use std::sync::Arc;

/// Old values, oldest first; none unless asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    changes: Vec<Change>,
    kept: Kept,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kept {
    #[default]
    No,
    Yes,
}

#[derive(Clone, Debug)]
pub(crate) enum Change {
    Thread(ThreadId, Thread),
    /// There were so many threads.
    Threads(usize),
    Lock(Addr, Option<Lock>),
    Semaphore(Addr, Option<VectorClock>),
    Once(Addr, Option<VectorClock>),
    Barrier(Addr, Option<Rounds>),
    /// The bytes carried this.
    Message(Loc, Arc<VectorClock>),
    /// The bytes carried nothing but what is said before.
    NoMessage(Loc),
}

impl Log {
    pub(crate) fn is_kept(&self) -> bool {
        self.kept == Kept::Yes
    }
}

impl Clocks {
    /// From now on all can be taken back.
    pub(crate) fn keep_log(&mut self) {
        self.log.kept = Kept::Yes;
    }

    /// For [`Clocks::undo_to`].
    pub(crate) fn log_len(&self) -> usize {
        self.log.changes.len()
    }

    /// Takes back all changes since the log had this length.
    pub(crate) fn undo_to(&mut self, len: usize) {
        while self.log.changes.len() > len {
            match self.log.changes.pop().expect("longer than that") {
                Change::Thread(id, old) => self.threads[id] = old,
                Change::Threads(count) => self.threads.truncate(count),
                Change::Lock(at, old) => put(&mut self.locks, at, old),
                Change::Semaphore(at, old) => put(&mut self.semaphores, at, old),
                Change::Once(at, old) => put(&mut self.onces, at, old),
                Change::Barrier(at, old) => put(&mut self.barriers, at, old),
                Change::Message(loc, old) => self.messages.write(loc, Some(old)),
                Change::NoMessage(loc) => self.messages.write(loc, None),
            }
        }
    }

    /// Whether the event is more than a plain access, or one that others learn something from.
    pub(crate) fn is_changed_by(&self, event: &Event) -> bool {
        let EventKind::Access { loc, kind } = event.kind else { return true };
        self.threads.get(event.thread).is_none_or(Thread::is_unborn)
            || kind == AccessKind::Write && self.messages.any(loc)
    }

    /// Writes down all that the event changes.
    pub(crate) fn save(&mut self, event: &Event) {
        let id = event.thread;
        let log = &mut self.log.changes;
        let newcomer = self.threads.get(id).is_none_or(Thread::is_unborn);
        let accesses = matches!(event.kind, EventKind::Access { .. });
        if newcomer || matches!(event.kind, EventKind::Join { .. } | EventKind::Create { .. }) {
            // Threads that nobody created come to be with their first event.
            log.push(Change::Threads(self.threads.len()));
        }
        if let Some(thread) = self.threads.get(id).filter(|_| newcomer || !accesses) {
            log.push(Change::Thread(id, thread.clone()));
        }
        match event.kind {
            EventKind::Create { child } => {
                log.extend(self.threads.get(child).map(|thread| Change::Thread(child, thread.clone())));
            }
            EventKind::Release { lock, .. } => {
                log.push(Change::Lock(lock, self.locks.get(&lock).cloned()));
            }
            EventKind::SemPost { sem } => {
                log.push(Change::Semaphore(sem, self.semaphores.get(&sem).cloned()));
            }
            EventKind::OnceEnd { once } => log.push(Change::Once(once, self.onces.get(&once).cloned())),
            EventKind::BarrierArrive { barrier, .. } | EventKind::BarrierLeave { barrier, .. } => {
                log.push(Change::Barrier(barrier, self.barriers.get(&barrier).cloned()));
            }
            EventKind::SyncInit { object } | EventKind::SyncDestroy { object } => {
                log.push(Change::Lock(object, self.locks.get(&object).cloned()));
                log.push(Change::Semaphore(object, self.semaphores.get(&object).cloned()));
                log.push(Change::Once(object, self.onces.get(&object).cloned()));
                log.push(Change::Barrier(object, self.barriers.get(&object).cloned()));
            }
            EventKind::Access { loc, kind: AccessKind::Write } if self.messages.any(loc) => {
                self.messages.each(loc, |part, message| log.push(Change::Message(part, message.clone())));
            }
            EventKind::Atomic { loc, op } if op.writes() => {
                self.messages.each(loc, |part, message| log.push(Change::Message(part, message.clone())));
                log.push(Change::NoMessage(loc));
            }
            _ => {}
        }
    }
}

fn put<V>(map: &mut FastMap<Addr, V>, at: Addr, old: Option<V>) {
    match old {
        Some(old) => map.insert(at, old),
        None => map.remove(&at),
    };
}
