//! The schedule on the program itself: built for it, unless the inputs are a program that `raddle cc` built.

use super::steps::{self, Walk};
use super::{Native, Prepared, Tally};
use crate::load::Loaded;
use crate::native::own_locks;
use crate::outcome::Shown;
use crate::witness::{self, Record};
use crate::{DataModel, DriverError, OWN_STDIN, Subject};
use raddle_base::SiteId;
use raddle_config::Config;
use raddle_event::ProblemKind;
use raddle_finding::AccessReport;
use raddle_ir::{Callee, Code, Inst};
use raddle_libmodel::memory::{Atomicity, Base, Touch};
use raddle_libmodel::{Effect, Meaning};
use raddle_native::cc::{Controlled, Does, Mode, OwnLock, build_controlled};
use raddle_native::{Checks, Claim, Debugger, Plan, ReplayRequest, Replayed, StepKind, debug, replay};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How often the program did what the witness says. `Err`: why it cannot be run natively.
pub(super) fn tally(
    prepared: &Prepared,
    record: &Record,
    shown: &Shown,
    native: &Native,
    interrupt: &AtomicBool,
) -> Result<Result<Tally, String>, DriverError> {
    let (_program, request, uncontrolled) = match request(prepared, record, shown, native)? {
        Ok(ready) => ready,
        Err(why) => return Ok(Err(why)),
    };
    let mut tally = Tally { reproduced: 0, runs: 0, first_other: None, interrupted: false };
    while tally.runs < native.times {
        let Some(replayed) = replay(&request, interrupt)? else {
            tally.interrupted = true;
            break;
        };
        tally.runs += 1;
        match replayed {
            Replayed::Reproduced(_) => tally.reproduced += 1,
            other => {
                tally.first_other.get_or_insert_with(|| words(other));
            }
        }
    }
    Ok(match uncontrolled {
        Some(why) if tally.reproduced < tally.runs => {
            Err(format!("{why} ({} of {} runs reproduced it)", tally.reproduced, tally.runs))
        }
        _ => Ok(tally),
    })
}

/// Runs the program once to see it, then in a debugger, whose exit status is the result. `Err`: why not.
pub(super) fn debugged(
    prepared: &Prepared,
    record: &Record,
    shown: &Shown,
    debugger: Debugger,
) -> Result<Result<u8, String>, DriverError> {
    let (_program, request, uncontrolled) = match request(prepared, record, shown, &Native::default())? {
        Ok(ready) => ready,
        Err(why) => return Ok(Err(why)),
    };
    match replay(&request, &AtomicBool::new(false))? {
        Some(Replayed::Reproduced(ends)) => Ok(Ok(debug(&request, &ends, debugger)?)),
        Some(other) => Ok(Err(uncontrolled.map_or_else(|| words(other), str::to_owned))),
        None => Ok(Err("interrupted".to_owned())),
    }
}

fn words(replayed: Replayed) -> String {
    match replayed {
        Replayed::Reproduced(_) => "reproduced natively".to_owned(),
        Replayed::NotReproduced(why) => format!("not reproduced natively: {why}"),
        Replayed::Diverged(why) => format!("diverged natively: {why}"),
    }
}

