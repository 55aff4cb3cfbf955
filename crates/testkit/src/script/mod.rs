//! Scripts: a tiny multi-threaded language, its random generator, a direct [`Machine`](raddle_machine::Machine) and its C text.
//!
//! A script is a handful of shared objects and a list of threads. [`ScriptMachine`] runs it with the semantics of the interpreter
//! but with nothing in common with it: no IR, no memory model beyond eight-byte objects, a checkpoint is a clone. It is the slow,
//! obvious twin of the pipeline clang, frontend, interpreter: [`c_text()`] writes the same program in C, one statement per line, so
//! that runs, problems and races (by line) can be compared.

mod c_text;
mod code;
mod fingerprint;
mod generate;
mod machine;
mod operations;
mod perform;
mod shrink;
mod state;
mod stutter;
mod syntax;

pub use c_text::{CText, c_text};
pub use generate::{Profile, generate};
pub use machine::{Branches, ScriptMachine, SpuriousWakeups, Stuttering};
pub use shrink::shrink;
pub use state::location;
pub use syntax::{
    Act, Block, Cond, How, LockKind, Mode, Place, REGISTERS, Reg, RmwKind, Script, Stmt, Value, well_formed,
};
