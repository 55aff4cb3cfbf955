//! Identical threads: runs that differ only in which of them does what are explored once.
//!
//! *Twins* are threads that one thread creates one right after the other to do the same ([`Machine::origin`]). As long as neither has
//! done anything (but begin), exchanging their names turns every run that goes on from there into another one that goes on from there,
//! with the same races and deadlocks. So once the first operation of one of them has been explored, or is being explored,
//! from a state, the runs in which the first operation of the other can come first are known: such a sequence is not planned, and such a
//! choice sleeps. This is the argument of sleep sets, with classes up to the exchange of twins. A step that is independent of the
//! first operation of one twin is so of the other's, so it holds further down as well; and the race by which the search
//! finds a class that is missing is there with other names in a run that was explored.
//!
//! The exchange must not be seen by anybody else, which is looked at in every run ([`told_apart`]):
//! * between the creations, their creator does nothing visible, and touches only memory that no other thread has a conflict with:
//!   such an access would come before what the later twin does, not before what the earlier one does;
//! * if one is joined then all are, by one thread, which does nothing else in between in the same sense; none is detached later.
//!
//! If one run tells twins apart the search starts again without symmetry. It is enough to look at the runs explored: the first step
//! that tells twins apart in any run has a counterpart, with other names, in one of those. What the ids of threads are used for
//! besides is the business of the machine, which calls threads identical only if there is nothing.
//!
//! Errs on the side of more runs: twins that have done the same first steps are no longer taken for identical.

use super::deeds::Action;
use super::optimal::Search;
use super::run::{Run, Step};
use raddle_base::Id;
use raddle_event::{AccessKind, Choice, Event, EventKind, Loc, ThreadId};
use raddle_machine::{Machine, OpKind, Origin};
use std::collections::BTreeMap;

/// Whether identical threads are taken for the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symmetry {
    Ignored,
    Used,
}

/// Who is whose twin in a run.
#[derive(Default)]
pub(super) struct Twins {
    threads: Vec<Thread>,
}

struct Thread {
    /// Threads of one family are identical: origin, and which stretch of creations of their creator they are from.
    family: Option<(Origin, usize)>,
    /// Steps of the run: the one that created it, its begin, and its first operation.
    born: usize,
    begun: usize,
    first: usize,
}

impl Twins {
    pub(super) fn of<M: Machine>(machine: &M, run: &Run) -> Twins {
        let count = machine.thread_count();
        let nowhere = || Thread { family: None, born: usize::MAX, begun: usize::MAX, first: usize::MAX };
        let mut threads: Vec<Thread> = (0..count).map(|_| nowhere()).collect();
        // Other steps than creations, by thread.
        let mut others = vec![0; count as usize];
        for (depth, step) in run.steps.iter().enumerate() {
            let mover = step.thread().index();
            match step.operation.kind {
                OpKind::Begin => threads[mover].begun = depth,
                kind => {
                    threads[mover].first = threads[mover].first.min(depth);
                    others[mover] += usize::from(kind != OpKind::Create);
                }
            }
            for child in step.children() {
                let family = machine.origin(child).map(|origin| (origin, others[mover]));
                threads[child.index()].family = family;
                threads[child.index()].born = depth;
            }
        }
        Twins { threads }
    }

    /// Those with more than one member.
    fn families(&self) -> Vec<Vec<ThreadId>> {
        let mut families: BTreeMap<_, Vec<ThreadId>> = BTreeMap::new();
        for (index, thread) in self.threads.iter().enumerate() {
            if let Some(family) = thread.family {
                families.entry(family).or_default().push(ThreadId::from_index(index));
            }
        }
        families.into_values().filter(|members| members.len() > 1).collect()
    }

    /// Whether the thread is there in the state before this step of the run, and has done nothing yet but begin.
    fn is_fresh(&self, thread: ThreadId, depth: usize) -> bool {
        let thread = &self.threads[thread.index()];
        thread.born < depth && depth <= thread.first
    }

    fn has_begun(&self, thread: ThreadId, depth: usize) -> bool {
        self.threads[thread.index()].begun < depth
    }

    /// The twins of a thread that stands before its first operation.
    fn twins(&self, thread: ThreadId, depth: usize) -> impl Iterator<Item = ThreadId> + '_ {
        let family = self.threads.get(thread.index()).and_then(|thread| thread.family);
        let family = family.filter(|_| self.is_fresh(thread, depth) && self.has_begun(thread, depth));
        let members = self
            .threads
            .iter()
            .enumerate()
            .filter(move |(_, other)| family.is_some() && other.family == family);
        members
            .map(|(index, _)| ThreadId::from_index(index))
            .filter(move |twin| *twin != thread && self.is_fresh(*twin, depth))
    }

    /// Whether whatever begins with the sequence has been explored with `explored`, which was a choice in the same state, up to the
    /// exchange of twins. `leaves` tells whether an action leaves another one as it is.
    pub(super) fn cover<'a>(
        &self,
        depth: usize,
        explored: Choice,
        sequence: impl Iterator<Item = &'a Action> + Clone,
        leaves: impl Fn(&Action, &Action) -> bool,
    ) -> bool {
        self.twins(explored.thread, depth).any(|twin| {
            let own = |action: &&Action| action.choice.thread == twin;
            let begin = usize::from(!self.has_begun(twin, depth));
            let Some(first) = sequence.clone().filter(own).nth(begin) else { return false };
            first.choice.variant == explored.variant
                && sequence
                    .clone()
                    .take_while(|action| !std::ptr::eq(*action, first))
                    .all(|action| own(&action) || leaves(action, first))
        })
    }

    /// Whether the choice is that of the first operation of a twin of a thread that sleeps before its own.
    fn sleeps(&self, depth: usize, choice: Choice, asleep: &[Action]) -> bool {
        self.has_begun(choice.thread, depth)
            && self.twins(choice.thread, depth).any(|twin| {
                let same =
                    |action: &Action| action.choice.thread == twin && action.choice.variant == choice.variant;
                self.has_begun(twin, depth) && asleep.iter().any(same)
            })
    }
}

