//! Concrete interpreter of the IR: a [`raddle_machine::Machine`]. One thread, one visible operation at a time, deterministic.
//!
//! # How
//! Each function is compiled once (`compile`) to flat code over the slots of a frame, which one loop runs (`exec::run`). Memory
//! (`memory`) is made of objects; an address names size class, generation and slot, so that decoding is shift and mask. A checkpoint
//! is a mark in an undo log of memory and one of synchronisation objects (`sync`), plus copies of the small rest; threads are
//! copied on write. A thread stands before its next visible operation; a step performs it and runs on to the next (`schedule`).
//!
//! # What is modelled
//! Integers up to 128 bits, all float formats, byte-accurate memory with both data models, varargs as clang lowers them, thread-local
//! storage, computed goto; threads, mutexes of every kind, read-write and spin locks, conditions with spurious wake-ups,
//! barriers, semaphores, once, thread-specific data, atomics, `__VERIFIER_*`; library functions (`libc`), with every byte they touch
//! reported. Virtual time, captured output.
//!
//! # Which way it errs
//! * Executions are sequentially consistent (A-SC for weaker atomics); a weak compare-exchange never fails without reason.
//! * Every visible operation is announced with the bytes or the lock it concerns, and every access to memory that another thread could
//!   reach is an event. Accesses to locals whose address never leaves the function, and to constants, are neither.
//! * Where accesses are visible, each access of a copy or of a library call is a step of its own. What a synchronisation call
//!   reads and writes besides its lock (the result of a join, an attribute, a `timespec`) belongs to its step.
//! * The id of a new thread is written before it starts. Locals of the main thread outlive its `pthread_exit`.
//! * Reading what was never written gives a fixed pattern, a local that `mem2reg` found unassigned reads as 0 (both A-UNINIT; also where
//!   the way that was taken leaves a local unassigned that may be read later, whether it is or not).
//! * `__VERIFIER_nondet_*` tries values that stand for all where that is easy to see (`values`); elsewhere a few, and
//!   `incomplete_reasons` then says so, and `safe` must not be said.
//! * A crash, a failed assertion, an unsupported construct and a limit inside the machine let other threads move first, like any end
//!   of the process. Errors that pthreads report by a return value are problems and the run goes on; where behaviour is undefined and nothing
//!   sane follows (unlocking another thread's normal mutex), the run ends.
//! * Loops that wait end by the rule in `stutter`. A round with some thousand visible operations is not recognised and meets the step
//!   limit. A run that is cut because it only repeats itself, while another thread had a chance to move, ends as `Infeasible`.
//! * Not supported, and said so when reached: cancelling threads, `fork`, `setjmp`, signal handlers, library callbacks that
//!   synchronise (unless accesses are visible).
//! * Limits (steps, instructions, memory, threads, call depth) end a run as `Limit`; endless recursion is the problem
//!   `stack-overflow`.

mod address;
mod branches;
mod channels;
mod code;
mod compile;
mod exec;
mod fingerprint;
mod handles;
mod image;
mod journal;
mod keys;
pub mod libc;
mod live;
mod machine;
mod memory;
mod names;
mod options;
mod outside;
mod padding;
mod reached;
mod readiness;
mod schedule;
mod start;
mod stutter;
mod sync;
mod thread;
mod threads;
mod thunks;
pub mod values;
mod world;

pub use branches::{Merge, ReportedBranches};
pub use machine::{Checkpoint, Interp};
pub use options::{Options, SpuriousWakeups, StartError};
pub use outside::Outside;
pub use reached::By;
