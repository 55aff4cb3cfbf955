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

use super::deeds::Action;
use super::estimate::Sample;
use super::node::{Node, Plan};
use super::pool::Pool;
use super::record::Recording;
use super::rests::Rests;
use super::reversal::Reversed;
use super::run::{Precision, Run};
use super::sections::{Grouping, Locks};
use super::tally::{PassEnd, Tally};
use super::twins::{Symmetry, Twins};
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
    let Extras { locks, mut pruning, mut recording, mut symmetry } = extras;
    let left = pruning.as_ref().map(|pruning| pruning.covers());
    in_passes(Tally::new(limits, visibility), machine, locks, left, |tally, machine, grouping| {
        if let Some(recording) = recording.as_deref_mut() {
            recording.restart();
        }
        let mut search = Search::new(tally, grouping, None);
        search.pruning = pruning.as_deref_mut();
        search.recording = recording.as_deref_mut();
        search.symmetry = symmetry;
        let end = search.alone(machine);
        if end == PassEnd::TwinsDiffer {
            symmetry = Symmetry::Ignored;
        }
        end
    })
}

/// What makes a search different from the plain one.
pub(super) struct Extras<'s, 'p> {
    pub(super) locks: Locks,
    pub(super) pruning: Option<&'s mut Pruning<'p>>,
    pub(super) recording: Option<&'s mut Recording>,
    pub(super) symmetry: Symmetry,
}

impl Extras<'_, '_> {
    pub(super) fn of(locks: Locks) -> Self {
        Self { locks, pruning: None, recording: None, symmetry: Symmetry::Ignored }
    }
}

pub(super) fn in_passes<M: Machine>(
    tally: Tally,
    machine: &mut M,
    locks: Locks,
    pruned: Option<Covers>,
    mut pass: impl FnMut(&mut Tally, &mut M, Grouping) -> PassEnd,
) -> Reduced {
    let mut grouping = Grouping::new(locks);
    tally.passes(machine, |tally, machine| {
        tally.covers = match grouping.locks {
            Locks::Ordered => pruned.unwrap_or(Covers::Everything),
            Locks::Commute => pruned.unwrap_or(Covers::RacesOnly),
        };
        let end = pass(tally, machine, grouping.clone());
        match end {
            PassEnd::LockSeen(lock) => grouping.keep_apart(lock),
            PassEnd::LocksMatter => grouping.locks = Locks::Ordered,
            _ => {}
        }
        end
    })
}

pub(super) struct Search<'s, 'a, 'p, C> {
    pub(super) tally: &'s mut Tally<'a>,
    pub(super) grouping: Grouping,
    pub(super) pruning: Option<&'s mut Pruning<'p>>,
    recording: Option<&'s mut Recording>,
    pub(super) pool: Option<&'s Pool>,
    /// For estimates.
    pub(super) sample: Option<Sample>,
    pub(super) symmetry: Symmetry,
    /// Of the run that has ended, if symmetry is used.
    pub(super) twins: Option<Twins>,
    pub(super) run: Run,
    /// One per step of the run: the state before it. The shared ones come first.
    pub(super) nodes: Vec<Node<C>>,
    /// Kept for the next run.
    pub(super) reversed: Reversed,
    pub(super) rests: Rests,
    /// What is planned behind a branch.
    foreseen: Vec<Choice>,
    /// Lists of states that were left, to be used again.
    spare: (Vec<Vec<Choice>>, Vec<Vec<Action>>),
}

impl<'s, 'a, 'p, C> Search<'s, 'a, 'p, C> {
    pub(super) fn new(tally: &'s mut Tally<'a>, grouping: Grouping, pool: Option<&'s Pool>) -> Self {
        Self {
            tally,
            grouping,
            pruning: None,
            recording: None,
            pool,
            sample: None,
            symmetry: Symmetry::Ignored,
            twins: None,
            run: Run::default(),
            nodes: Vec::new(),
            reversed: Reversed::default(),
            rests: Rests::default(),
            foreseen: Vec::new(),
            spare: (Vec::new(), Vec::new()),
        }
    }

    /// Does not bring the machine back.
    fn alone<M: Machine<Checkpoint = C>>(&mut self, machine: &mut M) -> PassEnd {
        if self.tally.is_watched() {
            self.sample = Sample::draw(machine, &self.grouping);
        }
        self.runs(machine, Plan::default()).err().unwrap_or(PassEnd::Done)
    }

