//! The trace as the methods see it: threads and positions in them, critical sections, and what an event must come after in every
//! reordering ([`reordering`](crate::reordering), rules 2, 4 to 8) or only where a value is to stay as it was recorded (concrete reads).
//!
//! An edge says: the event at this position of its thread comes after so many events of another thread. Program order is not among them.
//!
//! Where the order of the trace is kept, edges may ask for more than the rules: a wait on a semaphore comes after as many posts as it needed in
//! the trace, in their order there, and a wait that was signalled after one certain signal. Which way it errs: a set of events that is
//! closed under the edges, and in which critical sections do not overlap, is a reordering when it is taken in the order of the trace. Others
//! that the rules allow may not be closed; they are left to the methods that change the order of synchronisation.

use crate::clock::Clock;
use crate::reads_from::Writers;
use crate::{Input, semaphores};
use raddle_base::fast_hash::FastMap;
use raddle_event::{Addr, Event, EventKind, LockMode, ThreadId, WakeReason};
use std::collections::{BTreeMap, VecDeque};

pub(crate) struct Prepared<'a> {
    pub(crate) input: Input<'a>,
    /// Events of each thread by index.
    pub(crate) of_thread: Vec<Vec<u32>>,
    /// Place of each event in its thread.
    pub(crate) position: Vec<u32>,
    /// Of each thread, in order of their positions.
    pub(crate) edges: Vec<Vec<Edge>>,
    /// Of each thread, in order of their acquisitions.
    pub(crate) sections: Vec<Vec<Section>>,
    /// When questions about it come to an end.
    pub(crate) clock: Clock,
}

/// The event at `at` of its thread comes after the first `upto` events of `thread`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) at: u32,
    pub(crate) thread: u32,
    pub(crate) upto: u32,
    pub(crate) why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// In every reordering.
    Order,
    /// Where a deciding read is to be concrete: also all that makes the write concrete.
    Deciding,
    /// The same for an atomic read: a program that waits for a value does not go on without it, so this counts also where plain reads
    /// are free.
    DecidingAtomic,
    /// Where any read is to be concrete.
    Data,
}

/// From an acquisition to its release, if that is in the trace. Semaphores that are used as locks have them, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) lock: u32,
    pub(crate) mode: LockMode,
    /// Position of the acquisition; of the end of a wait, where that takes the lock.
    pub(crate) entry: u32,
    pub(crate) acquire: u32,
    pub(crate) release: Option<u32>,
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(input: Input<'a>, clock: Clock) -> Self {
        let events = &input.trace.events;
        let threads = events.iter().map(Self::highest).max().unwrap_or(0);
        let mut building = Building {
            of_thread: vec![Vec::new(); threads],
            position: Vec::with_capacity(events.len()),
            edges: Edges::new(threads),
            sections: vec![Vec::new(); threads],
            ..Building::default()
        };
        let semaphores = semaphores::uses(input);
        let blocks = events.iter().filter_map(|event| match event.kind {
            EventKind::Alloc { object } | EventKind::Free { object } => Some((object.0, Life::default())),
            _ => None,
        });
        building.blocks = blocks.collect();
        for (index, event) in events.iter().enumerate() {
            building.take(&input, &semaphores, index, event);
        }
        let Building { of_thread, position, edges, sections, .. } = building;
        Self { input, of_thread, position, edges: edges.lists, sections, clock }
    }

    /// One more than the largest number of a thread in the event.
    fn highest(event: &Event) -> usize {
        let other = match event.kind {
            EventKind::Create { child } | EventKind::Join { child } | EventKind::Detach { child } => child,
            _ => event.thread,
        };
        event.thread.0.max(other.0) as usize + 1
    }

    pub(crate) fn threads(&self) -> usize {
        self.of_thread.len()
    }

    /// Both halves of a condition wait and its mutex are one step.
    pub(crate) fn whole_steps(&self, thread: usize, upto: u32) -> u32 {
        let own = &self.of_thread[thread];
        let last = upto.checked_sub(1).map(|last| self.event(own[last as usize] as usize).kind);
        let is_half = matches!(last, Some(EventKind::WaitBegin { .. } | EventKind::WaitEnd { .. }));
        if is_half && (upto as usize) < own.len() { upto + 1 } else { upto }
    }

    pub(crate) fn event(&self, index: usize) -> &'a Event {
        &self.input.trace.events[index]
    }
}

