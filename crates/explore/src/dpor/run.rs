//! The present run: its steps, what each of them did, and which of them are ordered.
//!
//! Step `a` is ordered before a later step `b` of another thread when they are dependent, or when `a` changed the choices that
//! `b`'s thread had before `b` ([`Step::touched`]): created it, ended what it joins, gave it what it waited for, took it away, woke it
//! or put it to sleep. The order is closed under transitivity and kept as a vector clock per step.

use super::sections::{Along, Grouping, Locks};
use crate::bounds::{preempts, rounds};
use crate::dependence::{Footprint, NextMove, Performed, is_needed_by};
use crate::enumerate::{Recorder, Taken};
use crate::pdp::Later;
use raddle_base::Id;
use raddle_event::{Choice, ThreadId};
use raddle_machine::{LockHow, Machine, OpKind, Operation};
use raddle_order::{Epoch, VectorClock};
use std::ops::Deref;
use std::sync::Arc;

/// The steps taken so far, with the trace that they gave.
#[derive(Default)]
pub(crate) struct Run {
    pub(crate) steps: Vec<Step>,
    /// Choices: one per step, and one for each release that a step took along.
    pub(crate) path: Vec<Taken>,
    /// Where the thread stood before each of these choices.
    standpoints: Vec<u64>,
    pub(crate) recorder: Recorder,
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(super) action: Action,
    pub(crate) operation: Operation,
    /// Where its choices start in the path.
    pub(crate) taken: usize,
    /// What the operation might have turned out to be, and what it was.
    pub(super) worst: Footprint,
    pub(super) outcome: Footprint,
    /// The step before it of its own thread, or the one that created the thread.
    previous: Option<usize>,
    /// The first of the threads that it created, if it did, and how many.
    born: (u32, u32),
    /// Which one of its thread's steps, from 1.
    index: u32,
    /// What is ordered before it, itself included.
    clock: VectorClock,
    /// The thread before it could have gone on.
    preempts: bool,
}

/// A choice and what it did, or would do. The same one is in many sleep sets and plans, so it is shared.
#[derive(Clone, Debug)]
pub(super) struct Action(Arc<Deed>);

#[derive(Clone, Debug)]
pub(super) struct Deed {
    pub(super) choice: Choice,
    pub(super) footprint: Footprint,
    /// Other threads whose choices it changed; sorted.
    pub(super) touched: Vec<ThreadId>,
    /// What it released besides.
    pub(super) along: Option<Arc<Along>>,
}

impl Deref for Action {
    type Target = Deed;

    fn deref(&self) -> &Deed {
        &self.0
    }
}

/// How much is known of a step when it is compared with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    /// The operation alone.
    Operation,
    /// What it turned out to do.
    Outcome,
}

impl Run {
    pub(super) fn truncate(&mut self, depth: usize) {
        if let Some(step) = self.steps.get(depth) {
            self.recorder.truncate(self.path[step.taken].events);
            self.path.truncate(step.taken);
            self.standpoints.truncate(step.taken);
        }
        self.steps.truncate(depth);
    }

    /// The choices of a step.
    pub(super) fn choices(&self, depth: usize) -> &[Taken] {
        let end = self.steps.get(depth + 1).map_or(self.path.len(), |next| next.taken);
        &self.path[self.steps[depth].taken..end]
    }

    /// Performs a step. `before` are the choices open now; `after` gets those open then.
    pub(super) fn step<M: Machine>(
        &mut self,
        machine: &mut M,
        choice: Choice,
        before: &[Choice],
        after: &mut Vec<Choice>,
        precision: Precision,
        grouping: &Grouping,
    ) {
        let taken = self.path.len();
        let threads = machine.thread_count();
        let operation = machine.pending(choice.thread).expect("an enabled thread has an operation");
        let standpoints = &mut self.standpoints;
        let mut into = Into { recorder: &mut self.recorder, path: &mut self.path, standpoints };
        let (mut action, worst) = perform(machine, choice, before, after, &mut into, grouping);
        let outcome = action.footprint;
        if precision == Precision::Operation && outcome != Footprint::Everything {
            Arc::make_mut(&mut action.0).footprint = worst;
        }
        let previous = self.last_of(choice.thread, self.steps.len());
        let (index, clock) = self.order(&action, previous);
        let born = (threads, machine.thread_count() - threads);
        let last = self.steps.last().map(Step::thread);
        let preempts = preempts(last, before, choice.thread);
        let step = Step { action, operation, taken, worst, outcome, previous, born, index, clock, preempts };
        self.steps.push(step);
    }

