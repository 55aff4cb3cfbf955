//! The small detector: what happens after one event of a trace, by marking forward.
//!
//! Start with one access marked and walk on: an event is *after* it when its thread, or something it acquires, carries the mark.
//! No clocks, no locksets, no sharing with `order`; a property test compares it with the closure there. The rules are those of C11
//! as `docs/soundness.md` states them (release sequences as in C23). Exact for the given events: neither way of erring.

use crate::Refusal;
use crate::replay::Noted;
use raddle_base::SiteId;
use raddle_event::{AccessKind, Addr, AtomicOp, Event, EventKind, Loc, LockMode, ThreadId};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

/// Positions of two events at these two sites (in either order) that race. The last such first access is preferred.
pub(crate) fn find_race(
    events: &[Event],
    sites: (SiteId, SiteId),
    stop: &AtomicBool,
) -> Result<Option<(usize, usize)>, Refusal> {
    for first in (0..events.len()).rev() {
        if stop.load(Ordering::Relaxed) {
            return Err(Refusal::Stopped);
        }
        if let Some(second) = partner(events, first, sites) {
            return Ok(Some((first, second)));
        }
    }
    Ok(None)
}

fn partner(events: &[Event], first: usize, sites: (SiteId, SiteId)) -> Option<usize> {
    let a = &events[first];
    touched(a)?;
    let wanted = match a.site {
        site if site == sites.0 => sites.1,
        site if site == sites.1 => sites.0,
        _ => return None,
    };
    let mut marks = Marks::start(a);
    for (second, b) in events.iter().enumerate().skip(first + 1) {
        let after = marks.pass(b);
        if !after && b.site == wanted && conflict(a, b) {
            return Some(second);
        }
    }
    None
}

/// Different threads, overlapping bytes, at least one a write, at least one not atomic.
fn conflict(a: &Event, b: &Event) -> bool {
    let (Some(x), Some(y)) = (touched(a), touched(b)) else { return false };
    a.thread != b.thread && x.loc.overlaps(y.loc) && (x.writes || y.writes) && !(x.atomic && y.atomic)
}

pub(crate) struct Touched {
    pub(crate) loc: Loc,
    pub(crate) writes: bool,
    pub(crate) atomic: bool,
}

pub(crate) fn touched(event: &Event) -> Option<Touched> {
    match event.kind {
        EventKind::Access { loc, kind } => {
            Some(Touched { loc, writes: kind == AccessKind::Write, atomic: false })
        }
        EventKind::Atomic { loc, op } => Some(Touched { loc, writes: op.writes(), atomic: true }),
        _ => None,
    }
}

/// What happens after one event or call of a trace.
pub(crate) struct Cone {
    /// Per event.
    pub(crate) events: Vec<bool>,
    /// Per call of a function without body or model.
    pub(crate) calls: Vec<bool>,
    /// Whose next event is.
    pub(crate) threads: HashSet<ThreadId>,
}

#[derive(Clone, Copy)]
pub(crate) enum Start {
    Event(usize),
    Call(usize),
}

impl Cone {
    pub(crate) fn of(events: &[Event], calls: &[Noted], start: Start) -> Cone {
        let mut cone = Cone {
            events: vec![false; events.len()],
            calls: vec![false; calls.len()],
            threads: HashSet::new(),
        };
        let (mut marks, first, mut next) = match start {
            Start::Event(at) => {
                let next = calls.partition_point(|noted| noted.at <= at);
                (Marks::start(&events[at]), at + 1, next)
            }
            Start::Call(at) => {
                let mut marks = Marks::default();
                marks.threads.insert(calls[at].call.thread);
                (marks, calls[at].at, at + 1)
            }
        };
        for at in first..=events.len() {
            while let Some(noted) = calls.get(next).filter(|noted| noted.at <= at) {
                cone.calls[next] = marks.threads.contains(&noted.call.thread);
                next += 1;
            }
            if let Some(event) = events.get(at) {
                cone.events[at] = marks.pass(event);
            }
        }
        cone.threads = marks.threads;
        cone
    }
}

