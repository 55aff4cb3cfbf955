//! Races of a run that has ended, and the beginnings of runs in which they go the other way.
//!
//! The beginning is what does not depend on the first step of the race, and then the second. Mostly it is known what the second
//! does there, or it is known that whatever it does is covered. Otherwise it is tried on the machine.
//!
//! Trying is also the rule for threads that may go round in circles: what wakes them or puts them to sleep is known only from what
//! the machine offers in each state. A thread goes round only if it stops twice in the same local state.

use super::deeds::Action;
use super::lines::Reversal;
use super::node::{Covered, Open};
use super::optimal::Search;
use super::run::attempt;
use super::sections::Locks;
use super::tally::PassEnd;
use super::twins::{Symmetry, Twins};
use super::wakeup::{Tree, may_come_first, remove_first};
use crate::dependence::{Footprint, LockUse, compete};
use raddle_base::Id;
use raddle_event::{AtomicOp, Choice, LockMode, ThreadId};
use raddle_machine::{LockHow, Machine, OpKind, Operation, Status};
use std::sync::Arc;

/// Steps between two looks at the clock. Planning from one takes long only where many threads wait.
const LOOK: usize = 16;

/// The second of two steps in a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Second {
    Step(usize),
    /// What the thread would have done next when the run ended.
    Pending(ThreadId),
}

/// What is known of an operation in another place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outlook {
    Impossible,
    /// It has one variant and does there the worst that it can do.
    Known,
    /// It has one variant, which is open.
    Possible,
    Unclear,
}

/// What is needed to know of the run as a whole.
struct Ended {
    /// What each thread would have done next, at its worst.
    pending: Vec<Option<(Operation, Action)>>,
    /// Whether each thread may have gone round in circles.
    circles: Vec<bool>,
}

/// With which steps the second of a race was reversed, in the run at hand.
#[derive(Default)]
pub(super) struct Reversed {
    steps: Vec<Vec<u32>>,
    pending: Vec<Vec<u32>>,
}

impl Reversed {
    /// For a run of so many steps and threads.
    fn clear(&mut self, steps: usize, threads: usize) {
        for (lists, wanted) in [(&mut self.steps, steps), (&mut self.pending, threads)] {
            lists.resize_with(lists.len().max(wanted), Vec::new);
            lists[..wanted].iter_mut().for_each(Vec::clear);
        }
    }

    fn with(&mut self, second: Second) -> &mut Vec<u32> {
        match second {
            Second::Step(at) => &mut self.steps[at],
            Second::Pending(thread) => &mut self.pending[thread.index()],
        }
    }
}

