//! `raddle prove`: what the static analysis leaves open, by thread-modular abstraction refinement (2003 paper).
//!
//! The static facts are the ground that the prover stands on, and are checked before; the proof is checked by `certify` after. A
//! counterexample counts only as a race that was replayed: it is looked for by running the program.

mod executing;
mod ground;

use crate::aside::{Grace, Job, supervised};
use crate::board::{Board, Phase};
use crate::certificate::{self, Content};
use crate::load::{Loaded, load};
use crate::outcome::place;
use crate::statics::accepted;
use crate::watchdog::Bounds;
use crate::{Answer as DriverAnswer, DriverError, OutsideValues, Subject, plain};
use executing::Executing;
use ground::Checked;
use raddle_certify::statics::Standing;
use raddle_facts::{Location, ThreadProof};
use raddle_finding::{
    Assumption, CertificateFile, Deadlocks, Outcome, Proved, Stats, UnknownReason, Verdict,
};
use raddle_prove::ground::{Ground, OpenPair};
use raddle_prove::tar::{self, Answer, Environment};
use raddle_prove::{Asker, Stop};
use raddle_smt::{Limits, Solver};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What `raddle prove` is asked besides the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProveRequest {
    pub time: Option<Duration>,
    /// Bytes that the whole process may use.
    pub memory: Option<u64>,
    /// Where the proof goes, if there is one.
    pub certificate: Option<PathBuf>,
    /// `None`: witnesses are not written.
    pub witness_dir: Option<PathBuf>,
}

/// For running the program before a proof is tried, since most races are found at once; when a counterexample has just been found; and at
/// all when there is no time limit.
const FIRST_TRY: Duration = Duration::from_millis(200);
const TRY: Duration = Duration::from_millis(500);
const LONGEST_TRY: Duration = Duration::from_secs(60);

pub fn prove(
    subject: &Subject,
    request: &ProveRequest,
    interrupt: &AtomicBool,
) -> Result<DriverAnswer, DriverError> {
    let began = Instant::now();
    let bounds = Bounds { time: request.time, memory: request.memory, began };
    let board = Board::default();
    let (subject, request, known) = (subject.clone(), request.clone(), board.clone());
    let work = move |job: &Job| alone(&subject, &request, job, bounds, &known);
    let mut answer = match supervised("prove", (interrupt, None), bounds, Grace::Short, work) {
        Ok(Err(error)) if error.is_stop() => board.without(bounds.lost(interrupt)),
        Ok(result) => result?,
        Err(lost) => board.without(lost),
    };
    answer.outcome.stats.seconds = began.elapsed().as_secs_f64();
    Ok(answer)
}

fn alone(
    subject: &Subject,
    request: &ProveRequest,
    job: &Job,
    bounds: Bounds,
    board: &Board,
) -> Result<DriverAnswer, DriverError> {
    let subject = &Subject { values: OutsideValues::SmallFirst, ..subject.clone() };
    let loaded = load(subject, &job.stop)?;
    board.enter(Phase::Analysing);
    let mut warnings = loaded.warnings.clone();
    let mut runs = Executing::new(&loaded, subject, request.witness_dir.as_deref(), &job.stop, board);
    let mut found = found(&loaded, &mut runs, job, bounds);
    if found.outcome.verdict == Verdict::Unknown {
        board.enter(Phase::Searching);
        let left = bounds.time.map_or(LONGEST_TRY, |time| time.saturating_sub(bounds.began.elapsed()));
        match runs.race(left * 9 / 10) {
            Some(race) => found = race.into(),
            None => found.outcome.unknown_reasons.append(&mut runs.refused),
        }
    }
    warnings.append(&mut runs.warnings);
    write(&loaded, subject, request, &mut found, &mut warnings)?;
    Ok(DriverAnswer { outcome: found.outcome, warnings })
}

/// What was found out, and the proof if there is one.
struct Found {
    outcome: Outcome,
    proof: Option<ThreadProof>,
}

impl From<Outcome> for Found {
    fn from(outcome: Outcome) -> Found {
        Found { outcome, proof: None }
    }
}

fn unknown(reasons: Vec<UnknownReason>) -> Found {
    crate::outcome::unknown(reasons).into()
}

