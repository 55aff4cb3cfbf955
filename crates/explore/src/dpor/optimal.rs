//! Optimal reduction with wake-up trees: one run of each class, none given up half-way.
//!
//! Source Sets (J. ACM 2017), Algorithm 2, with these additions.
//!
//! * *Variants.* A choice is a thread and a variant; two variants of one operation conflict like two orders of a race. When a run
//!   has ended, every variant not taken is tried at the end of what does not depend on the one taken.
//! * *Blocking.* A step may be reversed with the next operation of a thread that is blocked, asleep or cut off when the run ends. A
//!   step that only made an operation possible (an unlock before a lock) cannot be reversed with it; then the steps before it
//!   that could be are looked at, such as the lock.
//! * *Outcomes.* What an operation would do in another place is found out by doing it there, before the sequence is inserted.
//!
//! With threads that sleep until something changes, an enabling step need not be the only one that could have enabled; classes are
//! then finer than need be.

use super::record::Recording;
use super::run::{Action, Precision, Run};
use super::sections::{Grouping, Locks};
use super::tally::{PassEnd, Tally};
use super::wakeup::Tree;
use super::{Covers, Reduced};
use crate::enumerate::Limits;
use crate::pdp::{Pruning, Stands};
use raddle_event::Choice;
use raddle_machine::{IgnoreEvents, Machine, Status, Visibility};

pub(super) fn search<M: Machine>(
    machine: &mut M,
    limits: &Limits,
    visibility: Visibility,
    extras: Extras,
) -> Reduced {
    let Extras { locks, mut pruning, mut recording } = extras;
    let mut grouping = Grouping::new(locks);
    Tally::new(limits, visibility).passes(machine, |tally, machine| {
        tally.covers = match (grouping.locks, &pruning) {
            (Locks::Ordered, None) => Covers::Everything,
            _ => Covers::RacesOnly,
        };
        if let Some(recording) = recording.as_deref_mut() {
            recording.restart();
        }
        let mut search = Search {
            tally,
            grouping: grouping.clone(),
            pruning: pruning.as_deref_mut(),
            recording: recording.as_deref_mut(),
            run: Run::default(),
            nodes: Vec::new(),
        };
        let end = search.runs(machine).err().unwrap_or(PassEnd::Done);
        search.forget_checkpoints(machine, 0);
        match end {
            PassEnd::LockSeen(lock) => grouping.keep_apart(lock),
            PassEnd::LocksMatter => grouping.locks = Locks::Ordered,
            _ => {}
        }
        end
    })
}

/// What makes a search different from the plain one.
pub(super) struct Extras<'s, 'p> {
    pub(super) locks: Locks,
    pub(super) pruning: Option<&'s mut Pruning<'p>>,
    pub(super) recording: Option<&'s mut Recording>,
}

impl Extras<'_, '_> {
    pub(super) fn of(locks: Locks) -> Self {
        Self { locks, pruning: None, recording: None }
    }
}

pub(super) struct Search<'s, 'a, 'p, C> {
    pub(super) tally: &'s mut Tally<'a>,
    pub(super) grouping: Grouping,
    pub(super) pruning: Option<&'s mut Pruning<'p>>,
    recording: Option<&'s mut Recording>,
    pub(super) run: Run,
    /// One per step of the run: the state before it.
    pub(super) nodes: Vec<Node<C>>,
}

pub(super) struct Node<C> {
    /// `None` when the machine has been brought back to an earlier state since.
    pub(super) checkpoint: Option<C>,
    pub(super) enabled: Vec<Choice>,
    /// What has been explored from here, or is covered elsewhere.
    pub(super) sleep: Vec<Action>,
    /// What is still to be explored from here, besides the branch that is being explored.
    pub(super) tree: Tree,
    /// For pruning.
    pub(super) stands: Stands,
}

