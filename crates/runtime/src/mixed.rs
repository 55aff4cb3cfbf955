//! Granules of which one word is not enough: bytes that differ, or many readers that come again and again. A record lists the last
//! accesses, each with the bytes that it stands for, and is changed in place under a lock of its own.
//!
//! The cell names the record. Everything that changes such a cell holds the record's lock; when a write and a read of all bytes are all
//! there is to say, the cell takes them back and the record is free. Records never become anything but records, so a number that was read
//! too late is harmless: whoever has the lock looks whether the cell still names it. hot.c looks at a record without the lock, for
//! the thread's own epoch; `life` tells it that the record was given to another granule meanwhile. It also does what [`begin`] and [`access`]
//! do, where nothing races and the thread has a record at hand.
//!
//! The rules are those of [`crate::lanes`], byte by byte. A signal handler that interrupts an access of its own thread to the same granule
//! is not checked: the record is taken.

use crate::block::SPARES;
use crate::cells::{self, WHOLE, lane_of};
use crate::collect;
use crate::entry::Entry;
use crate::epochs::TAG;
use crate::fronts::Front;
use crate::lanes::{Conflicts, Full, Kind, Lane};
use crate::layout::{self, HAS_RECORDS, TABLES};
use crate::report;
use crate::spin::{Owned, Taken};
use crate::stable::{Link, Stable};
use crate::table::TABLE_BYTES;
use crate::thread::Thread;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

pub const AT: usize = TABLES + 5 * TABLE_BYTES;
static RECORDS: Stable<Mixed> = Stable::at(AT, 1 << 28);
/// From one record to the next.
#[cfg(test)]
pub const STRIDE: usize = Stable::<Mixed>::STRIDE;
pub const ROOM: usize = 6;
/// So many records are taken at once.
const FEW: u32 = 8;

/// Zeroed memory is a free record.
#[repr(C)]
pub struct Mixed {
    lock: Owned,
    /// Changes when the record goes to another granule.
    pub life: AtomicU32,
    /// The last accesses; zero where there is none.
    pub entries: [AtomicU64; ROOM],
    /// A record with the entries that have no room here, or 0.
    pub more: u32,
    link: Link,
}

/// A cache line for each.
const _: () = assert!(Stable::<Mixed>::STRIDE == 64);

/// A list of entries of which the first few need no memory of their own.
struct Entries {
    few: [Entry; ROOM],
    count: usize,
    rest: Vec<Entry>,
}

impl Entries {
    fn none() -> Self {
        Self { few: [Entry(0); ROOM], count: 0, rest: Vec::new() }
    }

    #[inline(always)]
    fn push(&mut self, entry: Entry) {
        if self.count < ROOM {
            self.few[self.count] = entry;
            self.count += 1;
        } else {
            self.rest.push(entry);
        }
    }

    fn iter(&self) -> impl Iterator<Item = Entry> {
        self.few[..self.count].iter().chain(&self.rest).copied()
    }

    /// With an access of the thread to some bytes, none of which it has noted in this epoch.
    #[inline(always)]
    fn after(
        &self,
        thread: &Thread,
        access: Front,
        mask: u8,
        kind: Kind,
        conflicts: &mut Conflicts,
    ) -> Entries {
        let mut after = Entries::none();
        let mut newest = Some(Entry::new(access, mask, kind));
        for entry in self.iter() {
            let hit = entry.mask() & mask;
            let mut kept = entry;
            if hit != 0 {
                let known = thread.knows_epoch(entry.epoch());
                if !known && (kind == Kind::Write || entry.is_write()) {
                    conflicts.add(thread, entry.access(), hit);
                }
                if kind == Kind::Write || (known && !entry.is_write()) {
                    kept = entry.without(mask);
                }
            }
            if kept.mask() == 0 {
                // The newest takes the place of what it replaces: the thread finds it where it was.
                if let Some(newest) = newest.take() {
                    after.push(newest);
                }
            } else if newest.is_some_and(|newest| newest.without(WHOLE) == kept.without(WHOLE)) {
                newest = None;
                after.push(kept.and(mask));
            } else {
                after.push(kept);
            }
        }
        if let Some(newest) = newest {
            after.push(newest);
        }
        after
    }

