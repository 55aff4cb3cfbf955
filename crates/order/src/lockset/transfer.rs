//! What each event does to locksets: rules of the form *every set that meets A gets B*.
//!
//! `Acquire`, `Release`, `Create` and `Join` of exclusive locks are rules 4 to 7 of Fig. 8 of the 2006 paper.

use super::point::{MessageId, Point};
use super::table::LocksetTable;
use crate::shadow::{Shadow, byte_range};
use raddle_event::{AccessKind, Addr, AtomicOp, Event, EventKind, Loc, LockMode, ThreadId};
use std::collections::{BTreeSet, HashMap};

#[derive(Clone, Debug, Default)]
pub struct Transfer {
    /// `LH`, sorted, for threads that hold a lock.
    held: HashMap<ThreadId, Vec<Point>>,
    messages: Shadow<MessageId>,
    next_message: u32,
    /// Threads between arrival and departure.
    rounds: HashMap<(Addr, u32), u32>,
}

impl Transfer {
    pub fn held(&self, thread: ThreadId) -> &[Point] {
        &self.held[&thread]
    }

    /// The bytes that carry each message: what a message point stands for.
    pub fn carriers(&self) -> HashMap<MessageId, Vec<Addr>> {
        let mut carriers: HashMap<MessageId, Vec<Addr>> = HashMap::new();
        for (object, range, message) in self.messages.segments() {
            let bytes = range.map(|at| Addr { object, offset: at as u32 });
            carriers.entry(*message).or_default().extend(bytes);
        }
        carriers
    }

    /// Rounds of the barrier that threads have arrived in and not all left, latest first.
    pub fn open_rounds(&self, barrier: Addr) -> Vec<u32> {
        let mut rounds: Vec<u32> =
            self.rounds.keys().filter(|(at, _)| *at == barrier).map(|(_, round)| *round).collect();
        rounds.sort_unstable_by(|a, b| b.cmp(a));
        rounds
    }

    /// What the event is ordered after.
    pub fn arrive(&mut self, event: &Event, table: &mut LocksetTable) {
        let thread = event.thread;
        self.enter(thread);
        match event.kind {
            EventKind::Acquire { lock, mode: LockMode::Exclusive } => {
                self.hold(thread, Point::Lock(lock));
                let trigger = self.held_and(thread, &[Point::ReadLock(lock)]);
                table.grow(&trigger, self.held(thread));
            }
            EventKind::Acquire { lock, mode: LockMode::Shared } => {
                let trigger = self.held_and(thread, &[Point::Lock(lock)]);
                table.grow(&trigger, self.held(thread));
            }
            EventKind::Join { child } => {
                self.enter(child);
                table.grow(self.held(child), self.held(thread));
            }
            EventKind::BarrierLeave { barrier, round } => {
                let point = Point::Round(barrier, round);
                table.grow(&[point], self.held(thread));
                self.leave(barrier, round, table);
            }
            EventKind::SemWait { sem } => table.grow(&[Point::Semaphore(sem)], self.held(thread)),
            EventKind::OncePass { once } => table.grow(&[Point::Once(once)], self.held(thread)),
            EventKind::Atomic { loc, op } => self.read_messages(thread, loc, op, table),
            EventKind::Fence { order } if order.acquires() => {
                table.grow(&[Point::RelaxedRead(thread)], self.held(thread));
            }
            _ => {}
        }
    }

    /// What will be ordered after the event.
    pub fn depart(&mut self, event: &Event, table: &mut LocksetTable) {
        let thread = event.thread;
        match event.kind {
            EventKind::Create { child } => table.grow(self.held(thread), &[Point::Thread(child)]),
            EventKind::Release { lock, mode: LockMode::Exclusive } => self.unlock(thread, lock, table),
            EventKind::Release { lock, mode: LockMode::Shared } => {
                table.grow(self.held(thread), &[Point::ReadLock(lock)]);
            }
            EventKind::BarrierArrive { barrier, round } => {
                *self.rounds.entry((barrier, round)).or_default() += 1;
                table.grow(self.held(thread), &[Point::Round(barrier, round)]);
            }
            EventKind::SemPost { sem } => table.grow(self.held(thread), &[Point::Semaphore(sem)]),
            EventKind::OnceEnd { once } => table.grow(self.held(thread), &[Point::Once(once)]),
            EventKind::Access { loc, kind: AccessKind::Write } => self.write_message(loc, None, table),
            EventKind::Atomic { loc, op } => match op {
                AtomicOp::Load(_) => {}
                AtomicOp::Store(_) => self.write_message(loc, Some(&self.told(thread, op)), table),
                AtomicOp::Rmw(_) => self.continue_messages(loc, &self.told(thread, op), table),
            },
            EventKind::Fence { order } if order.releases() => {
                table.grow(self.held(thread), &[Point::ReleaseFence(thread)]);
            }
            EventKind::SyncInit { object } | EventKind::SyncDestroy { object } => self.forget(object, table),
            _ => {}
        }
    }

