//! `raddle prove`: what the static analysis leaves open, by thread-modular abstraction refinement (2003 paper).
//!
//! The static facts are the ground that the prover stands on, and are checked before; the proof is checked by `certify` after. A
//! counterexample counts only as a race that was replayed: it is looked for by running the program.

mod executing;
mod ground;

use crate::aside::{Grace, Job, supervised};
use crate::board::{Board, Phase};
use crate::load::{Loaded, load};
use crate::outcome::place;
use crate::statics::accepted;
use crate::watchdog::Bounds;
use crate::{Answer as DriverAnswer, DriverError, OutsideValues, Subject, plain};
use executing::Executing;
use ground::Checked;
use raddle_certify::statics::Standing;
use raddle_facts::ThreadProof;
use raddle_finding::{Assumption, CertificateFile, Deadlocks, Outcome, Proved, Stats, UnknownReason, Verdict};
use raddle_prove::ground::{Ground, OpenPair};
use raddle_prove::tar::{self, Answer, Environment};
use raddle_prove::{Asker, Stop};
use raddle_smt::{Limits, Solver};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
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

pub fn prove(subject: &Subject, request: &ProveRequest, interrupt: &AtomicBool) -> Result<DriverAnswer, DriverError> {
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
    let mut outcome = outcome(&loaded, &mut runs, job, bounds);
    if outcome.verdict == Verdict::Unknown {
        board.enter(Phase::Searching);
        let left = bounds.time.map_or(LONGEST_TRY, |time| time.saturating_sub(bounds.began.elapsed()));
        match runs.race(left * 9 / 10) {
            Some(race) => outcome = race,
            None => outcome.unknown_reasons.append(&mut runs.refused),
        }
    }
    warnings.append(&mut runs.warnings);
    Ok(DriverAnswer { outcome, warnings })
}

fn outcome(loaded: &Loaded, runs: &mut Executing<'_>, job: &Job, bounds: Bounds) -> Outcome {
    let analysed = accepted::facts(loaded);
    let (proof, mut assumptions, gaps) = match analysed {
        Ok(found) => found,
        Err(bug) => return crate::outcome::unknown(vec![bug]),
    };
    if !gaps.is_empty() {
        return crate::outcome::unknown(gaps);
    }
    let standing = match Standing::of(&loaded.program, &loaded.models, &proof) {
        Ok(standing) => standing,
        Err(refusal) => return crate::outcome::unknown(vec![crate::bug(&format!("the static facts were refused ({refusal})"))]),
    };
    let checked = Checked(standing);
    let open = checked.open();
    if !open.is_empty()
        && let Some(race) = runs.race(FIRST_TRY)
    {
        return race;
    }
    let no = |text: String| crate::outcome::unknown(vec![plain(&text)]);
    let extracted = match raddle_prove::extract::extract(&checked, &open) {
        Ok(extracted) => extracted,
        Err(not) => {
            let at = not.site.map(|site| place(&loaded.program, checked.0.origin(site))).unwrap_or_default();
            let text = format!("the prover does not cover {}", not.text);
            return crate::outcome::unknown(vec![UnknownReason { place: at, text }]);
        }
    };
    if extracted.has_weak_atomics || loaded.has_weak_atomics() {
        assumptions.insert("A-SC");
    }
    let stop = Arc::clone(&job.stop);
    let limits = Limits {
        // The other half is for running the program.
        deadline: bounds.time.map(|time| bounds.began + time / 2),
        stop: Arc::clone(&job.stop),
        ..Limits::default()
    };
    let mut asker = Asker::new(Solver::new(limits), Box::new(move || stop.load(Ordering::Relaxed)));
    let system = &extracted.system;
    let mut reasons = Vec::new();
    for environment in [Environment::Havoc, Environment::Relation] {
        let result = tar::run(system, &extracted.pairs, &mut asker, environment);
        if std::env::var_os("RADDLE_PROVE_TRACE").is_some() {
            let text = format!("{:?}", result.answer);
            eprintln!("{environment:?} {:?} {:.300}", result.counts, text);
        }
        match result.answer {
            Answer::Safe(invariants) => {
                let mut locations = Vec::new();
                for (thread, list) in invariants.iter().enumerate() {
                    for (location, invariant) in list.iter().enumerate() {
                        if !invariant.is_false() {
                            locations.push((extracted.location(thread, location), invariant.to_string()));
                        }
                    }
                }
                locations.sort();
                let mut proof = ThreadProof { statics: proof.clone(), locations };
                proof.statics.assumptions = assumptions.iter().map(|id| (*id).to_owned()).collect();
                return match certified(loaded, &proof, job, bounds) {
                    Ok(()) => safe(&proof, &assumptions),
                    Err(reason) => crate::outcome::unknown(vec![reason]),
                };
            }
            Answer::Candidate { question, .. } => {
                if let Some(race) = runs.race(TRY) {
                    return race;
                }
                reasons = vec![reason(loaded, &open[question], "the formulas do not exclude it")];
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
    if reasons.is_empty() {
        return no("nothing was tried".to_owned());
    }
    crate::outcome::unknown(reasons)
}

/// The engine's word is not enough: the checker must accept its proof.
fn certified(loaded: &Loaded, proof: &ThreadProof, job: &Job, bounds: Bounds) -> Result<(), UnknownReason> {
    let limits = Limits {
        deadline: bounds.time.map(|time| bounds.began + time),
        stop: Arc::clone(&job.stop),
        ..Limits::default()
    };
    let mut judge = raddle_smt::Checker::new(limits);
    let most = raddle_certify::proved::Limits::default();
    match raddle_certify::proved::check(&loaded.program, &loaded.models, proof, &mut judge, &most) {
        Ok(checked) => {
            if std::env::var_os("RADDLE_PROVE_TRACE").is_some() {
                eprintln!("accepted: {} {:?}", checked.queries, judge.counts());
            }
            Ok(())
        }
        Err(refusal) => Err(UnknownReason {
            place: refusal.place.map(|site| place(&loaded.program, site)).unwrap_or_default(),
            text: crate::bug(&format!("the proof was refused ({refusal})")).text,
        }),
    }
}

fn safe(proof: &ThreadProof, assumptions: &BTreeSet<&'static str>) -> Outcome {
    let _ = proof;
    Outcome {
        verdict: Verdict::Safe,
        deadlocks: Deadlocks::Unknown,
        findings: Vec::new(),
        proved: vec![Proved { variable: String::new(), by: "prove", certificate: CertificateFile::Unwritten }],
        assumptions: assumptions.iter().copied().map(Assumption::named).collect(),
        deadlock_assumptions: Vec::new(),
        unknown_reasons: Vec::new(),
        stats: Stats::default(),
    }
}

fn reason(loaded: &Loaded, pair: &OpenPair, why: &str) -> UnknownReason {
    let (a, b) = pair.origins;
    let text = format!(
        "the accesses at {} and {} may race: {why}",
        place(&loaded.program, a),
        place(&loaded.program, b)
    );
    UnknownReason { place: place(&loaded.program, a), text }
}

fn stopped(stop: &Stop) -> String {
    match stop {
        Stop::Solver(reason) => format!("the solver does not know: {reason}"),
        Stop::Predicates => "the proof needs more predicates at one place than are followed".to_owned(),
        Stop::States => "the proof needs more abstract states than are kept".to_owned(),
        Stop::Refinements => "the refinement of the proof does not end".to_owned(),
        Stop::Time => "the time is over".to_owned(),
    }
}
