//! The static analysis as an engine: from a program to an outcome whose findings are warnings. Only an accepted proof is `safe`.
//!
//! It runs on a thread of its own and hands back plain data ([`Statically`]), so that `check` can go on without it when it takes too
//! long.

pub(crate) mod accepted;
mod findings;

pub(crate) use accepted::{OpenPairs, Question, Statically};

/// What the static analysis says, or why it says nothing.
pub(crate) type StaticResult = Result<Statically, Lost>;

use crate::aside::{Grace, Job, Lost, aside, supervised};
use crate::board::{Board, Phase};
use crate::certificate::{self, Content};
use crate::load::{Loaded, load};
use crate::watchdog::Bounds;
use crate::{Answer, DriverError, Subject, named};
use raddle_finding::{
    Assumption, CertificateFile, Deadlocks, Explanation, Outcome, Proved, Stats, UnknownReason, Verdict,
};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// What `raddle static` is asked besides the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StaticRequest {
    pub time: Option<Duration>,
    /// Bytes that the whole process may use.
    pub memory: Option<u64>,
    /// Where the proof goes, if there is one.
    pub certificate: Option<PathBuf>,
    /// The line to be explained.
    pub explain: Option<Line>,
}

/// A line of a source file, as the user writes it: `queue.c:12`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub file: String,
    pub line: u32,
}

/// The static analysis alone.
pub fn statics(
    subject: &Subject,
    request: &StaticRequest,
    interrupt: &AtomicBool,
) -> Result<(Answer, Option<Explanation>), DriverError> {
    let began = Instant::now();
    let bounds = Bounds { time: request.time, memory: request.memory, began };
    let board = Board::default();
    let (subject, request, known) = (subject.clone(), request.clone(), board.clone());
    let work = move |job: &Job| alone(&subject, &request, job, bounds, &known);
    let (mut answer, explanation) = match supervised("static", (interrupt, None), bounds, Grace::Short, work)
        .map_err(|lost| board.without(lost))
    {
        Ok(Err(error)) if error.is_stop() => (board.without(bounds.lost(interrupt)), None),
        Ok(result) => result?,
        Err(answer) => (answer, None),
    };
    answer.outcome.stats.seconds = began.elapsed().as_secs_f64();
    Ok((answer, explanation))
}

fn alone(
    subject: &Subject,
    request: &StaticRequest,
    job: &Job,
    bounds: Bounds,
    board: &Board,
) -> Result<(Answer, Option<Explanation>), DriverError> {
    let loaded = load(subject, &job.stop)?;
    board.enter(Phase::Analysing);
    let entries = named::find(&loaded, &loaded.entries)?;
    if let Some(line) = &request.explain {
        named::find_file(&loaded.program, &line.file)?;
    }
    let mut warnings = loaded.warnings.clone();
    let question = Question { entries, explain: request.explain.clone(), open: OpenPairs::NotWanted };
    let (outcome, explanation) = match run(&loaded, question, &job.interrupt, bounds) {
        Ok(mut result) => {
            let explanation = result.explanation.take();
            let written = match (&request.certificate, &result.proof) {
                (Some(path), Some(proof)) => {
                    certificate::write(path, &loaded, subject, Content::Proof(proof))?;
                    CertificateFile::Written(path.to_string_lossy().into_owned())
                }
                (Some(path), None) => {
                    let path = path.display();
                    warnings.push(format!("there is no proof that could be written to {path}"));
                    CertificateFile::Unwritten
                }
                (None, _) => CertificateFile::Unwritten,
            };
            (report(&loaded, result, written), explanation)
        }
        Err(Lost::Bug(bug)) => (crate::outcome::unknown(vec![bug]), None),
        Err(Lost::Stopped(text)) => {
            (crate::outcome::unknown(vec![UnknownReason { place: String::new(), text }]), None)
        }
    };
    Ok((Answer { outcome, warnings }, explanation))
}

/// Runs the engine and the checker of its proof within bounds.
pub(crate) fn run(
    loaded: &Loaded,
    question: Question,
    interrupt: &AtomicBool,
    bounds: Bounds,
) -> Result<Statically, Lost> {
    let (program, models) = (Arc::clone(&loaded.program), Arc::clone(&loaded.models));
    // The facts are about all inputs, and about sequentially consistent executions.
    let mut assumptions: BTreeSet<&'static str> =
        loaded.assumptions.iter().copied().filter(|id| *id != "A-INPUT").collect();
    if loaded.has_weak_atomics() {
        assumptions.insert("A-SC");
    }
    let result = aside("the static analysis", interrupt, bounds, move || {
        accepted::analyse(&program, &models, question, assumptions)
    })?;
    result.map_err(Lost::Bug)
}

fn report(loaded: &Loaded, result: Statically, written: CertificateFile) -> Outcome {
    let mut reasons: BTreeSet<UnknownReason> = loaded.bugs.iter().cloned().collect();
    reasons.extend(result.reasons());
    let safe = result.proof.is_some() && reasons.is_empty();
    let mut proved = Vec::new();
    if safe {
        proved.push(Proved { variable: String::new(), by: "static", certificate: written });
    }
    proved.extend(result.proved());
    Outcome {
        verdict: if safe { Verdict::Safe } else { Verdict::Unknown },
        deadlocks: Deadlocks::Unknown,
        proved,
        assumptions: result.assumptions.iter().copied().map(Assumption::named).collect(),
        deadlock_assumptions: Vec::new(),
        unknown_reasons: reasons.into_iter().collect(),
        stats: Stats { statics: Some(result.counts), ..Stats::default() },
        findings: result.findings.into_iter().chain(result.deadlocks).collect(),
    }
}
