//! Mode 2: all interleavings with a switch before every single access. A race is a state in which two threads stand right before
//! conflicting accesses to overlapping bytes, at least one of them plain, and both may go. No happens-before anywhere.
//!
//! What an atomic read-modify-write will do is found out by doing it: a compare-exchange that fails only reads. The search is the
//! plainest recursion; it shares no code with [`sync`](super::sync), whose opponent it is. Because its question is about states,
//! states seen before may be skipped ([`StateCache::Fingerprints`]).

use super::exploration::{
    Coverage, Exploration, FoundProblem, FoundRace, Gap, RaceAccess, RaceKey, RunCount, common,
};
use super::limits::{Goal, Limits, StateCache};
use raddle_event::{AtomicOp, Choice, Event, EventKind, Loc, ProblemKind, Schedule, ThreadId};
use raddle_finding::Deadlocks;
use raddle_machine::{IgnoreEvents, Machine, OpKind, Status, TraceSink, Visibility};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Instant;

/// Searches all runs of a machine that stands at its start; leaves it there, with [`Visibility::SyncOnly`].
///
/// The recursion is as deep as a run is long: [`Limits::run_steps`] above [`LONGEST_RUN`] count as that.
pub fn every_access<M: Machine>(machine: &mut M, limits: &Limits) -> Exploration {
    machine.set_visibility(Visibility::EveryAccess);
    let mut search = Search {
        limits,
        began: Instant::now(),
        path: Vec::new(),
        seen: HashSet::new(),
        races: BTreeMap::new(),
        problems: BTreeMap::new(),
        gaps: BTreeSet::new(),
        runs: RunCount::default(),
        steps: 0,
        assumptions: BTreeSet::new(),
    };
    let stopped = search.state(machine).err();
    machine.set_visibility(Visibility::SyncOnly);
    search.finish(stopped)
}

/// Longest run that is followed to its end.
pub const LONGEST_RUN: u64 = 4_000;

struct Search<'a> {
    limits: &'a Limits<'a>,
    began: Instant,
    path: Vec<Choice>,
    seen: HashSet<u128>,
    races: BTreeMap<RaceKey, FoundRace>,
    problems: BTreeMap<Vec<(ProblemKind, raddle_base::SiteId, String)>, FoundProblem>,
    gaps: BTreeSet<Gap>,
    runs: RunCount,
    steps: u64,
    assumptions: BTreeSet<&'static str>,
}

/// Why the search ends before its time.
enum Stop {
    Race,
    Gap(Gap),
}

/// An access that a thread stands before.
struct Next {
    thread: ThreadId,
    event: Event,
    access: RaceAccess,
    loc: Loc,
}

