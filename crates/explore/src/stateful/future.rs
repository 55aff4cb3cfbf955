//! Which threads must be tried from a state: a persistent set, found out by looking at what happened behind it.
//!
//! The paper lets one thread go on, and tries all others when it turns out that its step was in a race, or acquired a lock. Here the
//! steps are visible operations of all kinds, so the question is asked of all of them alike. The set of threads tried from a state is *closed*
//! when no operation of the state's future by a thread outside of it depends on a step that a thread inside of it took from here.
//! The future of a state are all operations that any thread stood before, there or in any state reached from it.
//!
//! A thread that cannot move before another does (it joins it, or waits for a lock that it holds) does nothing before it. So with each
//! operation go the threads that must have moved before it is reached, as far as that is known; an operation that is reached only
//! after a thread inside has moved is no reason to try others.

use crate::bounds::fairest;
use crate::dependence::{Footprint, dependent, excludes, is_needed_by};
use raddle_base::StableHasher;
use raddle_event::{Addr, Choice, ThreadId};
use raddle_machine::{LockHow, Machine, Names, OpKind};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::BuildHasherDefault;

/// The operations that threads will come to, each with the smallest sets of threads that must have moved before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Future {
    operations: HashMap<Next, Vec<Threads>, BuildHasherDefault<StableHasher>>,
}

/// An operation that a thread will come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Next {
    thread: ThreadId,
    kind: OpKind,
    /// The worst that it may turn out to be.
    footprint: Footprint,
}

/// A set of threads. It has no room for those beyond the first [`Threads::ROOM`]: that they must have moved is then not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Threads(u128);

/// What a thread did from a state, in all its variants.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    pub(super) thread: ThreadId,
    pub(super) outcomes: Vec<(OpKind, Footprint)>,
    /// Threads that could move before, and can no longer do the same.
    pub(super) touched: BTreeSet<ThreadId>,
}

/// Who waits for whom in a state.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    /// All of these must move before the thread can.
    for_threads: BTreeMap<ThreadId, BTreeSet<ThreadId>>,
}

/// Threads to be tried as well; none when those tried are closed.
pub(super) fn missing(
    tried: &[Tried],
    enabled: &[Choice],
    waiting: &Waiting,
    future: &Future,
) -> BTreeSet<ThreadId> {
    let is_tried = |thread: ThreadId| tried.iter().any(|step| step.thread == thread);
    let can_move = |thread: ThreadId| enabled.iter().any(|choice| choice.thread == thread);
    let touched = tried.iter().flat_map(|step| &step.touched).copied();
    let inside: Threads = tried.iter().map(|step| step.thread).collect();
    let met = future.without(inside).filter(|next| tried.iter().any(|step| step.meets(next)));
    let candidates: BTreeSet<ThreadId> =
        touched.chain(met.map(|next| next.thread)).filter(|thread| !is_tried(*thread)).collect();
    for thread in candidates {
        if can_move(thread) {
            return BTreeSet::from([thread]);
        }
        let before = waiting.before(thread);
        if before.iter().any(|other| is_tried(*other)) {
            continue;
        }
        let first = before.into_iter().find(|other| can_move(*other));
        return match first {
            Some(other) => BTreeSet::from([other]),
            None => enabled.iter().map(|choice| choice.thread).filter(|thread| !is_tried(*thread)).collect(),
        };
    }
    BTreeSet::new()
}

/// The thread to be tried first: one whose operation concerns nobody; else the first that can move, or that the first waits for. A thread
/// in a long stretch of plain instructions takes turns with the others: `steps` are those that led here.
pub(super) fn first<M: Machine>(
    machine: &M,
    enabled: &[Choice],
    waiting: &Waiting,
    steps: impl DoubleEndedIterator<Item = (ThreadId, OpKind)> + Clone,
) -> ThreadId {
    let in_loop = |choice: &Choice| {
        machine.pending(choice.thread).is_some_and(|operation| operation.kind == OpKind::Yield)
    };
    if enabled.iter().any(in_loop)
        && let Some(choice) = fairest(machine, enabled.iter().copied(), steps)
    {
        return choice.thread;
    }
    let concerns_nobody = |choice: &&Choice| {
        machine.pending(choice.thread).is_some_and(|operation| {
            Footprint::pending(choice.thread, operation.kind, &[]) == Footprint::Nothing
        })
    };
    if let Some(choice) = enabled.iter().find(concerns_nobody) {
        return choice.thread;
    }
    let can_move = |thread: ThreadId| enabled.iter().any(|choice| choice.thread == thread);
    (0..machine.thread_count())
        .map(ThreadId)
        .find_map(|thread| {
            if can_move(thread) {
                return Some(thread);
            }
            waiting.before(thread).into_iter().find(|other| can_move(*other))
        })
        .expect("somebody can move")
}