    /// How often a thread was stopped that could have gone on.
    pub(super) fn preemptions(&self) -> u32 {
        self.steps.iter().filter(|step| step.preempts).count() as u32
    }

    /// How often the thread that moved last has come to the same operation.
    pub(super) fn rounds(&self) -> u32 {
        rounds(self.steps.iter().map(|step| (step.thread(), step.operation.site)))
    }

    /// Which one of its thread's steps the action is, and what is ordered before it.
    fn order(&self, action: &Action, previous: Option<usize>) -> (u32, VectorClock) {
        let thread = action.choice.thread;
        let mut clock = previous.map_or_else(VectorClock::default, |at| self.steps[at].clock.clone());
        let index = clock.count(thread) + 1;
        for step in self.steps.iter().rev() {
            if !clock.covers(step.epoch()) && step.action.orders(action) {
                clock.join(&step.clock);
            }
        }
        clock.set(Epoch { thread, count: index });
        (index, clock)
    }

    /// Whether it is ordered before whatever the thread does next, when the run is this long.
    pub(super) fn is_before_next_of(&self, step: &Step, thread: ThreadId, depth: usize) -> bool {
        self.last_of(thread, depth).is_some_and(|last| step.is_before(&self.steps[last]))
    }

    /// The latest of the first `depth` steps that is the thread's own or created it.
    fn last_of(&self, thread: ThreadId, depth: usize) -> Option<usize> {
        let own = |step: &Step| step.thread() == thread || step.gave_birth_to(thread);
        self.steps[..depth].iter().rposition(own)
    }

    /// Steps that are ordered directly before the one at `depth`, and not before the last one of its thread.
    pub(super) fn direct_races(&self, depth: usize, by_thread: &[Vec<usize>]) -> Vec<usize> {
        let step = &self.steps[depth];
        let mut found = Vec::new();
        for (thread, own) in by_thread.iter().enumerate() {
            let thread = ThreadId::from_index(thread);
            if thread == step.thread() {
                continue;
            }
            let known = step.previous.map_or(0, |at| self.steps[at].clock.count(thread)) as usize;
            let before = step.clock.count(thread) as usize;
            let orders = |at: &&usize| self.steps[**at].action.orders(&step.action);
            found.extend(own[known..before].iter().filter(orders));
        }
        found
    }

    /// Whether the step at `depth` may conflict with what other threads do from `from` on, in whatever way that goes.
    pub(super) fn may_meet(&self, depth: usize, from: usize, later: Later) -> bool {
        let step = &self.steps[depth];
        let conflicts = |other: &Step| {
            let worst = Action::worst(other.action.choice, other.worst);
            let releases = other.action.along.iter().flat_map(|along| along.given_up());
            let everything = other.outcome == Footprint::Everything;
            other.thread() != step.thread()
                && (everything
                    || step.action.depends(&worst)
                    || releases
                        .into_iter()
                        .any(|release| step.action.depends(&Action::worst(other.action.choice, *release)))
                    || step.action.touches(other.thread()) && !step.gave_birth_to(other.thread()))
        };
        match later {
            Later::AsSeen => self.steps[from..].iter().any(conflicts),
            Later::Anything => {
                let born = |thread: &ThreadId| step.gave_birth_to(*thread);
                step.action.footprint != Footprint::Nothing
                    || step.action.along.is_some()
                    || !step.action.touched.iter().all(born)
            }
        }
    }

