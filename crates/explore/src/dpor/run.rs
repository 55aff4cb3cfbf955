//! The present run: its steps, what each of them did, and which of them are ordered.
//!
//! Step `a` is ordered before a later step `b` of another thread when they are dependent, or when `a` changed the choices that
//! `b`'s thread had before `b` ([`Step::touched`]): created it, ended what it joins, gave it what it waited for, took it away, woke it
//! or put it to sleep. The order is closed under transitivity and kept as a vector clock per step.

use super::deeds::{Action, Deed, Deeds};
use super::lines::{Lines, Reversal, Standpoints};
use super::rests::Floor;
use super::sections::{Along, Grouping, Locks};
use super::thread_set::ThreadSet;
use crate::bounds::{preempts, rounds};
use crate::dependence::{Footprint, NextMove, Performed, is_needed_by};
use crate::enumerate::{Recorder, Taken};
use crate::pdp::Later;
use raddle_base::{Id, SiteId};
use raddle_event::{Choice, ThreadId};
use raddle_machine::{LockHow, Machine, OpKind, Operation};
use raddle_order::{Epoch, Rewinding, VectorClock};
use std::ops::Range;
use std::sync::Arc;

/// The steps taken so far, with the trace that they gave.
#[derive(Default)]
pub(crate) struct Run {
    pub(crate) steps: Vec<Step>,
    /// Choices: one per step, and one for each release that a step took along.
    pub(crate) path: Vec<Taken>,
    /// Where the thread stood before each of these choices.
    standpoints: Standpoints,
    pub(crate) recorder: Recorder,
    pub(super) lines: Lines,
    pub(super) deeds: Deeds,
    detector: Rewinding,
    /// Steps that were not taken back since this was last asked for.
    lasting: usize,
    /// Those that were.
    gone: Floor,
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
    /// The first of the threads that it created, if it did, and how many.
    born: (u32, u32),
    /// Which one of its thread's steps, from 1.
    index: u32,
    /// What is ordered before it, itself included.
    clock: VectorClock,
    /// The thread before it could have gone on.
    preempts: bool,
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
        self.lasting = self.lasting.min(depth);
        if let Some(step) = self.steps.get(depth) {
            self.recorder.truncate(self.path[step.taken].events);
            self.path.truncate(step.taken);
            self.standpoints.truncate(step.taken);
        }
        while self.steps.len() > depth {
            let step = self.steps.pop().expect("there are more");
            self.gone.lower(&step);
            self.lines.pop(step.thread(), step.born);
        }
    }

    /// The choices of a step.
    pub(super) fn choices(&self, depth: usize) -> &[Taken] {
        let end = self.steps.get(depth + 1).map_or(self.path.len(), |next| next.taken);
        &self.path[self.steps[depth].taken..end]
    }

    /// Where the events of a step are in the trace.
    pub(crate) fn events(&self, depth: usize) -> Range<usize> {
        let start = |step: &Step| self.path[step.taken].events;
        let end = self.steps.get(depth + 1).map_or(self.recorder.len(), start);
        start(&self.steps[depth])..end
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
        let standpoints = Some(&mut self.standpoints);
        let mut into = Into { recorder: &mut self.recorder, path: &mut self.path, standpoints };
        let (mut deed, worst) = perform(machine, choice, before, after, &mut into, grouping);
        let outcome = deed.footprint;
        if precision == Precision::Operation && outcome != Footprint::Everything {
            deed = deed.with(worst);
        }
        let action = self.deeds.action(&deed);
        let previous = self.lines.last_of(choice.thread, self.steps.len());
        let (index, clock) = self.order(&action, previous);
        let born = (threads, machine.thread_count() - threads);
        let last = self.steps.last().map(Step::thread);
        let preempts = preempts(last, before, choice.thread);
        self.lines.push(&action, born);
        let step = Step { action, operation, taken, worst, outcome, born, index, clock, preempts };
        self.steps.push(step);
    }

    /// Whether two accesses of the run race.
    pub(super) fn has_race(&mut self) -> bool {
        self.detector.truncate(self.recorder.lasting());
        let events = &self.recorder.trace().events[self.detector.len()..];
        events.iter().for_each(|event| self.detector.observe(event));
        self.detector.has_race()
    }

    /// What the step does in another place, where it is known to do the same. Which threads it touches there is not known, but as long
    /// as none goes round in circles, the operations tell; except for the threads that it creates.
    pub(super) fn elsewhere(&mut self, depth: usize) -> Action {
        let Step { action, .. } = &self.steps[depth];
        let born: ThreadSet = self.steps[depth].children().collect();
        if born == action.touched {
            return action.clone();
        }
        let Deed { choice, footprint, along, .. } = &**action;
        self.deeds.action(&Deed::new(*choice, *footprint, born, along.clone()))
    }

    /// Who moved, and what it did.
    pub(super) fn operations(&self) -> impl DoubleEndedIterator<Item = (ThreadId, OpKind)> + Clone {
        self.steps.iter().map(|step| (step.thread(), step.operation.kind))
    }

    /// Whether the last steps did nothing but go on in long stretches of plain instructions.
    pub(super) fn is_in_loops(&self) -> bool {
        const LAST: usize = 6;
        self.steps.len() >= LAST && self.operations().rev().take(LAST).all(|(_, kind)| kind == OpKind::Yield)
    }

    /// Whether a thread came to one of these places both before and after a long stretch of plain instructions.
    pub(super) fn goes_round(&self, places: impl Fn(SiteId) -> bool) -> bool {
        let comes_by = |depth: usize| {
            let events = &self.recorder.trace().events[self.events(depth)];
            events.iter().any(|event| places(event.site))
        };
        let long = |depth: &usize| self.steps[*depth].operation.kind == OpKind::Yield;
        (0..self.steps.len()).filter(long).any(|depth| {
            let own = |before: &usize| self.steps[*before].thread() == self.steps[depth].thread();
            let before = (0..depth).rev().find(own);
            comes_by(depth) && before.is_some_and(comes_by)
        })
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
    fn order(&mut self, action: &Action, previous: Option<usize>) -> (u32, VectorClock) {
        let thread = action.choice.thread;
        let mut clock = previous.map_or_else(VectorClock::default, |at| self.steps[at].clock.clone());
        let index = clock.count(thread) + 1;
        let steps = &self.steps;
        // Races are with what its thread did not know yet.
        let known = |other| previous.map_or(0, |at| steps[at].clock.count(other)) as usize;
        self.lines.races(action, known, |at| {
            let step = &steps[at];
            let races = step.action.orders(action);
            if races && !clock.covers(step.epoch()) {
                clock.join(&step.clock);
            }
            races
        });
        clock.set(Epoch { thread, count: index });
        (index, clock)
    }

    /// Whether it is ordered before whatever the thread does next, when the run is this long.
    pub(super) fn is_before_next_of(&self, step: &Step, thread: ThreadId, depth: usize) -> bool {
        self.lines.last_of(thread, depth).is_some_and(|last| step.is_before(&self.steps[last]))
    }

    /// Later steps that the one at `depth` is ordered directly before, and that nothing else of their threads keeps behind it.
    pub(super) fn seconds(&self, depth: usize) -> &[(u32, Reversal)] {
        self.lines.seconds(depth)
    }

    /// The steps that were taken back since [`Run::start_anew`].
    pub(super) fn gone(&self) -> &Floor {
        &self.gone
    }

    pub(super) fn start_anew(&mut self, threads: usize) {
        self.gone.clear(threads);
    }

    /// How many steps were not taken back since this was last asked for.
    pub(super) fn lasting(&mut self) -> usize {
        std::mem::replace(&mut self.lasting, self.steps.len())
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
                    || !step.action.touched.iter().all(|thread| born(&thread))
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
        let mut circles: Vec<bool> = (0..pending.len()).map(|at| self.standpoints.repeats(at)).collect();
        for (operation, next) in pending.iter().flatten() {
            let thread = next.choice.thread;
            circles[thread.index()] |=
                operation.kind == OpKind::Spin || self.standpoints.has(thread, machine.standpoint(thread));
        }
        for step in self.steps.iter().filter(|step| step.operation.kind == OpKind::Spin) {
            circles[step.thread().index()] = true;
        }
        circles
    }
}

