//! Threads, memory objects and byte ranges of one run.

raddle_base::define_id! {
    /// A thread, numbered in order of creation; the main thread is 0.
    pub struct ThreadId, "T"
}

raddle_base::define_id! {
    /// A memory object (global, local, heap block), never reused within a run.
    pub struct ObjectId, "o"
}

impl ThreadId {
    pub const MAIN: ThreadId = ThreadId(0);
}

/// The address of a synchronisation object: where it starts in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Addr {
    pub object: ObjectId,
    pub offset: u32,
}

impl Addr {
    /// The one lock under which `__VERIFIER_atomic` sections act.
    pub const ATOMIC_SECTION: Addr = Addr { object: ObjectId(u32::MAX), offset: 0 };
}

/// The bytes `offset .. offset + len` of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Loc {
    pub object: ObjectId,
    pub offset: u32,
    pub len: u32,
}

impl Loc {
    pub fn overlaps(self, other: Loc) -> bool {
        self.object == other.object
            && u64::from(self.offset) < u64::from(other.offset) + u64::from(other.len)
            && u64::from(other.offset) < u64::from(self.offset) + u64::from(self.len)
    }

    pub fn start(self) -> Addr {
        Addr { object: self.object, offset: self.offset }
    }
}
