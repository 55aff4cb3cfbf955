//! What to load, and what came of it.

use std::path::PathBuf;

use raddle_ir::{DataModel, Program};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// `.c`, `.i`, `.bc`, `.ll` files, linked into one program; or one `compile_commands.json` (or the folder that holds it).
    pub inputs: Vec<PathBuf>,
    /// Handed to clang behind all other flags.
    pub cflags: Vec<String>,
    /// `None`: LP64 for C, what the file says for bitcode.
    pub data_model: Option<DataModel>,
    /// Which program of a `compile_commands.json` with several: the source file that holds its `main`.
    pub target: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Loaded {
    pub program: Program,
    /// What the user should know about the input; clang's own warnings are not among it.
    pub warnings: Vec<String>,
    /// Numbered assumptions made while reading.
    pub assumptions: Vec<&'static str>,
}
