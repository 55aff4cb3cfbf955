//! The project's own chores as a library, so that tests run exactly what the command line runs.

pub mod bench;
pub mod rust_text;
pub mod tidy;
pub mod tree;
