//! Where objects live: allocation, release, and the way from an address to its object.

use super::object::{CHUNK, FILL, Object, WORD, mix};
use super::undo::Entry;
use super::{Memory, Name, Record, StackId};
use raddle_base::SiteId;
use raddle_event::{Addr, Loc, ObjectId, ProblemKind, ThreadId};
use raddle_ir::DebugTypeId;
use raddle_machine::ObjectKind;

/// Freed slots wait until this many others have been freed after them.
const QUARANTINE: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Slot {
    pub class: u8,
    pub index: u32,
}

/// A byte of a live object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct At {
    pub slot: Slot,
    pub offset: usize,
}

/// What a new object shall be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Birth {
    pub kind: ObjectKind,
    pub name: Name,
    pub size: u64,
    pub align: u64,
    pub fill: Fill,
    pub quiet: bool,
    pub constant: bool,
    pub thread: ThreadId,
    pub site: SiteId,
    pub stack: StackId,
    pub ty: Option<DebugTypeId>,
    /// What stands for the address of a local in hashes.
    pub canon: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    Zero,
    Uninitialised,
}

/// No room: the memory limit or the number of slots is reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Full;

/// Why an address cannot be used.
#[derive(Clone, Debug)]
pub(crate) struct Miss {
    pub kind: ProblemKind,
    pub object: Option<Addr>,
    /// The bytes of a dead object that were meant, so that a racing use after free is also seen as a race.
    pub dead: Option<Loc>,
    pub detail: String,
}

impl Memory {
    /// The object and offset of `len` readable bytes.
    #[inline(always)]
    pub fn find(&self, address: u64, len: u64) -> Option<At> {
        let decoded = self.layout.decode(address);
        let object = self.tables[decoded.class as usize & 7].get(decoded.index as usize)?;
        if object.generation != decoded.generation
            || decoded.offset > object.size
            || len > object.size - decoded.offset
        {
            return None;
        }
        Some(At {
            slot: Slot { class: decoded.class, index: decoded.index },
            offset: decoded.offset as usize,
        })
    }

    /// The live object that a pointer was made for, also when it points outside; with the offset (wrapping).
    pub fn owner(&self, address: u64) -> Option<(Slot, u64)> {
        let decoded = self.layout.decode(address);
        let object = self.tables[decoded.class as usize & 7].get(decoded.index as usize)?;
        (object.live && object.generation == decoded.generation)
            .then_some((Slot { class: decoded.class, index: decoded.index }, decoded.offset))
    }

    #[inline(always)]
    pub fn object(&self, slot: Slot) -> &Object {
        &self.tables[slot.class as usize & 7][slot.index as usize]
    }

    #[inline(always)]
    pub(super) fn object_mut(&mut self, slot: Slot) -> &mut Object {
        &mut self.tables[slot.class as usize & 7][slot.index as usize]
    }

    pub fn address_of(&self, slot: Slot) -> u64 {
        self.layout.encode(slot.class, slot.index, self.object(slot).generation)
    }

    pub fn loc(&self, at: At, len: u64) -> Loc {
        Loc { object: self.object(at.slot).id, offset: at.offset as u32, len: len as u32 }
    }

