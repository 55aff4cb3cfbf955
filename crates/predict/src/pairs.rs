//! Pairs of accesses that the filter has left, ordered so that one question answers many.
//!
//! Of the accesses of a thread between two synchronisation operations only the first at each place and to the same bytes is kept (2015 paper,
//! section 3: if it races, so do the others). Accesses of one thread at one place, to the same bytes, with the same locks are a
//! *series*; a pair of series is one question for a method that goes through both in order. Answers are counted by pairs of
//! places, because that is what a person mends.

use crate::filter::{Filtered, Locksets};
use crate::reads_from::granules;
use raddle_base::SiteId;
use raddle_base::fast_hash::{FastMap, FastSet};
use raddle_event::{EventKind, Loc, Trace};
use raddle_order::Class;
use std::collections::BTreeMap;

/// Accesses that differ in nothing but when.
#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) thread: usize,
    pub(crate) site: SiteId,
    pub(crate) class: Class,
    pub(crate) lockset: u32,
    pub(crate) loc: Loc,
    /// Indices in the trace.
    pub(crate) events: Vec<u32>,
}

#[derive(Debug)]
pub(crate) struct Pairs {
    pub(crate) series: Vec<Series>,
    /// Two series, by pair of places; the smaller place first.
    pub(crate) by_places: BTreeMap<(SiteId, SiteId), Vec<(u32, u32)>>,
    /// Accesses that were kept.
    pub(crate) accesses: usize,
    /// Pairs of series that were left out because there are too many of their places.
    pub(crate) left_out: usize,
}

/// Pairs of series that are kept for each pair of places.
const MOST: usize = 256;

pub(crate) fn pairs(trace: &Trace, filtered: &Filtered) -> Pairs {
    let mut locksets = Locksets::new();
    let mut series: Vec<Series> = Vec::new();
    let mut numbers: FastMap<(u32, SiteId, Class, u32, Loc), u32> = FastMap::default();
    let mut seen: Vec<FastSet<u32>> = Vec::new();
    let mut by_granule: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    let mut accesses = 0;
    for (index, event) in trace.events.iter().enumerate() {
        let thread = event.thread.0 as usize;
        if seen.len() <= thread {
            seen.resize_with(thread + 1, FastSet::default);
        }
        let Some((loc, class)) = raddle_order::access(&event.kind) else {
            locksets.take(event);
            seen[thread].clear();
            continue;
        };
        let is_left = |(granule, bytes): &(u32, u8)| {
            filtered.bytes.get(&(loc.object.0, *granule)).is_some_and(|left| left & bytes != 0)
        };
        let Some((first, _)) = granules(loc).find(is_left) else { continue };
        let lockset = locksets.of(event.thread);
        let number = *numbers.entry((event.thread.0, event.site, class, lockset, loc)).or_insert_with(|| {
            let number = series.len() as u32;
            series.push(Series { thread, site: event.site, class, lockset, loc, events: Vec::new() });
            for (granule, _) in granules(loc).filter(is_left).skip_while(|(granule, _)| *granule < first) {
                by_granule.entry((loc.object.0, granule)).or_default().push(number);
            }
            number
        });
        // An atomic access begins a segment of its own.
        if matches!(event.kind, EventKind::Atomic { .. }) {
            seen[thread].clear();
        }
        if seen[thread].insert(number) {
            series[number as usize].events.push(index as u32);
            accesses += 1;
        }
    }
    let mut pairs = Pairs { series, by_places: BTreeMap::new(), accesses, left_out: 0 };
    let mut met: FastSet<(u32, u32)> = FastSet::default();
    for numbers in by_granule.values() {
        for (place, &a) in numbers.iter().enumerate() {
            for &b in &numbers[place + 1..] {
                pairs.meet(a, b, &locksets, &mut met);
            }
        }
    }
    pairs
}

impl Pairs {
    fn meet(&mut self, a: u32, b: u32, locksets: &Locksets, met: &mut FastSet<(u32, u32)>) {
        let (one, other) = (&self.series[a as usize], &self.series[b as usize]);
        let conflict = one.thread != other.thread
            && one.class.conflicts(other.class)
            && one.loc.overlaps(other.loc)
            && locksets.disjoint(one.lockset, other.lockset);
        if !conflict || !met.insert((a, b)) {
            return;
        }
        let places = (one.site.min(other.site), one.site.max(other.site));
        let kept = self.by_places.entry(places).or_default();
        match kept.len() < MOST {
            true => kept.push((a, b)),
            false => self.left_out += 1,
        }
    }
}
