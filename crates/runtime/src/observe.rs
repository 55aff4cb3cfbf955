//! The one place where accesses go that somebody wants to see: a recorder, the control of a replay, an exploration.
//!
//! The mode is set once, before the program's first instruction. In a plain run nobody asks for it but the slow functions: a thread of which
//! `flags` in hot.c is 0 makes its usual steps there. In every other mode all accesses that the inline test of the epoch does not
//! settle come here, as ranges; so an observer sees the first access of each kind to each granule in each epoch. With a recorder or
//! a replay an acquire ends the epoch as a release does, which makes an epoch a segment between synchronisations; a longer clock is
//! as exact.

use crate::atomics::{Operation, Order};
use crate::cells;
use crate::control;
use crate::explore;
use crate::lanes::Kind;
use crate::record;
use crate::thread::Thread;
use crate::walks::{self, Walk};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// What the process runs for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Mode {
    /// The detector alone.
    Run,
    /// The detector, and a trace of what happens.
    Record,
    /// The detector, under an enforced schedule; and a trace, where one is asked for.
    Replay,
    /// A schedule from outside, no detector.
    Explore,
}

/// Whether the detector makes its step, too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Detector {
    Follows,
    Stays,
}

/// `count` accesses of `size` bytes, `stride` bytes apart; one access has a stride of 0.
#[derive(Clone, Copy)]
pub struct Access {
    pub first: usize,
    pub stride: isize,
    pub count: usize,
    pub size: usize,
    pub kind: Kind,
    pub site: u32,
}

/// An atomic access about to be made.
#[derive(Clone, Copy)]
pub struct Atomic {
    pub address: usize,
    pub bytes: usize,
    pub operation: Operation,
    pub order: Order,
    pub failure: Order,
    pub site: u32,
}

static MODE: AtomicU8 = AtomicU8::new(Mode::Run as u8);

pub fn set_mode(mode: Mode) {
    MODE.store(mode as u8, Relaxed);
}

#[inline(always)]
pub fn mode() -> Mode {
    match MODE.load(Relaxed) {
        0 => Mode::Run,
        1 => Mode::Record,
        2 => Mode::Replay,
        _ => Mode::Explore,
    }
}

#[inline(always)]
pub fn is_on() -> bool {
    MODE.load(Relaxed) != Mode::Run as u8
}

/// Whether an acquire ends the epoch.
#[inline(always)]
pub fn acquires_end_epochs() -> bool {
    matches!(mode(), Mode::Record | Mode::Replay)
}

/// A plain access, or a walk of them, outside of the gate. Whoever observes comes first, then the detector.
#[cold]
pub fn access(thread: &mut Thread, access: Access) {
    match mode() {
        Mode::Replay => control::calls::access(thread, &access),
        Mode::Explore => explore::access(thread, access),
        Mode::Run | Mode::Record => {}
    }
    if mode() == Mode::Explore {
        return;
    }
    if matches!(mode(), Mode::Record | Mode::Replay) && record::is_on() {
        record::access(thread, &access);
    }
    if mode() == Mode::Replay {
        control::calls::accessed(thread, &access);
    }
    let Access { first, stride, count, size, kind, site } = access;
    match count {
        1 => cells::step(thread, first, size, kind, site),
        _ => walks::step(thread, Walk { first, stride, count, size: size as u32, kind }, site),
    }
}

/// Before an atomic access, outside of the gate and of every lock.
#[cold]
pub fn before_atomic(thread: &mut Thread, atomic: &Atomic) -> Detector {
    match mode() {
        Mode::Run | Mode::Record | Mode::Replay => {
            control::calls::atomic(thread, atomic);
            Detector::Follows
        }
        Mode::Explore => {
            explore::before_atomic(thread, atomic);
            Detector::Stays
        }
    }
}

/// After the real instruction, if the detector follows: while the record of the memory is locked.
#[cold]
pub fn after_atomic(thread: &mut Thread, atomic: &Atomic, succeeded: bool) {
    match mode() {
        Mode::Replay => control::calls::accessed_atomically(thread, atomic, succeeded),
        Mode::Explore => explore::after_atomic(thread, atomic, succeeded),
        Mode::Run | Mode::Record => {}
    }
}

/// A fence, outside of the gate.
#[cold]
pub fn fence(thread: &mut Thread, order: Order, site: u32) -> Detector {
    match mode() {
        Mode::Run | Mode::Record | Mode::Replay => {
            control::calls::fence(thread, site);
            Detector::Follows
        }
        Mode::Explore => {
            explore::fence(thread, order, site);
            Detector::Stays
        }
    }
}