    /// Explains why `find` failed.
    pub fn miss(&mut self, address: u64, len: u64) -> Miss {
        let plain = |kind, detail| Miss { kind, object: None, dead: None, detail };
        if address < 4096 {
            return plain(ProblemKind::NullDereference, format!("address {address:#x}"));
        }
        let decoded = self.layout.decode(address);
        let slot = Slot { class: decoded.class, index: decoded.index };
        let Some(object) = self.tables[decoded.class as usize & 7].get(decoded.index as usize) else {
            return plain(ProblemKind::InvalidPointer, format!("address {address:#x} is not memory"));
        };
        let (generation, live, size) = (object.generation, object.live, object.size);
        if !live && generation == decoded.generation && object.id != ObjectId(u32::MAX) {
            let id = object.id;
            let dead = u32::try_from(decoded.offset).ok().map(|offset| Loc {
                object: id,
                offset,
                len: len.min(u64::from(u32::MAX)) as u32,
            });
            return Miss {
                kind: ProblemKind::UseAfterFree,
                object: dead.map(Loc::start),
                dead,
                detail: String::new(),
            };
        }
        if generation != decoded.generation {
            let first = self.layout.first_generation(decoded.class);
            return if decoded.generation >= first && (decoded.generation < generation || live) {
                plain(
                    ProblemKind::UseAfterFree,
                    "the block has been freed and its place taken again".to_owned(),
                )
            } else {
                plain(ProblemKind::InvalidPointer, format!("address {address:#x} is not memory"))
            };
        }
        if !live {
            return plain(ProblemKind::UseAfterFree, String::new());
        }
        let id = self.identify(slot);
        Miss {
            kind: ProblemKind::OutOfBounds,
            object: Some(Addr { object: id, offset: u32::try_from(decoded.offset).unwrap_or(0) }),
            dead: None,
            detail: format!("{len} bytes at offset {} of an object of {size} bytes", decoded.offset as i64),
        }
    }

    /// The object's id; locals that no other thread can reach get one when they are first spoken of.
    pub fn identify(&mut self, slot: Slot) -> ObjectId {
        let object = self.object(slot);
        if object.id != ObjectId(u32::MAX) {
            return object.id;
        }
        let record = Record {
            kind: object.kind,
            name: Name::Local(None),
            size: object.size,
            thread: ThreadId::MAIN,
            site: SiteId::NONE,
            stack: StackId::EMPTY,
            ty: None,
        };
        let id = self.records.push(record);
        self.note(Entry::Identified { slot });
        self.object_mut(slot).id = id;
        id
    }

    pub fn allocate(&mut self, birth: Birth) -> Result<u64, Full> {
        if self.footprint().saturating_add(birth.size) > self.limit {
            return Err(Full);
        }
        let class = self.layout.class_for(birth.size, birth.align).ok_or(Full)?;
        let slot = self.take_slot(class)?;
        let address = self.address_of(slot);
        let id = if birth.quiet && birth.kind == ObjectKind::Stack {
            ObjectId(u32::MAX)
        } else {
            self.records.push(Record {
                kind: birth.kind,
                name: birth.name,
                size: birth.size,
                thread: birth.thread,
                site: birth.site,
                stack: birth.stack,
                ty: birth.ty,
            })
        };
        let epoch = self.epoch;
        let padded = (birth.size as usize).next_multiple_of(WORD);
        let object = self.object_mut(slot);
        object.size = birth.size;
        object.id = id;
        object.live = true;
        object.quiet = birth.quiet;
        object.constant = birth.constant;
        object.exposed = false;
        object.has_sync = false;
        object.kind = birth.kind;
        object.hash = 0;
        object.canon = birth.canon.unwrap_or(address);
        object.data.clear();
        object.init.clear();
        object.names.clear();
        match birth.fill {
            Fill::Zero => object.data.resize(padded, 0),
            Fill::Uninitialised => {
                object.data.resize(padded, FILL);
                object.init.resize(padded / WORD, 0);
            }
        }
        object.saved = epoch;
        object.saved_chunks.clear();
        if padded > CHUNK {
            object.saved_chunks.resize(padded.div_ceil(CHUNK), epoch);
        }
        let (weight, token) = (object.weight(), birth_token(object));
        self.live_bytes += weight;
        self.version = self.version.wrapping_add(token);
        Ok(address)
    }

