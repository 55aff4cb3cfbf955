//! Records of atomics: eight bytes of memory, in groups of bytes that have the same history.
//!
//! Whoever changes a record has its lock, with one exception: a thread may put its own access into a list of entries, or in the place of
//! one that it knows, by compare-and-swap (hot.c does). It looks afterwards whether the record was free and unchanged all the time.

use crate::arena;
use crate::clocks::Clock;
use crate::entry::Entry;
use crate::epochs::TAG;
use crate::fronts::Front;
use crate::lanes::{Conflicts, Full, Kind, Lane};
use crate::layout::TABLES;
use crate::spin::Owned;
use crate::stable::{Link, Stable};
use crate::table::TABLE_BYTES;
use crate::thread::Thread;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};

const STRIPES: usize = 256;
/// Groups that need no memory of their own.
pub const INSIDE: usize = 2;
const OUTSIDE: usize = 8 - INSIDE;
pub const ENTRIES: usize = 6;

pub const AT: usize = TABLES + 6 * TABLE_BYTES;
static RECORDS: Stable<Record> = Stable::at(AT, 1 << 26);
static STRIPE: [Owned; STRIPES] = [const { Owned::new() }; STRIPES];
/// From one record to the next.
#[cfg(test)]
pub const STRIDE: usize = Stable::<Record>::STRIDE;

/// Zeroed memory is a record without bytes.
#[repr(C)]
pub struct Record {
    pub lock: Owned,
    /// Grows whenever somebody has locked the record.
    pub version: AtomicU32,
    pub unit: usize,
    pub groups: [Group; INSIDE],
    /// The others, or null.
    more: *mut [Group; OUTSIDE],
    /// While somebody records: the epoch of the last write without the lock.
    writer: AtomicU32,
    link: Link,
}

/// Bytes with the same history. No bytes: not in use.
#[repr(C)]
pub struct Group {
    pub bytes: u8,
    pub plain: Lane,
    /// What an acquire load gets to know.
    pub message: Clock,
    /// The last atomic accesses; those that have no room here are in `writes` and `reads`.
    pub entries: [AtomicU64; ENTRIES],
    writes: Front,
    reads: Front,
}

pub fn create(unit: usize) -> Option<u32> {
    let id = RECORDS.take()?;
    get(id).unit = unit;
    Some(id)
}

pub fn get(id: u32) -> &'static mut Record {
    RECORDS.get(id)
}

pub fn release(id: u32) {
    RECORDS.give(id);
}

/// The lock under which records of a unit are made.
pub fn stripe(unit: usize) -> &'static Owned {
    &STRIPE[(unit >> 3) % STRIPES]
}

/// For the child of a fork.
pub fn reset_locks() {
    for lock in &STRIPE {
        lock.free();
    }
    RECORDS.each(|record| record.lock.free());
}

/// Values of these slots no longer tell whose they are.
pub fn forget_sources(slots: &[usize]) {
    RECORDS.each(|record| record.each_group(|group| group.message.forget_source(slots)));
}

/// Visits every front in use.
pub fn each_front(mut visit: impl FnMut(Front)) {
    RECORDS.each(|record| {
        record.each_group(|group| {
            for front in [group.plain.write, group.plain.read, group.writes, group.reads] {
                visit(front);
            }
            group.each_entry(|entry| visit(entry.access()));
        });
    });
}

impl Record {
    /// Unlocks the record.
    #[inline(always)]
    pub fn done(&self) {
        self.version.store(self.version.load(Relaxed).wrapping_add(1), Relaxed);
        self.lock.free();
    }

    /// Calls `visit` for the groups of exactly these bytes; groups that are only partly among them are split first.
    pub fn each(&mut self, bytes: u8, mut visit: impl FnMut(u8, &mut Group)) {
        for at in 0..8 {
            let Some(group) = self.group(at) else { return };
            let (here, outside) = (group.bytes & bytes, group.bytes & !bytes);
            if here == 0 {
                continue;
            }
            if outside != 0 {
                let copy = group.split_off(outside);
                self.add(copy);
            }
            if let Some(group) = self.group(at) {
                visit(here, group);
            }
        }
    }

    /// The group of exactly these bytes, if it is one of the first.
    #[inline(always)]
    pub fn only(&mut self, bytes: u8) -> Option<&mut Group> {
        self.groups.iter_mut().find(|group| group.bytes == bytes)
    }

    /// Four bytes come in, with what the cell knew of them.
    pub fn add_lanes(&mut self, lanes: [Lane; 4], shift: usize) {
        for (byte, lane) in lanes.into_iter().enumerate() {
            let bytes = 1_u8 << (byte + shift);
            let mut found = false;
            self.each_group(|group| {
                if !found && group.plain == lane && group.is_fresh() {
                    group.bytes |= bytes;
                    found = true;
                }
            });
            if !found {
                self.add(Group { bytes, plain: lane, ..Group::new() });
            }
        }
    }