    /// The state of all bytes, if a cell has room for it: a write and a read at most.
    #[inline(always)]
    fn as_lane(&self) -> Option<Lane> {
        let mut lane = Lane::default();
        if self.count > 2 {
            return None;
        }
        for entry in &self.few[..self.count] {
            let front = if entry.is_write() { &mut lane.write } else { &mut lane.read };
            if entry.mask() != WHOLE || !front.is_empty() {
                return None;
            }
            *front = entry.access();
        }
        Some(lane)
    }

    /// What the entries say of one byte.
    fn lane(&self, byte: u8) -> Option<Lane> {
        let here = |entry: &Entry| entry.mask() & 1 << byte != 0;
        let write = self.iter().filter(here).find(|entry| entry.is_write());
        let mut reads = Vec::new();
        reads.extend(self.iter().filter(here).filter(|entry| !entry.is_write()).map(Entry::access));
        Some(Lane { write: write.map_or(Front::default(), Entry::access), read: Front::of(&reads)? })
    }
}

/// Why a record could not be locked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// The cell does not name it any more.
    Changed,
    /// A part of the thread that was interrupted has it.
    Busy,
}

/// An access to a granule that has no record and gets one. False: the cell has changed, look again.
pub fn begin(thread: &mut Thread, at: usize, old: u64, mask: u8, kind: Kind, context: u32) -> bool {
    let lane = lane_of(thread, at, old);
    let mut before = Entries::none();
    if !lane.write.is_empty() {
        before.push(Entry::new(lane.write, WHOLE, Kind::Write));
    }
    lane.read.each().for_each(|read| before.push(Entry::new(read, WHOLE, Kind::Read)));
    let Some((id, record)) = take(thread) else {
        collect::no_room(thread);
        return true;
    };
    let mut conflicts = Conflicts::none();
    let access = Front::one(thread.epoch, context);
    let noted = record.store(&before.after(thread, access, mask, kind, &mut conflicts));
    layout::presence(at).fetch_or(HAS_RECORDS, Relaxed);
    let new = u64::from(TAG | id);
    if layout::cell(at).compare_exchange(old, new, AcqRel, Relaxed).is_err() {
        give(thread, id, record);
        return false;
    }
    cells::touch(at, old);
    thread.used = true;
    record.lock.free();
    report(thread, at, noted, &conflicts, context);
    true
}

/// An access to a granule whose cell names a record. False: the cell has changed, look again.
pub fn access(thread: &mut Thread, at: usize, mask: u8, kind: Kind, context: u32, word: u32) -> bool {
    let record = match lock(thread, at, word) {
        Ok(record) => record,
        Err(why) => return why == Refused::Busy,
    };
    let before = record.load();
    let own = |entry: &Entry| entry.epoch() == thread.epoch && (kind == Kind::Read || entry.is_write());
    let noted = before.iter().filter(own).fold(0, |mask, entry| mask | entry.mask());
    let mask = mask & !noted;
    if mask == 0 {
        record.lock.free();
        return true;
    }
    let mut conflicts = Conflicts::none();
    let access = Front::one(thread.epoch, context);
    let after = before.after(thread, access, mask, kind, &mut conflicts);
    thread.used = true;
    let noted = match after.as_lane() {
        Some(lane) => {
            cells::settle(at, lane);
            give(thread, word & !TAG, record);
            Ok(())
        }
        None => {
            let noted = record.store(&after);
            record.lock.free();
            noted
        }
    };
    report(thread, at, noted, &conflicts, context);
    true
}

/// Puts `new` in the place of a cell that names a record, and gives the bytes away that the record had.
pub fn replace(thread: &mut Thread, at: usize, word: u32, new: u64) -> Result<[Lane; 4], Refused> {
    let record = lock(thread, at, word)?;
    let entries = record.load();
    layout::cell(at).store(new, Release);
    give(thread, word & !TAG, record);
    let mut lanes = [Lane::default(); 4];
    if new != 0 {
        for (byte, lane) in lanes.iter_mut().enumerate() {
            match entries.lane(byte as u8) {
                Some(full) => *lane = full,
                None => collect::no_room(thread),
            }
        }
    }
    Ok(lanes)
}

/// Calls `visit` with each epoch in a record, for the collector.
pub fn each_epoch(word: u32, mut visit: impl FnMut(u32)) {
    RECORDS.get(word & !TAG).load().iter().for_each(|entry| visit(entry.epoch()));
}

