//! One step on a machine, and what it did.

use super::SLEEP;
use super::footprint::{Footprint, Performed, dependent, excludes};
use raddle_base::{LoadOrder, RmwOrder, SiteId, StoreOrder};
use raddle_event::{AccessKind, AtomicOp, Choice, Event, EventKind, Loc, ThreadId, Trace};
use raddle_machine::{Machine, Sink, StackSource};
use std::collections::HashSet;

/// A choice and what it did where it was taken.
#[derive(Clone, Debug)]
pub(super) struct Action {
    pub(super) choice: Choice,
    pub(super) footprint: Footprint,
    /// Other threads whose choices it changed.
    touched: Vec<ThreadId>,
}

impl Action {
    pub(super) fn thread(&self) -> ThreadId {
        self.choice.thread
    }

    pub(super) fn touches(&self, thread: ThreadId) -> bool {
        self.touched.contains(&thread)
    }

    /// Whether it comes before `later`, a step of another thread that follows it, in every equivalent run.
    pub(super) fn orders(&self, later: &Action) -> bool {
        dependent(&self.footprint, &later.footprint) || self.touches(later.thread())
    }

    /// Whether `other`, of another thread and possible in the same state, may as well come behind it.
    pub(super) fn leaves(&self, other: &Action) -> bool {
        !excludes(&self.footprint, &other.footprint)
            && !self.touches(other.thread())
            && !other.touches(self.thread())
    }

    /// Whether some run that begins with `sequence` is equivalent to one that begins with this: a weak initial.
    pub(super) fn may_come_first(&self, sequence: &[Action]) -> bool {
        for other in sequence {
            if other.thread() == self.thread() {
                return other.choice == self.choice;
            }
            if !other.leaves(self) {
                return false;
            }
        }
        true
    }
}

/// Takes one of the choices open now, which are `before`; afterwards `after` are those open then.
pub(super) fn perform<M: Machine>(
    machine: &mut M,
    choice: Choice,
    before: &[Choice],
    after: &mut Vec<Choice>,
    listener: &mut Listener,
) -> Action {
    let kind = machine.pending(choice.thread).expect("an open choice has an operation").kind;
    let held = machine.held_locks(choice.thread);
    let (problems, events) = (machine.problems().len(), listener.trace.events.len());
    machine.step(choice, listener);
    machine.enabled(after);
    let footprint = Footprint::performed(&Performed {
        thread: choice.thread,
        kind,
        events: &listener.trace.events[events..],
        status: &machine.status(),
        problems: machine.problems().get(problems..).unwrap_or_default(),
        held: &held,
        goes_on: after.iter().any(|next| next.thread == choice.thread),
    });
    let of = |choices: &[Choice], thread: ThreadId| -> Vec<u32> {
        choices.iter().filter(|choice| choice.thread == thread).map(|choice| choice.variant).collect()
    };
    let mut touched: Vec<ThreadId> = Vec::new();
    if before.len() != after.len() || before.iter().zip(&*after).any(|(a, b)| a != b) {
        let others = (0..machine.thread_count()).map(ThreadId).filter(|thread| *thread != choice.thread);
        touched.extend(others.filter(|thread| of(before, *thread) != of(after, *thread)));
    }
    Action { choice, footprint, touched }
}

/// Whether a thread was put to sleep on the way to this state because it came back to where it was.
pub(super) fn slept<M: Machine>(machine: &M) -> bool {
    machine.assumptions().contains(&SLEEP)
}

/// Keeps the events that matter to order and races. An access that repeats one of its thread, with no synchronisation of any thread in
/// between, is left out: whatever is unordered with one of the two is unordered with the other.
#[derive(Default)]
pub(super) struct Listener {
    pub(super) trace: Trace,
    recent: HashSet<(ThreadId, SiteId, Loc, AccessKind)>,
    /// An atomic weaker than `seq_cst` was met.
    pub(super) weak: bool,
}

impl Sink for Listener {
    fn event(&mut self, event: Event, _stack: &dyn StackSource) {
        match event.kind {
            EventKind::Access { loc, kind } => {
                if !self.recent.insert((event.thread, event.site, loc, kind)) {
                    return;
                }
            }
            EventKind::Atomic { op, .. } => {
                self.weak |= match op {
                    AtomicOp::Load(order) => order != LoadOrder::SeqCst,
                    AtomicOp::Store(order) => order != StoreOrder::SeqCst,
                    AtomicOp::Rmw(order) => order != RmwOrder::SeqCst,
                };
                self.recent.clear();
            }
            _ => self.recent.clear(),
        }
        self.trace.events.push(event);
    }
}
