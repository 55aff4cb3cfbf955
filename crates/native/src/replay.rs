//! `raddle replay`: the real program under an enforced schedule, with the exact detector running along (2015 paper, 2.3).
//!
//! The run-time library does the enforcing and says how it went; here the answer is read and put into words. A race counts as
//! reproduced when the detector sees one of the same two accesses. In a program that was optimised a check may stand for another
//! access to the same variable on its line, so there such a one counts, too. Other errors count where the program made them at the
//! place that is named; where a crash cannot say its place, at the end of the schedule. Errs towards `not reproduced` and
//! `diverged`; nothing here can make a race of none.

mod debug;
pub(crate) mod words;

pub use crate::run::lines::Nth;
pub use debug::{Debugger, debug};

use crate::binary::{self, Binary};
use crate::run::lines::{Log, Replay, Status, What};
use crate::run::{End, Limits, OPTIONS, OUT, SHORT_GRACE, wait};
use crate::{NativeError, Plan};
use raddle_base::SiteId;
use raddle_event::ProblemKind;
use raddle_instrument::sites::{Site, Sites};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use words::Words;

#[derive(Clone, Debug)]
pub struct ReplayRequest {
    /// Built by `raddle cc`, or for control.
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// Nothing to read without.
    pub stdin: Option<PathBuf>,
    /// Besides that of this process.
    pub env: Vec<(String, String)>,
    /// With the numbers of sites before inlining.
    pub plan: Plan,
    pub claim: Claim,
    pub checks: Checks,
    /// Where the plan was made for the same sources, compiled in another way: its numbers of the program's sites.
    pub origins: Option<BTreeMap<u32, u32>>,
    /// For one run.
    pub time: Duration,
}

/// Which accesses the program looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checks {
    Every,
    /// One may stand for others of its line.
    Reduced,
}

/// What is to be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    Race(SiteId, SiteId),
    Problem(ProblemKind, SiteId),
}

impl Claim {
    /// Whether a problem of this kind ends the program by a signal, wherever it is.
    pub fn crashes(kind: ProblemKind) -> bool {
        matches!(
            kind,
            ProblemKind::NullDereference | ProblemKind::StackOverflow | ProblemKind::DivisionByZero
        )
    }

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

/// Runs the program once under the schedule. `None`: it was interrupted.
pub fn replay(request: &ReplayRequest, interrupt: &AtomicBool) -> Result<Option<Replayed>, NativeError> {
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
    command.envs(request.env.iter().map(|(name, value)| (name, value)));
    command.env(OUT, &findings).env(OPTIONS, format!("mode=replay,schedule={}", schedule.display()));
    let problem = |error: std::io::Error| NativeError::file(&binary.path, error);
    let mut child = command.spawn().map_err(problem)?;
    let time = (!request.time.is_zero()).then_some(request.time);
    let limits = Limits { time, grace: SHORT_GRACE, interrupt: Some(interrupt) };
    let end = wait(&mut child, None, limits).map_err(problem)?;
    if end == End::Killed(INTERRUPTED) {
        // Ctrl-C goes to everybody; the program may be quicker than we.
        std::thread::sleep(Duration::from_millis(50));
    }
    if interrupt.load(Ordering::Relaxed) {
        return Ok(None);
    }
    // Programs that it starts may write as well.
    let mut log = Log::read(&findings);
    log.lines.retain(|line| line.pid == child.id());
    Ok(Some(judge(request, &binary, &log, end)))
}

/// The schedule with what the table of sites knows: copies by inlining, and the places of the race.
fn with_places(request: &ReplayRequest, sites: &Sites) -> Plan {
    let mut plan = request.plan.clone();
    for site in sites.iter() {
        let original = original(request, &site);
        if site.id != original {
            plan.copies.insert(site.id, original);
        }
    }
    if let Claim::Race(a, b) = request.claim {
        plan.race = [a, b].map(|end| places(request, sites, end));
    }
    plan
}

const INTERRUPTED: u8 = 2;

/// No site of a schedule.
const NOWHERE: u32 = u32::MAX;

/// The number that the schedule has for a site.
fn original(request: &ReplayRequest, site: &Site<'_>) -> u32 {
    match &request.origins {
        None => site.original,
        Some(origins) => origins.get(&site.original).copied().unwrap_or(NOWHERE),
    }
}

/// The sites in the program that stand for one of the schedule.
fn places(request: &ReplayRequest, sites: &Sites, at: SiteId) -> BTreeSet<u32> {
    let own: Vec<Site<'_>> = sites.iter().filter(|site| original(request, site) == at.0).collect();
    let mut found: BTreeSet<u32> = own.iter().map(|site| site.id).collect();
    if request.checks == Checks::Reduced
        && let Some(wanted) = own.first()
    {
        let same = |site: &Site<'_>| {
            let names = [wanted.variable, site.variable];
            (site.file, site.line) == (wanted.file, wanted.line)
                && (names[0] == names[1] || names.contains(&""))
        };
        found.extend(sites.iter().filter(same).map(|site| site.id));
    }
    found
}

