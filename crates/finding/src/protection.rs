//! What protected the bytes of a race, access by access, until nothing did: the lockset form of the 2006 paper, as a story.

use crate::Frame;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    /// The last accesses to these bytes, in their order; the last one is the second of the race.
    pub accesses: Vec<ProtectedAccess>,
    /// What the first access of the race was passed on to before the second one came.
    pub passages: Vec<Passage>,
    /// What that is in the end: nothing of it is what the second access came with.
    pub reached: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectedAccess {
    pub at: Frame,
    pub action: String,
    pub thread: String,
    /// Locks held exclusively.
    pub holding: Vec<String>,
    /// What the last conflicting access of another thread reached it through; empty if that one is not ordered before it.
    pub ordered_by: Vec<String>,
    /// That access; `None` for the first one that is known.
    pub after: Option<OrderedAfter>,
    /// How often in a row it was done like this.
    pub times: usize,
}

/// The conflicting access of another thread that an access must be ordered after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderedAfter {
    pub at: Frame,
    pub action: String,
    pub thread: String,
}

/// A step of some thread after which an access is ordered before more than it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    pub at: Frame,
    pub thread: String,
    /// `unlock`, `create`, …
    pub action: String,
    pub reaches: Vec<String>,
}
