//! The recorded program under another order of its recorded events, with the exact detector running along.
//!
//! Carril and Tichy, *Interleaving Generation for Data Race and Deadlock Reproduction* (SEPS 2015), sections 2.3 and 3: a candidate is
//! confirmed by running the program in its order. Where we differ: events that the trace lacks pass without a step, and after the last
//! step the program goes on, so that one run reports all races of its execution and not only the one it is for. A deadlock is
//! reported also while other threads go on, when its threads wait for each other.
//!
//! What is reported was seen in a real run. Errs towards `not reproduced`: a program whose path depends on the clock, on input
//! from outside or on addresses may diverge from an order that exists.

mod beside;
mod plan;
mod witness;

pub use witness::Witness;

use crate::around::{Around, beside};
use crate::binary::{self, Binary};
use crate::replay::words::Words;
use crate::run::lines::{Log, Replay, Status as Said, What};
use crate::run::{End, Limits, OPTIONS, OUT, SHORT_GRACE, TRACE, describe, wait};
use crate::trace::{Program, Recorded};
use crate::{Afterwards, NativeError, Plan, record};
use raddle_base::SiteId;
use raddle_finding::{Assumption, Finding};
use raddle_instrument::sites::{Checks, Kind, Reads, Site, Sites};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A program that was recorded, to be run in other orders.
pub struct Target {
    binary: Binary,
    /// Of the program's file.
    hash: String,
}

/// What an order is for, by events of the trace that are not in the order but come next in their threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Two accesses that conflict.
    Race([usize; 2]),
    /// What each of the blocked threads waits for.
    Deadlock(Vec<usize>),
}

/// A schedule for the program, made of recorded events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnforcePlan {
    plan: Plan,
    /// The threads of a wanted deadlock and where they block, before inlining.
    blocked: BTreeMap<u32, u32>,
}

#[derive(Clone, Debug)]
pub struct EnforceRequest {
    pub arguments: Vec<String>,
    /// Nothing to read without.
    pub stdin: Option<PathBuf>,
    /// Besides that of this process.
    pub env: Vec<(String, String)>,
    pub around: Around,
    pub plan: EnforcePlan,
    pub afterwards: Afterwards,
    /// For the run; zero: without end.
    pub time: Duration,
    /// No step for so long is a divergence; 10 seconds unless given.
    pub patience: Option<Duration>,
    /// The run is recorded there.
    pub trace: Option<PathBuf>,
}

/// What one run under an order showed.
#[derive(Debug)]
pub struct Enforced {
    pub status: Status,
    /// The wanted accesses raced, or the wanted threads blocked each other.
    pub reproduced: bool,
    /// All races of the run, as `raddle run` reports them.
    pub races: Vec<Finding>,
    /// In which the run ended: one access for each of its threads.
    pub deadlock: Option<Finding>,
    pub end: End,
    pub assumptions: Vec<Assumption>,
    /// What was not seen, in words.
    pub gaps: Vec<String>,
    /// Why the client did not do its work, if so.
    pub client_failure: Option<String>,
    pub warnings: Vec<String>,
    pub seconds: f64,
}

/// How far the order was followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// To its last step.
    Followed,
    /// Only to before this step, of so many.
    Diverged { step: usize, steps: usize, why: String },
}

impl Target {
    /// The program of a trace, or another file with the same content.
    pub fn of(recorded: &Recorded, program: Option<&Path>) -> Result<Self, NativeError> {
        Self::of_program(&recorded.program, program)
    }

    /// The same, where only the program is known.
    pub fn of_program(recorded: &Program, program: Option<&Path>) -> Result<Self, NativeError> {
        let path = program.unwrap_or(&recorded.path);
        if record::hash(path)? != recorded.hash {
            return Err(NativeError::OtherProgram { path: path.to_owned() });
        }
        Ok(Self { binary: binary::open(path.as_os_str())?, hash: recorded.hash.clone() })
    }

    /// Places of events whose reads may decide what a thread does: its way, an address, what nobody records. A write there stands for a read
    /// of the same bytes. All others only pass on what they read. `None`: a library of the trace is not there any more.
    pub fn deciding(&self, recorded: &Recorded) -> Option<BTreeSet<SiteId>> {
        let mut all = BTreeSet::from([SiteId(plan::NOWHERE)]);
        let mut add = |first: u32, sites: &Sites| {
            let deciding = sites.iter().filter(|site| site.reads == Reads::Decides);
            all.extend(deciding.map(|site| SiteId(first + site.id)));
        };
        add(0, &self.binary.sites);
        for (first, path) in &recorded.libraries {
            add(*first, &binary::table(path).ok()?);
        }
        Some(all)
    }

    /// Whether all accesses of the program are in its traces; else some that were proved free of races are not, and what they read may decide.
    pub fn sees_every_access(&self) -> bool {
        self.binary.sites.checks() == Checks::All
    }

    /// Places of writes that have no event for a read of the same bytes before them, as `x++` has none.
    pub fn updating(&self) -> BTreeSet<SiteId> {
        let updates = |site: &Site<'_>| site.kind == Kind::Write && site.reads != Reads::Nothing;
        self.binary.sites.iter().filter(updates).map(|site| SiteId(site.id)).collect()
    }

    /// The schedule that has these events of the trace, in this order, and then comes to what is wanted.
    pub fn plan(&self, recorded: &Recorded, order: &[usize], wanted: &Wanted) -> Result<EnforcePlan, String> {
        plan::plan(recorded, &self.binary.sites, order, wanted)
    }

