//! The only crate that talks to a solver: Z3 in this process, cvc5 as a program beside it.
//!
//! [`Solver`] is incremental and for engines, whose answers are checked again. [`Checker`] is for those who check: a formula is valid when
//! no solver objects, and a counterexample is evaluated by `raddle-logic` before it counts. Everything that is not an answer (limits,
//! a solver that died, solvers that disagree) is [`Answer::Unknown`] with its reason; nothing unknown turns into sat or unsat.

mod checker;
mod cvc5;
mod limits;
mod shape;
mod solver;
mod translate;

pub use checker::{Checker, Counts, Validity};
pub use cvc5::Cvc5;
pub use limits::Limits;
pub use solver::{NoModel, Solver};

/// Of a solver, to the question whether formulas hold together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Sat,
    Unsat,
    /// And why.
    Unknown(String),
}

impl Answer {
    pub(crate) fn unknown(reason: impl Into<String>) -> Answer {
        Answer::Unknown(reason.into())
    }
}
