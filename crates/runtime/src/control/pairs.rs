//! Whether two given places race in this run. The detector tells of every location that races, but only with the last accesses before:
//! of three accesses that all race it may leave out a pair. A schedule is for one pair, so its accesses are remembered one by one.

use crate::thread::Thread;
use std::collections::BTreeSet;

#[derive(Default)]
pub struct Pairs {
    seen: Vec<Seen>,
}

/// An access of the program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Touch {
    pub first: usize,
    pub bytes: usize,
    pub writes: bool,
    pub atomic: bool,
    pub site: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Seen {
    touch: Touch,
    slot: usize,
    clock: u32,
}

impl Pairs {
    /// Notes an access at one of the places; whether it races with one at the other. The detector has made its step.
    pub fn touched(&mut self, thread: &Thread, touch: Touch, places: &[BTreeSet<u32>; 2]) -> bool {
        let ends = [0, 1].map(|end: usize| places[end].contains(&touch.site));
        if ends == [false, false] {
            return false;
        }
        let found = self.seen.iter().any(|seen| {
            let then = &seen.touch;
            let others = [0, 1].map(|end: usize| places[end].contains(&then.site));
            let overlap = then.first < touch.first + touch.bytes && touch.first < then.first + then.bytes;
            (ends[0] && others[1] || ends[1] && others[0])
                && overlap
                && (then.writes || touch.writes)
                && !(then.atomic && touch.atomic)
                && !thread.knows_value(seen.slot, seen.clock)
        });
        let seen = Seen { touch, slot: thread.slot, clock: thread.clock };
        if !self.seen.contains(&seen) {
            self.seen.push(seen);
        }
        found
    }

    /// The memory is somebody else's from now on.
    pub fn forget(&mut self, start: usize, end: usize) {
        self.seen.retain(|seen| seen.touch.first >= end || seen.touch.first + seen.touch.bytes <= start);
    }
}
