//! Random traces: a few threads that do random things that are possible, over few objects so that they meet often.
//!
//! Each seed first draws how often each kind of operation is tried, so that some traces are all atomics and others have none.

use crate::random::Random;
use raddle_base::{FenceOrder, LoadOrder, RmwOrder, SiteId, StoreOrder};
use raddle_event::{
    AccessKind, Addr, AtomicOp, Event, EventKind, Loc, LockMode, ObjectId, ThreadId, Trace, WakeReason,
};

/// A legal trace, the same for the same seed.
pub fn random(seed: u64) -> Trace {
    let mut world = World::new(Random::new(seed));
    let length = world.rng.between(8, 56);
    let mut attempts = 0;
    while world.events.len() < length && attempts < 40 * length {
        attempts += 1;
        world.attempt();
    }
    if world.rng.chance(10) {
        let running = world.running();
        if !running.is_empty() {
            let thread = world.rng.pick(&running);
            world.emit(thread, EventKind::Exit);
        }
    }
    Trace { events: world.events }
}

/// The value of a semaphore when it is new.
pub const SEMAPHORE_START: u32 = 1;

const LOCKS: [u32; 3] = [10, 11, 12];
const CONDITIONS: [u32; 2] = [20, 21];
const BARRIERS: [(u32, u32); 2] = [(30, 2), (31, 3)];
const SEMAPHORES: [u32; 2] = [40, 41];
const ONCES: [u32; 2] = [50, 51];

struct World {
    rng: Random,
    events: Vec<Event>,
    weights: Vec<(Try, u32)>,
    threads: Vec<Thread>,
    max_threads: usize,
    /// Sizes of the memory objects; 0 once freed.
    memory: Vec<u32>,
    holders: Vec<Vec<(ThreadId, LockMode)>>,
    barriers: Vec<Barrier>,
    semaphores: Vec<u32>,
    onces: Vec<Option<Once>>,
    destroyed: Vec<ObjectId>,
}

#[derive(Default)]
struct Barrier {
    round: u32,
    waiting: Vec<ThreadId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Once {
    Running(ThreadId),
    Done,
}

struct Thread {
    state: State,
    claimed: bool,
    branches: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unborn,
    Running,
    Waiting {
        cond: Addr,
        lock: usize,
        signalled: bool,
    },
    AtBarrier {
        barrier: usize,
        round: u32,
    },
    /// Its round is complete.
    PassingBarrier {
        barrier: usize,
        round: u32,
    },
    Ended,
}

/// What a thread may try.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Try {
    Join,
    Detach,
    End,
    Read,
    Write,
    Free,
    Load,
    Store,
    Rmw,
    Fence,
    Lock(LockMode),
    Unlock,
    FailLock,
    Wait,
    Wake,
    Arrive,
    Post,
    Take,
    OnceBegin,
    OnceEnd,
    OncePass,
    Restart,
    Noise,
}

/// Operations that are drawn to be frequent or absent together, with the usual weight of each.
const FAMILIES: [&[(Try, u32)]; 9] = [
    &[(Try::Read, 8), (Try::Write, 6), (Try::Free, 1)],
    &[(Try::Load, 8), (Try::Store, 6), (Try::Rmw, 5), (Try::Fence, 4)],
    &[(Try::Lock(LockMode::Exclusive), 8), (Try::Unlock, 8), (Try::FailLock, 1)],
    &[(Try::Lock(LockMode::Shared), 8), (Try::Lock(LockMode::Exclusive), 3), (Try::Unlock, 8)],
    &[(Try::Wait, 6), (Try::Wake, 4), (Try::Lock(LockMode::Exclusive), 5), (Try::Unlock, 2)],
    &[(Try::Arrive, 5)],
    &[(Try::Post, 4), (Try::Take, 4)],
    &[(Try::OnceBegin, 4), (Try::OnceEnd, 3), (Try::OncePass, 4)],
    &[(Try::Restart, 2), (Try::Noise, 3)],
];

const ALWAYS: [(Try, u32); 3] = [(Try::Join, 8), (Try::Detach, 1), (Try::End, 3)];

impl World {
    fn new(mut rng: Random) -> Self {
        let mut weights = ALWAYS.to_vec();
        for (index, family) in FAMILIES.iter().enumerate() {
            let strength = if index == 0 { 2 } else { [0, 0, 1, 2, 4][rng.below(5)] };
            weights.extend(family.iter().map(|(what, weight)| (*what, weight * strength)));
        }
        let memory = (0..rng.between(1, 2)).map(|_| rng.between(4, 12) as u32).collect();
        let threads = vec![Thread { state: State::Running, claimed: true, branches: 0 }];
        let max_threads = rng.between(2, 5);
        Self {
            rng,
            events: Vec::new(),
            weights,
            threads,
            max_threads,
            memory,
            holders: LOCKS.iter().map(|_| Vec::new()).collect(),
            barriers: BARRIERS.iter().map(|_| Barrier::default()).collect(),
            semaphores: vec![SEMAPHORE_START; SEMAPHORES.len()],
            onces: vec![None; ONCES.len()],
            destroyed: Vec::new(),
        }
    }

