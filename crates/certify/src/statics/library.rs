//! Places inside [`raddle_facts::ObjectKind::Library`] and [`raddle_facts::ObjectKind::Unknown`]: each part of them has 2^32 offsets of
//! its own, and starts in the middle of these.

use raddle_facts::Offsets;
use raddle_libmodel::memory::Library;

/// Parts of the library's object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
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
const MIDDLE: i64 = PART_BYTES / 2;

impl Part {
    pub const ALL: [Part; 21] = [
        Part::Errno,
        Part::ThreadResult,
        Part::Specific,
        Part::Arguments,
        Part::Variables,
        Part::Handle,
        Part::Static(Library::StrtokPlace),
        Part::Static(Library::BrokenDownTime),
        Part::Static(Library::TimeText),
        Part::Static(Library::Stream),
        Part::Static(Library::Environment),
        Part::Static(Library::Text),
        Part::Static(Library::CharacterTablePointer),
        Part::Static(Library::CharacterTable),
        Part::Static(Library::Semaphore),
        Part::Static(Library::Random48),
        Part::Static(Library::Locale),
        Part::Static(Library::LoginName),
        Part::Static(Library::HostEntry),
        Part::Static(Library::LogName),
        Part::Static(Library::Written),
    ];

    fn index(self) -> i64 {
        Part::ALL.iter().position(|part| *part == self).map_or(0, |at| at as i64)
    }

    /// All its bytes.
    pub fn offsets(self) -> Offsets {
        bytes_of(self.index())
    }

    /// Its first byte.
    pub fn start(self) -> Offsets {
        Offsets::exact(self.index() * PART_BYTES + MIDDLE)
    }
}

/// What comes from an unknown place.
pub(crate) fn anywhere_unknown() -> Offsets {
    bytes_of(0)
}

/// The part of [`raddle_facts::ObjectKind::Unknown`] that a function which is not supported returns.
pub(crate) fn returned_by(function: raddle_ir::FunctionId) -> Offsets {
    Offsets::exact((1 + i64::from(function.0)) * PART_BYTES + MIDDLE)
}

/// The part of [`raddle_facts::ObjectKind::Unknown`] that belongs to functions without body or model: after those of all functions.
pub(crate) fn part_of_foreign(functions: usize) -> Offsets {
    bytes_of(1 + functions as i64)
}

/// All bytes of the part in which a pattern lies; of all parts, if it is in several.
pub(crate) fn part_around(at: Offsets) -> Offsets {
    let (first, last) = (at.low.div_euclid(PART_BYTES), at.high.div_euclid(PART_BYTES));
    if first == last { bytes_of(first) } else { Offsets::ANY }
}

fn bytes_of(part: i64) -> Offsets {
    Offsets { anchor: 0, stride: 1, low: part * PART_BYTES, high: part * PART_BYTES + (PART_BYTES - 1) }
}