    /// Runs the program once. `None`: it was interrupted.
    pub fn enforce(
        &self,
        request: &EnforceRequest,
        interrupt: &AtomicBool,
    ) -> Result<Option<Enforced>, NativeError> {
        let folder = tempfile::Builder::new().prefix("raddle-enforce-").tempdir();
        let folder = folder.map_err(|error| NativeError::file(std::env::temp_dir(), error))?;
        let (schedule, findings) = (folder.path().join("schedule"), folder.path().join("findings"));
        let EnforceRequest { afterwards, patience, .. } = *request;
        let plan = Plan { recorded: Some(afterwards), patience, ..request.plan.plan.clone() };
        std::fs::write(&schedule, plan.to_string()).map_err(|error| NativeError::file(&schedule, error))?;
        let stdin = match &request.stdin {
            Some(path) => Stdio::from(File::open(path).map_err(|error| NativeError::file(path, error))?),
            None => Stdio::null(),
        };
        let mut command = Command::new(&self.binary.path);
        command.args(&request.arguments).stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null());
        command.envs(request.env.iter().map(|(name, value)| (name, value)));
        command.env(OUT, &findings).env(OPTIONS, format!("mode=replay,schedule={}", schedule.display()));
        match &request.trace {
            Some(trace) => {
                let path = self.binary.path.canonicalize().unwrap_or_else(|_| self.binary.path.clone());
                let program = Program {
                    path,
                    hash: self.hash.clone(),
                    arguments: request.arguments.clone(),
                    commands: request.around.commands.clone(),
                };
                command.env(TRACE, record::begin(trace, &program)?)
            }
            None => command.env_remove(TRACE),
        };
        let problem = |error: std::io::Error| NativeError::file(&self.binary.path, error);
        request.around.prepare()?;
        let began = Instant::now();
        let mut child = command.spawn().map_err(problem)?;
        let time = (!request.time.is_zero()).then_some(request.time);
        let limits = Limits { time, grace: SHORT_GRACE, interrupt: Some(interrupt) };
        let mut client = beside(&mut child, &request.around)?;
        let end = wait(&mut child, client.as_mut(), limits).map_err(problem)?;
        let client_failure = client.and_then(|client| client.failure());
        let seconds = began.elapsed().as_secs_f64();
        if interrupt.load(Ordering::Relaxed) {
            return Ok(None);
        }
        // Programs that it starts may write as well.
        let mut log = Log::read(&findings);
        log.lines.retain(|line| line.pid == child.id());
        let enforced = self.judge(&request.plan, &log, end, seconds);
        Ok(Some(Enforced { client_failure, ..enforced }))
    }

    fn judge(&self, plan: &EnforcePlan, log: &Log, end: End, seconds: f64) -> Enforced {
        let words = Words { sites: &self.binary.sites };
        let said = |status: Said| {
            log.lines.iter().find_map(|line| match &line.what {
                What::Replay(replay) if replay.status == status => Some(replay),
                _ => None,
            })
        };
        let steps = plan.plan.steps.len();
        let followed = steps == 0 || said(Said::Followed).is_some();
        let blocked = said(Said::Deadlock);
        let status = match (said(Said::Diverged), followed) {
            (Some(Replay { step, .. }), _) if *step >= steps => Status::Followed,
            (Some(replay), _) => Status::Diverged { step: replay.step, steps, why: words.divergence(replay) },
            (None, true) => Status::Followed,
            (None, false) => {
                let step = 0;
                let why = match end {
                    _ if blocked.is_some() => "all threads wait before the end of the order".to_owned(),
                    End::Stopped => "the time was over before the end of the order".to_owned(),
                    End::Dismissed | End::Unserved => {
                        "the client ended before the end of the order".to_owned()
                    }
                    End::Killed(signal) => {
                        format!("the program was killed by signal {signal} before the end of the order")
                    }
                    End::Exited(status) => {
                        format!("the program ended with status {status} before the end of the order")
                    }
                };
                Status::Diverged { step, steps, why }
            }
        };
        let mut warnings = log.warnings();
        let races = describe::findings(log, &self.binary, &mut warnings);
        let deadlock = blocked.map(|replay| describe::deadlock(log, &self.binary, &replay.threads));
        let waits = |replay: &Replay| {
            let at = |thread: u32, site: u32| {
                let site = plan::original(&self.binary.sites, SiteId(site));
                replay.threads.iter().any(|waiting| {
                    let waits = plan::original(&self.binary.sites, SiteId(waiting.site));
                    waiting.thread == thread && (site == 0 || waits == site)
                })
            };
            match plan.plan.steering {
                Some(_) => self.stand_at(replay, plan.blocked.values().copied().collect()),
                None => plan.blocked.iter().all(|(thread, site)| at(*thread, *site)),
            }
        };
        let reproduced = match plan.blocked.is_empty() {
            true => said(Said::Reproduced).is_some(),
            false => followed && blocked.is_some_and(waits),
        };
        let used = log.assumptions();
        let assumptions = Assumption::ALL.iter().filter(|one| used.contains(one.id)).copied().collect();
        let gaps = log.gaps().into_iter().collect();
        Enforced {
            status,
            reproduced,
            races,
            deadlock,
            end,
            assumptions,
            gaps,
            client_failure: None,
            warnings,
            seconds,
        }
    }

    /// Whether each of these places has a waiting thread of its own: the threads of a steered run may have other numbers.
    fn stand_at(&self, replay: &Replay, mut places: Vec<u32>) -> bool {
        for waiting in &replay.threads {
            let stands = plan::original(&self.binary.sites, SiteId(waiting.site));
            if let Some(at) = places.iter().position(|place| *place == stands) {
                places.swap_remove(at);
            }
        }
        places.iter().all(|place| *place == 0)
    }
}