    fn attempt(&mut self) {
        let id = ThreadId(self.rng.below(self.threads.len()) as u32);
        match self.threads[id.0 as usize].state {
            State::Ended | State::AtBarrier { .. } => {}
            State::Unborn => {
                self.threads[id.0 as usize].state = State::Running;
                self.emit(id, EventKind::Begin);
            }
            State::PassingBarrier { barrier, round } => {
                self.threads[id.0 as usize].state = State::Running;
                self.emit(id, EventKind::BarrierLeave { barrier: start(BARRIERS[barrier].0), round });
            }
            State::Waiting { cond, lock, signalled } => self.end_wait(id, cond, lock, signalled),
            State::Running if self.threads.len() < self.max_threads && self.rng.chance(25) => self.create(id),
            State::Running => self.run(id),
        }
    }

    fn run(&mut self, id: ThreadId) {
        let total: u32 = self.weights.iter().map(|(_, weight)| weight).sum();
        let mut at = self.rng.below(total as usize) as u32;
        let (what, _) = *self
            .weights
            .iter()
            .find(|(_, weight)| {
                let hit = at < *weight;
                at = at.saturating_sub(*weight);
                hit
            })
            .expect("less than the total");
        match what {
            Try::Join | Try::Detach | Try::End => self.manage_threads(id, what),
            Try::Read | Try::Write | Try::Free | Try::Load | Try::Store | Try::Rmw | Try::Fence => {
                self.access_memory(id, what);
            }
            Try::Lock(_) | Try::Unlock | Try::FailLock => self.use_lock(id, what),
            Try::Wait | Try::Wake => self.use_condition(id, what),
            Try::Arrive => self.arrive(id),
            Try::Post | Try::Take => self.use_semaphore(id, what),
            Try::OnceBegin | Try::OnceEnd | Try::OncePass => self.use_once(id, what),
            Try::Restart => self.restart_object(id),
            Try::Noise => self.make_noise(id),
        }
    }

    fn create(&mut self, id: ThreadId) {
        let child = ThreadId(self.threads.len() as u32);
        self.threads.push(Thread { state: State::Unborn, claimed: false, branches: 0 });
        self.emit(id, EventKind::Create { child });
    }

    fn manage_threads(&mut self, id: ThreadId, what: Try) {
        let others = |wanted: fn(&Thread) -> bool| -> Vec<ThreadId> {
            let all = self.threads.iter().enumerate();
            all.filter(|(_, t)| wanted(t) && !t.claimed).map(|(i, _)| ThreadId(i as u32)).collect()
        };
        match what {
            Try::Join | Try::Detach => {
                let joins = what == Try::Join;
                let candidates = if joins { others(|t| t.state == State::Ended) } else { others(|_| true) };
                if candidates.is_empty() {
                    return;
                }
                let child = self.rng.pick(&candidates);
                if child != id {
                    self.threads[child.0 as usize].claimed = true;
                    let kind = if joins { EventKind::Join { child } } else { EventKind::Detach { child } };
                    self.emit(id, kind);
                }
            }
            Try::End if id != ThreadId::MAIN || self.rng.chance(20) => {
                let holds = self.holders.iter().flatten().any(|(holder, _)| *holder == id);
                let initialises = self.onces.contains(&Some(Once::Running(id)));
                if !(holds || initialises) || self.rng.chance(10) {
                    self.threads[id.0 as usize].state = State::Ended;
                    self.emit(id, EventKind::End);
                }
            }
            _ => {}
        }
    }

    fn access_memory(&mut self, id: ThreadId, what: Try) {
        if what == Try::Fence {
            let orders = [FenceOrder::Acquire, FenceOrder::Release, FenceOrder::AcqRel, FenceOrder::SeqCst];
            let order = self.rng.pick(&orders);
            return self.emit(id, EventKind::Fence { order });
        }
        let index = self.rng.below(self.memory.len());
        let object = ObjectId(index as u32);
        let size = self.memory[index];
        if size == 0 && !self.rng.chance(20) {
            return;
        }
        if what == Try::Free {
            self.memory[index] = 0;
            let loc = Loc { object, offset: 0, len: size };
            self.emit(id, EventKind::Access { loc, kind: AccessKind::Write });
            return self.emit(id, EventKind::Free { object });
        }
        let loc = self.random_loc(object, size.max(4));
        let kind = match what {
            Try::Read => EventKind::Access { loc, kind: AccessKind::Read },
            Try::Write => EventKind::Access { loc, kind: AccessKind::Write },
            _ => EventKind::Atomic { loc, op: self.random_op(what) },
        };
        self.emit(id, kind);
    }

