//! One run of the tree, from the start to its end: its steps, which of them are ordered, and that it has no race.

use super::footprint::Footprint;
use super::step::{Action, Listener, perform, slept};
use super::walk::Node;
use super::{Refusal, Rule};
use raddle_event::{Choice, EventKind, ThreadId};
use raddle_machine::{Machine, OpKind};
use raddle_order::{Listing, Pairs};

#[derive(Default)]
pub(super) struct Run {
    pub(super) steps: Vec<Step>,
    /// What each thread would have done next, where it has not ended.
    pub(super) pending: Vec<Next>,
    /// Which step created each thread.
    creators: Vec<Option<usize>>,
    pub(super) weak_atomics: bool,
    /// A thread was put to sleep because it came back to where it was.
    pub(super) slept: bool,
}

pub(super) struct Step {
    /// The state before it.
    pub(super) node: usize,
    pub(super) action: Action,
    pub(super) next: Next,
    /// Steps ordered before it.
    before: Set,
}

/// An operation, before it is performed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    pub(super) thread: ThreadId,
    pub(super) kind: OpKind,
    /// The worst that it may turn out to be.
    pub(super) worst: Footprint,
    /// The step before it of its thread, or the one that created the thread.
    pub(super) previous: Option<usize>,
}

/// Longer runs are refused: the work grows with the square.
const LONGEST: usize = 10_000;

impl Run {
    /// Performs the run that goes through these states by these explored choices, from the start of the machine.
    pub(super) fn of<M: Machine>(
        machine: &mut M,
        nodes: &[Node],
        path: &[(usize, usize)],
    ) -> Result<Run, Refusal> {
        if path.len() > LONGEST {
            let text = format!("a run of {} steps; the checker takes up to {LONGEST}", path.len());
            return Err(Refusal { rule: Rule::Size, text });
        }
        let mut run = Run { creators: vec![None], ..Run::default() };
        let mut listener = Listener::default();
        let (mut enabled, mut after): (Vec<Choice>, Vec<Choice>) = (Vec::new(), Vec::new());
        machine.enabled(&mut enabled);
        for (at, (node, child)) in path.iter().enumerate() {
            let choice = nodes[*node].explored[*child].0.choice;
            let next = run.next(machine, choice.thread).expect("an open choice has an operation");
            let action = perform(machine, choice, &enabled, &mut after, &mut listener);
            run.creators.resize(machine.thread_count() as usize, Some(at));
            let before = run.before(&action, &next);
            run.steps.push(Step { node: *node, action, next, before });
            std::mem::swap(&mut enabled, &mut after);
            run.slept |= slept(machine);
        }
        run.pending =
            (0..machine.thread_count()).filter_map(|thread| run.next(machine, ThreadId(thread))).collect();
        run.weak_atomics = listener.weak;
        let mut pairs = Pairs::new(Listing::OncePerSite);
        let race = listener.trace.events.iter().find_map(|event| pairs.observe(event).first().copied());
        match race {
            None => Ok(run),
            Some(pair) => {
                let event = |at: usize| &listener.trace.events[at];
                let loc = |at: usize| match event(at).kind {
                    EventKind::Access { loc, .. } | EventKind::Atomic { loc, .. } => machine.place_name(loc),
                    _ => String::new(),
                };
                let text = format!(
                    "{} and {} race on {}",
                    event(pair.first).thread,
                    event(pair.second).thread,
                    loc(pair.second)
                );
                Err(Refusal { rule: Rule::Races, text })
            }
        }
    }

    /// Whether the first of the two steps is ordered before the second.
    pub(super) fn is_before(&self, first: usize, second: usize) -> bool {
        self.steps[second].before.contains(first)
    }

    /// What the thread does next; `None` when it has ended.
    fn next<M: Machine>(&self, machine: &M, thread: ThreadId) -> Option<Next> {
        let kind = machine.pending(thread)?.kind;
        let worst = Footprint::worst(thread, kind, &machine.held_locks(thread));
        let own = self.steps.iter().rposition(|step| step.action.thread() == thread);
        let previous = own.or_else(|| self.creators.get(thread.0 as usize).copied().flatten());
        Some(Next { thread, kind, worst, previous })
    }

    fn before(&self, action: &Action, next: &Next) -> Set {
        let mut before = Set::default();
        let mut add = |at: usize| {
            before.extend(&self.steps[at].before);
            before.insert(at);
        };
        next.previous.into_iter().for_each(&mut add);
        for (at, step) in self.steps.iter().enumerate() {
            if step.action.thread() != action.thread() && step.action.orders(action) {
                add(at);
            }
        }
        before
    }
}

/// A set of steps.
#[derive(Clone, Debug, Default)]
struct Set(Vec<u64>);

impl Set {
    fn contains(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    fn insert(&mut self, at: usize) {
        if self.0.len() <= at / 64 {
            self.0.resize(at / 64 + 1, 0);
        }
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn extend(&mut self, other: &Set) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }
}
