//! All races of a trace: every pair of conflicting accesses that happens-before leaves unordered.
//!
//! Every byte keeps its accesses, by thread, in order. Those of another thread that are unordered with a new access are the last
//! ones of that thread's list, so the work is in proportion to the pairs found. Accesses that nothing can race with any more are
//! forgotten now and then. With [`Listing::OncePerSite`] a list keeps only the latest of the accesses that look alike: whatever is
//! unordered with an earlier one is unordered with the latest.

use crate::access::{Class, access};
use crate::clocks::Clocks;
use crate::race::RacePair;
use crate::shadow::{Shadow, byte_range};
use crate::vector_clock::{Epoch, VectorClock};
use raddle_base::SiteId;
use raddle_event::{Event, Loc, ThreadId, Trace};
use std::collections::HashSet;

/// All races of the trace, by `second`, then `first`.
pub fn races(trace: &Trace) -> Vec<RacePair> {
    list(trace, Listing::Every)
}

/// The races of the trace that `listing` asks for, by `second`, then `first`.
pub fn list(trace: &Trace, listing: Listing) -> Vec<RacePair> {
    let mut pairs = Pairs::new(listing);
    trace.events.iter().flat_map(|event| pairs.observe(event)).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Every pair of events that races.
    Every,
    /// One pair for each two accesses that differ in site, bytes, plain or atomic, read or write.
    OncePerSite,
}

/// The online detector: give it the events of a run, in order.
#[derive(Clone, Debug)]
pub struct Pairs {
    clocks: Clocks,
    bytes: Shadow<History>,
    listing: Listing,
    listed: HashSet<(Look, Look)>,
    events: usize,
}

/// The accesses to some bytes that may still race, by thread.
#[derive(Clone, Debug, Default)]
struct History {
    threads: Vec<(ThreadId, Accesses)>,
}

/// Accesses of one thread, oldest first, hence with counts that never fall.
#[derive(Clone, Debug, Default)]
struct Accesses {
    items: Vec<Access>,
    /// Length at which to forget next.
    limit: usize,
}

#[derive(Clone, Copy, Debug)]
struct Access {
    event: usize,
    count: u32,
    look: Look,
}

/// What accesses that look alike have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Look {
    site: SiteId,
    loc: Loc,
    class: Class,
}

const FIRST_LIMIT: usize = 4;

impl Pairs {
    pub fn new(listing: Listing) -> Self {
        Self { clocks: Clocks::new(), bytes: Shadow::default(), listing, listed: HashSet::new(), events: 0 }
    }

    /// The pairs whose second event is this one, by first event.
    pub fn observe(&mut self, event: &Event) -> Vec<RacePair> {
        let index = self.events;
        self.events += 1;
        self.clocks.arrive(event);
        let found = match access(&event.kind) {
            Some((loc, class)) => self.access(index, event.thread, Look { site: event.site, loc, class }),
            None => Vec::new(),
        };
        self.clocks.depart(event);
        found
    }

    /// How many events were observed: the index that the next one gets.
    pub fn events(&self) -> usize {
        self.events
    }

    pub fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    fn access(&mut self, index: usize, thread: ThreadId, look: Look) -> Vec<RacePair> {
        let clock = self.clocks.clock(thread);
        let mut earlier = Vec::new();
        for (_, history) in self.bytes.overlapping(look.loc) {
            history.unordered_with(thread, look.class, clock, &mut earlier);
        }
        earlier.sort_unstable_by_key(|access| access.event);
        earlier.dedup_by_key(|access| access.event);
        if self.listing == Listing::OncePerSite {
            earlier.retain(|access| self.listed.insert((access.look, look)));
        }

        let access = Access { event: index, count: clock.count(thread), look };
        let (clocks, listing) = (&self.clocks, self.listing);
        self.bytes
            .get_mut(look.loc.object)
            .update(byte_range(look.loc), |history| history.of(thread).push(access, thread, listing, clocks));
        earlier.iter().map(|access| RacePair { first: access.event, second: index }).collect()
    }
}

impl History {
    fn unordered_with(&self, thread: ThreadId, class: Class, clock: &VectorClock, found: &mut Vec<Access>) {
        for (other, accesses) in self.threads.iter().filter(|(other, _)| *other != thread) {
            let known = clock.count(*other);
            let unordered = accesses.items.iter().rev().take_while(|access| access.count > known);
            found.extend(unordered.filter(|access| access.look.class.conflicts(class)));
        }
    }

    fn of(&mut self, thread: ThreadId) -> &mut Accesses {
        let at = self.threads.iter().position(|(id, _)| *id == thread).unwrap_or_else(|| {
            self.threads.push((thread, Accesses { items: Vec::new(), limit: FIRST_LIMIT }));
            self.threads.len() - 1
        });
        &mut self.threads[at].1
    }
}

impl Accesses {
    fn push(&mut self, access: Access, thread: ThreadId, listing: Listing, clocks: &Clocks) {
        if listing == Listing::OncePerSite
            && let Some(at) = self.items.iter().rposition(|old| old.look == access.look)
        {
            self.items.remove(at);
        }
        if self.items.len() >= self.limit {
            let settled = |old: &Access| clocks.is_settled(Epoch { thread, count: old.count });
            let live = self.items.partition_point(settled);
            self.items.drain(..live);
            self.limit = FIRST_LIMIT.max(2 * self.items.len());
        }
        self.items.push(access);
    }
}
