//! Mode 1: depth-first over all choices at visible operations, exact happens-before at the end of every run.
//!
//! If no run has a race, the program has none: between two visible operations a thread's plain accesses are ordered with those of
//! all others in every run that takes the same visible operations in the same order, so their values are the same too.
//!
//! That a race exists says nothing of the others: after it, values depend on the order of plain accesses. To list all races
//! ([`Goal::AllRaces`]) the racy sites become visible and the search starts again, until a pass finds no new race. Then none is
//! missing. Take any run up to the first access that races with an earlier one at sites not both known, and follow its visible
//! operations in the search. The accesses that are not visible race with nothing before that point, so they see the same values,
//! unless an invisible access that the search runs too early changes one; that access and the one that sees it are unordered,
//! both are in the trace of that run, so the pass would have found a new race.
//!
//! Operations that commute with all others ([`OpKind::is_local`](raddle_machine::OpKind::is_local)) are run at once. When such a step
//! ends the run, though (a crash in the segment behind it), it cuts off the others, so then it is branched over like any other.

use super::exploration::{Coverage, Exploration, Gap, RunCount};
use super::ledger::Ledger;
use super::limits::{Goal, Limits, Progress};
use super::recorder::Recorder;
use raddle_event::Choice;
use raddle_machine::{Machine, Status, Visibility};
use std::collections::BTreeSet;
use std::time::Instant;

/// Searches all runs of a machine that stands at its start; leaves it there, with [`Visibility::SyncOnly`].
pub fn sync<M: Machine>(machine: &mut M, limits: &Limits) -> Exploration {
    let start = machine.checkpoint();
    let mut search = Search {
        limits,
        began: Instant::now(),
        recorder: Recorder::default(),
        path: Vec::new(),
        nodes: Vec::new(),
        ledger: Ledger::default(),
        counted: RunCount::default(),
        steps: 0,
        pass: 0,
        gaps: BTreeSet::new(),
    };
    let coverage = loop {
        search.pass += 1;
        let visible = search.ledger.start_pass();
        machine.set_visibility(visible);
        let end = search.all_runs(machine);
        machine.restore(&start);
        match end {
            PassEnd::GivenUp => break Coverage::Partial,
            PassEnd::RaceFound => break Coverage::StoppedAtRace,
            PassEnd::Done if search.ledger.learned() && limits.goal == Goal::AllRaces => {}
            PassEnd::Done if search.gaps.is_empty() => break Coverage::Complete,
            PassEnd::Done => break Coverage::Partial,
        }
    };
    machine.discard(start);
    machine.set_visibility(Visibility::SyncOnly);
    search.finish(coverage)
}

struct Search<'a, C> {
    limits: &'a Limits<'a>,
    began: Instant,
    recorder: Recorder,
    path: Vec<Taken>,
    nodes: Vec<Node<C>>,
    ledger: Ledger,
    counted: RunCount,
    steps: u64,
    pass: u32,
    gaps: BTreeSet<Gap>,
}

/// A choice on the present path, and where its events start in the trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) choice: Choice,
    pub(crate) events: usize,
}

/// A state with several choices, some of them not yet taken.
struct Node<C> {
    checkpoint: C,
    choices: Vec<Choice>,
    next: usize,
    path: usize,
    events: usize,
}

enum PassEnd {
    Done,
    RaceFound,
    /// A limit ended the search.
    GivenUp,
}

/// Steps between two looks at the clock.
const LOOK: u64 = 1024;

