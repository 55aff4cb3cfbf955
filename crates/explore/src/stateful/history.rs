//! What the present path has done that later accesses may race with, in the lockset form of the 2006 paper.
//!
//! An *element* is an earlier access with its lockset: the points through which it is already ordered before what follows. Elements
//! do not know each other. What an event does to a set depends on the event and on that set alone, so every element can be
//! followed on its own, from whatever path it came: this is what the cache rests on. And the rules are monotone: of two elements that
//! differ in their sets only, the one with the smaller set races with whatever the other races with, now and later.
//!
//! Kept are elements that can still race. Those whose set has every living thread in it cannot: a thread created later gets its
//! creator's point. When the search ends at the first race anyway, a plain write takes the place of all accesses to its bytes before
//! it (rule 3 of Fig. 8), and sites are told apart only in the report; to list all pairs, every site is kept.

use crate::enumerate::{Atomicity, RaceAccess};
use raddle_base::SiteId;
use raddle_event::{AccessKind, Event, EventKind, Loc, ThreadId};
use raddle_machine::Names;
use raddle_order::lockset::point::{MessageId, Point};
use raddle_order::lockset::table::{LocksetId, LocksetTable};
use raddle_order::lockset::transfer::Transfer;
use std::collections::{BTreeSet, HashMap, HashSet};

#[derive(Clone, Debug)]
pub(crate) struct History {
    listing: Listing,
    transfer: Transfer,
    table: LocksetTable,
    elements: Vec<Element>,
    alive: BTreeSet<ThreadId>,
}

/// How many races are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    First,
    EveryPair,
}

#[derive(Clone, Copy, Debug)]
struct Element {
    event: Event,
    loc: Loc,
    access: RaceAccess,
    set: LocksetId,
}

/// Which elements may stand for one another, in canonical names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    loc: Loc,
    access: RaceAccess,
}

/// A point in canonical names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum CanonicalPoint {
    Point(Point),
    /// Acquire reads of this byte.
    Byte(raddle_event::Addr),
}

impl History {
    pub(crate) fn new(listing: Listing) -> Self {
        Self {
            listing,
            transfer: Transfer::default(),
            table: LocksetTable::default(),
            elements: Vec::new(),
            alive: BTreeSet::from([ThreadId::MAIN]),
        }
    }

    /// Earlier accesses that race with this event.
    pub(crate) fn observe(&mut self, event: &Event) -> Vec<Event> {
        match event.kind {
            EventKind::Create { child } => drop(self.alive.insert(child)),
            EventKind::End => drop(self.alive.remove(&event.thread)),
            _ => {}
        }
        self.transfer.arrive(event, &mut self.table);
        let mut racing = Vec::new();
        if let Some((access, loc)) = RaceAccess::of(event).filter(|(_, loc)| loc.len > 0) {
            racing = self.racing(access, loc, event.thread);
            self.record(*event, access, loc);
        }
        self.transfer.depart(event, &mut self.table);
        if self.table.wants_garbage_collection() {
            self.collect_garbage();
        }
        racing
    }

    /// The elements in canonical names. What can never race again is forgotten.
    pub(crate) fn canonical(&mut self, names: &Names) -> Vec<(Place, Vec<CanonicalPoint>)> {
        let everyone: Vec<Point> = self.alive.iter().map(|thread| Point::Thread(*thread)).collect();
        let table = &self.table;
        let settled = |set| everyone.iter().all(|point| table.get(set).binary_search(point).is_ok());
        self.elements.retain(|element| names.object(element.loc.object).is_some() && !settled(element.set));
        self.keep_smallest();
        let carriers = self.transfer.carriers();
        let mut sets: HashMap<LocksetId, Vec<CanonicalPoint>> = HashMap::new();
        let mut canonical = Vec::new();
        for element in &self.elements {
            let id = self.table.canonical(element.set);
            let set = sets.entry(id).or_insert_with(|| self.canonical_set(id, names, &carriers)).clone();
            let loc = names.loc(element.loc).expect("others were forgotten");
            canonical.push((Place { loc, access: element.access }, set));
        }
        canonical
    }

