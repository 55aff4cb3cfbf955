//! MUTEX, SIGNAL and BARRIER of figures 1 and 2, and the objects that the paper does not have, each as one process.
//!
//! Which way it errs: neither; each process is the state of one object in [`legality`](crate::legality), and nothing else. A condition
//! with too many states is rejected ([`TooManyStates`]).

use crate::legality::Waits;
use raddle_csp::{Arena, EventId, EventSet, ProcId};
use raddle_event::ThreadId;
use std::collections::{BTreeMap, BTreeSet};

/// A synchronisation process, and the events on which the threads have to agree with it.
pub(super) struct Process {
    pub(super) process: ProcId,
    pub(super) alphabet: EventSet,
}

/// A condition has more states than [`STATES_OF_A_CONDITION`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooManyStates;

pub(super) const STATES_OF_A_CONDITION: usize = 5_000;

/// Events of a lock, with the slot of their thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Lock {
    pub(super) name: String,
    pub(super) acquire: BTreeMap<EventId, usize>,
    pub(super) release: BTreeMap<EventId, usize>,
    pub(super) acquire_shared: BTreeMap<EventId, usize>,
    pub(super) release_shared: BTreeMap<EventId, usize>,
    /// Failures while it is held, and while it is held exclusively.
    pub(super) fails: EventSet,
    pub(super) fails_exclusive: EventSet,
    pub(super) owner: Option<usize>,
    pub(super) readers: usize,
}

impl Lock {
    /// MUTEX of figure 1, with readers: free, held by one thread, or shared by so many.
    pub(super) fn process(&self, arena: &mut Arena) -> Process {
        let free = arena.declare(&self.name);
        let call_free = arena.call(free);
        let threads: BTreeSet<usize> = self.acquire.values().copied().chain(self.owner).collect();
        let held: BTreeMap<usize, _> =
            threads.iter().map(|&slot| (slot, arena.declare(&format!("{}_t{slot}", self.name)))).collect();
        let most = self.acquire_shared.values().collect::<BTreeSet<_>>().len() + self.readers;
        let shared: Vec<_> =
            (1..=most).map(|readers| arena.declare(&format!("{}_r{readers}", self.name))).collect();
        let mut branches = Vec::new();
        for (&event, slot) in &self.acquire {
            let next = arena.call(held[slot]);
            branches.push(arena.prefix(event, next));
        }
        for &event in self.acquire_shared.keys() {
            let next = arena.call(shared[0]);
            branches.push(arena.prefix(event, next));
        }
        let body = arena.choice(&branches);
        arena.define(free, body);
        for (&slot, &name) in &held {
            let own = arena.call(name);
            let releases = self.release.iter().filter(|(_, by)| **by == slot).map(|(&event, _)| event);
            let mut branches: Vec<ProcId> = releases.map(|event| arena.prefix(event, call_free)).collect();
            for event in self.fails.iter().chain(self.fails_exclusive.iter()) {
                branches.push(arena.prefix(event, own));
            }
            let body = arena.choice(&branches);
            arena.define(name, body);
        }
        for (index, &name) in shared.iter().enumerate() {
            let own = arena.call(name);
            let less = if index == 0 { call_free } else { arena.call(shared[index - 1]) };
            let mut branches: Vec<ProcId> =
                self.release_shared.keys().map(|&event| arena.prefix(event, less)).collect();
            if let Some(&more) = shared.get(index + 1) {
                let more = arena.call(more);
                branches.extend(self.acquire_shared.keys().map(|&event| arena.prefix(event, more)));
            }
            branches.extend(self.fails.iter().map(|event| arena.prefix(event, own)));
            let body = arena.choice(&branches);
            arena.define(name, body);
        }
        let start = match (self.owner, self.readers) {
            (Some(owner), _) => arena.call(held[&owner]),
            (None, 0) => call_free,
            (None, readers) => arena.call(shared[readers - 1]),
        };
        let all = [&self.acquire, &self.release, &self.acquire_shared, &self.release_shared];
        let mut alphabet: EventSet = all.into_iter().flat_map(BTreeMap::keys).copied().collect();
        alphabet.extend(self.fails.iter().chain(self.fails_exclusive.iter()));
        Process { process: start, alphabet }
    }
}

