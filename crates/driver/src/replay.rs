//! `raddle replay` and `raddle certify`: a file back to what it shows.

mod natively;
mod same_source;
mod steps;
#[cfg(test)]
mod tests;

pub(crate) use natively::{Ready, program};

use crate::aside::{Grace, Job, Lost, supervised};
use crate::confirm::{Judge, problem_finding, race_finding};
use crate::guard::guarded;
use crate::load::{Loaded, load};
use crate::natively::{self as natively_explored, Built};
use crate::outcome::{Shown, unknown};
use crate::watchdog::Bounds;
use crate::witness::{Claim, Record};
use crate::{Acceptance, Answer, DriverError, Subject, Substrate, certificate};
use raddle_certify::Refusal;
use raddle_event::ProblemKind;
use raddle_finding::{
    Assumption, Deadlocks, Finding, FindingKind, Natively, Outcome, Stats, UnknownReason, Verdict,
};
use raddle_machine::Visibility;
use raddle_native::Debugger;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Where a schedule is replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ground {
    /// On the interpreter, and then by the program itself.
    Native(Native),
    Interpreter,
}

/// How the program itself is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Native {
    pub times: u32,
    /// For one run.
    pub time: Duration,
    /// No progress for so long is a divergence.
    pub patience: Duration,
}

impl Default for Native {
    fn default() -> Self {
        Self { times: 1, time: natively::TIME, patience: natively::PATIENCE }
    }
}

/// How often the program did it.
struct Tally {
    reproduced: u32,
    runs: u32,
    /// What the first run did that did not.
    first_other: Option<String>,
    /// By the user, before all runs were done.
    interrupted: bool,
}

/// Builds the recorded program again, replays the schedule and reports what it shows. `inputs` replace the recorded ones.
pub fn replay(
    path: &Path,
    inputs: &[PathBuf],
    ground: &Ground,
    interrupt: &AtomicBool,
) -> Result<Answer, DriverError> {
    let began = Instant::now();
    let record = read(path)?;
    let subject = subject_of(path, &record, inputs)?;
    let never = Arc::default();
    let mut answer = guarded("replay", || run(path, &record, subject, ground, (interrupt, &never)))
        .unwrap_or_else(|bug| Ok(Answer { outcome: unknown(vec![bug]), warnings: Vec::new() }))?;
    answer.outcome.stats.seconds = began.elapsed().as_secs_f64();
    Ok(answer)
}

/// Starts the debugger on the program under the recorded schedule; its exit status.
pub fn debug(path: &Path, inputs: &[PathBuf], debugger: Debugger) -> Result<u8, DriverError> {
    let record = read(path)?;
    let subject = subject_of(path, &record, inputs)?;
    let prepared = prepare(path, &record, subject, &Arc::default())?;
    let natively = match shown(&prepared.loaded, prepared.built.as_ref(), &record) {
        Ok(shown) => natively::debugged(&prepared, &record, &shown, debugger)?,
        Err(refusal) => Err(format!("not reproduced: {refusal}")),
    };
    let why = match natively {
        Ok(status) => return Ok(status),
        Err(why) => why,
    };
    Err(DriverError::NotDebugged { path: path.to_owned(), why })
}

/// The program that a witness file was recorded for.
pub fn witness_subject(path: &Path) -> Result<Subject, DriverError> {
    read(path).map(|record| record.subject)
}

/// What a witness or a certificate is worth.
#[derive(Clone, Debug)]
pub enum Certified {
    Witness(Box<Answer>),
    Certificate(Acceptance),
}

/// What a check of a file may use; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    pub time: Option<Duration>,
    /// Bytes that the whole process may use.
    pub memory: Option<u64>,
}

/// Checks a witness or certificate file without limits; see [`certify_within`].
pub fn certify(path: &Path, inputs: &[PathBuf]) -> Result<Certified, DriverError> {
    certify_within(path, inputs, Allowance::default(), &AtomicBool::new(false))
}

