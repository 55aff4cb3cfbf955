//! `raddle replay`: the real program under an enforced schedule, with the exact detector running along (2015 paper, 2.3).
//!
//! The run-time library does the enforcing and says how it went; here the answer is read and put into words. A race counts as
//! reproduced when the detector reports one at the same two source lines: a check may stand for another access of its line. Errs
//! towards `not reproduced` and `diverged`; nothing here can make a race of none.

mod debug;

pub use crate::run::lines::Nth;
pub use debug::{Debugger, debug};

use crate::binary::{self, Binary};
use crate::run::lines::{Log, Replay, Status, Stop, Waiting, What};
use crate::run::{End, OPTIONS, OUT, wait};
use crate::{NativeError, Plan};
use raddle_base::SiteId;
use raddle_event::ProblemKind;
use raddle_instrument::sites::{Kind, Sites};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct ReplayRequest {
    /// Built by `raddle cc`, or for control.
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// Nothing to read without.
    pub stdin: Option<PathBuf>,
    /// With the numbers of sites before inlining.
    pub plan: Plan,
    pub claim: Claim,
    /// For one run.
    pub time: Duration,
}

/// What is to be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    Race(SiteId, SiteId),
    Problem(ProblemKind),
}

impl Claim {
    /// Whether a native run can show a problem of this kind: memory errors may go unnoticed, a loop without end may end.
    pub fn shows(kind: ProblemKind) -> bool {
        matches!(
            kind,
            ProblemKind::Deadlock
                | ProblemKind::AssertionFailure
                | ProblemKind::Abort
                | ProblemKind::NullDereference
                | ProblemKind::StackOverflow
                | ProblemKind::DivisionByZero
                | ProblemKind::UnlockNotHeld
                | ProblemKind::DestroyedLockUse
                | ProblemKind::DestroyLocked
                | ProblemKind::LockHeldAtExit
                | ProblemKind::InvalidJoin
                | ProblemKind::InvalidArgument
        )
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replayed {
    /// With the accesses that race, as far as they can be told apart.
    Reproduced(Vec<Nth>),
    /// The schedule was followed, but what it is for was not seen: why.
    NotReproduced(String),
    /// The program did not follow the schedule: where and why.
    Diverged(String),
}

/// Runs the program once under the schedule.
pub fn replay(request: &ReplayRequest) -> Result<Replayed, NativeError> {
    let binary = binary::open(request.program.as_os_str())?;
    let folder = tempfile::Builder::new().prefix("raddle-replay-").tempdir();
    let folder = folder.map_err(|error| NativeError::file(std::env::temp_dir(), error))?;
    let (schedule, findings) = (folder.path().join("schedule"), folder.path().join("findings"));
    let plan = with_places(request, &binary.sites);
    std::fs::write(&schedule, plan.to_string()).map_err(|error| NativeError::file(&schedule, error))?;
    let stdin = match &request.stdin {
        Some(path) => Stdio::from(File::open(path).map_err(|error| NativeError::file(path, error))?),
        None => Stdio::null(),
    };
    let mut command = Command::new(&binary.path);
    command.args(&request.arguments).stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null());
    command.env(OUT, &findings).env(OPTIONS, format!("mode=replay,schedule={}", schedule.display()));
    let problem = |error: std::io::Error| NativeError::file(&binary.path, error);
    let mut child = command.spawn().map_err(problem)?;
    let end = wait(&mut child, (!request.time.is_zero()).then_some(request.time)).map_err(problem)?;
    Ok(judge(request, &binary, &Log::read(&findings), end))
}

/// The schedule with what the table of sites knows: copies by inlining, and all places on the lines of the race.
fn with_places(request: &ReplayRequest, sites: &Sites) -> Plan {
    let mut plan = request.plan.clone();
    for site in sites.iter().filter(|site| site.id != site.original.0) {
        plan.copies.insert(site.id, site.original.0);
    }
    if let Claim::Race(a, b) = request.claim {
        plan.race = [a, b].map(|end| on_line(sites, end));
    }
    plan
}

fn on_line(sites: &Sites, at: SiteId) -> BTreeSet<u32> {
    let mut found = BTreeSet::from([at.0]);
    // Where every copy was inlined, the place itself has no entry.
    if let Some(wanted) = sites.iter().find(|site| site.original == at) {
        let same = sites.iter().filter(|site| (site.file, site.line) == (wanted.file, wanted.line));
        found.extend(same.map(|site| site.id));
    }
    found
}

fn judge(request: &ReplayRequest, binary: &Binary, log: &Log, end: End) -> Replayed {
    let words = Words { sites: &binary.sites };
    let mut followed = false;
    let faults = log.lines.iter().filter_map(|line| match &line.what {
        What::Fault(fault) => ProblemKind::named(&fault.kind),
        _ => None,
    });
    if faults.map(Claim::Problem).any(|fault| fault == request.claim) {
        return Replayed::Reproduced(Vec::new());
    }
    for line in &log.lines {
        match &line.what {
            What::Replay(Replay { status: Status::Followed, .. }) => followed = true,
            What::Replay(replay) => return words.verdict(request, replay),
            What::Gap(gap) => return Replayed::Diverged(gap.what.clone()),
            _ => {}
        }
    }
    if let Claim::Problem(kind) = request.claim {
        let crashed = match kind {
            ProblemKind::AssertionFailure | ProblemKind::Abort => end == End::Killed(6),
            ProblemKind::NullDereference | ProblemKind::StackOverflow => {
                matches!(end, End::Killed(7 | 11))
            }
            ProblemKind::DivisionByZero => end == End::Killed(8),
            _ => false,
        };
        if crashed {
            return Replayed::Reproduced(Vec::new());
        }
    }
    match end {
        End::Stopped => Replayed::Diverged(format!("it did not end within {} s", request.time.as_secs())),
        End::Killed(signal) if !followed => Replayed::Diverged(format!(
            "the program was killed by signal {signal} before the end of the schedule"
        )),
        End::Exited(status) if !followed => Replayed::Diverged(format!(
            "the program ended with status {status} before the end of the schedule"
        )),
        End::Exited(_) | End::Killed(_) => Replayed::NotReproduced(match request.claim {
            Claim::Race(..) => {
                "the program followed the schedule, and the two accesses were ordered".to_owned()
            }
            Claim::Problem(kind) => {
                format!("the program followed the schedule, and no {} was seen in it", kind.name())
            }
        }),
    }
}

/// From numbers to the programmer's places.
struct Words<'a> {
    sites: &'a Sites,
}

