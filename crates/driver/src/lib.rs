//! Loads a program, runs the engines within their limits, has every claim confirmed by `certify`, and merges what is left into one
//! outcome.
//!
//! Nothing an engine says is believed: a race that `certify` refuses is not reported, and the refusal is a bug of Raddle that turns
//! `safe` into `unknown`. So does a panic, a limit, or anything that was not understood. Errs towards `unknown`.

mod aside;
mod board;
mod certificate;
mod combine;
mod confirm;
mod consume;
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
mod predicted;
mod proving;
pub mod pruning;
mod reached;
mod replay;
mod request;
mod scope;
mod statics;
mod vacuous;
mod watchdog;
mod witness;

pub use certificate::{Acceptance, Searched};
pub use error::DriverError;
pub use native::{
    Around, CommandOutput, Commands, Detail, Driver, End, Explain, RecordRequest, RunRequest, USUAL_LIMIT,
    cc, record, recorded, run as run_native,
};
pub use predicted::{
    Exported, PredictRequest, Replays, Rounds, Source, Stage, Watching, commands_of, export, is_order,
    predict_std, replay_order, run as predict,
};
pub use proving::{ProveRequest, prove};
pub use raddle_config::External;
pub use raddle_explore::enumerate::Progress;
pub use raddle_explore::pdp::Property;
pub use raddle_finding::{
    CertificateFile, Deadlocks, Evidence, Explanation, Outcome, Proved, Recording, Scope, Verdict,
};
pub use raddle_frontend::{is_source, leave};
pub use raddle_ir::DataModel;
pub use raddle_native::Debugger;
pub use replay::{
    Allowance, Certified, Ground, Native, certify, certify_within, debug, replay, witness_subject,
};
pub use request::{
    Chance, Checkpoint, Control, Engines, Goal, Inputs, Mode, OWN_STDIN, OutsideValues, Search, Spurious,
    Start, Subject, Substrate,
};
pub use statics::{Line, StaticRequest, statics};

use aside::{Grace, Job, Watcher, supervised};
use board::{Board, Phase};
use combine::Proof;
use engine::Aim;
use evidence::Evident;
use guard::guarded;
use load::Loaded;
use outcome::Draft;
use raddle_event::SearchTree;
use raddle_finding::UnknownReason;
use reached::Reached;
use statics::{OpenPairs, Question};
use std::sync::Arc;
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
    let mut answer = match search.substrate {
        Substrate::Native => {
            guarded("check", || natively::run(subject, search, control)).unwrap_or_else(|bug| {
                Ok(Answer { outcome: outcome::unknown(vec![bug]), warnings: Vec::new() })
            })?
        }
        Substrate::Interpreter => within_limits(subject, search, control, began)?,
    };
    answer.outcome.stats.seconds = began.elapsed().as_secs_f64();
    Ok(answer)
}