    /// Explores what the plan says from the present state, and then all that is left on the way to it.
    pub(super) fn runs<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
        mut plan: Plan,
    ) -> Result<(), PassEnd> {
        loop {
            self.one_run(machine, plan)?;
            self.reverse_races(machine)?;
            self.ask_for_pause();
            self.share();
            let Some(next) = self.backtrack(machine).inspect_err(|_| self.put_down())? else { return Ok(()) };
            if let Err(end) = self.tally.another() {
                self.estimate();
                self.put_back(next);
                return Err(end);
            }
            plan = next;
        }
    }

    /// Goes on from the present state to the end of a run, first along the tree.
    fn one_run<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
        mut plan: Plan,
    ) -> Result<(), PassEnd> {
        let mut enabled = Vec::new();
        machine.enabled(&mut enabled);
        loop {
            if machine.status() != Status::Running || self.tally.is_too_long(&mut self.run) {
                self.tally.ended(machine, &mut self.run)?;
                if self.tells_twins_apart(machine) {
                    return Err(PassEnd::TwinsDiffer);
                }
                self.record(Recording::end);
                return self.confirm(machine);
            }
            if let Err(end) = self.may_go_on(machine) {
                self.put_back(plan);
                return Err(end);
            }
            self.record(|recording| recording.enter(&enabled, &plan.sleep));
            let sleeping = self.sleeping_twins(machine, &enabled, &plan.sleep);
            let Some((choice, below)) = plan.next_choice(machine, &self.run, &enabled, &sleeping) else {
                self.record(Recording::leave);
                self.tally.blocked();
                return Ok(());
            };
            let stands = self.pruning.as_ref().map_or_else(Stands::new, |pruning| pruning.stands(machine));
            let sleep = std::mem::take(&mut plan.sleep);
            self.nodes.push(Node::own(machine.checkpoint(), enabled, plan, stands));
            enabled = self.spare.0.pop().unwrap_or_default();
            let after = self.step(machine, choice, &sleep, &mut enabled);
            self.nodes.last_mut().expect("it was pushed").plan().sleep = sleep;
            plan = Plan::new(after?, below);
        }
    }

    /// Whether there may be another step.
    pub(super) fn may_go_on<M: Machine>(&mut self, machine: &M) -> Result<(), PassEnd> {
        self.tally.step(self.nodes.len()).inspect_err(|_| {
            // What the run at hand has met counts.
            let _ = self.tally.note(machine, &mut self.run);
            self.estimate();
        })?;
        if self.tally.is_time_to_look() {
            self.estimate_now_and_then();
        }
        let Some(pool) = self.pool else { return Ok(()) };
        if self.tally.is_time_to_look() {
            self.ask_for_pause();
        }
        if pool.is_over() {
            Err(PassEnd::Done)
        } else if pool.is_paused() {
            Err(PassEnd::Paused)
        } else {
            Ok(())
        }
    }

    /// Takes a step from the last node; gives the sleep set behind it. `open` gets the choices open there.
    pub(super) fn step<M: Machine>(
        &mut self,
        machine: &mut M,
        choice: Choice,
        asleep: &[Action],
        open: &mut Vec<Choice>,
    ) -> Result<Vec<Action>, PassEnd> {
        if let Some(lock) = self.grouping.looks_at(machine, choice.thread) {
            return Err(PassEnd::LockSeen(lock));
        }
        self.record(|recording| recording.take(choice));
        let node = self.nodes.last().expect("there is a node to go on from");
        self.run.step(machine, choice, &node.enabled, open, Precision::Outcome, &self.grouping);
        let action = &self.run.steps.last().expect("a step was taken").action;
        let stays = |asleep: &&Action| asleep.choice.thread != choice.thread && action.leaves(asleep);
        let asleep = asleep.iter().filter(stays);
        if node.open().is_some() {
            // To count uses of the same ones from several threads is slow; and what is shared stays for long.
            let mut after: Vec<Action> = asleep.map(|action| self.run.deeds.action(action)).collect();
            after.shrink_to_fit();
            return Ok(after);
        }
        let mut after = self.spare.1.pop().unwrap_or_default();
        after.extend(asleep.cloned());
        Ok(after)
    }

    /// Goes back to the latest state with something left to explore and takes a step there.
    pub(super) fn backtrack<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
    ) -> Result<Option<Plan>, PassEnd> {
        while let Some(depth) = self.nodes.len().checked_sub(1) {
            let node = &mut self.nodes[depth];
            if node.open().is_none()
                && let Some(step) = self.run.steps.get(depth)
            {
                node.plan().sleep.push(step.action.clone());
            }
            self.run.truncate(depth);
            if !node.plan().tree.is_empty() {
                self.reach(machine, depth);
                if let Some(plan) = self.next_branch(machine, depth)? {
                    return Ok(Some(plan));
                }
            }
            self.record(Recording::leave);
            let (mut enabled, mut sleep) = self.nodes.pop().expect("it is the last").into_lists();
            enabled.clear();
            sleep.clear();
            self.spare.0.push(enabled);
            self.spare.1.push(sleep);
        }
        Ok(None)
    }

    /// Takes the next branch from the last node, where the machine stands.
    fn next_branch<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
        depth: usize,
    ) -> Result<Option<Plan>, PassEnd> {
        self.may_go_on(machine)?;
        let node = &mut self.nodes[depth];
        if node.open().is_some() {
            return self.next_leaf(machine);
        }
        let sleep = std::mem::take(&mut node.plan().sleep);
        let enabled = std::mem::take(&mut node.enabled);
        let sleeping = self.sleeping_twins(machine, &enabled, &sleep);
        let node = &mut self.nodes[depth];
        let next = node.plan().next_planned(&enabled, &sleeping);
        node.enabled = enabled;
        let Some((choice, tree)) = next else { return Ok(None) };
        self.foreseen.clear();
        tree.first_way(&mut self.foreseen);
        machine.foresee(&self.foreseen);
        let after = self.step(machine, choice, &sleep, &mut Vec::new());
        self.nodes[depth].plan().sleep = sleep;
        Ok(Some(Plan::new(after?, tree)))
    }

    fn record(&mut self, write: impl FnOnce(&mut Recording)) {
        if let Some(recording) = self.recording.as_deref_mut() {
            write(recording);
        }
    }

    /// Brings the machine to the state of a node on the present path.
    pub(super) fn reach<M: Machine<Checkpoint = C>>(&mut self, machine: &mut M, depth: usize) {
        let known = self.nodes[..=depth].iter().rposition(|node| node.checkpoint.is_some());
        let known = known.expect("the first state can always be reached");
        machine.restore(self.nodes[known].checkpoint.as_ref().expect("it was found"));
        self.nodes[known + 1..].iter_mut().for_each(|node| node.checkpoint = None);
        for at in known..depth {
            for taken in self.run.choices(at) {
                machine.step(taken.choice, &mut IgnoreEvents);
            }
            self.nodes[at + 1].checkpoint = Some(machine.checkpoint());
        }
    }
}
