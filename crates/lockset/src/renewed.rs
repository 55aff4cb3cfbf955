//! Locks that are initialised or destroyed while another thread may use them exclude nothing: they are taken out of what is held.
//!
//! Which these are is decided by order ([`raddle_absint::order::renewed`]) and, for locks in new objects, by publication: whoever is
//! told of the object later comes after the initialisation, if the cells on the way of the address are free of races. Both answers only
//! get worse when locks are taken out, so the analysis is repeated until none is.

use crate::pairs::Pairs;
use crate::published::{Unpublished, routes};
use raddle_absint::accesses::{Access, Kind};
use raddle_absint::order::places::Places;
use raddle_absint::order::renewed::{Family, Operations, Renewal};
use raddle_absint::order::{Input, Order};
use raddle_facts::{ATOMIC_SECTION, HeldLock, ObjectId, Offsets, Term};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

pub(crate) struct Renewed {
    operations: Operations,
    /// Locks that do not count.
    void: Vec<Places>,
    /// Initialised before the object was known, if its address travels without races.
    private: Vec<(ObjectId, Places)>,
}

impl Renewed {
    pub fn new(input: Input<'_>) -> Renewed {
        Renewed { operations: Operations::find(input), void: Vec::new(), private: Vec::new() }
    }

    /// What is held, but for locks that do not count.
    pub fn without(&self, input: Input<'_>, held: &[Arc<Vec<HeldLock>>]) -> Vec<Arc<Vec<HeldLock>>> {
        if self.void.is_empty() {
            return held.to_vec();
        }
        let mut known: HashMap<*const Vec<HeldLock>, Arc<Vec<HeldLock>>> = HashMap::new();
        let mut counted: HashMap<Term, bool> = HashMap::new();
        let mut counts = |lock: Term| {
            *counted.entry(lock).or_insert_with(|| {
                let places = Places::of_term(input, lock);
                lock == ATOMIC_SECTION || !self.void.iter().any(|void| void.overlap(input, &places))
            })
        };
        let mut kept = |list: &Arc<Vec<HeldLock>>| {
            let mut list = list.to_vec();
            list.retain(|held| counts(held.lock));
            list.iter_mut().for_each(|held| held.history.retain(|lock| counts(*lock)));
            Arc::new(list)
        };
        held.iter().map(|list| known.entry(Arc::as_ptr(list)).or_insert_with(|| kept(list)).clone()).collect()
    }

    /// Whether there are more such locks than were known.
    pub fn grows(&mut self, input: Input<'_>, order: &Order, unpublished: &mut Unpublished<'_>) -> bool {
        let mut private = Vec::new();
        let is_lock = |family: Family| family != Family::Barrier;
        let found = self.operations.out_of_order(input, order, is_lock, |renewal| {
            let object = unpublished.object_of(&touching(input, renewal));
            private.extend(object.map(|object| (object, renewal.places.clone())));
            object.is_some()
        });
        let found: Vec<Places> = found.into_iter().map(|renewal| renewal.places.clone()).collect();
        self.private = private;
        self.add(found)
    }

    /// Whether a lock counted only because its object was not yet known, and the address may travel by a race.
    pub fn withdraws(&mut self, input: Input<'_>, pairs: &Pairs) -> bool {
        if self.private.is_empty() {
            return false;
        }
        let wanted: BTreeSet<ObjectId> = self.private.iter().map(|(object, _)| *object).collect();
        let ways = routes(input.points_to, input.threads, input.accesses, &wanted);
        let races = |cell: ObjectId, at: Offsets, bytes: u64| pairs.may_race(&(cell, at, bytes));
        let mut gone = Vec::new();
        for (object, places) in &self.private {
            let free = ways[object]
                .as_ref()
                .is_some_and(|cells| !cells.iter().any(|(holder, at, bytes)| races(*holder, *at, *bytes)));
            if !free {
                gone.push(places.clone());
            }
        }
        self.add(gone)
    }

    fn add(&mut self, more: Vec<Places>) -> bool {
        let before = self.void.len();
        for places in more {
            if !self.void.contains(&places) {
                self.void.push(places);
            }
        }
        self.void.len() > before
    }
}

/// The initialisation as a write of the object.
fn touching(input: Input<'_>, renewal: &Renewal) -> Access {
    let (function, block, index) = renewal.at;
    Access {
        function,
        block,
        index,
        site: renewal.site,
        kind: Kind::Write,
        atomic: None,
        address: Some(renewal.object),
        place: None,
        targets: input.holders.objects.targets(input.points_to, function, renewal.object),
        bytes: 1,
        value: None,
        makes_block: false,
        operates: false,
    }
}
