//! The part of Raddle that lives inside the program: an exact race detector for one native run.
//!
//! Happens-before by epochs (FastTrack: Flanagan, Freund, PLDI 2009) on shadow cells that are changed by compare-and-swap. Each race that is
//! reported is one, and every byte that races in the run is reported: the property test compares with `raddle_order::Closure` of the
//! same run. Where we differ from the paper: bytes instead of variables, atomics and fences of C11, sets of readers as interned lists, epoch
//! numbers from a table. See `docs/decisions/0014`.
//!
//! With the feature `program` this is the static library that `raddle cc` links; without it, what tools need to know of it.

#![cfg_attr(not(feature = "program"), allow(dead_code))]

mod arena;
mod atomics;
mod block;
mod blocks;
mod cells;
mod channels;
mod clocks;
mod collect;
mod contexts;
pub mod control;
mod describe;
mod descriptor;
#[cfg(feature = "program")]
mod ends;
mod entry;
mod epochs;
pub mod explore;
mod flights;
mod fronts;
mod gate;
mod heap;
#[cfg(feature = "program")]
mod hooks;
mod image;
#[cfg(feature = "program")]
mod interpose;
mod lanes;
mod layout;
mod log;
mod memo;
mod mixed;
mod objects;
mod observe;
mod options;
mod output;
#[cfg(feature = "program")]
mod own;
mod people;
mod record;
mod records;
mod report;
mod rounds;
pub mod sites;
mod slots;
mod spans;
mod spin;
mod stable;
mod start;
pub mod suppress;
mod table;
mod thread;
pub mod trace;
mod walks;
mod wrapped;

pub use control::{Afterwards, Kind as StepKind, Plan, Preference, Spurious, Steering, Step, Visible};
pub use wrapped::{WRAPPED, shows_memory_of};

/// What is compiled into each program, as C for clang 19.
pub const HOT_C: &str = include_str!("hot.c");

/// What verification tasks call and nobody defines, as C, for programs that run under control.
pub const VERIFIER_C: &str = include_str!("verifier.c");

#[cfg(feature = "program")]
#[global_allocator]
static ALLOCATOR: arena::Arena = arena::Arena;
