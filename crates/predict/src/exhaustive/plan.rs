//! What of the trace goes into a model: how far each thread is followed, and which events others can notice.
//!
//! Section 3 of the 2015 paper leaves out accesses to other objects. We leave out more, and nothing that any reordering with the
//! error needs: what a thread does after its last wanted access, unless another thread may wait for it; locks that are used by one
//! thread alone or never exclusively; signals, posts and barriers that nobody waits for.

use super::Reads;
use super::roles::{Role, kept_reads, roles};
use crate::legality::{Access, Index, ObjectLife};
use raddle_event::{Addr, EventKind, LockMode};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Plan<'a> {
    pub(super) index: &'a Index<'a>,
    /// [`Role::Local`] also where the event belongs to something that is left out.
    pub(super) roles: Vec<Role>,
    /// How many events of each thread are followed.
    pub(super) upto: Vec<usize>,
    /// Pairs of events in this order by rules 2 and 8, apart from creation, joins, barriers and once, which have processes of their own.
    pub(super) edges: Vec<(usize, usize)>,
    /// Reads that have to read as recorded, with the writes of their bytes; empty where all values are free.
    pub(super) kept: BTreeMap<usize, Vec<Option<usize>>>,
    /// Accesses that stand for themselves in the model: wanted in a race, or of bytes that kept reads read.
    pub(super) accesses: BTreeSet<usize>,
}

impl<'a> Plan<'a> {
    /// For races between the wanted accesses.
    pub(super) fn for_races(index: &'a Index<'a>, wanted: &BTreeSet<usize>, reads: Reads) -> Self {
        let mut plan = Self::all(index, reads);
        plan.upto = vec![0; index.threads.len()];
        for &access in wanted {
            let (slot, position) = index.place[access];
            plan.upto[slot] = plan.upto[slot].max(position);
        }
        plan.close(wanted);
        plan.accesses.extend(wanted);
        plan.leave_out();
        plan
    }

    /// For deadlocks. The process does not end: a thread that would end it stands still before.
    pub(super) fn for_deadlocks(index: &'a Index<'a>, reads: Reads) -> Self {
        let mut plan = Self::all(index, reads);
        for (upto, (_, own)) in plan.upto.iter_mut().zip(&index.threads) {
            let exit = own.iter().position(|&at| index.input.trace.events[at].kind == EventKind::Exit);
            *upto = exit.unwrap_or(own.len());
        }
        plan.leave_out();
        plan
    }

    fn all(index: &'a Index<'a>, reads: Reads) -> Self {
        let kept = match reads {
            Reads::Free => BTreeMap::new(),
            Reads::AsRecorded => kept_reads(index),
        };
        let upto = index.threads.iter().map(|(_, own)| own.len()).collect();
        Self { index, roles: roles(index), upto, edges: Vec::new(), accesses: BTreeSet::new(), kept }
    }

    /// Whether the event is a read-modify-write whose read may decide whether it writes.
    pub(super) fn writes_what_it_decides(&self, event: usize) -> bool {
        let event = &self.index.input.trace.events[event];
        let both = Access::of(event).is_some_and(|access| access.reads && access.writes);
        both && self.index.input.deciding.contains(event.site)
    }

    pub(super) fn is_followed(&self, event: usize) -> bool {
        let (slot, position) = self.index.place[event];
        position < self.upto[slot]
    }

    /// Follows threads until nothing is missing that could let a followed event, or a wanted access, happen.
    fn close(&mut self, wanted: &BTreeSet<usize>) {
        loop {
            let before = self.upto.clone();
            let followed = (0..self.roles.len()).filter(|&at| self.is_followed(at));
            let targets: Vec<usize> = followed.chain(wanted.iter().copied()).collect();
            for at in targets {
                let sources = self.kept.get(&at).into_iter().flatten().flatten();
                let needed: Vec<usize> = self.index.after[at].iter().chain(sources).copied().collect();
                needed.into_iter().for_each(|event| self.follow(event));
            }
            let awaited = Awaited::of(self);
            for slot in 0..self.upto.len() {
                let rest = &self.index.threads[slot].1[self.upto[slot]..];
                let release = rest.iter().find(|&&at| awaited.waits_for_release(self, slot, at));
                let other = rest.iter().rev().find(|&&at| awaited.lets_go_on(self, slot, at));
                release.into_iter().chain(other).for_each(|&event| self.follow(event));
            }
            if self.upto == before {
                return;
            }
        }
    }

    /// Follows the thread up to the event, and to the end of its step.
    fn follow(&mut self, event: usize) {
        let last = self.index.second_half(event).unwrap_or(event);
        let (slot, position) = self.index.place[last];
        self.upto[slot] = self.upto[slot].max(position + 1);
    }

