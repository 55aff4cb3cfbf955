//! The readable search: backtrack points found while going, sleep sets, and operations alone. What a step turned out to do is not
//! looked at, except that a step which ends the run depends on everything.
//!
//! Flanagan and Godefroid's algorithm (Fig. 2 of the 2008 paper) takes the latest dependent step that may be co-enabled, and adds any
//! thread that is on the way to the reversed operation. With sleep sets that loses runs: the thread added may sleep, and then
//! nobody finds out what else is dependent on it (`tests/classes.rs` has the programs). So here, as in Algorithm 1 of Source
//! Sets, every step in a direct race is reversed, and the thread added is one that can go first.
//!
//! Whether a step may be co-enabled with a blocking operation is decided in the plain cases only; when that is open, the steps before
//! it are reversed too. Threads that are blocked or asleep are looked at like enabled ones, also at the end of a run. A thread in the backtrack
//! set is explored in all its variants, and falls asleep when all have been.

use super::Reduced;
use super::deeds::Action;
use super::run::{Precision, Run, Step};
use super::sections::Grouping;
use super::tally::{PassEnd, Tally};
use crate::bounds::fairest;
use crate::dependence::{Footprint, dependent};
use crate::enumerate::Limits;
use raddle_event::{Choice, ThreadId};
use raddle_machine::{LockHow, Machine, OpKind, Status, Visibility};
use std::collections::BTreeSet;

pub(super) fn search<M: Machine>(machine: &mut M, limits: &Limits, visibility: Visibility) -> Reduced {
    Tally::new(limits, visibility).passes(machine, |tally, machine| {
        let mut search = Search { tally, run: Run::default(), nodes: Vec::new() };
        let end = search.runs(machine).err().unwrap_or(PassEnd::Done);
        while let Some(node) = search.nodes.pop() {
            machine.discard(node.checkpoint);
        }
        end
    })
}

struct Search<'s, 'a, C> {
    tally: &'s mut Tally<'a>,
    run: Run,
    /// One per step of the run: the state before it.
    nodes: Vec<Node<C>>,
}

struct Node<C> {
    checkpoint: C,
    enabled: Vec<Choice>,
    /// The thread that moves now, with the variants that it has still to take.
    mover: ThreadId,
    variants: Vec<u32>,
    backtrack: BTreeSet<ThreadId>,
    done: BTreeSet<ThreadId>,
    /// What the mover's variants have done so far, taken together.
    moved: Option<Action>,
    sleep: Vec<Action>,
}

impl<C> Search<'_, '_, C> {
    fn runs<M: Machine<Checkpoint = C>>(&mut self, machine: &mut M) -> Result<(), PassEnd> {
        let mut sleep = Vec::new();
        loop {
            self.one_run(machine, sleep)?;
            let Some(after) = self.backtrack(machine)? else { return Ok(()) };
            sleep = after;
            self.tally.another()?;
        }
    }