impl<C> Search<'_, '_, '_, C> {
    fn runs<M: Machine<Checkpoint = C>>(&mut self, machine: &mut M) -> Result<(), PassEnd> {
        let (mut sleep, mut tree) = (Vec::new(), Tree::default());
        loop {
            self.one_run(machine, sleep, tree)?;
            self.reverse_races(machine);
            let Some(next) = self.backtrack(machine)? else { return Ok(()) };
            (sleep, tree) = next;
            self.tally.another()?;
        }
    }

    /// Goes on from the present state to the end of a run, first along the tree.
    fn one_run<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
        mut sleep: Vec<Action>,
        mut tree: Tree,
    ) -> Result<(), PassEnd> {
        loop {
            if machine.status() != Status::Running || self.tally.is_too_long(&self.run) {
                self.tally.ended(machine, &self.run)?;
                self.record(Recording::end);
                return self.confirm(machine);
            }
            let mut enabled = Vec::new();
            machine.enabled(&mut enabled);
            let stands = self.pruning.as_ref().map_or_else(Stands::new, |pruning| pruning.stands(machine));
            self.nodes.push(Node { checkpoint: Some(machine.checkpoint()), enabled, sleep, tree, stands });
            if let (Some(recording), Some(node)) = (self.recording.as_deref_mut(), self.nodes.last()) {
                recording.enter(node);
            }
            let node = self.nodes.last_mut().expect("it was pushed");
            let Some((choice, below)) = node.next_choice() else {
                self.record(Recording::leave);
                let node = self.nodes.pop().expect("it was pushed");
                machine.discard(node.checkpoint.expect("it was made just now"));
                self.tally.blocked();
                return Ok(());
            };
            sleep = self.step(machine, choice)?;
            tree = below;
        }
    }

    /// Takes a step from the last node; gives the sleep set behind it.
    fn step<M: Machine>(&mut self, machine: &mut M, choice: Choice) -> Result<Vec<Action>, PassEnd> {
        self.tally.step(self.nodes.len()).inspect_err(|_| {
            // What the run at hand has met counts.
            let _ = self.tally.note(machine, &self.run);
        })?;
        if let Some(lock) = self.grouping.looks_at(machine, choice.thread) {
            return Err(PassEnd::LockSeen(lock));
        }
        self.record(|recording| recording.take(choice));
        let node = self.nodes.last().expect("there is a node to go on from");
        let mut after = Vec::new();
        self.run.step(machine, choice, &node.enabled, &mut after, Precision::Outcome, &self.grouping);
        let action = &self.run.steps.last().expect("a step was taken").action;
        let stays = |asleep: &&Action| asleep.choice.thread != choice.thread && action.leaves(asleep);
        Ok(node.sleep.iter().filter(stays).cloned().collect())
    }

    /// Goes back to the latest state with something left to explore and takes a step there.
    fn backtrack<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
    ) -> Result<Option<(Vec<Action>, Tree)>, PassEnd> {
        while let Some(depth) = self.nodes.len().checked_sub(1) {
            let node = &mut self.nodes[depth];
            if let Some(step) = self.run.steps.get(depth) {
                node.sleep.push(step.action.clone());
            }
            self.run.truncate(depth);
            if !node.tree.is_empty() {
                self.reach(machine, depth);
                if let Some((choice, below)) = self.nodes[depth].next_planned() {
                    return self.step(machine, choice).map(|sleep| Some((sleep, below)));
                }
            }
            self.record(Recording::leave);
            let node = self.nodes.pop().expect("it is the last");
            if let Some(checkpoint) = node.checkpoint {
                machine.discard(checkpoint);
            }
        }
        Ok(None)
    }

    fn record(&mut self, write: impl FnOnce(&mut Recording)) {
        if let Some(recording) = self.recording.as_deref_mut() {
            write(recording);
        }
    }

    /// Brings the machine to the state of a node on the present path.
    pub(super) fn reach<M: Machine<Checkpoint = C>>(&mut self, machine: &mut M, depth: usize) {
        self.forget_checkpoints(machine, depth + 1);
        let known = self.nodes[..=depth].iter().rposition(|node| node.checkpoint.is_some());
        let known = known.expect("the first state can always be reached");
        machine.restore(self.nodes[known].checkpoint.as_ref().expect("it was found"));
        for at in known..depth {
            for taken in self.run.choices(at) {
                machine.step(taken.choice, &mut IgnoreEvents);
            }
            self.nodes[at + 1].checkpoint = Some(machine.checkpoint());
        }
    }

    /// Gives up the checkpoints from this depth on, the latest first.
    pub(super) fn forget_checkpoints<M: Machine<Checkpoint = C>>(&mut self, machine: &mut M, from: usize) {
        for node in self.nodes.iter_mut().skip(from).rev() {
            if let Some(checkpoint) = node.checkpoint.take() {
                machine.discard(checkpoint);
            }
        }
    }
}

impl<C> Node<C> {
    /// The branch to explore next, or any choice when nothing is planned.
    fn next_choice(&mut self) -> Option<(Choice, Tree)> {
        self.next_planned().or_else(|| {
            let asleep = |choice: &Choice| self.sleep.iter().any(|action| action.choice == *choice);
            let free = self.enabled.iter().copied().find(|choice| !asleep(choice));
            free.map(|choice| (choice, Tree::default()))
        })
    }

    fn next_planned(&mut self) -> Option<(Choice, Tree)> {
        while let Some((action, below)) = self.tree.next() {
            if self.enabled.contains(&action.choice) {
                return Some((action.choice, below));
            }
        }
        None
    }
}
