//! What a search found out: plain values.

use raddle_base::SiteId;
use raddle_event::{AccessKind, Event, EventKind, Loc, Problem, Schedule};
use raddle_finding::Deadlocks;
use raddle_machine::{Machine, Status, Visibility};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exploration {
    /// One per pair of source accesses, in order of the key.
    pub races: Vec<FoundRace>,
    /// One per kind, site and thread function, in order of discovery.
    pub problems: Vec<FoundProblem>,
    pub coverage: Coverage,
    /// Why the coverage is partial; sorted.
    pub unknown_reasons: BTreeSet<Gap>,
    pub deadlocks: Deadlocks,
    /// Over all passes.
    pub runs: RunCount,
    /// Visible operations performed, over all passes.
    pub steps: u64,
    /// How often the search went through all runs, each time with more accesses visible.
    pub passes: u32,
    /// Of a search that was stopped: the estimated probability, in thousandths, that a random schedule shows nothing which it has not seen.
    pub explored: Option<u32>,
    /// Union over all runs, sorted.
    pub assumptions: BTreeSet<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// All runs were seen.
    Complete,
    /// Ended at the first race, as asked.
    StoppedAtRace,
    /// Some runs were not seen, or not to their end.
    Partial,
}

/// Runs by the way they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCount {
    /// To the end of the program, a crash or a state in which nobody can move.
    pub executions: u64,
    /// Cut by an assumption of the program.
    pub infeasible: u64,
    /// Cut by a limit, or by something that the machine does not understand.
    pub truncated: u64,
}

/// Why a search did not see everything.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Gap {
    Unsupported {
        site: SiteId,
        reason: String,
    },
    /// A limit of the machine.
    Machine {
        reason: String,
    },
    /// A run was longer than [`Limits::run_steps`](super::Limits::run_steps).
    RunSteps,
    /// A run had more events than [`Limits::run_events`](super::Limits::run_events).
    RunEvents,
    /// A run would have had more preemptions than [`Limits::preemptions`](super::Limits::preemptions).
    Preemptions,
    /// A thread came to an operation more often than [`Limits::loop_rounds`](super::Limits::loop_rounds).
    LoopRounds,
    /// A thread did not come out of a loop without visible operations. A race is in it, and others may be.
    PlainLoop,
    /// An execution ended at an error after which the real program may go on.
    CutShort {
        site: SiteId,
        kind: String,
    },
    /// Runs were picked by chance.
    Sample,
    Steps,
    Executions,
    Time,
    Interrupted,
}

impl RunCount {
    /// Counts a run of the machine that has ended by itself, or was `cut`; the gaps get what was not seen because of that.
    pub(crate) fn ended<M: Machine>(&mut self, machine: &M, cut: Option<Gap>, gaps: &mut BTreeSet<Gap>) {
        let gap = match machine.status() {
            Status::Exited(_) | Status::Deadlock | Status::Livelock => None,
            Status::Crashed => {
                self.executions += 1;
                let last = machine.problems().last().filter(|problem| !problem.kind.ends_the_process());
                gaps.extend(
                    last.map(|last| Gap::CutShort { site: last.site, kind: last.kind.name().to_owned() }),
                );
                return;
            }
            Status::Infeasible => {
                self.infeasible += 1;
                return;
            }
            Status::Unsupported { site, reason } => Some(Gap::Unsupported { site, reason }),
            Status::Limit { reason } => Some(Gap::Machine { reason }),
            Status::Running => Some(cut.expect("a run that has not ended was cut for a reason")),
        };
        match gap {
            None => self.executions += 1,
            Some(gap) => {
                self.truncated += 1;
                gaps.insert(gap);
            }
        }
    }
}

/// A race and the schedule that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRace {
    pub key: RaceKey,
    /// In the order of the schedule's run.
    pub first: Event,
    pub second: Event,
    /// The bytes that both accesses touch, in the objects of that run.
    pub loc: Loc,
    /// From the start of the program to the operation that performs `second`. For [`every_access`](super::every_access) it leads to
    /// the state in which both accesses are next.
    pub schedule: Schedule,
    /// Choices mean something only under this visibility.
    pub visibility: Visibility,
}

/// Two source accesses, the smaller first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RaceKey {
    pub low: RaceAccess,
    pub high: RaceAccess,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RaceAccess {
    pub site: SiteId,
    /// A read-modify-write is a write.
    pub kind: AccessKind,
    pub atomicity: Atomicity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atomicity {
    Plain,
    Atomic,
}

/// A problem and the schedule of a run that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundProblem {
    /// One; for a deadlock or livelock one per stuck thread.
    pub problems: Vec<Problem>,
    /// The run to its end.
    pub schedule: Schedule,
    pub visibility: Visibility,
}

impl RaceKey {
    pub fn new(a: RaceAccess, b: RaceAccess) -> Self {
        Self { low: a.min(b), high: a.max(b) }
    }

    pub fn sites(&self) -> (SiteId, SiteId) {
        (self.low.site, self.high.site)
    }
}

impl RaceAccess {
    /// Whether two accesses to the same bytes race when nothing orders them.
    pub fn conflicts(&self, other: RaceAccess) -> bool {
        (self.kind == AccessKind::Write || other.kind == AccessKind::Write)
            && (self.atomicity == Atomicity::Plain || other.atomicity == Atomicity::Plain)
    }

    /// `None` for an event that is no access.
    pub fn of(event: &Event) -> Option<(RaceAccess, Loc)> {
        let (loc, kind, atomicity) = match event.kind {
            EventKind::Access { loc, kind } => (loc, kind, Atomicity::Plain),
            EventKind::Atomic { loc, op } => {
                let kind = if op.writes() { AccessKind::Write } else { AccessKind::Read };
                (loc, kind, Atomicity::Atomic)
            }
            _ => return None,
        };
        Some((RaceAccess { site: event.site, kind, atomicity }, loc))
    }
}

/// The bytes that are in both; they overlap.
pub(super) fn common(a: Loc, b: Loc) -> Loc {
    let start = a.offset.max(b.offset);
    let end = (a.offset + a.len).min(b.offset + b.len);
    Loc { object: a.object, offset: start, len: end - start }
}
