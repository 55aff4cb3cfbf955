//! Hash-consing without locks: a growing array of small records in which equal records have one number.
//!
//! Readers and writers may be anywhere, also in a signal handler that interrupted another insertion. The index is a row of hash tables,
//! each twice as large as the one before; new records go into the last. Two threads that insert the same record at the same moment may
//! each get a number; users of the table must not rely on more than: the same number is the same record.

use crate::collect;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

const FIRST_LEVEL: usize = 1 << 12;
const LEVELS: usize = 18;
const WINDOW: usize = 24;
/// Bytes of address space for one table: records in the first half, index in the second.
pub const TABLE_BYTES: usize = 1 << 36;

/// Records of `N` words, numbered from 1.
pub struct Table<const N: usize> {
    base: usize,
    limit: u32,
    next: AtomicU32,
    level: AtomicU32,
    /// Freed records: a count that makes each head unique, and the number of the first.
    free: AtomicU64,
    used: AtomicU32,
    /// From this many records on, a collection is wanted.
    wish: AtomicU32,
}

impl<const N: usize> Table<N> {
    pub const fn at(base: usize, limit: u32) -> Self {
        Self {
            base,
            limit,
            next: AtomicU32::new(1),
            level: AtomicU32::new(0),
            free: AtomicU64::new(0),
            used: AtomicU32::new(0),
            wish: AtomicU32::new(u32::MAX),
        }
    }

    /// The number of this record; `None` when the table is full.
    pub fn intern(&self, record: [u32; N]) -> Option<u32> {
        let hash = hash(&record);
        let mut level = self.level.load(Acquire) as usize;
        for level in (0..=level).rev() {
            if let Some(found) = self.find(level, hash, &record) {
                return Some(found);
            }
        }
        let id = self.allocate()?;
        for (word, value) in self.record(id).iter().zip(record) {
            word.store(value, Relaxed);
        }
        loop {
            for step in 0..WINDOW {
                let slot = self.slot(level, hash, step);
                if slot.load(Relaxed) == 0 && slot.compare_exchange(0, id, Release, Relaxed).is_ok() {
                    return Some(id);
                }
            }
            if level + 1 == LEVELS {
                return Some(id);
            }
            let _ = self.level.compare_exchange(level as u32, level as u32 + 1, AcqRel, Relaxed);
            level += 1;
        }
    }

    pub fn get(&self, id: u32) -> [u32; N] {
        let mut values = [0; N];
        for (value, word) in values.iter_mut().zip(self.record(id)) {
            *value = word.load(Relaxed);
        }
        values
    }

    /// How many records there are.
    pub fn len(&self) -> u32 {
        self.used.load(Relaxed)
    }

    /// All numbers are below this.
    pub fn bound(&self) -> u32 {
        self.next.load(Relaxed).min(self.limit)
    }

    pub fn wish(&self, records: u32) {
        self.wish.store(records, Relaxed);
    }

    /// Keeps the records for which `live` says so. Nobody else may be in the table.
    pub fn sweep(&self, mut live: impl FnMut(u32) -> bool) {
        let levels = self.level.swap(0, AcqRel) as usize;
        let index = self.base + TABLE_BYTES / 2;
        let bytes = FIRST_LEVEL * ((2 << levels) - 1) * 4;
        unsafe {
            libc::madvise(index as *mut libc::c_void, bytes.next_multiple_of(4096), libc::MADV_DONTNEED)
        };
        self.free.store(0, Relaxed);
        self.used.store(0, Relaxed);
        for id in 1..self.bound() {
            if live(id) {
                self.used.fetch_add(1, Relaxed);
                self.place(id);
            } else {
                self.release(id);
            }
        }
    }

    fn place(&self, id: u32) {
        let hash = hash(&self.get(id));
        loop {
            let level = self.level.load(Relaxed) as usize;
            for step in 0..WINDOW {
                let slot = self.slot(level, hash, step);
                if slot.load(Relaxed) == 0 {
                    return slot.store(id, Relaxed);
                }
            }
            if level + 1 == LEVELS {
                return;
            }
            self.level.store(level as u32 + 1, Relaxed);
        }
    }

    fn release(&self, id: u32) {
        let head = self.free.load(Relaxed);
        self.record(id)[0].store(head as u32, Relaxed);
        self.free.store(((head >> 32) + 1) << 32 | u64::from(id), Relaxed);
    }

    fn allocate(&self) -> Option<u32> {
        if self.used.fetch_add(1, Relaxed) >= self.wish.load(Relaxed) {
            collect::want();
        }
        loop {
            let head = self.free.load(Acquire);
            let id = head as u32;
            if id == 0 {
                break;
            }
            let next = u64::from(self.record(id)[0].load(Relaxed));
            let new = ((head >> 32) + 1) << 32 | next;
            if self.free.compare_exchange(head, new, AcqRel, Relaxed).is_ok() {
                return Some(id);
            }
        }
        if self.next.load(Relaxed) >= self.limit {
            return None;
        }
        let id = self.next.fetch_add(1, Relaxed);
        (id < self.limit).then_some(id)
    }

    fn find(&self, level: usize, hash: u32, record: &[u32; N]) -> Option<u32> {
        for step in 0..WINDOW {
            match self.slot(level, hash, step).load(Acquire) {
                0 => return None,
                id if self.get(id) == *record => return Some(id),
                _ => {}
            }
        }
        None
    }

    fn slot(&self, level: usize, hash: u32, step: usize) -> &AtomicU32 {
        let size = FIRST_LEVEL << level;
        let before = FIRST_LEVEL * ((1 << level) - 1);
        let at = (hash as usize + step) & (size - 1);
        unsafe { &*((self.base + TABLE_BYTES / 2 + (before + at) * 4) as *const AtomicU32) }
    }

    fn record(&self, id: u32) -> &[AtomicU32; N] {
        unsafe { &*((self.base + id as usize * N * 4) as *const [AtomicU32; N]) }
    }
}

fn hash(words: &[u32]) -> u32 {
    let mut hash = 0x9e37_79b9_7f4a_7c15_u64;
    for &word in words {
        hash = (hash ^ u64::from(word)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash ^= hash >> 29;
    }
    (hash >> 16) as u32
}
