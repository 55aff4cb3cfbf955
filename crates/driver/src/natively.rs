//! Exploration of the real program instead of its interpretation: searches with it as the machine, and has every claim confirmed in a
//! fresh process.
//!
//! Never says `safe`: nobody checks that the search saw every run, and library code that was not instrumented is not followed. What it
//! finds has been seen to happen in the program itself.

use crate::board::Board;
use crate::confirm::{self, Judge};
use crate::engine::{self, Explored};
use crate::guard::guarded;
use crate::load::{self, Loaded};
use crate::outcome::{self, Draft};
use crate::reached::Reached;
use crate::replay::{self, Ready};
use crate::watchdog::{Bounds, watched};
use crate::{
    Answer, Control, DriverError, Mode, OWN_STDIN, Search, Spurious, Subject, Substrate, plain, witness,
};
use raddle_base::SiteId;
use raddle_certify::{
    ConfirmedProblem, ConfirmedRace, Refusal, Witness, confirm_problem_on, confirm_race_on,
};
use raddle_event::ProblemKind;
use raddle_explore::dpor;
use raddle_explore::enumerate::{self, Exploration, Limits};
use raddle_explore::random::{Plan, Strategy, random};
use raddle_finding::UnknownReason;
use raddle_ir::{DataModel, Program};
use raddle_machine::Visibility;
use raddle_native::machine::{self, NativeMachine, Stacks};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

pub(crate) fn run(subject: &Subject, search: &Search, control: Control<'_>) -> Result<Answer, DriverError> {
    let began = Instant::now();
    let way = Way::of(search.mode).map_err(|search| DriverError::NotNative { search })?;
    let loaded = load::load(subject, &Arc::default())?;
    let mut warnings = loaded.warnings.clone();
    let mut draft = match Built::new(subject, &loaded)? {
        Err(why) => outcome::nothing(plain(&format!("the program cannot be explored natively: {why}"))),
        Ok(built) => explored(&loaded, &built.native, (search, way), control, began),
    };
    if let Some(folder) = &search.witness_dir {
        warnings.extend(witness::write_all(&loaded, subject, Substrate::Native, folder, &mut draft));
    }
    Ok(Answer { outcome: draft.into_outcome(), warnings })
}

/// What a program may have that only the interpreter knows the meaning of.
fn refused(loaded: &Loaded) -> Option<&'static str> {
    if !loaded.has_main {
        Some("there is no `main`")
    } else if loaded.program.data_model != DataModel::Lp64 {
        Some("32-bit programs are interpreted only")
    } else {
        None
    }
}

/// The program to run, and how.
pub(crate) struct Built {
    pub(crate) native: machine::Subject,
    /// Gone when dropped, if it was made for this.
    _program: Ready,
}

impl Built {
    /// The inner error: why it cannot be run natively.
    pub(crate) fn new(subject: &Subject, loaded: &Loaded) -> Result<Result<Built, String>, DriverError> {
        if let Some(why) = refused(loaded) {
            return Ok(Err(why.to_owned()));
        }
        Ok(replay::program(subject, loaded)?.map(|program| {
            let native = machine::Subject {
                program: program.path().to_owned(),
                arguments: subject.args.iter().map(OsString::from).collect(),
                stdin: subject.stdin.clone().filter(|path| path != Path::new(OWN_STDIN)),
                spurious: match subject.spurious {
                    Spurious::On => machine::Spurious::On,
                    Spurious::Off => machine::Spurious::Off,
                },
            };
            Built { native, _program: program }
        }))
    }
}

fn explored(
    loaded: &Loaded,
    native: &machine::Subject,
    (search, way): (&Search, Way),
    control: Control<'_>,
    began: Instant,
) -> Draft {
    match explore(native, (search, way), control, began) {
        Ok(mut explored) => {
            let judge = Native { program: &loaded.program, native };
            let confirmed =
                confirm::confirm(&judge, loaded, &explored.exploration, search.mode, &Board::default());
            explored.incomplete.push(plain(NOT_CERTIFIED));
            outcome::merge(loaded, &explored, confirmed, search)
        }
        Err(reason) => outcome::nothing(reason),
    }
}

