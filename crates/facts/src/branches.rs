//! What a side of a branch would do that was not taken (2008 paper, section 3.2): the explorer's pruning asks for it.
//!
//! A side is everything from one target of a branch up to the block where all sides have come together (the branch's nearest
//! post-dominator), callees and rounds of loops included. *May*: its accesses, what it releases, the flags. *Must*: what it has
//! acquired and still holds at a point, on every path from the branch. Computed for one function at a time, when asked.

use crate::{LockMode, ObjectId, Offsets, Released, Term};
use raddle_base::SiteId;
use raddle_ir::BlockId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Of one function, by the site of the terminator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BranchFacts {
    pub branches: BTreeMap<SiteId, Branch>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Branch {
    /// Where the sides have come together; `None`: not in this function.
    pub merge: Option<BlockId>,
    /// One per target, in the order of the blocks.
    pub sides: Vec<Side>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    pub target: BlockId,
    /// By site.
    pub accesses: Vec<SideAccess>,
    /// When the side comes to the merge.
    pub at_merge: SideLocks,
    pub flags: SideFlags,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideFlags {
    pub creates_thread: bool,
    /// For a condition, a barrier, a semaphore, the end of a thread, a once function.
    pub waits: bool,
    /// A function that is not understood, or that cannot be known.
    pub unknown_call: bool,
    /// Some access is not to one known place of a global.
    pub indirect_access: bool,
    /// It can leave the function, the thread or the process without coming to the merge.
    pub leaves: bool,
    /// It has more accesses than are listed.
    pub incomplete: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideAccess {
    pub site: SiteId,
    pub write: bool,
    pub atomic: bool,
    pub targets: Vec<(ObjectId, Offsets)>,
    /// From each target on; `u64::MAX`: to the end of the object.
    pub bytes: u64,
    /// Right before it.
    pub locks: SideLocks,
}

/// Since the branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideLocks {
    /// Sorted. Terms of the function that acquired them; those of callees as the caller can say them.
    pub acquired: Vec<(Term, LockMode)>,
    /// Of the locks held at the branch.
    pub released: Released,
}

impl SideFlags {
    pub fn add(&mut self, other: SideFlags) {
        self.creates_thread |= other.creates_thread;
        self.waits |= other.waits;
        self.unknown_call |= other.unknown_call;
        self.indirect_access |= other.indirect_access;
        self.leaves |= other.leaves;
        self.incomplete |= other.incomplete;
    }
}