    /// Which threads have come back to where they stood before, up to the end of the run: one that has not was never asleep, and would
    /// not be in any other run with the same steps of it.
    pub(super) fn circles<M: Machine>(
        &self,
        machine: &M,
        pending: &[Option<(Operation, Action)>],
    ) -> Vec<bool> {
        let mut stood: Vec<(ThreadId, u64)> = Vec::with_capacity(self.path.len());
        stood.extend(self.path.iter().zip(&self.standpoints).map(|(taken, at)| (taken.choice.thread, *at)));
        let next = || pending.iter().flatten().map(|(operation, next)| (next.choice.thread, operation));
        stood.extend(next().map(|(thread, _)| (thread, machine.standpoint(thread))));
        stood.sort_unstable();
        let mut circles = vec![false; pending.len()];
        for pair in stood.windows(2).filter(|pair| pair[0] == pair[1]) {
            circles[pair[0].0.index()] = true;
        }
        let done = self.steps.iter().map(|step| (step.thread(), &step.operation));
        for (thread, _) in done.chain(next()).filter(|(_, operation)| operation.kind == OpKind::Spin) {
            circles[thread.index()] = true;
        }
        circles
    }

    /// Where the steps of each thread are.
    pub(super) fn by_thread(&self, threads: u32) -> Vec<Vec<usize>> {
        let mut all = vec![Vec::new(); threads as usize];
        for (depth, step) in self.steps.iter().enumerate() {
            all[step.thread().index()].push(depth);
        }
        all
    }
}

impl Step {
    pub(super) fn thread(&self) -> ThreadId {
        self.action.choice.thread
    }

    pub(super) fn epoch(&self) -> Epoch {
        Epoch { thread: self.thread(), count: self.index }
    }

    /// Whether it is ordered before the other, later step.
    pub(super) fn is_before(&self, later: &Step) -> bool {
        later.clock.covers(self.epoch())
    }

    /// Whether the operation of another thread, which is dependent on this step, is certainly impossible without it: the thread held
    /// the lock, was alive, had not arrived, had not ended the initialiser.
    pub(super) fn is_needed_by(&self, operation: OpKind) -> bool {
        let given_up = |lock| self.action.along.as_ref().is_some_and(|along| along.releases(lock));
        match operation {
            OpKind::Lock { lock, how: LockHow::Block, .. } | OpKind::WaitEnd { mutex: lock, .. }
                if given_up(lock) =>
            {
                true
            }
            _ => is_needed_by(self.thread(), self.operation.kind, &self.outcome, operation),
        }
    }

    /// What it does in another place, where it is known to do the same. Which threads it touches there is not known, but as long as
    /// none goes round in circles, the operations tell; except for the threads that it creates.
    pub(super) fn elsewhere(&self) -> Action {
        let (first, count) = self.born;
        let born = (first..first + count).map(ThreadId);
        if born.clone().eq(self.action.touched.iter().copied()) {
            return self.action.clone();
        }
        let Deed { choice, footprint, along, .. } = &*self.action;
        let (choice, footprint, along) = (*choice, *footprint, along.clone());
        Action(Arc::new(Deed { choice, footprint, touched: born.collect(), along }))
    }

    fn gave_birth_to(&self, thread: ThreadId) -> bool {
        let (first, count) = self.born;
        (first..first + count).contains(&(thread.index() as u32))
    }
}

impl Action {
    /// What the thread would do next, at its worst; `None` when it has ended.
    pub(super) fn pending<M: Machine>(machine: &M, thread: ThreadId) -> Option<(Operation, Action)> {
        let operation = machine.pending(thread)?;
        let footprint = Footprint::pending(thread, operation.kind, &machine.held_locks(thread));
        let choice = Choice { thread, variant: 0 };
        Some((operation, Action::worst(choice, footprint)))
    }

    /// Nothing is known but the operation.
    pub(super) fn worst(choice: Choice, footprint: Footprint) -> Action {
        Action(Arc::new(Deed { choice, footprint, touched: Vec::new(), along: None }))
    }

    /// Whether it comes before `later`, an action of another thread that follows it, in every equivalent run.
    pub(super) fn orders(&self, later: &Action) -> bool {
        self.depends(later) || self.touches(later.choice.thread)
    }

    /// Whether `other`, an action of another thread that was possible in the same state, is still possible behind this one, and
    /// both orders are equivalent.
    pub(super) fn leaves(&self, other: &Action) -> bool {
        !self.excludes(other) && !self.touches(other.choice.thread) && !other.touches(self.choice.thread)
    }

