//! The runtime's own memory: sizes of powers of two, from one region, with lists of free blocks that need no lock.
//!
//! Nothing here goes through the program's `malloc`, and a signal handler or a forked child finds the lists usable at any moment.
//! Memory is handed out zeroed the first time only.

use crate::layout::{ARENA, ARENA_BYTES};
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed},
};

const SMALLEST: u32 = 4;
const CLASSES: usize = 37;
/// Small blocks are cut from runs of this size.
const RUN: usize = 16 << 10;

static NEXT: AtomicUsize = AtomicUsize::new(ARENA + RUN);
/// Heads: 24 bits that make each head unique, 40 bits of offset into the region (0: empty).
static FREE: [AtomicU64; CLASSES] = [const { AtomicU64::new(0) }; CLASSES];

/// Where the lists themselves lie, in the program's data.
pub fn places() -> [(usize, usize); 2] {
    let place = |start: usize, bytes: usize| (start, start + bytes);
    [place(&raw const NEXT as usize, size_of_val(&NEXT)), place(&raw const FREE as usize, size_of_val(&FREE))]
}

/// A block of at least so many bytes, aligned to its size up to a page.
pub fn take(bytes: usize) -> *mut u8 {
    let class = class(bytes);
    loop {
        let head = FREE[class].load(Acquire);
        let offset = (head & OFFSET) as usize;
        if offset == 0 {
            break;
        }
        let block = ARENA + offset;
        let next = unsafe { (*(block as *const AtomicU64)).load(Relaxed) };
        if FREE[class].compare_exchange(head, stamp(head) | next, AcqRel, Relaxed).is_ok() {
            return block as *mut u8;
        }
    }
    let size = 1_usize << (class as u32 + SMALLEST);
    let run = size.next_multiple_of(RUN);
    let start = NEXT.fetch_add(run, Relaxed);
    if start + run > ARENA + ARENA_BYTES {
        crate::start::give_up("Raddle's own tables are full (1 TiB)");
    }
    for block in (start + size..start + run).step_by(size) {
        give(block as *mut u8, size);
    }
    start as *mut u8
}

/// Gives back what `take(bytes)` gave.
pub fn give(block: *mut u8, bytes: usize) {
    let class = class(bytes);
    loop {
        let head = FREE[class].load(Relaxed);
        unsafe { (*(block as *const AtomicU64)).store(head & OFFSET, Relaxed) };
        let offset = (block as usize - ARENA) as u64;
        if FREE[class].compare_exchange(head, stamp(head) | offset, AcqRel, Relaxed).is_ok() {
            return;
        }
    }
}

const OFFSET: u64 = (1 << 40) - 1;

fn stamp(head: u64) -> u64 {
    (head & !OFFSET).wrapping_add(OFFSET + 1)
}

fn class(bytes: usize) -> usize {
    (usize::BITS - bytes.max(1 << SMALLEST).saturating_sub(1).leading_zeros() - SMALLEST) as usize
}

/// For collections of the runtime itself, instead of the program's `malloc`.
pub struct Arena;

unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size().max(layout.align()))
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        give(block, layout.size().max(layout.align()));
    }
}