impl Words<'_> {
    fn verdict(&self, request: &ReplayRequest, replay: &Replay) -> Replayed {
        match replay.status {
            Status::Followed | Status::Reproduced => Replayed::Reproduced(replay.accesses.clone()),
            Status::Deadlock if request.claim == Claim::Problem(ProblemKind::Deadlock) => {
                Replayed::Reproduced(Vec::new())
            }
            Status::Deadlock => {
                let waiting: Vec<String> = replay.threads.iter().map(|thread| self.waiting(thread)).collect();
                Replayed::NotReproduced(format!("all threads wait: {}", waiting.join("; ")))
            }
            Status::Silent => Replayed::NotReproduced(
                "the program followed the schedule; after that nothing happened for too long".to_owned(),
            ),
            Status::Infeasible => {
                Replayed::NotReproduced("an assumption of the program did not hold".to_owned())
            }
            Status::Diverged => {
                let Replay { step, steps, thread, expected, arrived, why, .. } = replay;
                let expected = expected.as_ref().map(|stop| self.stop(stop)).unwrap_or_default();
                let arrived = match arrived {
                    Some(arrived) => format!("; it stands before {}", self.stop(arrived)),
                    None => String::new(),
                };
                let step = step + 1;
                Replayed::Diverged(format!("step {step} of {steps} is T{thread}: {expected}; {why}{arrived}"))
            }
        }
    }

    fn waiting(&self, waiting: &Waiting) -> String {
        let stop = Stop { kind: waiting.kind.clone(), site: waiting.site };
        format!("T{} before {}", waiting.thread, self.stop(&stop))
    }

    /// `pthread_mutex_lock of q->m at q.c:12:3 in push`
    fn stop(&self, stop: &Stop) -> String {
        let known = !matches!(stop.kind.as_str(), "begin" | "end" | "exit" | "once-end");
        let frames = if known { self.sites.frames(stop.site) } else { Vec::new() };
        let Some(site) = frames.first() else { return format!("its {}", stop.kind) };
        let what = match (site.kind, site.expression, site.source) {
            (Kind::Call, name, "") if !name.is_empty() => name.to_owned(),
            (Kind::Call, name, object) if !name.is_empty() => format!("{name} of {object}"),
            (_, "", _) => stop.kind.clone(),
            (_, expression, _) => format!("{} of {expression}", stop.kind),
        };
        format!("{what} at {}:{}:{} in {}", site.file, site.line, site.column, site.function)
    }
}