    /// Both variants of one operation, taken together.
    pub(super) fn and(mut self, other: Action) -> Action {
        let own = Arc::make_mut(&mut self.0);
        if other.footprint == Footprint::Everything {
            own.footprint = Footprint::Everything;
        }
        own.touched.extend(&other.touched);
        own.touched.sort_unstable();
        own.touched.dedup();
        self
    }

    pub(super) fn touches(&self, thread: ThreadId) -> bool {
        self.touched.binary_search(&thread).is_ok()
    }
}

/// Where a step is written down.
pub(super) struct Into<'a> {
    pub(super) recorder: &'a mut Recorder,
    pub(super) path: &'a mut Vec<Taken>,
    pub(super) standpoints: &'a mut Vec<u64>,
}

impl Into<'_> {
    fn step<M: Machine>(&mut self, machine: &mut M, choice: Choice) {
        self.path.push(Taken { choice, events: self.recorder.len() });
        self.standpoints.push(machine.standpoint(choice.thread));
        machine.step(choice, self.recorder);
    }
}

/// Performs one step that is written down nowhere; `after` gets the choices open then.
pub(super) fn attempt<M: Machine>(
    machine: &mut M,
    choice: Choice,
    before: &[Choice],
    after: &mut Vec<Choice>,
    grouping: &Grouping,
) -> Action {
    let (mut path, mut standpoints) = (Vec::new(), Vec::new());
    let mut recorder = Recorder::from_the_middle();
    let mut into = Into { recorder: &mut recorder, path: &mut path, standpoints: &mut standpoints };
    perform(machine, choice, before, after, &mut into, grouping).0
}

/// Performs one step on the machine and finds out what it did, and what its operation might have done at worst.
pub(super) fn perform<M: Machine>(
    machine: &mut M,
    choice: Choice,
    before: &[Choice],
    after: &mut Vec<Choice>,
    into: &mut Into,
    grouping: &Grouping,
) -> (Action, Footprint) {
    let operation = machine.pending(choice.thread).expect("an enabled thread has an operation");
    let held = machine.held_locks(choice.thread);
    let problems = machine.problems().len();
    let events = into.recorder.len();
    into.step(machine, choice);
    machine.enabled(after);
    let first = Choice { variant: 0, ..choice };
    while grouping.goes_on(machine, choice.thread, after) {
        into.step(machine, first);
        machine.enabled(after);
    }
    let events = &into.recorder.trace().events[events..];
    let footprint = Footprint::performed(&Performed {
        thread: choice.thread,
        kind: operation.kind,
        events,
        status: &machine.status(),
        problems: &machine.problems()[problems..],
        held: &held,
        next: if after.iter().any(|next| next.thread == choice.thread) {
            NextMove::Possible
        } else {
            NextMove::NotPossible
        },
    });
    let along = match grouping.locks {
        Locks::Ordered => None,
        Locks::Commute => Along::of(operation.kind, events).map(Arc::new),
    };
    let worst = Footprint::pending(choice.thread, operation.kind, &held);
    let touched = changed(choice.thread, before, after);
    (Action(Arc::new(Deed { choice, footprint, touched, along })), worst)
}

/// Threads other than `mover` whose choices differ. Both lists are sorted.
fn changed(mover: ThreadId, before: &[Choice], after: &[Choice]) -> Vec<ThreadId> {
    let mut touched = Vec::new();
    let (mut a, mut b) = (0, 0);
    while a < before.len() || b < after.len() {
        let thread = match (before.get(a), after.get(b)) {
            (Some(x), Some(y)) => x.thread.min(y.thread),
            (Some(x), None) => x.thread,
            (None, Some(y)) => y.thread,
            (None, None) => unreachable!("one of them is left"),
        };
        let of = |choices: &[Choice], from: usize| {
            choices[from..].iter().take_while(|choice| choice.thread == thread).count()
        };
        let (before_count, after_count) = (of(before, a), of(after, b));
        let same = before[a..a + before_count] == after[b..b + after_count];
        if !same && thread != mover {
            touched.push(thread);
        }
        a += before_count;
        b += after_count;
    }
    touched
}
