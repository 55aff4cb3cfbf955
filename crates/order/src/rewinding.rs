//! Whether a trace has a race, while it grows and shrinks at its end: for searches whose runs have their beginnings in common.
//!
//! As in [`crate::epochs`], the latest accesses of each kind are enough to see whether a new one races. They are kept for the very
//! bytes that an access names; which of these overlap is found out once, when they are first named. What was kept before each
//! change is written down.

use crate::access::{Class, access};
use crate::clocks::Clocks;
use crate::front::Front;
use raddle_base::fast_hash::FastMap;
use raddle_event::{Event, Loc, ObjectId};
use std::collections::BTreeMap;

/// The online detector that can be set back.
#[derive(Debug)]
pub struct Rewinding {
    clocks: Clocks,
    places: Places,
    /// Old values, oldest first.
    log: Vec<(usize, Class, Front)>,
    /// Lengths of both logs before each event.
    marks: Vec<(usize, usize)>,
    raced: Option<usize>,
}

/// Bytes that accesses have named. They stay when the accesses are taken back.
#[derive(Debug, Default)]
struct Places {
    known: FastMap<Loc, usize>,
    all: Vec<Place>,
    /// By object, the power of two that is not less than the length, and offset.
    sorted: BTreeMap<(ObjectId, u32, u64), Vec<usize>>,
    /// The largest of these powers.
    largest: u32,
}

#[derive(Debug)]
struct Place {
    loc: Loc,
    /// The latest accesses to just these bytes, by class.
    latest: [Front; 4],
    /// Other places with some of the bytes.
    overlapping: Vec<usize>,
}

impl Rewinding {
    pub fn new() -> Self {
        Self::default()
    }

    /// How many events the trace has.
    pub fn len(&self) -> usize {
        self.marks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Whether two accesses of the trace race.
    pub fn has_race(&self) -> bool {
        self.raced.is_some()
    }

    /// The next event.
    pub fn observe(&mut self, event: &Event) {
        self.marks.push((self.clocks.log_len(), self.log.len()));
        if self.clocks.is_changed_by(event) {
            self.clocks.arrive(event);
            self.access(event);
            self.clocks.depart(event);
        } else {
            self.access(event);
        }
    }

    fn access(&mut self, event: &Event) {
        let Some((loc, class)) = access(&event.kind) else { return };
        let clock = self.clocks.clock(event.thread);
        let epoch = clock.epoch(event.thread);
        let at = self.places.at(loc);
        let place = &self.places.all[at];
        // Whoever raced with this one would have raced with the one before.
        if !matches!(place.latest[class as usize], Front::One(last) if last == epoch) {
            let races = |place: &Place| {
                Class::ALL
                    .iter()
                    .any(|other| class.conflicts(*other) && !place.latest[*other as usize].covered_by(clock))
            };
            if races(place) || place.overlapping.iter().any(|other| races(&self.places.all[*other])) {
                self.raced.get_or_insert(self.marks.len() - 1);
            }
            let latest = &mut self.places.all[at].latest[class as usize];
            self.log.push((at, class, latest.clone()));
            latest.advance(epoch, clock);
        }
    }

    /// Takes back all but the first `len` events.
    pub fn truncate(&mut self, len: usize) {
        let Some((changes, accesses)) = self.marks.get(len).copied() else { return };
        self.marks.truncate(len);
        self.clocks.undo_to(changes);
        for (at, class, old) in self.log.drain(accesses..).rev() {
            self.places.all[at].latest[class as usize] = old;
        }
        self.raced = self.raced.filter(|raced| *raced < len);
    }
}

impl Default for Rewinding {
    fn default() -> Self {
        let mut clocks = Clocks::new();
        clocks.keep_log();
        Self { clocks, places: Places::default(), log: Vec::new(), marks: Vec::new(), raced: None }
    }
}

impl Places {
    fn at(&mut self, loc: Loc) -> usize {
        if let Some(at) = self.known.get(&loc) {
            return *at;
        }
        let at = self.all.len();
        let power = u64::from(loc.len).next_power_of_two().trailing_zeros();
        self.largest = self.largest.max(power);
        let (start, end) = (u64::from(loc.offset), u64::from(loc.offset) + u64::from(loc.len));
        let mut overlapping = Vec::new();
        for power in 0..=self.largest {
            let first = start.saturating_sub(1 << power);
            let near = self.sorted.range((loc.object, power, first)..(loc.object, power, end));
            let near = near.flat_map(|(_, places)| places).copied();
            overlapping.extend(near.filter(|other| self.all[*other].loc.overlaps(loc)));
        }
        self.known.insert(loc, at);
        self.sorted.entry((loc.object, power, start)).or_default().push(at);
        for other in &overlapping {
            self.all[*other].overlapping.push(at);
        }
        self.all.push(Place { loc, latest: Default::default(), overlapping });
        at
    }
}
