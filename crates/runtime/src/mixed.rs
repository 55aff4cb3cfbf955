//! Granules whose bytes differ: a record with the state of each byte, changed in place under a lock of its own.
//!
//! The cell names the record. Everything that changes such a cell holds the record's lock; when the bytes are the same again, the cell
//! takes them back and the record is free. Records never become anything but records, so a number that was read too late is harmless:
//! whoever has the lock looks whether the cell still names it. hot.c looks at a record without the lock, for the thread's own epoch;
//! `life` tells it that the record was given to another granule meanwhile.
//!
//! A signal handler that interrupts an access of its own thread to the same granule is not checked: the record is taken.

use crate::cells::{self, lane_of};
use crate::collect;
use crate::epochs::TAG;
use crate::fronts::Front;
use crate::lanes::{Conflicts, Full, Kind, Lane};
use crate::layout::{self, HAS_RECORDS, TABLES};
use crate::report;
use crate::spin::{Owned, Taken};
use crate::stable::Stable;
use crate::table::TABLE_BYTES;
use crate::thread::Thread;
use std::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

pub const AT: usize = TABLES + 5 * TABLE_BYTES;
static RECORDS: Stable<Mixed> = Stable::at(AT, 1 << 28);
/// From one record to the next.
#[cfg(test)]
pub const STRIDE: usize = Stable::<Mixed>::STRIDE;

/// Zeroed memory is a free record.
#[repr(C)]
pub struct Mixed {
    lock: Owned,
    /// Changes when the record goes to another granule.
    pub life: AtomicU32,
    pub lanes: [Lane; 4],
}

/// Why a record could not be locked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// The cell does not name it any more.
    Changed,
    /// A part of the thread that was interrupted has it.
    Busy,
}

/// An access to some bytes of a granule, which are not all of it or find it without a record. False: the cell has changed, look again.
pub fn begin(thread: &mut Thread, at: usize, old: u64, mask: u8, kind: Kind, context: u32) -> bool {
    let lane = lane_of(thread, at, old);
    let Some((id, record)) = take(thread) else {
        collect::no_room(thread);
        return true;
    };
    record.lanes = [lane; 4];
    let mut conflicts = Conflicts::none();
    let noted = record.note(thread, mask, kind, context, &mut conflicts);
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
    let mut conflicts = Conflicts::none();
    let noted = record.note(thread, mask, kind, context, &mut conflicts);
    thread.used = true;
    match record.lanes {
        [lane, rest @ ..] if rest.iter().all(|other| *other == lane) && is_storable(thread, lane) => {
            cells::settle(thread, at, lane);
            give(thread, word & !TAG, record);
        }
        _ => record.lock.free(),
    }
    report(thread, at, noted, &conflicts, context);
    true
}

/// Puts `new` in the place of a cell that names a record, and gives the bytes away that the record had.
pub fn replace(thread: &mut Thread, at: usize, word: u32, new: u64) -> Result<[Lane; 4], Refused> {
    let record = lock(thread, at, word)?;
    let lanes = record.lanes;
    layout::cell(at).store(new, Release);
    give(thread, word & !TAG, record);
    Ok(lanes)
}

/// The state of the bytes, for the collector.
pub fn lanes(word: u32) -> [Lane; 4] {
    RECORDS.get(word & !TAG).lanes
}

/// For the child of a fork.
pub fn reset_locks() {
    RECORDS.each(|record| record.lock.free());
}

/// Gives a record back that a thread had kept for the next time.
pub fn give_back(id: u32) {
    if id != 0 {
        RECORDS.give(id);
    }
}

/// A locked record that no cell names.
fn take(thread: &mut Thread) -> Option<(u32, &'static mut Mixed)> {
    loop {
        let id = match std::mem::take(&mut thread.spare) {
            0 => RECORDS.take()?,
            spare => spare,
        };
        let record = RECORDS.get(id);
        // Somebody who read the number too late may have it for a moment; if that was this thread, before a signal, it is lost.
        if record.lock.take(thread.index, false) == Taken::Locked {
            return Some((id, record));
        }
    }
}

/// Unlocks a record that no cell names any more.
fn give(thread: &mut Thread, id: u32, record: &Mixed) {
    record.life.store(record.life.load(Relaxed).wrapping_add(1), Release);
    record.lock.free();
    if thread.spare == 0 {
        thread.spare = id;
    } else {
        RECORDS.give(id);
    }
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

/// Whether the thread may store the contexts of such a cell: only words of its own epoch have one there.
fn is_storable(thread: &Thread, lane: Lane) -> bool {
    let own = |front: Front| front.word & TAG != 0 || front.word == 0 || front.word == thread.epoch;
    own(lane.write) && own(lane.read)
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
    fn note(
        &mut self,
        thread: &Thread,
        mask: u8,
        kind: Kind,
        context: u32,
        conflicts: &mut Conflicts,
    ) -> Result<(), Full> {
        let mut last: Option<(Lane, Lane)> = None;
        for byte in 0..4 {
            if mask & 1 << byte == 0 {
                continue;
            }
            let old = self.lanes[byte];
            // Neighbours mostly have the same history.
            let lane = match last {
                Some((before, after)) if before == old && conflicts.is_empty() => after,
                _ => old.after(thread, kind, context, 1 << byte, conflicts)?,
            };
            last = Some((old, lane));
            self.lanes[byte] = lane;
        }
        Ok(())
    }
}