impl<C> Search<'_, '_, '_, C> {
    /// Plans all reversals that lead to something new. Goes from the last step to the first, because the machine has to be
    /// brought back. A search that is out of time and will not be taken up again ends in the middle.
    pub(super) fn reverse_races<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
    ) -> Result<(), PassEnd> {
        let threads = machine.thread_count();
        let mut pending: Vec<_> =
            (0..threads).map(|thread| Action::pending(machine, ThreadId(thread))).collect();
        if let Some(last) = self.run.steps.last()
            && last.action.footprint == Footprint::Everything
        {
            pending[last.thread().index()] = None;
        }
        self.twins = (self.symmetry == Symmetry::Used).then(|| Twins::of(machine, &self.run));
        let circles = self.run.circles(machine, &pending);
        let ended = Ended { pending, circles };
        let waiting = self.waiting(&ended);
        let end = self.prune(&machine.status(), &waiting);
        let mut reversed = std::mem::take(&mut self.reversed);
        reversed.clear(self.run.steps.len(), ended.pending.len());
        let fresh = self.run.lasting();
        // What twins cover depends on the whole run.
        let straight = self.symmetry == Symmetry::Ignored && !ended.circles.contains(&true);
        self.rests.look(&mut self.run, fresh, if straight { end } else { 0 });
        for depth in (0..end).rev() {
            if self.pool.is_none()
                && depth.is_multiple_of(LOOK)
                && let Some(gap) = self.tally.out_of_time()
            {
                return Err(PassEnd::GivenUp(gap));
            }
            let same = self.rests.is_same(depth);
            if !same {
                self.try_other_variants(machine, &ended, depth);
            }
            for at in 0..self.run.seconds(depth).len() {
                let (second, before) = self.run.seconds(depth)[at];
                let second = Second::Step(second as usize);
                match before {
                    Reversal::Possible if same => reversed.with(second).push(depth as u32),
                    Reversal::Impossible if same => {}
                    _ => {
                        let now = self.reverse_unless_between(machine, &ended, depth, second, &mut reversed);
                        self.run.lines.note_reversal(depth, at, now);
                    }
                }
            }
            for (_, thread) in waiting.iter().filter(|(at, _)| *at == depth) {
                let second = Second::Pending(*thread);
                self.reverse_unless_between(machine, &ended, depth, second, &mut reversed);
            }
        }
        self.reversed = reversed;
        Ok(())
    }

    /// Reverses the race unless a later step was reversed with the second that the first one comes before.
    fn reverse_unless_between<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
        ended: &Ended,
        depth: usize,
        second: Second,
        reversed: &mut Reversed,
    ) -> Reversal {
        let step = &self.run.steps[depth];
        let known = reversed.with(second);
        let between = |between: &u32| step.is_before(&self.run.steps[*between as usize]);
        if known.iter().any(between) {
            return Reversal::Unknown;
        }
        let possible = self.reverse(machine, ended, depth, second);
        if possible {
            known.push(depth as u32);
        }
        Reversal::of(possible)
    }

    /// Cuts off what is known to be free of races, if nothing before it can conflict with anything there. Up to which depth there may
    /// be something to explore.
    fn prune(&mut self, status: &Status, waiting: &[(usize, ThreadId)]) -> usize {
        let end = self.run.steps.len();
        let Some(pruning) = &mut self.pruning else { return end };
        let mut points = Vec::new();
        for (depth, node) in self.nodes[..end].iter_mut().enumerate() {
            let taken = self.run.steps[depth].action.choice;
            let own = |choice: &&Choice| choice.thread == taken.thread && **choice != taken;
            let variants = node.enabled.iter().filter(own).count();
            let races = self.run.seconds(depth).len() + waiting.iter().filter(|(at, _)| *at == depth).count();
            points.push(races + variants + usize::from(!node.plan().tree.is_empty()));
        }
        let asked: Vec<usize> = (0..end).filter(|depth| points[*depth] > 0).collect();
        let stop = || self.tally.out_of_time().is_some();
        let clean = pruning.clean_from(&self.run, status, (&asked, &stop), |depth| &self.nodes[depth].stands);
        let Some((clean, later)) = clean else { return end };
        if (0..clean).any(|depth| self.run.may_meet(depth, clean, later)) {
            return end;
        }
        pruning.counters.skipped += points[clean..].iter().sum::<usize>() as u64;
        for node in &mut self.nodes[clean..] {
            node.plan().tree = Tree::default();
        }
        clean
    }

    /// The steps that come directly before what a thread would have done next, and that nothing else of that thread keeps behind them.
    fn waiting(&self, ended: &Ended) -> Vec<(usize, ThreadId)> {
        let steps = &self.run.steps;
        let mut waiting = Vec::new();
        for (_, next) in ended.pending.iter().flatten() {
            let thread = next.choice.thread;
            for (depth, step) in steps.iter().enumerate() {
                if step.thread() != thread
                    && step.action.orders(next)
                    && !self.run.is_before_next_of(step, thread, steps.len())
                {
                    waiting.push((depth, thread));
                }
            }
        }
        waiting
    }

    /// Plans the other variants of the operation performed at `depth`.
    fn try_other_variants<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
        ended: &Ended,
        depth: usize,
    ) {
        let taken = self.run.steps[depth].action.choice;
        let footprint = self.run.steps[depth].worst;
        let own = self.nodes[depth].enabled.iter().copied().filter(|choice| choice.thread == taken.thread);
        let mut missing: Vec<Choice> = own.filter(|choice| *choice != taken).collect();
        if missing.is_empty() {
            return;
        }
        let rest = self.independent_of(depth);
        if self.is_straight(ended, depth, &rest, taken.thread) {
            missing.retain(|choice| {
                let last = Action::worst(*choice, footprint);
                !self.is_covered(ended, depth, &rest, &last)
            });
        }
        for sequence in self.replay(machine, ended, depth, &rest, &mut missing) {
            self.plan(machine, depth, sequence);
        }
        // Something independent of the variant taken keeps these from being taken after it.
        for sequence in self.replay(machine, ended, depth, &[], &mut missing) {
            self.plan(machine, depth, sequence);
        }
    }

    /// Plans runs in which the second operation comes before the step at `depth`. Whether there are any, as far as known.
    fn reverse<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
        ended: &Ended,
        depth: usize,
        second: Second,
    ) -> bool {
        let (thread, operation, footprint) = match second {
            Second::Step(at) => {
                let step = &self.run.steps[at];
                let crashed = step.action.footprint == Footprint::Everything;
                (step.thread(), step.operation, if crashed { Footprint::Everything } else { step.worst })
            }
            Second::Pending(thread) => {
                let next = ended.pending[thread.index()].as_ref();
                let (operation, action) = next.expect("it has a next operation");
                (thread, *operation, action.footprint)
            }
        };
        let outlook = self.outlook(depth, &operation);
        if outlook == Outlook::Impossible {
            return false;
        }
        let rest = self.independent_of(depth);
        if self.is_straight(ended, depth, &rest, thread) {
            let variant = if outlook == Outlook::Unclear { ANY_VARIANT } else { 0 };
            let last = Action::worst(Choice { thread, variant }, footprint);
            if self.is_covered(ended, depth, &rest, &last) {
                return outlook != Outlook::Unclear;
            }
            let last = self.run.deeds.action(&last);
            let before = rest.iter().map(|at| self.run.elsewhere(*at));
            let sequence: Vec<Action> = before.chain([last]).collect();
            if outlook == Outlook::Known {
                self.plan(machine, depth, sequence);
                return true;
            }
            if self.nodes[depth].plan().tree.holds(sequence) {
                return outlook != Outlook::Unclear;
            }
        }
        let mut possible = false;
        for sequence in self.replay_all(machine, ended, depth, &rest, thread) {
            if !may_come_first(&self.run.steps[depth].action, &sequence) {
                possible = true;
                self.plan(machine, depth, sequence);
            }
        }
        possible
    }

    /// What is known of the thread's operation when it comes before the step at `depth` instead of after it.
    fn outlook(&self, depth: usize, operation: &Operation) -> Outlook {
        let step = &self.run.steps[depth];
        if step.is_needed_by(operation.kind) {
            return Outlook::Impossible;
        }
        match (operation.kind, step.operation.kind) {
            (OpKind::Access { .. } | OpKind::Exit, _)
            | (OpKind::Atomic { op: AtomicOp::Load(_) | AtomicOp::Store(_), .. }, _) => Outlook::Known,
            (OpKind::Atomic { .. }, _) => Outlook::Possible,
            // The step took the lock, so it was free.
            (OpKind::Lock { lock, mode: LockMode::Exclusive, how: LockHow::Block }, OpKind::Lock { .. })
                if step.outcome == (Footprint::Lock { lock, using: LockUse::Exclusive }) =>
            {
                match self.grouping.locks {
                    Locks::Ordered => Outlook::Known,
                    // What is in the section, and whether it is closed there, is not known.
                    Locks::Commute => Outlook::Possible,
                }
            }
            _ => Outlook::Unclear,
        }
    }

    /// Whether something explored from the state at `depth` may come first in these steps and the action behind them.
    fn is_covered(&mut self, ended: &Ended, depth: usize, rest: &[usize], last: &Action) -> bool {
        let steps = &self.run.steps;
        let covers = |explored: &Action| {
            if ended.circles[explored.choice.thread.index()] {
                return false;
            }
            let sequence = rest.iter().map(|at| &steps[*at].action).chain([last]);
            for action in sequence {
                if action.choice.thread == explored.choice.thread {
                    return action.choice == explored.choice;
                }
                if action.excludes(explored) {
                    return false;
                }
            }
            true
        };
        let own = Some(steps[depth].action.choice);
        matches!(self.nodes[depth].plan().covered(own, covers), Covered::Yes)
    }

    /// Whether the steps do the same without the one at `depth` as they did behind it, and none of the threads concerned goes round in
    /// circles.
    fn is_straight(&self, ended: &Ended, depth: usize, rest: &[usize], thread: ThreadId) -> bool {
        let first = &self.run.steps[depth].action.footprint;
        let straight = |at: &usize| {
            let step = &self.run.steps[*at];
            !ended.circles[step.thread().index()] && !compete(first, &step.action.footprint)
        };
        !ended.circles[thread.index()] && rest.iter().all(straight)
    }

    /// The steps behind the one at `depth` that are not ordered after it.
    fn independent_of(&self, depth: usize) -> Vec<usize> {
        let step = &self.run.steps[depth];
        (depth + 1..self.run.steps.len()).filter(|later| !step.is_before(&self.run.steps[*later])).collect()
    }

    /// Goes through the steps from the state at `depth` and then tries the choices, as far as they are open there: one sequence for
    /// each, which is taken from the list.
    fn replay<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
        ended: &Ended,
        depth: usize,
        rest: &[usize],
        wanted: &mut Vec<Choice>,
    ) -> Vec<Vec<Action>> {
        let Some(thread) = wanted.first().map(|choice| choice.thread) else { return Vec::new() };
        let mut sequences = self.replay_all(machine, ended, depth, rest, thread);
        let last = |sequence: &Vec<Action>| sequence.last().expect("it ends with the choice").choice;
        sequences.retain(|sequence| wanted.contains(&last(sequence)));
        wanted.retain(|choice| sequences.iter().all(|sequence| last(sequence) != *choice));
        sequences
    }

    /// The same with all variants that the thread has there. None when the steps are not possible. A thread that goes round in circles may
    /// sleep there where it did not behind the step at `depth`; then what comes of its further rounds is left out.
    fn replay_all<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
        ended: &Ended,
        depth: usize,
        rest: &[usize],
        thread: ThreadId,
    ) -> Vec<Vec<Action>> {
        self.reach(machine, depth);
        let mut actions = Vec::new();
        let mut enabled = self.nodes[depth].enabled.clone();
        let mut after = Vec::new();
        let mut left_out: Vec<usize> = Vec::new();
        let way = rest.iter().map(|at| self.run.steps[*at].action.choice);
        foresee(machine, way.chain([Choice { thread, variant: 0 }]));
        for at in rest {
            let step = &self.run.steps[*at];
            let choice = step.action.choice;
            if left_out.iter().any(|earlier| self.run.steps[*earlier].is_before(step)) {
                left_out.push(*at);
            } else if enabled.contains(&choice) {
                let action = attempt(machine, choice, &enabled, &mut after, &self.grouping);
                actions.push(self.run.deeds.action(&action));
                std::mem::swap(&mut enabled, &mut after);
            } else if ended.circles[choice.thread.index()] {
                left_out.push(*at);
            } else {
                return Vec::new();
            }
        }
        let mut sequences = Vec::new();
        for choice in enabled.iter().copied().filter(|choice| choice.thread == thread) {
            let before = machine.checkpoint();
            let last = attempt(machine, choice, &enabled, &mut after, &self.grouping);
            let last = self.run.deeds.action(&last);
            machine.restore(&before);
            machine.discard(before);
            sequences.push(actions.iter().cloned().chain([last]).collect());
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
        let mut actions = Vec::new();
        let mut enabled = self.nodes[depth].enabled.clone();
        let mut after = Vec::new();
        foresee(machine, choices.iter().copied());
        for choice in choices {
            if !enabled.contains(choice) {
                return None;
            }
            let action = attempt(machine, *choice, &enabled, &mut after, &self.grouping);
            actions.push(self.run.deeds.action(&action));
            std::mem::swap(&mut enabled, &mut after);
        }
        Some((actions, enabled))
    }

    /// Adds the sequence to what is to be explored from the state at `depth`, unless that is covered.
    fn plan<M: Machine<Checkpoint = C>>(&mut self, machine: &mut M, depth: usize, sequence: Vec<Action>) {
        let own = &self.run.steps[depth].action;
        if may_come_first(own, &sequence) {
            return;
        }
        let own = own.choice;
        if self.is_covered_by_twins(depth, sequence.iter(), Action::leaves) {
            return;
        }
        if let Some(open) = self.nodes[depth].open().cloned() {
            return self.plan_inside(machine, depth, own, open, sequence);
        }
        let covers = |explored: &Action| may_come_first(explored, &sequence);
        if !self.nodes[depth].plan().sleep.iter().any(covers) {
            let mut tree = std::mem::take(&mut self.nodes[depth].plan().tree);
            tree.insert(sequence, |lead, rest| self.fits(machine, depth, lead, rest));
            self.nodes[depth].plan().tree = tree;
        }
    }

    /// The same for a shared state: along branches that others are on, if they began later than the own one.
    fn plan_inside<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
        depth: usize,
        own: Choice,
        mut open: Arc<Open>,
        mut sequence: Vec<Action>,
    ) {
        let mut own = Some(own);
        let mut way: Vec<Choice> = Vec::new();
        loop {
            let mut plan = open.plan();
            match plan.covered(own, |explored| may_come_first(explored, &sequence)) {
                Covered::Yes => return,
                Covered::Inside(choice, inside) => {
                    drop(plan);
                    remove_first(&mut sequence, choice);
                    way.push(choice);
                    (open, own) = (inside, None);
                }
                Covered::No => {
                    plan.tree.insert(sequence, |lead, rest| {
                        let lead: Vec<Choice> = way.iter().chain(lead).copied().collect();
                        self.fits(machine, depth, &lead, rest)
                    });
                    drop(plan);
                    if let Some(pool) = self.pool {
                        pool.offer(open);
                    }
                    return;
                }
            }
        }
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
        let same = |(now, before): (&Action, &Action)| now.footprint.round() == before.footprint.round();
        performed[lead.len()..].iter().zip(actions).all(same)
    }
}

/// Stands for whatever variant is open: equal to none that was explored.
const ANY_VARIANT: u32 = u32::MAX;

/// All of these will be taken, as far as they are open; the next step is the first of them.
fn foresee<M: Machine>(machine: &mut M, way: impl Iterator<Item = Choice>) {
    let later: Vec<Choice> = way.skip(1).collect();
    if !later.is_empty() {
        machine.foresee(&later);
    }
}
