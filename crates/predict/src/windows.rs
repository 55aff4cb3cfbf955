//! Parts of a trace that are too long to be looked at as a whole, each with the state at its start.
//!
//! The reorderings of a part, behind the trace up to it, are reorderings of the trace: what came before has happened, and who holds the locks,
//! who waits and what the semaphores count is known. Reorderings that move an event across the start of its part are missed, so two
//! accesses that are farther apart than the longest part are not compared.
//!
//! Which way it errs: neither, but for those.

use crate::legality::{Index, SyncState, is_border, lives, signalled};
use crate::reordering::{Initial, Input};
use raddle_event::{Addr, Event, EventKind, Trace};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The trace, read up to some event.
pub(crate) struct Windows<'a> {
    input: Input<'a>,
    life: Vec<u32>,
    signalled: BTreeSet<usize>,
    read: usize,
    state: SyncState,
    lives: BTreeMap<Addr, u32>,
}

/// A part of a trace as a trace of its own.
pub(crate) struct Window {
    pub(crate) start: usize,
    pub(crate) trace: Trace,
    state: SyncState,
}

impl<'a> Windows<'a> {
    pub(crate) fn new(input: Input<'a>) -> Self {
        let life = lives(&input.trace.events);
        let signalled = signalled(&input.trace.events);
        let state = SyncState::before(input, &life, &signalled);
        Self { input, life, signalled, read: 0, state, lives: BTreeMap::new() }
    }

    /// The events of the range, and one more at either end where a step would be cut. Starts do not decrease from call to call.
    pub(crate) fn window(&mut self, range: Range<usize>) -> Window {
        let events = &self.input.trace.events;
        let start = range.start - usize::from(is_inside_a_step(events, range.start));
        let end = range.end + usize::from(is_inside_a_step(events, range.end));
        while self.read < start {
            let event = &events[self.read];
            self.state.take(event, self.life[self.read], self.signalled.contains(&self.read));
            if let (Some(object), true) = (event.kind.sync_object(), is_border(&event.kind)) {
                *self.lives.entry(object).or_default() += 1;
            }
            self.read += 1;
        }
        let trace = Trace { events: events[start..end].to_vec() };
        Window { start, trace, state: self.state.starting_with(&self.lives) }
    }
}

impl Window {
    /// Hands the part, prepared, to `answer`.
    pub(crate) fn with_index<T>(&self, input: Input, answer: impl FnOnce(&Index) -> T) -> T {
        let initial = Initial::default();
        let own = Input { trace: &self.trace, initial: &initial, ..input };
        answer(&Index::from(own, self.state.clone()))
    }
}

/// Whether the event before this place is the beginning or the end of a wait, and its mutex follows.
fn is_inside_a_step(events: &[Event], place: usize) -> bool {
    let Some([first, second]) = place.checked_sub(1).and_then(|first| events.get(first..=place)) else {
        return false;
    };
    let is_step = matches!(
        (first.kind, second.kind),
        (EventKind::WaitBegin { .. }, EventKind::Release { .. })
            | (EventKind::WaitEnd { .. }, EventKind::Acquire { .. })
    );
    is_step && first.thread == second.thread
}