const NOT_CERTIFIED: &str = "the program was explored natively, which nobody can check afterwards; `raddle check` gives answers with certificates";

fn explore(
    native: &machine::Subject,
    (search, way): (&Search, Way),
    control: Control<'_>,
    began: Instant,
) -> Result<Explored, UnknownReason> {
    guarded("explore --native", || {
        let mut machine =
            NativeMachine::start(native, Stacks::Unwanted).map_err(|error| plain(&error.to_string()))?;
        let bounds = Bounds { time: search.time, memory: search.memory, began };
        let start = Instant::now();
        watched(control.interrupt, bounds, |watch| {
            let limits = engine::limits(search, control, watch);
            let mut exploration = find(&mut machine, (search, way), &limits);
            let seconds = start.elapsed().as_secs_f64();
            if !watch.is_over() {
                engine::simplify(&mut machine, &mut exploration, watch.flag());
            }
            Ok(Explored {
                exploration,
                pruning: None,
                seconds,
                incomplete: Vec::new(),
                stopped: if watch.is_over() { watch.reason() } else { String::new() },
                tree: Err("native exploration writes down no tree".to_owned()),
                reached: Reached::default(),
                warnings: Vec::new(),
            })
        })
    })?
}

fn find(machine: &mut NativeMachine, (search, way): (&Search, Way), limits: &Limits) -> Exploration {
    let by_chance = |strategy| Plan { strategy, seed: search.chance.seed, runs: search.chance.runs };
    match way {
        Way::Optimal => dpor::optimal(machine, limits, Visibility::SyncOnly).exploration,
        Way::Dpor => dpor::baseline(machine, limits, Visibility::SyncOnly).exploration,
        Way::Enumerate => enumerate::sync(machine, limits),
        Way::Random => random(machine, limits, Visibility::SyncOnly, by_chance(Strategy::Walk)),
        Way::Pct => {
            let plan = by_chance(Strategy::Pct { depth: search.chance.depth });
            random(machine, limits, Visibility::SyncOnly, plan)
        }
    }
}

/// A search that the program itself can be the machine of.
#[derive(Clone, Copy)]
enum Way {
    Optimal,
    Dpor,
    Enumerate,
    Random,
    Pct,
}

impl Way {
    /// The error is the name of one that looks into states, or at every access of the source.
    fn of(mode: Mode) -> Result<Self, &'static str> {
        match mode {
            Mode::Optimal => Ok(Way::Optimal),
            Mode::Dpor => Ok(Way::Dpor),
            Mode::Enumerate => Ok(Way::Enumerate),
            Mode::Random => Ok(Way::Random),
            Mode::Pct => Ok(Way::Pct),
            Mode::Pdp => Err("pdp"),
            Mode::Symmetric => Err("symmetric"),
            Mode::Stateful => Err("stateful"),
            Mode::EveryAccess => Err("every-access"),
        }
    }
}

/// A replay has limits of its own.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Replays claims in fresh processes, which take down stacks.
pub(crate) struct Native<'a> {
    pub(crate) program: &'a Program,
    pub(crate) native: &'a machine::Subject,
}

impl Native<'_> {
    fn fresh(&self) -> Result<NativeMachine, Refusal> {
        NativeMachine::start(self.native, Stacks::Wanted).map_err(|error| Refusal::Start(error.to_string()))
    }
}

impl Judge for Native<'_> {
    fn race(&self, witness: &Witness, sites: (SiteId, SiteId)) -> Result<ConfirmedRace, Refusal> {
        confirm_race_on(self.program, || self.fresh(), witness, sites, &NEVER)
    }

    fn problem(
        &self,
        witness: &Witness,
        kind: ProblemKind,
        site: SiteId,
    ) -> Result<ConfirmedProblem, Refusal> {
        confirm_problem_on(self.program, || self.fresh(), witness, (kind, site), &NEVER)
    }
}
