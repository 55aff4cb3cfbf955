//! What a reduced search has counted and found so far, and when it must stop.

use super::kept::Kept;
use super::run::Run;
use super::{Covers, Reduced};
use crate::enumerate::{
    Coverage, Exploration, Gap, Goal, Ledger, Limits, Progress, RaceKey, RunCount, Taken,
};
use raddle_event::{Addr, Trace};
use raddle_machine::{Machine, Status, Visibility};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub(super) struct Tally<'a> {
    limits: &'a Limits<'a>,
    began: Instant,
    ledger: Ledger,
    counted: RunCount,
    blocked: u64,
    steps: u64,
    /// Of all searches that share the work.
    together: Arc<Together>,
    /// What of the own counts is in there.
    told: Counts,
    reports: Reports,
    pass: u32,
    gaps: BTreeSet<Gap>,
    assumptions: BTreeSet<&'static str>,
    keep_at: Option<Instant>,
    pub(super) covers: Covers,
    /// How much of the pass is done, in thousandths.
    pub(super) explored: Option<u32>,
}

/// What a search has done so far.
#[derive(Clone, Copy)]
pub(super) struct Counted {
    pub(super) runs: RunCount,
    pub(super) blocked: u64,
    pub(super) steps: u64,
}

#[derive(Default)]
struct Together {
    steps: AtomicU64,
    runs: AtomicU64,
    executions: AtomicU64,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    steps: u64,
    runs: u64,
    executions: u64,
}

/// Whether this search tells how far all have come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reports {
    Never,
    NowAndThen,
}

/// Why a pass ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PassEnd {
    Done,
    RaceFound,
    /// A race at accesses that are not visible: the order of steps no longer decides what happens.
    MoreToSee,
    /// Others look at whether this lock is held, which was not taken into account.
    LockSeen(Addr),
    /// A run tells identical threads apart.
    TwinsDiffer,
    /// Whether there is a race can only be told from all orders of the critical sections.
    LocksMatter,
    GivenUp(Gap),
    /// All is put down, to go on from there.
    Paused,
}

/// Steps between two looks at the clock.
const LOOK: u64 = 1024;

impl<'a> Tally<'a> {
    pub(super) fn new(limits: &'a Limits<'a>, visibility: Visibility) -> Self {
        Self {
            limits,
            began: Instant::now(),
            ledger: Ledger::seeing(visibility),
            counted: RunCount::default(),
            blocked: 0,
            steps: 0,
            together: Arc::new(Together::default()),
            told: Counts::default(),
            reports: Reports::NowAndThen,
            pass: 0,
            gaps: BTreeSet::new(),
            assumptions: BTreeSet::new(),
            keep_at: None,
            covers: Covers::Everything,
            explored: None,
        }
    }

    /// Goes on where an earlier search stopped, before the pass that it was in.
    pub(super) fn resumed(
        limits: &'a Limits<'a>,
        ledger: Ledger,
        pass: u32,
        counted: Counted,
        assumptions: BTreeSet<&'static str>,
    ) -> Self {
        let Counted { runs, blocked, steps } = counted;
        let mut tally = Self {
            ledger,
            pass,
            counted: runs,
            blocked,
            steps,
            assumptions,
            ..Self::new(limits, Visibility::SyncOnly)
        };
        tally.tell();
        tally
    }

    pub(super) fn kept(&self) -> Kept {
        let counted = Counted { runs: self.counted, blocked: self.blocked, steps: self.steps };
        let assumptions: BTreeSet<&'static str> =
            self.ledger.assumptions().iter().chain(&self.assumptions).copied().collect();
        Kept::new(
            self.pass,
            self.ledger.visibility(),
            counted,
            self.gaps.clone(),
            assumptions.into_iter(),
            &self.ledger,
        )
    }

    pub(super) fn add_gaps(&mut self, gaps: BTreeSet<Gap>) {
        self.gaps.extend(gaps);
    }

    /// From when on it is time to keep the search.
    pub(super) fn keep_after(&mut self, time: Option<Duration>) {
        self.keep_at = time.map(|time| Instant::now() + time);
    }

    pub(super) fn is_time_to_keep(&self) -> bool {
        self.keep_at.is_some_and(|at| Instant::now() >= at)
    }