    /// Ends the life of an object. Its slot keeps the generation until it is taken again.
    pub fn release(&mut self, slot: Slot) {
        let epoch = self.epoch;
        let object = &mut self.tables[slot.class as usize & 7][slot.index as usize];
        debug_assert!(object.live);
        self.live_bytes -= object.weight();
        self.version = self.version.wrapping_sub(object.hash.wrapping_add(birth_token(object)));
        if object.tenancy_saved < epoch {
            let mut tomb = Object::vacant(object.generation);
            tomb.id = object.id;
            tomb.canon = object.canon;
            tomb.tenancy_saved = epoch;
            let tenant = std::mem::replace(object, tomb);
            self.log.push(Entry::Tenant { slot, object: Box::new(tenant) });
        } else {
            object.size = 0;
            object.live = false;
            object.hash = 0;
            if object.data.capacity() > 4 * CHUNK {
                object.data = Vec::new();
                object.init = Vec::new();
                object.names = Vec::new();
                object.saved_chunks = Vec::new();
            } else {
                object.data.clear();
                object.init.clear();
                object.names.clear();
            }
        }
        self.free[slot.class as usize].push(slot.index);
        if self.free[slot.class as usize].kept().is_multiple_of(4096) {
            let marks = self.marks.iter().map(|mark| mark.free[slot.class as usize]);
            self.free[slot.class as usize].forget(marks);
        }
    }

    fn take_slot(&mut self, class: u8) -> Result<Slot, Full> {
        let first = self.layout.first_generation(class);
        let table = &mut self.tables[class as usize];
        if table.is_empty() {
            table.push(Object::vacant(first));
        }
        let index = match self.free[class as usize].pop(QUARANTINE) {
            Some(index) => index,
            None if (table.len() as u32) < self.layout.slots(class) => {
                let mut object = Object::vacant(first);
                object.tenancy_saved = self.epoch;
                table.push(object);
                return Ok(Slot { class, index: table.len() as u32 - 1 });
            }
            None => self.free[class as usize].pop(0).ok_or(Full)?,
        };
        let slot = Slot { class, index };
        let epoch = self.epoch;
        let object = &mut self.tables[class as usize][index as usize];
        if object.tenancy_saved < epoch {
            self.log.push(Entry::Vacant {
                slot,
                generation: object.generation,
                id: object.id,
                canon: object.canon,
                tenancy_saved: object.tenancy_saved,
            });
            object.tenancy_saved = epoch;
        }
        object.generation = self.layout.next_generation(class, object.generation);
        Ok(slot)
    }

    /// Its address has become a number that the program may compute with.
    pub fn expose(&mut self, address: u64) {
        if let Some((slot, _)) = self.owner(address)
            && !self.object(slot).exposed
        {
            self.note(Entry::Exposed { slot });
            self.object_mut(slot).exposed = true;
        }
    }

    /// Live objects, other than globals, whose address the program may have as a number.
    pub fn exposed(&self) -> impl Iterator<Item = Slot> {
        let tables = self.tables.iter().enumerate();
        tables.flat_map(|(class, table)| {
            let exposed =
                |object: &Object| object.live && object.exposed && object.kind != ObjectKind::Global;
            let slot = move |index| Slot { class: class as u8, index: index as u32 };
            table.iter().enumerate().filter(move |(_, o)| exposed(o)).map(move |(index, _)| slot(index))
        })
    }

    /// The dead object at whose start the address is, while its slot has not been taken again.
    pub fn last_tenant(&self, address: u64) -> Option<ObjectId> {
        let decoded = self.layout.decode(address);
        let object = self.tables[decoded.class as usize & 7].get(decoded.index as usize)?;
        let dead = !object.live && object.generation == decoded.generation;
        (dead && object.id != ObjectId(u32::MAX)).then_some(object.id)
    }

    /// Remembers a change for the checkpoints that are alive.
    fn note(&mut self, entry: Entry) {
        if !self.marks.is_empty() {
            self.log.push(entry);
        }
    }

    pub fn note_sync(&mut self, slot: Slot) {
        if !self.object(slot).has_sync {
            self.note(Entry::HasSync { slot });
            self.object_mut(slot).has_sync = true;
        }
    }
}

/// What the existence of an object adds to the version.
fn birth_token(object: &Object) -> u64 {
    mix(object.canon ^ 0x5851_F42D_4C95_7F2D, object.size | 1)
}
