//! Runs clang, with its own words to the user and its own exit status.

use super::{Driver, response};
use crate::NativeError;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// The words of a command are shown on standard error when this is set.
const VERBOSE: &str = "RADDLE_CC_VERBOSE";

/// Longer command lines go through a file: the system's limit is 128 KiB for one word and 2 MiB for all, the environment included.
const LONGEST: usize = 100_000;

pub(super) struct Tools {
    driver: Driver,
    clang: PathBuf,
    mode: Option<&'static str>,
    /// For files that are needed while this process runs.
    pub(super) folder: tempfile::TempDir,
}

/// What a run of clang gets as standard input.
pub(super) enum Input<'a> {
    /// This process's own.
    Inherited,
    Nothing,
    File(&'a Path),
}

impl Tools {
    pub(super) fn find(driver: Driver) -> Result<Self, NativeError> {
        let folder = tempfile::Builder::new().prefix("raddle-cc-").tempdir();
        let folder = folder.map_err(|error| NativeError::file(std::env::temp_dir(), error))?;
        let mut clang = raddle_frontend::clang()?;
        let mut mode = None;
        if driver == Driver::Cxx {
            // `clang++-19` beside `clang-19`; it is the same program, which looks at its name.
            let name = clang.file_name().map(|name| name.to_string_lossy().replacen("clang", "clang++", 1));
            let sibling = clang.with_file_name(name.unwrap_or_default());
            if is_program(&sibling) { clang = sibling } else { mode = Some("--driver-mode=g++") }
        }
        Ok(Self { driver, clang, mode, folder })
    }

    /// Comes back only when clang cannot be started.
    pub(super) fn replace_this_process(&self, arguments: &[OsString]) -> Result<u8, NativeError> {
        self.show(arguments);
        // Nothing of ours is needed any more; a folder would be left behind.
        let _ = std::fs::remove_dir_all(self.folder.path());
        Err(self.problem(self.command(arguments).exec()))
    }

    /// The same command in a new process, which checks everything. Comes back only when it cannot be started.
    pub(super) fn start_again(&self, arguments: &[OsString]) {
        let Ok(raddle) = std::env::current_exe() else { return };
        let word = match self.driver {
            Driver::C => "cc",
            Driver::Cxx => "c++",
        };
        let mut command = Command::new(raddle);
        command.args([word, "--raddle-no-prune"]).args(arguments);
        if std::fs::remove_dir_all(self.folder.path()).is_ok() {
            let _ = command.exec();
            let _ = std::fs::create_dir(self.folder.path());
        }
    }

    /// Runs clang to its end; what it says goes to the user.
    pub(super) fn run(&self, arguments: &[OsString], input: Input<'_>) -> Result<u8, NativeError> {
        self.show(arguments);
        let length: usize = arguments.iter().map(|word| word.len() + 1).sum();
        let mut command = if length > LONGEST {
            let file = self.folder.path().join("arguments");
            self.write(&file, &response::text(arguments))?;
            let mut word = OsString::from("@");
            word.push(file);
            self.command(&[word])
        } else {
            self.command(arguments)
        };
        command.stdin(stdin(input)?);
        Ok(code(command.status().map_err(|error| self.problem(error))?))
    }

    /// Runs clang; what it says is given back when it fails, and nowhere else.
    pub(super) fn run_quietly(
        &self,
        arguments: &[OsString],
        input: Input<'_>,
    ) -> Result<Result<(), String>, NativeError> {
        self.show(arguments);
        let output =
            self.command(arguments).stdin(stdin(input)?).output().map_err(|error| self.problem(error))?;
        Ok(match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).trim_end().to_owned()),
        })
    }

    pub(super) fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), NativeError> {
        std::fs::write(path, bytes).map_err(|error| NativeError::file(path, error))
    }

    fn command(&self, arguments: &[OsString]) -> Command {
        let mut command = Command::new(&self.clang);
        command.args(self.mode).args(arguments);
        command
    }

    fn show(&self, arguments: &[OsString]) {
        if std::env::var_os(VERBOSE).is_some_and(|value| !value.is_empty() && value != "0") {
            let words: Vec<String> =
                arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            eprintln!("raddle cc: {} {}", self.clang.display(), words.join(" "));
        }
    }

    fn problem(&self, error: std::io::Error) -> NativeError {
        NativeError::Tool { tool: self.clang.display().to_string(), reason: error.to_string() }
    }
}

fn stdin(input: Input<'_>) -> Result<Stdio, NativeError> {
    Ok(match input {
        Input::Inherited => Stdio::inherit(),
        Input::Nothing => Stdio::null(),
        Input::File(path) => Stdio::from(File::open(path).map_err(|error| NativeError::file(path, error))?),
    })
}

fn is_program(path: &Path) -> bool {
    if path.components().count() > 1 {
        return path.is_file();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(path).is_file())
}

/// As a shell counts it.
fn code(status: ExitStatus) -> u8 {
    match (status.code(), status.signal()) {
        (Some(code), _) => code as u8,
        (None, signal) => 128 + signal.unwrap_or(0) as u8,
    }
}
