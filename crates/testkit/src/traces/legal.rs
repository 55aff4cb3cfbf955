//! Which traces a machine could have produced.
//!
//! Values are not followed, so any order of accesses is legal, use after free included; synchronisation must be possible.

use super::generate::SEMAPHORE_START;
use raddle_event::{Addr, Event, EventKind, LockMode, ThreadId, Trace, WakeReason};
use std::collections::{BTreeMap, BTreeSet};

/// The first event that could not have happened, and why.
pub fn check(trace: &Trace) -> Result<(), Illegal> {
    let mut world = World::default();
    world.threads.insert(ThreadId::MAIN, Thread::default());
    for (index, event) in trace.events.iter().enumerate() {
        world.step(event, &trace.events[index + 1..]).map_err(|reason| Illegal { index, reason })?;
    }
    Ok(())
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Illegal {
    pub index: usize,
    pub reason: &'static str,
}

#[derive(Default)]
struct World {
    threads: BTreeMap<ThreadId, Thread>,
    locks: BTreeMap<Addr, BTreeMap<ThreadId, LockMode>>,
    /// Rounds of a barrier: who is inside, and whether somebody has left.
    rounds: BTreeMap<(Addr, u32), (BTreeSet<ThreadId>, bool)>,
    semaphores: BTreeMap<Addr, u32>,
    onces: BTreeMap<Addr, Once>,
    destroyed: BTreeSet<Addr>,
    exited: bool,
}

#[derive(Default)]
struct Thread {
    started: bool,
    ended: bool,
    /// Joined or detached.
    claimed: bool,
    branches: u32,
    blocked: Option<Blocked>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Blocked {
    /// `WaitBegin` has happened, the release of the mutex has not.
    Entering(Addr),
    Waiting {
        cond: Addr,
        lock: Addr,
        /// By a signal or a broadcast.
        woken: bool,
    },
    /// `WaitEnd` has happened, the acquisition of the mutex has not.
    Leaving(Addr),
    Inside(Addr, u32),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Once {
    Running(ThreadId),
    Done,
}

type Verdict = Result<(), &'static str>;

fn require(condition: bool, otherwise: &'static str) -> Verdict {
    if condition { Ok(()) } else { Err(otherwise) }
}

impl World {
    fn step(&mut self, event: &Event, rest: &[Event]) -> Verdict {
        let id = event.thread;
        require(!self.exited, "the process has exited")?;
        let thread = self.threads.get_mut(&id).ok_or("the thread was not created")?;
        require(!thread.ended, "the thread has ended")?;
        require(event.kind != EventKind::Begin || !thread.started, "the thread has begun")?;
        thread.started = true;
        let blocked = thread.blocked.take();
        self.unblock(event, blocked, rest.first())?;
        match event.kind {
            EventKind::Create { child } => {
                let fresh = self.threads.insert(child, Thread::default()).is_none();
                require(fresh, "the thread exists")
            }
            EventKind::Join { child } => {
                let child = self.threads.get_mut(&child).ok_or("joined thread does not exist")?;
                require(child.ended && !child.claimed, "cannot be joined")?;
                child.claimed = true;
                Ok(())
            }
            EventKind::Detach { child } => {
                let child = self.threads.get_mut(&child).ok_or("detached thread does not exist")?;
                require(!child.claimed, "cannot be detached")?;
                child.claimed = true;
                Ok(())
            }
            EventKind::End => {
                self.thread(id).ended = true;
                Ok(())
            }
            EventKind::BranchBegin { .. } => {
                self.thread(id).branches += 1;
                Ok(())
            }
            EventKind::BranchEnd => {
                let thread = self.thread(id);
                thread.branches = thread.branches.checked_sub(1).ok_or("no open branch")?;
                Ok(())
            }
            EventKind::Exit => {
                self.exited = true;
                Ok(())
            }
            _ => self.synchronise(event, rest),
        }
    }

    fn synchronise(&mut self, event: &Event, rest: &[Event]) -> Verdict {
        let id = event.thread;
        match event.kind {
            EventKind::SyncInit { object } => {
                require(self.is_idle(object, rest), "initialised while in use")?;
                self.destroyed.remove(&object);
                self.semaphores.remove(&object);
                self.rounds.retain(|(barrier, _), _| *barrier != object);
                Ok(())
            }
            EventKind::SyncDestroy { object } => {
                require(self.is_idle(object, rest), "destroyed while in use")?;
                require(self.destroyed.insert(object), "destroyed twice")
            }
            EventKind::Acquire { lock, mode } => {
                self.usable(lock)?;
                let holders = self.locks.entry(lock).or_default();
                let free = match mode {
                    LockMode::Exclusive => holders.is_empty(),
                    LockMode::Shared => {
                        !holders.contains_key(&id) && holders.values().all(|m| *m == LockMode::Shared)
                    }
                };
                holders.insert(id, mode);
                require(free, "the lock is not free")
            }
            EventKind::Release { lock, mode } => {
                let holders = self.locks.entry(lock).or_default();
                require(holders.remove(&id) == Some(mode), "the lock is not held that way")
            }
            EventKind::AcquireFailed { lock } => self.usable(lock),
            EventKind::Signal { cond, woken } => {
                self.usable(cond)?;
                if let Some(id) = woken {
                    let waiter = self.blocked_on(cond).find(|(waiter, _)| **waiter == id);
                    *waiter.ok_or("the woken thread does not wait")?.1 = true;
                }
                Ok(())
            }
            EventKind::Broadcast { cond } => {
                self.usable(cond)?;
                self.blocked_on(cond).for_each(|(_, woken)| *woken = true);
                Ok(())
            }
            EventKind::BarrierArrive { barrier, round } => {
                self.usable(barrier)?;
                let (inside, leaving) = self.rounds.entry((barrier, round)).or_default();
                inside.insert(id);
                require(!*leaving, "the round is over")?;
                self.thread(id).blocked = Some(Blocked::Inside(barrier, round));
                Ok(())
            }
            EventKind::BarrierLeave { barrier, round } => {
                let (inside, leaving) = self.rounds.entry((barrier, round)).or_default();
                *leaving = true;
                require(inside.remove(&id), "has not arrived")
            }
            EventKind::SemPost { sem } => {
                self.usable(sem)?;
                *self.semaphores.entry(sem).or_insert(SEMAPHORE_START) += 1;
                Ok(())
            }
            EventKind::SemWait { sem } => {
                self.usable(sem)?;
                let count = self.semaphores.entry(sem).or_insert(SEMAPHORE_START);
                *count = count.checked_sub(1).ok_or("the semaphore is 0")?;
                Ok(())
            }
            EventKind::OnceBegin { once } => {
                require(self.onces.insert(once, Once::Running(id)).is_none(), "run before")
            }
            EventKind::OnceEnd { once } => {
                require(self.onces.insert(once, Once::Done) == Some(Once::Running(id)), "not running")
            }
            EventKind::OncePass { once } => {
                require(self.onces.get(&once) == Some(&Once::Done), "not initialised")
            }
            EventKind::WaitBegin { cond } => {
                self.usable(cond)?;
                self.thread(id).blocked = Some(Blocked::Entering(cond));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A thread that waits does nothing but go on; the two halves of a wait stand next to its mutex operations.
    fn unblock(&mut self, event: &Event, blocked: Option<Blocked>, next: Option<&Event>) -> Verdict {
        let id = event.thread;
        let follows =
            |kind: fn(&EventKind) -> bool| next.is_some_and(|next| next.thread == id && kind(&next.kind));
        match (event.kind, blocked) {
            (EventKind::WaitBegin { .. }, None) => require(
                follows(|k| matches!(k, EventKind::Release { mode: LockMode::Exclusive, .. })),
                "no release follows",
            ),
            (EventKind::Release { lock, .. }, Some(Blocked::Entering(cond))) => {
                self.thread(id).blocked = Some(Blocked::Waiting { cond, lock, woken: false });
                Ok(())
            }
            (EventKind::WaitEnd { cond, reason }, Some(Blocked::Waiting { cond: at, lock, woken }))
                if cond == at =>
            {
                self.thread(id).blocked = Some(Blocked::Leaving(lock));
                require(woken || reason != WakeReason::Signalled, "nobody woke it")?;
                require(
                    follows(|k| matches!(k, EventKind::Acquire { mode: LockMode::Exclusive, .. })),
                    "no acquisition follows",
                )
            }
            (EventKind::WaitEnd { .. }, _) => Err("does not wait"),
            (EventKind::Acquire { lock, .. }, Some(Blocked::Leaving(own))) => {
                require(lock == own, "wrong mutex")
            }
            (EventKind::BarrierLeave { barrier, round }, Some(Blocked::Inside(at, number))) => {
                require(barrier == at && round == number, "leaves another barrier")
            }
            (_, None) => Ok(()),
            (_, Some(_)) => Err("the thread is blocked"),
        }
    }

    fn usable(&self, object: Addr) -> Verdict {
        require(!self.destroyed.contains(&object), "the object is destroyed")
    }

    /// Who waits for a condition and was not woken, and where to write that it is.
    fn blocked_on(&mut self, cond: Addr) -> impl Iterator<Item = (&ThreadId, &mut bool)> {
        self.threads.iter_mut().filter_map(move |(id, thread)| match &mut thread.blocked {
            Some(Blocked::Waiting { cond: at, woken, .. }) if *at == cond && !*woken => Some((id, woken)),
            _ => None,
        })
    }

    /// A condition is idle once nobody is blocked on it (POSIX, `pthread_cond_destroy`): those that were woken may come back later.
    /// That includes whoever wakes up for no reason, which shows only when the wait ends. The mutex of a wait is in use until then.
    fn is_idle(&self, object: Addr, rest: &[Event]) -> bool {
        let held = self.locks.get(&object).is_some_and(|holders| !holders.is_empty());
        let occupied = self.rounds.iter().any(|((b, _), (inside, _))| *b == object && !inside.is_empty());
        let needs_signal = |id| {
            let next = rest.iter().find(|event| event.thread == id);
            matches!(next, Some(Event { kind: EventKind::WaitEnd { reason: WakeReason::Signalled, .. }, .. }))
        };
        let awaited = self.threads.iter().any(|(id, thread)| match thread.blocked {
            Some(Blocked::Waiting { cond, lock, woken }) => {
                lock == object || cond == object && !woken && needs_signal(*id)
            }
            _ => false,
        });
        !held && !occupied && !awaited && !self.onces.contains_key(&object)
    }

    fn thread(&mut self, id: ThreadId) -> &mut Thread {
        self.threads.get_mut(&id).expect("checked at the start of the step")
    }
}
