//! What the trace as a whole says about each of its events.

use super::{Facts, waits::Waits};
use crate::reordering::Input;
use raddle_event::{Addr, Event, EventKind, LockMode, ObjectId, ThreadId, WakeReason};
use std::collections::BTreeMap;

/// A synchronisation object, and how often it had been initialised or destroyed.
pub(crate) type ObjectLife = (Addr, u32);

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
    /// Of each failed acquisition.
    pub(crate) failures: BTreeMap<usize, Failure>,
    pub(crate) start: Facts,
}

/// Why an acquisition failed in the trace. It fails for that reason in every reordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    HeldExclusively,
    Held,
    /// A semaphore was at zero.
    AtZero,
    ForNoReason,
}

impl<'a> Index<'a> {
    pub fn new(input: Input<'a>) -> Self {
        let events = &input.trace.events;
        let mut threads: BTreeMap<ThreadId, Vec<usize>> = BTreeMap::new();
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
        let life = lives(events);
        let mut index = Self {
            input,
            place,
            after: vec![Vec::new(); events.len()],
            failures: BTreeMap::new(),
            start: Facts { done: vec![0; threads.len()], ..Facts::default() },
            life,
            threads,
        };
        index.order_threads();
        index.order_rounds();
        index.order_sync_lives();
        index.order_blocks();
        index.start_locks();
        index.start_waits();
        index.start_semaphores();
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
        let mut ends = self.following(begin).map(|at| self.input.trace.events[at].kind);
        let end = ends.find(|kind| matches!(kind, EventKind::WaitEnd { .. }));
        matches!(end, Some(EventKind::WaitEnd { reason: WakeReason::Signalled, .. }))
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
            let Some(object) = sync_object(&event.kind) else { continue };
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

    /// A thread that releases a lock before it acquires it held it before the trace.
    fn start_locks(&mut self) {
        for (thread, own) in &self.threads {
            let mut seen = Vec::new();
            for &at in own {
                let (lock, mode, held) = match self.input.trace.events[at].kind {
                    EventKind::Acquire { lock, mode } => (lock, mode, false),
                    EventKind::Release { lock, mode } => (lock, mode, true),
                    _ => continue,
                };
                if seen.contains(&lock) {
                    continue;
                }
                seen.push(lock);
                if held && self.life[at] == 0 {
                    self.start.holders.entry((lock, 0)).or_default().push((*thread, mode));
                }
            }
        }
    }

    /// A thread that ends a wait before it begins one waited before the trace. Where the signals of the trace are too few for
    /// the waits that end in it, such a wait had been signalled before, too.
    fn start_waits(&mut self) {
        let mut waiting = Vec::new();
        for (thread, own) in &self.threads {
            let waits = own.iter().map(|&at| self.input.trace.events[at].kind);
            let mut waits =
                waits.filter(|k| matches!(k, EventKind::WaitBegin { .. } | EventKind::WaitEnd { .. }));
            if let Some(EventKind::WaitEnd { cond, reason: WakeReason::Signalled }) = waits.next() {
                waiting.push((cond, *thread));
            }
        }
        let mut signalled = Vec::new();
        loop {
            let mut start: BTreeMap<Addr, Waits> = BTreeMap::new();
            for (cond, thread) in &signalled {
                start.entry(*cond).or_default().begin(*thread);
            }
            start.values_mut().for_each(Waits::broadcast);
            for (cond, thread) in &waiting {
                start.entry(*cond).or_default().begin(*thread);
            }
            let missing = self.wait_without_signal(start.clone());
            let taker = missing.and_then(|(cond, thread)| {
                let own = waiting.iter().position(|waiter| *waiter == (cond, thread));
                own.or_else(|| waiting.iter().position(|(other, _)| *other == cond))
            });
            let Some(taker) = taker else {
                self.start.waits = start;
                return;
            };
            signalled.push(waiting.remove(taker));
        }
    }

    /// The first wait for which the trace has no signal, when it starts like this.
    fn wait_without_signal(&self, mut waits: BTreeMap<Addr, Waits>) -> Option<(Addr, ThreadId)> {
        for (at, event) in self.input.trace.events.iter().enumerate() {
            match event.kind {
                EventKind::WaitBegin { cond } if self.is_signalled(at) => {
                    waits.entry(cond).or_default().begin(event.thread);
                }
                EventKind::Signal { cond, .. } => waits.entry(cond).or_default().signal(),
                EventKind::Broadcast { cond } => waits.entry(cond).or_default().broadcast(),
                EventKind::WaitEnd { cond, reason: WakeReason::Signalled } => {
                    let waits = waits.entry(cond).or_default();
                    if !waits.may_end(event.thread) {
                        return Some((cond, event.thread));
                    }
                    waits.end(event.thread);
                }
                _ => {}
            }
        }
        None
    }

    /// Rule 6: the value that is known, else the least that the trace allows.
    fn start_semaphores(&mut self) {
        let mut used: BTreeMap<ObjectLife, (i64, i64)> = BTreeMap::new();
        let mut known: BTreeMap<ObjectLife, u32> = BTreeMap::new();
        for (at, event) in self.input.trace.events.iter().enumerate() {
            let change = match event.kind {
                EventKind::SemPost { .. } => 1,
                EventKind::SemWait { .. } => -1,
                EventKind::SyncInit { object } => {
                    let value = self.input.initial.at.get(&at);
                    known.extend(value.map(|&value| ((object, self.life[at] + 1), value)));
                    continue;
                }
                _ => continue,
            };
            let sem = sync_object(&event.kind).expect("a semaphore is an object");
            let (value, least) = used.entry((sem, self.life[at])).or_default();
            *value += change;
            *least = (*least).min(*value);
        }
        known.extend(self.input.initial.before.iter().map(|(&sem, &value)| ((sem, 0), value)));
        for (sem, (_, least)) in used {
            known.entry(sem).or_insert((-least) as u32);
        }
        self.start.counts = known;
    }

    /// Goes through the trace as it was recorded.
    fn explain_failures(&mut self) {
        let mut holders = self.start.holders.clone();
        let mut counts = self.start.counts.clone();
        for (at, event) in self.input.trace.events.iter().enumerate() {
            let life = self.life[at];
            match event.kind {
                EventKind::Acquire { lock, mode } => {
                    holders.entry((lock, life)).or_default().push((event.thread, mode));
                }
                EventKind::Release { lock, mode } => {
                    let holders = holders.entry((lock, life)).or_default();
                    holders.retain(|holder| *holder != (event.thread, mode));
                }
                EventKind::SemPost { sem } => *counts.entry((sem, life)).or_default() += 1,
                EventKind::SemWait { sem } => {
                    let count = counts.entry((sem, life)).or_default();
                    *count = count.saturating_sub(1);
                }
                EventKind::AcquireFailed { lock } => {
                    let held = holders.get(&(lock, life)).map_or(&[][..], Vec::as_slice);
                    let why = match counts.get(&(lock, life)) {
                        Some(0) => Failure::AtZero,
                        Some(_) => Failure::ForNoReason,
                        None if held.is_empty() => Failure::ForNoReason,
                        None if held.iter().any(|(_, mode)| *mode == LockMode::Exclusive) => {
                            Failure::HeldExclusively
                        }
                        None => Failure::Held,
                    };
                    self.failures.insert(at, why);
                }
                _ => {}
            }
        }
    }
}

/// The synchronisation object that an event is about.
pub(crate) fn sync_object(kind: &EventKind) -> Option<Addr> {
    match *kind {
        EventKind::Acquire { lock, .. }
        | EventKind::Release { lock, .. }
        | EventKind::AcquireFailed { lock } => Some(lock),
        EventKind::WaitBegin { cond }
        | EventKind::WaitEnd { cond, .. }
        | EventKind::Signal { cond, .. }
        | EventKind::Broadcast { cond } => Some(cond),
        EventKind::BarrierArrive { barrier, .. } | EventKind::BarrierLeave { barrier, .. } => Some(barrier),
        EventKind::SemPost { sem } | EventKind::SemWait { sem } => Some(sem),
        EventKind::OnceBegin { once } | EventKind::OnceEnd { once } | EventKind::OncePass { once } => {
            Some(once)
        }
        EventKind::SyncInit { object } | EventKind::SyncDestroy { object } => Some(object),
        _ => None,
    }
}

fn is_border(kind: &EventKind) -> bool {
    matches!(kind, EventKind::SyncInit { .. } | EventKind::SyncDestroy { .. })
}

fn lives(events: &[Event]) -> Vec<u32> {
    let mut now: BTreeMap<Addr, u32> = BTreeMap::new();
    let mut lives = Vec::with_capacity(events.len());
    for event in events {
        let object = sync_object(&event.kind);
        lives.push(object.and_then(|object| now.get(&object).copied()).unwrap_or(0));
        if let (Some(object), true) = (object, is_border(&event.kind)) {
            *now.entry(object).or_default() += 1;
        }
    }
    lives
}