    /// For another search of the same pass.
    pub(super) fn helper(&self) -> Tally<'a> {
        Tally {
            limits: self.limits,
            began: self.began,
            ledger: Ledger::seeing(self.ledger.visibility().clone()),
            counted: RunCount::default(),
            blocked: 0,
            steps: 0,
            together: Arc::clone(&self.together),
            told: Counts::default(),
            reports: Reports::Never,
            pass: self.pass,
            gaps: BTreeSet::new(),
            assumptions: BTreeSet::new(),
            keep_at: self.keep_at,
            covers: self.covers,
            explored: None,
        }
    }

    /// Takes over what another search of the same pass has counted and found.
    pub(super) fn add(&mut self, helper: Tally) {
        self.ledger.add(helper.ledger);
        self.counted.executions += helper.counted.executions;
        self.counted.infeasible += helper.counted.infeasible;
        self.counted.truncated += helper.counted.truncated;
        self.blocked += helper.blocked;
        self.steps += helper.steps;
        self.told.steps += helper.told.steps;
        self.told.runs += helper.told.runs;
        self.told.executions += helper.told.executions;
        self.gaps.extend(helper.gaps);
        self.assumptions.extend(helper.assumptions);
    }

    pub(super) fn visibility(&self) -> Visibility {
        self.ledger.visibility().clone()
    }

    /// Goes through passes until one ends the search. The machine stands at its start, and does so afterwards.
    pub(super) fn passes<M: Machine>(
        mut self,
        machine: &mut M,
        mut pass: impl FnMut(&mut Self, &mut M) -> PassEnd,
    ) -> Reduced {
        let start = machine.checkpoint();
        let coverage = loop {
            self.pass += 1;
            self.gaps.clear();
            self.explored = None;
            machine.set_visibility(self.ledger.start_pass());
            let end = pass(&mut self, machine);
            machine.restore(&start);
            match end {
                PassEnd::MoreToSee | PassEnd::LockSeen(_) | PassEnd::LocksMatter | PassEnd::TwinsDiffer => {}
                PassEnd::RaceFound => break Coverage::StoppedAtRace,
                PassEnd::GivenUp(gap) => {
                    self.gaps.insert(gap);
                    break Coverage::Partial;
                }
                PassEnd::Paused => unreachable!("a pause does not end a pass"),
                PassEnd::Done if self.gaps.is_empty() => break Coverage::Complete,
                PassEnd::Done => break Coverage::Partial,
            }
        };
        machine.discard(start);
        machine.set_visibility(Visibility::SyncOnly);
        self.finish(coverage)
    }

    /// Before every step.
    pub(super) fn step(&mut self, depth: usize) -> Result<(), PassEnd> {
        if self.together.steps.load(Ordering::Relaxed) + (self.steps - self.told.steps) >= self.limits.steps {
            return Err(PassEnd::GivenUp(Gap::Steps));
        }
        self.steps += 1;
        // One step can take long, so this is looked at before every one.
        if self.limits.is_interrupted() {
            return Err(PassEnd::GivenUp(Gap::Interrupted));
        }
        if self.is_time_to_look() {
            self.look(depth)?;
        }
        Ok(())
    }

    /// Why there may be no more work, whether or not a step is next.
    pub(super) fn out_of_time(&self) -> Option<Gap> {
        if self.limits.is_interrupted() {
            Some(Gap::Interrupted)
        } else {
            self.limits.time.is_some_and(|time| self.began.elapsed() >= time).then_some(Gap::Time)
        }
    }

    /// The same, as the end of a pass.
    pub(super) fn go_on(&self) -> Result<(), PassEnd> {
        self.out_of_time().map_or(Ok(()), |gap| Err(PassEnd::GivenUp(gap)))
    }

    /// Work was stopped because there was no time for it.
    pub(super) fn given_up(&self) -> PassEnd {
        PassEnd::GivenUp(self.out_of_time().unwrap_or(Gap::Interrupted))
    }

    /// Whether somebody wants to know how far the search has come.
    pub(super) fn is_watched(&self) -> bool {
        self.limits.progress.is_some()
    }

    /// Whether the clock is looked at with the step at hand.
    pub(super) fn is_time_to_look(&self) -> bool {
        self.steps.is_multiple_of(LOOK)
    }

    /// Whether the run must not go on.
    pub(super) fn is_too_long(&self, run: &mut Run) -> bool {
        self.excess(run).is_some()
    }

    fn excess(&self, run: &mut Run) -> Option<Gap> {
        if run.steps.len() as u64 >= self.limits.run_steps {
            Some(Gap::RunSteps)
        } else if run.recorder.len() > self.limits.run_events {
            Some(Gap::RunEvents)
        } else if run.is_in_loops() && run.has_race() {
            Some(Gap::PlainLoop)
        } else if self.limits.loop_rounds.is_some_and(|most| run.rounds() > most) {
            Some(Gap::LoopRounds)
        } else {
            self.limits.preemptions.filter(|most| run.preemptions() > *most).map(|_| Gap::Preemptions)
        }
    }

    /// A run has come to its end, or to its greatest length.
    pub(super) fn ended<M: Machine>(&mut self, machine: &M, run: &mut Run) -> Result<(), PassEnd> {
        let cut = match machine.status() {
            Status::Running => Some(self.excess(run).expect("the run was cut because it is too long")),
            _ => None,
        };
        self.counted.ended(machine, cut, &mut self.gaps);
        self.note(machine, run)
    }

    pub(super) fn knows(&self, race: &RaceKey) -> bool {
        self.ledger.knows(race)
    }

    /// Takes note of the races of a run that was made to show them.
    pub(super) fn shown(&mut self, trace: &Trace, path: &[Taken]) {
        self.ledger.races(trace, path);
    }

    /// A run was given up because everything that could follow is covered by others.
    pub(super) fn blocked(&mut self) {
        self.blocked += 1;
    }

    /// Takes note of what the run has met, also when it goes on.
    pub(super) fn note<M: Machine>(&mut self, machine: &M, run: &mut Run) -> Result<(), PassEnd> {
        if run.has_race() {
            self.ledger.run(machine, run.recorder.trace(), &run.path);
        } else {
            self.ledger.raceless_run(machine, &run.path);
        }
        self.assumptions.extend(run.recorder.weak_atomics);
        match self.decide() {
            // Every round of the loop would be a visible operation.
            Err(PassEnd::MoreToSee) if run.goes_round(|site| self.ledger.is_racy(site)) => {
                Err(PassEnd::GivenUp(Gap::PlainLoop))
            }
            end => end,
        }
    }

    /// Whether the pass goes on after what was found last.
    pub(super) fn decide(&self) -> Result<(), PassEnd> {
        if self.limits.goal == Goal::FirstRace && self.ledger.race_count() > 0 {
            return Err(PassEnd::RaceFound);
        }
        if self.ledger.has_outgrown_its_pass() { Err(PassEnd::MoreToSee) } else { Ok(()) }
    }

    /// Before another run.
    pub(super) fn another(&mut self) -> Result<(), PassEnd> {
        self.tell();
        if self.together.runs.load(Ordering::Relaxed) >= self.limits.executions {
            return Err(PassEnd::GivenUp(Gap::Executions));
        }
        Ok(())
    }

    /// Adds what has been counted since to what all have done.
    fn tell(&mut self) {
        let RunCount { executions, infeasible, truncated } = self.counted;
        let now = Counts { steps: self.steps, runs: executions + infeasible + truncated, executions };
        self.together.steps.fetch_add(now.steps - self.told.steps, Ordering::Relaxed);
        self.together.runs.fetch_add(now.runs - self.told.runs, Ordering::Relaxed);
        self.together.executions.fetch_add(now.executions - self.told.executions, Ordering::Relaxed);
        self.told = now;
    }

    fn look(&mut self, depth: usize) -> Result<(), PassEnd> {
        self.tell();
        if let Some(gap) = self.out_of_time() {
            return Err(PassEnd::GivenUp(gap));
        }
        if let Some(progress) = self.limits.progress
            && self.reports == Reports::NowAndThen
        {
            progress(&Progress {
                executions: self.together.executions.load(Ordering::Relaxed),
                steps: self.together.steps.load(Ordering::Relaxed),
                depth,
                races: self.ledger.race_count(),
                pass: self.pass,
                explored: self.explored,
            });
        }
        Ok(())
    }

    fn finish(self, coverage: Coverage) -> Reduced {
        let found = self.ledger.results();
        let deadlocks = found.deadlocks(coverage == Coverage::Complete && self.covers != Covers::RacesOnly);
        let (races, problems) = (found.races, found.problems);
        let exploration = Exploration {
            races,
            problems,
            coverage,
            unknown_reasons: self.gaps,
            deadlocks,
            runs: self.counted,
            steps: self.steps,
            passes: self.pass,
            explored: self.explored.filter(|_| coverage == Coverage::Partial),
            assumptions: found.assumptions.into_iter().chain(self.assumptions).collect(),
        };
        Reduced { exploration, blocked: self.blocked, covers: self.covers }
    }
}
