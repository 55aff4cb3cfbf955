//! Abstract objects by kind, and the places inside the library's object.

use super::pattern;
use crate::fast_hash::FastMap;
use raddle_base::IdVec;
use raddle_facts::{Object, ObjectId, ObjectKind, Offsets};
use raddle_ir::Program;
use raddle_libmodel::memory::Library;

/// Parts of [`ObjectKind::Library`], apart from each other by offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LibraryPart {
    /// This thread's `errno`.
    Errno,
    /// What ended threads leave for who joins them, at the start; one cell for all threads.
    ThreadResult,
    /// Thread-specific data, at the start; one cell for all keys and threads.
    Specific,
    /// `argv`, `environ` and their strings: pointers to itself.
    Arguments,
    /// Public variables of the library that the program does not declare.
    Variables,
    /// Handles of threads.
    Handle,
    Static(Library),
}

/// Parts of one object are this far apart, and their offset 0 is in the middle.
const PART_BYTES: i64 = 1 << 32;
const MIDDLE: i64 = PART_BYTES / 2;

impl LibraryPart {
    /// The first byte, in the facts.
    pub fn start(self) -> i64 {
        i64::from(self.index()) * PART_BYTES + MIDDLE
    }

    /// All its bytes, in the facts.
    pub fn offsets(self) -> Offsets {
        part_offsets(self.index(), Offsets::ANY)
    }

    pub(super) fn index(self) -> u32 {
        match self {
            LibraryPart::Errno => 0,
            LibraryPart::ThreadResult => 1,
            LibraryPart::Specific => 2,
            LibraryPart::Arguments => 3,
            LibraryPart::Variables => 4,
            LibraryPart::Handle => 5,
            LibraryPart::Static(library) => match library {
                Library::StrtokPlace => 6,
                Library::BrokenDownTime => 7,
                Library::TimeText => 8,
                Library::Stream => 9,
                Library::Environment => 10,
                Library::Text => 11,
                Library::CharacterTablePointer => 12,
                Library::CharacterTable => 13,
                Library::Semaphore => 14,
                Library::Random48 => 15,
                Library::Locale => 16,
                Library::LoginName => 17,
                Library::HostEntry => 18,
                Library::LogName => 19,
                Library::Written => 20,
            },
        }
    }
}

/// All bytes of the part of a library's or unknown object in which a pattern of the facts lies; of all parts, if it is in several.
pub fn part_around(at: Offsets) -> Offsets {
    let (first, last) = (at.low.div_euclid(PART_BYTES), at.high.div_euclid(PART_BYTES));
    match u32::try_from(first) {
        Ok(part) if first == last => part_offsets(part, Offsets::ANY),
        _ => Offsets::ANY,
    }
}

/// The object to which the memory of functions without body or model belongs.
pub const FOREIGN: ObjectKind = ObjectKind::Unknown;

/// Which part of it that is.
pub(super) fn foreign_part(program: &Program) -> u32 {
    1 + program.functions.len() as u32
}

/// The bytes of this part, in the facts.
pub fn foreign_offsets(program: &Program) -> Offsets {
    part_offsets(foreign_part(program), Offsets::ANY)
}

/// Offsets of a part as offsets of the whole object.
fn part_offsets(part: u32, at: Offsets) -> Offsets {
    let start = i64::from(part) * PART_BYTES;
    match pattern::clip(at, -MIDDLE, MIDDLE - 1) {
        Some(inside) => pattern::sum(inside, Offsets::exact(start + MIDDLE)),
        None => Offsets { anchor: 0, stride: 1, low: start, high: start + PART_BYTES - 1 },
    }
}

/// Objects of the analysis. [`ObjectKind::Library`] and [`ObjectKind::Unknown`] are made of parts that it keeps apart: what functions
/// without a body return is one part for each of them.
#[derive(Default)]
pub(super) struct Objects {
    all: Vec<(ObjectKind, u32, Option<u64>)>,
    ids: FastMap<(ObjectKind, u32), u32>,
}

impl Objects {
    /// The object, and whether it is new.
    pub(super) fn of(&mut self, kind: ObjectKind, part: u32, bytes: Option<u64>) -> (u32, bool) {
        if let Some(id) = self.ids.get(&(kind, part)) {
            let known = &mut self.all[*id as usize].2;
            if *known != bytes {
                *known = None;
            }
            return (*id, false);
        }
        let id = u32::try_from(self.all.len()).expect("fewer than 2^32 objects");
        self.all.push((kind, part, bytes));
        self.ids.insert((kind, part), id);
        (id, true)
    }

    pub(super) fn kind(&self, object: u32) -> ObjectKind {
        self.all[object as usize].0
    }

    /// The size, if it is one constant and offsets are counted from its start.
    pub(super) fn bytes(&self, object: u32) -> Option<i64> {
        let (kind, _, bytes) = self.all[object as usize];
        match kind {
            ObjectKind::Parameter(..)
            | ObjectKind::Outside(_)
            | ObjectKind::Library
            | ObjectKind::Unknown => None,
            _ => i64::try_from(bytes?).ok(),
        }
    }

    pub(super) fn len(&self) -> u32 {
        self.all.len() as u32
    }

    /// The objects of the facts, and which of them each object is or belongs to.
    pub(super) fn facts(&self) -> (IdVec<ObjectId, Object>, Vec<ObjectId>) {
        let mut objects = IdVec::new();
        let mut whole: FastMap<ObjectKind, ObjectId> = FastMap::default();
        let ids = self
            .all
            .iter()
            .map(|(kind, _, bytes)| {
                *whole.entry(*kind).or_insert_with(|| objects.push(Object { kind: *kind, bytes: *bytes }))
            })
            .collect();
        (objects, ids)
    }

    /// Offsets of the object as the facts have them.
    pub(super) fn offsets(&self, object: u32, at: Offsets) -> Offsets {
        let (kind, part, _) = self.all[object as usize];
        match kind {
            ObjectKind::Library | ObjectKind::Unknown => part_offsets(part, at),
            _ => at,
        }
    }
}
