//! Checkpoints of memory: the old bytes of a chunk are kept on its first change after a checkpoint, tenancies of slots likewise.
//!
//! An object born after the latest checkpoint needs no saving, and one that is born and dies in between leaves one entry at most: the log
//! is bounded by what existed at the checkpoint, not by the length of the run.

use super::Memory;
use super::free_list::FreeListMark;
use super::object::{CHUNK, Object, WORD};
use super::space::Slot;
use crate::address::CLASSES;
use raddle_event::ObjectId;

#[derive(Clone, Debug)]
pub(super) struct Mark {
    epoch: u64,
    entries: usize,
    saved_bytes: usize,
    slots: [usize; CLASSES],
    pub free: [FreeListMark; CLASSES],
    version: u64,
    records: usize,
    live_bytes: u64,
}

#[derive(Clone, Debug)]
pub(super) enum Entry {
    Bytes {
        slot: Slot,
        chunk: u32,
        saved: u64,
        start: usize,
        len: usize,
        hash: u64,
        has_init: bool,
        has_names: bool,
    },
    /// The slot was vacant.
    Vacant {
        slot: Slot,
        generation: u32,
        id: ObjectId,
        canon: u64,
        tenancy_saved: u64,
    },
    /// The slot had this tenant.
    Tenant {
        slot: Slot,
        object: Box<Object>,
    },
    Exposed {
        slot: Slot,
    },
    HasSync {
        slot: Slot,
    },
    Identified {
        slot: Slot,
    },
}

#[derive(Clone, Debug, Default)]
pub(super) struct UndoLog {
    entries: Vec<Entry>,
    saved: Vec<u8>,
    tenant_bytes: u64,
}

impl UndoLog {
    pub fn push(&mut self, entry: Entry) {
        if let Entry::Tenant { object, .. } = &entry {
            self.tenant_bytes += object.weight();
        }
        self.entries.push(entry);
    }

    pub fn bytes(&self) -> u64 {
        (self.entries.len() * size_of::<Entry>() + self.saved.len()) as u64 + self.tenant_bytes
    }
}

impl Memory {
    /// Number of the checkpoint, for `restore` and `discard`.
    pub fn checkpoint(&mut self) -> usize {
        self.last_epoch += 1;
        self.epoch = self.last_epoch;
        self.marks.push(Mark {
            epoch: self.epoch,
            entries: self.log.entries.len(),
            saved_bytes: self.log.saved.len(),
            slots: std::array::from_fn(|class| self.tables[class].len()),
            free: std::array::from_fn(|class| self.free[class].mark()),
            version: self.version,
            records: self.records.len(),
            live_bytes: self.live_bytes,
        });
        self.marks.len() - 1
    }

    pub fn restore(&mut self, checkpoint: usize) {
        self.marks.truncate(checkpoint + 1);
        let mark = self.marks[checkpoint].clone();
        while self.log.entries.len() > mark.entries {
            let entry = self.log.entries.pop().expect("longer than the mark");
            self.undo(entry);
        }
        self.log.saved.truncate(mark.saved_bytes);
        for class in 0..CLASSES {
            self.tables[class].truncate(mark.slots[class]);
            self.free[class].restore(mark.free[class]);
        }
        self.version = mark.version;
        self.records.truncate(mark.records);
        self.live_bytes = mark.live_bytes;
        self.epoch = mark.epoch;
    }

    /// Drops the latest checkpoint; what it saved that an earlier one needs stays.
    pub fn discard(&mut self, checkpoint: usize) {
        debug_assert_eq!(checkpoint + 1, self.marks.len());
        let Some(mark) = self.marks.pop() else { return };
        let before = self.marks.last().map_or(0, |m| m.epoch);
        self.epoch = self.marks.last().map_or(0, |m| m.epoch);
        let entries = self.log.entries.split_off(mark.entries);
        let saved = self.log.saved.split_off(mark.saved_bytes);
        for mut entry in entries {
            match &mut entry {
                Entry::Bytes { saved: epoch, start, len, .. } if *epoch < before => {
                    let from = *start - mark.saved_bytes;
                    *start = self.log.saved.len();
                    self.log.saved.extend_from_slice(&saved[from..from + *len]);
                    self.log.entries.push(entry);
                }
                Entry::Tenant { object, .. } => {
                    let (weight, keep) = (object.weight(), object.tenancy_saved < before);
                    if keep {
                        self.log.entries.push(entry);
                    } else {
                        self.log.tenant_bytes -= weight;
                    }
                }
                Entry::Vacant { tenancy_saved, .. } if *tenancy_saved < before => {
                    self.log.entries.push(entry);
                }
                Entry::Bytes { .. } | Entry::Vacant { .. } => {}
                Entry::Exposed { .. } | Entry::HasSync { .. } | Entry::Identified { .. } => {
                    self.log.entries.push(entry);
                }
            }
        }
        if self.marks.is_empty() {
            self.log.entries.clear();
            self.log.saved.clear();
            self.log.tenant_bytes = 0;
        }
    }

