//! Replays witnesses and says whether they show what they are said to show. Trusts no engine and calls none.
//!
//! Simple on purpose: a fresh interpreter, the schedule choice by choice, and a detector of its own ([`detector`]). Only here can a
//! [`ConfirmedRace`] or [`ConfirmedProblem`] be made; nothing is called a race without one. Errs towards refusing: whatever does not
//! replay exactly is refused, with the reason.

#[cfg(test)]
extern crate self as raddle_certify;

mod confirmed;
mod detector;
mod doubt;
pub mod explored;
mod names;
mod path;
mod problem;
pub mod proved;
mod race;
mod refusal;
mod replay;
pub mod statics;
#[cfg(test)]
mod tests;

pub use confirmed::{ConfirmedProblem, ConfirmedRace};
pub use names::{Direction, Names};
pub use refusal::Refusal;
pub use replay::Witness;

use raddle_base::SiteId;
use raddle_event::ProblemKind;
use raddle_interp::{Interp, Options};
use raddle_ir::Program;
use raddle_libmodel::Models;
use raddle_machine::Machine;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The program, and the input and freedoms under which its witnesses were made.
#[derive(Clone, Debug)]
pub struct Subject {
    pub program: Arc<Program>,
    pub models: Arc<Models>,
    pub options: Options,
    /// Set to stop: what is not confirmed by then is [`Refusal::Stopped`].
    pub stop: Arc<AtomicBool>,
}

/// Replays the witness and looks for a race between accesses at these two sites.
pub fn confirm_race(
    subject: &Subject,
    witness: &Witness,
    sites: (SiteId, SiteId),
) -> Result<ConfirmedRace, Refusal> {
    race::confirm(&subject.program, Some(&subject.models), || subject.fresh(), witness, sites, &subject.stop)
}

/// Replays the witness and looks for an error of this kind at this site.
pub fn confirm_problem(
    subject: &Subject,
    witness: &Witness,
    kind: ProblemKind,
    site: SiteId,
) -> Result<ConfirmedProblem, Refusal> {
    problem::confirm(&subject.program, || subject.fresh(), witness, (kind, site), &subject.stop)
}

/// Like [`confirm_race`], on machines of another kind; `fresh` makes one in its start state, and `stop` is set to stop.
pub fn confirm_race_on<M: Machine>(
    program: &Program,
    fresh: impl Fn() -> Result<M, Refusal>,
    witness: &Witness,
    sites: (SiteId, SiteId),
    stop: &AtomicBool,
) -> Result<ConfirmedRace, Refusal> {
    race::confirm(program, None, fresh, witness, sites, stop)
}

/// Like [`confirm_problem`], on machines of another kind.
pub fn confirm_problem_on<M: Machine>(
    program: &Program,
    fresh: impl Fn() -> Result<M, Refusal>,
    witness: &Witness,
    problem: (ProblemKind, SiteId),
    stop: &AtomicBool,
) -> Result<ConfirmedProblem, Refusal> {
    problem::confirm(program, fresh, witness, problem, stop)
}

impl Subject {
    fn fresh(&self) -> Result<Interp, Refusal> {
        Interp::new(Arc::clone(&self.program), Arc::clone(&self.models), self.options.clone())
            .map_err(|error| Refusal::Start(error.to_string()))
    }
}
