//! Races of a run that has ended, and the beginnings of runs in which they go the other way.

use super::optimal::Search;
use super::run::{Action, Precision, Step, perform};
use super::wakeup::may_come_first;
use crate::enumerate::Recorder;
use raddle_event::{Choice, ThreadId};
use raddle_machine::Machine;
use std::collections::HashMap;

/// What a step may be reversed with: a later step, or what a thread would have done next when the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Later {
    Step(usize),
    Pending(ThreadId),
}

impl<C> Search<'_, '_, C> {
    /// Plans all reversals that lead to something new. Goes from the last step to the first, because the machine has to be
    /// brought back.
    pub(super) fn reverse_races<M: Machine<Checkpoint = C>>(&mut self, machine: &mut M) {
        let threads = machine.thread_count();
        let pending: Vec<Action> = (0..threads)
            .map(ThreadId)
            .filter_map(|thread| {
                let operation = machine.pending(thread)?;
                Some(Action::pending(Choice { thread, variant: 0 }, &operation))
            })
            .collect();
        let mut reversed: HashMap<Later, Vec<usize>> = HashMap::new();
        for depth in (0..self.run.steps.len()).rev() {
            self.try_other_variants(machine, depth);
            for thread in (0..threads).map(ThreadId) {
                let Some(later) = self.race(depth, thread, &pending) else { continue };
                let known = reversed.entry(later).or_default();
                let step = &self.run.steps[depth];
                if known.iter().any(|between| step.is_before(&self.run.steps[*between])) {
                    continue;
                }
                if self.reverse(machine, depth, thread) {
                    reversed.entry(later).or_default().push(depth);
                }
            }
        }
    }

    /// What the other thread does that the step at `depth` comes before directly, and that nothing else of that thread keeps behind it.
    fn race(&self, depth: usize, thread: ThreadId, pending: &[Action]) -> Option<Later> {
        let step = &self.run.steps[depth];
        if step.thread() == thread {
            return None;
        }
        let ordered = |later: &Step| later.thread() == thread && step.is_before(later);
        if let Some(offset) = self.run.steps[depth + 1..].iter().position(ordered) {
            let at = depth + 1 + offset;
            return step.action.orders(&self.run.steps[at].action).then_some(Later::Step(at));
        }
        let next = pending.iter().find(|action| action.choice.thread == thread)?;
        if self.run.clock_of(thread).covers(step.epoch()) {
            return None;
        }
        step.action.orders(next).then_some(Later::Pending(thread))
    }

    /// Plans the other variants of the operation performed at `depth`.
    fn try_other_variants<M: Machine<Checkpoint = C>>(&mut self, machine: &mut M, depth: usize) {
        let taken = self.run.steps[depth].action.choice;
        let node = &self.nodes[depth];
        let others: Vec<Choice> =
            node.enabled.iter().copied().filter(|c| c.thread == taken.thread && *c != taken).collect();
        if others.is_empty() {
            return;
        }
        let independent = self.independent_of(depth);
        let mut missing = others.clone();
        for sequence in self.replay(machine, depth, &independent, taken.thread) {
            let choice = sequence.last().expect("it ends with the variant").choice;
            if choice != taken {
                missing.retain(|other| *other != choice);
                self.plan(machine, depth, sequence);
            }
        }
        if missing.is_empty() {
            return;
        }
        for sequence in self.replay(machine, depth, &[], taken.thread) {
            if missing.contains(&sequence[0].choice) {
                self.plan(machine, depth, sequence);
            }
        }
    }

    /// Plans runs in which the thread's next operation comes before the step at `depth`. Whether there are any.
    fn reverse<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
        depth: usize,
        thread: ThreadId,
    ) -> bool {
        let independent = self.independent_of(depth);
        let mut possible = false;
        for sequence in self.replay(machine, depth, &independent, thread) {
            if !may_come_first(&self.run.steps[depth].action, &sequence) {
                possible = true;
                self.plan(machine, depth, sequence);
            }
        }
        possible
    }

    /// The choices behind the step at `depth` that are not ordered after it.
    fn independent_of(&self, depth: usize) -> Vec<Choice> {
        let step = &self.run.steps[depth];
        let later = self.run.steps[depth + 1..].iter();
        later.filter(|later| !step.is_before(later)).map(|later| later.action.choice).collect()
    }

    /// Goes through the choices from the state at `depth` and then tries all variants that the thread has there: one sequence for
    /// each. None when the choices are not possible or the thread cannot move.
    fn replay<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
        depth: usize,
        choices: &[Choice],
        thread: ThreadId,
    ) -> Vec<Vec<Action>> {
        let Some((actions, enabled)) = self.follow(machine, depth, choices) else { return Vec::new() };
        let (mut after, mut recorder) = (Vec::new(), Recorder::default());
        let variants: Vec<Choice> =
            enabled.iter().copied().filter(|choice| choice.thread == thread).collect();
        let mut sequences = Vec::new();
        for choice in variants {
            let before = machine.checkpoint();
            let last = perform(machine, choice, &enabled, &mut after, &mut recorder, Precision::Outcome);
            machine.restore(&before);
            machine.discard(before);
            let mut sequence = actions.clone();
            sequence.push(last);
            sequences.push(sequence);
        }
        sequences
    }

    /// Goes through the choices from the state at `depth`: what they do, and what is open behind them. `None` when one is not open.
    fn follow<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
        depth: usize,
        choices: &[Choice],
    ) -> Option<(Vec<Action>, Vec<Choice>)> {
        self.reach(machine, depth);
        let mut recorder = Recorder::default();
        let mut actions = Vec::new();
        let mut enabled = self.nodes[depth].enabled.clone();
        let mut after = Vec::new();
        for choice in choices {
            if !enabled.contains(choice) {
                return None;
            }
            actions.push(perform(machine, *choice, &enabled, &mut after, &mut recorder, Precision::Outcome));
            std::mem::swap(&mut enabled, &mut after);
        }
        Some((actions, enabled))
    }

    /// Adds the sequence to what is to be explored from the state at `depth`, unless that is covered.
    fn plan<M: Machine<Checkpoint = C>>(&mut self, machine: &mut M, depth: usize, sequence: Vec<Action>) {
        let covers = |explored: &Action| may_come_first(explored, &sequence);
        if covers(&self.run.steps[depth].action) || self.nodes[depth].sleep.iter().any(covers) {
            return;
        }
        let mut tree = std::mem::take(&mut self.nodes[depth].tree);
        tree.insert(sequence, |lead, rest| self.fits(machine, depth, lead, rest));
        self.nodes[depth].tree = tree;
    }

    /// Whether the actions are possible behind these choices from the state at `depth`, in the same rounds of barriers as before.
    fn fits<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
        depth: usize,
        lead: &[Choice],
        actions: &[Action],
    ) -> bool {
        let choices: Vec<Choice> =
            lead.iter().copied().chain(actions.iter().map(|action| action.choice)).collect();
        let Some((performed, _)) = self.follow(machine, depth, &choices) else { return false };
        performed[lead.len()..]
            .iter()
            .zip(actions)
            .all(|(now, before)| now.footprint.round() == before.footprint.round())
    }
}