    fn leave_out(&mut self) {
        self.order();
        let matters = |read: &&usize| self.is_followed(**read) || self.accesses.contains(read);
        let read: Vec<usize> = self.kept.keys().filter(matters).copied().collect();
        let events = &self.index.input.trace.events;
        let loc = |at: usize| Access::of(&events[at]).map(|access| access.loc);
        for at in 0..events.len() {
            let Some(own) = loc(at) else { continue };
            let matters = self.kept.contains_key(&at)
                || read.iter().any(|&read| loc(read).is_some_and(|other| other.overlaps(own)));
            if matters && self.is_followed(at) {
                self.accesses.insert(at);
            }
        }
        let awaited = Awaited::of(self);
        for at in 0..self.roles.len() {
            self.roles[at] = if self.is_followed(at) || self.accesses.contains(&at) {
                awaited.simplified(self.roles[at], self, at)
            } else {
                Role::Local
            };
        }
    }

    /// The edges that no others imply.
    fn order(&mut self) {
        let threads = self.index.threads.len();
        let events = &self.index.input.trace.events;
        let mut clocks: Vec<Vec<usize>> = Vec::with_capacity(events.len());
        for at in 0..events.len() {
            let (slot, position) = self.index.place[at];
            let mut clock = match position.checked_sub(1) {
                Some(before) => clocks[self.index.threads[slot].1[before]].clone(),
                None => vec![0; threads],
            };
            let (own, others): (Vec<usize>, Vec<usize>) =
                self.index.after[at].iter().partition(|&&before| self.has_process(before, at));
            for before in own.iter().chain(&others).copied() {
                let (slot, position) = self.index.place[before];
                if clock[slot] > position {
                    continue;
                }
                if others.contains(&before) && (self.is_followed(at) || self.accesses.contains(&at)) {
                    self.edges.push((before, at));
                }
                clock.iter_mut().zip(&clocks[before]).for_each(|(own, other)| *own = (*own).max(*other));
            }
            clock[slot] = position + 1;
            clocks.push(clock);
        }
    }

    /// Whether the order of the two is the work of FORK, JOIN, BARRIER or ONCE.
    fn has_process(&self, before: usize, after: usize) -> bool {
        let events = &self.index.input.trace.events;
        let (slot, position) = self.index.place[after];
        match (events[before].kind, events[after].kind) {
            (EventKind::Create { child }, _) if self.index.threads[slot].0 == child => position == 0,
            (_, EventKind::Join { child }) => events[before].thread == child,
            (EventKind::BarrierArrive { .. }, EventKind::BarrierArrive { .. })
            | (EventKind::BarrierArrive { .. }, EventKind::BarrierLeave { .. })
            | (EventKind::OnceEnd { .. }, EventKind::OncePass { .. }) => true,
            _ => false,
        }
    }
}

/// What followed events may wait for, with the threads that do.
#[derive(Default)]
struct Awaited {
    locks: BTreeMap<ObjectLife, BTreeSet<usize>>,
    /// Threads that use the lock at all.
    users: BTreeMap<ObjectLife, BTreeSet<usize>>,
    exclusive: BTreeSet<ObjectLife>,
    failures: BTreeMap<ObjectLife, BTreeSet<usize>>,
    takes: BTreeMap<ObjectLife, Vec<usize>>,
    wakes: BTreeMap<Addr, BTreeSet<usize>>,
    leaves: BTreeSet<ObjectLife>,
    passes: BTreeSet<Addr>,
}

impl Awaited {
    fn of(plan: &Plan) -> Self {
        let mut awaited = Self::default();
        for (lock, holders) in &plan.index.start.objects.holders {
            for (thread, mode) in holders {
                let slot = plan.index.slot(*thread).expect("a holder has events");
                awaited.uses(*lock, slot, *mode);
            }
        }
        for at in (0..plan.roles.len()).filter(|&at| plan.is_followed(at)) {
            let slot = plan.index.place[at].0;
            match plan.roles[at] {
                Role::Lock { lock, mode } => {
                    awaited.locks.entry(lock).or_default().insert(slot);
                    awaited.uses(lock, slot, mode);
                }
                Role::Wake { cond, mutex } => {
                    awaited.wakes.entry(cond).or_default().insert(slot);
                    if let Some(lock) = mutex {
                        awaited.locks.entry(lock).or_default().insert(slot);
                        awaited.uses(lock, slot, LockMode::Exclusive);
                    }
                }
                Role::LockFails { lock, .. } => {
                    awaited.failures.entry(lock).or_default().insert(slot);
                    awaited.users.entry(lock).or_default().insert(slot);
                }
                Role::Take(sem) => awaited.takes.entry(sem).or_default().push(slot),
                Role::TakeFails(sem) => _ = awaited.failures.entry(sem).or_default().insert(slot),
                Role::Leave { barrier, .. } => _ = awaited.leaves.insert(barrier),
                Role::Enter { barrier, round } if round > 0 => _ = awaited.leaves.insert(barrier),
                Role::OncePass(once) => _ = awaited.passes.insert(once),
                _ => {}
            }
        }
        awaited
    }

