//! Epochs as cells hold them: 31-bit numbers of which each stands for a thread's slot and a value of its clock.
//!
//! FastTrack (Flanagan, Freund, PLDI 2009) packs thread and clock into one word. Here a word is a number in a table of runs: a run is
//! 1024 consecutive values of one thread's clock. So neither the number of threads nor the clock of one thread is bounded by the width
//! of a cell, only the number of runs in use; those that no cell names any more are collected ([`crate::collect`]).

use crate::collect;
use crate::contexts::{LAST_PHASE, PHASE_BITS};
use crate::layout::{PAGE, TABLES};
use crate::table::TABLE_BYTES;
use std::sync::atomic::{
    AtomicU16, AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

pub const RUN: u32 = 1 << 10;
const RUNS: u32 = 1 << 21;
/// The last set of locks of each epoch, in two bytes: half a page for each run.
const LOCKS: usize = TABLES + TABLE_BYTES / 2;
/// The same in four bytes, for sets with large numbers.
const MANY_LOCKS: usize = TABLES + TABLE_BYTES / 4 * 3;
/// In the two bytes: the number is a large one.
const LARGE: u16 = u16::MAX;
/// Fewer runs than this are not worth a collection.
const MANY: u32 = 1 << 11;
/// As slot of a run that is free.
const GONE: u32 = u32::MAX;
/// Set in words of cells that are not epochs.
pub const TAG: u32 = 1 << 31;

/// Consecutive values of one thread's clock.
#[repr(C)]
pub struct Run {
    slot: AtomicU32,
    first: AtomicU32,
    thread: AtomicU32,
    /// The next free run, while this one is free.
    next: AtomicU32,
}

static NEXT: AtomicU32 = AtomicU32::new(1);
/// From this many runs on, a collection is wanted.
static WISH: AtomicU32 = AtomicU32::new(MANY);
static FREE: AtomicU64 = AtomicU64::new(0);

/// The epoch number of a thread's clock value, as first of a new run; `None` when all runs are in use.
pub fn new_run(slot: u32, clock: u32, thread: u32) -> Option<u32> {
    let id = pop().or_else(|| {
        let id = NEXT.fetch_add(1, Relaxed);
        if id > WISH.load(Relaxed) || id > RUNS - RUNS / 16 {
            collect::want();
        }
        (id < RUNS).then_some(id)
    })?;
    let run = run(id);
    run.slot.store(slot, Relaxed);
    run.first.store(clock, Relaxed);
    run.thread.store(thread, Release);
    Some(id * RUN)
}

/// Slot and clock value of an epoch.
#[inline(always)]
pub fn parts(epoch: u32) -> (usize, u32) {
    let run = run(epoch / RUN);
    (run.slot.load(Relaxed) as usize, run.first.load(Relaxed).wrapping_add(epoch % RUN))
}

/// Notes the set of locks that the thread holds in this epoch, and how often it has taken one more in it.
#[inline(always)]
pub fn set_locks(epoch: u32, locks: u32, phase: u32) {
    let word = locks << PHASE_BITS | phase;
    match u16::try_from(word) {
        Ok(short) if short != LARGE => short_locks(epoch).store(short, Release),
        _ => {
            long_locks(epoch).store(word, Relaxed);
            short_locks(epoch).store(LARGE, Release);
        }
    }
}

pub fn locks(epoch: u32) -> (u32, u32) {
    let word = match short_locks(epoch).load(Acquire) {
        LARGE => long_locks(epoch).load(Relaxed),
        short => u32::from(short),
    };
    (word >> PHASE_BITS, word & LAST_PHASE)
}

/// The thread, by its number in the run of the program.
pub fn thread(epoch: u32) -> u32 {
    run(epoch / RUN).thread.load(Relaxed)
}

/// Runs ever handed out, those that were freed included.
pub fn runs() -> u32 {
    NEXT.load(Relaxed).min(RUNS)
}

/// Gives back the runs that `live` does not name. Nobody may ask for one meanwhile. The next collection is for `worth` runs or more.
pub fn sweep(worth: u32, mut live: impl FnMut(u32) -> bool) {
    FREE.store(0, Relaxed);
    let mut kept = 0_u32;
    for id in 1..runs() {
        if !live(id) {
            if run(id).slot.swap(GONE, Relaxed) != GONE {
                drop_locks(id, !live(id ^ 1));
            }
            let head = FREE.load(Relaxed);
            run(id).next.store(head as u32, Relaxed);
            FREE.store(((head >> 32) + 1) << 32 | u64::from(id), Relaxed);
        } else {
            kept += 1;
        }
    }
    WISH.store(runs().max(2 * kept).max(MANY).max(worth), Relaxed);
}

/// Nobody will ask for the locks of a run; `alone` if the one with which it shares a page is not in use either.
fn drop_locks(id: u32, alone: bool) {
    let first = (id * RUN) as usize;
    unsafe {
        libc::madvise((MANY_LOCKS + first * 4) as *mut libc::c_void, RUN as usize * 4, libc::MADV_DONTNEED);
        if alone {
            let page = (LOCKS + first * 2) & !(PAGE - 1);
            libc::madvise(page as *mut libc::c_void, PAGE, libc::MADV_DONTNEED);
        }
    }
}

/// The slot that a run belongs to.
pub fn slot_of_run(id: u32) -> usize {
    run(id).slot.load(Relaxed) as usize
}

fn pop() -> Option<u32> {
    loop {
        let head = FREE.load(Acquire);
        let id = head as u32;
        if id == 0 {
            return None;
        }
        let next = u64::from(run(id).next.load(Relaxed));
        if FREE.compare_exchange(head, ((head >> 32) + 1) << 32 | next, AcqRel, Relaxed).is_ok() {
            return Some(id);
        }
    }
}

#[inline(always)]
fn short_locks(epoch: u32) -> &'static AtomicU16 {
    unsafe { &*((LOCKS + epoch as usize * 2) as *const AtomicU16) }
}

fn long_locks(epoch: u32) -> &'static AtomicU32 {
    unsafe { &*((MANY_LOCKS + epoch as usize * 4) as *const AtomicU32) }
}

#[inline(always)]
fn run(id: u32) -> &'static Run {
    unsafe { &*((TABLES + id as usize * size_of::<Run>()) as *const Run) }
}
