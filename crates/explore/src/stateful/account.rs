//! What a search that follows paths step by step has counted and found so far, and when it must stop.

use crate::enumerate::{
    Coverage, Exploration, Gap, Goal, Ledger, Limits, Progress, Recorder, RunCount, Taken,
};
use raddle_event::{Choice, Event, Trace};
use raddle_machine::{Machine, Visibility};
use raddle_order::RacePair;
use std::collections::BTreeSet;
use std::time::Instant;

pub(crate) struct Account<'a> {
    pub(crate) limits: &'a Limits<'a>,
    began: Instant,
    ledger: Ledger,
    counted: RunCount,
    steps: u64,
    pass: u32,
    gaps: BTreeSet<Gap>,
    assumptions: BTreeSet<&'static str>,
}

/// Why a pass ended before it was through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    RaceFound,
    /// A race at accesses that are not visible: the order of steps no longer decides what happens.
    MoreToSee,
    GivenUp(Gap),
}

/// Steps between two looks at the clock.
const LOOK: u64 = 1024;

impl<'a> Account<'a> {
    pub(crate) fn new(limits: &'a Limits<'a>, visibility: Visibility) -> Self {
        Self {
            limits,
            began: Instant::now(),
            ledger: Ledger::seeing(visibility),
            counted: RunCount::default(),
            steps: 0,
            pass: 0,
            gaps: BTreeSet::new(),
            assumptions: BTreeSet::new(),
        }
    }

    /// Goes through passes, each with more accesses visible, until one ends the search. The machine stands at its start, and does so
    /// afterwards, with [`Visibility::SyncOnly`].
    pub(crate) fn passes<M: Machine>(
        mut self,
        machine: &mut M,
        mut pass: impl FnMut(&mut Self, &mut M) -> Result<(), Stop>,
    ) -> Exploration {
        let start = machine.checkpoint();
        let coverage = loop {
            self.pass += 1;
            self.gaps.clear();
            machine.set_visibility(self.ledger.start_pass());
            let end = pass(&mut self, machine);
            machine.restore(&start);
            match end {
                Err(Stop::MoreToSee) => {}
                Err(Stop::RaceFound) => break Coverage::StoppedAtRace,
                Err(Stop::GivenUp(gap)) => {
                    self.gaps.insert(gap);
                    break Coverage::Partial;
                }
                Ok(()) if self.gaps.is_empty() => break Coverage::Complete,
                Ok(()) => break Coverage::Partial,
            }
        };
        machine.discard(start);
        machine.set_visibility(Visibility::SyncOnly);
        self.finish(coverage)
    }

    /// Before every step.
    pub(crate) fn step(&mut self, depth: usize) -> Result<(), Stop> {
        if self.steps >= self.limits.steps {
            return Err(Stop::GivenUp(Gap::Steps));
        }
        if self.limits.is_interrupted() {
            return Err(Stop::GivenUp(Gap::Interrupted));
        }
        self.steps += 1;
        if self.steps.is_multiple_of(LOOK) {
            self.look(depth)?;
        }
        Ok(())
    }

    /// After every step: takes note of the races that it showed and of the problems met so far.
    pub(crate) fn stepped<M: Machine>(
        &mut self,
        machine: &M,
        races: &[(Event, Event)],
        path: &[Choice],
    ) -> Result<(), Stop> {
        if !races.is_empty() || !machine.problems().is_empty() {
            let path: Vec<Taken> = path.iter().map(|choice| Taken { choice: *choice, events: 0 }).collect();
            for (first, second) in races {
                let trace = Trace { events: vec![*first, *second] };
                self.ledger.race(&trace, RacePair { first: 0, second: 1 }, &path);
            }
            self.ledger.problems(machine, &path);
        }
        self.go_on(machine)
    }

    /// After a run whose events were recorded: takes note of what it has met.
    pub(crate) fn ran<M: Machine>(&mut self, machine: &M, trace: &Trace, path: &[Taken]) -> Result<(), Stop> {
        self.ledger.run(machine, trace, path);
        self.go_on(machine)
    }

    fn go_on<M: Machine>(&mut self, machine: &M) -> Result<(), Stop> {
        if self.limits.goal == Goal::FirstRace && self.ledger.race_count() > 0 {
            self.assume(machine.assumptions());
            return Err(Stop::RaceFound);
        }
        if self.ledger.has_outgrown_its_pass() { Err(Stop::MoreToSee) } else { Ok(()) }
    }

    /// A run has come to its end, by itself or because of `excess`.
    pub(crate) fn ended<M: Machine>(&mut self, machine: &M, excess: Option<Gap>) -> Result<(), Stop> {
        self.assume(machine.assumptions());
        self.counted.ended(machine, excess, &mut self.gaps);
        let RunCount { executions, infeasible, truncated } = self.counted;
        if executions + infeasible + truncated >= self.limits.executions {
            return Err(Stop::GivenUp(Gap::Executions));
        }
        Ok(())
    }

    /// What one execution alone has shown, at whose end the machine stands.
    pub(crate) fn only<M: Machine>(
        mut self,
        machine: &M,
        recorder: Recorder,
        path: &[Taken],
        excess: Option<Gap>,
    ) -> Exploration {
        self.gap(Gap::Sample);
        self.assume(machine.assumptions());
        self.assume(recorder.weak_atomics);
        self.counted.ended(machine, excess, &mut self.gaps);
        self.ledger.run(machine, recorder.trace(), path);
        self.finish(Coverage::Partial)
    }

    pub(crate) fn assume(&mut self, assumptions: impl IntoIterator<Item = &'static str>) {
        self.assumptions.extend(assumptions);
    }

    /// Something is left out of the search.
    pub(crate) fn gap(&mut self, gap: Gap) {
        self.gaps.insert(gap);
    }

    fn look(&self, depth: usize) -> Result<(), Stop> {
        if self.limits.time.is_some_and(|time| self.began.elapsed() >= time) {
            return Err(Stop::GivenUp(Gap::Time));
        }
        if let Some(progress) = self.limits.progress {
            progress(&Progress {
                executions: self.counted.executions,
                steps: self.steps,
                depth,
                races: self.ledger.race_count(),
                pass: self.pass,
                explored: None,
            });
        }
        Ok(())
    }

    fn finish(self, coverage: Coverage) -> Exploration {
        let found = self.ledger.results();
        let deadlocks = found.deadlocks(coverage == Coverage::Complete);
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
            assumptions: found.assumptions.into_iter().chain(self.assumptions).collect(),
        }
    }
}