/// Edges under construction; what follows from an earlier one of the same thread is left out.
struct Edges {
    lists: Vec<Vec<Edge>>,
    /// For each thread and other thread, how far an edge reaches: of order, of deciding reads, of any read.
    known: Vec<[u32; 3]>,
    /// For each thread, the position after the last read of another thread's value that does not decide.
    foreign: Vec<u32>,
}

impl Default for Edges {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Edges {
    fn new(threads: usize) -> Self {
        Self {
            lists: vec![Vec::new(); threads],
            known: vec![[0; 3]; threads * threads],
            foreign: vec![0; threads],
        }
    }

    fn add(&mut self, from: usize, edge: Edge) {
        let threads = self.lists.len();
        let known = &mut self.known[from * threads + edge.thread as usize];
        let level = match edge.why {
            Why::Order => 0,
            Why::Deciding | Why::DecidingAtomic => 1,
            Why::Data => 2,
        };
        // A deciding read needs all that makes the write concrete, so it is more than any other read of it; order is apart.
        let covered = if level == 0 { known[0] } else { known[1].max(if level == 2 { known[2] } else { 0 }) };
        if edge.upto > covered {
            known[level] = edge.upto;
            self.lists[from].push(edge);
        }
    }
}

#[derive(Default)]
struct Building {
    of_thread: Vec<Vec<u32>>,
    position: Vec<u32>,
    edges: Edges,
    sections: Vec<Vec<Section>>,
    /// Of this life of each lock.
    locks: FastMap<Addr, u32>,
    lock_count: u32,
    /// Sections of a lock that are open: thread and place in its list.
    open: FastMap<u32, Vec<(usize, usize)>>,
    creations: BTreeMap<ThreadId, (usize, u32)>,
    conditions: FastMap<Addr, Condition>,
    barriers: FastMap<Addr, Vec<Round>>,
    posts: FastMap<Addr, Posts>,
    onces: FastMap<Addr, (usize, u32)>,
    lives: FastMap<Addr, Life>,
    /// Of objects that are allocated or released.
    blocks: FastMap<u32, Life>,
    writers: Writers,
}

/// Of a condition variable: wake-ups since the oldest wait, and where each thread's wait began.
#[derive(Default)]
struct Condition {
    began: BTreeMap<usize, usize>,
    wakes: VecDeque<Wake>,
}

#[derive(Clone, Copy)]
struct Wake {
    index: usize,
    thread: usize,
    position: u32,
    /// A signal for one wait.
    single: bool,
    woken: Option<ThreadId>,
}

/// Of a barrier.
struct Round {
    number: u32,
    arrivals: Vec<(usize, u32)>,
    left: usize,
}

/// Of a semaphore.
#[derive(Default)]
struct Posts {
    posts: Vec<(usize, u32)>,
    waits: u32,
    /// The last wait of each thread.
    last_waits: BTreeMap<usize, u32>,
}

/// Of a synchronisation object or a heap block: its beginning, and the last use by each thread.
#[derive(Default)]
struct Life {
    began: Option<(usize, u32)>,
    uses: Vec<(usize, u32)>,
}

impl Life {
    /// The beginning, if this is the first use by a thread other than its maker.
    fn touch(&mut self, thread: usize, at: u32) -> Option<(usize, u32)> {
        match self.uses.iter_mut().find(|(user, _)| *user == thread) {
            Some((_, last)) => {
                *last = at;
                None
            }
            None => {
                self.uses.push((thread, at));
                self.began.filter(|(maker, _)| *maker != thread)
            }
        }
    }
}

impl Building {
    fn take(&mut self, input: &Input<'_>, semaphores: &semaphores::Uses, index: usize, event: &Event) {
        let me = event.thread.0 as usize;
        let at = self.of_thread[me].len() as u32;
        self.of_thread[me].push(index as u32);
        self.position.push(at);
        if at == 0
            && let Some(&(parent, created)) = self.creations.get(&event.thread)
        {
            self.order(me, at, parent, created + 1);
        }
        match event.kind {
            EventKind::Create { child } => _ = self.creations.insert(child, (me, at)),
            EventKind::Detach { child } => {
                if let Some(&(parent, created)) = self.creations.get(&child) {
                    self.order(me, at, parent, created + 1);
                }
            }
            EventKind::Join { child } => {
                let length = self.of_thread[child.0 as usize].len() as u32;
                self.order(me, at, child.0 as usize, length);
            }
            EventKind::Acquire { lock, mode } => {
                self.use_object(lock, me, at);
                self.acquire(lock, mode, me, at, input);
            }
            EventKind::Release { lock, .. } => {
                self.use_object(lock, me, at);
                self.release(lock, me, at);
            }
            EventKind::AcquireFailed { lock } => {
                self.use_object(lock, me, at);
                self.fail(lock, me, at);
            }
            EventKind::WaitBegin { cond } => {
                self.use_object(cond, me, at);
                self.conditions.entry(cond).or_default().began.insert(me, index);
            }
            EventKind::WaitEnd { cond, reason } => {
                self.use_object(cond, me, at);
                self.end_wait(cond, reason, me, at);
            }
            EventKind::Signal { cond, woken } => {
                self.use_object(cond, me, at);
                let wake = Wake { index, thread: me, position: at, single: true, woken };
                self.conditions.entry(cond).or_default().wakes.push_back(wake);
            }
            EventKind::Broadcast { cond } => {
                self.use_object(cond, me, at);
                let wake = Wake { index, thread: me, position: at, single: false, woken: None };
                self.conditions.entry(cond).or_default().wakes.push_back(wake);
            }
            EventKind::BarrierArrive { barrier, round } => {
                self.use_object(barrier, me, at);
                self.arrive(barrier, round, me, at);
            }
            EventKind::BarrierLeave { barrier, round } => {
                self.use_object(barrier, me, at);
                self.leave(barrier, round, me, at);
            }
            EventKind::SemPost { sem } => {
                self.use_object(sem, me, at);
                match semaphores.is_lock(index) {
                    true => self.release(sem, me, at),
                    false => self.posts.entry(sem).or_default().posts.push((me, at)),
                }
            }
            EventKind::SemWait { sem } => {
                self.use_object(sem, me, at);
                match semaphores.is_lock(index) {
                    true => self.acquire(sem, LockMode::Exclusive, me, at, input),
                    false => self.take_permit(sem, semaphores.initial(index), me, at),
                }
            }
            EventKind::OnceBegin { once } => self.use_object(once, me, at),
            EventKind::OnceEnd { once } => {
                self.use_object(once, me, at);
                self.onces.insert(once, (me, at));
            }
            EventKind::OncePass { once } => {
                self.use_object(once, me, at);
                if let Some(&(thread, end)) = self.onces.get(&once) {
                    self.order(me, at, thread, end + 1);
                }
            }
            EventKind::SyncInit { object } | EventKind::SyncDestroy { object } => {
                self.renew(object, me, at);
                self.locks.remove(&object);
                self.posts.remove(&object);
                self.onces.remove(&object);
            }
            EventKind::Alloc { object } => {
                let before =
                    self.blocks.insert(object.0, Life { began: Some((me, at)), uses: vec![(me, at)] });
                for (user, last) in before.map(|life| life.uses).unwrap_or_default() {
                    self.order(me, at, user, last + 1);
                }
            }
            // What comes later is a use after the release, which may come before it.
            EventKind::Free { object } => {
                let life = self.blocks.entry(object.0).or_default();
                let (uses, began) = (life.uses.clone(), life.touch(me, at));
                for (user, last) in uses.into_iter().chain(began) {
                    self.order(me, at, user, last + 1);
                }
            }
            EventKind::Access { loc, .. } | EventKind::Atomic { loc, .. } => {
                self.use_block(loc.object.0, me, at);
                self.writers.access(event, at, input.deciding, &mut |edge| self.edges.data(me, edge));
            }
            EventKind::Begin
            | EventKind::End
            | EventKind::Fence { .. }
            | EventKind::BranchBegin { .. }
            | EventKind::BranchEnd
            | EventKind::Choose { .. }
            | EventKind::Exit => {}
        }
    }

