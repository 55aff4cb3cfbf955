//! How far a search has come: of runs picked by chance before it began, how many are of a class that has been explored.
//!
//! Every choice open in a state is as likely as any other, so the answer is an unbiased estimate of the probability that a random
//! schedule shows nothing that the search has not seen. It is exact for the runs picked: a run belongs to a class explored already if, on
//! the way along the present path, it can begin with something that sleeps there. Sleeping branches are explored to their end.

use super::deeds::Action;
use super::optimal::Search;
use super::run::attempt;
use super::sections::Grouping;
use super::wakeup::{may_come_first, remove_first};
use crate::random::Dice;
use raddle_machine::{Machine, Status};
use std::time::{Duration, Instant};

/// Runs picked.
const RUNS: usize = 200;

/// Steps of all of them together: with longer runs there is no estimate.
const STEPS: usize = 20_000;

/// Time that picking them may take.
const TIME: Duration = Duration::from_millis(200);

/// Between two estimates.
const PAUSE: Duration = Duration::from_millis(300);

pub(super) struct Sample {
    runs: Vec<Vec<Action>>,
    asked: Instant,
}

impl Sample {
    /// The machine stands at its start, and does so afterwards. `None` when runs take too long.
    pub(super) fn draw<M: Machine>(machine: &mut M, grouping: &Grouping) -> Option<Sample> {
        let began = Instant::now();
        let mut dice = Dice::new(0x5a3d_1e55);
        let start = machine.checkpoint();
        let (mut runs, mut left) = (Vec::new(), STEPS);
        while runs.len() < RUNS && left > 0 {
            runs.push(draw_one(machine, grouping, &mut dice, &mut left, began));
            machine.restore(&start);
        }
        machine.discard(start);
        (left > 0).then(|| Sample { runs, asked: Instant::now() })
    }
}

fn draw_one<M: Machine>(
    machine: &mut M,
    grouping: &Grouping,
    dice: &mut Dice,
    left: &mut usize,
    began: Instant,
) -> Vec<Action> {
    let mut run = Vec::new();
    let (mut enabled, mut after) = (Vec::new(), Vec::new());
    machine.enabled(&mut enabled);
    while machine.status() == Status::Running && *left > 0 {
        *left = if began.elapsed() < TIME { *left - 1 } else { 0 };
        let choice = enabled[dice.below(enabled.len() as u64) as usize];
        run.push(attempt(machine, choice, &enabled, &mut after, grouping));
        std::mem::swap(&mut enabled, &mut after);
    }
    run
}

impl<C> Search<'_, '_, '_, C> {
    /// Tells the tally how far the search has come, unless that was done just now.
    pub(super) fn estimate_now_and_then(&mut self) {
        if self.sample.as_ref().is_some_and(|sample| sample.asked.elapsed() >= PAUSE) {
            self.estimate();
        }
    }

    pub(super) fn estimate(&mut self) {
        let Some(mut sample) = self.sample.take() else { return };
        let explored = sample.runs.iter().filter(|run| self.is_explored(run)).count();
        self.tally.explored = Some((1000 * explored / sample.runs.len()) as u32);
        sample.asked = Instant::now();
        self.sample = Some(sample);
    }

    /// Whether a run of the same class was explored before the one at hand.
    fn is_explored(&mut self, run: &[Action]) -> bool {
        let mut rest = run.to_vec();
        for (node, step) in self.nodes.iter_mut().zip(&self.run.steps) {
            if node.plan().sleep.iter().any(|explored| may_come_first(explored, &rest)) {
                return true;
            }
            if !may_come_first(&step.action, &rest) {
                return false;
            }
            remove_first(&mut rest, step.action.choice);
        }
        false
    }
}
