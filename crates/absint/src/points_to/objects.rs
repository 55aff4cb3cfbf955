//! Abstract objects by kind, and the places inside the library's object.

use super::fast_hash::FastMap;
use raddle_facts::{Object, ObjectKind, Offsets};
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

const PART_BYTES: i64 = 1 << 32;

impl LibraryPart {
    /// The first byte.
    pub fn start(self) -> i64 {
        let index = match self {
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
            },
        };
        index * PART_BYTES
    }

    /// All its bytes.
    pub fn offsets(self) -> Offsets {
        let start = self.start();
        Offsets { anchor: 0, stride: 1, low: start, high: start + PART_BYTES - 1 }
    }
}

#[derive(Default)]
pub(super) struct Objects {
    pub(super) all: Vec<Object>,
    ids: FastMap<ObjectKind, u32>,
}

impl Objects {
    /// The object, and whether it is new.
    pub(super) fn of(&mut self, kind: ObjectKind, bytes: Option<u64>) -> (u32, bool) {
        if let Some(id) = self.ids.get(&kind) {
            let known = &mut self.all[*id as usize].bytes;
            if *known != bytes {
                *known = None;
            }
            return (*id, false);
        }
        let id = u32::try_from(self.all.len()).expect("fewer than 2^32 objects");
        self.all.push(Object { kind, bytes });
        self.ids.insert(kind, id);
        (id, true)
    }

    pub(super) fn kind(&self, object: u32) -> ObjectKind {
        self.all[object as usize].kind
    }
}
