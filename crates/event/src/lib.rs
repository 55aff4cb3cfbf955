//! The vocabulary of things that happen in a run: events, traces, schedules and search trees as plain values.
//!
//! Written by machines (the interpreter, later the native runtime), read by happens-before, the explorers, `certify` and the
//! reports. Ids are those of one run and never reused; threads are numbered in order of creation.

mod codec;
mod event;
mod location;
mod problem;
mod schedule;
mod trace;
mod tree;

pub use codec::{CodecError, CodecPlace, StdTrace};
pub use event::{AccessKind, AtomicOp, Event, EventKind, LockMode, WakeReason};
pub use location::{Addr, Loc, ObjectId, ThreadId};
pub use problem::{Problem, ProblemKind};
pub use schedule::{Choice, Schedule};
pub use trace::Trace;
pub use tree::{Branching, Fate, SearchTree};
