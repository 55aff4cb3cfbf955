//! The first pass of the filter: bytes that no two threads share without order or a common lock, at a constant cost for each access.
//!
//! As in Eraser (Savage and others, 1997), the accesses of a granule have locks in common; what was accessed before a point that all
//! later ones are ordered after, is forgotten. Which way it errs: towards keeping granules.

use super::Access;
use super::locksets::Locksets;
use raddle_base::fast_hash::FastMap;
use raddle_event::ThreadId;
use raddle_order::{Epoch, VectorClock};

/// Of a granule, since its last change of owner.
#[derive(Clone, Copy)]
struct State {
    /// The last access of the owner before this one. What covers it covers all that came before it.
    before: Epoch,
    /// The last access, while all are of one thread.
    last: Epoch,
    shared: bool,
    written: bool,
    plain: bool,
    is_left: bool,
    /// Locks that were held, in any mode, at all accesses; and exclusively, at all writes. By number.
    any: u32,
    exclusive: u32,
}

#[derive(Default)]
pub(super) struct Coarse {
    granules: FastMap<(u32, u32), State>,
}

impl Coarse {
    pub(super) fn len(&self) -> usize {
        self.granules.len()
    }

    /// The granules that may race.
    pub(super) fn left(&self) -> impl Iterator<Item = (u32, u32)> {
        self.granules.iter().filter(|(_, state)| state.is_left).map(|(granule, _)| *granule)
    }

    pub(super) fn access(
        &mut self,
        granule: (u32, u32),
        access: Access,
        clock: &VectorClock,
        locksets: &mut Locksets,
    ) {
        let present = Epoch { thread: ThreadId(access.thread), count: access.count };
        let fresh = |before: Epoch, locksets: &mut Locksets| State {
            before,
            last: present,
            shared: false,
            written: access.writes,
            plain: !access.atomic,
            is_left: false,
            any: locksets.any(access.lockset),
            exclusive: if access.writes { locksets.exclusive(access.lockset) } else { Locksets::ALL },
        };
        let Some(state) = self.granules.get_mut(&granule) else {
            let nothing = Epoch { thread: present.thread, count: 0 };
            self.granules.insert(granule, fresh(nothing, locksets));
            return;
        };
        if state.is_left {
            return;
        }
        if !state.shared {
            if state.last.thread != present.thread && clock.covers(state.last) {
                *state = fresh(state.last, locksets);
                return;
            }
            state.shared = state.last.thread != present.thread;
            state.last = present;
        }
        state.written |= access.writes;
        state.plain |= !access.atomic;
        let held = locksets.any(access.lockset);
        state.any = locksets.common(state.any, held);
        if access.writes {
            let held = locksets.exclusive(access.lockset);
            state.exclusive = locksets.common(state.exclusive, held);
        }
        let mut excluded = || locksets.common(state.any, state.exclusive) != Locksets::NONE;
        let shared = state.shared && state.written && state.plain && !excluded();
        state.is_left = shared || !clock.covers(state.before);
    }
}