/// Checks a witness or certificate file, independently of the engine that wrote it. `inputs` replace the recorded ones.
pub fn certify_within(
    path: &Path,
    inputs: &[PathBuf],
    allowance: Allowance,
    interrupt: &AtomicBool,
) -> Result<Certified, DriverError> {
    let Allowance { time, memory } = allowance;
    let bounds = Bounds { time, memory, began: Instant::now() };
    let text = text(path)?;
    let is_certificate = certificate::is_certificate(&text);
    let (file, files) = (path.to_owned(), inputs.to_vec());
    let work = move |job: &Job| match is_certificate {
        true => certificate::judge(&file, &text, &files, &job.stop).map(Certified::Certificate),
        false => witnessed(&file, &files, job),
    };
    let lost = match supervised("certify", (interrupt, None), bounds, Grace::Short, work) {
        Ok(Err(error)) if error.is_stop() => bounds.lost(interrupt),
        Ok(result) => return result,
        Err(lost) => lost,
    };
    let reason = match lost {
        Lost::Stopped(text) => UnknownReason { place: String::new(), text },
        Lost::Bug(bug) => bug,
    };
    Ok(match is_certificate {
        true => Certified::Certificate(Acceptance::Refused { reason: reason.text }),
        false => {
            let outcome = unknown(vec![reason]);
            Certified::Witness(Box::new(Answer { outcome, warnings: Vec::new() }))
        }
    })
}

fn witnessed(path: &Path, inputs: &[PathBuf], job: &Job) -> Result<Certified, DriverError> {
    let record = read(path)?;
    let subject = subject_of(path, &record, inputs)?;
    let answer = run(path, &record, subject, &Ground::Interpreter, (&job.interrupt, &job.stop))?;
    Ok(Certified::Witness(Box::new(answer)))
}

fn subject_of(path: &Path, record: &Record, inputs: &[PathBuf]) -> Result<Subject, DriverError> {
    let mut subject = record.subject.clone();
    if !inputs.is_empty() {
        subject.inputs = inputs.to_vec();
    } else if let Some(input) = subject.inputs.iter().find(|input| !input.exists()) {
        return Err(DriverError::MissingInput { path: path.to_owned(), input: input.clone() });
    }
    Ok(subject)
}

fn read(path: &Path) -> Result<Record, DriverError> {
    let broken = |message: String| DriverError::BrokenWitness { path: path.to_owned(), message };
    Record::parse(&text(path)?).map_err(broken)
}

fn text(path: &Path) -> Result<String, DriverError> {
    let bytes = std::fs::read(path).map_err(|source| DriverError::Read { path: path.to_owned(), source })?;
    String::from_utf8(bytes).map_err(|_| DriverError::BrokenWitness {
        path: path.to_owned(),
        message: "it is not text".to_owned(),
    })
}

/// The program, if it is the one that the witness is for.
fn checked(
    path: &Path,
    record: &Record,
    subject: &Subject,
    stop: &Arc<AtomicBool>,
) -> Result<Loaded, DriverError> {
    let loaded = load(subject, stop)?;
    if loaded.hash() != record.program {
        return Err(DriverError::OtherProgram {
            path: path.to_owned(),
            recorded: record.program,
            present: loaded.hash(),
        });
    }
    if let Visibility::Sites(sites) = &record.witness.visibility
        && sites.iter().any(|site| loaded.program.sites.get(*site).is_none())
    {
        let message = "it names places that the program does not have".to_owned();
        return Err(DriverError::BrokenWitness { path: path.to_owned(), message });
    }
    if let (Some(recorded), Some(present), Some(stdin)) =
        (record.stdin_digest, loaded.stdin_digest, &subject.stdin)
        && recorded != present
    {
        return Err(DriverError::OtherStdin { path: stdin.clone(), recorded, present });
    }
    Ok(loaded)
}

/// What the witness is for.
struct Prepared {
    loaded: Loaded,
    subject: Subject,
    /// The program itself, for a schedule of native exploration.
    built: Option<Built>,
    /// The subject is a program of the same sources, compiled in another way: its sites by their numbers in what was loaded.
    origins: Option<BTreeMap<u32, u32>>,
}

fn prepare(
    path: &Path,
    record: &Record,
    subject: Subject,
    stop: &Arc<AtomicBool>,
) -> Result<Prepared, DriverError> {
    let (loaded, origins) = match checked(path, record, &subject, stop) {
        Ok(loaded) => (loaded, None),
        Err(error) => match of_same_source(path, record, &subject, &error, stop) {
            Some((loaded, origins)) => (loaded, Some(origins)),
            None => return Err(error),
        },
    };
    let built = match record.substrate {
        Substrate::Interpreter => None,
        Substrate::Native => {
            // Choices are those of the program that was explored; another one may have other checks.
            let own = origins.is_some()
                || subject.inputs != record.subject.inputs
                    && checked(path, record, &record.subject, stop).is_ok();
            Built::new(if own { &record.subject } else { &subject }, &loaded)?.ok()
        }
    };
    Ok(Prepared { loaded, subject, built, origins })
}