type Requested = (Ready, ReplayRequest, Option<&'static str>);

/// The program, how it is to be run, and what of the schedule is left to it; or why it cannot be run.
fn request(
    prepared: &Prepared,
    record: &Record,
    shown: &Shown,
    native: &Native,
) -> Result<Result<Requested, String>, DriverError> {
    let Prepared { loaded, subject, built, origins } = prepared;
    if loaded.program.data_model == DataModel::Ilp32 {
        return Ok(Err("32-bit programs are interpreted only".to_owned()));
    }
    if let witness::Claim::Problem(kind, _) = record.claim
        && !Claim::shows(kind)
    {
        return Ok(Err(format!("a native run does not show {}", kind.name())));
    }
    if let witness::Claim::Problem(ProblemKind::InvalidJoin, _) = record.claim
        && shown.finding.detail.contains("no such thread")
    {
        // It may be one of a library that was not instrumented.
        return Ok(Err("a native run does not show a join of a handle that no thread has".to_owned()));
    }
    if let witness::Claim::Problem(ProblemKind::NullDereference, site) = record.claim
        && let Some(Code::Inst(Inst::Call { callee: Callee::Direct(callee), .. })) =
            loaded.program.code_at(site)
        && steps::is_operation(&loaded.models.meanings[*callee])
    {
        // The model of the object stands for the C library's, which would crash.
        return Ok(Err("a native run does not show an operation on an object at a null pointer".to_owned()));
    }
    if let witness::Claim::Race(a, b) = shown.claim {
        let ends = [a, b].into_iter().zip(&shown.finding.accesses);
        if let Some(why) =
            ends.filter_map(|(site, access)| unseen(loaded, site, access, &shown.finding.variable)).next()
        {
            return Ok(Err(why));
        }
    }
    let walk = match built {
        Some(built) => steps::native_plan(loaded, &built.native, &record.witness),
        None => steps::plan(loaded, &record.witness),
    };
    let Walk { mut plan, uncontrolled } = match walk {
        Ok(walk) => walk,
        Err(why) => return Ok(Err(why.to_owned())),
    };
    if let witness::Claim::Problem(kind, _) = record.claim
        && Claim::crashes(kind)
    {
        // The crash is a step of the interpreter's, not of the program's.
        plan.steps.pop_if(|step| step.kind == StepKind::Exit);
    }
    let program = match program(subject, loaded)? {
        Ok(program) => program,
        Err(why) => return Ok(Err(why)),
    };
    let plan = Plan { patience: Some(native.patience), ..plan };
    let claim = match record.claim {
        witness::Claim::Race(a, b) => Claim::Race(a, b),
        witness::Claim::Problem(kind, site) => Claim::Problem(kind, site),
    };
    let stdin = subject.stdin.clone().filter(|path| path != Path::new(OWN_STDIN));
    let arguments = subject.args.clone();
    let checks = match &program {
        Ready::Given(_) => Checks::Reduced,
        Ready::Made(_) => Checks::Every,
    };
    let request = ReplayRequest {
        program: program.path().to_owned(),
        arguments,
        stdin,
        env: subject.env.clone(),
        plan,
        claim,
        checks,
        origins: origins.clone(),
        time: native.time,
    };
    Ok(Ok((program, request, uncontrolled)))
}

/// Why a native run does not show this end of a race: it is an operation on a lock, condition, semaphore or the like, and the runtime does
/// not look for writes to the object itself; or the C library makes it, in a function that the runtime does not look into.
fn unseen(loaded: &Loaded, site: SiteId, access: &AccessReport, variable: &str) -> Option<String> {
    let program = &loaded.program;
    let Some(Code::Inst(Inst::Call { callee: Callee::Direct(callee), .. })) = program.code_at(site) else {
        return None;
    };
    let Meaning::Effect(effect, _) = &loaded.models.meanings[*callee] else { return None };
    let operates = |touch: &Touch| match touch.atomicity {
        Atomicity::Operation => access.atomic,
        Atomicity::Life => !access.atomic,
        Atomicity::Plain | Atomicity::Atomic => false,
    };
    if effect.memory().touches.iter().any(operates) {
        let why = "a native run does not show a race with an operation on a synchronisation object";
        return Some(why.to_owned());
    }
    let name = program.text(program.functions[*callee].name);
    // `stdout` and the like.
    let of_library = |touch: &Touch| matches!(touch.region.base, Base::Variable(name) if name == variable);
    let inside = || effect.memory().touches.iter().any(of_library);
    (matches!(effect, Effect::Libc(_)) && (inside() || !raddle_native::shows_memory_of(name)))
        .then(|| format!("a native run does not show what {name} reads and writes in the C library"))
}

/// A program that was there, or one that was made.
pub(crate) enum Ready {
    Given(PathBuf),
    Made(Controlled),
}

impl Ready {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Ready::Given(path) => path,
            Ready::Made(program) => program.path(),
        }
    }
}

/// The program to run, or why there is none.
pub(crate) fn program(subject: &Subject, loaded: &Loaded) -> Result<Result<Ready, String>, DriverError> {
    let sections = sections(loaded);
    if let [input] = &subject.inputs[..]
        && raddle_native::is_program(input)
    {
        if !sections.is_empty() {
            let why = "the program itself does not know that functions are atomic by their name (__VERIFIER_atomic_*)";
            return Ok(Err(why.to_owned()));
        }
        let path = std::path::absolute(input).unwrap_or_else(|_| input.clone());
        return Ok(Ok(Ready::Given(path)));
    }
    let config = loaded.config.as_ref().and_then(|path| Config::load(path).ok()).unwrap_or_default();
    let own_locks: Vec<OwnLock> = config.locks.iter().flat_map(own_locks).chain(sections).collect();
    let request = raddle_frontend::Request {
        inputs: subject.inputs.clone(),
        cflags: subject.cflags.clone(),
        data_model: subject.data_model,
        target: subject.target.clone(),
        ..raddle_frontend::Request::default()
    };
    Ok(match build_controlled(&request, &own_locks)? {
        Ok(program) => Ok(Ready::Made(program)),
        Err(message) => {
            let first = message.lines().find(|line| line.contains("undefined") || line.contains("error"));
            Err(format!("the program cannot be linked: {}", first.unwrap_or(&message).trim()))
        }
    })
}

/// Functions that are atomic by their name.
fn sections(loaded: &Loaded) -> Vec<OwnLock> {
    let program = &loaded.program;
    let atomic = loaded.models.meanings.iter().filter(|(_, meaning)| **meaning == Meaning::AtomicBody);
    let names = atomic.map(|(function, _)| program.text(program.functions[function].name).to_owned());
    names
        .map(|function| OwnLock { function, argument: 0, mode: Mode::Exclusive, does: Does::Section })
        .collect()
}

/// A run that goes on for longer has gone astray.
pub(super) const TIME: Duration = Duration::from_secs(60);
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