/// Who and what carries the mark: everything that happened in it so far is after the start.
#[derive(Default)]
struct Marks {
    threads: HashSet<ThreadId>,
    /// Released since, by mode.
    locks: HashSet<(Addr, LockMode)>,
    barriers: HashSet<(Addr, u32)>,
    semaphores: HashSet<Addr>,
    onces: HashSet<Addr>,
    /// Bytes whose current value belongs to a release sequence that carries the mark.
    bytes: HashSet<Addr>,
    /// Threads with a release fence after the start.
    fenced: HashSet<ThreadId>,
    /// Threads that read a marked byte without acquiring; an acquire fence makes up for it.
    seen: HashSet<ThreadId>,
}

impl Marks {
    fn start(event: &Event) -> Marks {
        let mut marks = Marks::default();
        marks.threads.insert(event.thread);
        if let Some(Touched { loc, atomic: true, writes: true }) = touched(event)
            && let EventKind::Atomic { op, .. } = event.kind
            && releases(op)
        {
            marks.bytes.extend(addresses(loc));
        }
        marks
    }

    /// Takes in the next event; whether it is after the start.
    fn pass(&mut self, event: &Event) -> bool {
        if self.acquires(event) {
            self.threads.insert(event.thread);
        }
        let after = self.threads.contains(&event.thread);
        self.release(event, after);
        after
    }

    /// Whether the event takes the mark over from something.
    fn acquires(&mut self, event: &Event) -> bool {
        match event.kind {
            EventKind::Join { child } => self.threads.contains(&child),
            EventKind::Acquire { lock, mode } => {
                self.locks.contains(&(lock, LockMode::Exclusive))
                    || (mode == LockMode::Exclusive && self.locks.contains(&(lock, LockMode::Shared)))
            }
            EventKind::BarrierLeave { barrier, round } => self.barriers.contains(&(barrier, round)),
            EventKind::SemWait { sem } => self.semaphores.contains(&sem),
            EventKind::OncePass { once } => self.onces.contains(&once),
            EventKind::Atomic { loc, op } if !matches!(op, AtomicOp::Store(_)) => {
                let reads = addresses(loc).any(|byte| self.bytes.contains(&byte));
                if reads {
                    self.seen.insert(event.thread);
                }
                reads && acquires(op)
            }
            EventKind::Fence { order } => order.acquires() && self.seen.contains(&event.thread),
            _ => false,
        }
    }

    fn release(&mut self, event: &Event, after: bool) {
        match event.kind {
            EventKind::Create { child } if after => {
                self.threads.insert(child);
            }
            EventKind::Release { lock, mode } if after => {
                self.locks.insert((lock, mode));
            }
            EventKind::BarrierArrive { barrier, round } if after => {
                self.barriers.insert((barrier, round));
            }
            EventKind::SemPost { sem } if after => {
                self.semaphores.insert(sem);
            }
            EventKind::OnceEnd { once } if after => {
                self.onces.insert(once);
            }
            EventKind::Fence { order } if after && order.releases() => {
                self.fenced.insert(event.thread);
            }
            EventKind::SyncInit { object } | EventKind::SyncDestroy { object } => self.forget(object),
            EventKind::Access { loc, kind: AccessKind::Write } => {
                self.bytes.retain(|byte| !covers(loc, *byte));
            }
            EventKind::Atomic { loc, op } if op.writes() => {
                if matches!(op, AtomicOp::Store(_)) {
                    self.bytes.retain(|byte| !covers(loc, *byte));
                }
                if (after && releases(op)) || self.fenced.contains(&event.thread) {
                    self.bytes.extend(addresses(loc));
                }
            }
            _ => {}
        }
    }

    /// A synchronisation object starts a new life: what was done before orders nothing after.
    fn forget(&mut self, object: Addr) {
        self.locks.retain(|(lock, _)| *lock != object);
        self.barriers.retain(|(barrier, _)| *barrier != object);
        self.semaphores.remove(&object);
        self.onces.remove(&object);
    }
}