impl Future {
    /// The operations that threads stand before.
    pub(super) fn pending<M: Machine>(machine: &M) -> Self {
        let mut future = Self::default();
        for thread in (0..machine.thread_count()).map(ThreadId) {
            if let Some(operation) = machine.pending(thread) {
                let footprint = Footprint::pending(thread, operation.kind, &machine.held_locks(thread));
                future.insert(Next { thread, kind: operation.kind, footprint }, Threads::default());
            }
        }
        future
    }

    /// One operation of one thread.
    #[cfg(test)]
    pub(super) fn of(thread: ThreadId, kind: OpKind) -> Self {
        let mut future = Self::default();
        let footprint = Footprint::pending(thread, kind, &[]);
        future.insert(Next { thread, kind, footprint }, Threads::default());
        future
    }

    /// Whether that was not known.
    pub(super) fn insert(&mut self, next: Next, after: Threads) -> bool {
        let sets = self.operations.entry(next).or_default();
        let new = sets.iter().all(|known| !known.is_subset(after));
        if new {
            sets.retain(|known| !after.is_subset(*known));
            sets.push(after);
        }
        new
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Next, Threads)> {
        self.operations.iter().flat_map(|(next, sets)| sets.iter().map(|after| (*next, *after)))
    }

    /// Adds what may follow a step of `mover` from a state of `threads` threads. What a thread does that did not exist yet, it does for
    /// the one that created it; what a thread does that waits in the state, it does after those that it waits for.
    pub(super) fn follow(&mut self, later: &Future, mover: ThreadId, threads: u32, waiting: &Waiting) {
        for (next, after) in later.iter() {
            let thread = if next.thread.0 < threads { next.thread } else { mover };
            let after = after.since(threads, mover).and(waiting.before(thread));
            self.insert(Next { thread, ..next }, after);
        }
    }

    /// Operations that are reached without any of these threads.
    fn without(&self, threads: Threads) -> impl Iterator<Item = &Next> {
        self.operations
            .iter()
            .filter(move |(_, sets)| sets.iter().any(|after| !after.meets(threads)))
            .map(|(next, _)| next)
    }
}

impl Next {
    /// In other names; `None` when it concerns something that has no name, so nobody there can do anything about it.
    pub(super) fn renamed(&self, names: &Names) -> Option<Next> {
        let thread = names.thread(self.thread)?;
        let kind = renamed(self.kind, names)?;
        let footprint = match self.footprint {
            Footprint::Everything => Footprint::Everything,
            _ => Footprint::pending(thread, kind, &[]),
        };
        Some(Next { thread, kind, footprint })
    }
}

impl Threads {
    const ROOM: u32 = u128::BITS;

    fn is_subset(self, other: Threads) -> bool {
        self.0 & !other.0 == 0
    }

    fn meets(self, other: Threads) -> bool {
        self.0 & other.0 != 0
    }

    fn and(self, others: impl IntoIterator<Item = ThreadId>) -> Threads {
        let others: Threads = others.into_iter().collect();
        Threads(self.0 | others.0)
    }

    /// In a state with so many threads: later ones were created by `mover`.
    fn since(self, threads: u32, mover: ThreadId) -> Threads {
        if threads >= Self::ROOM || self.0 >> threads == 0 {
            return self;
        }
        Threads(self.0 & ((1 << threads) - 1)).and([mover])
    }

    pub(super) fn renamed(self, names: &Names) -> Threads {
        let members = (0..Self::ROOM).filter(|at| self.0 >> at & 1 == 1).map(ThreadId);
        members.filter_map(|thread| names.thread(thread)).collect()
    }
}

impl FromIterator<ThreadId> for Threads {
    fn from_iter<I: IntoIterator<Item = ThreadId>>(threads: I) -> Self {
        let known = threads.into_iter().filter(|thread| thread.0 < Self::ROOM);
        Threads(known.fold(0, |set, thread| set | 1 << thread.0))
    }
}