    fn order(&mut self, me: usize, at: u32, thread: usize, upto: u32) {
        if thread != me {
            self.edges.add(me, Edge { at, thread: thread as u32, upto, why: Why::Order });
        }
    }

    fn use_object(&mut self, object: Addr, me: usize, at: u32) {
        if let Some((thread, position)) = self.lives.entry(object).or_default().touch(me, at) {
            self.order(me, at, thread, position + 1);
        }
    }

    fn use_block(&mut self, object: u32, me: usize, at: u32) {
        if let Some(life) = self.blocks.get_mut(&object)
            && let Some((thread, position)) = life.touch(me, at)
        {
            self.order(me, at, thread, position + 1);
        }
    }

    /// After all uses so far, before all that follow.
    fn renew(&mut self, object: Addr, me: usize, at: u32) {
        let fresh = Life { began: Some((me, at)), uses: vec![(me, at)] };
        let before = self.lives.insert(object, fresh).unwrap_or_default();
        for (user, last) in before.uses {
            self.order(me, at, user, last + 1);
        }
        if let Some((maker, made)) = before.began {
            self.order(me, at, maker, made + 1);
        }
    }

    fn acquire(&mut self, lock: Addr, mode: LockMode, me: usize, at: u32, input: &Input<'_>) {
        let number = self.lock_count;
        let lock = *self.locks.entry(lock).or_insert(number);
        self.lock_count += u32::from(lock == number);
        let wakes = at > 0 && {
            let before = self.of_thread[me][at as usize - 1] as usize;
            matches!(input.trace.events[before].kind, EventKind::WaitEnd { .. })
        };
        let entry = if wakes { at - 1 } else { at };
        self.open.entry(lock).or_default().push((me, self.sections[me].len()));
        self.sections[me].push(Section { lock, mode, entry, acquire: at, release: None });
    }

