//! Finds clang 19 and the bitcode checker that comes with it.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
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
    stop: &AtomicBool,
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
    end_with_us(&mut command);
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
    let running = Running::new(child.id());
    let status = wait(&mut child, &end, stop).map_err(problem)?;
    drop(running);
    if status.is_none() && stop.load(Ordering::Relaxed) {
        return Err(FrontendError::Stopped);
    }
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

/// The system kills the tool when this process ends in whatever way: its work may be left behind at a limit, or it is killed itself.
fn end_with_us(command: &mut Command) {
    let parent = std::process::id();
    let ask = move || {
        // Both calls are safe between fork and exec.
        let (asked, now) = unsafe { (libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL), libc::getppid()) };
        match asked == 0 && u32::try_from(now) == Ok(parent) {
            true => Ok(()),
            false => Err(std::io::Error::from_raw_os_error(libc::ESRCH)),
        }
    };
    unsafe { command.pre_exec(ask) };
}

/// The child's end, or `None` when it took too long or `stop` was set, and it was killed. `end`: it has closed its standard error.
fn wait(child: &mut Child, end: &Receiver<()>, stop: &AtomicBool) -> std::io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    let is_over = || start.elapsed() > LONGEST_RUN || stop.load(Ordering::Relaxed);
    // It is closed when the process ends, mostly.
    while end.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) && !is_over() {}
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if is_over() {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(PERIOD);
    }
}

/// Looks at a running tool this often.
const PERIOD: Duration = Duration::from_millis(20);

/// Tools that run at present.
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// One of them.
struct Running(u32);

impl Running {
    fn new(id: u32) -> Self {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).push(id);
        Self(id)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).retain(|id| *id != self.0);
    }
}

/// Memory that clang and other tools use now, where the system tells.
pub fn resident_bytes_of_tools() -> u64 {
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner).clone();
    running.into_iter().filter_map(|id| resident_bytes(&format!("/proc/{id}/statm"))).sum()
}

/// What a file of the form of `/proc/self/statm` says.
pub fn resident_bytes(statm: &str) -> Option<u64> {
    let pages: u64 = std::fs::read_to_string(statm).ok()?.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

fn prefixed(tool: &str) -> Option<PathBuf> {
    PREFIX.map(|prefix| Path::new(prefix).join("bin").join(tool))
}

fn answers(program: &Path) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