    pub fn drop_bytes(&mut self, bytes: u8) {
        self.each_group(|group| {
            group.bytes &= !bytes;
            if group.bytes == 0 {
                group.message.clear();
            }
        });
        if self.is_unused() && !self.more.is_null() {
            arena::give(self.more.cast(), size_of::<[Group; OUTSIDE]>());
            self.more = std::ptr::null_mut();
        }
    }

    pub fn is_unused(&mut self) -> bool {
        let mut unused = true;
        self.each_group(|_| unused = false);
        unused
    }

    /// The groups in use.
    fn each_group(&mut self, mut visit: impl FnMut(&mut Group)) {
        for at in 0..8 {
            match self.group(at) {
                Some(group) if group.bytes != 0 => visit(group),
                Some(_) => {}
                None => return,
            }
        }
    }

    fn group(&mut self, at: usize) -> Option<&mut Group> {
        match at.checked_sub(INSIDE) {
            None => Some(&mut self.groups[at]),
            Some(outside) => unsafe { self.more.as_mut() }.map(|more| &mut more[outside]),
        }
    }

    fn add(&mut self, group: Group) {
        for at in 0..8 {
            if at == INSIDE && self.more.is_null() {
                let bytes = size_of::<[Group; OUTSIDE]>();
                let more = arena::take(bytes);
                unsafe { std::ptr::write_bytes(more, 0, bytes) };
                self.more = more.cast();
            }
            if let Some(place) = self.group(at).filter(|place| place.bytes == 0) {
                return *place = group;
            }
        }
        unreachable!("eight bytes are at most eight groups");
    }
}

impl Group {
    fn new() -> Self {
        Self {
            bytes: 0,
            plain: Lane::default(),
            message: Clock::EMPTY,
            entries: [const { AtomicU64::new(0) }; ENTRIES],
            writes: Front::default(),
            reads: Front::default(),
        }
    }

    /// Nothing atomic was done to the bytes.
    fn is_fresh(&self) -> bool {
        let mut fresh = self.writes.is_empty() && self.reads.is_empty() && self.message.is_empty();
        self.each_entry(|_| fresh = false);
        fresh
    }

    fn split_off(&mut self, bytes: u8) -> Group {
        self.bytes &= !bytes;
        let entries = std::array::from_fn(|at| AtomicU64::new(self.entries[at].load(Relaxed)));
        Group { bytes, message: self.message.duplicate(), entries, ..*self }
    }

    fn each_entry(&self, mut visit: impl FnMut(Entry)) {
        for entry in &self.entries {
            match entry.load(Acquire) {
                0 => {}
                entry => visit(Entry(entry)),
            }
        }
    }

    /// Atomic accesses that a plain one races with.
    pub fn conflicts_of_plain(&self, thread: &Thread, kind: Kind, bytes: u8, conflicts: &mut Conflicts) {
        self.each_entry(|entry| {
            if kind == Kind::Write || entry.is_write() {
                conflicts.add(thread, entry.access(), bytes);
            }
        });
        conflicts.add(thread, self.writes, bytes);
        if kind == Kind::Write {
            conflicts.add(thread, self.reads, bytes);
        }
    }

    /// After a plain write nothing of what was done atomically counts.
    pub fn clear(&mut self) {
        for entry in &self.entries {
            entry.swap(0, AcqRel);
        }
        self.writes = Front::default();
        self.reads = Front::default();
        self.message.clear();
    }

    /// Whether the thread's access is noted in this epoch.
    #[inline(always)]
    pub fn has(&self, thread: &Thread, kind: Kind) -> bool {
        let own = |entry: &AtomicU64| {
            let entry = Entry(entry.load(Relaxed));
            entry.epoch() == thread.epoch && (kind == Kind::Read || entry.is_write())
        };
        self.entries.iter().any(own)
            || thread.is_in(self.writes.word)
            || (kind == Kind::Read && thread.is_in(self.reads.word))
    }

    /// Notes an atomic access that is not noted yet.
    #[inline(always)]
    pub fn note(&mut self, thread: &mut Thread, kind: Kind, context: u32) -> Result<(), Full> {
        let access = Front::one(thread.epoch, context);
        let new = Entry::new(access, 0, kind).0;
        thread.used = true;
        // A write stands for a read that it knows; nothing that the thread knows is needed once it is noted itself.
        let replaces = |old: Entry| {
            (kind == Kind::Write || !old.is_write()) && old.0 != 0 && thread.knows_epoch(old.epoch())
        };
        let free = |old: Entry| old.0 == 0;
        for entry in &self.entries {
            let old = entry.load(Acquire);
            if replaces(Entry(old)) && entry.compare_exchange(old, new, AcqRel, Relaxed).is_ok() {
                return Ok(());
            }
        }
        for entry in &self.entries {
            let old = entry.load(Acquire);
            if free(Entry(old)) && entry.compare_exchange(old, new, AcqRel, Relaxed).is_ok() {
                return Ok(());
            }
        }
        let front = if kind == Kind::Write { &mut self.writes } else { &mut self.reads };
        *front = front.with(thread, context).ok_or(Full)?;
        let word = front.word;
        if word & TAG != 0 {
            thread.remember_set(word);
        }
        Ok(())
    }
}
