//! Races and deadlocks in reorderings of one trace, as candidates with the order that leads to each.
//!
//! Carril and Tichy, *Interleaving Generation for Data Race and Deadlock Reproduction* (SEPS 2015): one recorded execution, a model of its
//! alternative orders, candidate schedules. Confirmation by enforced replay is the driver's.
//!
//! What a reordering is, is the documentation of [`reordering`]; every method finds only candidates whose order is one.
//!
//! Which way it errs: candidates may be infeasible where [`Candidate::uncertain`] is not empty, because the program branches on a value
//! that the new order changes; all others exist in the program. Errors that need another path than the recorded one are missed.

#![forbid(unsafe_code)]

mod candidate;
mod clock;
mod closure;
mod data_flow;
pub mod exhaustive;
mod filter;
pub mod legality;
mod lock_graph;
mod pairs;
mod pieces;
mod prediction;
mod prepared;
mod reads_from;
pub mod reordering;
mod reversal;
mod semaphores;
mod sync_preserving;
mod windows;

pub use candidate::{Candidate, Error, Method};
pub use prediction::{Counts, Options, Prediction, predict};
pub use reordering::{Deciding, Initial, Input};
