//! Replays witnesses and says whether they show what they are said to show. Trusts no engine and calls none.
//!
//! Simple on purpose: a fresh interpreter, the schedule choice by choice, and a detector of its own ([`detector`]). Only here can a
//! [`ConfirmedRace`] or [`ConfirmedProblem`] be made; nothing is called a race without one. Errs towards refusing: whatever does not
//! replay exactly is refused, with the reason.

mod confirmed;
mod detector;
mod names;
mod problem;
mod race;
mod refusal;
mod replay;

pub use confirmed::{ConfirmedProblem, ConfirmedRace};
pub use refusal::Refusal;
pub use replay::Witness;
