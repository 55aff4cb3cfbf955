//! Loads a program, runs the engine within its limits, has every claim confirmed by `certify`, and merges what is left into one
//! outcome.
//!
//! Nothing an engine says is believed: a race that `certify` refuses is not reported, and the refusal is a bug of Raddle that turns
//! `safe` into `unknown`. So does a panic, a limit, or anything that was not understood. Errs towards `unknown`.

mod bounded;
mod confirm;
mod engine;
mod error;
mod guard;
mod load;
mod outcome;
mod replay;
mod request;
mod statics;
mod watchdog;
mod witness;

pub use error::DriverError;
pub use raddle_explore::enumerate::Progress;
pub use raddle_finding::{Deadlocks, Outcome, Verdict};
pub use raddle_ir::DataModel;
pub use replay::{replay, witness_subject};
pub use request::{Control, Goal, Mode, Search, Spurious, Subject};

pub use statics::{StaticRequest, statics};

use guard::guarded;
use raddle_finding::UnknownReason;
use std::time::Instant;

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
    let loaded = load::load(subject)?;
    let mut warnings = loaded.warnings.clone();
    let explored = match engine::explore(&loaded, search, control) {
        Ok(explored) => explored,
        Err(bug) => return Ok(Answer { outcome: outcome::unknown(vec![bug]), warnings }),
    };
    let confirmed = confirm::confirm(&loaded, &explored.exploration, search.mode);
    let mut outcome = outcome::merge(&loaded, &explored, confirmed, search);
    if let Some(folder) = &search.witness_dir {
        warnings.extend(witness::write_all(&loaded, subject, folder, &mut outcome));
    }
    let outcome = outcome.into_outcome();
    Ok(Answer { outcome, warnings })
}

/// The words of every bug of our own.
fn bug(what: &str) -> UnknownReason {
    UnknownReason { place: String::new(), text: format!("{what}: this is a bug in Raddle, please report it") }
}
