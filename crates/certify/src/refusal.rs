//! Why a witness was not accepted.

use raddle_event::{Choice, ProblemKind};
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The program cannot be started.
    Start(String),
    /// The run ended before this choice of the schedule.
    EndedEarly { step: usize },
    /// The choice is not open in the state that it is made in.
    NotEnabled { step: usize, choice: Choice },
    /// No two unordered accesses at the claimed places.
    NoRace,
    /// The run does not meet that error at the claimed place.
    NoProblem { kind: ProblemKind },
    /// Two replays of one schedule differ.
    NotDeterministic,
    /// There was no time to find out.
    Stopped,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Start(reason) => write!(f, "the program cannot be started: {reason}"),
            Refusal::EndedEarly { step } => {
                write!(f, "the run ends before choice {} of the schedule", step + 1)
            }
            Refusal::NotEnabled { step, choice } => write!(
                f,
                "choice {} of the schedule ({}, way {}) is not possible there",
                step + 1,
                choice.thread,
                choice.variant
            ),
            Refusal::NoRace => f.write_str("the replayed run has no race between the two places"),
            Refusal::NoProblem { kind } => write!(f, "the replayed run has no {} at the place", kind.name()),
            Refusal::Stopped => f.write_str("stopped before it was replayed"),
            Refusal::NotDeterministic => f.write_str("two replays of the schedule differ"),
        }
    }
}

impl std::error::Error for Refusal {}
