//! Race freedom by thread-modular abstraction refinement (2003 paper), for any number of threads and any input.
//!
//! [`extract`] makes a [`system::System`] of the program, by decision 23; [`tar`] looks for what holds wherever a thread may stand. Nothing that is
//! found here is believed: `certify` translates the program by its own code and asks solvers again.

mod ask;
mod components;
pub mod extract;
pub mod ground;
mod names;
pub mod system;
pub mod tar;

pub use ask::{Asker, Stop};