fn judge(request: &ReplayRequest, binary: &Binary, log: &Log, end: End) -> Replayed {
    let words = Words { sites: &binary.sites };
    let followed = log
        .lines
        .iter()
        .any(|line| matches!(&line.what, What::Replay(replay) if replay.status == Status::Followed));
    let faults = log.lines.iter().filter_map(|line| match &line.what {
        What::Fault(fault) => Some(fault),
        _ => None,
    });
    if let Claim::Problem(kind, at) = request.claim
        && faults.into_iter().any(|fault| {
            ProblemKind::named(&fault.kind) == Some(kind) && words.is_there(request, fault.site, at)
        })
    {
        return Replayed::Reproduced(Vec::new());
    }
    let last = log.lines.iter().find_map(|line| match &line.what {
        What::Replay(replay) if replay.status != Status::Followed => Some(replay),
        _ => None,
    });
    if let Some(replay) = last {
        return words.verdict(request, replay, followed);
    }
    let gap = log.lines.iter().find_map(|line| match &line.what {
        What::Gap(gap) => Some(gap),
        _ => None,
    });
    if let Some(gap) = gap {
        return Replayed::Diverged(gap.what.clone());
    }
    if let Claim::Problem(kind, _) = request.claim {
        let crashed = match kind {
            ProblemKind::NullDereference | ProblemKind::StackOverflow => {
                matches!(end, End::Killed(7 | 11))
            }
            ProblemKind::DivisionByZero => end == End::Killed(8),
            _ => false,
        };
        if crashed && followed {
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
        End::Exited(_) | End::Killed(_) | End::Dismissed | End::Unserved => Replayed::NotReproduced(match request.claim {
            Claim::Race(a, b) if [a, b].iter().any(|end| !words.has_check(request, *end)) => {
                "the program followed the schedule, but has no check of its own for one of the two accesses, since another one \
                 stands for it; replayed without a program, every access has one"
                    .to_owned()
            }
            Claim::Race(..) => {
                "the program followed the schedule, and the two accesses were ordered".to_owned()
            }
            Claim::Problem(kind, _) => {
                format!("the program followed the schedule, and no {} was seen in it", kind.name())
            }
        }),
    }
}

impl Words<'_> {
    /// Whether something happened at the place; where it happened may not be known.
    fn is_there(&self, request: &ReplayRequest, site: u32, at: SiteId) -> bool {
        let Some(site) = self.sites.get(site).filter(|site| site.id != 0) else { return true };
        let same_line = |wanted: &Site<'_>| (wanted.file, wanted.line) == (site.file, site.line);
        original(request, &site) == at.0
            || self.sites.iter().any(|wanted| original(request, &wanted) == at.0 && same_line(&wanted))
    }

    fn has_check(&self, request: &ReplayRequest, at: SiteId) -> bool {
        self.sites.iter().any(|site| original(request, &site) == at.0)
    }

    fn verdict(&self, request: &ReplayRequest, replay: &Replay, followed: bool) -> Replayed {
        let is_deadlock = matches!(request.claim, Claim::Problem(ProblemKind::Deadlock, _));
        match replay.status {
            Status::Followed | Status::Reproduced => Replayed::Reproduced(replay.accesses.clone()),
            Status::Deadlock if is_deadlock && followed => Replayed::Reproduced(Vec::new()),
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
            Status::Diverged => Replayed::Diverged(self.divergence(replay)),
        }
    }
}
