//! Numbered records that never move and never become something else, so that a number read too late still names a record of its kind.
//! The last word of a record names the next one while it is free: a [`Link`], or something that whoever takes the record sets.

use std::marker::PhantomData;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};

/// Records from 1; zeroed memory must be a valid one.
pub struct Stable<T> {
    base: usize,
    limit: u32,
    next: AtomicU32,
    free: AtomicU64,
    kind: PhantomData<fn() -> T>,
}

impl<T: 'static> Stable<T> {
    pub const fn at(base: usize, limit: u32) -> Self {
        Self { base, limit, next: AtomicU32::new(1), free: AtomicU64::new(0), kind: PhantomData }
    }

    pub fn take(&self) -> Option<u32> {
        loop {
            let head = self.free.load(Acquire);
            let id = head as u32;
            if id == 0 {
                break;
            }
            let next = u64::from(self.link(id).load(Relaxed));
            if self.free.compare_exchange(head, bump(head) | next, AcqRel, Relaxed).is_ok() {
                return Some(id);
            }
        }
        if self.next.load(Relaxed) >= self.limit {
            return None;
        }
        Some(self.next.fetch_add(1, Relaxed)).filter(|id| *id < self.limit)
    }

    pub fn give(&self, id: u32) {
        loop {
            let head = self.free.load(Relaxed);
            self.link(id).store(head as u32, Relaxed);
            if self.free.compare_exchange(head, bump(head) | u64::from(id), AcqRel, Relaxed).is_ok() {
                return;
            }
        }
    }

    #[allow(clippy::mut_from_ref)]
    pub fn get(&self, id: u32) -> &'static mut T {
        unsafe { &mut *((self.base + id as usize * Self::STRIDE) as *mut T) }
    }

    /// All records that were ever used.
    pub fn each(&self, mut visit: impl FnMut(&'static mut T)) {
        for id in 1..self.next.load(Relaxed).min(self.limit) {
            visit(self.get(id));
        }
    }

    /// From one record to the next.
    pub const STRIDE: usize = size_of::<T>().next_multiple_of(16);

    fn link(&self, id: u32) -> &AtomicU32 {
        unsafe { &*((self.base + (id as usize + 1) * Self::STRIDE - 4) as *const AtomicU32) }
    }
}

/// The last word of a record that has no other for it.
#[repr(C)]
pub struct Link(AtomicU32);

fn bump(head: u64) -> u64 {
    ((head >> 32) + 1) << 32
}