/// A program that `raddle cc` made of the sources of the witness, optimised and with the user's flags, is not the same program, but
/// does the same.
fn of_same_source(
    path: &Path,
    record: &Record,
    subject: &Subject,
    error: &DriverError,
    stop: &Arc<AtomicBool>,
) -> Option<(Loaded, BTreeMap<u32, u32>)> {
    let [input] = &subject.inputs[..] else { return None };
    if !matches!(error, DriverError::OtherProgram { .. }) || !raddle_native::is_program(input) {
        return None;
    }
    let own = checked(path, record, &record.subject, stop).ok()?;
    let given = load(subject, stop).ok()?;
    let origins = same_source::origins(&own.program, &given.program, record.claim)?;
    Some((own, origins))
}

fn run(
    path: &Path,
    record: &Record,
    subject: Subject,
    ground: &Ground,
    (interrupt, stop): (&AtomicBool, &Arc<AtomicBool>),
) -> Result<Answer, DriverError> {
    let prepared = prepare(path, record, subject, stop)?;
    let Prepared { loaded, built, .. } = &prepared;
    let mut warnings = loaded.warnings.clone();
    let outcome = match shown(loaded, built.as_ref(), record) {
        Ok(mut shown) => {
            shown.finding.id = "f1".to_owned();
            shown.finding.rank = 1;
            shown.set_file(path.to_string_lossy().into_owned());
            let tally = match ground {
                Ground::Native(native) => natively::tally(&prepared, record, &shown, native, interrupt)?,
                Ground::Interpreter => Err(String::new()),
            };
            match tally {
                Ok(Tally { reproduced: 0, first_other, .. }) => {
                    let text = first_other.unwrap_or_else(|| "interrupted".to_owned());
                    unknown(vec![UnknownReason { place: String::new(), text }])
                }
                Ok(tally) => {
                    shown.set_natively(Natively { reproduced: tally.reproduced, runs: tally.runs });
                    warnings.extend(tally.first_other);
                    warnings
                        .extend(tally.interrupted.then(|| format!("interrupted after {} runs", tally.runs)));
                    reproduced(shown.finding, loaded)
                }
                Err(why) => {
                    if !why.is_empty() {
                        warnings.push(format!("replayed by the interpreter only: {why}"));
                    }
                    reproduced(shown.finding, loaded)
                }
            }
        }
        Err(refusal) => {
            unknown(vec![UnknownReason { place: String::new(), text: format!("not reproduced: {refusal}") }])
        }
    };
    Ok(Answer { outcome, warnings })
}

fn shown(loaded: &Loaded, built: Option<&Built>, record: &Record) -> Result<Shown, Refusal> {
    let interpreter = loaded.certify_subject();
    let native =
        built.map(|built| natively_explored::Native { program: &loaded.program, native: &built.native });
    let judge: &dyn Judge = match &native {
        Some(native) => native,
        None => &interpreter,
    };
    match record.claim {
        Claim::Race(a, b) => judge.race(&record.witness, (a, b)).map(race_finding),
        Claim::Problem(kind, site) => {
            judge.problem(&record.witness, kind, site).map(|problem| problem_finding(problem, site))
        }
    }
}

/// One replayed run tells of one finding; of the rest of the program it tells nothing.
fn reproduced(finding: Finding, loaded: &Loaded) -> Outcome {
    let verdict = match finding.kind {
        FindingKind::DataRace => Verdict::Race,
        FindingKind::Problem(_) => Verdict::Unknown,
    };
    let deadlocks = match finding.kind {
        FindingKind::Problem(ProblemKind::Deadlock) => Deadlocks::Found,
        _ => Deadlocks::Unknown,
    };
    let mut assumptions: BTreeSet<&'static str> = finding.assumptions.iter().copied().collect();
    assumptions.extend(&loaded.assumptions);
    let reasons = match verdict {
        Verdict::Race => Vec::new(),
        _ => vec![UnknownReason { place: String::new(), text: "a replay looks at one run only".to_owned() }],
    };
    Outcome {
        verdict,
        deadlocks,
        findings: vec![finding],
        proved: Vec::new(),
        assumptions: assumptions.into_iter().map(Assumption::named).collect(),
        deadlock_assumptions: Vec::new(),
        unknown_reasons: reasons,
        stats: Stats { executions: 1, ..Stats::default() },
    }
}
