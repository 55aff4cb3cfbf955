//! What the trace as a whole says about each of its events.

use super::Facts;
use super::sync_state::{Failure, ObjectLife, SyncState, is_border, lives, signalled};
use crate::reordering::Input;
use raddle_event::{Addr, Event, EventKind, ObjectId, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// A trace, prepared for [`State`](super::State).
#[derive(Debug)]
pub struct Index<'a> {
    pub(crate) input: Input<'a>,
    /// By id.
    pub(crate) threads: Vec<(ThreadId, Vec<usize>)>,
    /// Of each event: its thread's place in `threads`, its own in the thread.
    pub(crate) place: Vec<(usize, usize)>,
    /// Of each event: what has to come before it in every reordering, by rules 2, 5, 7 and 8. Of several events of one thread
    /// the last is enough.
    pub(crate) after: Vec<Vec<usize>>,
    /// Of each event: how often its synchronisation object had been initialised or destroyed.
    pub(crate) life: Vec<u32>,
    signalled: BTreeSet<usize>,
    /// Of each failed acquisition.
    pub(crate) failures: BTreeMap<usize, Failure>,
    pub(crate) start: Facts,
}

impl<'a> Index<'a> {
    pub fn new(input: Input<'a>) -> Self {
        let life = lives(&input.trace.events);
        let signalled = signalled(&input.trace.events);
        let start = SyncState::before(input, &life, &signalled);
        Self::from(input, start)
    }

    /// Of a part of a trace that starts in this state, each synchronisation object in its first life.
    pub(crate) fn from(input: Input<'a>, start: SyncState) -> Self {
        let events = &input.trace.events;
        // A thread that holds a lock all the time may have no events.
        let holders = start.holders.values().flatten().map(|(thread, _)| (*thread, Vec::new()));
        let mut threads: BTreeMap<ThreadId, Vec<usize>> = holders.collect();
        for (at, event) in events.iter().enumerate() {
            threads.entry(event.thread).or_default().push(at);
        }
        let threads: Vec<_> = threads.into_iter().collect();
        let mut place = vec![(0, 0); events.len()];
        for (slot, (_, own)) in threads.iter().enumerate() {
            for (position, &at) in own.iter().enumerate() {
                place[at] = (slot, position);
            }
        }
        let mut index = Self {
            input,
            place,
            after: vec![Vec::new(); events.len()],
            failures: BTreeMap::new(),
            start: Facts { done: vec![0; threads.len()], objects: start, ..Facts::default() },
            life: lives(events),
            signalled: signalled(events),
            threads,
        };
        index.order_threads();
        index.order_rounds();
        index.order_sync_lives();
        index.order_blocks();
        index.explain_failures();
        index
    }

    pub(crate) fn slot(&self, thread: ThreadId) -> Option<usize> {
        self.threads.binary_search_by_key(&thread, |(id, _)| *id).ok()
    }

