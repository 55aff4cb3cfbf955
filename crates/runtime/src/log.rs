//! The seam for the recorder: every synchronisation in the order in which it took effect, written while the object concerned is locked.
//!
//! Off unless a trace was asked for ([`crate::record`]). The property test compares the races found with the closure of what was logged.

use crate::atomics::{Operation, Order};
use crate::lanes::Kind;
use crate::record;
use crate::thread::Thread;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum What {
    Create,
    Join,
    Detach,
    /// The thread's last step.
    End,
    Acquire,
    AcquireShared,
    AcquireFailed,
    Release,
    ReleaseShared,
    /// A condition wait, before it gives up the mutex (the detail).
    WaitBegin,
    /// The same, before it has the mutex again.
    WaitEnd(Woken),
    Signal,
    Broadcast,
    Arrive,
    Depart,
    Post,
    Wait,
    OnceBegin,
    OnceEnd,
    OncePass,
    Init,
    Destroy,
    Alloc,
    Free,
    Map,
    Unmap,
    /// Around a loop that waits for a condition; the detail is the mutex.
    LoopBegin,
    LoopEnd,
    Exit,
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

/// Why a condition wait is over.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Woken {
    /// By a signal, a broadcast, or for no reason.
    Here,
    TimedOut,
    Cancelled,
}

/// Something took effect now.
#[inline(always)]
pub fn event(thread: &mut Thread, what: What, address: usize, detail: u64, site: u32) {
    if record::is_on() {
        record::event(thread, record::sequence(), what, address, detail, site);
    }
}

/// A place in the order, for something that may turn out to have taken effect there.
#[inline(always)]
pub fn place() -> u64 {
    if record::is_on() { record::sequence() } else { 0 }
}

/// Something took effect at a place.
#[inline(always)]
pub fn event_at(thread: &mut Thread, place: u64, what: What, address: usize, detail: u64, site: u32) {
    if record::is_on() {
        record::event(thread, place, what, address, detail, site);
    }
}