/// Events of a semaphore.
#[derive(Clone, Debug, Default)]
pub(super) struct Semaphore {
    pub(super) name: String,
    pub(super) start: usize,
    /// How often it is posted in all.
    pub(super) posted: usize,
    pub(super) posts: EventSet,
    pub(super) takes: EventSet,
    pub(super) fails: EventSet,
}

impl Semaphore {
    pub(super) fn process(&self, arena: &mut Arena) -> Process {
        let most = self.start + self.posted;
        let names: Vec<_> =
            (0..=most).map(|count| arena.declare(&format!("{}_{count}", self.name))).collect();
        let calls: Vec<ProcId> = names.iter().map(|&name| arena.call(name)).collect();
        for count in 0..=most {
            let mut branches = Vec::new();
            if count < most {
                branches.extend(self.posts.iter().map(|event| arena.prefix(event, calls[count + 1])));
            }
            if count > 0 {
                branches.extend(self.takes.iter().map(|event| arena.prefix(event, calls[count - 1])));
            } else {
                branches.extend(self.fails.iter().map(|event| arena.prefix(event, calls[0])));
            }
            let body = arena.choice(&branches);
            arena.define(names[count], body);
        }
        let mut alphabet = self.posts.clone();
        alphabet.extend(self.takes.iter().chain(self.fails.iter()));
        Process { process: calls[self.start], alphabet }
    }
}

/// Events of a condition.
#[derive(Clone, Debug, Default)]
pub(super) struct Condition {
    pub(super) name: String,
    pub(super) start: Waits,
    pub(super) sleeps: BTreeMap<EventId, ThreadId>,
    pub(super) wakes: BTreeMap<EventId, ThreadId>,
    pub(super) signals: EventSet,
    pub(super) broadcasts: EventSet,
}

impl Condition {
    /// SIGNAL of figure 2 pairs each wait with the signal of the trace; here any signal since its beginning will do.
    pub(super) fn process(&self, arena: &mut Arena) -> Result<Process, TooManyStates> {
        let mut numbers: BTreeMap<Waits, usize> = BTreeMap::from([(self.start.clone(), 0)]);
        let mut todo = vec![self.start.clone()];
        let mut names = vec![arena.declare(&format!("{}_0", self.name))];
        while let Some(waits) = todo.pop() {
            let mut branches = Vec::new();
            for (event, next) in self.steps(&waits) {
                let number = *numbers.entry(next.clone()).or_insert_with(|| {
                    todo.push(next);
                    names.push(arena.declare(&format!("{}_{}", self.name, names.len())));
                    names.len() - 1
                });
                let next = arena.call(names[number]);
                branches.push(arena.prefix(event, next));
            }
            if names.len() > STATES_OF_A_CONDITION {
                return Err(TooManyStates);
            }
            let body = arena.choice(&branches);
            arena.define(names[numbers[&waits]], body);
        }
        let mut alphabet: EventSet = self.sleeps.keys().chain(self.wakes.keys()).copied().collect();
        alphabet.extend(self.signals.iter().chain(self.broadcasts.iter()));
        Ok(Process { process: arena.call(names[0]), alphabet })
    }

    fn steps(&self, waits: &Waits) -> Vec<(EventId, Waits)> {
        let after = |change: &dyn Fn(&mut Waits)| {
            let mut next = waits.clone();
            change(&mut next);
            next
        };
        let mut steps = Vec::new();
        for (&event, &thread) in &self.sleeps {
            if !waits.has(thread) {
                steps.push((event, after(&|waits| waits.begin(thread))));
            }
        }
        for (&event, &thread) in &self.wakes {
            if waits.may_end(thread) {
                steps.push((event, after(&|waits| waits.end(thread))));
            }
        }
        steps.extend(self.signals.iter().map(|event| (event, after(&|waits| waits.signal()))));
        steps.extend(self.broadcasts.iter().map(|event| (event, after(&|waits| waits.broadcast()))));
        steps
    }
}

/// Events of a barrier, by round.
#[derive(Clone, Debug, Default)]
pub(super) struct Barrier {
    pub(super) name: String,
    /// How many arrive in all; the arrivals; the departures.
    pub(super) rounds: BTreeMap<u32, (usize, EventSet, EventSet)>,
}

