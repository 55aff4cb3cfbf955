//! `raddle record`: a run as `raddle run` makes it, with a trace of what happened in a file.
//!
//! The header is written here before the program starts; everything else is written by the program itself, so a crash, a kill or
//! a full disk leaves what was written until then.

use crate::NativeError;
use crate::binary;
use crate::run::{Ran, RunRequest, run_with};
use crate::trace::{self, Program};
use raddle_base::StableHasher;
use raddle_runtime::trace::{MAGIC, new_header};
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct RecordRequest {
    pub run: RunRequest,
    /// Where the trace goes.
    pub trace: PathBuf,
}

/// Runs the program and records it.
pub fn record(request: &RecordRequest) -> Result<Ran, NativeError> {
    let binary = binary::open(&request.run.program)?;
    let path = binary.path.canonicalize().unwrap_or_else(|_| binary.path.clone());
    let words = request.run.arguments.iter().map(|word| word.to_string_lossy().into_owned());
    let program = Program {
        hash: hash(&path)?,
        path,
        arguments: words.collect(),
        commands: request.run.around.commands.clone(),
    };
    let trace = begin(&request.trace, &program)?;
    let mut run = request.run.clone();
    let comma = if run.options.is_empty() { "" } else { "," };
    run.options = format!("mode=record{comma}{}", run.options);
    let mut ran = run_with(&run, &binary, Some(&trace))?;
    // What is missing in the trace does not make the findings of the run incomplete.
    let (of_trace, others) = ran.gaps.into_iter().partition(|gap| gap.starts_with(OF_TRACE));
    ran.gaps = others;
    ran.warnings.extend::<Vec<String>>(of_trace);
    Ok(ran)
}

/// Writes the header of a trace of the program, and gives its whole path: the program may change its folder.
pub(crate) fn begin(trace: &Path, program: &Program) -> Result<PathBuf, NativeError> {
    refuse_other_files(trace)?;
    let text = serde_json::to_string(program).expect("strings always serialise");
    let problem = |error: std::io::Error| NativeError::file(trace, error);
    std::fs::write(trace, new_header(&text)).map_err(problem)?;
    trace.canonicalize().map_err(problem)
}

/// How the recorder's own gaps begin.
const OF_TRACE: &str = "the trace ";

/// So many events are looked at to explain findings: some tens of seconds.
const EXPLAINED: usize = 500_000_000;

/// A run whose findings tell what protected the variable until the race: recorded, read back and forgotten.
pub fn run_explained(request: &RunRequest) -> Result<Ran, NativeError> {
    let folder = tempfile::Builder::new().prefix("raddle-explain-").tempdir();
    let folder = folder.map_err(|error| NativeError::file(std::env::temp_dir(), error))?;
    let request = RecordRequest { run: request.clone(), trace: folder.path().join("trace") };
    let mut ran = record(&request)?;
    let mut looked_at = 0;
    // Of the program itself, then of the processes that it started.
    let others = std::mem::take(&mut ran.traces);
    for file in std::iter::once(request.trace).chain(others) {
        let recorded = match trace::read(&file, trace::USUAL_LIMIT) {
            Ok(recorded) => recorded,
            Err(error) => {
                ran.warnings.push(format!("not explained: {error}"));
                continue;
            }
        };
        let (places, mut warnings) = recorded.places(None)?;
        ran.warnings.append(&mut warnings);
        for finding in ran.findings.iter_mut().filter(|finding| finding.protection.is_none()) {
            looked_at += recorded.trace.events.len();
            if looked_at <= EXPLAINED {
                finding.protection = recorded.protection(&places, finding);
            }
        }
    }
    let missing = ran.findings.iter().filter(|finding| finding.protection.is_none()).count();
    if missing > 0 {
        ran.warnings.push(format!("{missing} of {} findings could not be explained", ran.findings.len()));
    }
    Ok(ran)
}

/// Of a program's file.
pub(crate) fn hash(path: &Path) -> Result<String, NativeError> {
    let bytes = std::fs::read(path).map_err(|error| NativeError::file(path, error))?;
    let mut hasher = StableHasher::new();
    hasher.bytes(&bytes);
    Ok(format!("{:032x}", hasher.finish128()))
}

/// An older trace may be overwritten, anything else not.
fn refuse_other_files(path: &Path) -> Result<(), NativeError> {
    let Ok(mut file) = std::fs::File::open(path) else { return Ok(()) };
    let mut start = [0; MAGIC.len()];
    let is_empty = file.metadata().is_ok_and(|meta| meta.is_file() && meta.len() == 0);
    let is_trace = file.read_exact(&mut start).is_ok() && start == MAGIC;
    if is_empty || is_trace { Ok(()) } else { Err(NativeError::NoTrace { path: path.to_owned() }) }
}