impl Search<'_> {
    fn state<M: Machine>(&mut self, machine: &mut M) -> Result<(), Stop> {
        self.note_problems(machine);
        if machine.status() != Status::Running {
            self.end_of_run(machine);
            return Ok(());
        }
        if self.limits.cache == StateCache::Fingerprints && !self.seen.insert(machine.fingerprint()) {
            self.assumptions.extend(machine.assumptions());
            return Ok(());
        }
        if self.path.len() as u64 >= self.limits.run_steps.min(LONGEST_RUN) {
            self.gaps.insert(Gap::RunSteps);
            self.runs.truncated += 1;
            self.assumptions.extend(machine.assumptions());
            return Ok(());
        }
        let mut choices = Vec::new();
        machine.enabled(&mut choices);
        self.look_for_races(machine, &choices)?;
        for choice in choices {
            self.check_limits().map_err(Stop::Gap)?;
            let before = machine.checkpoint();
            self.path.push(choice);
            self.steps += 1;
            machine.step(choice, &mut IgnoreEvents);
            let end = self.state(machine);
            self.path.pop();
            machine.restore(&before);
            machine.discard(before);
            end?;
        }
        Ok(())
    }

    fn look_for_races<M: Machine>(&mut self, machine: &mut M, choices: &[Choice]) -> Result<(), Stop> {
        let mut next: Vec<Next> = Vec::new();
        for choice in choices.iter().filter(|choice| choice.variant == 0) {
            next.extend(next_access(machine, *choice));
        }
        for (index, a) in next.iter().enumerate() {
            for b in &next[index + 1..] {
                if a.thread == b.thread || !a.access.conflicts(b.access) || !a.loc.overlaps(b.loc) {
                    continue;
                }
                let key = RaceKey::new(a.access, b.access);
                self.races.entry(key).or_insert_with(|| FoundRace {
                    key,
                    first: a.event,
                    second: b.event,
                    loc: common(a.loc, b.loc),
                    schedule: Schedule { choices: self.path.clone() },
                    visibility: Visibility::EveryAccess,
                });
            }
        }
        if self.limits.goal == Goal::FirstRace && !self.races.is_empty() {
            self.assumptions.extend(machine.assumptions());
            return Err(Stop::Race);
        }
        Ok(())
    }

    fn end_of_run<M: Machine>(&mut self, machine: &M) {
        self.runs.ended(machine, None, &mut self.gaps);
        self.assumptions.extend(machine.assumptions());
    }

    /// At every state, not at the end of runs: a run may end in a state seen before.
    fn note_problems<M: Machine>(&mut self, machine: &M) {
        if machine.problems().is_empty() {
            return;
        }
        let stuck = matches!(machine.status(), Status::Deadlock | Status::Livelock);
        let of_stuck = |kind| matches!(kind, ProblemKind::Deadlock | ProblemKind::Livelock);
        let mut groups: Vec<Vec<_>> =
            machine.problems().iter().filter(|p| !of_stuck(p.kind)).map(|p| vec![p.clone()]).collect();
        if stuck {
            groups.push(machine.problems().iter().filter(|p| of_stuck(p.kind)).cloned().collect());
        }
        for problems in groups {
            let mut key: Vec<_> =
                problems.iter().map(|p| (p.kind, p.site, machine.thread_info(p.thread).entry)).collect();
            key.sort();
            self.problems.entry(key).or_insert_with(|| FoundProblem {
                problems,
                schedule: Schedule { choices: self.path.clone() },
                visibility: Visibility::EveryAccess,
            });
        }
    }

    fn check_limits(&self) -> Result<(), Gap> {
        if self.steps >= self.limits.steps {
            return Err(Gap::Steps);
        }
        if self.runs.executions + self.runs.infeasible + self.runs.truncated >= self.limits.executions {
            return Err(Gap::Executions);
        }
        if self.limits.is_interrupted() {
            return Err(Gap::Interrupted);
        }
        if self.steps.is_multiple_of(1024)
            && self.limits.time.is_some_and(|time| self.began.elapsed() >= time)
        {
            return Err(Gap::Time);
        }
        Ok(())
    }

    fn finish(mut self, stopped: Option<Stop>) -> Exploration {
        let coverage = match stopped {
            Some(Stop::Race) => Coverage::StoppedAtRace,
            Some(Stop::Gap(gap)) => {
                self.gaps.insert(gap);
                Coverage::Partial
            }
            None if self.gaps.is_empty() => Coverage::Complete,
            None => Coverage::Partial,
        };
        let found = self.problems.keys().flatten().any(|(kind, ..)| *kind == ProblemKind::Deadlock);
        let deadlocks = match (found, coverage) {
            (true, _) => Deadlocks::Found,
            (false, Coverage::Complete) => Deadlocks::None,
            (false, _) => Deadlocks::Unknown,
        };
        if self.limits.cache == StateCache::Fingerprints {
            self.assumptions.insert("A-HASH");
        }
        Exploration {
            races: self.races.into_values().collect(),
            problems: self.problems.into_values().collect(),
            coverage,
            unknown_reasons: self.gaps,
            deadlocks,
            runs: self.runs,
            steps: self.steps,
            passes: 1,
            explored: None,
            assumptions: self.assumptions,
        }
    }
}

/// The access that this choice would perform first.
fn next_access<M: Machine>(machine: &mut M, choice: Choice) -> Option<Next> {
    let operation = machine.pending(choice.thread)?;
    let kind = match operation.kind {
        OpKind::Access { loc, kind } => EventKind::Access { loc, kind },
        OpKind::Atomic { op: AtomicOp::Rmw(_), .. } => outcome(machine, choice)?,
        OpKind::Atomic { loc, op } => EventKind::Atomic { loc, op },
        _ => return None,
    };
    let event = Event { thread: choice.thread, site: operation.site, kind };
    let (access, loc) = RaceAccess::of(&event)?;
    Some(Next { thread: choice.thread, event, access, loc })
}

/// What the read-modify-write turns out to be: a write, or a read when it fails.
fn outcome<M: Machine>(machine: &mut M, choice: Choice) -> Option<EventKind> {
    let before = machine.checkpoint();
    let mut sink = TraceSink::default();
    machine.step(choice, &mut sink);
    machine.restore(&before);
    machine.discard(before);
    sink.trace.events.iter().map(|event| event.kind).find(|kind| matches!(kind, EventKind::Atomic { .. }))
}