/// For the child of a fork.
pub fn reset_locks() {
    RECORDS.each(|record| record.lock.free());
}

/// Gives the records back that a thread had kept for the next time.
pub fn give_back(thread: &mut Thread) {
    let block = unsafe { &mut *thread.block };
    block.spares[..block.spare_count as usize].iter().for_each(|id| RECORDS.give(*id));
    block.spare_count = 0;
}

/// A locked record that no cell names.
fn take(thread: &mut Thread) -> Option<(u32, &'static mut Mixed)> {
    loop {
        let id = spare(thread).or_else(|| RECORDS.take())?;
        let record = RECORDS.get(id);
        // Somebody who read the number too late may have it for a moment; if that was this thread, before a signal, it is lost.
        if record.lock.take(thread.index, false) == Taken::Locked {
            return Some((id, record));
        }
    }
}

/// Unlocks a record that no cell names any more.
fn give(thread: &mut Thread, id: u32, record: &mut Mixed) {
    record.life.store(record.life.load(Relaxed).wrapping_add(1), Release);
    record.drop_more();
    record.lock.free();
    let block = unsafe { &mut *thread.block };
    if thread.is_nested() || block.spare_count as usize == SPARES {
        return RECORDS.give(id);
    }
    block.spares[block.spare_count as usize] = id;
    block.spare_count += 1;
}

/// A record that the thread has kept. A signal handler must not touch these: it may have interrupted who does. There are some left
/// afterwards, for hot.c.
fn spare(thread: &Thread) -> Option<u32> {
    if thread.is_nested() {
        return None;
    }
    let block = unsafe { &mut *thread.block };
    while block.spare_count < FEW {
        block.spares[block.spare_count as usize] = RECORDS.take()?;
        block.spare_count += 1;
    }
    block.spare_count -= 1;
    Some(block.spares[block.spare_count as usize])
}

/// The locked record, if the cell names it.
fn lock(thread: &Thread, at: usize, word: u32) -> Result<&'static mut Mixed, Refused> {
    let record = RECORDS.get(word & !TAG);
    if record.lock.take(thread.index, thread.is_nested()) != Taken::Locked {
        return Err(Refused::Busy);
    }
    if layout::cell(at).load(Acquire) != u64::from(word) {
        record.lock.free();
        return Err(Refused::Changed);
    }
    Ok(record)
}

fn report(thread: &mut Thread, at: usize, noted: Result<(), Full>, conflicts: &Conflicts, context: u32) {
    if !conflicts.is_empty() {
        report::races(thread, at, conflicts, context);
    }
    if noted.is_err() {
        collect::no_room(thread);
    }
}

impl Mixed {
    #[inline(always)]
    fn load(&self) -> Entries {
        let mut entries = Entries::none();
        let mut part = self;
        loop {
            for entry in &part.entries {
                match entry.load(Relaxed) {
                    0 => break,
                    entry => entries.push(Entry(entry)),
                }
            }
            if part.more == 0 {
                return entries;
            }
            part = RECORDS.get(part.more);
        }
    }

    #[inline(always)]
    fn store(&mut self, entries: &Entries) -> Result<(), Full> {
        for (place, at) in self.entries.iter().zip(0..) {
            let entry = if at < entries.count { entries.few[at].0 } else { 0 };
            if place.load(Relaxed) != entry {
                place.store(entry, Release);
            }
        }
        if self.more == 0 && entries.rest.is_empty() {
            return Ok(());
        }
        self.drop_more();
        let mut part = self;
        for few in entries.rest.chunks(ROOM) {
            let id = RECORDS.take().ok_or(Full)?;
            let next = RECORDS.get(id);
            for (place, at) in next.entries.iter().zip(0..) {
                place.store(few.get(at).map_or(0, |entry| entry.0), Relaxed);
            }
            next.more = 0;
            part.more = id;
            part = next;
        }
        Ok(())
    }

    /// Gives back the records that hang on this one.
    fn drop_more(&mut self) {
        let mut id = std::mem::take(&mut self.more);
        while id != 0 {
            let next = std::mem::take(&mut RECORDS.get(id).more);
            RECORDS.give(id);
            id = next;
        }
    }
}
