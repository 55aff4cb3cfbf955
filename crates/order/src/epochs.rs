//! The first racing access of every byte, by epochs: FastTrack (Flanagan, Freund, PLDI 2009) on ranges of bytes.
//!
//! A byte needs its last plain write as one epoch, because all earlier accesses happen before it as long as nothing raced. Reads, and
//! atomic accesses, which may be unordered among themselves, need one epoch while each happens before the next, else one for each
//! thread. Where we differ from the paper: ranges instead of variables, atomics as a second kind of access, and a byte that has
//! raced once is not looked at again. Exact for the first race of each byte; later ones are for [`crate::pairs`].

use crate::access::{Class, access};
use crate::clocks::Clocks;
use crate::front::Front;
use crate::race::FirstRace;
use crate::ranges::Ranges;
use crate::shadow::{Shadow, byte_range, part};
use crate::vector_clock::{Epoch, VectorClock};
use raddle_event::{Event, Loc, Trace};
use std::ops::Range;

/// Every byte that races, with the first event that does so.
pub fn first_races(trace: &Trace) -> Vec<FirstRace> {
    let mut epochs = Epochs::new();
    trace.events.iter().flat_map(|event| epochs.observe(event)).collect()
}

/// The online detector: give it the events of a run, in order.
#[derive(Clone, Debug, Default)]
pub struct Epochs {
    clocks: Clocks,
    bytes: Shadow<Last>,
    raced: Shadow<()>,
    events: usize,
}

/// The last accesses to some bytes.
#[derive(Clone, Debug, Default)]
struct Last {
    write: Front,
    read: Front,
    atomic: Option<Box<LastAtomic>>,
}

#[derive(Clone, Debug, Default)]
struct LastAtomic {
    write: Front,
    read: Front,
}

impl Epochs {
    pub fn new() -> Self {
        Self::default()
    }

    /// The bytes for which this event is the first that races.
    pub fn observe(&mut self, event: &Event) -> Vec<FirstRace> {
        let index = self.events;
        self.events += 1;
        self.clocks.arrive(event);
        let mut found = Vec::new();
        if let Some((loc, class)) = access(&event.kind) {
            let epoch = self.clocks.epoch(event.thread);
            let clock = self.clocks.clock(event.thread);
            let ranges = self.bytes.get_mut(loc.object);
            let range = byte_range(loc);
            for racing in check_and_record(ranges, range, class, epoch, clock) {
                for fresh in mark(self.raced.get_mut(loc.object), racing) {
                    found.push(FirstRace { loc: part(loc, &fresh), event: index });
                }
            }
        }
        self.clocks.depart(event);
        found
    }

    /// Whether some byte of `loc` has raced.
    pub fn has_raced(&self, loc: Loc) -> bool {
        self.raced.overlapping(loc).next().is_some()
    }

    pub fn clocks(&self) -> &Clocks {
        &self.clocks
    }
}

fn check_and_record(
    ranges: &mut Ranges<Last>,
    range: Range<u64>,
    class: Class,
    epoch: Epoch,
    clock: &VectorClock,
) -> Vec<Range<u64>> {
    if let Some(last) = ranges.exactly(&range) {
        let raced = !last.happens_before(class, clock);
        last.record(class, epoch, clock);
        return if raced { vec![range] } else { Vec::new() };
    }
    let racing = ranges
        .overlapping(range.clone())
        .filter(|(_, last)| !last.happens_before(class, clock))
        .map(|(piece, _)| piece)
        .collect();
    if class == Class::PlainWrite {
        ranges.set(range, Last { write: Front::One(epoch), ..Last::default() });
    } else {
        ranges.update(range, |last| last.record(class, epoch, clock));
    }
    racing
}

/// Marks the bytes as raced; the parts that were not yet.
fn mark(raced: &mut Ranges<()>, racing: Range<u64>) -> Vec<Range<u64>> {
    let fresh = raced.gaps(racing.clone());
    if !fresh.is_empty() {
        raced.set(racing, ());
    }
    fresh
}

impl Last {
    /// Whether all earlier accesses that conflict with one of `class` are covered by its clock.
    fn happens_before(&self, class: Class, clock: &VectorClock) -> bool {
        let atomic_reads = || self.atomic.as_ref().is_none_or(|last| last.read.covered_by(clock));
        let atomic_writes = || self.atomic.as_ref().is_none_or(|last| last.write.covered_by(clock));
        self.write.covered_by(clock)
            && match class {
                Class::AtomicRead => true,
                Class::AtomicWrite => self.read.covered_by(clock),
                Class::PlainRead => atomic_writes(),
                Class::PlainWrite => self.read.covered_by(clock) && atomic_reads() && atomic_writes(),
            }
    }

    fn record(&mut self, class: Class, epoch: Epoch, clock: &VectorClock) {
        match class {
            Class::PlainWrite => {
                self.write = Front::One(epoch);
                self.read = Front::Empty;
                self.atomic = None;
            }
            Class::PlainRead => self.read.advance(epoch, clock),
            Class::AtomicWrite => self.atomic.get_or_insert_default().write.advance(epoch, clock),
            Class::AtomicRead => self.atomic.get_or_insert_default().read.advance(epoch, clock),
        }
    }
}
