//! Happens-before of a trace and the races that it leaves, computed in three ways that must agree.
//!
//! * [`lockset`]: the lockset form of Elmas, Qadeer and Tasiran, *Precise Race Detection and Efficient Model Checking Using
//!   Locksets* (MSR-TR-2005-118, 2006), extended to what C programs use;
//! * [`epochs`] on [`clocks`]: epochs and vector clocks, the fast one; [`pairs`] lists all races from the same clocks,
//!   [`rewinding`] tells for searches whether there is any;
//! * [`closure`]: the transitive closure of the definition, slow and obvious, sharing no code with the others.
//!
//! [`eraser`] and [`lsa`] are the two older lockset algorithms that the paper compares itself with. They are wrong where the paper
//! says, and nothing but tests uses them.
//!
//! A *race* is a pair of accesses of different threads to overlapping bytes, at least one a write, at least one not atomic, neither
//! of which happens before the other. The definition of happens-before is the documentation of [`closure`]. Everything here is
//! exact for the given trace: no race is missed, none is invented.

pub mod clocks;
pub mod closure;
pub mod epochs;
pub mod eraser;
pub mod lockset;
pub mod lsa;
pub mod pairs;
pub mod rewinding;

mod access;
mod front;
mod messages;
mod race;
mod ranges;
mod shadow;
mod undo;
mod vector_clock;

pub use access::{Class, access};
pub use clocks::Clocks;
pub use closure::Closure;
pub use epochs::Epochs;
pub use lockset::Locksets;
pub use pairs::{Listing, Pairs, races};
pub use race::{FirstRace, RacePair};
pub use rewinding::Rewinding;
pub use vector_clock::{Epoch, VectorClock};
