//! Search that remembers states: Elmas, Qadeer and Tasiran, *Precise Race Detection and Efficient Model Checking Using Locksets*
//! (MSR-TR-2005-118, 2006), Fig. 5 to 7.

mod account;
mod cache;
mod future;
mod history;
mod path;
mod search;

use crate::enumerate::{Exploration, Limits};
use raddle_machine::{Machine, Visibility};

/// Whether states are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    On,
    /// The stateless form: ends only when all runs do.
    Off,
}

/// What the search found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stateful {
    pub exploration: Exploration,
    /// Distinct states, over all passes; 0 without caching.
    pub states: u64,
    /// How often a path ended in a state that was covered already.
    pub covered: u64,
}

/// Searches a machine that stands at its start; leaves it there, with [`Visibility::SyncOnly`]. `visibility` is that of the first pass.
pub fn stateful<M: Machine>(
    machine: &mut M,
    limits: &Limits,
    visibility: Visibility,
    caching: Caching,
) -> Stateful {
    search::search(machine, limits, visibility, caching)
}