impl<C> Search<'_, '_, '_, C> {
    /// The choices that need not be taken from the present state because those of identical threads sleep there.
    pub(super) fn sleeping_twins<M: Machine>(
        &self,
        machine: &M,
        enabled: &[Choice],
        asleep: &[Action],
    ) -> Vec<Choice> {
        if self.symmetry == Symmetry::Ignored || asleep.is_empty() {
            return Vec::new();
        }
        let twins = Twins::of(machine, &self.run);
        let depth = self.run.steps.len();
        enabled.iter().copied().filter(|choice| twins.sleeps(depth, *choice, asleep)).collect()
    }

    /// Whether what begins with the sequence from the state at `depth` is explored from there by identical threads.
    pub(super) fn is_covered_by_twins<'s>(
        &mut self,
        depth: usize,
        sequence: impl Iterator<Item = &'s Action> + Clone,
        leaves: impl Fn(&Action, &Action) -> bool,
    ) -> bool {
        let Some(twins) = &self.twins else { return false };
        let own = self.run.steps[depth].action.choice;
        let plan = self.nodes[depth].plan();
        let mut explored = plan.sleep.iter().map(|action| action.choice).chain([own]);
        explored.any(|explored| twins.cover(depth, explored, sequence.clone(), &leaves))
    }

    /// Whether the run at hand, which has ended, tells twins apart.
    pub(super) fn tells_twins_apart<M: Machine>(&self, machine: &M) -> bool {
        if self.symmetry == Symmetry::Ignored {
            return false;
        }
        let twins = Twins::of(machine, &self.run);
        twins.families().iter().any(|family| told_apart(machine, &self.run, &twins, family))
    }
}

fn told_apart<M: Machine>(machine: &M, run: &Run, twins: &Twins, family: &[ThreadId]) -> bool {
    let detaches = |kind| matches!(kind, OpKind::Detach { child } if family.contains(&child));
    if run.steps.iter().any(|step| detaches(step.operation.kind)) {
        return true;
    }
    let born: Vec<usize> = family.iter().map(|member| twins.threads[member.index()].born).collect();
    let joined = |member: &ThreadId| {
        let joins =
            |step: &Step| matches!(step.operation.kind, OpKind::Join { child, .. } if child == *member);
        run.steps.iter().position(joins)
    };
    let joins: Vec<usize> = family.iter().filter_map(joined).collect();
    tells(run, &born) || !joins.is_empty() && (is_cut(machine, run, family, &joins) || tells(run, &joins))
}

/// Whether what the thread of these steps does from the first to the last of them has to do with others.
fn tells(run: &Run, steps: &[usize]) -> bool {
    let (Some(&first), Some(&last)) = (steps.iter().min(), steps.iter().max()) else { return false };
    let mover = run.steps[first].thread();
    let events = &run.recorder.trace().events;
    let mut private: Vec<(Loc, AccessKind)> = Vec::new();
    for depth in (first..last).filter(|depth| run.steps[*depth].thread() == mover) {
        private.extend(
            events[run.events(depth)].iter().filter(|event| event.thread == mover).filter_map(access),
        );
    }
    private.sort_unstable();
    private.dedup();
    events.iter().filter(|event| event.thread != mover).filter_map(access).any(|(loc, kind)| {
        private
            .iter()
            .any(|(own, how)| own.overlaps(loc) && (kind == AccessKind::Write || *how == AccessKind::Write))
    })
}

/// Whether the members of a family are not joined all together.
fn is_cut<M: Machine>(machine: &M, run: &Run, family: &[ThreadId], joins: &[usize]) -> bool {
    let first = joins.iter().copied().min().expect("one is joined");
    let joiner = run.steps[first].thread();
    if joins.iter().any(|at| run.steps[*at].thread() != joiner) {
        return true;
    }
    let mut left = family.len();
    let own = run.steps[first..].iter().filter(|step| step.thread() == joiner);
    for step in own {
        match step.operation.kind {
            OpKind::Join { child, .. } => left -= usize::from(family.contains(&child)),
            _ => return true,
        }
        if left == 0 {
            return false;
        }
    }
    // It waits for the next of them.
    !matches!(machine.pending(joiner).map(|operation| operation.kind), Some(OpKind::Join { .. }))
}

fn access(event: &Event) -> Option<(Loc, AccessKind)> {
    match event.kind {
        EventKind::Access { loc, kind } => Some((loc, kind)),
        EventKind::Atomic { loc, op } if op.writes() => Some((loc, AccessKind::Write)),
        EventKind::Atomic { loc, .. } => Some((loc, AccessKind::Read)),
        _ => None,
    }
}