    /// A release that has no acquisition (the trace began later) is nothing.
    fn release(&mut self, lock: Addr, me: usize, at: u32) {
        let Some(open) = self.locks.get(&lock).and_then(|lock| self.open.get_mut(lock)) else { return };
        if let Some(place) = open.iter().rposition(|(thread, _)| *thread == me) {
            let (_, section) = open.swap_remove(place);
            self.sections[me][section].release = Some(at);
        }
    }

    /// Somebody else holds the lock, or a semaphore is at zero: after all waits so far, and no more posts, it is again.
    fn fail(&mut self, lock: Addr, me: usize, at: u32) {
        let waits = self.posts.get(&lock).map(|uses| uses.last_waits.clone());
        for (thread, position) in waits.into_iter().flatten() {
            self.order(me, at, thread, position + 1);
        }
        let Some(open) = self.locks.get(&lock).and_then(|lock| self.open.get(lock)) else { return };
        if let Some(&(holder, section)) = open.iter().find(|(thread, _)| *thread != me) {
            let upto = self.sections[holder][section].acquire + 1;
            self.order(me, at, holder, upto);
        }
    }

    fn end_wait(&mut self, cond: Addr, reason: WakeReason, me: usize, at: u32) {
        let Some(condition) = self.conditions.get_mut(&cond) else { return };
        let Some(began) = condition.began.remove(&me) else { return };
        let mut by = None;
        if reason == WakeReason::Signalled {
            let since = |wake: &Wake| wake.index > began;
            let named = |wake: &Wake| wake.woken == Some(ThreadId(me as u32));
            let free = |wake: &Wake| wake.single && wake.woken.is_none();
            let wakes = &condition.wakes;
            let found = wakes.iter().position(|wake| since(wake) && named(wake));
            let found = found.or_else(|| wakes.iter().position(|wake| since(wake) && !wake.single));
            let found = found.or_else(|| wakes.iter().position(|wake| since(wake) && free(wake)));
            if let Some(place) = found {
                by = Some(condition.wakes[place]);
                if condition.wakes[place].single {
                    condition.wakes.remove(place);
                }
            }
        }
        // Nobody who waits now can be woken by what came before.
        let oldest = condition.began.values().min().copied().unwrap_or(usize::MAX);
        while condition.wakes.front().is_some_and(|wake| wake.index < oldest) {
            condition.wakes.pop_front();
        }
        if let Some(wake) = by {
            self.order(me, at, wake.thread, wake.position + 1);
        }
    }

