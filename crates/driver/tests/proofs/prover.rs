//! The prover alone, without running the program for a counterexample: what it says must be right by itself.

use crate::ground::Checked;
use raddle_certify::proved;
use raddle_certify::statics::Standing;
use raddle_facts::{StaticProof, ThreadProof};
use raddle_ir::{Program, program_hash};
use raddle_libmodel::Models;
use raddle_lockset::{Options, analyse};
use raddle_prove::ground::Ground;
use raddle_prove::tar::{self, Answer, Environment};
use raddle_prove::{Asker, Stop};
use raddle_smt::{Checker, Limits, Solver};
use std::time::{Duration, Instant};

#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// Accepted by the checker.
    Proved(Box<ThreadProof>),
    /// By the prover; why the checker does not accept it.
    Refused(String),
    /// And why.
    Unknown(String),
}

pub struct Attempt {
    pub said: Said,
    /// Pairs that the static rules leave open.
    pub open: usize,
}

/// The time is that of the processor, for the refinement.
pub fn attempt(program: &Program, models: &Models, time: Duration) -> Attempt {
    let nothing = |why| Attempt { said: Said::Unknown(why), open: usize::MAX };
    let statics = match facts(program, models) {
        Ok(statics) => statics,
        Err(gap) => return nothing(gap),
    };
    let standing = match Standing::of(program, models, &statics) {
        Ok(standing) => standing,
        Err(refusal) => return nothing(format!("static facts: {refusal}")),
    };
    let checked = Checked(standing);
    let pairs = checked.open();
    let said = match refined(&checked, &pairs, time) {
        Ok(locations) => {
            let proof = ThreadProof { statics: statics.clone(), locations };
            match check(program, models, &proof, time) {
                Ok(()) => Said::Proved(Box::new(proof)),
                Err(refusal) => Said::Refused(refusal),
            }
        }
        Err(why) => Said::Unknown(why),
    };
    Attempt { said, open: pairs.len() }
}

/// What the static analysis knows, or what it does not understand.
pub fn facts(program: &Program, models: &Models) -> Result<StaticProof, String> {
    let analysis = analyse(program, models, &Options::default()).expect("its own recipe");
    match analysis.gaps.first() {
        Some(gap) => Err(gap.text.clone()),
        None => Ok(StaticProof {
            program: format!("{:032x}", program_hash(program)),
            data_model: program.data_model.name().to_owned(),
            entries: Vec::new(),
            assumptions: analysis.assumptions.iter().copied().chain(["A-SC"]).map(str::to_owned).collect(),
            recipe: analysis.recipe,
            facts: analysis.facts,
        }),
    }
}

type Locations = Vec<(raddle_facts::Location, String)>;

fn refined(
    ground: &Checked<'_>,
    open: &[raddle_prove::ground::OpenPair],
    time: Duration,
) -> Result<Locations, String> {
    let extracted = raddle_prove::extract::extract(ground, open).map_err(|not| not.text.to_owned())?;
    let until = processor_time() + time;
    let mut asker = Asker::new(Solver::new(limits(time)), Box::new(move || processor_time() >= until));
    let mut why = String::new();
    for environment in [Environment::Havoc, Environment::Relation] {
        match tar::run(&extracted.system, &extracted.pairs, &mut asker, environment).answer {
            Answer::Safe(invariants) => {
                let mut locations = Vec::new();
                for (thread, list) in invariants.iter().enumerate() {
                    for (location, invariant) in list.iter().enumerate().filter(|(_, one)| !one.is_false()) {
                        locations.push((extracted.location(thread, location), invariant.to_string()));
                    }
                }
                locations.sort();
                return Ok(locations);
            }
            Answer::Candidate { .. } => why = format!("{environment:?}: a candidate"),
            Answer::Stuck { .. } => why = format!("{environment:?}: stuck"),
            Answer::Stopped(Stop::Time) => return Err("time".to_owned()),
            Answer::Stopped(stop) => why = format!("{environment:?}: {stop:?}"),
        }
    }
    Err(why)
}

pub fn check(program: &Program, models: &Models, proof: &ThreadProof, time: Duration) -> Result<(), String> {
    let mut judge = Checker::new(limits(time));
    proved::check(program, models, proof, &mut judge, &proved::Limits::default())
        .map(drop)
        .map_err(|refusal| refusal.to_string())
}

/// Of the wall clock so much more than of the processor, which others use, too.
const MORE: u32 = 20;

fn limits(time: Duration) -> Limits {
    Limits { deadline: Some(Instant::now() + time * MORE), resources: 3_000_000, ..Limits::default() }
}

/// That this thread has used: other work on the machine decides nothing.
pub fn processor_time() -> Duration {
    let used = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = used.and_then(|used| used.split(' ').next()?.parse().ok());
    Duration::from_nanos(nanoseconds.expect("Linux counts it"))
}
