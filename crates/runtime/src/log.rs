//! The seam for recorders: every synchronisation in the order in which it took effect, written while the object concerned is locked.
//!
//! Off unless somebody hands in a buffer. The property test does: it compares the races found with the closure of what was logged.

use crate::atomics::{Operation, Order};
use crate::lanes::Kind;
use crate::thread::Thread;
use std::sync::atomic::{
    AtomicPtr, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum What {
    Create,
    Join,
    Acquire,
    AcquireShared,
    Release,
    ReleaseShared,
    Arrive,
    Depart,
    Post,
    Wait,
    OnceEnd,
    OncePass,
    NewLife,
    Atomic {
        operation: Operation,
        order: Order,
    },
    Fence {
        order: Order,
    },
    /// A plain access to memory that has atomics: its place among these.
    PlainAgain {
        kind: Kind,
    },
    /// Some bytes race.
    Race,
}

/// One entry, as the buffer holds it.
#[repr(C)]
pub struct Entry {
    pub thread: u32,
    pub what: u32,
    pub address: u64,
    pub detail: u64,
    pub site: u32,
    /// Set last: the entry is complete.
    pub done: u32,
}

/// A buffer of entries, and how many have been asked for.
#[repr(C)]
pub struct Buffer {
    pub entries: *mut Entry,
    pub capacity: u64,
    pub count: AtomicU64,
}

static BUFFER: AtomicPtr<Buffer> = AtomicPtr::new(std::ptr::null_mut());

/// From now on events go to this buffer; null: nowhere.
pub fn redirect(buffer: *mut Buffer) {
    BUFFER.store(buffer, Release);
}

#[inline(always)]
pub fn event(thread: &Thread, what: What, address: usize, detail: u64, site: u32) {
    let buffer = BUFFER.load(Relaxed);
    if !buffer.is_null() {
        append(thread, what, address, detail, site);
    }
}

#[cold]
fn append(thread: &Thread, what: What, address: usize, detail: u64, site: u32) {
    let Some(buffer) = (unsafe { BUFFER.load(Acquire).as_ref() }) else { return };
    let at = buffer.count.fetch_add(1, Relaxed);
    if at < buffer.capacity {
        let entry =
            Entry { thread: thread.id, what: code(what), address: address as u64, detail, site, done: 1 };
        unsafe { buffer.entries.add(at as usize).write(entry) };
    }
}

/// The kind in the low byte, operation and order above it.
fn code(what: What) -> u32 {
    match what {
        What::Create => 1,
        What::Join => 2,
        What::Acquire => 3,
        What::AcquireShared => 4,
        What::Release => 5,
        What::ReleaseShared => 6,
        What::Arrive => 7,
        What::Depart => 8,
        What::Post => 9,
        What::Wait => 10,
        What::OnceEnd => 11,
        What::OncePass => 12,
        What::NewLife => 13,
        What::Atomic { operation, order } => 14 | (operation as u32) << 8 | order.0 << 16,
        What::Fence { order } => 15 | order.0 << 16,
        What::PlainAgain { kind } => 16 | (kind as u32) << 8,
        What::Race => 17,
    }
}
