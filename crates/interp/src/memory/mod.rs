//! Byte-addressed memory with allocation identity, a map of initialised bytes and of words that hold pointers, and an undo log.
//!
//! Errs: a pointer into a block that was freed and whose slot was taken again as often as there are generations looks valid
//! (2^10 times for small blocks on LP64, never distinguished for large ones on ILP32). Reading bytes that were never written gives a
//! fixed pattern and is reported to the caller (A-UNINIT).

mod content;
mod copy;
mod free_list;
mod object;
mod records;
mod space;
mod undo;

#[cfg(test)]
mod tests;

pub(crate) use content::Named;
pub(crate) use copy::Piece;
pub(crate) use object::{Object, WORD, mix};
pub(crate) use records::{Name, Record, Records, StackId};
pub(crate) use space::{At, Birth, Fill, Full, Miss, Slot};

use crate::address::{CLASSES, Layout};
use free_list::FreeList;
use raddle_ir::DataModel;
use undo::{Mark, UndoLog};

#[derive(Clone, Debug)]
pub(crate) struct Memory {
    pub layout: Layout,
    /// By class and index; the classes beyond those in use stay empty, so that addresses of nothing find nothing.
    tables: [Vec<Object>; 8],
    free: [FreeList; CLASSES],
    pub records: Records,
    /// Hash of all content and of the set of live objects; the same again when all changes were taken back.
    pub version: u64,
    log: UndoLog,
    marks: Vec<Mark>,
    epoch: u64,
    last_epoch: u64,
    live_bytes: u64,
    limit: u64,
    /// `log2` of the pointer size.
    name_shift: u32,
}

impl Memory {
    pub fn new(model: DataModel, limit: u64) -> Self {
        let layout = Layout::new(model);
        let name_shift = layout.pointer_bytes.trailing_zeros();
        Self {
            layout,
            tables: Default::default(),
            free: Default::default(),
            records: Records::new(),
            version: 0,
            log: UndoLog::default(),
            marks: Vec::new(),
            epoch: 0,
            last_epoch: 0,
            live_bytes: 0,
            limit,
            name_shift,
        }
    }

    /// Bytes held for this run: objects, records, undo log. Does not grow from one run to the next.
    pub fn footprint(&self) -> u64 {
        let slots: usize = self.tables.iter().map(Vec::len).sum();
        let waiting: usize = self.free.iter().map(FreeList::kept).sum();
        self.live_bytes
            + (slots * size_of::<Object>() + waiting * 4 + self.records.len() * size_of::<Record>()) as u64
            + self.log.bytes()
    }
}
