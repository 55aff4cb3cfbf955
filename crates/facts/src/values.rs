//! What registers and memory cells must hold, and which blocks can be reached.
//!
//! Closure rules. *Reachable*: block 0 of every root and of every target of a reachable call or thread creation; every successor of a
//! reachable block, except along a branch whose condition (or switch value) is a constant term that excludes it. *Term of a register*:
//! implied by its instruction from the terms of its operands; a phi has a term if all incoming edges from reachable blocks agree
//! on it and it names no register assigned in the loop that the phi heads; a parameter if all reachable callers and creators agree on a
//! term that is global, or if the function is not recursive and has one single reachable call site (its activations then lie inside one of the caller's).
//! *Interval*: the register as a signed number of its own width; includes the instruction's result for all operands in their
//! intervals, narrowed at a use by comparisons that dominate it. *Memory facts* at the start of a block hold on every path to it: each
//! predecessor ends with them; in the entry block every caller (or creator) has them at the call, said in terms that the function can
//! name. A store that must write exactly the cell sets it; anything that may write an overlapping byte removes it; so does a call
//! whose callees may. A memory fact may stand at a point only if no thread that may run in parallel there may write the cell: from the
//! start of the block on, also where a store in the block made the fact. Facts at a function's exit follow from those at the starts of
//! the blocks that return; a cell of a global that nothing writes holds its initial value without a fact.
//! A term says its register at every use: its registers are assigned before the register on every path, or once in the run, or belong to
//! the one activation that the function runs inside of. The address of something that the program defines is not null.

use crate::Term;
use raddle_base::{IdVec, SiteId};
use raddle_ir::FunctionId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Values {
    /// Per function, per block; a function that is never called has no reachable block.
    pub reachable: IdVec<FunctionId, Vec<bool>>,
    /// Per function, per register: another term that always equals it. `None`: it stands for itself.
    pub terms: IdVec<FunctionId, Vec<Option<Term>>>,
    pub intervals: IdVec<FunctionId, Vec<Interval>>,
    /// Per function, per block: what memory must hold at its start. Sorted by cell.
    pub memory: IdVec<FunctionId, Vec<Vec<MemoryFact>>>,
    /// Loads whose value follows from a memory fact or from a constant initialiser: the term is also in `terms`.
    pub loads: BTreeMap<SiteId, Term>,
}

/// The `bytes` at the address `cell` hold `value` (as stored: low bytes of it).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MemoryFact {
    pub cell: Term,
    pub bytes: u8,
    pub value: Term,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Interval {
    pub low: i64,
    pub high: i64,
}

impl Interval {
    pub const ANY: Interval = Interval { low: i64::MIN, high: i64::MAX };
}

impl Values {
    pub fn is_reachable(&self, function: FunctionId, block: raddle_ir::BlockId) -> bool {
        self.reachable[function].get(block.0 as usize).copied().unwrap_or(false)
    }
}
