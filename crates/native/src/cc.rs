//! `raddle cc` and `raddle c++`: clang 19 with the program's bitcode kept in what it makes.
//!
//! The user's command is always run first and as it is, so that messages, dependency files, exit codes and whatever else a build looks
//! at are clang's own. Then [`compile`] adds bitcode to the objects it made, or [`link`] makes the instrumented program of the units
//! that were really linked. What cannot be instrumented stays plain code, and is said on standard error.

mod archive;
mod command;
mod compile;
mod flags;
mod link;
mod response;
mod tools;

use crate::NativeError;
use command::{Action, Command};
use raddle_frontend::embedded::Unit;
use std::ffi::OsString;
use tools::Tools;

pub use flags::Prune;

/// What the user called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    C,
    Cxx,
}

/// What is to become one instrumented program or library.
pub struct Parts {
    pub units: Vec<Unit>,
    pub output: Output,
    pub prune: Prune,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    Executable,
    Shared,
}

/// What became of it.
pub struct Built {
    pub object: Vec<u8>,
    /// The linked units as they were, for other engines.
    pub bitcode: Vec<u8>,
    pub sites: Vec<u8>,
    /// The archive of the run-time library; a shared object has none.
    pub runtime: Option<&'static [u8]>,
}

/// Makes the instrumented object; `None` leaves the program as it is.
pub type Build<'a> = &'a dyn Fn(&Parts) -> Result<Option<Built>, String>;

/// Does what clang does with these arguments, and gives its exit status.
pub fn cc(driver: Driver, arguments: Vec<OsString>, build: Build<'_>) -> Result<u8, NativeError> {
    let tools = Tools::find(driver)?;
    let command = Command::parse(arguments)?;
    match command.action {
        Action::Other => tools.replace_this_process(&command.given),
        Action::Compile => compile::compile(&tools, &command),
        Action::Relocatable | Action::Shared | Action::Executable => link::link(&tools, &command, build),
    }
}