impl<C> Search<'_, C> {
    /// One pass. What the run at hand met counts also when a limit ends the search in the middle of it.
    fn all_runs<M: Machine<Checkpoint = C>>(&mut self, machine: &mut M) -> PassEnd {
        self.path.clear();
        self.recorder.truncate(0);
        self.gaps.clear();
        let end = self.runs(machine).unwrap_or_else(|gap| {
            self.ledger.run(machine, self.recorder.trace(), &self.path);
            self.gaps.insert(gap);
            PassEnd::GivenUp
        });
        while let Some(node) = self.nodes.pop() {
            machine.discard(node.checkpoint);
        }
        end
    }

    fn runs<M: Machine<Checkpoint = C>>(&mut self, machine: &mut M) -> Result<PassEnd, Gap> {
        loop {
            self.one_run(machine)?;
            self.ledger.run(machine, self.recorder.trace(), &self.path);
            if self.limits.goal == Goal::FirstRace && self.ledger.race_count() > 0 {
                return Ok(PassEnd::RaceFound);
            }
            let Some(choice) = self.backtrack(machine) else { return Ok(PassEnd::Done) };
            let RunCount { executions, infeasible, truncated } = self.counted;
            if executions + infeasible + truncated >= self.limits.executions {
                return Err(Gap::Executions);
            }
            self.step(machine, choice)?;
        }
    }

    /// Goes on from the present state to the end of a run. An error ends the whole search.
    fn one_run<M: Machine<Checkpoint = C>>(&mut self, machine: &mut M) -> Result<(), Gap> {
        let mut choices = Vec::new();
        loop {
            if machine.status() != Status::Running {
                self.counted.ended(machine, None, &mut self.gaps);
                return Ok(());
            }
            let too_long = if self.path.len() as u64 >= self.limits.run_steps {
                Some(Gap::RunSteps)
            } else if self.recorder.len() > self.limits.run_events {
                Some(Gap::RunEvents)
            } else {
                None
            };
            if too_long.is_some() {
                self.counted.ended(machine, too_long, &mut self.gaps);
                return Ok(());
            }
            machine.enabled(&mut choices);
            if choices.len() == 1 {
                self.step(machine, choices[0])?;
                continue;
            }
            let local = choices.iter().copied().find(|choice| {
                machine.pending(choice.thread).is_some_and(|operation| operation.kind.is_local())
            });
            if let Some(choice) = local
                && self.local_step(machine, choice)?
            {
                continue;
            }
            let first = choices[0];
            self.nodes.push(Node {
                checkpoint: machine.checkpoint(),
                choices: std::mem::take(&mut choices),
                next: 1,
                path: self.path.len(),
                events: self.recorder.len(),
            });
            self.step(machine, first)?;
        }
    }

    fn step<M: Machine>(&mut self, machine: &mut M, choice: Choice) -> Result<(), Gap> {
        if self.steps >= self.limits.steps {
            return Err(Gap::Steps);
        }
        self.steps += 1;
        if self.limits.is_interrupted() {
            return Err(Gap::Interrupted);
        }
        if self.steps.is_multiple_of(LOOK) {
            self.look()?;
        }
        self.path.push(Taken { choice, events: self.recorder.len() });
        machine.step(choice, &mut self.recorder);
        Ok(())
    }

    /// Whether the step was taken; not when it would cut off the other threads.
    fn local_step<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
        choice: Choice,
    ) -> Result<bool, Gap> {
        let before = machine.checkpoint();
        let (path, events) = (self.path.len(), self.recorder.len());
        self.step(machine, choice)?;
        let cuts =
            matches!(machine.status(), Status::Crashed | Status::Unsupported { .. } | Status::Limit { .. });
        if cuts {
            machine.restore(&before);
            self.path.truncate(path);
            self.recorder.truncate(events);
        }
        machine.discard(before);
        Ok(!cuts)
    }

    /// Goes back to the latest state with a choice not yet taken.
    fn backtrack<M: Machine<Checkpoint = C>>(&mut self, machine: &mut M) -> Option<Choice> {
        let node = self.nodes.last_mut()?;
        machine.restore(&node.checkpoint);
        self.path.truncate(node.path);
        self.recorder.truncate(node.events);
        let choice = node.choices[node.next];
        node.next += 1;
        if node.next == node.choices.len() {
            let node = self.nodes.pop().expect("it is the last");
            machine.discard(node.checkpoint);
        }
        Some(choice)
    }

    fn look(&self) -> Result<(), Gap> {
        if self.limits.time.is_some_and(|time| self.began.elapsed() >= time) {
            return Err(Gap::Time);
        }
        if let Some(progress) = self.limits.progress {
            progress(&Progress {
                executions: self.counted.executions,
                steps: self.steps,
                depth: self.path.len(),
                races: self.ledger.race_count(),
                pass: self.pass,
                explored: None,
            });
        }
        Ok(())
    }

    fn finish(self, coverage: Coverage) -> Exploration {
        let found = self.ledger.results();
        let listed = found.races.is_empty() || self.limits.goal == Goal::AllRaces;
        let deadlocks = found.deadlocks(coverage == Coverage::Complete && listed);
        let (races, problems) = (found.races, found.problems);
        Exploration {
            races,
            problems,
            coverage,
            unknown_reasons: self.gaps,
            deadlocks,
            runs: self.counted,
            steps: self.steps,
            passes: self.pass,
            explored: None,
            assumptions: found.assumptions.into_iter().chain(self.recorder.weak_atomics).collect(),
        }
    }
}
