//! Exploration of the real program: all its threads as fibers in one process, memory brought back before each execution, every step asked
//! for from outside (`docs/decisions/0019`).
//!
//! The tool's side ([`Host`]) and the program's are in one crate, so that they agree about the memory that they share. There is no
//! detector here: what happens is told, and the tool judges.

pub mod channel;
mod events;
mod faults;
mod fiber;
mod hashing;
mod heap;
mod host;
mod memory;
mod outside;
mod session;
mod start;
mod threads;
mod version;

pub use events::kind;
pub use host::{Heard, Host, Launch, Silence, Visible, Wish};

pub(crate) use events::{access, after_atomic, before_atomic, fence};
#[cfg(feature = "program")]
pub(crate) use events::{fault, freed};
#[cfg(feature = "program")]
pub(crate) use heap::Found;
#[cfg(feature = "program")]
pub(crate) use session::is_running;
pub(crate) use session::{Fibers, is_scheduler, tell_notes, unsupported};
#[cfg(feature = "program")]
pub(crate) use start::{Main, allocate, begin, find_block, free_block, serve};
#[cfg(feature = "program")]
pub(crate) use threads::{
    destructor, end_thread, forget_destructor, make_room, must_fit, result_of, spawn, start_thread,
};
