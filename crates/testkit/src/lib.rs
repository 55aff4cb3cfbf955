//! Random traces and programs, fixture harness; for tests only.

pub mod fixtures;
pub mod random;
pub mod script;
pub mod traces;
