//! Loops that walk memory, checked as one range, and the ranges that a thread has walked in its present epoch.

use crate::collect;
use crate::contexts::{self, Shape};
use crate::gate;
use crate::lanes::Kind;
use crate::observe;
use crate::spans;
use crate::thread::Thread;

const ENTRIES: usize = 4096;
/// Walks that are not worth an entry; hot.c has looked at their cells already.
const SHORT: usize = 96;

/// `count` accesses of `size` bytes, `stride` bytes apart.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Walk {
    pub first: usize,
    pub stride: isize,
    pub count: usize,
    pub size: u32,
    pub kind: Kind,
}

impl Walk {
    /// Where its bytes begin and end.
    fn ends(&self) -> (usize, usize) {
        let last = self.first.wrapping_add_signed(self.stride.wrapping_mul(self.count as isize - 1));
        (self.first.min(last), self.first.max(last) + self.size as usize)
    }

    fn is_short(&self) -> bool {
        self.count <= SHORT && self.stride.unsigned_abs() <= self.size as usize
    }
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Entry {
    walk: Walk,
    generation: u64,
}

/// Zeroed memory is an empty cache.
#[repr(C)]
pub struct Walks {
    entries: [Entry; ENTRIES],
    generation: u64,
    /// All walks of this generation lie in between.
    low: usize,
    high: usize,
}

impl Walks {
    #[inline(always)]
    pub fn forget(&mut self) {
        self.generation += 1;
        (self.low, self.high) = (usize::MAX, 0);
    }

    /// This memory is new: what was walked there was something else.
    #[inline(always)]
    pub fn forget_range(&mut self, start: usize, end: usize) {
        if start < self.high && self.low < end {
            self.forget();
        }
    }

    fn slot(walk: &Walk) -> usize {
        let mixed = (walk.first as u64 ^ (walk.stride as u64).rotate_left(23))
            .wrapping_add(walk.count as u64)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 48) as usize % ENTRIES
    }

    /// Whether the same walk was made in this epoch, as this kind or as a write.
    fn has(&self, walk: &Walk) -> bool {
        let entry = &self.entries[Self::slot(walk)];
        let covers = entry.walk == *walk || entry.walk == Walk { kind: Kind::Write, ..*walk };
        entry.generation == self.generation && covers
    }

    fn put(&mut self, walk: Walk) {
        let (low, high) = walk.ends();
        (self.low, self.high) = (self.low.min(low), self.high.max(high));
        self.entries[Self::slot(&walk)] = Entry { walk, generation: self.generation };
    }
}

pub fn walk(thread: &mut Thread, walk: Walk, site: u32) {
    let Walk { first, stride, count, size, kind } = walk;
    if count == 0 || size == 0 || thread.apart > 0 || (!walk.is_short() && thread.caches().walks.has(&walk)) {
        return;
    }
    if observe::is_on() {
        let range = observe::Access { first, stride, count, size: size as usize, kind, site };
        return observe::access(thread, range);
    }
    step(thread, walk, site);
}

/// The detector's part of a walk.
pub fn step(thread: &mut Thread, walk: Walk, site: u32) {
    let Walk { first, stride, count, size, kind } = walk;
    gate::enter(thread);
    let context = contexts::of(thread, site, Shape::plain(size as usize, kind == Kind::Write));
    if stride.unsigned_abs() <= size as usize {
        let (low, high) = walk.ends();
        spans::span(thread, low, high - low, kind, context);
    } else {
        let mut at = first;
        for _ in 0..count {
            spans::span(thread, at, size as usize, kind, context);
            at = at.wrapping_add_signed(stride);
        }
    }
    if !walk.is_short() {
        thread.caches().walks.put(walk);
    }
    gate::leave(thread);
    collect::if_needed(thread);
}
