//! Which locks must be held, since when, and what was acquired since (2007 paper, section 4).
//!
//! *Must* facts throughout. A held lock is a term for the lock's address. Facts of a function are relative to its entry, as in
//! [`crate::order`]: `local` says what was acquired since the entry and is still held, and what may have been released since;
//! `entry` what all callers hold. The state at a point is `local` plus the entry's locks that cannot have been released.
//!
//! Histories are must-sets over exclusive holds: the locks that were acquired, on every path, since the last acquisition of the lock
//! they belong to. A condition wait releases its mutex and acquires it again: its own history starts anew, the other histories gain it.
//! Read-mode acquisitions and semaphores are in no history. Only global terms are in histories.
//!
//! A term in a state is dropped when one of its registers is assigned again, and when a call returns those that name registers of
//! the callee (unless they can be said in the caller's terms).

use crate::{ObjectId, Offsets, Term};
use raddle_base::IdVec;
use raddle_ir::{FunctionId, Reg};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LockFacts {
    pub functions: IdVec<FunctionId, FunctionLocks>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FunctionLocks {
    /// Held at every entry, in terms that the function can name. Sorted by lock.
    pub entry: Vec<HeldLock>,
    /// Per block, at its start.
    pub blocks: Vec<LocalLocks>,
    /// At every return: still held, and possibly released (also on paths that do not return).
    pub at_exit: LocalLocks,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalLocks {
    /// Sorted by lock.
    pub held: Vec<HeldLock>,
    /// *May*: released since the function was entered, of those held before.
    pub released: Released,
    /// *Must*: acquired exclusively since the function was entered (for the histories of locks held before). Global terms, sorted.
    pub acquired: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HeldLock {
    pub lock: Term,
    pub mode: LockMode,
    /// Held only if this is so; `None`: held in any case.
    pub guard: Option<Guard>,
    /// Acquired since; sorted.
    pub history: Vec<Term>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LockMode {
    Exclusive,
    Shared,
}

/// The register is zero, or is not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Guard {
    pub function: FunctionId,
    pub reg: Reg,
    pub zero: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Released {
    /// Locks at these places of these objects.
    These(Vec<(ObjectId, Offsets)>),
    Anything,
}

impl Default for Released {
    fn default() -> Self {
        Released::These(Vec::new())
    }
}