    /// Often the same bytes, sometimes a part of them or an overlap.
    fn random_loc(&mut self, object: ObjectId, size: u32) -> Loc {
        if self.rng.chance(60) {
            return Loc { object, offset: 0, len: size.min(4) };
        }
        let len = [1, 2, 4, 8][self.rng.below(4)].min(size);
        Loc { object, offset: self.rng.below((size - len + 1) as usize) as u32, len }
    }

    fn random_op(&mut self, what: Try) -> AtomicOp {
        let loads = [LoadOrder::Relaxed, LoadOrder::Acquire, LoadOrder::SeqCst];
        let stores = [StoreOrder::Relaxed, StoreOrder::Release, StoreOrder::SeqCst];
        let rmws =
            [RmwOrder::Relaxed, RmwOrder::Acquire, RmwOrder::Release, RmwOrder::AcqRel, RmwOrder::SeqCst];
        match what {
            Try::Load => AtomicOp::Load(self.rng.pick(&loads)),
            Try::Store => AtomicOp::Store(self.rng.pick(&stores)),
            _ => AtomicOp::Rmw(self.rng.pick(&rmws)),
        }
    }

    fn use_lock(&mut self, id: ThreadId, what: Try) {
        let owned = |index: &usize| self.holders[*index].iter().any(|(holder, _)| *holder == id);
        let index = match (0..LOCKS.len()).find(owned) {
            Some(held) if what == Try::Unlock => held,
            _ => self.rng.below(LOCKS.len()),
        };
        let lock = start(LOCKS[index]);
        if self.is_destroyed(lock) {
            return;
        }
        let holders = &mut self.holders[index];
        match what {
            Try::Lock(mode) => {
                let compatible = |(holder, held): &(ThreadId, LockMode)| {
                    *holder != id && mode == LockMode::Shared && *held == LockMode::Shared
                };
                if holders.iter().all(compatible) {
                    holders.push((id, mode));
                    self.emit(id, EventKind::Acquire { lock, mode });
                }
            }
            Try::Unlock => {
                if let Some(at) = holders.iter().position(|(holder, _)| *holder == id) {
                    let (_, mode) = holders.remove(at);
                    self.emit(id, EventKind::Release { lock, mode });
                }
            }
            _ => self.emit(id, EventKind::AcquireFailed { lock }),
        }
    }

    fn use_condition(&mut self, id: ThreadId, what: Try) {
        let cond = start(self.rng.pick(&CONDITIONS));
        if self.is_destroyed(cond) {
            return;
        }
        if what == Try::Wait {
            let owned = |holders: &Vec<(ThreadId, LockMode)>| *holders == [(id, LockMode::Exclusive)];
            if let Some(lock) = self.holders.iter().position(owned) {
                self.holders[lock].clear();
                self.threads[id.0 as usize].state = State::Waiting { cond, lock, signalled: false };
                self.emit(id, EventKind::WaitBegin { cond });
                self.emit(id, EventKind::Release { lock: start(LOCKS[lock]), mode: LockMode::Exclusive });
            }
            return;
        }
        let everyone = self.rng.chance(30);
        let mut woken = None;
        for (index, thread) in self.threads.iter_mut().enumerate() {
            if let State::Waiting { cond: at, signalled, .. } = &mut thread.state
                && *at == cond
                && !*signalled
                && (everyone || woken.is_none())
            {
                *signalled = true;
                woken = Some(ThreadId(index as u32));
            }
        }
        let kind = if everyone { EventKind::Broadcast { cond } } else { EventKind::Signal { cond, woken } };
        self.emit(id, kind);
    }

    fn end_wait(&mut self, id: ThreadId, cond: Addr, lock: usize, signalled: bool) {
        if self.holders[lock].is_empty() && (signalled || self.rng.chance(4)) {
            let reason = match (signalled, self.rng.chance(50)) {
                (true, _) => WakeReason::Signalled,
                (false, true) => WakeReason::Spurious,
                (false, false) => WakeReason::TimedOut,
            };
            self.holders[lock].push((id, LockMode::Exclusive));
            self.threads[id.0 as usize].state = State::Running;
            self.emit(id, EventKind::WaitEnd { cond, reason });
            self.emit(id, EventKind::Acquire { lock: start(LOCKS[lock]), mode: LockMode::Exclusive });
        }
    }