impl Tried {
    fn meets(&self, next: &Next) -> bool {
        next.thread != self.thread
            && self.outcomes.iter().any(|(kind, outcome)| {
                (dependent(outcome, &next.footprint) || excludes(outcome, &next.footprint))
                    && !is_needed_by(self.thread, *kind, outcome, next.kind)
            })
    }
}

impl Waiting {
    pub(super) fn of<M: Machine>(machine: &M, enabled: &[Choice]) -> Self {
        let threads: Vec<ThreadId> = (0..machine.thread_count()).map(ThreadId).collect();
        let mut waiting = Self::default();
        for &thread in &threads {
            if enabled.iter().any(|choice| choice.thread == thread) {
                continue;
            }
            let holders = |lock: Addr| -> BTreeSet<ThreadId> {
                let holds = |other: &ThreadId| machine.held_locks(*other).contains(&lock);
                threads.iter().copied().filter(|other| *other != thread && holds(other)).collect()
            };
            let awaited = match machine.pending(thread).map(|operation| operation.kind) {
                Some(OpKind::Join { child, .. }) if machine.pending(child).is_some() => {
                    BTreeSet::from([child])
                }
                Some(OpKind::Lock { lock, how: LockHow::Block, .. }) => holders(lock),
                Some(OpKind::WaitEnd { mutex, .. }) => holders(mutex),
                _ => BTreeSet::new(),
            };
            if !awaited.is_empty() {
                waiting.for_threads.insert(thread, awaited);
            }
        }
        waiting
    }

    /// Those that must move before the thread can.
    fn before(&self, thread: ThreadId) -> BTreeSet<ThreadId> {
        let mut all = BTreeSet::new();
        let mut open = vec![thread];
        while let Some(next) = open.pop() {
            for other in self.for_threads.get(&next).into_iter().flatten() {
                if all.insert(*other) {
                    open.push(*other);
                }
            }
        }
        all
    }
}

fn renamed(kind: OpKind, names: &Names) -> Option<OpKind> {
    Some(match kind {
        OpKind::Begin
        | OpKind::End
        | OpKind::Create
        | OpKind::Fence
        | OpKind::Choose { .. }
        | OpKind::Exit
        | OpKind::Yield
        | OpKind::Spin => kind,
        OpKind::Join { child, how } => OpKind::Join { child: names.thread(child)?, how },
        OpKind::Detach { child } => OpKind::Detach { child: names.thread(child)? },
        OpKind::Lock { lock, mode, how } => OpKind::Lock { lock: names.addr(lock)?, mode, how },
        OpKind::Unlock { lock, mode } => OpKind::Unlock { lock: names.addr(lock)?, mode },
        OpKind::SyncInit { object } => OpKind::SyncInit { object: names.addr(object)? },
        OpKind::SyncDestroy { object } => OpKind::SyncDestroy { object: names.addr(object)? },
        OpKind::WaitBegin { cond, mutex } => {
            OpKind::WaitBegin { cond: names.addr(cond)?, mutex: names.addr(mutex)? }
        }
        OpKind::WaitEnd { cond, mutex } => {
            OpKind::WaitEnd { cond: names.addr(cond)?, mutex: names.addr(mutex)? }
        }
        OpKind::Signal { cond } => OpKind::Signal { cond: names.addr(cond)? },
        OpKind::Broadcast { cond } => OpKind::Broadcast { cond: names.addr(cond)? },
        OpKind::BarrierArrive { barrier } => OpKind::BarrierArrive { barrier: names.addr(barrier)? },
        OpKind::BarrierLeave { barrier } => OpKind::BarrierLeave { barrier: names.addr(barrier)? },
        OpKind::SemPost { sem } => OpKind::SemPost { sem: names.addr(sem)? },
        OpKind::SemWait { sem, how } => OpKind::SemWait { sem: names.addr(sem)?, how },
        OpKind::SemRead { sem } => OpKind::SemRead { sem: names.addr(sem)? },
        OpKind::Once { once } => OpKind::Once { once: names.addr(once)? },
        OpKind::OnceEnd { once } => OpKind::OnceEnd { once: names.addr(once)? },
        OpKind::Channel { channel } => OpKind::Channel {
            channel: match channel {
                Some(channel) => Some(names.addr(channel)?),
                None => None,
            },
        },
        OpKind::Atomic { loc, op } => OpKind::Atomic { loc: names.loc(loc)?, op },
        OpKind::Access { loc, kind } => OpKind::Access { loc: names.loc(loc)?, kind },
    })
}
