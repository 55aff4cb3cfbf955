//! `raddle run`: starts an instrumented program, waits for it within a limit, and reads what its run-time library wrote down.
//!
//! The program keeps its standard streams and its exit status; findings come through memory that both have, line by line as they happen,
//! so that a crash, `_exit`, the end of the time limit or a full disk loses none. Where some are missing all the same, and none is left
//! to report, the run is an error and not one without races.

pub(crate) mod describe;
pub(crate) mod lines;

use crate::NativeError;
use crate::around::{Around, Running, beside};
use crate::binary::{self, Binary};
use lines::Log;
use raddle_finding::{Assumption, Finding};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[derive(Clone, Debug)]
pub struct RunRequest {
    pub program: OsString,
    pub arguments: Vec<OsString>,
    /// Instead of the standard input of this process.
    pub stdin: Option<PathBuf>,
    pub time: Option<Duration>,
    pub around: Around,
    /// For the run-time library: `key=value`, separated by commas.
    pub options: String,
}

/// What one run showed.
#[derive(Debug)]
pub struct Ran {
    pub findings: Vec<Finding>,
    pub end: End,
    /// What the findings rest on.
    pub assumptions: Vec<Assumption>,
    /// What was not seen, in words.
    pub gaps: Vec<String>,
    /// Why the client did not do all of its work, if so.
    pub client_failure: Option<String>,
    pub warnings: Vec<String>,
    pub seconds: f64,
    /// Files that processes other than the first have recorded.
    pub traces: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Exited(u8),
    /// By this signal.
    Killed(u8),
    /// The time was over.
    Stopped,
    /// By the signal that it got when its client had ended.
    Dismissed,
    /// The client failed; the program did not.
    Unserved,
}

/// Names of the run-time library's own variables.
pub(crate) const OUT: &str = "RADDLE_OUT";
pub(crate) const TRACE: &str = "RADDLE_TRACE";
pub(crate) const OPTIONS: &str = "RADDLE_OPTIONS";

/// Runs the program to its end.
pub fn run(request: &RunRequest) -> Result<Ran, NativeError> {
    run_with(request, &binary::open(&request.program)?, None)
}

/// The same; what happens is recorded in a file.
pub(crate) fn run_with(
    request: &RunRequest,
    binary: &Binary,
    trace: Option<&Path>,
) -> Result<Ran, NativeError> {
    let sink = Sink::new()?;
    let mut command = Command::new(&binary.path);
    command.args(&request.arguments).env(OUT, sink.path());
    if !request.options.is_empty() {
        command.env(OPTIONS, &request.options);
    }
    match trace {
        Some(trace) => command.env(TRACE, trace),
        None => command.env_remove(TRACE),
    };
    if let Some(path) = &request.stdin {
        command.stdin(File::open(path).map_err(|error| NativeError::file(path, error))?);
    }
    request.around.prepare()?;
    let began = Instant::now();
    let mut child = command.spawn().map_err(|error| NativeError::file(&binary.path, error))?;
    let mut client = beside(&mut child, &request.around)?;
    let limits = Limits { time: request.time, grace: GRACE, interrupt: None };
    let end =
        wait(&mut child, client.as_mut(), limits).map_err(|error| NativeError::file(&binary.path, error))?;
    let client_failure = client.and_then(|client| client.failure().or(client.outlived()));
    let seconds = began.elapsed().as_secs_f64();
    let log = sink.read();
    let mut warnings = log.warnings();
    let running = log.still_running(child.id());
    if !running.is_empty() {
        let processes: Vec<String> = running.iter().map(u32::to_string).collect();
        let rest = match &sink {
            Sink::Memory { .. } => format!("is not reported; name a file by {OUT} to keep it"),
            Sink::Named(file) => format!("is written to {}", file.display()),
        };
        warnings.push(format!("process {} goes on; what it finds from now on {rest}", processes.join(", ")));
    }
    let findings = describe::findings(&log, binary, &mut warnings);
    // A client that fails at once may end the program before it begins; that it failed is what is said.
    if findings.is_empty()
        && end != End::Unserved
        && let Some(reason) = log.lost()
    {
        return Err(NativeError::Lost { reason });
    }
    let gaps = log.gaps().into_iter().collect();
    let used = log.assumptions();
    let assumptions = Assumption::ALL.iter().filter(|one| used.contains(one.id)).copied().collect();
    let traces = log.traces();
    Ok(Ran { findings, end, assumptions, gaps, client_failure, warnings, seconds, traces })
}