    fn enter(&mut self, thread: ThreadId) {
        self.held.entry(thread).or_insert_with(|| vec![Point::Thread(thread)]);
    }

    fn hold(&mut self, thread: ThreadId, point: Point) {
        let held = self.held.get_mut(&thread).expect("entered");
        if let Err(at) = held.binary_search(&point) {
            held.insert(at, point);
        }
    }

    /// Rule 5: no set changes, because those that meet `LH` have had the lock since it was acquired.
    fn unlock(&mut self, thread: ThreadId, lock: Addr, table: &mut LocksetTable) {
        let held = self.held.get_mut(&thread).expect("entered");
        match held.binary_search(&Point::Lock(lock)) {
            Ok(at) => drop(held.remove(at)),
            Err(_) => table.grow(held, &[Point::Lock(lock)]),
        }
    }

    fn held_and(&self, thread: ThreadId, more: &[Point]) -> Vec<Point> {
        let mut points = [self.held(thread), more].concat();
        points.sort_unstable();
        points
    }

    fn read_messages(&mut self, thread: ThreadId, loc: Loc, op: AtomicOp, table: &mut LocksetTable) {
        if !op.reads() {
            return;
        }
        let messages: Vec<Point> = self.messages_at(loc).into_iter().map(Point::Message).collect();
        match op.acquires() {
            true => table.grow(&messages, self.held(thread)),
            false => table.grow(&messages, &[Point::RelaxedRead(thread)]),
        }
    }

    /// The points through which accesses are known to those that read what the atomic operation writes.
    fn told(&self, thread: ThreadId, op: AtomicOp) -> Vec<Point> {
        match op.releases() {
            true => self.held(thread).to_vec(),
            false => vec![Point::ReleaseFence(thread)],
        }
    }

    /// A store: the bytes' release sequences end, and a new one begins with the sets that meet `trigger`.
    fn write_message(&mut self, loc: Loc, trigger: Option<&[Point]>, table: &mut LocksetTable) {
        let old = self.messages_at(loc);
        match trigger {
            Some(trigger) => {
                let message = MessageId(self.next_message);
                self.next_message += 1;
                self.messages.get_mut(loc.object).set(byte_range(loc), message);
                table.grow(trigger, &[Point::Message(message)]);
            }
            None if old.is_empty() => {}
            None => self.messages.get_mut(loc.object).clear(byte_range(loc)),
        }
        self.retire_unused(loc, old, table);
    }

    /// A read-modify-write: the release sequences of the bytes go on, and sets that meet `trigger` join them. Bytes that belonged to
    /// different sequences stay apart, and so do bytes that it left alone.
    fn continue_messages(&mut self, loc: Loc, trigger: &[Point], table: &mut LocksetTable) {
        let old = self.messages_at(loc);
        let mut grown = Vec::new();
        let next = &mut self.next_message;
        self.messages.get_mut(loc.object).replace(byte_range(loc), |before| {
            let message = MessageId(*next);
            *next += 1;
            grown.push((before.copied(), message));
            Some(message)
        });
        for (before, message) in grown {
            let mut trigger = trigger.to_vec();
            trigger.extend(before.map(Point::Message));
            trigger.sort_unstable();
            table.grow(&trigger, &[Point::Message(message)]);
        }
        self.retire_unused(loc, old, table);
    }

    fn messages_at(&self, loc: Loc) -> BTreeSet<MessageId> {
        self.messages.overlapping(loc).map(|(_, message)| *message).collect()
    }

    fn retire_unused(&self, loc: Loc, old: BTreeSet<MessageId>, table: &mut LocksetTable) {
        for message in old {
            let used = self.messages.get(loc.object).is_some_and(|all| all.values().any(|m| *m == message));
            if !used {
                table.retire(Point::Message(message));
            }
        }
    }

    fn leave(&mut self, barrier: Addr, round: u32, table: &mut LocksetTable) {
        if let Some(inside) = self.rounds.get_mut(&(barrier, round)) {
            *inside -= 1;
            if *inside == 0 {
                self.rounds.remove(&(barrier, round));
                table.retire(Point::Round(barrier, round));
            }
        }
    }

    /// A new life of a synchronisation object: what was done with the old one orders nothing any more.
    fn forget(&mut self, object: Addr, table: &mut LocksetTable) {
        for point in
            [Point::Lock(object), Point::ReadLock(object), Point::Semaphore(object), Point::Once(object)]
        {
            table.retire(point);
        }
        for held in self.held.values_mut() {
            held.retain(|point| *point != Point::Lock(object));
        }
        let rounds: Vec<(Addr, u32)> = self.rounds.keys().filter(|(at, _)| *at == object).copied().collect();
        for (barrier, round) in rounds {
            self.rounds.remove(&(barrier, round));
            table.retire(Point::Round(barrier, round));
        }
    }
}