    /// Must be called before any change to these bytes.
    #[inline(always)]
    pub(super) fn touch(&mut self, slot: Slot, offset: usize, len: usize) {
        let epoch = self.epoch;
        let object = self.object(slot);
        if object.saved_chunks.is_empty() {
            if object.saved < epoch {
                self.save(slot, 0);
            }
        } else {
            self.touch_chunks(slot, offset, len);
        }
    }

    #[inline(never)]
    fn touch_chunks(&mut self, slot: Slot, offset: usize, len: usize) {
        for chunk in offset / CHUNK..=(offset + len.max(1) - 1) / CHUNK {
            if self.object(slot).saved_chunks.get(chunk).is_some_and(|&saved| saved < self.epoch) {
                self.save(slot, chunk);
            }
        }
    }

    #[cold]
    fn save(&mut self, slot: Slot, chunk: usize) {
        let name_shift = self.name_shift;
        let object = &mut self.tables[slot.class as usize & 7][slot.index as usize];
        let range = chunk_range(object, chunk);
        let start = self.log.saved.len();
        self.log.saved.extend_from_slice(&object.data[range.clone()]);
        let has_init = !object.init.is_empty();
        if has_init {
            self.log.saved.extend_from_slice(&object.init[range.start / WORD..range.end / WORD]);
        }
        let has_names = !object.names.is_empty();
        if has_names {
            let names = &object.names[range.start >> name_shift..range.end >> name_shift];
            self.log.saved.extend_from_slice(names);
        }
        let saved = if object.saved_chunks.is_empty() {
            std::mem::replace(&mut object.saved, self.epoch)
        } else {
            std::mem::replace(&mut object.saved_chunks[chunk], self.epoch)
        };
        let hash = object.hash;
        let len = self.log.saved.len() - start;
        self.log.push(Entry::Bytes {
            slot,
            chunk: chunk as u32,
            saved,
            start,
            len,
            hash,
            has_init,
            has_names,
        });
    }

    fn undo(&mut self, entry: Entry) {
        let name_shift = self.name_shift;
        match entry {
            Entry::Bytes { slot, chunk, saved, start, hash, has_init, has_names, .. } => {
                let object = &mut self.tables[slot.class as usize & 7][slot.index as usize];
                let range = chunk_range(object, chunk as usize);
                let mut from = start;
                let mut take = |target: &mut [u8]| {
                    target.copy_from_slice(&self.log.saved[from..from + target.len()]);
                    from += target.len();
                };
                take(&mut object.data[range.clone()]);
                if has_init {
                    take(&mut object.init[range.start / WORD..range.end / WORD]);
                } else if !object.init.is_empty() {
                    object.init[range.start / WORD..range.end / WORD].fill(0xFF);
                }
                if !object.names.is_empty() {
                    let names = &mut object.names[range.start >> name_shift..range.end >> name_shift];
                    if has_names {
                        take(names);
                    } else {
                        names.fill(0);
                    }
                }
                if object.saved_chunks.is_empty() {
                    object.saved = saved;
                } else {
                    object.saved_chunks[chunk as usize] = saved;
                }
                object.hash = hash;
            }
            Entry::Vacant { slot, generation, id, canon, tenancy_saved } => {
                let object = self.object_mut(slot);
                *object = Object::vacant(generation);
                object.id = id;
                object.canon = canon;
                object.tenancy_saved = tenancy_saved;
            }
            Entry::Tenant { slot, object } => {
                self.log.tenant_bytes -= object.weight();
                *self.object_mut(slot) = *object;
            }
            Entry::Exposed { slot } => self.object_mut(slot).exposed = false,
            Entry::HasSync { slot } => self.object_mut(slot).has_sync = false,
            Entry::Identified { slot } => self.object_mut(slot).id = ObjectId(u32::MAX),
        }
    }
}

fn chunk_range(object: &Object, chunk: usize) -> std::ops::Range<usize> {
    let start = chunk * CHUNK;
    start..(start + CHUNK).min(object.data.len())
}
