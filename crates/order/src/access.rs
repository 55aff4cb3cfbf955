//! Which events access memory, and when two accesses conflict.

use raddle_event::{AccessKind, EventKind, Loc};

/// The access that an event makes, if it makes one. Accesses to no bytes are none.
pub fn access(kind: &EventKind) -> Option<(Loc, Class)> {
    let (loc, class) = match *kind {
        EventKind::Access { loc, kind: AccessKind::Read } => (loc, Class::PlainRead),
        EventKind::Access { loc, kind: AccessKind::Write } => (loc, Class::PlainWrite),
        EventKind::Atomic { loc, op } if op.writes() => (loc, Class::AtomicWrite),
        EventKind::Atomic { loc, .. } => (loc, Class::AtomicRead),
        _ => return None,
    };
    (loc.len > 0).then_some((loc, class))
}

/// A read-modify-write counts as an atomic write: whatever conflicts with its read conflicts with its write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    PlainRead,
    PlainWrite,
    AtomicRead,
    AtomicWrite,
}

impl Class {
    pub const ALL: [Class; 4] = [Class::PlainRead, Class::PlainWrite, Class::AtomicRead, Class::AtomicWrite];

    pub fn conflicts(self, other: Class) -> bool {
        (self.writes() || other.writes()) && !(self.is_atomic() && other.is_atomic())
    }

    pub fn writes(self) -> bool {
        matches!(self, Class::PlainWrite | Class::AtomicWrite)
    }

    pub fn is_atomic(self) -> bool {
        matches!(self, Class::AtomicRead | Class::AtomicWrite)
    }
}
