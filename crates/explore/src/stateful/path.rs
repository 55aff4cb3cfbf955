//! One step of a search that follows a path: what it did, which races it showed.

use super::history::History;
use crate::dependence::{Footprint, NextMove, Performed};
use crate::enumerate::is_weak;
use raddle_event::{Choice, Event, EventKind};
use raddle_machine::{Machine, Operation, Sink, StackSource};

/// What a step did.
pub(crate) struct Stepped {
    pub(crate) operation: Operation,
    pub(crate) outcome: Footprint,
    pub(crate) races: Vec<(Event, Event)>,
    pub(crate) assumption: Option<&'static str>,
}

/// Performs a step; `after` gets the choices open then.
pub(crate) fn step<M: Machine>(
    machine: &mut M,
    choice: Choice,
    history: &mut History,
    after: &mut Vec<Choice>,
) -> Stepped {
    let operation = machine.pending(choice.thread).expect("an enabled thread has an operation");
    let held = machine.held_locks(choice.thread);
    let problems = machine.problems().len();
    let mut listener = Listener { history, events: Vec::new(), races: Vec::new(), assumption: None };
    machine.step(choice, &mut listener);
    let Listener { events, races, assumption, .. } = listener;
    machine.enabled(after);
    let next = match after.iter().any(|next| next.thread == choice.thread) {
        true => NextMove::Possible,
        false => NextMove::NotPossible,
    };
    let outcome = Footprint::performed(&Performed {
        thread: choice.thread,
        kind: operation.kind,
        events: &events,
        status: &machine.status(),
        problems: &machine.problems()[problems..],
        held: &held,
        next,
    });
    Stepped { operation, outcome, races, assumption }
}

struct Listener<'a> {
    history: &'a mut History,
    /// All but plain accesses.
    events: Vec<Event>,
    races: Vec<(Event, Event)>,
    assumption: Option<&'static str>,
}

impl Sink for Listener<'_> {
    fn event(&mut self, event: Event, _stack: &dyn StackSource) {
        self.races.extend(self.history.observe(&event).into_iter().map(|first| (first, event)));
        match event.kind {
            EventKind::Access { .. } => return,
            EventKind::Atomic { op, .. } if is_weak(op) => self.assumption = Some("A-SC"),
            _ => {}
        }
        self.events.push(event);
    }
}
