//! A process algebra: processes as terms, their operational semantics, and refinement in the trace and stable-failures models.
//!
//! Carril and Tichy, *Interleaving Generation for Data Race and Deadlock Reproduction* (SEPS 2015), sections 2.2 and 3, encode a recorded
//! trace in CSP and hand it to FDR3. This crate takes FDR's place. The semantics are those of Roscoe, *Understanding Concurrent Systems*
//! (2010), chapters 9 to 11.
//!
//! Differences from FDR: refinement is decided on the fly and breadth first, nothing is compressed, and divergence is not checked.
//! Recursion through a name takes no step.
//!
//! Which way it errs: neither. [`Outcome::Holds`] and [`Outcome::Fails`] are exact for the given terms; where the budget runs out the
//! answer is [`Outcome::Exhausted`].

#![forbid(unsafe_code)]

mod cspm;
mod event;
mod network;
mod normal;
mod refine;
mod step;
mod term;
mod visited;

pub use cspm::{ExportError, Script};
pub use event::{Alphabet, EventId, EventSet};
pub use refine::{
    Check, Counterexample, Coverage, Limits, Model, Outcome, States, Violation, refine, refine_eagerly,
};
pub use step::{Label, Step};
pub use term::{Arena, IllFormed, Name, ProcId};
