//! Loads a program, runs the engines within their limits, has every claim confirmed by `certify`, and merges what is left into one
//! outcome.
//!
//! Nothing an engine says is believed: a race that `certify` refuses is not reported, and the refusal is a bug of Raddle that turns
//! `safe` into `unknown`. So does a panic, a limit, or anything that was not understood. Errs towards `unknown`.

mod aside;
mod certificate;
mod combine;
mod confirm;
mod engine;
mod error;
mod evidence;
mod guard;
mod input;
mod kept;
mod load;
mod named;
mod native;
mod natively;
mod outcome;
pub mod pruning;
mod replay;
mod request;
mod statics;
mod watchdog;
mod witness;

pub use certificate::{Acceptance, Searched};
pub use error::DriverError;
pub use native::{
    Detail, Driver, End, Explain, RecordRequest, RunRequest, USUAL_LIMIT, cc, record, recorded,
    run as run_native,
};
pub use raddle_config::External;
pub use raddle_explore::enumerate::Progress;
pub use raddle_explore::pdp::Property;
pub use raddle_finding::{
    CertificateFile, Deadlocks, Evidence, Explanation, Outcome, Proved, Recording, Verdict,
};
pub use raddle_ir::DataModel;
pub use raddle_native::Debugger;
pub use replay::{Certified, Ground, Native, certify, debug, replay, witness_subject};
pub use request::{
    Chance, Checkpoint, Control, Engines, Goal, Mode, OWN_STDIN, Search, Spurious, Start, Subject, Substrate,
};
pub use statics::{Line, StaticRequest, statics};

use engine::Aim;
use evidence::Evident;
use guard::guarded;
use load::Loaded;
use outcome::Draft;
use raddle_event::SearchTree;
use raddle_finding::UnknownReason;
use statics::{OpenPairs, Question};
use std::time::Instant;
use watchdog::Bounds;

/// The outcome, and what is worth saying besides (clang's warnings, a witness that could not be written).
#[derive(Clone, Debug)]
pub struct Answer {
    pub outcome: Outcome,
    pub warnings: Vec<String>,
}

/// The main job: one verdict about a program.
pub fn check(subject: &Subject, search: &Search, control: Control<'_>) -> Result<Answer, DriverError> {
    let began = Instant::now();
    let mut answer = guarded("check", || run(subject, search, control))
        .unwrap_or_else(|bug| Ok(Answer { outcome: outcome::unknown(vec![bug]), warnings: Vec::new() }))?;
    answer.outcome.stats.seconds = began.elapsed().as_secs_f64();
    Ok(answer)
}

fn run(subject: &Subject, search: &Search, control: Control<'_>) -> Result<Answer, DriverError> {
    if search.substrate == Substrate::Native {
        return natively::run(subject, search, control);
    }
    let began = Instant::now();
    let loaded = load::load(subject)?;
    let entries = named::find(&loaded, &loaded.entries)?;
    let resumed = kept::begin(&loaded, search)?;
    let mut warnings = loaded.warnings.clone();
    let statically = if search.engines == Engines::All || search.mode == Mode::Pdp {
        // The search must have its share of the time, too.
        let bounds = Bounds { time: search.time.map(|time| time / 2), memory: search.memory, began };
        let question = Question { entries, explain: None, open: OpenPairs::Wanted };
        Some(statics::run(&loaded, question, control.interrupt, bounds))
    } else {
        None
    };
    let known = statically.as_ref().and_then(|result| result.as_ref().ok());
    let aim = Aim { search, known, resumed };
    let (mut draft, tree) = explored(&loaded, aim, control, began, &mut warnings);
    let statically = statically.filter(|_| search.engines == Engines::All);
    let proof = match statically {
        Some(statically) => combine::combine(&loaded, statically, &mut draft, &mut warnings),
        None => None,
    };
    if let Some(folder) = &search.witness_dir {
        warnings.extend(witness::write_all(&loaded, subject, Substrate::Interpreter, folder, &mut draft));
    }
    let evidence = match proof {
        Some(proof) => Some(Evident::Proof(Box::new(proof))),
        None if draft.rest.verdict == Verdict::Safe => {
            let bounds = Bounds { time: search.time, memory: search.memory, began };
            evidence::checked(&loaded, tree, control.interrupt, bounds, &mut draft)
        }
        None => None,
    };
    evidence::write(&loaded, subject, search, evidence, &mut draft, &mut warnings)?;
    Ok(Answer { outcome: draft.into_outcome(), warnings })
}

fn explored(
    loaded: &Loaded,
    aim: Aim<'_>,
    control: Control<'_>,
    began: Instant,
    warnings: &mut Vec<String>,
) -> (Draft, Result<SearchTree, String>) {
    let none = Err(String::new());
    if !loaded.has_main {
        return (outcome::nothing(plain("there is no `main`, so nothing was run")), none);
    }
    let search = aim.search;
    match engine::explore(loaded, aim, control, began) {
        Ok(explored) => {
            warnings.extend(explored.warnings.iter().cloned());
            let confirmed =
                confirm::confirm(&loaded.certify_subject(), loaded, &explored.exploration, search.mode);
            (outcome::merge(loaded, &explored, confirmed, search), explored.tree)
        }
        Err(reason) => (outcome::nothing(reason), none),
    }
}

fn plain(text: &str) -> UnknownReason {
    UnknownReason { place: String::new(), text: text.to_owned() }
}

/// The words of every bug of our own.
fn bug(what: &str) -> UnknownReason {
    UnknownReason { place: String::new(), text: format!("{what}: this is a bug in Raddle, please report it") }
}
