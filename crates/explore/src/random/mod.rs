//! Runs by chance: a random walk, and PCT. What they find is real; what they do not find says nothing, so they never end as complete.
//!
//! *Walk*: every open choice is as likely as any other. *PCT*: Burckhardt, Kothari, Musuvathi and Nagarakatte, *A Randomized Scheduler with
//! Probabilistic Guarantees of Finding Bugs* (ASPLOS 2010). Threads get random priorities, the highest that can move moves, and at d - 1
//! random steps the one that would move falls below all others. A run of n threads and k steps then shows a bug that d ordering
//! constraints are enough for with probability at least 1 / (n k^(d - 1)). Here k is the length of the longest run so far, and steps
//! are visible operations, so a race needs few constraints: both accesses need only be unordered in the run. Variants of an operation, which
//! PCT does not know, are picked evenly.
//!
//! After a race, its accesses are visible in the runs that follow, as in the other searches. The same seed gives the same runs.

mod dice;
mod strategy;

use crate::bounds::{preempts, rounds};
use crate::enumerate::{Exploration, Gap, Limits, Recorder, Taken};
use crate::stateful::{Account, Stop};
pub(crate) use dice::Dice;
use raddle_base::SiteId;
use raddle_event::ThreadId;
use raddle_machine::{Machine, Status, Visibility};
use strategy::Chooser;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    pub strategy: Strategy,
    pub seed: u64,
    pub runs: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    Walk,
    /// With so many ordering constraints in mind, at least 1.
    Pct {
        depth: u32,
    },
}

/// Makes runs of a machine that stands at its start; leaves it there, with [`Visibility::SyncOnly`].
pub fn random<M: Machine>(
    machine: &mut M,
    limits: &Limits,
    visibility: Visibility,
    plan: Plan,
) -> Exploration {
    let mut seeds = Dice::new(plan.seed);
    let (mut done, mut longest) = (0, 1);
    Account::new(limits, visibility).passes(machine, |account, machine| {
        account.gap(Gap::Sample);
        let start = machine.checkpoint();
        let mut end = Ok(());
        while end.is_ok() && done < plan.runs {
            done += 1;
            let mut run = Run::new(Chooser::new(plan.strategy, seeds.roll(), longest));
            end = run.go(machine, account);
            longest = longest.max(run.path.len() as u64);
            machine.restore(&start);
        }
        machine.discard(start);
        end
    })
}

struct Run {
    chooser: Chooser,
    path: Vec<Taken>,
    /// Thread and place of each step.
    places: Vec<(ThreadId, SiteId)>,
    recorder: Recorder,
    preemptions: u32,
}

impl Run {
    fn new(chooser: Chooser) -> Self {
        Self { chooser, path: Vec::new(), places: Vec::new(), recorder: Recorder::default(), preemptions: 0 }
    }

    fn go<M: Machine>(&mut self, machine: &mut M, account: &mut Account) -> Result<(), Stop> {
        let excess = self.go_to_the_end(machine, account);
        let counted = match &excess {
            Ok(excess) => account.ended(machine, excess.clone()),
            Err(stop) => Err(stop.clone()),
        };
        account.assume(self.recorder.weak_atomics);
        account.ran(machine, self.recorder.trace(), &self.path)?;
        counted
    }

    /// Why the run was cut, if it was.
    fn go_to_the_end<M: Machine>(
        &mut self,
        machine: &mut M,
        account: &mut Account,
    ) -> Result<Option<Gap>, Stop> {
        let mut choices = Vec::new();
        while machine.status() == Status::Running {
            if let Some(gap) = self.excess(account.limits) {
                return Ok(Some(gap));
            }
            account.step(self.path.len())?;
            machine.enabled(&mut choices);
            let last = self.places.last().map(|(thread, _)| *thread);
            let enabled = choices.clone();
            if account.limits.preemptions.is_some_and(|most| self.preemptions >= most) {
                choices.retain(|choice| !preempts(last, &enabled, choice.thread));
            }
            let choice = self.chooser.choose(self.path.len() as u64, &choices);
            self.preemptions += u32::from(preempts(last, &enabled, choice.thread));
            let site = machine.pending(choice.thread).map_or(SiteId::NONE, |operation| operation.site);
            self.places.push((choice.thread, site));
            self.path.push(Taken { choice, events: self.recorder.len() });
            machine.step(choice, &mut self.recorder);
        }
        Ok(None)
    }

    fn excess(&self, limits: &Limits) -> Option<Gap> {
        if self.path.len() as u64 >= limits.run_steps {
            Some(Gap::RunSteps)
        } else if self.recorder.len() > limits.run_events {
            Some(Gap::RunEvents)
        } else {
            limits
                .loop_rounds
                .filter(|most| rounds(self.places.iter().copied()) > *most)
                .map(|_| Gap::LoopRounds)
        }
    }
}
