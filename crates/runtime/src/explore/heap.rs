//! The heap of an explored program: each thread takes its blocks one after the other from a region of its own, and nothing is handed
//! out twice in one execution.
//!
//! So the address of a block says who allocated it and as how manyeth, whatever other threads do meanwhile; and a block that was freed is no other's.
//! A thread that allocates more than its region, dead blocks included, ends the execution with a limit.

use super::memory::{Memory, PAGE, raw_map};
use crate::explore::channel::MOST_THREADS;

pub const HEAP: usize = 0x6c00_0000_0000;
pub const PER_THREAD: usize = 1 << 30;
const HEADER: usize = 16;
/// From here on a region is given back to the system instead of being cleared.
const LARGE: usize = 1 << 20;

/// In front of each block.
#[repr(C)]
struct Header {
    bytes: usize,
    state: u32,
    thread: u32,
}

const LIVE: u32 = 0x11fe;
const FREED: u32 = 0xdead;

pub struct Heap {
    next: [usize; MOST_THREADS],
    /// What lies below belongs to the time before `main`.
    kept: [usize; MOST_THREADS],
}

/// What an address that is given back turned out to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    Block { bytes: usize },
    AlreadyFreed { bytes: usize },
    NoBlock,
}

impl Heap {
    pub unsafe fn reserve(memory: &mut Memory) -> Option<*mut Heap> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
        if raw_map(HEAP, MOST_THREADS * PER_THREAD, flags) != HEAP {
            return None;
        }
        let heap = memory.take(size_of::<Heap>()).cast::<Heap>();
        for thread in 0..MOST_THREADS {
            (*heap).next[thread] = HEAP + thread * PER_THREAD;
        }
        Some(heap)
    }

    pub fn contains(address: usize) -> bool {
        (HEAP..HEAP + MOST_THREADS * PER_THREAD).contains(&address)
    }

    /// Null when the thread's region is full.
    pub unsafe fn take(&mut self, thread: usize, bytes: usize, alignment: usize) -> *mut u8 {
        let alignment = alignment.max(16);
        let at = (self.next[thread] + HEADER).next_multiple_of(alignment);
        let end = bytes.checked_next_multiple_of(16).and_then(|bytes| at.checked_add(bytes.max(16)));
        let Some(end) = end.filter(|end| *end <= HEAP + (thread + 1) * PER_THREAD) else {
            return std::ptr::null_mut();
        };
        self.next[thread] = end;
        (*header(at)) = Header { bytes, state: LIVE, thread: thread as u32 };
        at as *mut u8
    }

    pub unsafe fn find(&self, block: usize) -> Found {
        if !is_ours(block) || !block.is_multiple_of(16) {
            return Found::NoBlock;
        }
        match (*header(block)).state {
            LIVE => Found::Block { bytes: (*header(block)).bytes },
            FREED => Found::AlreadyFreed { bytes: (*header(block)).bytes },
            _ => Found::NoBlock,
        }
    }

    pub unsafe fn free(&mut self, block: usize) {
        (*header(block)).state = FREED;
    }

    /// What was allocated so far is there at the start of each execution.
    pub unsafe fn keep(&mut self, memory: &mut Memory) -> bool {
        let mut watched = true;
        for thread in 0..MOST_THREADS {
            let start = HEAP + thread * PER_THREAD;
            self.next[thread] = self.next[thread].next_multiple_of(PAGE);
            self.kept[thread] = self.next[thread];
            if self.next[thread] > start {
                watched &= memory.watch(start, self.next[thread]);
            }
        }
        watched
    }

    /// All that was handed out since is zero again.
    pub unsafe fn reset(&mut self) {
        for thread in 0..MOST_THREADS {
            let (start, end) = (self.kept[thread], self.next[thread]);
            if start == end {
                continue;
            }
            let cleared = (end - start).min(LARGE);
            std::ptr::write_bytes(start as *mut u8, 0, cleared);
            if end - start > LARGE {
                let rest = (end - start - LARGE).next_multiple_of(PAGE);
                libc::syscall(libc::SYS_madvise, start + LARGE, rest, libc::MADV_DONTNEED);
            }
            self.next[thread] = start;
        }
    }

    /// The first byte that a thread was handed out since the start, and the one behind the last.
    pub fn used(&self, thread: usize) -> (usize, usize) {
        (self.kept[thread], self.next[thread])
    }

    /// Where an address lies in it.
    pub fn offset(address: usize) -> usize {
        address - HEAP
    }

    /// Calls `visit` with each stretch that was handed out since the start.
    pub fn each_used(&self, mut visit: impl FnMut(usize, usize)) {
        for thread in 0..MOST_THREADS {
            if self.next[thread] > self.kept[thread] {
                visit(self.kept[thread], self.next[thread]);
            }
        }
    }
}

pub fn is_ours(address: usize) -> bool {
    (HEAP + HEADER..HEAP + MOST_THREADS * PER_THREAD).contains(&address)
}

fn header(block: usize) -> *mut Header {
    (block - HEADER) as *mut Header
}
