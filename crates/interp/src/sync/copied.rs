//! Copies of memory with synchronisation objects in it: the state of an object is kept outside of memory, and its copy must not look unused.
//!
//! What a copy does is undefined (POSIX XSH 2.9.9). It gets the word that glibc would have left there: a copy of a semaphore counts for itself,
//! one of a once control that has run has run, and one of a lock that is held, or of a condition variable with waiters, is no
//! object that a call or an initialiser has made. Reads of single words are not covered.

use super::{Health, OnceState, SyncObject};
use crate::exec::Cx;
use crate::memory::{At, Piece};

/// glibc's words for a once control.
pub(super) const ONCE_RUNNING: u32 = 1;
pub(super) const ONCE_DONE: u32 = 2;

/// Of a lock that is taken.
const TAKEN: u32 = 1;

impl Cx<'_> {
    /// Bytes to be put elsewhere, with the states of the objects in them.
    pub(crate) fn take_bytes(&mut self, at: At, len: usize) -> Piece {
        let mut piece = self.memory.take(at, len);
        if self.memory.object(at.slot).has_sync {
            let loc = self.memory.loc(at, len as u64);
            for (offset, object) in self.world.sync.starting_in(loc.object, loc.offset, loc.len) {
                let start = (offset - loc.offset) as usize;
                if let (Some(word), Some(place)) = (word_of(object), piece.bytes.get_mut(start..start + 4)) {
                    place.copy_from_slice(&word.to_le_bytes());
                }
            }
        }
        piece
    }
}

/// The first word of an object that is not at rest.
fn word_of(object: &SyncObject) -> Option<u32> {
    let is_taken = match object {
        SyncObject::Mutex(mutex) => mutex.owner.is_some() || mutex.health != Health::Consistent,
        SyncObject::Rwlock(lock) => {
            lock.writer.is_some() || !lock.readers.is_empty() || !lock.waiting.is_empty()
        }
        SyncObject::Cond(waiters) => !waiters.is_empty(),
        SyncObject::Barrier(_) => true,
        SyncObject::Semaphore { value } => return Some(*value as u32),
        SyncObject::Once(OnceState::Running(_)) => return Some(ONCE_RUNNING),
        SyncObject::Once(OnceState::Done) => return Some(ONCE_DONE),
        SyncObject::Once(OnceState::Fresh) | SyncObject::Destroyed => false,
    };
    is_taken.then_some(TAKEN)
}
