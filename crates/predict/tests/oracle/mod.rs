//! All reorderings of a small trace, one by one: depth first over the states of the definition, each state once.
//!
//! Which way it errs: neither, where it says [`Some`]. It shares the rules of the order with the check of candidates, and follows the values of reads
//! by itself.

use raddle_event::{Event, EventKind, LockMode, ObjectId, ThreadId};
use raddle_predict::Input;
use raddle_predict::legality::{Access, Facts, Index, State};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What some reordering has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Smaller index first.
    pub races: BTreeSet<(usize, usize)>,
    /// All blocked events of a state with a deadlock.
    pub deadlocks: BTreeSet<Vec<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reorderings {
    All,
    /// Those in which all deciding reads are concrete.
    Certain,
    /// Those of them that keep the order of the critical sections of each lock (Mathur, Pavlogiannis and Viswanathan, POPL 2021, section 2).
    SyncPreserving,
}

/// `None` where there are more than `limit` states.
pub fn search(input: Input, reorderings: Reorderings, limit: usize) -> Option<Found> {
    let index = Index::new(input);
    let mut sources = Values::default();
    let events = &input.trace.events;
    let sources = events.iter().enumerate().map(|(at, event)| sources.perform(at, event)).collect();
    let mut search =
        Search { input, reorderings, limit, sources, seen: HashSet::new(), found: Found::default() };
    search.visit(State::new(&index), Values::default()).then_some(search.found)
}

struct Search<'a> {
    input: Input<'a>,
    reorderings: Reorderings,
    limit: usize,
    /// Where each event of the trace read its bytes from.
    sources: Vec<Vec<Option<usize>>>,
    seen: HashSet<(Facts, Values)>,
    found: Found,
}

/// Who wrote each byte last, and which threads and writes depend on a read that is not concrete.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Values {
    writers: BTreeMap<(ObjectId, u32), usize>,
    doubtful: BTreeSet<ThreadId>,
    doubtful_writes: BTreeSet<usize>,
}

impl Values {
    fn sources(&self, event: &Event) -> Vec<Option<usize>> {
        match Access::of(event) {
            Some(Access { loc, reads: true, .. }) => {
                let bytes = loc.offset..loc.offset + loc.len;
                bytes.map(|byte| self.writers.get(&(loc.object, byte)).copied()).collect()
            }
            _ => Vec::new(),
        }
    }

    fn perform(&mut self, at: usize, event: &Event) -> Vec<Option<usize>> {
        let sources = self.sources(event);
        if let Some(Access { loc, writes: true, .. }) = Access::of(event) {
            for byte in loc.offset..loc.offset + loc.len {
                self.writers.insert((loc.object, byte), at);
            }
        }
        sources
    }
}

impl Search<'_> {
    /// Whether all was seen.
    fn visit(&mut self, state: State, values: Values) -> bool {
        if !self.seen.insert((state.facts().clone(), values.clone())) {
            return true;
        }
        if self.seen.len() > self.limit {
            return false;
        }
        let nexts = state.nexts();
        self.races(&state, &nexts, &values);
        let blocked = state.deadlocked();
        if !blocked.is_empty() {
            self.found.deadlocks.insert(blocked);
        }
        nexts.iter().all(|&event| {
            if !state.is_possible(event) || !self.keeps_order(event, &nexts) {
                return true;
            }
            let Some(values) = self.values_after(event, values.clone()) else { return true };
            let mut state = state.clone();
            state.take(event);
            self.visit(state, values)
        })
    }

    /// Whether no critical section of the lock that comes later in the trace, and not only shared with this one, was entered before.
    fn keeps_order(&self, at: usize, nexts: &[usize]) -> bool {
        let events = &self.input.trace.events;
        let EventKind::Acquire { lock, mode } = events[at].kind else { return true };
        self.reorderings != Reorderings::SyncPreserving
            || !events[at..].iter().zip(at..).any(|(later, place)| {
                let next = nexts.iter().find(|next| events[**next].thread == later.thread);
                let taken = next.is_none_or(|next| place < *next);
                matches!(later.kind, EventKind::Acquire { lock: other, mode: others } if other == lock
                    && (mode == LockMode::Exclusive || others == LockMode::Exclusive))
                    && taken
            })
    }

    fn races(&mut self, state: &State, nexts: &[usize], values: &Values) {
        for (place, &a) in nexts.iter().enumerate() {
            for &b in &nexts[place + 1..] {
                if state.is_race(a, b) && self.reads_well(a, values) && self.reads_well(b, values) {
                    self.found.races.insert((a.min(b), a.max(b)));
                }
            }
        }
    }

    /// Whether an access of a race writes for certain, if it depends on what it reads.
    fn reads_well(&self, at: usize, values: &Values) -> bool {
        let event = &self.input.trace.events[at];
        let writes = Access::of(event).is_some_and(|access| access.writes);
        self.reorderings == Reorderings::All
            || !writes
            || !self.input.deciding.contains(event.site)
            || self.is_concrete(at, values)
    }

    fn is_concrete(&self, at: usize, values: &Values) -> bool {
        let sources = values.sources(&self.input.trace.events[at]);
        let spoilt = |write: &usize| values.doubtful_writes.contains(write);
        sources == self.sources[at] && !sources.iter().flatten().any(spoilt)
    }

    /// `None` where the event is a deciding read that is not concrete, and certain reorderings are wanted.
    fn values_after(&self, at: usize, mut values: Values) -> Option<Values> {
        if self.reorderings == Reorderings::All {
            return Some(values);
        }
        let event = &self.input.trace.events[at];
        if !self.is_concrete(at, &values) {
            if self.input.deciding.contains(event.site) {
                return None;
            }
            values.doubtful.insert(event.thread);
        }
        values.perform(at, event);
        if values.doubtful.contains(&event.thread) && Access::of(event).is_some_and(|access| access.writes) {
            values.doubtful_writes.insert(at);
        }
        Some(values)
    }
}
