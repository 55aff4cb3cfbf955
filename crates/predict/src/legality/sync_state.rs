//! Who holds the locks, who waits and what the semaphores count, between two events of a trace; and what a trace says of the state before it.

use super::waits::Waits;
use crate::reordering::Input;
use raddle_event::{Addr, Event, EventKind, LockMode, ThreadId, WakeReason};
use std::collections::{BTreeMap, BTreeSet};

/// A synchronisation object, and how often it had been initialised or destroyed.
pub(crate) type ObjectLife = (Addr, u32);

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SyncState {
    /// Threads that hold each lock, sorted; no entry where nobody does.
    pub(crate) holders: BTreeMap<ObjectLife, Vec<(ThreadId, LockMode)>>,
    pub(crate) waits: BTreeMap<Addr, Waits>,
    pub(crate) counts: BTreeMap<ObjectLife, u32>,
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

impl SyncState {
    /// Before the trace, as far as the trace tells.
    pub(crate) fn before(input: Input, life: &[u32], signalled: &BTreeSet<usize>) -> Self {
        let events = &input.trace.events;
        Self {
            holders: holders_before(events, life),
            waits: waits_before(events, signalled),
            counts: counts_before(input, life),
        }
    }

    /// The event happens.
    pub(crate) fn take(&mut self, event: &Event, life: u32, is_signalled: bool) {
        let thread = event.thread;
        match event.kind {
            EventKind::Acquire { lock, mode } => {
                let holders = self.holders.entry((lock, life)).or_default();
                holders.push((thread, mode));
                holders.sort();
            }
            EventKind::Release { lock, mode } => {
                let holders = self.holders.entry((lock, life)).or_default();
                holders.retain(|holder| *holder != (thread, mode));
                if holders.is_empty() {
                    self.holders.remove(&(lock, life));
                }
            }
            EventKind::WaitBegin { cond } if is_signalled => {
                self.waits.entry(cond).or_default().begin(thread);
            }
            EventKind::WaitEnd { cond, reason: WakeReason::Signalled } => {
                self.waits.entry(cond).or_default().end(thread);
            }
            EventKind::Signal { cond, .. } => self.waits.entry(cond).or_default().signal(),
            EventKind::Broadcast { cond } => self.waits.entry(cond).or_default().broadcast(),
            EventKind::SemPost { sem } => *self.count_mut((sem, life)) += 1,
            EventKind::SemWait { sem } => {
                let count = self.count_mut((sem, life));
                *count = count.saturating_sub(1);
            }
            _ => {}
        }
    }

    pub(crate) fn holders(&self, lock: ObjectLife) -> &[(ThreadId, LockMode)] {
        self.holders.get(&lock).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn is_woken(&self, cond: Addr, thread: ThreadId) -> bool {
        self.waits.get(&cond).is_none_or(|waits| waits.may_end(thread))
    }

    pub(crate) fn count(&self, sem: ObjectLife) -> u32 {
        self.counts.get(&sem).copied().unwrap_or(0)
    }

    fn count_mut(&mut self, sem: ObjectLife) -> &mut u32 {
        self.counts.entry(sem).or_default()
    }

    /// Why an acquisition that fails now does so.
    pub(crate) fn failure(&self, object: ObjectLife) -> Failure {
        let held = self.holders(object);
        match self.counts.get(&object) {
            Some(0) => Failure::AtZero,
            Some(_) => Failure::ForNoReason,
            None if held.is_empty() => Failure::ForNoReason,
            None if held.iter().any(|(_, mode)| *mode == LockMode::Exclusive) => Failure::HeldExclusively,
            None => Failure::Held,
        }
    }

    /// The same for a part of the trace that begins now: each object's present life is its first one there.
    pub(crate) fn starting_with(&self, lives: &BTreeMap<Addr, u32>) -> Self {
        let shifted = |(object, life): ObjectLife| {
            let now = lives.get(&object).copied().unwrap_or(0);
            Some((object, life.checked_sub(now)?))
        };
        Self {
            holders: self.holders.iter().filter_map(|(at, who)| Some((shifted(*at)?, who.clone()))).collect(),
            waits: self.waits.clone(),
            counts: self.counts.iter().filter_map(|(at, count)| Some((shifted(*at)?, *count))).collect(),
        }
    }
}

/// A thread that releases a lock before it acquires it held it before the trace.
fn holders_before(events: &[Event], life: &[u32]) -> BTreeMap<ObjectLife, Vec<(ThreadId, LockMode)>> {
    let mut holders: BTreeMap<ObjectLife, Vec<(ThreadId, LockMode)>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (event, life) in events.iter().zip(life) {
        let (lock, mode, held) = match event.kind {
            EventKind::Acquire { lock, mode } => (lock, mode, false),
            EventKind::Release { lock, mode } => (lock, mode, true),
            _ => continue,
        };
        if seen.insert((event.thread, lock)) && held && *life == 0 {
            holders.entry((lock, 0)).or_default().push((event.thread, mode));
        }
    }
    holders.values_mut().for_each(|holders| holders.sort());
    holders
}

/// A thread that ends a wait before it begins one waited before the trace. Where the signals of the trace are too few for
/// the waits that end in it, such a wait had been signalled before, too.
fn waits_before(events: &[Event], signalled: &BTreeSet<usize>) -> BTreeMap<Addr, Waits> {
    let mut first = BTreeMap::new();
    for event in events {
        if let EventKind::WaitBegin { .. } | EventKind::WaitEnd { .. } = event.kind {
            first.entry(event.thread).or_insert(event.kind);
        }
    }
    let waiting = first.into_iter().filter_map(|(thread, kind)| match kind {
        EventKind::WaitEnd { cond, reason: WakeReason::Signalled } => Some((cond, thread)),
        _ => None,
    });
    let mut waiting: Vec<(Addr, ThreadId)> = waiting.collect();
    let mut woken = Vec::new();
    loop {
        let mut start: BTreeMap<Addr, Waits> = BTreeMap::new();
        for (cond, thread) in &woken {
            start.entry(*cond).or_default().begin(*thread);
        }
        start.values_mut().for_each(Waits::broadcast);
        for (cond, thread) in &waiting {
            start.entry(*cond).or_default().begin(*thread);
        }
        let missing = wait_without_signal(events, signalled, start.clone());
        let taker = missing.and_then(|(cond, thread)| {
            let own = waiting.iter().position(|waiter| *waiter == (cond, thread));
            own.or_else(|| waiting.iter().position(|(other, _)| *other == cond))
        });
        let Some(taker) = taker else { return start };
        woken.push(waiting.remove(taker));
    }
}

/// The first wait for which the trace has no signal, when it starts like this.
fn wait_without_signal(
    events: &[Event],
    signalled: &BTreeSet<usize>,
    mut waits: BTreeMap<Addr, Waits>,
) -> Option<(Addr, ThreadId)> {
    for (at, event) in events.iter().enumerate() {
        match event.kind {
            EventKind::WaitBegin { cond } if signalled.contains(&at) => {
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
fn counts_before(input: Input, life: &[u32]) -> BTreeMap<ObjectLife, u32> {
    let mut used: BTreeMap<ObjectLife, (i64, i64)> = BTreeMap::new();
    let mut known: BTreeMap<ObjectLife, u32> = BTreeMap::new();
    for (at, event) in input.trace.events.iter().enumerate() {
        let (sem, change) = match event.kind {
            EventKind::SemPost { sem } => (sem, 1),
            EventKind::SemWait { sem } => (sem, -1),
            EventKind::SyncInit { object } => {
                let value = input.initial.at.get(&at);
                known.extend(value.map(|&value| ((object, life[at] + 1), value)));
                continue;
            }
            _ => continue,
        };
        let (value, least) = used.entry((sem, life[at])).or_default();
        *value += change;
        *least = (*least).min(*value);
    }
    known.extend(input.initial.before.iter().map(|(&sem, &value)| ((sem, 0), value)));
    for (sem, (_, least)) in used {
        known.entry(sem).or_insert((-least) as u32);
    }
    known
}

/// Beginnings of waits that end in the trace because of a signal.
pub(crate) fn signalled(events: &[Event]) -> BTreeSet<usize> {
    let mut ends = BTreeMap::new();
    let mut found = BTreeSet::new();
    for (at, event) in events.iter().enumerate().rev() {
        match event.kind {
            EventKind::WaitEnd { reason, .. } => _ = ends.insert(event.thread, reason),
            EventKind::WaitBegin { .. } if ends.get(&event.thread) == Some(&WakeReason::Signalled) => {
                found.insert(at);
            }
            _ => {}
        }
    }
    found
}

pub(crate) fn is_border(kind: &EventKind) -> bool {
    matches!(kind, EventKind::SyncInit { .. } | EventKind::SyncDestroy { .. })
}

pub(crate) fn lives(events: &[Event]) -> Vec<u32> {
    let mut now: BTreeMap<Addr, u32> = BTreeMap::new();
    let mut lives = Vec::with_capacity(events.len());
    for event in events {
        let object = event.kind.sync_object();
        lives.push(object.and_then(|object| now.get(&object).copied()).unwrap_or(0));
        if let (Some(object), true) = (object, is_border(&event.kind)) {
            *now.entry(object).or_default() += 1;
        }
    }
    lives
}
