//! Which granules a thread is about to give their contexts: a cell is changed first, its word of context is stored afterwards.
//!
//! In between the word is that of somebody before. Whoever meets an epoch that it does not know waits until the owner has stored: so it
//! neither takes the old word for the owner's nor stores a word that the owner then overwrites. Mostly the 6 bits of the epoch in the word
//! show that it is not the owner's; where they could mislead, the owner says here what it is changing. hot.c leaves these cells to the
//! functions in Rust, which always say it. A thread that waits has no granule of its own under way, so nobody waits in a circle. A signal
//! handler that interrupts its thread there has granules of its own meanwhile.

use crate::epochs;
use crate::layout::{self, GRANULE};
use crate::slots::SLOTS;
use crate::thread::Thread;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// Bytes of the program that a thread may have under way at once: the cells of a cache line.
pub const LINE: usize = 8 * GRANULE;

/// What the thread had under way before.
#[must_use]
pub struct Before(u64);

/// The thread is about to change cells of the line of this address.
#[inline(always)]
pub fn depart(thread: &Thread, at: usize) -> Before {
    let mine = own(thread);
    let before = mine.load(Relaxed);
    mine.store(line(at), Relaxed);
    Before(before)
}

/// Their contexts are stored, or they were not changed.
#[inline(always)]
pub fn arrive(thread: &Thread, before: Before) {
    own(thread).store(before.0, Release);
}

/// Whether the owner of an epoch that was seen in the cell of this address says that it has not stored the context of what it did there.
pub fn is_under_way(epoch: u32, at: usize) -> bool {
    let (slot, _) = epochs::parts(epoch);
    slot < SLOTS && layout::flight(slot).load(Acquire) == line(at)
}

#[inline(always)]
fn own(thread: &Thread) -> &'static AtomicU64 {
    layout::flight(thread.slot)
}

/// Never zero, which is no line.
#[inline(always)]
fn line(at: usize) -> u64 {
    (at & !(LINE - 1)) as u64 | 1
}
