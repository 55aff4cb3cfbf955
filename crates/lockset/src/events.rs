//! Access events (2007 paper, section 4): who accesses which variable where, with which locks and which acquisition history; and the two
//! relations by which one event makes another one less interesting.

use crate::history::Histories;
use raddle_facts::{Term, ThreadId};
use raddle_ir::{BlockId, FunctionId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Any numbering of variables.
    pub variable: usize,
    pub thread: ThreadId,
    pub function: FunctionId,
    pub block: BlockId,
    pub index: usize,
    pub write: bool,
    /// Sorted.
    pub locks: Vec<Term>,
    pub history: Histories,
}

/// Definition 5, the lockset-based weaker-than of Choi and others (2002): the baseline that the paper improves on. That `p` comes before
/// `q` on the way is for the caller to see to. It lets a bogus event stand for a real one (Fig. 2), so it is used for nothing but to show that.
pub fn weaker_by_locksets(p: &Event, q: &Event) -> bool {
    p.variable == q.variable
        && p.thread == q.thread
        && (p.write == q.write || p.write)
        && p.locks.iter().all(|lock| q.locks.binary_search(lock).is_ok())
}

/// Definition 9: also every history of `p` is within that of `q`, so whatever is consistent with `q` is consistent with `p`
/// (Proposition 8).
pub fn weaker_by_histories(p: &Event, q: &Event) -> bool {
    weaker_by_locksets(p, q)
        && p.history.iter().all(|(lock, acquired)| match q.history.get(lock) {
            Some(more) => acquired.is_subset(more),
            None => acquired.is_empty(),
        })
}
