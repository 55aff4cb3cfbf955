//! `raddle cc` and `raddle c++`: clang 19 with the program's bitcode kept in what it makes.
//!
//! The user's command is always run first and as it is, so that messages, dependency files, exit codes and whatever else a build looks
//! at are clang's own. Then [`compile`] adds bitcode to the objects it made, or [`link`] makes the instrumented program of the units
//! that were really linked. What cannot be instrumented stays plain code, and is said on standard error.

mod archive;
mod command;
mod compile;
mod controlled;
mod flags;
mod instrumented;
mod link;
mod response;
mod tools;

use crate::NativeError;
use command::{Action, Command};
use raddle_instrument::Keep;
use raddle_ir::Program;
use std::ffi::OsString;
use tools::Tools;

pub use controlled::{Controlled, build_controlled};
pub use flags::Prune;
pub use raddle_instrument::{Does, Mode, OwnLock, Success};

/// What the user called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    C,
    Cxx,
}

/// What the build is told about the program.
pub trait Advice {
    /// Which accesses of the linked program are checked. `None`: the analysis was left at a limit, and uses time and memory as long as
    /// this process lives.
    fn keep(&self, program: &Program, prune: Prune) -> Option<Keep>;

    fn own_locks(&self) -> &[OwnLock];
}

/// Does what clang does with these arguments, and gives its exit status.
pub fn cc(driver: Driver, arguments: Vec<OsString>, advice: &dyn Advice) -> Result<u8, NativeError> {
    let tools = Tools::find(driver)?;
    let command = Command::parse(arguments)?;
    match command.action {
        Action::Other => tools.replace_this_process(&command.given),
        Action::Compile => compile::compile(&tools, &command),
        Action::Relocatable | Action::Shared | Action::Executable => link::link(&tools, &command, advice),
    }
}
