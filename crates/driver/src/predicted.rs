//! `raddle predict`: one recorded run, the errors of its reorderings, and each of them confirmed by the program itself (2015 paper).
//!
//! What is confirmed was seen: a native run under an enforced schedule, with the exact detector on. A race that one candidate shows is not looked for
//! again, and one run may show several. Candidates that are certain and were not seen are reported as predicted, with the reason;
//! uncertain ones that were not seen took another path and are only counted. The verdict is never `safe`: other paths than
//! the recorded one were not looked at.

mod again;
mod beside;
mod confirming;
mod ground;
mod interpreted;
mod natively;
mod rounds;
mod tally;
mod text;

pub use again::{commands_of, is_order, replay_order};
pub use rounds::Rounds;
pub use text::{Exported, export, predict_std};

use crate::native::config_of;
use crate::{Answer, DriverError, Goal, Subject, plain};
use raddle_config::Config;
use raddle_native::{Around, End, RecordRequest, RunRequest};
use rounds::Setting;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

#[derive(Clone, Debug)]
pub struct PredictRequest {
    pub source: Source,
    pub config: Option<PathBuf>,
    /// For finding and confirming together; the recorded run is not counted.
    pub time: Option<Duration>,
    /// For one run of the program.
    pub run_time: Duration,
    /// Candidates that are tried for each pair of places.
    pub candidates: usize,
    /// Runs beside the orders of a pair of places that diverged, where all did.
    pub beside: usize,
    /// Events of the trace that are read.
    pub limit: usize,
    pub replays: Replays,
    pub rounds: Rounds,
    pub goal: Goal,
    /// Where schedules go.
    pub witness_dir: Option<PathBuf>,
}

/// Where the trace comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A file that `raddle record` wrote; another program file with the same content may stand for the one that it names, other
    /// commands for those of the recorded run.
    Trace { file: PathBuf, program: Option<PathBuf>, stdin: Option<PathBuf>, around: Around },
    /// A program to be recorded; the trace is kept in this file.
    Program { run: RunRequest, trace: Option<PathBuf> },
    /// Files that the interpreter executes. With a seed by chance.
    Files { subject: Subject, seed: Option<u64> },
}

/// Whether the program is run under the candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replays {
    Wanted,
    /// Everything stays a prediction.
    Unwanted,
}

/// How far it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Recording,
    Reading,
    Predicting { events: usize },
    Confirming { tried: usize, candidates: usize, confirmed: usize },
}

/// What is reported while it goes on, and what ends it.
#[derive(Clone, Copy)]
pub struct Watching<'a> {
    pub interrupt: &'a AtomicBool,
    pub progress: &'a dyn Fn(Stage),
}

/// The answer, and how the recorded run ended where one was made.
pub fn run(request: &PredictRequest, watching: Watching<'_>) -> Result<(Answer, Option<End>), DriverError> {
    let folder = tempfile::Builder::new().prefix("raddle-predict-").tempdir();
    let folder = folder.map_err(|source| DriverError::Write { path: std::env::temp_dir(), source })?;
    let mut observed = Vec::new();
    let mut warnings = Vec::new();
    let mut client_failure = None;
    let (file, program, config, end) = match &request.source {
        Source::Trace { file, program, .. } => {
            let config = request.config.as_ref().map(Config::load).transpose()?.unwrap_or_default();
            (file.clone(), program.clone(), config, None)
        }
        Source::Program { run, trace } => {
            (watching.progress)(Stage::Recording);
            let config = config_of(run, request.config.clone())?;
            let file = trace.clone().unwrap_or_else(|| folder.path().join("trace"));
            let ran = raddle_native::record(&RecordRequest { run: run.clone(), trace: file.clone() })?;
            observed = ran.findings;
            warnings.extend(ran.warnings.into_iter().chain(ran.client_failure.clone()));
            client_failure = ran.client_failure;
            (file, None, config, Some(ran.end))
        }
        Source::Files { subject, seed } => {
            return Ok((interpreted::run(request, subject, *seed, watching)?, None));
        }
    };
    let began = Instant::now();
    let setting = Setting {
        request,
        watching,
        config: &config,
        program: program.as_deref(),
        folder: folder.path(),
        began,
    };
    let mut answer = setting.all(file, observed)?;
    answer.outcome.unknown_reasons.extend(client_failure.map(|why| plain(&why)));
    answer.warnings.splice(0..0, warnings);
    answer.outcome.stats.seconds = began.elapsed().as_secs_f64();
    Ok((answer, end))
}
