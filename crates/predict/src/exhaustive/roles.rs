//! What each event of a trace is to the model: which process of figures 1 and 2 it belongs to, or that no other thread notices it.

use crate::legality::{Access, Failure, Index, ObjectLife};
use raddle_event::{Addr, EventKind, LockMode, ThreadId, WakeReason};
use std::collections::{BTreeMap, BTreeSet};

/// Both halves of a wait are one step: the first has the role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Possible whenever its thread comes to it, and no one else depends on it.
    Local,
    Access,
    Fork(ThreadId),
    Join(ThreadId),
    Lock {
        lock: ObjectLife,
        mode: LockMode,
    },
    Unlock {
        lock: ObjectLife,
        mode: LockMode,
    },
    /// With the mode in which the lock has to be held at least.
    LockFails {
        lock: ObjectLife,
        held: LockMode,
    },
    /// The beginning of a wait that is signalled; one that ends for another reason only releases its mutex.
    Sleep {
        cond: Addr,
        mutex: Option<ObjectLife>,
    },
    Wake {
        cond: Addr,
        mutex: Option<ObjectLife>,
    },
    Signal(Addr),
    Broadcast(Addr),
    Enter {
        barrier: ObjectLife,
        round: u32,
    },
    Leave {
        barrier: ObjectLife,
        round: u32,
    },
    Post(ObjectLife),
    Take(ObjectLife),
    TakeFails(ObjectLife),
    OnceEnd(Addr),
    OncePass(Addr),
}

/// The role of every event.
pub(super) fn roles(index: &Index) -> Vec<Role> {
    let events = &index.input.trace.events;
    let releases = matched_releases(index);
    let arrivals: BTreeSet<(ObjectLife, u32)> = events
        .iter()
        .enumerate()
        .filter_map(|(at, event)| match event.kind {
            EventKind::BarrierArrive { barrier, round } => Some(((barrier, index.life[at]), round)),
            _ => None,
        })
        .collect();
    let mut initialised = BTreeSet::new();
    let mut roles = vec![Role::Local; events.len()];
    let mut second = BTreeSet::new();
    for (at, event) in events.iter().enumerate() {
        let life = index.life[at];
        if second.contains(&at) {
            continue;
        }
        let half = index.second_half(at);
        second.extend(half);
        let mutex = half.and_then(|half| {
            let kind = events[half].kind;
            let lock = match kind {
                EventKind::Acquire { lock, .. } => lock,
                EventKind::Release { lock, .. } if releases.contains(&half) => lock,
                _ => return None,
            };
            Some((lock, index.life[half]))
        });
        let exclusive = LockMode::Exclusive;
        roles[at] = match event.kind {
            EventKind::Access { .. } | EventKind::Atomic { .. } => Role::Access,
            EventKind::Create { child } => Role::Fork(child),
            EventKind::Join { child } if index.slot(child).is_some() => Role::Join(child),
            EventKind::Acquire { lock, mode } => Role::Lock { lock: (lock, life), mode },
            EventKind::Release { lock, mode } if releases.contains(&at) => {
                Role::Unlock { lock: (lock, life), mode }
            }
            EventKind::AcquireFailed { lock } => match index.failures[&at] {
                Failure::HeldExclusively => Role::LockFails { lock: (lock, life), held: exclusive },
                Failure::Held => Role::LockFails { lock: (lock, life), held: LockMode::Shared },
                Failure::AtZero => Role::TakeFails((lock, life)),
                Failure::ForNoReason => Role::Local,
            },
            EventKind::WaitBegin { cond } if index.is_signalled(at) => Role::Sleep { cond, mutex },
            EventKind::WaitEnd { cond, reason: WakeReason::Signalled } => Role::Wake { cond, mutex },
            EventKind::WaitBegin { .. } => {
                mutex.map_or(Role::Local, |lock| Role::Unlock { lock, mode: exclusive })
            }
            EventKind::WaitEnd { .. } => {
                mutex.map_or(Role::Local, |lock| Role::Lock { lock, mode: exclusive })
            }
            EventKind::Signal { cond, .. } => Role::Signal(cond),
            EventKind::Broadcast { cond } => Role::Broadcast(cond),
            EventKind::BarrierArrive { barrier, round } => Role::Enter { barrier: (barrier, life), round },
            EventKind::BarrierLeave { barrier, round } if arrivals.contains(&((barrier, life), round)) => {
                Role::Leave { barrier: (barrier, life), round }
            }
            EventKind::SemPost { sem } => Role::Post((sem, life)),
            EventKind::SemWait { sem } => Role::Take((sem, life)),
            EventKind::OnceEnd { once } => {
                initialised.insert(once);
                Role::OnceEnd(once)
            }
            EventKind::OncePass { once } if initialised.contains(&once) => Role::OncePass(once),
            _ => Role::Local,
        };
    }
    roles
}

/// Releases of what the thread holds. Others change nothing.
fn matched_releases(index: &Index) -> BTreeSet<usize> {
    let mut held: BTreeMap<ThreadId, BTreeSet<(ObjectLife, LockMode)>> = BTreeMap::new();
    for (lock, holders) in &index.start.objects.holders {
        for (thread, mode) in holders {
            held.entry(*thread).or_default().insert((*lock, *mode));
        }
    }
    let mut matched = BTreeSet::new();
    for (at, event) in index.input.trace.events.iter().enumerate() {
        let held = held.entry(event.thread).or_default();
        match event.kind {
            EventKind::Acquire { lock, mode } => {
                held.insert(((lock, index.life[at]), mode));
            }
            EventKind::Release { lock, mode } if held.remove(&((lock, index.life[at]), mode)) => {
                matched.insert(at);
            }
            _ => {}
        }
    }
    matched
}

/// Of every kept read, the writes that it has to read from; of other accesses nothing. A read is kept when it decides something, or when a
/// write of the same thread that a kept read reads from comes after it.
pub(super) fn kept_reads(index: &Index) -> BTreeMap<usize, Vec<Option<usize>>> {
    let events = &index.input.trace.events;
    let sources = crate::legality::sources(index.input.trace);
    let reads = |at: usize| Access::of(&events[at]).is_some_and(|access| access.reads);
    let deciding =
        (0..events.len()).filter(|&at| reads(at) && index.input.deciding.contains(events[at].site));
    let mut todo: Vec<usize> = deciding.collect();
    let mut kept = BTreeMap::new();
    while let Some(read) = todo.pop() {
        if kept.contains_key(&read) {
            continue;
        }
        for write in sources[read].iter().flatten() {
            let (slot, position) = index.place[*write];
            let before = index.threads[slot].1[..=position].iter().copied();
            todo.extend(before.filter(|&at| reads(at) && !kept.contains_key(&at)));
        }
        kept.insert(read, sources[read].clone());
    }
    kept
}