    /// Keeps the elements at these positions of what [`History::canonical`] gave.
    pub(crate) fn keep(&mut self, kept: &[usize]) {
        self.elements = kept.iter().map(|at| self.elements[*at]).collect();
    }

    fn racing(&self, access: RaceAccess, loc: Loc, thread: ThreadId) -> Vec<Event> {
        let held = self.transfer.held(thread);
        let races = |element: &&Element| {
            element.access.conflicts(access)
                && element.loc.overlaps(loc)
                && !self.table.meets(element.set, held)
        };
        self.elements.iter().filter(races).map(|element| element.event).collect()
    }

    fn record(&mut self, event: Event, access: RaceAccess, loc: Loc) {
        let set = self.table.intern(self.transfer.held(event.thread));
        let mut access = access;
        if self.listing == Listing::First {
            access.site = SiteId::NONE;
            if access.kind == AccessKind::Write && access.atomicity == Atomicity::Plain {
                self.elements.retain(|old| !within(old.loc, loc));
            }
        }
        let new = Element { event, loc, access, set };
        if self.elements.iter().any(|old| old.stands_for(&new, &self.table)) {
            return;
        }
        self.elements.retain(|old| !new.stands_for(old, &self.table));
        self.elements.push(new);
    }

    /// Of elements of the same place, those with a set larger than another's.
    fn keep_smallest(&mut self) {
        let all = std::mem::take(&mut self.elements);
        for new in all {
            if !self.elements.iter().any(|old| old.stands_for(&new, &self.table)) {
                self.elements.retain(|old| !new.stands_for(old, &self.table));
                self.elements.push(new);
            }
        }
    }

    fn canonical_set(
        &self,
        id: LocksetId,
        names: &Names,
        carriers: &HashMap<MessageId, Vec<raddle_event::Addr>>,
    ) -> Vec<CanonicalPoint> {
        let mut set = Vec::new();
        for point in self.table.get(id) {
            let renamed = match *point {
                Point::Thread(thread) => names.thread(thread).map(Point::Thread),
                Point::ReleaseFence(thread) => names.thread(thread).map(Point::ReleaseFence),
                Point::RelaxedRead(thread) => names.thread(thread).map(Point::RelaxedRead),
                Point::Lock(lock) => names.addr(lock).map(Point::Lock),
                Point::ReadLock(lock) => names.addr(lock).map(Point::ReadLock),
                Point::Semaphore(sem) => names.addr(sem).map(Point::Semaphore),
                Point::Once(once) => names.addr(once).map(Point::Once),
                Point::Round(barrier, round) => {
                    let rank = self.transfer.open_rounds(barrier).iter().position(|open| *open == round);
                    let named = names.addr(barrier).zip(rank);
                    named.map(|(barrier, rank)| Point::Round(barrier, rank as u32))
                }
                Point::Message(message) => {
                    let bytes = carriers.get(&message).into_iter().flatten();
                    set.extend(bytes.filter_map(|byte| names.addr(*byte)).map(CanonicalPoint::Byte));
                    None
                }
            };
            set.extend(renamed.map(CanonicalPoint::Point));
        }
        set.sort_unstable();
        set
    }

    fn collect_garbage(&mut self) {
        let live: HashSet<LocksetId> = self.elements.iter().map(|e| self.table.canonical(e.set)).collect();
        let moved = self.table.collect_garbage(&live);
        for element in &mut self.elements {
            element.set = moved[&element.set];
        }
    }
}

impl Element {
    /// Whether whatever races with the other races with this one.
    fn stands_for(&self, other: &Element, table: &LocksetTable) -> bool {
        self.loc == other.loc
            && self.access == other.access
            && table.get(self.set).iter().all(|point| table.get(other.set).binary_search(point).is_ok())
    }
}

fn within(inner: Loc, outer: Loc) -> bool {
    inner.object == outer.object
        && outer.offset <= inner.offset
        && u64::from(inner.offset) + u64::from(inner.len) <= u64::from(outer.offset) + u64::from(outer.len)
}
