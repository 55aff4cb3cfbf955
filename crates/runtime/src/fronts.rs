//! The last accesses of one kind to some bytes: none, one epoch, or a set of epochs of threads that do not know of each other.
//!
//! FastTrack's reads, as immutable lists that are interned: a cell refers to a set by number, and the same few sets serve millions of
//! cells. Accesses that the newest one is ordered after are dropped; who is unordered with one of those is unordered with it as well.

use crate::epochs::TAG;
use crate::layout::TABLES;
use crate::table::{TABLE_BYTES, Table};
use crate::thread::Thread;

/// Epoch, context, rest of the list.
static SETS: Table<3> = Table::at(TABLES + 4 * TABLE_BYTES, 1 << 30);

/// An epoch with its context, or a set (tagged, its contexts are inside), or nothing (zero).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Front {
    pub word: u32,
    pub context: u32,
}

impl Front {
    pub fn one(epoch: u32, context: u32) -> Self {
        Self { word: epoch, context }
    }

    pub fn is_empty(self) -> bool {
        self.word == 0
    }

    /// The epochs with their contexts, newest first.
    pub fn each(self) -> Each {
        Each { front: self }
    }

    pub fn holds(self, epoch: u32) -> bool {
        self.each().any(|one| one.word == epoch)
    }

    /// With the thread's present access; `None` when there is no room for another set.
    pub fn with(self, thread: &Thread, context: u32) -> Option<Front> {
        let newest = Front::one(thread.epoch, context);
        if self.holds(thread.epoch) {
            return Some(self);
        }
        let known = self.each().filter(|one| thread.knows_epoch(one.word)).count();
        let rest = match (known, self.word & TAG) {
            (0, TAG) => self.word & !TAG,
            _ => self.unknown_part(thread)?,
        };
        if rest == 0 {
            return Some(newest);
        }
        SETS.intern([newest.word, newest.context, rest]).map(|id| Front { word: TAG | id, context: 0 })
    }

    /// Some epochs, of which none knows another.
    pub fn of(epochs: &[Front]) -> Option<Front> {
        match epochs {
            [] => Some(Front::default()),
            [one] => Some(*one),
            _ => list(epochs).map(|id| Front { word: TAG | id, context: 0 }),
        }
    }

    /// A list of what the thread does not know, in the old order.
    fn unknown_part(self, thread: &Thread) -> Option<u32> {
        let kept: Vec<Front> = self.each().filter(|one| !thread.knows_epoch(one.word)).collect();
        list(&kept)
    }
}

fn list(epochs: &[Front]) -> Option<u32> {
    epochs.iter().rev().try_fold(0, |list, one| SETS.intern([one.word, one.context, list]))
}

pub struct Each {
    front: Front,
}

impl Iterator for Each {
    type Item = Front;

    fn next(&mut self) -> Option<Front> {
        let Front { word, .. } = self.front;
        if word & TAG == 0 {
            let one = (word != 0).then_some(self.front);
            self.front = Front::default();
            return one;
        }
        let [epoch, context, rest] = SETS.get(word & !TAG);
        self.front = Front { word: if rest == 0 { 0 } else { TAG | rest }, context: 0 };
        Some(Front::one(epoch, context))
    }
}

/// Sets in existence.
pub fn sets() -> &'static Table<3> {
    &SETS
}
