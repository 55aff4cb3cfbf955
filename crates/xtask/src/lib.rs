//! The project's own chores as a library, so that tests run exactly what the command line runs.

pub mod bench;
pub mod mutants;
pub mod rust_text;
pub mod soak;
pub mod tidy;
mod tool;
pub mod tree;