    fn arrive(&mut self, id: ThreadId) {
        let index = self.rng.below(BARRIERS.len());
        let (object, size) = BARRIERS[index];
        if self.is_destroyed(start(object)) || size as usize > self.threads.len() {
            return;
        }
        let barrier = &mut self.barriers[index];
        let round = barrier.round;
        barrier.waiting.push(id);
        self.threads[id.0 as usize].state = State::AtBarrier { barrier: index, round };
        if barrier.waiting.len() == size as usize {
            barrier.round += 1;
            for thread in std::mem::take(&mut barrier.waiting) {
                self.threads[thread.0 as usize].state = State::PassingBarrier { barrier: index, round };
            }
        }
        self.emit(id, EventKind::BarrierArrive { barrier: start(object), round });
    }

    fn use_semaphore(&mut self, id: ThreadId, what: Try) {
        let index = self.rng.below(SEMAPHORES.len());
        let sem = start(SEMAPHORES[index]);
        let value = &mut self.semaphores[index];
        if self.destroyed.contains(&sem.object) {
        } else if what == Try::Post {
            *value += 1;
            self.emit(id, EventKind::SemPost { sem });
        } else if *value > 0 {
            *value -= 1;
            self.emit(id, EventKind::SemWait { sem });
        } else {
            self.emit(id, EventKind::AcquireFailed { lock: sem });
        }
    }

    fn use_once(&mut self, id: ThreadId, what: Try) {
        let index = self.rng.below(ONCES.len());
        let once = start(ONCES[index]);
        match (what, self.onces[index]) {
            (Try::OnceBegin, None) => {
                self.onces[index] = Some(Once::Running(id));
                self.emit(id, EventKind::OnceBegin { once });
            }
            (Try::OnceEnd, Some(Once::Running(runner))) if runner == id => {
                self.onces[index] = Some(Once::Done);
                self.emit(id, EventKind::OnceEnd { once });
            }
            (Try::OncePass, Some(Once::Done)) => self.emit(id, EventKind::OncePass { once }),
            _ => {}
        }
    }

    fn restart_object(&mut self, id: ThreadId) {
        let objects = [LOCKS[0], LOCKS[1], CONDITIONS[0], BARRIERS[0].0, SEMAPHORES[0], SEMAPHORES[1]];
        let object = start(self.rng.pick(&objects));
        let held = LOCKS.iter().position(|lock| start(*lock) == object);
        let busy = held.is_some_and(|lock| !self.holders[lock].is_empty())
            || self.threads.iter().any(|thread| match thread.state {
                State::Waiting { cond, lock, .. } => cond == object || start(LOCKS[lock]) == object,
                State::AtBarrier { barrier, .. } | State::PassingBarrier { barrier, .. } => {
                    start(BARRIERS[barrier].0) == object
                }
                _ => false,
            });
        if busy {
            return;
        }
        if self.rng.chance(50) && !self.is_destroyed(object) {
            self.destroyed.push(object.object);
            return self.emit(id, EventKind::SyncDestroy { object });
        }
        self.destroyed.retain(|gone| *gone != object.object);
        if let Some(index) = SEMAPHORES.iter().position(|sem| start(*sem) == object) {
            self.semaphores[index] = SEMAPHORE_START;
        }
        if object == start(BARRIERS[0].0) {
            self.barriers[0] = Barrier::default();
        }
        self.emit(id, EventKind::SyncInit { object });
    }

    fn make_noise(&mut self, id: ThreadId) {
        let open = &mut self.threads[id.0 as usize].branches;
        let kind = match self.rng.below(3) {
            0 if *open > 0 => {
                *open -= 1;
                EventKind::BranchEnd
            }
            0 => {
                *open += 1;
                EventKind::BranchBegin { taken: 1 }
            }
            1 => EventKind::Choose { value: 7 },
            _ => EventKind::Alloc { object: ObjectId(60) },
        };
        self.emit(id, kind);
    }

    fn running(&self) -> Vec<ThreadId> {
        let all = self.threads.iter().enumerate();
        all.filter(|(_, thread)| thread.state == State::Running).map(|(i, _)| ThreadId(i as u32)).collect()
    }

    fn is_destroyed(&self, object: Addr) -> bool {
        self.destroyed.contains(&object.object)
    }

    /// Few sites, so that one site makes several events, as in a loop.
    fn emit(&mut self, thread: ThreadId, kind: EventKind) {
        let site = SiteId(thread.0 * 3 + self.rng.below(3) as u32);
        self.events.push(Event { thread, site, kind });
    }
}

fn start(object: u32) -> Addr {
    Addr { object: ObjectId(object), offset: 0 }
}
