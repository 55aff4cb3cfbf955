//! The lockset form of happens-before: Elmas, Qadeer, Tasiran, *Precise Race Detection and Efficient Model Checking Using Locksets*
//! (2006), with the extension to concurrent reads of its section 6.
//!
//! Every byte `q` has a set `LSW(q)` for its last write and, for each thread `u` that read it since, `LSR(q, u)`. A set holds the
//! *points* through which that access is already ordered before what follows: thread `t` is in it when the rest of `t` is ordered
//! after the access, lock `m` when whoever acquires `m` next is. An access of `t` is ordered after the earlier one exactly when the
//! earlier one's set meets `LH(t)`: `t` itself and the locks that it holds. Rules 2 to 7 of Fig. 8 are followed to the letter, so the
//! sets are the paper's after every step. The set of all points, with which the paper starts, is absence here.
//!
//! What the paper does not have is written in the same form, as points and rules *if the set meets A, add B* ([`transfer`]):
//! readers of a reader-writer lock hold nothing that others could not hold too, and leave a point that only writers take up; a
//! semaphore, a once object, a barrier round, the release sequence that a byte belongs to and the two sides of a fence are points
//! too. An atomic is not a lock: the paper's way of treating a volatile (acquire a lock of its own before each access, release it
//! after) orders a load before a later store, which C11 does not.
//!
//! The paper's sets are kept per variable; C11 atomics race with plain accesses but not among themselves, so atomic writes are kept
//! per thread as reads are, and atomic reads apart from plain ones.
//!
//! Sets live in a [`table`] with one copy of each distinct set (section 7). Points of threads that have ended stay in the sets, as in
//! the paper; points that can order nothing any more for another reason (a message that was overwritten, a round that is over, the
//! former life of a lock) are taken out. Exact on traces in which a lock is released by its holder, like the paper.

pub mod history;
pub mod point;
pub mod table;
pub mod transfer;

use crate::access::{Class, access};
use crate::race::FirstRace;
use crate::shadow::{Shadow, byte_range, part};
use point::Point;
use raddle_event::{Addr, Event, Loc, ThreadId, Trace};
use std::collections::HashSet;
use table::{LocksetId, LocksetTable};
use transfer::Transfer;

/// Every byte that races, with the first event that does so.
pub fn first_races(trace: &Trace) -> Vec<FirstRace> {
    let mut locksets = Locksets::new();
    trace.events.iter().flat_map(|event| locksets.observe(event)).collect()
}

/// The online detector: give it the events of a run, in order.
#[derive(Clone, Debug, Default)]
pub struct Locksets {
    table: LocksetTable,
    transfer: Transfer,
    bytes: Shadow<Cell>,
    raced: Shadow<()>,
    events: usize,
}

/// The sets of some bytes. A thread that is not in a list has `LSR(q, u) = LSW(q)`, the rule for writes being what it is.
#[derive(Clone, Debug, Default)]
struct Cell {
    write: Option<LocksetId>,
    reads: Vec<(ThreadId, LocksetId)>,
    atomic_writes: Vec<(ThreadId, LocksetId)>,
    atomic_reads: Vec<(ThreadId, LocksetId)>,
}

impl Locksets {
    pub fn new() -> Self {
        Self::default()
    }

    /// The bytes for which this event is the first that races.
    pub fn observe(&mut self, event: &Event) -> Vec<FirstRace> {
        let index = self.events;
        self.events += 1;
        self.transfer.arrive(event, &mut self.table);
        let mut found = Vec::new();
        if let Some((loc, class)) = access(&event.kind) {
            self.check(loc, class, event.thread, index, &mut found);
            self.record(loc, class, event.thread);
        }
        self.transfer.depart(event, &mut self.table);
        self.collect_garbage();
        found
    }

    /// `LH(t)`: the thread and the locks that it holds exclusively, sorted.
    pub fn held(&self, thread: ThreadId) -> Vec<Point> {
        self.transfer.held(thread).to_vec()
    }

