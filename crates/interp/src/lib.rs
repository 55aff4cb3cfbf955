//! Concrete interpreter of the IR: a [`raddle_machine::Machine`].

mod address;
mod code;
mod compile;
mod exec;
mod fingerprint;
mod image;
mod journal;
pub mod libc;
mod live;
mod machine;
mod memory;
mod names;
mod options;
mod schedule;
mod start;
mod stutter;
mod sync;
mod thread;
mod thunks;
mod world;

pub use machine::{Checkpoint, Interp};
pub use options::{Options, SpuriousWakeups, StartError};
