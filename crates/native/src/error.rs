//! What keeps `raddle cc` and `raddle run` from their work, each with what to do about it.

use raddle_frontend::FrontendError;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum NativeError {
    #[error(transparent)]
    Frontend(#[from] FrontendError),
    #[error(
        "{flag}: 32-bit programs are not run natively; `raddle check --data-model ILP32` interprets their sources"
    )]
    ThirtyTwoBit { flag: String },
    #[error("{flag}: programs are built for x86-64 Linux only")]
    OtherTarget { flag: String },
    #[error("{flag}: another sanitizer in the same program is not possible; leave it out")]
    OtherSanitizer { flag: String },
    #[error(
        "{flag}: a program without the dynamic linker is not supported, because its threads could not be watched; link it dynamically"
    )]
    Static { flag: String },
    #[error("{}: was not built by `raddle cc`, so its threads cannot be watched; build it with CC=\"raddle cc\"", path.display())]
    NotBuilt { path: PathBuf },
    #[error("{}: is a script; give the program that it starts (libtool: `libtool --mode=execute raddle run PROGRAM`)", path.display())]
    Script { path: PathBuf },
    #[error("{}: no such program{hint}", path.display())]
    NoProgram { path: PathBuf, hint: String },
    #[error("{}: cannot be read as a program built by `raddle cc`: {reason}", path.display())]
    Binary { path: PathBuf, reason: String },
    #[error("{}: cannot be explored: {reason}", path.display())]
    Explore { path: PathBuf, reason: String },
    #[error("the program with checks could not be made: {0}")]
    Build(#[from] raddle_instrument::BuildError),
    #[error("RADDLE_PRUNE is `{value}`; it can be `all`, `none` or `warned`")]
    Prune { value: String },
    #[error("{}: is there already and is no trace; choose another name with -o", path.display())]
    NoTrace { path: PathBuf },
    #[error("{}: is not the program that was recorded: it has changed since, or is another one", path.display())]
    OtherProgram { path: PathBuf },
    #[error(transparent)]
    Trace(#[from] crate::trace::TraceError),
    #[error("{}: {reason}", path.display())]
    File { path: PathBuf, reason: String },
    #[error("`{command}`, which comes before the program, failed: {status}")]
    Before { command: String, status: std::process::ExitStatus },
    #[error("what the program found is lost: {reason}")]
    Lost { reason: String },
    #[error("{name} is not installed, or not in the folders of PATH")]
    NoDebugger { name: &'static str },
    #[error("{tool} cannot be started: {reason}")]
    Tool { tool: String, reason: String },
}

impl NativeError {
    pub(crate) fn file(path: impl Into<PathBuf>, reason: impl ToString) -> Self {
        Self::File { path: path.into(), reason: reason.to_string() }
    }
}