    /// `LSW(q)`; `None` is the set of all points.
    pub fn lsw(&self, byte: Addr) -> Option<Vec<Point>> {
        self.cell(byte)?.write.map(|id| self.table.get(id).to_vec())
    }

    /// `LSR(q, u)`; `None` is the set of all points.
    pub fn lsr(&self, byte: Addr, reader: ThreadId) -> Option<Vec<Point>> {
        let cell = self.cell(byte)?;
        let read = cell.reads.iter().find(|(thread, _)| *thread == reader).map(|(_, id)| *id);
        read.or(cell.write).map(|id| self.table.get(id).to_vec())
    }

    /// How many distinct sets the table holds.
    pub fn distinct_sets(&self) -> usize {
        self.table.distinct()
    }

    fn cell(&self, byte: Addr) -> Option<&Cell> {
        let loc = Loc { object: byte.object, offset: byte.offset, len: 1 };
        self.bytes.overlapping(loc).next().map(|(_, cell)| cell)
    }

    fn check(&mut self, loc: Loc, class: Class, thread: ThreadId, index: usize, found: &mut Vec<FirstRace>) {
        let held = self.transfer.held(thread);
        let unordered = |id: LocksetId| !self.table.meets(id, held);
        for (piece, cell) in self.bytes.overlapping(loc) {
            if cell.conflicting(class).any(unordered) {
                for fresh in self.raced.get_mut(loc.object).gaps(piece.clone()) {
                    found.push(FirstRace { loc: part(loc, &fresh), event: index });
                }
                self.raced.get_mut(loc.object).set(piece, ());
            }
        }
    }

    fn record(&mut self, loc: Loc, class: Class, thread: ThreadId) {
        let set = self.table.intern(self.transfer.held(thread));
        let cells = self.bytes.get_mut(loc.object);
        match class {
            Class::PlainWrite => cells.set(byte_range(loc), Cell { write: Some(set), ..Cell::default() }),
            _ => cells.update(byte_range(loc), |cell| {
                let list = match class {
                    Class::PlainRead | Class::PlainWrite => &mut cell.reads,
                    Class::AtomicRead => &mut cell.atomic_reads,
                    Class::AtomicWrite => &mut cell.atomic_writes,
                };
                match list.iter_mut().find(|(reader, _)| *reader == thread) {
                    Some((_, old)) => *old = set,
                    None => list.push((thread, set)),
                }
            }),
        }
    }

    fn collect_garbage(&mut self) {
        if self.table.wants_garbage_collection() {
            let live: HashSet<LocksetId> =
                self.bytes.values().flat_map(Cell::sets).map(|id| self.table.canonical(id)).collect();
            let moved = self.table.collect_garbage(&live);
            for id in self.bytes.values_mut().flat_map(Cell::sets_mut) {
                *id = moved[id];
            }
        }
    }
}

impl Cell {
    /// The sets of the accesses that conflict with one of `class`.
    fn conflicting(&self, class: Class) -> impl Iterator<Item = LocksetId> {
        let reads = matches!(class, Class::PlainWrite | Class::AtomicWrite).then_some(&self.reads);
        let atomic_writes =
            matches!(class, Class::PlainWrite | Class::PlainRead).then_some(&self.atomic_writes);
        let atomic_reads = matches!(class, Class::PlainWrite).then_some(&self.atomic_reads);
        let lists = [reads, atomic_writes, atomic_reads];
        self.write.into_iter().chain(lists.into_iter().flatten().flatten().map(|(_, id)| *id))
    }

    fn sets(&self) -> impl Iterator<Item = LocksetId> {
        self.conflicting(Class::PlainWrite)
    }

    fn sets_mut(&mut self) -> impl Iterator<Item = &mut LocksetId> {
        let lists = [&mut self.reads, &mut self.atomic_writes, &mut self.atomic_reads];
        self.write.iter_mut().chain(lists.into_iter().flatten().map(|(_, id)| id))
    }
}