/// Where the program writes what it finds.
enum Sink {
    /// Memory, which the program opens by the descriptor that this process has.
    Memory { file: File, path: PathBuf },
    /// The user may name a file of their own, to keep it.
    Named(PathBuf),
}

impl Sink {
    fn new() -> Result<Self, NativeError> {
        if let Some(file) = std::env::var_os(OUT).filter(|file| !file.is_empty()) {
            return Ok(Self::Named(PathBuf::from(file)));
        }
        let memory = memfd_create("raddle-findings", MemfdFlags::CLOEXEC);
        let file = File::from(memory.map_err(|error| NativeError::file("memory for findings", error))?);
        let path = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()));
        Ok(Self::Memory { file, path })
    }

    fn path(&self) -> &Path {
        match self {
            Self::Memory { path, .. } | Self::Named(path) => path,
        }
    }

    fn read(&self) -> Log {
        match self {
            Self::Named(file) => Log::read(file),
            Self::Memory { file, .. } => {
                let (mut file, mut bytes) = (file, Vec::new());
                match file.rewind().and_then(|()| file.read_to_end(&mut bytes)) {
                    Ok(_) => Log::parse(&bytes),
                    Err(_) => Log::unread(),
                }
            }
        }
    }
}

/// What ends a program that does not end by itself.
pub(crate) struct Limits<'a> {
    pub(crate) time: Option<Duration>,
    /// Time that it gets to end by itself once it was told to.
    pub(crate) grace: Duration,
    /// Once it is set, the program is killed.
    pub(crate) interrupt: Option<&'a AtomicBool>,
}

const GRACE: Duration = Duration::from_secs(2);

/// The same in a run that is made again: what it does at its end is no news.
pub(crate) const SHORT_GRACE: Duration = Duration::from_millis(300);

/// Waits for the end of the program, and tells it to end when the time is over or its client has ended; and
/// kills it when it does not.
pub(crate) fn wait(
    child: &mut Child,
    mut client: Option<&mut Running>,
    limits: Limits<'_>,
) -> std::io::Result<End> {
    let Limits { time, grace, interrupt } = limits;
    let began = Instant::now();
    let mut pause = Duration::from_micros(200);
    // When, and as what that counts.
    let mut told: Option<(Instant, End)> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            let has_failed = client.is_some_and(|client| client.dismiss());
            return Ok(match (told, ended(status)) {
                (Some((_, End::Dismissed)), End::Exited(0)) | (None, End::Exited(0)) if has_failed => {
                    End::Unserved
                }
                (Some((_, End::Dismissed)), End::Killed(signal)) if is_telling(signal) => {
                    if has_failed {
                        End::Unserved
                    } else {
                        End::Dismissed
                    }
                }
                (Some((_, End::Dismissed)) | None, end) => end,
                (Some((_, end)), _) => end,
            });
        }
        if interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed)) {
            told = told.or(Some((Instant::now(), End::Stopped)));
            tell(child, Signal::KILL);
        }
        let why = if time.is_some_and(|time| began.elapsed() >= time) {
            Some(End::Stopped)
        } else if client.as_mut().is_some_and(|client| client.has_ended()) {
            Some(End::Dismissed)
        } else {
            None
        };
        match (told, why) {
            (None, Some(why)) => {
                told = Some((Instant::now(), why));
                tell(child, Signal::TERM);
            }
            (Some((at, _)), _) if at.elapsed() >= grace => tell(child, Signal::KILL),
            _ => {}
        }
        std::thread::sleep(pause);
        pause = (pause * 5 / 4).min(Duration::from_millis(10));
    }
}

fn tell(child: &Child, signal: Signal) {
    // It may have ended this moment.
    let _ = i32::try_from(child.id()).ok().and_then(Pid::from_raw).map(|pid| kill_process(pid, signal));
}

fn is_telling(signal: u8) -> bool {
    [Signal::TERM, Signal::KILL].iter().any(|one| one.as_raw() == i32::from(signal))
}

fn ended(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code as u8),
        (None, signal) => End::Killed(signal.unwrap_or(0) as u8),
    }
}
