//! The user's mistakes: what was tried, what happened, what to do. Not for findings, not for bugs of Raddle.

use raddle_config::ConfigError;
use raddle_frontend::FrontendError;
use raddle_native::NativeError;
use std::path::PathBuf;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum DriverError {
    #[error(transparent)]
    Frontend(#[from] FrontendError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Native(#[from] NativeError),
    #[error(
        "the program has no `main` function: give all files that it is made of, or with --entry the functions that \
         clients call"
    )]
    NoMain,
    #[error("there is no function `{name}` to take as an entry{}", nearest(similar))]
    NoEntry { name: String, similar: Vec<String> },
    #[error("no file of the program is called {file}{}", nearest(similar))]
    NoFile { file: String, similar: Vec<String> },
    #[error(
        "--search {search} needs the interpreter; natively there are optimal, dpor, enumerate, random and pct"
    )]
    NotNative { search: &'static str },
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: std::io::Error },
    #[error("{} is not a witness file of Raddle: {message}", path.display())]
    BrokenWitness { path: PathBuf, message: String },
    #[error("{} is not a trace in the STD format: {message}", path.display())]
    BrokenTrace { path: PathBuf, message: String },
    #[error("{}: there is nothing to stop at: {why}", path.display())]
    NotDebugged { path: PathBuf, why: String },
    #[error("{} is not a checkpoint of Raddle: {message}", path.display())]
    BrokenCheckpoint { path: PathBuf, message: String },
    #[error("{} is of another search: it differs in the {what}", path.display())]
    OtherCheckpoint { path: PathBuf, what: String },
    #[error("{} is there already: add --resume to go on from it, or remove it", path.display())]
    CheckpointExists { path: PathBuf },
    #[error("{} is not a certificate of Raddle: {message}", path.display())]
    BrokenCertificate { path: PathBuf, message: String },
    #[error(
        "{} names the input {}, which is not there. Run it from the folder that it was recorded in, or give the \
         program's files behind it",
        path.display(),
        input.display()
    )]
    MissingInput { path: PathBuf, input: PathBuf },
    #[error(
        "{} was recorded for another program: it names {recorded:032x}, the inputs now make {present:032x}. \
         The source, the compiler flags or the data model have changed since; run `raddle check` again",
        path.display()
    )]
    OtherProgram { path: PathBuf, recorded: u128, present: u128 },
    #[error(
        "the standard input of the recorded run was {} ({recorded:032x}), which has changed since ({present:032x})",
        path.display()
    )]
    OtherStdin { path: PathBuf, recorded: u128, present: u128 },
}

impl DriverError {
    /// Whether nothing is wrong but that it was told to stop.
    pub(crate) fn is_stop(&self) -> bool {
        matches!(self, DriverError::Frontend(FrontendError::Stopped))
    }
}

fn nearest(similar: &[String]) -> String {
    match similar {
        [] => String::new(),
        names => format!("; nearest: {}", names.join(", ")),
    }
}
