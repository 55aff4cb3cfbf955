//! PROGRAM: the threads, restricted by the synchronisation processes.
//!
//! Names are those of figures 1 and 2: channel, thread from `t1` on, object. Objects are numbered by kind in order of use, and a new life of
//! an object is another one. Accesses carry their number in the trace besides, and a thread before a wanted access offers `next`, after
//! which it stands still.

use super::objects::{Barrier, Cell, Condition, Lock, Process, Semaphore, TooManyStates, once, order};
use super::plan::Plan;
use super::roles::Role;
use crate::legality::{Access, ObjectLife};
use raddle_csp::{Alphabet, Arena, EventId, EventSet, ProcId};
use raddle_event::{Addr, EventKind, LockMode};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Model {
    pub(super) alphabet: Alphabet,
    pub(super) arena: Arena,
    pub(super) program: ProcId,
    /// Steps of each thread of the plan, in order.
    pub(super) steps: Vec<Vec<Step>>,
    /// `next` events, by access.
    pub(super) nexts: BTreeMap<usize, EventId>,
    /// Events that stay possible once they are, and keep no others from happening.
    pub(super) eager: EventSet,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) event: EventId,
    /// The event of the trace, the first half of a wait; none for a mark.
    pub(super) index: Option<usize>,
}

/// What happens to threads at their end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// They stand still: a race needs no more.
    Stops,
    /// They terminate, and when all have, the event `done` ends the synchronisation processes too.
    Terminates,
}

impl Model {
    pub(super) fn build(plan: &Plan, wanted: &BTreeSet<usize>, end: End) -> Result<Model, TooManyStates> {
        let mut builder =
            Builder { plan, model: Model::empty(), labels: BTreeMap::new(), parts: Parts::default() };
        let slots = plan.upto.len();
        builder.model.steps = (0..slots).map(|slot| builder.steps(slot)).collect();
        for &access in wanted {
            let (thread, object, number) = builder.access_fields(access);
            let event = builder.model.alphabet.intern(&format!("next.{thread}.{object}.{number}"));
            builder.model.nexts.insert(access, event);
            if plan.kept.contains_key(&access) && plan.writes_what_it_decides(access) {
                builder.parts.stands.push((access, event));
            }
        }
        let threads: Vec<ProcId> = (0..slots)
            .filter(|&slot| plan.upto[slot] > 0 || wanted.iter().any(|&at| plan.index.place[at].0 == slot))
            .map(|slot| builder.thread(slot, end))
            .collect();
        let processes = builder.processes()?;
        let mut model = builder.model;
        model.compose(&threads, processes, end);
        Ok(model)
    }

    fn empty() -> Self {
        Model {
            alphabet: Alphabet::new(),
            arena: Arena::new(),
            program: Arena::STOP,
            steps: Vec::new(),
            nexts: BTreeMap::new(),
            eager: EventSet::new(),
        }
    }

    /// Synchronisation processes are interleaved where their events are disjoint, as in figure 1. Where an event belongs to several, such as the end
    /// of a wait to the condition and to the mutex, those are put around the program one after the other.
    fn compose(&mut self, threads: &[ProcId], processes: Vec<Process>, end: End) {
        let mut layers: Vec<(EventSet, Vec<ProcId>)> = Vec::new();
        for Process { process, alphabet } in processes {
            let fits = |(used, _): &&mut (EventSet, Vec<ProcId>)| !alphabet.iter().any(|e| used.contains(e));
            match layers.iter_mut().find(fits) {
                Some((used, group)) => {
                    used.extend(alphabet.iter());
                    group.push(process);
                }
                None => layers.push((alphabet, vec![process])),
            }
        }
        let mut program = self.arena.interleave(threads);
        let done = (end == End::Terminates).then(|| self.alphabet.intern("done"));
        let ends = done.map(|done| self.arena.prefix(done, Arena::SKIP));
        if let Some(ends) = ends {
            program = self.arena.then(program, ends);
        }
        self.eager.extend(done);
        for (mut on, group) in layers {
            let mut group = self.arena.interleave(&group);
            if let Some(ends) = ends {
                group = self.arena.interrupt(group, ends);
            }
            on.extend(done);
            program = self.arena.parallel(program, on, group);
        }
        self.program = self.arena.named("PROGRAM", program);
    }
}

