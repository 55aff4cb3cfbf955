//! Synchronisation objects: their states, kept outside of memory and keyed by address, with an undo log of their own.
//!
//! An object that no call has initialised comes to life at its first use, from the bytes in memory (see `birth`).

mod atomic_section;
mod barrier;
mod birth;
mod channel;
pub(crate) mod cond;
mod copied;
mod errors;
mod extent;
mod lock;
mod once;
mod sem;
mod shared;
mod specific;
mod threads;

pub use channel::Passing;
pub(crate) use channel::numbers_are_seen;
pub(crate) use errors::Errno;
pub(crate) use lock::{Readiness, lock_how};
pub(crate) use shared::{KEYS, SHARED, uses_shared_state};

use crate::memory::mix;
use raddle_event::{Addr, ObjectId, ThreadId};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SyncObject {
    Mutex(Mutex),
    Rwlock(Rwlock),
    Cond(Vec<Waiter>),
    Barrier(Barrier),
    Semaphore { value: u64 },
    Once(OnceState),
    Destroyed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mutex {
    pub kind: MutexKind,
    pub robust: bool,
    pub owner: Option<ThreadId>,
    pub depth: u32,
    pub health: Health,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MutexKind {
    Normal,
    Recursive,
    ErrorCheck,
}

/// Robust mutexes only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Health {
    Consistent,
    OwnerDied,
    NotRecoverable,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rwlock {
    pub kind: RwlockKind,
    pub writer: Option<ThreadId>,
    pub readers: Vec<ThreadId>,
    /// Writers that readers wait for; only where writers are preferred.
    pub waiting: Vec<ThreadId>,
}

/// Whom a read-write lock lets in while others wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum RwlockKind {
    /// Readers, whether or not writers wait: A-RWLOCK. So does `PTHREAD_RWLOCK_PREFER_WRITER_NP` in glibc.
    #[default]
    Readers,
    /// `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`: no reader comes in while a writer waits, not even one that holds the lock.
    Writers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiter {
    pub thread: ThreadId,
    pub signalled: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Barrier {
    pub count: u32,
    pub arrived: u32,
    pub round: u32,
    /// Threads of the last full round that have not left yet.
    pub leaving: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum OnceState {
    Fresh,
    Running(ThreadId),
    Done,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SyncTable {
    objects: BTreeMap<Addr, Entry>,
    log: Vec<(Addr, Option<Entry>)>,
    marks: Vec<(u64, usize, u64)>,
    epoch: u64,
    last_epoch: u64,
    /// At least as long as every object.
    longest: u32,
    /// Hash of all states; objects at rest count for nothing.
    pub version: u64,
}

#[derive(Clone, Debug)]
struct Entry {
    object: SyncObject,
    bytes: u32,
    saved: u64,
}

/// Bytes that every object has at least, whatever it is.
const LEAST: u32 = 4;

impl SyncTable {
    pub fn get(&self, at: Addr) -> Option<&SyncObject> {
        self.objects.get(&at).map(|entry| &entry.object)
    }

    /// A new state of an object; one that was not known is taken to have the least size.
    pub fn set(&mut self, at: Addr, object: SyncObject) {
        let bytes = self.objects.get(&at).map_or(LEAST, |entry| entry.bytes);
        self.set_sized(at, object, bytes);
    }

    /// An object that begins to live, with its size.
    pub fn set_sized(&mut self, at: Addr, object: SyncObject, bytes: u32) {
        self.longest = self.longest.max(bytes);
        self.version = self.version.wrapping_add(token(at, &object));
        let old = self.objects.insert(at, Entry { object, bytes, saved: self.epoch });
        self.version = self.version.wrapping_sub(old.as_ref().map_or(0, |old| token(at, &old.object)));
        if old.as_ref().is_none_or(|old| old.saved < self.epoch) && !self.marks.is_empty() {
            self.log.push((at, old));
        }
    }

    pub fn remove(&mut self, at: Addr) {
        if let Some(old) = self.objects.remove(&at) {
            self.version = self.version.wrapping_sub(token(at, &old.object));
            if !self.marks.is_empty() {
                self.log.push((at, Some(old)));
            }
        }
    }

    /// Whether a plain write to these bytes changes an object that has been used and not destroyed.
    pub fn is_overwritten(&self, object: ObjectId, from: u32, len: u32) -> bool {
        let first = Addr { object, offset: from.saturating_sub(self.longest.saturating_sub(1)) };
        let end = Addr { object, offset: from.saturating_add(len) };
        self.objects.range(first..end).any(|(at, entry)| {
            entry.object != SyncObject::Destroyed && at.offset.saturating_add(entry.bytes) > from
        })
    }

    /// Objects that start in these bytes of a memory object.
    pub fn starting_in(
        &self,
        object: ObjectId,
        from: u32,
        len: u32,
    ) -> impl Iterator<Item = (u32, &SyncObject)> {
        let (first, end) = (Addr { object, offset: from }, Addr { object, offset: from.saturating_add(len) });
        self.objects.range(first..end).map(|(at, entry)| (at.offset, &entry.object))
    }

    /// All objects inside a memory object.
    pub fn inside(&self, object: ObjectId) -> Vec<Addr> {
        let (first, last) = (Addr { object, offset: 0 }, Addr { object, offset: u32::MAX });
        self.objects.range(first..=last).map(|(at, _)| *at).collect()
    }

    pub fn checkpoint(&mut self) {
        self.last_epoch += 1;
        self.epoch = self.last_epoch;
        self.marks.push((self.epoch, self.log.len(), self.version));
    }

    pub fn restore(&mut self, checkpoint: usize) {
        self.marks.truncate(checkpoint + 1);
        let (epoch, len, version) = self.marks[checkpoint];
        while self.log.len() > len {
            let (at, old) = self.log.pop().expect("longer than the mark");
            match old {
                Some(entry) => self.objects.insert(at, entry),
                None => self.objects.remove(&at),
            };
        }
        self.epoch = epoch;
        self.version = version;
    }

    pub fn discard(&mut self, checkpoint: usize) {
        debug_assert_eq!(checkpoint + 1, self.marks.len());
        let Some((_, len, _)) = self.marks.pop() else { return };
        let Some(&(epoch, _, _)) = self.marks.last() else {
            self.log.clear();
            self.epoch = 0;
            return;
        };
        self.epoch = epoch;
        let mut index = 0;
        self.log.retain(|(_, old)| {
            index += 1;
            index <= len || old.as_ref().is_none_or(|old| old.saved < epoch)
        });
    }

    pub fn log_len(&self) -> usize {
        self.log.len()
    }
}

fn thread_word(thread: Option<ThreadId>) -> u64 {
    thread.map_or(0, |t| u64::from(t.0) + 1)
}

/// What the state of one object adds to the version; 0 at rest.
fn token(at: Addr, object: &SyncObject) -> u64 {
    let state = match object {
        SyncObject::Mutex(mutex) => {
            if mutex.owner.is_none() && mutex.health == Health::Consistent {
                return 0;
            }
            mix(thread_word(mutex.owner) + 1, u64::from(mutex.depth) << 8 | mutex.health as u64)
        }
        SyncObject::Rwlock(lock) => {
            if lock.writer.is_none() && lock.readers.is_empty() && lock.waiting.is_empty() {
                return 0;
            }
            let sorted = |threads: &[ThreadId]| {
                let mut threads = threads.to_vec();
                threads.sort_unstable();
                threads
            };
            let word = |sum, t: &ThreadId| mix(sum ^ 0x51, u64::from(t.0) + 7);
            let sum = sorted(&lock.readers).iter().fold(thread_word(lock.writer), word);
            if lock.waiting.is_empty() {
                sum
            } else {
                sorted(&lock.waiting).iter().fold(mix(sum, 0x52), word)
            }
        }
        SyncObject::Cond(waiters) => {
            if waiters.is_empty() {
                return 0;
            }
            waiters
                .iter()
                .fold(3, |sum, w| mix(sum ^ 0x77, u64::from(w.thread.0) << 1 | u64::from(w.signalled)))
        }
        SyncObject::Barrier(barrier) => {
            mix(u64::from(barrier.arrived) + 5, u64::from(barrier.round) << 32 | u64::from(barrier.leaving))
        }
        SyncObject::Semaphore { value: 0 } => return 0,
        SyncObject::Semaphore { value } => value.wrapping_mul(0x9E37_79B9),
        SyncObject::Once(OnceState::Fresh) => return 0,
        SyncObject::Once(OnceState::Running(thread)) => u64::from(thread.0) + 11,
        SyncObject::Once(OnceState::Done) => 9,
        SyncObject::Destroyed => 13,
    };
    mix(state ^ 0x85EB_CA6B, u64::from(at.object.0) << 32 | u64::from(at.offset))
}