impl Barrier {
    /// BARRIER of figure 2, one process for all rounds: the arrivals of a round in any order, then the next round and all departures so far.
    pub(super) fn process(&self, arena: &mut Arena) -> Process {
        let all: Vec<&(usize, EventSet, EventSet)> = self.rounds.values().collect();
        let mut departures: Vec<EventId> = all.iter().flat_map(|(_, _, leave)| leave.iter()).collect();
        let over = arena.declare(&format!("{}_over", self.name));
        let mut next = arena.call(over);
        let branches: Vec<ProcId> = departures.iter().map(|&event| arena.prefix(event, next)).collect();
        let body = arena.choice(&branches);
        arena.define(over, body);
        for (round, (arrivals, enter, leave)) in self.rounds.iter().rev() {
            departures.retain(|&event| !leave.contains(event));
            for missing in 1..=*arrivals {
                let name = arena.declare(&format!("{}_{round}_{missing}", self.name));
                let own = arena.call(name);
                let mut branches: Vec<ProcId> = enter.iter().map(|event| arena.prefix(event, next)).collect();
                branches.extend(departures.iter().map(|&event| arena.prefix(event, own)));
                let body = arena.choice(&branches);
                arena.define(name, body);
                next = own;
            }
        }
        let alphabet = all.iter().flat_map(|(_, enter, leave)| enter.iter().chain(leave.iter())).collect();
        Process { process: next, alphabet }
    }
}

/// FORK and JOIN of figure 1, and every other order: one event, then each of the others once.
pub(super) fn order(arena: &mut Arena, name: &str, before: EventId, after: &[EventId]) -> Process {
    let each: Vec<ProcId> = after.iter().map(|&event| arena.prefix(event, Arena::STOP)).collect();
    let each = arena.interleave(&each);
    let body = arena.prefix(before, each);
    Process { process: arena.named(name, body), alphabet: after.iter().copied().chain([before]).collect() }
}

/// A once object: the end of its initialiser, then all that pass it.
pub(super) fn once(arena: &mut Arena, name: &str, end: EventId, passes: &EventSet) -> Process {
    let done = arena.declare(&format!("{name}_done"));
    let call = arena.call(done);
    let branches: Vec<ProcId> = passes.iter().map(|event| arena.prefix(event, call)).collect();
    let body = arena.choice(&branches);
    arena.define(done, body);
    let body = arena.prefix(end, call);
    Process { process: arena.named(name, body), alphabet: passes.iter().chain([end]).collect() }
}

/// A part of memory that the same accesses touch: kept reads come after the write that they read from, and no other.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) name: String,
    /// Writes, by index.
    pub(super) writes: BTreeMap<EventId, usize>,
    /// Reads, with the write that each has to read from. A read-modify-write is in both.
    pub(super) reads: BTreeMap<EventId, Option<usize>>,
    /// A thread stands before a read that has to read from this write. Nothing happens after that.
    pub(super) stands: BTreeMap<EventId, Option<usize>>,
}

impl Cell {
    /// VAR: what was written last. It remembers only writes that are read.
    pub(super) fn process(&self, arena: &mut Arena) -> Process {
        let unread = Some(usize::MAX);
        let read = self.reads.values().chain(self.stands.values()).copied();
        let mut contents: Vec<Option<usize>> = read.chain([None, unread]).collect();
        contents.sort();
        contents.dedup();
        let names: BTreeMap<Option<usize>, _> = contents
            .iter()
            .enumerate()
            .map(|(number, &content)| (content, arena.declare(&format!("{}_{number}", self.name))))
            .collect();
        for (&content, &name) in &names {
            let own = arena.call(name);
            let mut branches = Vec::new();
            for (&event, &write) in &self.writes {
                if self.reads.get(&event).is_some_and(|&from| from != content) {
                    continue;
                }
                let next = names.get(&Some(write)).unwrap_or(&names[&unread]);
                let next = arena.call(*next);
                branches.push(arena.prefix(event, next));
            }
            let reads = self
                .reads
                .iter()
                .filter(|(event, from)| **from == content && !self.writes.contains_key(event));
            branches.extend(reads.map(|(&event, _)| arena.prefix(event, own)));
            let stands = self.stands.iter().filter(|(_, from)| **from == content);
            branches.extend(stands.map(|(&event, _)| arena.prefix(event, Arena::STOP)));
            let body = arena.choice(&branches);
            arena.define(name, body);
        }
        let reads = self.reads.keys().chain(self.stands.keys());
        let alphabet = self.writes.keys().chain(reads).copied().collect();
        Process { process: arena.call(names[&None]), alphabet }
    }
}