fn releases(op: AtomicOp) -> bool {
    match op {
        AtomicOp::Load(_) => false,
        AtomicOp::Store(order) => order.releases(),
        AtomicOp::Rmw(order) => order.releases(),
    }
}

fn acquires(op: AtomicOp) -> bool {
    match op {
        AtomicOp::Load(order) => order.acquires(),
        AtomicOp::Store(_) => false,
        AtomicOp::Rmw(order) => order.acquires(),
    }
}

fn addresses(loc: Loc) -> impl Iterator<Item = Addr> {
    (0..loc.len).map(move |i| Addr { object: loc.object, offset: loc.offset.wrapping_add(i) })
}

fn covers(loc: Loc, byte: Addr) -> bool {
    loc.overlaps(Loc { object: byte.object, offset: byte.offset, len: 1 })
}

#[cfg(test)]
mod tests {
    use super::{find_race, touched};
    use crate::replay::Collector;
    use raddle_base::SiteId;
    use raddle_event::Trace;
    use raddle_machine::{Sink, StackSource};
    use raddle_order::Closure;
    use raddle_testkit::soak::{cases_of_seeds, seeds};
    use raddle_testkit::traces::{print, random, shrink};
    use std::collections::BTreeSet;
    use std::sync::atomic::AtomicBool;

    static NEVER: AtomicBool = AtomicBool::new(false);

    fn for_random_traces(property: &str, disagreement: impl Fn(&Trace) -> Option<String>) {
        for seed in cases_of_seeds(property, seeds(4_000, 100_000)) {
            let trace = random(seed);
            if disagreement(&trace).is_some() {
                let small = shrink(&trace, |candidate| disagreement(candidate).is_some());
                panic!("seed {seed}: {:?}\n{}", disagreement(&small), print(&small));
            }
        }
    }

    /// Every event at a site of its own: each pair of accesses is asked for by itself.
    #[test]
    fn agrees_with_the_closure_on_every_pair() {
        for_random_traces("detector of certify = closure", |trace| {
            let mut trace = trace.clone();
            for (index, event) in trace.events.iter_mut().enumerate() {
                event.site = SiteId(index as u32);
            }
            let closure = Closure::of(&trace);
            let races: BTreeSet<_> = closure.races().iter().map(|race| (race.first, race.second)).collect();
            let accesses: Vec<usize> =
                (0..trace.events.len()).filter(|i| touched(&trace.events[*i]).is_some()).collect();
            for &i in &accesses {
                for &j in accesses.iter().filter(|j| **j > i) {
                    let sites = (SiteId(j as u32), SiteId(i as u32));
                    let found = find_race(&trace.events, sites, &NEVER) != Ok(None);
                    if found != races.contains(&(i, j)) {
                        return Some(format!("{i} and {j}: found {found}"));
                    }
                }
            }
            None
        });
    }

    struct NoStack;

    impl StackSource for NoStack {
        fn call_sites(&self) -> Vec<SiteId> {
            Vec::new()
        }
    }

    /// Few sites, so that events are left out: what is kept must still show a race exactly when there is one.
    #[test]
    fn leaving_events_out_changes_nothing() {
        for_random_traces("detector of certify with events left out", |trace| {
            let mut trace = trace.clone();
            for event in &mut trace.events {
                let access = touched(event).map(|access| access.loc.offset + access.loc.object.0);
                event.site = SiteId(access.unwrap_or(99) % 5);
            }
            let closure = Closure::of(&trace);
            let races: BTreeSet<_> = closure
                .races()
                .iter()
                .map(|race| [trace.events[race.first].site, trace.events[race.second].site])
                .flat_map(|[a, b]| [(a, b), (b, a)])
                .collect();
            for a in 0..5 {
                for b in 0..=a {
                    let sites = (SiteId(a), SiteId(b));
                    let mut collector = Collector::new(sites);
                    trace.events.iter().for_each(|event| collector.event(*event, &NoStack));
                    let found = find_race(&collector.events, sites, &NEVER) != Ok(None);
                    if found != races.contains(&sites) {
                        return Some(format!("sites {a} and {b}: found {found}"));
                    }
                }
            }
            None
        });
    }
}