struct Builder<'a> {
    plan: &'a Plan<'a>,
    model: Model,
    labels: BTreeMap<(char, ObjectLife), usize>,
    parts: Parts,
}

/// The synchronisation processes in the making.
#[derive(Default)]
struct Parts {
    locks: BTreeMap<ObjectLife, Lock>,
    semaphores: BTreeMap<ObjectLife, Semaphore>,
    conditions: BTreeMap<Addr, Condition>,
    barriers: BTreeMap<ObjectLife, Barrier>,
    onces: BTreeMap<Addr, (Option<EventId>, EventSet)>,
    /// By name: an event before others.
    orders: BTreeMap<String, (Option<EventId>, Vec<EventId>)>,
    /// Accesses with their event; the reads that have to read as recorded; read-modify-writes of a race that have to.
    accesses: Vec<(usize, EventId)>,
    reads: Vec<(usize, EventId)>,
    stands: Vec<(usize, EventId)>,
}

impl Builder<'_> {
    fn steps(&mut self, slot: usize) -> Vec<Step> {
        let plan = self.plan;
        let (thread, own) = &plan.index.threads[slot];
        let name = thread_name(thread.0);
        let mut steps = Vec::new();
        let created = plan
            .index
            .input
            .trace
            .events
            .iter()
            .position(|event| matches!(event.kind, EventKind::Create { child } if child == *thread));
        if created.is_some_and(|created| plan.is_followed(created)) {
            let begins = own.first().filter(|&&first| {
                plan.is_followed(first) && plan.index.input.trace.events[first].kind == EventKind::Begin
            });
            let event = self.eager(&format!("start.{name}"));
            self.parts.orders.entry(format!("FORK_{name}")).or_default().1.push(event);
            steps.push(Step { event, index: begins.copied() });
        }
        for (position, &at) in own.iter().take(plan.upto[slot] + 1).enumerate() {
            if position > 0 && plan.index.second_half(own[position - 1]) == Some(at) {
                continue;
            }
            let followed = position < plan.upto[slot];
            let of_step = |event: usize| event == at || Some(event) == plan.index.second_half(at);
            let (mut before, mut after) = (Vec::new(), Vec::new());
            for (edge, &(from, to)) in plan.edges.iter().enumerate() {
                if of_step(to) {
                    let event = self.eager(&format!("after.e{edge}"));
                    self.parts.orders.entry(format!("ORDER_e{edge}")).or_default().1.push(event);
                    before.push(Step { event, index: None });
                }
                if of_step(from) && followed {
                    let event = self.eager(&format!("before.e{edge}"));
                    self.parts.orders.entry(format!("ORDER_e{edge}")).or_default().0 = Some(event);
                    after.push(Step { event, index: None });
                }
            }
            let own = if followed { self.event(at, &name) } else { None };
            match (own, before.last_mut(), after.first_mut()) {
                _ if !followed => {}
                (Some(event), ..) => before.push(Step { event, index: Some(at) }),
                // A local event comes at its place among the marks.
                (None, Some(mark), _) | (None, None, Some(mark)) => mark.index = Some(at),
                (None, None, None) => {}
            }
            steps.extend(before.into_iter().chain(after));
        }
        let is_joined = |at: &usize| plan.is_followed(*at) && plan.roles[*at] == Role::Join(*thread);
        if plan.upto[slot] == own.len() && (0..plan.roles.len()).any(|at| is_joined(&at)) {
            let event = self.eager(&format!("end.{name}"));
            self.parts.orders.entry(format!("JOIN_{name}")).or_default().0 = Some(event);
            steps.push(Step { event, index: own.last().copied().filter(|&last| self.is_end(last)) });
        }
        steps
    }

    fn is_end(&self, event: usize) -> bool {
        self.plan.index.input.trace.events[event].kind == EventKind::End
    }

    /// The model's event for one of the trace; none where it is local.
    fn event(&mut self, at: usize, thread: &str) -> Option<EventId> {
        let slot = self.plan.index.place[at].0;
        let thread_id = self.plan.index.threads[slot].0;
        let exclusive = LockMode::Exclusive;
        Some(match self.plan.roles[at] {
            Role::Local => return None,
            Role::Access => {
                let own = Access::of(&self.plan.index.input.trace.events[at]).expect("it is an access");
                let (_, object, number) = self.access_fields(at);
                let channel = if own.writes { "write" } else { "read" };
                let event = self.model.alphabet.intern(&format!("{channel}.{thread}.{object}.{number}"));
                self.parts.accesses.push((at, event));
                if self.plan.kept.contains_key(&at) {
                    self.parts.reads.push((at, event));
                }
                event
            }
            Role::Fork(child) => {
                let child = thread_name(child.0);
                let event = self.eager(&format!("fork.{thread}.{child}"));
                self.parts.orders.entry(format!("FORK_{child}")).or_default().0 = Some(event);
                event
            }
            Role::Join(child) => {
                let child = thread_name(child.0);
                let event = self.eager(&format!("join.{thread}.{child}"));
                self.parts.orders.entry(format!("JOIN_{child}")).or_default().1.push(event);
                event
            }
            Role::Lock { lock, mode } => {
                let channel = if mode == exclusive { "lock" } else { "lock_shared" };
                let event = self.named(channel, thread, 'm', lock);
                self.acquires(lock, mode, event, slot);
                event
            }
            Role::Unlock { lock, mode } => {
                let channel = if mode == exclusive { "unlock" } else { "unlock_shared" };
                let event = self.named(channel, thread, 'm', lock);
                let lock = self.lock(lock);
                let releases = if mode == exclusive { &mut lock.release } else { &mut lock.release_shared };
                releases.insert(event, slot);
                event
            }
            Role::LockFails { lock, held } => {
                let channel = if held == exclusive { "lock_fails_exclusive" } else { "lock_fails" };
                let event = self.named(channel, thread, 'm', lock);
                let lock = self.lock(lock);
                let fails = if held == exclusive { &mut lock.fails_exclusive } else { &mut lock.fails };
                fails.insert(event);
                event
            }
            Role::Sleep { cond, mutex } => {
                let event = self.wait_event("sleep", thread, cond, mutex);
                self.condition(cond).sleeps.insert(event, thread_id);
                if let Some(lock) = mutex {
                    self.lock(lock).release.insert(event, slot);
                }
                event
            }
            Role::Wake { cond, mutex } => {
                let event = self.wait_event("wait", thread, cond, mutex);
                self.condition(cond).wakes.insert(event, thread_id);
                if let Some(lock) = mutex {
                    self.acquires(lock, exclusive, event, slot);
                }
                event
            }
            Role::Signal(cond) => {
                let event = self.named("signal", thread, 'c', (cond, 0));
                self.condition(cond).signals.insert(event);
                event
            }
            Role::Broadcast(cond) => {
                let event = self.named("broadcast", thread, 'c', (cond, 0));
                self.condition(cond).broadcasts.insert(event);
                event
            }
            Role::Enter { barrier, round } => {
                let event = self.round_event("barrier_enter", thread, barrier, round);
                self.barrier(barrier).rounds.entry(round).or_default().1.insert(event);
                event
            }
            Role::Leave { barrier, round } => {
                let event = self.round_event("barrier_exit", thread, barrier, round);
                self.barrier(barrier).rounds.entry(round).or_default().2.insert(event);
                event
            }
            Role::Post(sem) => {
                let event = self.named("post", thread, 's', sem);
                let sem = self.semaphore(sem);
                sem.posts.insert(event);
                sem.posted += 1;
                event
            }
            Role::Take(sem) => {
                let event = self.named("take", thread, 's', sem);
                self.semaphore(sem).takes.insert(event);
                event
            }
            Role::TakeFails(sem) => {
                let event = self.named("take_fails", thread, 's', sem);
                self.semaphore(sem).fails.insert(event);
                event
            }
            Role::OnceEnd(once) => {
                let event = self.named("once_end", thread, 'o', (once, 0));
                self.parts.onces.entry(once).or_default().0 = Some(event);
                self.model.eager.insert(event);
                event
            }
            Role::OncePass(once) => {
                let event = self.named("once_pass", thread, 'o', (once, 0));
                self.parts.onces.entry(once).or_default().1.insert(event);
                self.model.eager.insert(event);
                event
            }
        })
    }

    /// The events of the steps, with `next` before wanted accesses.
    fn thread(&mut self, slot: usize, end: End) -> ProcId {
        let steps = self.model.steps[slot].clone();
        let own = &self.plan.index.threads[slot].1;
        let arena = &mut self.model.arena;
        let last = own.get(self.plan.upto[slot]).and_then(|last| self.model.nexts.get(last));
        let mut then = match (last, end) {
            (Some(&next), _) => arena.prefix(next, Arena::STOP),
            (None, End::Stops) => Arena::STOP,
            (None, End::Terminates) => Arena::SKIP,
        };
        let mut events: Vec<EventId> = Vec::new();
        for step in steps.iter().rev() {
            events.push(step.event);
            if let Some(&next) = step.index.and_then(|index| self.model.nexts.get(&index)) {
                let rest: Vec<EventId> = events.drain(..).rev().collect();
                let on = arena.events(&rest, then);
                let stands = arena.prefix(next, Arena::STOP);
                then = arena.choice(&[on, stands]);
            }
        }
        events.reverse();
        let body = arena.events(&events, then);
        arena.named(&format!("THREAD_{}", thread_name(self.plan.index.threads[slot].0.0)), body)
    }

    fn processes(&mut self) -> Result<Vec<Process>, TooManyStates> {
        let parts = std::mem::take(&mut self.parts);
        let mut processes = Vec::new();
        let index = self.plan.index;
        for (object, mut lock) in parts.locks {
            for (thread, mode) in index.start.objects.holders.get(&object).into_iter().flatten() {
                match mode {
                    LockMode::Exclusive => lock.owner = index.slot(*thread),
                    LockMode::Shared => lock.readers += 1,
                }
            }
            if lock.fails.is_empty() && lock.fails_exclusive.is_empty() {
                let unlocks = self.model.alphabet.under_any(&["unlock", "unlock_shared"]);
                let own = lock.release.keys().chain(lock.release_shared.keys());
                self.model.eager.extend(own.copied().filter(|&event| unlocks.contains(event)));
            }
            processes.push(lock.process(&mut self.model.arena));
        }
        for (object, mut semaphore) in parts.semaphores {
            semaphore.start = index.start.objects.counts.get(&object).copied().unwrap_or(0) as usize;
            if semaphore.fails.is_empty() {
                self.model.eager.extend(semaphore.posts.iter());
            }
            processes.push(semaphore.process(&mut self.model.arena));
        }
        for (object, mut condition) in parts.conditions {
            condition.start = index.start.objects.waits.get(&object).cloned().unwrap_or_default();
            processes.push(condition.process(&mut self.model.arena)?);
        }
        for (object, mut barrier) in parts.barriers {
            for (at, event) in index.input.trace.events.iter().enumerate() {
                if let EventKind::BarrierArrive { barrier: own, round } = event.kind
                    && (own, index.life[at]) == object
                    && let Some((arrivals, ..)) = barrier.rounds.get_mut(&round)
                {
                    *arrivals += 1;
                }
            }
            for (_, enter, leave) in barrier.rounds.values() {
                self.model.eager.extend(enter.iter().chain(leave.iter()));
            }
            processes.push(barrier.process(&mut self.model.arena));
        }
        for (object, (end, passes)) in parts.onces {
            let name = format!("ONCE_{}", self.label('o', (object, 0)));
            let end = end.expect("who passes it comes after the end of the initialiser");
            processes.push(once(&mut self.model.arena, &name, end, &passes));
        }
        for (name, (before, after)) in parts.orders {
            if let Some(before) = before {
                processes.push(order(&mut self.model.arena, &name, before, &after));
            }
        }
        processes.extend(self.cells(&parts.accesses, &parts.reads, &parts.stands));
        Ok(processes)
    }

    /// One cell for all bytes that the same accesses touch.
    fn cells(
        &mut self,
        accesses: &[(usize, EventId)],
        reads: &[(usize, EventId)],
        stands: &[(usize, EventId)],
    ) -> Vec<Process> {
        let events = &self.plan.index.input.trace.events;
        let access = |at: usize| Access::of(&events[at]).expect("it is an access");
        let bytes = reads.iter().chain(stands).flat_map(|&(at, _)| {
            let loc = access(at).loc;
            (loc.offset..loc.offset + loc.len).map(move |byte| (loc.object, byte))
        });
        let mut cells: BTreeMap<_, Cell> = BTreeMap::new();
        for (object, byte) in bytes.collect::<BTreeSet<_>>() {
            let offset = |at: usize| {
                let loc = access(at).loc;
                let offset = (loc.object == object).then(|| byte.checked_sub(loc.offset)).flatten();
                offset.filter(|offset| *offset < loc.len)
            };
            let from = |reads: &[(usize, EventId)]| -> BTreeMap<EventId, Option<usize>> {
                let own = reads.iter().filter_map(|&(at, event)| Some((at, event, offset(at)?)));
                own.map(|(at, event, offset)| (event, self.plan.kept[&at][offset as usize])).collect()
            };
            let writes = accesses.iter().filter(|(at, _)| access(*at).writes && offset(*at).is_some());
            let writes: BTreeMap<EventId, usize> = writes.map(|&(at, event)| (event, at)).collect();
            let (reads, stands) = (from(reads), from(stands));
            let name = format!("VAR_{}", cells.len());
            let key = (writes.clone(), reads.clone(), stands.clone());
            cells.entry(key).or_insert(Cell { name, writes, reads, stands });
        }
        cells.values().map(|cell| cell.process(&mut self.model.arena)).collect()
    }

    fn acquires(&mut self, lock: ObjectLife, mode: LockMode, event: EventId, slot: usize) {
        let lock = self.lock(lock);
        let acquires = if mode == LockMode::Exclusive { &mut lock.acquire } else { &mut lock.acquire_shared };
        acquires.insert(event, slot);
    }

    fn lock(&mut self, lock: ObjectLife) -> &mut Lock {
        let name = format!("MUTEX_{}", self.label('m', lock));
        self.parts.locks.entry(lock).or_insert_with(|| Lock { name, ..Lock::default() })
    }

    fn semaphore(&mut self, sem: ObjectLife) -> &mut Semaphore {
        let name = format!("SEMAPHORE_{}", self.label('s', sem));
        self.parts.semaphores.entry(sem).or_insert_with(|| Semaphore { name, ..Semaphore::default() })
    }

    fn condition(&mut self, cond: Addr) -> &mut Condition {
        let name = format!("SIGNAL_{}", self.label('c', (cond, 0)));
        self.parts.conditions.entry(cond).or_insert_with(|| Condition { name, ..Condition::default() })
    }

    fn barrier(&mut self, barrier: ObjectLife) -> &mut Barrier {
        let name = format!("BARRIER_{}", self.label('b', barrier));
        self.parts.barriers.entry(barrier).or_insert_with(|| Barrier { name, ..Barrier::default() })
    }

    fn wait_event(&mut self, channel: &str, thread: &str, cond: Addr, mutex: Option<ObjectLife>) -> EventId {
        let mutex = mutex.map_or("m0".to_owned(), |mutex| self.label('m', mutex));
        let cond = self.label('c', (cond, 0));
        self.model.alphabet.intern(&format!("{channel}.{thread}.{cond}.{mutex}"))
    }

    fn round_event(&mut self, channel: &str, thread: &str, barrier: ObjectLife, round: u32) -> EventId {
        let barrier = self.label('b', barrier);
        self.model.alphabet.intern(&format!("{channel}.{thread}.{barrier}_{round}"))
    }

    fn named(&mut self, channel: &str, thread: &str, kind: char, object: ObjectLife) -> EventId {
        let object = self.label(kind, object);
        self.model.alphabet.intern(&format!("{channel}.{thread}.{object}"))
    }

    fn eager(&mut self, name: &str) -> EventId {
        let event = self.model.alphabet.intern(name);
        self.model.eager.insert(event);
        event
    }

    fn label(&mut self, kind: char, object: ObjectLife) -> String {
        let next = self.labels.keys().filter(|(other, _)| *other == kind).count() + 1;
        format!("{kind}{}", self.labels.entry((kind, object)).or_insert(next))
    }

    /// Thread, object and number of an access.
    fn access_fields(&mut self, at: usize) -> (String, String, String) {
        let event = &self.plan.index.input.trace.events[at];
        let object = Access::of(event).expect("it is an access").loc.object;
        let object = self.label('v', (Addr { object, offset: 0 }, 0));
        (thread_name(event.thread.0), object, format!("e{at}"))
    }
}

/// The main thread is `t1`, as in the paper.
fn thread_name(id: u32) -> String {
    format!("t{}", u64::from(id) + 1)
}
