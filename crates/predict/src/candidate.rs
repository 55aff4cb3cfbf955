//! What prediction finds: an error, and the order of recorded events that leads to it.

/// An error that some reordering of the trace has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub error: Error,
    /// Events of the trace by index, in the order to be enforced. The events of `error` are not in it: they come next in their threads.
    pub order: Vec<usize>,
    pub method: Method,
    /// Reads in the order that may decide control flow, or an address, and whose value may differ from the recorded one; sorted. See
    /// [`legality::uncertain`](crate::legality::uncertain).
    pub uncertain: Vec<usize>,
}

/// Events by index.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Error {
    /// Two conflicting accesses of different threads, each the next event of its thread after the order; the smaller index first.
    Race { first: usize, second: usize },
    /// What each of the blocked threads waits for: acquisitions, joins, waits; sorted.
    Deadlock { blocked: Vec<usize> },
}

/// How a candidate was found, from the cheapest to the dearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// A reordering that keeps the order of all critical sections of each lock.
    SyncPreserving,
    /// A reordering that reverses critical sections where that is needed.
    SyncReversal,
    /// All reorderings, by refinement of the CSP model.
    Exhaustive,
}

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Method::SyncPreserving => "sync-preserving",
            Method::SyncReversal => "sync-reversal",
            Method::Exhaustive => "exhaustive",
        }
    }
}
