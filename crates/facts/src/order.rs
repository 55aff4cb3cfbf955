//! Order without locks: gates.
//!
//! A *gate* is opened by certain operations and passed by others, so that whoever has passed it comes, in happens-before, after
//! some opening. Thread creation opens `Started(t)`, which `t` has passed from its first instruction; the end of a thread opens `Exited(t)`, passed by
//! the join, and for a once function by every return of `pthread_once`; a post of a semaphore that starts at 0, passed by a
//! wait; the first store of a non-zero value into a flag, passed by a branch that saw non-zero.
//!
//! `passed` is a *must* set, `opened` a *may* set of the thread's own openings. Access `a` of thread `A` comes before access `b`
//! of thread `B` if some gate is passed at `b`, is not opened at `a`, and only `A` (one instance) can open it: the opening that `b`
//! comes after is by `A`, after `a`. For `Exited(t)` the thread `t` may be many: to pass it is to have joined all instances.
//!
//! Facts of a function are relative: `local` sets say what happened since the function was entered, `entry` sets what holds at every
//! entry (`passed`: in all callers' states at the call; `opened`: in any). The state at a point is the union. A call adds the callee's `at_exit` sets.
//! Passing a gate also passes what all its openings had passed.

use crate::{ObjectId, Offsets, Term, ThreadId};
use raddle_base::IdVec;
use raddle_ir::FunctionId;
use serde::{Deserialize, Serialize};

raddle_base::define_id! {
    /// A gate of the program.
    pub struct GateId, "gate"
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OrderFacts {
    pub gates: IdVec<GateId, Gate>,
    pub functions: IdVec<FunctionId, FunctionOrder>,
    /// *Must*: per thread, the gates passed at its start, and so everywhere in it.
    pub at_start: IdVec<ThreadId, Vec<GateId>>,
    /// Barriers whose rounds order accesses: exactly as many single threads take part as the count says.
    pub barriers: Vec<Barrier>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    pub kind: GateKind,
    /// *May*: threads that open it.
    pub openers: Vec<ThreadId>,
    /// *Must*: gates that every opening had passed. Sorted.
    pub brings: Vec<GateId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum GateKind {
    Started(ThreadId),
    Exited(ThreadId),
    /// A semaphore that starts at 0, a global term.
    Semaphore(Term),
    /// An integer or pointer in memory that starts at 0 and is set by release stores and read by acquire loads.
    AtomicFlag(Term),
    /// The same set and read by relaxed operations with a release fence before and an acquire fence after.
    FencedFlag(Term),
    /// The same as a plain variable, where all stores and the passing loads hold this lock.
    LockedFlag(Term, Term),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FunctionOrder {
    pub entry: LocalOrder,
    /// Per block, at its start. Empty: nothing in this function, or in what it calls, matters to order.
    pub blocks: Vec<LocalOrder>,
    /// When it returns: must for `passed`, may for `opened` (also on paths that do not return).
    pub at_exit: LocalOrder,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalOrder {
    pub passed: Vec<GateId>,
    pub opened: Vec<GateId>,
    /// Per barrier of [`OrderFacts::barriers`]: how many rounds this thread has done. Empty: none.
    pub rounds: Vec<Rounds>,
    /// *Must*: cells of memory that hold the handle of a single thread. Sorted.
    pub handles: Vec<(Term, ThreadId)>,
    /// *May*: places of handles that were written since the function was entered: what the entry says of them is void.
    pub overwritten: Vec<(ObjectId, Offsets)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rounds {
    pub at_least: u32,
    /// `u32::MAX`: not bounded.
    pub at_most: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Barrier {
    pub object: Term,
    pub count: u32,
    pub members: Vec<ThreadId>,
}