impl Step {
    #[inline]
    pub(crate) fn thread(&self) -> ThreadId {
        self.action.choice.thread
    }

    #[inline]
    pub(super) fn epoch(&self) -> Epoch {
        Epoch { thread: self.thread(), count: self.index }
    }

    /// How many steps of each thread are ordered before it, itself included.
    pub(super) fn clock(&self) -> &VectorClock {
        &self.clock
    }

    /// Whether it is ordered before the other, later step.
    #[inline]
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

    /// The threads that it created.
    pub(super) fn children(&self) -> impl Iterator<Item = ThreadId> + use<> {
        let (first, count) = self.born;
        (first..first + count).map(ThreadId)
    }

    fn gave_birth_to(&self, thread: ThreadId) -> bool {
        self.children().any(|child| child == thread)
    }
}

/// Where a step is written down.
pub(super) struct Into<'a> {
    pub(super) recorder: &'a mut Recorder,
    pub(super) path: &'a mut Vec<Taken>,
    pub(super) standpoints: Option<&'a mut Standpoints>,
}

impl Into<'_> {
    fn step<M: Machine>(&mut self, machine: &mut M, choice: Choice) {
        self.path.push(Taken { choice, events: self.recorder.len() });
        if let Some(standpoints) = &mut self.standpoints {
            standpoints.push(choice.thread, machine.standpoint(choice.thread));
        }
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
    let mut into =
        Into { recorder: &mut Recorder::from_the_middle(), path: &mut Vec::new(), standpoints: None };
    Action::from(perform(machine, choice, before, after, &mut into, grouping).0)
}

/// Performs one step on the machine and finds out what it did, and what its operation might have done at worst.
pub(super) fn perform<M: Machine>(
    machine: &mut M,
    choice: Choice,
    before: &[Choice],
    after: &mut Vec<Choice>,
    into: &mut Into,
    grouping: &Grouping,
) -> (Deed, Footprint) {
    let operation = machine.pending(choice.thread).expect("an enabled thread has an operation");
    let held = match operation.kind {
        OpKind::Lock { .. } | OpKind::Unlock { .. } | OpKind::End => machine.held_locks(choice.thread),
        // Nobody looks at them.
        _ => Vec::new(),
    };
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
    (Deed::new(choice, footprint, touched, along), worst)
}

/// Threads other than `mover` whose choices differ. Both lists are sorted.
fn changed(mover: ThreadId, before: &[Choice], after: &[Choice]) -> ThreadSet {
    let mut touched = ThreadSet::default();
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
            touched.insert(thread);
        }
        a += before_count;
        b += after_count;
    }
    touched
}