/// The work on a thread of its own; when it is left behind at a limit, the answer is what it had found out by then.
fn within_limits(
    subject: &Subject,
    search: &Search,
    control: Control<'_>,
    began: Instant,
) -> Result<Answer, DriverError> {
    let bounds = Bounds { time: search.time, memory: search.memory, began };
    let board = Board::default();
    let (subject, search, known) = (subject.clone(), search.clone(), board.clone());
    let work = move |job: &Job| run(&subject, &search, job, bounds, &known);
    let progress = control.progress.map(|progress| progress as Watcher<'_>);
    match supervised("check", (control.interrupt, progress), bounds, Grace::Short, work) {
        Ok(Err(error)) if error.is_stop() => Ok(board.without(bounds.lost(control.interrupt))),
        Ok(answer) => answer,
        Err(lost) => Ok(board.without(lost)),
    }
}

fn run(
    subject: &Subject,
    search: &Search,
    job: &Job,
    bounds: Bounds,
    board: &Board,
) -> Result<Answer, DriverError> {
    let report = |progress: &Progress| job.report(progress);
    let control = Control { interrupt: &job.interrupt, progress: Some(&report) };
    let began = bounds.began;
    let loaded = Arc::new(load::load(subject, &job.stop)?);
    board.loaded(&loaded);
    board.enter(Phase::Analysing);
    let entries = named::find(&loaded, &loaded.entries)?;
    let resumed = kept::begin(&loaded, search)?;
    let mut warnings = loaded.warnings.clone();
    let ask = |open, bounds| {
        let question = Question { entries: entries.clone(), explain: None, open };
        let statically = Arc::new(statics::run(&loaded, question, control.interrupt, bounds));
        if search.engines == Engines::All {
            board.analysed(&statically);
        }
        statically
    };
    let statically = (search.engines == Engines::All || search.mode == Mode::Pdp).then(|| {
        // The search must have its share of the time, too.
        ask(OpenPairs::Wanted, Bounds { time: search.time.map(|time| time / 2), ..bounds })
    });
    let known = statically.as_ref().and_then(|result| result.as_ref().as_ref().ok());
    let aim = Aim { search, known, resumed };
    board.enter(Phase::Searching);
    let (mut draft, tree, reached) = explored(&loaded, aim, control, began, board, &mut warnings);
    // Before the static analysis is asked, so that its warnings are listed, or its proof decides.
    scope::demand(search.inputs, &mut draft.rest);
    let ground = match (search.engines, &statically) {
        (Engines::All, Some(statically)) => {
            combine::combine(&loaded, statically, &reached, &mut draft, &mut warnings)
        }
        (_, statically) => {
            if vacuous::is_in_question(&draft.rest) {
                let statically = statically.clone().unwrap_or_else(|| ask(OpenPairs::NotWanted, bounds));
                combine::doubt(&loaded, &statically, &reached, &mut draft);
            }
            Proof::Search
        }
    };
    scope::demand(search.inputs, &mut draft.rest);
    if let Some(folder) = &search.witness_dir {
        warnings.extend(witness::write_all(&loaded, subject, Substrate::Interpreter, folder, &mut draft));
    }
    board.settled(&draft, &warnings);
    board.enter(Phase::Certifying);
    let evidence = match ground {
        Proof::Static => known.and_then(|known| known.proof.as_ref()).map(Evident::Proof),
        Proof::Search if draft.rest.verdict == Verdict::Safe => {
            evidence::checked(&loaded, tree, control.interrupt, bounds, &mut draft)
        }
        Proof::Search => None,
    };
    evidence::write(&loaded, subject, search, evidence, &mut draft, &mut warnings)?;
    Ok(Answer { outcome: draft.into_outcome(), warnings })
}

fn explored(
    loaded: &Loaded,
    aim: Aim<'_>,
    control: Control<'_>,
    began: Instant,
    board: &Board,
    warnings: &mut Vec<String>,
) -> (Draft, Result<SearchTree, String>, Reached) {
    let none = |reason| (outcome::nothing(reason), Err(String::new()), Reached::default());
    if !loaded.has_main {
        return none(plain("there is no `main`, so nothing was run"));
    }
    let search = aim.search;
    match engine::explore(loaded, aim, control, began) {
        Ok(explored) => {
            warnings.extend(explored.warnings.iter().cloned());
            board.enter(Phase::Confirming);
            let judge = loaded.certify_subject();
            let confirmed = confirm::confirm(&judge, loaded, &explored.exploration, search.mode, board);
            let draft = outcome::merge(loaded, &explored, confirmed, search);
            (draft, explored.tree, explored.reached)
        }
        Err(reason) => none(reason),
    }
}

fn plain(text: &str) -> UnknownReason {
    UnknownReason { place: String::new(), text: text.to_owned() }
}

/// The words of every bug of our own.
fn bug(what: &str) -> UnknownReason {
    UnknownReason { place: String::new(), text: format!("{what}: this is a bug in Raddle, please report it") }
}
