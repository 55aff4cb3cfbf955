//! Finds clang 19 and the bitcode checker that comes with it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::FrontendError;

/// Names another clang 19.
const OVERRIDE: &str = "RADDLE_CLANG";

/// Pinned at build time by `.cargo/config.toml`.
const PREFIX: Option<&str> = option_env!("LLVM_SYS_191_PREFIX");

/// The compiler: `RADDLE_CLANG`, `clang-19` on the path, then LLVM's own folder.
pub(crate) fn clang() -> Result<PathBuf, FrontendError> {
    let mut candidates: Vec<PathBuf> = Vec::new();
    match std::env::var_os(OVERRIDE) {
        Some(named) if !named.is_empty() => candidates.push(PathBuf::from(named)),
        _ => {
            candidates.push(PathBuf::from("clang-19"));
            candidates.extend(prefixed("clang"));
        }
    }
    match candidates.iter().find(|candidate| answers(candidate)) {
        Some(found) => Ok(found.clone()),
        None => Err(FrontendError::ClangMissing {
            tried: candidates.iter().map(|candidate| candidate.display().to_string()).collect(),
        }),
    }
}

/// LLVM's `opt`, of the same version: reads and verifies bitcode in a process of its own.
pub(crate) fn opt() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || {
        let mut candidates = prefixed("opt").into_iter().chain([PathBuf::from("opt-19")]);
        candidates.find(|candidate| answers(candidate))
    };
    FOUND.get_or_init(find).clone()
}

/// What a tool printed on standard error, and whether it went well.
pub(crate) struct Outcome {
    pub(crate) success: bool,
    pub(crate) message: String,
}

pub(crate) fn run(
    program: &Path,
    arguments: &[OsString],
    directory: Option<&Path>,
) -> Result<Outcome, FrontendError> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    // The compiler's words are shown as they are, so let them be the same everywhere.
    command.env("LC_ALL", "C");
    if let Some(directory) = directory {
        command.current_dir(directory);
    }
    let output = command.output().map_err(|error| FrontendError::Tool {
        what: program.display().to_string(),
        reason: error.to_string(),
    })?;
    let mut message = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
    if !output.status.success() && message.is_empty() {
        message = format!("{} ended with {}", program.display(), output.status);
    }
    Ok(Outcome { success: output.status.success(), message })
}

fn prefixed(tool: &str) -> Option<PathBuf> {
    PREFIX.map(|prefix| Path::new(prefix).join("bin").join(tool))
}

fn answers(program: &Path) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
