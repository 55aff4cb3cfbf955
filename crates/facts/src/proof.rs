//! A proof that threads do not race, as data (decision 23): static facts that are closed, and what holds wherever a thread may stand.

use crate::{StaticProof, ThreadId};
use raddle_base::SiteId;
use raddle_ir::{BlockId, FunctionId};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadProof {
    pub statics: StaticProof,
    /// Sorted. A place that is not listed is never taken.
    pub locations: Vec<(Location, Invariant)>,
}

/// Where a thread stands: right before an instruction of the expanded program, after the phis of its block.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Location {
    pub thread: ThreadId,
    /// Sites of the calls that led here, the outermost first.
    pub stack: Vec<SiteId>,
    pub function: FunctionId,
    pub block: BlockId,
    pub index: u32,
    pub phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// Before the instruction.
    Before,
    /// In a condition wait, without its mutex.
    Waiting,
}

/// A formula as SMT-LIB text, over the variables of decision 23.
pub type Invariant = String;
