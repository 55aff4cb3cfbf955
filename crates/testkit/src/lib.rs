//! Random traces and programs, fixture harness; for tests only.

pub mod fixtures;
pub mod mutants;
pub mod programs;
pub mod random;
pub mod script;
pub mod soak;
pub mod traces;