    /// Goes on from the present state to the end of a run.
    fn one_run<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
        mut sleep: Vec<Action>,
    ) -> Result<(), PassEnd> {
        let mut enabled = Vec::new();
        machine.enabled(&mut enabled);
        loop {
            self.look_back(machine);
            if machine.status() != Status::Running || self.tally.is_too_long(&mut self.run) {
                return self.tally.ended(machine, &mut self.run);
            }
            let awake = |choice: &&Choice| sleep.iter().all(|asleep| asleep.choice.thread != choice.thread);
            // The plain outcome first: spurious wake-ups and timeouts make longer runs.
            let plain = enabled.iter().filter(|choice| choice.variant == 0).filter(awake).copied();
            let plain = fairest(machine, plain, self.run.operations());
            let mover = plain.or_else(|| enabled.iter().find(awake).copied()).map(|choice| choice.thread);
            let Some(mover) = mover else {
                self.tally.blocked();
                return Ok(());
            };
            self.nodes.push(Node {
                checkpoint: machine.checkpoint(),
                variants: variants(&enabled, mover),
                enabled: std::mem::take(&mut enabled),
                mover,
                backtrack: BTreeSet::from([mover]),
                done: BTreeSet::new(),
                moved: None,
                sleep,
            });
            sleep = self.step(machine, &mut enabled)?;
        }
    }

    /// Takes the next variant of the last node's mover; gives the sleep set behind it.
    fn step<M: Machine>(
        &mut self,
        machine: &mut M,
        enabled: &mut Vec<Choice>,
    ) -> Result<Vec<Action>, PassEnd> {
        self.tally.step(self.nodes.len()).inspect_err(|_| {
            // What the run at hand has met counts.
            let _ = self.tally.note(machine, &mut self.run);
        })?;
        let node = self.nodes.last_mut().expect("there is a node to go on from");
        let choice = Choice { thread: node.mover, variant: node.variants.remove(0) };
        self.run.step(machine, choice, &node.enabled, enabled, Precision::Operation, &Grouping::default());
        let step = self.run.steps.last().expect("a step was taken");
        let stays = |asleep: &&Action| asleep.choice.thread != choice.thread && step.action.leaves(asleep);
        Ok(node.sleep.iter().filter(stays).cloned().collect())
    }

    /// Goes back to the latest state with something left to explore and takes a step there.
    fn backtrack<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
    ) -> Result<Option<Vec<Action>>, PassEnd> {
        while let Some(node) = self.nodes.last_mut() {
            machine.restore(&node.checkpoint);
            let depth = self.nodes.len() - 1;
            let node = &mut self.nodes[depth];
            let action = self.run.steps[depth].action.clone();
            let moved = match node.moved.take() {
                Some(moved) => moved.and(action),
                None => action,
            };
            if !node.variants.is_empty() {
                node.moved = Some(moved);
            } else {
                node.done.insert(node.mover);
                node.sleep.push(moved);
                let asleep =
                    |thread: &ThreadId| node.sleep.iter().any(|action| action.choice.thread == *thread);
                if let Some(next) =
                    node.backtrack.iter().copied().find(|t| !node.done.contains(t) && !asleep(t))
                {
                    node.mover = next;
                    node.variants = variants(&node.enabled, next);
                }
            }
            self.run.truncate(depth);
            if !node.variants.is_empty() {
                let mut enabled = Vec::new();
                return self.step(machine, &mut enabled).map(Some);
            }
            let node = self.nodes.pop().expect("it is the last");
            machine.discard(node.checkpoint);
        }
        Ok(None)
    }

    /// Adds the backtrack points that the threads' next operations, and the last step, ask for.
    fn look_back<M: Machine>(&mut self, machine: &M) {
        for thread in (0..machine.thread_count()).map(ThreadId) {
            let Some((operation, next)) = Action::pending(machine, thread) else { continue };
            self.reverse(&next, operation.kind, self.run.steps.len());
        }
        if let Some(last) = self.run.steps.last()
            && last.action.footprint == Footprint::Everything
        {
            let (action, kind) = (last.action.clone(), last.operation.kind);
            self.reverse(&action, kind, self.run.steps.len() - 1);
        }
    }

    /// The action would follow the first `length` steps: which of them might it come before?
    fn reverse(&mut self, action: &Action, kind: OpKind, length: usize) {
        let thread = action.choice.thread;
        let blocks = blocks(kind);
        let last_own = self.run.steps[..length].iter().rposition(|step| step.thread() == thread);
        // A departure needs the arrivals of its own round, and no others.
        let round = last_own.map(|own| &self.run.steps[own]).and_then(|step| step.outcome.round());
        let needs = |step: &Step| {
            let other_round = matches!(kind, OpKind::BarrierLeave { .. }) && step.outcome.round() != round;
            step.is_needed_by(kind) && !other_round
        };
        let mut reversed: Vec<usize> = Vec::new();
        for depth in (0..length).rev() {
            let step = &self.run.steps[depth];
            let touches = step.action.touches(thread);
            if step.thread() == thread
                || self.run.is_before_next_of(step, thread, length)
                || !(touches || dependent(&step.action.footprint, &action.footprint))
                || needs(step)
                || reversed.iter().any(|between| step.is_before(&self.run.steps[*between]))
            {
                continue;
            }
            let stood_there = last_own.is_none_or(|own| own < depth);
            let was_enabled = self.nodes[depth].enabled.iter().any(|choice| choice.thread == thread);
            self.add(depth, length, action);
            if was_enabled && stood_there || !stood_there && blocks == Blocks::Never && !touches {
                reversed.push(depth);
            }
        }
    }

    /// Makes sure that from the state at `depth` some thread is explored that can go first in a run where the action comes before
    /// the step at `depth`.
    fn add(&mut self, depth: usize, length: usize, action: &Action) {
        let step = &self.run.steps[depth];
        let rest: Vec<&Step> =
            self.run.steps[depth + 1..length].iter().filter(|later| !step.is_before(later)).collect();
        let goes_first = |thread: ThreadId| match rest.iter().position(|step| step.thread() == thread) {
            Some(at) => rest[..at].iter().all(|earlier| !earlier.is_before(rest[at])),
            None => thread == action.choice.thread && rest.iter().all(|step| !step.action.orders(action)),
        };
        let node = &self.nodes[depth];
        let enabled: BTreeSet<ThreadId> = node.enabled.iter().map(|choice| choice.thread).collect();
        let good: BTreeSet<ThreadId> = enabled.iter().copied().filter(|thread| goes_first(*thread)).collect();
        let added = if good.is_empty() {
            enabled
        } else if good.iter().any(|thread| node.backtrack.contains(thread)) {
            return;
        } else {
            good.into_iter().take(1).collect()
        };
        self.nodes[depth].backtrack.extend(added);
    }
}

fn variants(enabled: &[Choice], thread: ThreadId) -> Vec<u32> {
    enabled.iter().filter(|choice| choice.thread == thread).map(|choice| choice.variant).collect()
}

/// Whether an operation may have to wait for other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blocks {
    Maybe,
    Never,
}

fn blocks(kind: OpKind) -> Blocks {
    match kind {
        OpKind::Join { .. }
        | OpKind::Lock { how: LockHow::Block | LockHow::Timed, .. }
        | OpKind::SemWait { how: LockHow::Block | LockHow::Timed, .. }
        | OpKind::WaitEnd { .. }
        | OpKind::BarrierLeave { .. }
        | OpKind::Once { .. }
        | OpKind::Channel { .. }
        | OpKind::Spin => Blocks::Maybe,
        _ => Blocks::Never,
    }
}
