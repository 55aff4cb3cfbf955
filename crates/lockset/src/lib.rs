//! The static race analysis: locksets with acquisition histories (2007 paper), sound, on the facts of `absint`.

pub mod held;
