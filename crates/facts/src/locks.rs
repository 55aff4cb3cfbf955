//! Which locks must be held, since when, and what was acquired since (2007 paper, section 4).
//!
//! *Must* facts throughout. A held lock is a term for the lock's address. Facts of a function are relative to its entry, as in
//! [`crate::order`]: `local` says what was acquired since the entry and is still held, and what may have been released since;
//! `entry` what all callers hold. The state at a point is `local` plus the entry's locks that cannot have been released.
//!
//! Histories are must-sets over exclusive holds: the locks that were acquired, on every path, since the last acquisition of the lock
//! they belong to. A condition wait releases its mutex and acquires it again: its own history starts anew, the other histories gain it.
//! Read-mode acquisitions, try-locks, semaphores, own lock words and the atomic section are in no history. Only global terms are in
//! histories.
//!
//! Every lock in `held` stands for `depth` acquisitions of its own: two terms that name the same recursive lock count twice, and an
//! unlock of one takes nothing from the other. Locks in `entry` are other names for what callers hold, perhaps several for one.
//!
//! A term in a state is dropped when one of its registers is assigned again, and when a call returns those that name registers of
//! the callee (unless they can be said in the caller's terms).

use crate::{ObjectId, Offsets, Root, Term};
use raddle_base::IdVec;
use raddle_ir::{FunctionId, Reg};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LockFacts {
    pub functions: IdVec<FunctionId, FunctionLocks>,
    /// Semaphores that count as locks: at these offsets of single objects, initialised once, to 1, and posted only while held. Sorted.
    pub semaphores: Vec<(ObjectId, i64)>,
    /// Words that count as locks: zero when free, taken by one atomic step from zero, freed only by who took them. Sorted.
    pub words: Vec<LockWord>,
}

/// A lock that the program builds itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LockWord {
    pub object: ObjectId,
    pub offset: i64,
    pub bytes: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FunctionLocks {
    /// Held at every entry, in terms that the function can name. Sorted by lock.
    pub entry: Vec<HeldLock>,
    /// Per block, at its start. Empty where the function and its callees do nothing to locks: then every block has the default.
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
    /// *May*: given up by a condition wait since the function was entered and taken again: still held, but its history starts anew.
    pub renewed: Released,
    /// *Must*: acquired exclusively since the function was entered (for the histories of locks held before). Global terms, sorted.
    pub acquired: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HeldLock {
    pub lock: Term,
    pub mode: LockMode,
    /// At least how many times, at most [`HeldLock::DEEPEST`].
    pub depth: u8,
    /// Held only if this is so; `None`: held in any case.
    pub guard: Option<Guard>,
    /// Acquired since; sorted.
    pub history: Vec<Term>,
}

impl HeldLock {
    /// More levels of a recursive lock are not told apart.
    pub const DEEPEST: u8 = 3;
}

/// The global lock of `__VERIFIER_atomic` sections, which is no address of the program.
pub const ATOMIC_SECTION: Term = Term { root: Root::Zero, index: None, offset: i64::MIN };

/// Ordered: the stronger first.
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