    fn arrive(&mut self, barrier: Addr, round: u32, me: usize, at: u32) {
        let rounds = self.barriers.entry(barrier).or_default();
        rounds.retain(|earlier| {
            earlier.number.saturating_add(1) >= round || earlier.left < earlier.arrivals.len()
        });
        let before = rounds.iter().filter(|earlier| earlier.number < round);
        let before: Vec<(usize, u32)> = before.flat_map(|earlier| earlier.arrivals.iter().copied()).collect();
        match rounds.iter_mut().find(|one| one.number == round) {
            Some(one) => one.arrivals.push((me, at)),
            None => rounds.push(Round { number: round, arrivals: vec![(me, at)], left: 0 }),
        }
        for (thread, position) in before {
            self.order(me, at, thread, position + 1);
        }
    }

    fn leave(&mut self, barrier: Addr, round: u32, me: usize, at: u32) {
        let rounds = self.barriers.get_mut(&barrier);
        let Some(one) = rounds.and_then(|rounds| rounds.iter_mut().find(|one| one.number == round)) else {
            return;
        };
        one.left += 1;
        for (thread, position) in one.arrivals.clone() {
            self.order(me, at, thread, position + 1);
        }
    }

    /// After as many posts as it needed.
    fn take_permit(&mut self, sem: Addr, initial: u32, me: usize, at: u32) {
        let uses = self.posts.entry(sem).or_default();
        uses.waits += 1;
        uses.last_waits.insert(me, at);
        let needed = uses.waits.saturating_sub(initial) as usize;
        let mut last: BTreeMap<usize, u32> = BTreeMap::new();
        for &(thread, position) in uses.posts.iter().take(needed) {
            last.insert(thread, position);
        }
        for (thread, position) in last {
            self.order(me, at, thread, position + 1);
        }
    }
}

impl Edges {
    /// A read of a value that was written by `edge.thread`, maybe the reader itself.
    fn data(&mut self, me: usize, edge: Edge) {
        let own = edge.thread as usize == me;
        match (own, edge.why) {
            (false, Why::Data) => {
                self.foreign[me] = edge.at + 1;
                self.add(me, edge);
            }
            (false, _) => self.add(me, edge),
            // The write is concrete when what its thread has read before is.
            (true, Why::Deciding | Why::DecidingAtomic) => {
                let reach = self.foreign[me].min(edge.upto);
                let threads = self.lists.len();
                if reach > self.known[me * threads + me][1] {
                    self.add(me, edge);
                }
            }
            (true, _) => {}
        }
    }
}
