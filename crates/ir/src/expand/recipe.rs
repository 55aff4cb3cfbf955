//! What an expansion asks for, as plain data: written by an untrusted policy, stored in certificates, checked by [`super::apply`].

use crate::{BlockId, FunctionId, SiteId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Every function of the expanded program, by its id there. The first are the original functions in their order, so that an
/// address in an initialiser, a table or an operand keeps its meaning; copies follow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    pub functions: Vec<FunctionCopy>,
    /// Of the original program: calls of these and of their copies do not come back.
    pub never_return: BTreeSet<FunctionId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionCopy {
    pub origin: FunctionId,
    /// In order; a loop inside an unrolled one comes after it, once for each of its copies.
    pub unroll: Vec<Unroll>,
    pub retarget: Vec<Retarget>,
}

/// A loop and the number of times that its test says to stay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unroll {
    /// In the original function.
    pub header: BlockId,
    /// Which copy of it: the iteration of each unrolled loop around it, outermost first.
    pub path: Vec<u32>,
    pub iterations: u32,
}

/// One function named at a call site becomes one of its copies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retarget {
    /// In the original program.
    pub site: SiteId,
    /// Which copy of it: the iteration of each unrolled loop around it, outermost first.
    pub path: Vec<u32>,
    pub slot: Slot,
    /// In the expanded program.
    pub to: FunctionId,
}

/// Where a call site names a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Slot {
    Callee,
    /// A function's address given to a library function that calls it (thread creation).
    Argument(u32),
}

impl Recipe {
    /// The recipe that changes nothing.
    pub fn identity(functions: usize) -> Recipe {
        let unchanged =
            |index| FunctionCopy { origin: FunctionId(index), unroll: Vec::new(), retarget: Vec::new() };
        let functions = (0..functions as u32).map(unchanged).collect();
        Recipe { functions, never_return: BTreeSet::new() }
    }

    /// The arguments that are replaced, by original site. `apply` knows only that the callee has no body; a reader with models
    /// can check that it does nothing with the address but start or call the function.
    pub fn replaced_arguments(&self) -> impl Iterator<Item = (SiteId, u32)> {
        self.functions.iter().flat_map(|copy| &copy.retarget).filter_map(|retarget| match retarget.slot {
            Slot::Argument(index) => Some((retarget.site, index)),
            Slot::Callee => None,
        })
    }
}
