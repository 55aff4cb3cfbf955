//! Records of atomics: eight bytes of memory, in groups of bytes that have the same history.

use crate::clocks::Clock;
use crate::fronts::Front;
use crate::lanes::Lane;
use crate::layout::TABLES;
use crate::spin::Owned;
use crate::stable::Stable;
use crate::table::TABLE_BYTES;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

const STRIPES: usize = 256;

static RECORDS: Stable<Record> = Stable::at(TABLES + 6 * TABLE_BYTES, 1 << 26);
static STRIPE: [Owned; STRIPES] = [const { Owned::new() }; STRIPES];

/// Zeroed memory is a record without bytes.
#[repr(C)]
pub struct Record {
    pub lock: Owned,
    /// Grows whenever somebody has locked the record.
    pub version: AtomicU32,
    pub unit: usize,
    groups: [Group; 8],
}

/// Bytes with the same history. No bytes: not in use.
#[repr(C)]
pub struct Group {
    bytes: u8,
    pub plain: Lane,
    pub writes: Front,
    pub reads: Front,
    pub message: Clock,
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
    RECORDS.each(|record| record.groups.iter_mut().for_each(|group| group.message.forget_source(slots)));
}

/// Visits every front in use.
pub fn each_front(mut visit: impl FnMut(Front)) {
    RECORDS.each(|record| {
        for group in record.groups.iter().filter(|group| group.bytes != 0) {
            for front in [group.plain.write, group.plain.read, group.writes, group.reads] {
                visit(front);
            }
        }
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
            let (here, outside) = (self.groups[at].bytes & bytes, self.groups[at].bytes & !bytes);
            if here == 0 {
                continue;
            }
            if outside != 0 {
                let copy = self.groups[at].split_off(outside);
                self.add(copy);
            }
            visit(here, &mut self.groups[at]);
        }
    }

    /// The group of exactly these bytes, if it is the first one.
    #[inline(always)]
    pub fn only(&mut self, bytes: u8) -> Option<&mut Group> {
        let first = &mut self.groups[0];
        (first.bytes == bytes).then_some(first)
    }

    /// Four bytes come in, with what the cell knew of them.
    pub fn add_lanes(&mut self, lanes: [Lane; 4], shift: usize) {
        for (byte, lane) in lanes.into_iter().enumerate() {
            let bytes = 1_u8 << (byte + shift);
            let fresh = |group: &Group| {
                group.plain == lane
                    && group.writes.is_empty()
                    && group.reads.is_empty()
                    && group.message.is_empty()
            };
            match self.groups.iter_mut().find(|group| group.bytes != 0 && fresh(group)) {
                Some(group) => group.bytes |= bytes,
                None => self.add(Group { bytes, plain: lane, ..Group::new() }),
            }
        }
    }

    pub fn drop_bytes(&mut self, bytes: u8) {
        for group in &mut self.groups {
            group.bytes &= !bytes;
            if group.bytes == 0 {
                group.message.clear();
            }
        }
    }

    pub fn is_unused(&self) -> bool {
        self.groups.iter().all(|group| group.bytes == 0)
    }

    fn add(&mut self, group: Group) {
        let free = self.groups.iter_mut().find(|group| group.bytes == 0);
        *free.expect("eight bytes are at most eight groups") = group;
    }
}

impl Group {
    fn new() -> Self {
        Self {
            bytes: 0,
            plain: Lane::default(),
            writes: Front::default(),
            reads: Front::default(),
            message: Clock::EMPTY,
        }
    }

    fn split_off(&mut self, bytes: u8) -> Group {
        self.bytes &= !bytes;
        Group { bytes, message: self.message.duplicate(), ..*self }
    }
}
