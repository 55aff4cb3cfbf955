//! Finds clang 19 and the bitcode checker that comes with it.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::FrontendError;

/// Names another clang 19.
const OVERRIDE: &str = "RADDLE_CLANG";

/// Pinned at build time by `.cargo/config.toml`.
const PREFIX: Option<&str> = option_env!("LLVM_SYS_191_PREFIX");

/// The compiler: `RADDLE_CLANG`, `clang-19` on the path, then LLVM's own folder.
pub fn clang() -> Result<PathBuf, FrontendError> {
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

/// The largest single source takes clang seconds; a damaged file can send a reader round in circles.
const LONGEST_RUN: Duration = Duration::from_secs(300);

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
    let problem = |error: std::io::Error| FrontendError::Tool {
        what: program.display().to_string(),
        reason: error.to_string(),
    };
    let mut child = command.spawn().map_err(problem)?;
    let errors = child.stderr.take();
    let (ended, end) = channel();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut errors) = errors {
            // What could not be read is missing from a message, no more.
            let _ = errors.read_to_end(&mut bytes);
        }
        // Nobody listens any more when the child was stopped.
        let _ = ended.send(());
        bytes
    });
    let status = wait(&mut child, &end).map_err(problem)?;
    let bytes = reader.join().unwrap_or_default();
    let mut message = String::from_utf8_lossy(&bytes).trim_end().to_owned();
    let Some(status) = status else {
        let message = format!("{} did not end within {} seconds", program.display(), LONGEST_RUN.as_secs());
        return Ok(Outcome { success: false, message });
    };
    if !status.success() && message.is_empty() {
        message = format!("{} ended with {status}", program.display());
    }
    Ok(Outcome { success: status.success(), message })
}

/// The child's end, or `None` when it took too long and was stopped. `end`: it has closed its standard error.
fn wait(child: &mut Child, end: &Receiver<()>) -> std::io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    // It is closed when the process ends, mostly.
    let _ = end.recv_timeout(LONGEST_RUN);
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > LONGEST_RUN {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn prefixed(tool: &str) -> Option<PathBuf> {
    PREFIX.map(|prefix| Path::new(prefix).join("bin").join(tool))
}

fn answers(program: &Path) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