    fn uses(&mut self, lock: ObjectLife, slot: usize, mode: LockMode) {
        self.users.entry(lock).or_default().insert(slot);
        if mode == LockMode::Exclusive {
            self.exclusive.insert(lock);
        }
    }

    /// Whether the event releases a lock that the thread holds where it is no longer followed, and another one acquires.
    fn waits_for_release(&self, plan: &Plan, slot: usize, event: usize) -> bool {
        let (Role::Unlock { lock, .. } | Role::Sleep { mutex: Some(lock), .. }) = plan.roles[event] else {
            return false;
        };
        self.locks.get(&lock).is_some_and(|slots| is_another(slots, slot)) && plan.holds(slot, lock)
    }

    /// Whether the event, which is not followed, may let a followed one of another thread happen in another way.
    fn lets_go_on(&self, plan: &Plan, slot: usize, event: usize) -> bool {
        let fails = |object| self.failures.get(&object).is_some_and(|slots| is_another(slots, slot));
        match plan.roles[event] {
            Role::Lock { lock, .. } | Role::Wake { mutex: Some(lock), .. } => fails(lock),
            Role::Signal(cond) | Role::Broadcast(cond) => {
                self.wakes.get(&cond).is_some_and(|slots| is_another(slots, slot))
            }
            Role::Post(sem) => {
                self.takes.get(&sem).is_some_and(|slots| slots.iter().any(|other| *other != slot))
            }
            Role::Take(sem) => fails(sem),
            _ => false,
        }
    }

    /// The role without what nobody waits for.
    fn simplified(&self, role: Role, plan: &Plan, event: usize) -> Role {
        let shared = |lock: &ObjectLife| {
            let matters = self.exclusive.contains(lock) || self.failures.contains_key(lock);
            matters && self.users.get(lock).is_some_and(|users| users.len() > 1)
        };
        let exclusive = LockMode::Exclusive;
        let matters = match role {
            Role::Local => false,
            Role::Access => plan.accesses.contains(&event),
            Role::Fork(child) => plan.index.slot(child).is_some_and(|child| plan.upto[child] > 0),
            Role::Join(_) => true,
            Role::Lock { lock, .. } | Role::Unlock { lock, .. } | Role::LockFails { lock, .. } => {
                shared(&lock)
            }
            Role::Sleep { cond, mutex } => {
                let mutex = mutex.filter(shared);
                return match (self.wakes.contains_key(&cond), mutex) {
                    (true, _) => Role::Sleep { cond, mutex },
                    (false, Some(lock)) => Role::Unlock { lock, mode: exclusive },
                    (false, None) => Role::Local,
                };
            }
            Role::Wake { cond, mutex } => return Role::Wake { cond, mutex: mutex.filter(shared) },
            Role::Signal(cond) | Role::Broadcast(cond) => self.wakes.contains_key(&cond),
            Role::Enter { barrier, .. } | Role::Leave { barrier, .. } => self.leaves.contains(&barrier),
            Role::Post(sem) | Role::Take(sem) | Role::TakeFails(sem) => {
                let takes = self.takes.get(&sem).map_or(0, Vec::len);
                let start = plan.index.start.objects.counts.get(&sem).copied().unwrap_or(0) as usize;
                takes > start || self.failures.contains_key(&sem)
            }
            Role::OnceEnd(once) | Role::OncePass(once) => self.passes.contains(&once),
        };
        if matters { role } else { Role::Local }
    }
}

fn is_another(slots: &BTreeSet<usize>, slot: usize) -> bool {
    slots.iter().any(|other| *other != slot)
}

impl Plan<'_> {
    /// Whether the thread holds the lock where it is no longer followed.
    fn holds(&self, slot: usize, lock: ObjectLife) -> bool {
        let (thread, own) = &self.index.threads[slot];
        let at_start = self.index.start.objects.holders.get(&lock).into_iter().flatten();
        let mut held = at_start.filter(|(holder, _)| holder == thread).count();
        for &at in &own[..self.upto[slot]] {
            match self.roles[at] {
                Role::Lock { lock: other, .. } | Role::Wake { mutex: Some(other), .. } if other == lock => {
                    held += 1
                }
                Role::Unlock { lock: other, .. } | Role::Sleep { mutex: Some(other), .. }
                    if other == lock =>
                {
                    held -= 1;
                }
                _ => {}
            }
        }
        held > 0
    }
}