    pub(crate) fn event(&self, at: usize) -> Option<&'a Event> {
        self.input.trace.events.get(at)
    }

    /// The event of the same thread that has to follow at once: a wait and its mutex.
    pub(crate) fn second_half(&self, event: usize) -> Option<usize> {
        let next = self.following(event).next()?;
        match (self.input.trace.events[event].kind, self.input.trace.events[next].kind) {
            (EventKind::WaitBegin { .. }, EventKind::Release { .. }) => Some(next),
            (EventKind::WaitEnd { .. }, EventKind::Acquire { .. }) => Some(next),
            _ => None,
        }
    }

    /// Whether the wait that begins here ends in the trace because of a signal.
    pub(crate) fn is_signalled(&self, begin: usize) -> bool {
        self.signalled.contains(&begin)
    }

    /// Later events of the thread.
    fn following(&self, event: usize) -> impl Iterator<Item = usize> {
        let (slot, position) = self.place[event];
        self.threads[slot].1[position + 1..].iter().copied()
    }

    fn events_of(&self, thread: ThreadId) -> &[usize] {
        self.slot(thread).map_or(&[], |slot| &self.threads[slot].1)
    }

    /// A trace is a reordering of itself, so only what came before can have to.
    fn order(&mut self, before: usize, after: usize) {
        if before < after {
            self.after[after].push(before);
        }
    }

    /// Rule 2.
    fn order_threads(&mut self) {
        let mut created = BTreeMap::new();
        for (at, event) in self.input.trace.events.iter().enumerate() {
            match event.kind {
                EventKind::Create { child } => {
                    created.insert(child, at);
                    if let Some(&first) = self.events_of(child).first() {
                        self.order(at, first);
                    }
                }
                EventKind::Join { child } | EventKind::Detach { child } => {
                    if let Some(&creation) = created.get(&child) {
                        self.order(creation, at);
                    }
                    let last = self.events_of(child).last().copied();
                    if let (EventKind::Join { .. }, Some(last)) = (event.kind, last) {
                        self.order(last, at);
                    }
                }
                _ => {}
            }
        }
    }

    /// Rules 5 and 7.
    fn order_rounds(&mut self) {
        let mut arrivals: BTreeMap<(ObjectLife, u32), Vec<usize>> = BTreeMap::new();
        let mut initialised: BTreeMap<Addr, usize> = BTreeMap::new();
        for (at, event) in self.input.trace.events.iter().enumerate() {
            match event.kind {
                EventKind::BarrierArrive { barrier, round } => {
                    let object = (barrier, self.life[at]);
                    let before = round.checked_sub(1).and_then(|before| arrivals.get(&(object, before)));
                    for arrival in before.cloned().unwrap_or_default() {
                        self.order(arrival, at);
                    }
                    arrivals.entry((object, round)).or_default().push(at);
                }
                EventKind::BarrierLeave { barrier, round } => {
                    let own = arrivals.get(&((barrier, self.life[at]), round));
                    for arrival in own.cloned().unwrap_or_default() {
                        self.order(arrival, at);
                    }
                }
                EventKind::OnceEnd { once } => {
                    initialised.insert(once, at);
                }
                EventKind::OncePass { once } => {
                    if let Some(&end) = initialised.get(&once) {
                        self.order(end, at);
                    }
                }
                _ => {}
            }
        }
    }

    /// Rule 8, synchronisation objects.
    fn order_sync_lives(&mut self) {
        let mut users: BTreeMap<Addr, BTreeMap<ThreadId, usize>> = BTreeMap::new();
        let mut borders: BTreeMap<Addr, usize> = BTreeMap::new();
        for (at, event) in self.input.trace.events.iter().enumerate() {
            let Some(object) = event.kind.sync_object() else { continue };
            let users = users.entry(object).or_default();
            let border = borders.get(&object).copied();
            let mut before: Vec<usize> = border.into_iter().collect();
            if is_border(&event.kind) {
                before.extend(users.values());
                borders.insert(object, at);
            }
            users.insert(event.thread, at);
            for before in before {
                self.order(before, at);
            }
        }
    }

    /// Rule 8, memory. An access that came after the release of its block is not bound to do so.
    fn order_blocks(&mut self) {
        let mut users: BTreeMap<ObjectId, BTreeMap<ThreadId, usize>> = BTreeMap::new();
        let mut allocations: BTreeMap<ObjectId, usize> = BTreeMap::new();
        for (at, event) in self.input.trace.events.iter().enumerate() {
            let object = match event.kind {
                EventKind::Access { loc, .. } | EventKind::Atomic { loc, .. } => loc.object,
                EventKind::Alloc { object } | EventKind::Free { object } => object,
                _ => continue,
            };
            let users = users.entry(object).or_default();
            let mut before: Vec<usize> = allocations.get(&object).copied().into_iter().collect();
            if let EventKind::Alloc { .. } | EventKind::Free { .. } = event.kind {
                before.extend(users.values());
            }
            if let EventKind::Alloc { .. } = event.kind {
                allocations.insert(object, at);
            }
            users.insert(event.thread, at);
            for before in before {
                self.order(before, at);
            }
        }
    }

    /// Goes through the trace as it was recorded.
    fn explain_failures(&mut self) {
        let mut now = self.start.objects.clone();
        for (at, event) in self.input.trace.events.iter().enumerate() {
            if let EventKind::AcquireFailed { lock } = event.kind {
                self.failures.insert(at, now.failure((lock, self.life[at])));
            }
            now.take(event, self.life[at], self.is_signalled(at));
        }
    }
}
