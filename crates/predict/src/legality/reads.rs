//! Which reads of a reordering may give another value than in the trace.

use super::Access;
use crate::candidate::Error;
use crate::reordering::Input;
use raddle_event::{Event, ObjectId, ThreadId, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// Deciding reads in the order, and those of read-modify-writes among the events of the error, that are not concrete; sorted.
pub fn uncertain(input: Input, order: &[usize], error: &Error) -> Vec<usize> {
    let events = &input.trace.events;
    let sources = sources(input.trace);
    let mut memory = Memory::default();
    // Threads that have read something that is not concrete: what they write is not.
    let mut doubtful: BTreeSet<ThreadId> = BTreeSet::new();
    let mut doubtful_writes: BTreeSet<usize> = BTreeSet::new();
    let mut uncertain = Vec::new();
    let last: Vec<usize> = match error {
        Error::Race { first, second } => vec![*first, *second],
        Error::Deadlock { .. } => Vec::new(),
    };
    for (place, &at) in order.iter().chain(&last).enumerate() {
        let event = &events[at];
        let Some(access) = Access::of(event) else { continue };
        let of_error = place >= order.len();
        let from = if of_error { memory.sources(&access) } else { memory.perform(at, event) };
        let concrete =
            from == sources[at] && from.iter().flatten().all(|write| !doubtful_writes.contains(write));
        if access.reads && !concrete {
            if input.deciding.contains(event.site) && (!of_error || access.writes) {
                uncertain.push(at);
            }
            if !of_error {
                doubtful.insert(event.thread);
            }
        }
        if access.writes && doubtful.contains(&event.thread) {
            doubtful_writes.insert(at);
        }
    }
    uncertain.sort();
    uncertain
}

/// Of every read of the trace, the write that each byte comes from; `None` for what was there before the trace. Nothing for other events.
pub(crate) fn sources(trace: &Trace) -> Vec<Vec<Option<usize>>> {
    let mut recorded = Memory::default();
    trace.events.iter().enumerate().map(|(at, event)| recorded.perform(at, event)).collect()
}

/// The last write of every byte.
#[derive(Default)]
struct Memory {
    writes: BTreeMap<(ObjectId, u32), usize>,
}

impl Memory {
    fn sources(&self, access: &Access) -> Vec<Option<usize>> {
        if !access.reads {
            return Vec::new();
        }
        bytes(access).map(|byte| self.writes.get(&byte).copied()).collect()
    }

    fn perform(&mut self, at: usize, event: &Event) -> Vec<Option<usize>> {
        let Some(access) = Access::of(event) else { return Vec::new() };
        let sources = self.sources(&access);
        if access.writes {
            self.writes.extend(bytes(&access).map(|byte| (byte, at)));
        }
        sources
    }
}

fn bytes(access: &Access) -> impl Iterator<Item = (ObjectId, u32)> + use<> {
    let loc = access.loc;
    (loc.offset..loc.offset.saturating_add(loc.len)).map(move |offset| (loc.object, offset))
}