fn found(loaded: &Loaded, runs: &mut Executing<'_>, job: &Job, bounds: Bounds) -> Found {
    if !loaded.has_main || !loaded.entries.is_empty() {
        return unknown(vec![plain("the prover does not cover functions that clients call")]);
    }
    let (proof, mut assumptions, gaps) = match accepted::facts(loaded) {
        Ok(found) => found,
        Err(bug) => return unknown(vec![bug]),
    };
    let doubts: Vec<UnknownReason> = loaded.bugs.iter().cloned().chain(gaps).collect();
    if !doubts.is_empty() {
        return unknown(doubts);
    }
    let standing = match Standing::of(&loaded.program, &loaded.models, &proof) {
        Ok(standing) => standing,
        Err(refusal) => {
            return unknown(vec![crate::bug(&format!("the static facts were refused ({refusal})"))]);
        }
    };
    let checked = Checked(standing);
    let open = checked.open();
    if !open.is_empty()
        && let Some(race) = runs.race(FIRST_TRY)
    {
        return race.into();
    }
    let extracted = match raddle_prove::extract::extract(&checked, &open) {
        Ok(extracted) => extracted,
        Err(not) => {
            let at = not.site.map(|site| place(&loaded.program, checked.0.origin(site))).unwrap_or_default();
            let text = format!("the prover does not cover {}", not.text);
            return unknown(vec![UnknownReason { place: at, text }]);
        }
    };
    if loaded.has_weak_atomics() {
        assumptions.insert("A-SC");
    }
    // The other half is for running the program.
    let deadline = bounds.time.map(|time| bounds.began + time / 2);
    let stop = Arc::clone(&job.stop);
    let is_over =
        move || stop.load(Ordering::Relaxed) || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let limits = Limits { deadline, stop: Arc::clone(&job.stop), ..Limits::default() };
    let mut asker = Asker::new(Solver::new(limits), Box::new(is_over));
    let mut reasons = Vec::new();
    for environment in [Environment::Havoc, Environment::Relation] {
        let result = tar::run(&extracted.system, &extracted.pairs, &mut asker, environment);
        match result.answer {
            Answer::Safe(invariants) => {
                let mut locations: Vec<(Location, String)> = Vec::new();
                for (thread, list) in invariants.iter().enumerate() {
                    for (location, invariant) in list.iter().enumerate().filter(|(_, one)| !one.is_false()) {
                        locations.push((extracted.location(thread, location), invariant.to_string()));
                    }
                }
                locations.sort();
                let mut proof = ThreadProof { statics: proof, locations };
                proof.statics.assumptions = assumptions.iter().map(|id| (*id).to_owned()).collect();
                return certified(loaded, proof, &assumptions, job, bounds);
            }
            Answer::Candidate { question, .. } => {
                if let Some(race) = runs.race(TRY) {
                    return race.into();
                }
                reasons = vec![reason(loaded, &open[question], UNDECIDED)];
            }
            Answer::Stuck { question } => {
                reasons = vec![reason(loaded, &open[question], "the refinement found no further predicate")];
            }
            Answer::Stopped(stop) => {
                reasons = vec![plain(&stopped(&stop))];
                if stop == Stop::Time {
                    break;
                }
            }
        }
    }
    unknown(reasons)
}

/// The engine's word is not enough: the checker must accept its proof.
fn certified(
    loaded: &Loaded,
    proof: ThreadProof,
    assumptions: &BTreeSet<&'static str>,
    job: &Job,
    bounds: Bounds,
) -> Found {
    let limits = Limits {
        deadline: bounds.time.map(|time| bounds.began + time),
        stop: Arc::clone(&job.stop),
        ..Limits::default()
    };
    if let Err(refusal) = certificate::accepted(loaded, &proof, limits) {
        if job.stop.load(Ordering::Relaxed) || bounds.time.is_some_and(|time| bounds.began.elapsed() >= time)
        {
            return unknown(vec![plain("the time was over while the proof was checked")]);
        }
        let at = refusal.place.map(|site| place(&loaded.program, site)).unwrap_or_default();
        let text = crate::bug(&format!("the proof was refused ({refusal})")).text;
        return unknown(vec![UnknownReason { place: at, text }]);
    }
    let outcome = Outcome {
        verdict: Verdict::Safe,
        deadlocks: Deadlocks::Unknown,
        findings: Vec::new(),
        proved: vec![Proved {
            variable: String::new(),
            by: "prove",
            certificate: CertificateFile::Unwritten,
        }],
        assumptions: assumptions.iter().copied().map(Assumption::named).collect(),
        deadlock_assumptions: Vec::new(),
        unknown_reasons: Vec::new(),
        stats: Stats::default(),
    };
    Found { outcome, proof: Some(proof) }
}

/// Writes the proof to the file asked for, or beside the witnesses.
fn write(
    loaded: &Loaded,
    subject: &Subject,
    request: &ProveRequest,
    found: &mut Found,
    warnings: &mut Vec<String>,
) -> Result<(), DriverError> {
    let Some(proof) = &found.proof else {
        if let Some(path) = &request.certificate {
            warnings.push(format!("there is no proof that could be written to {}", path.display()));
        }
        return Ok(());
    };
    let content = Content::Threads(proof);
    let written = match (&request.certificate, &request.witness_dir) {
        (Some(path), _) => {
            certificate::write(path, loaded, subject, content)?;
            Ok(path.to_string_lossy().into_owned())
        }
        (None, Some(folder)) => certificate::write_beside(loaded, subject, folder, content),
        (None, None) => return Ok(()),
    };
    match written {
        Ok(file) => {
            let proved = found.outcome.proved.iter_mut();
            proved.for_each(|proved| proved.certificate = CertificateFile::Written(file.clone()));
        }
        Err(warning) => warnings.push(warning),
    }
    Ok(())
}

fn reason(loaded: &Loaded, pair: &OpenPair, why: &str) -> UnknownReason {
    let (a, b) = (place(&loaded.program, pair.origins.0), place(&loaded.program, pair.origins.1));
    let which = if a == b { "two of these accesses".to_owned() } else { format!("this access and {b}") };
    UnknownReason { place: a, text: format!("not proved that {which} exclude each other: {why}") }
}

/// Of a counterexample that neither formulas nor runs decide.
const UNDECIDED: &str = "a counterexample was neither refuted, by what is known of shared variables, nor reproduced by running the program";

fn stopped(stop: &Stop) -> String {
    match stop {
        Stop::Solver(reason) => format!("the solver does not know: {reason}"),
        Stop::Predicates => "the proof needs more predicates at one place than are followed".to_owned(),
        Stop::States => "the proof needs more abstract states than are kept".to_owned(),
        Stop::Refinements => "the refinement of the proof does not end".to_owned(),
        Stop::Time => "the time is over".to_owned(),
    }
}
