//! The enumerator: every interleaving, no cleverness. Two modes that share no code and must agree.
//!
//! * [`sync`]: all orders of the visible operations, plain accesses run along with the operation before them, exact happens-before
//!   in every run.
//! * [`every_access`]: a switch before every single access; a race is a state in which two threads stand right before conflicting
//!   accesses. Knows nothing of happens-before.
//!
//! On programs whose atomics are all seq_cst both find a race or both find none, with provisos, each kept as a test. The outcome of
//! some operations tells a thread something without ordering anything, so that a race which needs this outcome may have no state
//! in which both accesses are next; then only `sync` reports it, and by the definition it is right. These are a try or timed
//! operation that failed (C11 lets a try fail for no reason), a compare-exchange that succeeded (nothing orders it before the store
//! that would have made it fail), and, without spurious wake-ups, a condition signal.
//!
//! A run that ends as [`Status::Infeasible`](raddle_machine::Status::Infeasible) is no execution, but what it met before its end
//! counts: the failed assumption is an operation of its own, so the part before it is the beginning of real runs too, in which the
//! thread just gets no further.

mod adjacent;
mod exploration;
mod ledger;
mod limits;
mod recorder;
mod sync_runs;

pub use adjacent::every_access;
pub use exploration::{
    Atomicity, Coverage, Exploration, FoundProblem, FoundRace, Gap, RaceAccess, RaceKey, RunCount,
};
pub use limits::{Goal, Limits, Progress, StateCache};
pub use sync_runs::sync;

pub(crate) use ledger::{Ledger, found_race, key_of, problem_groups};
pub(crate) use recorder::{Recorder, is_weak};
pub(crate) use sync_runs::Taken;
