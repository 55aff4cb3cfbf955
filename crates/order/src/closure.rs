//! The definition: direct edges between events, and their transitive closure. Slow, obvious, the oracle for everything else.
//!
//! An event `i` directly precedes a later event `j` of the trace when one of these holds.
//!
//! * Both are of the same thread.
//! * `i` creates the thread of `j`; `j` joins the thread of `i`.
//! * `i` releases a lock and `j` acquires it, unless both are in shared mode.
//! * `i` arrives at a barrier and `j` leaves it in the same round.
//! * `i` posts a semaphore and `j` waits for it.
//! * `i` ends the initialiser of a once object and `j` passes the object.
//! * `i` synchronises with `j` by atomics. `i` is a release store or read-modify-write `x`, or a release fence with an atomic write
//!   `x` after it in its thread; `j` is an acquire load or read-modify-write `r`, or an acquire fence with an atomic read `r`
//!   before it in its thread; and `r` reads a byte from the release sequence that `x` heads (or would head if it were a release).
//!   The release sequence of `x` at a byte is `x` and every read-modify-write that reads the byte from a member (C23, C++20).
//!
//! A read reads each byte from the last write of the trace before it, plain or atomic. Initialising or destroying a synchronisation
//! object starts a new life of it: what was done in one life directly precedes nothing in another. Everything else, signals, failed
//! acquisitions and allocation among it, gives no edge.

use crate::race::RacePair;
use raddle_event::{AccessKind, Addr, AtomicOp, Event, EventKind, Loc, LockMode, Trace};
use std::collections::BTreeMap;

pub struct Closure<'a> {
    events: &'a [Event],
    /// `before[j][i]`: event `i` happens before event `j`.
    before: Vec<Vec<bool>>,
}

impl<'a> Closure<'a> {
    pub fn of(trace: &'a Trace) -> Self {
        let events = &trace.events;
        let mut before: Vec<Vec<bool>> = Vec::new();
        for j in 0..events.len() {
            let mut row = vec![false; events.len()];
            for i in 0..j {
                if directly_precedes(events, i, j) {
                    row[i] = true;
                    for k in 0..i {
                        row[k] |= before[i][k];
                    }
                }
            }
            before.push(row);
        }
        Self { events, before }
    }

    /// Whether event `i` happens before event `j`.
    pub fn happens_before(&self, i: usize, j: usize) -> bool {
        self.before[j][i]
    }

    /// All pairs that race, by `second`, then `first`.
    pub fn races(&self) -> Vec<RacePair> {
        let mut races = Vec::new();
        for second in 0..self.events.len() {
            for first in 0..second {
                if self.is_race(first, second) {
                    races.push(RacePair { first, second });
                }
            }
        }
        races
    }

    /// For every byte that races, the first event that is unordered with an earlier conflicting access to it.
    pub fn first_races(&self) -> BTreeMap<Addr, usize> {
        let mut firsts = BTreeMap::new();
        for RacePair { first, second } in self.races() {
            let (a, b) = (&self.events[first], &self.events[second]);
            for byte in bytes(a).filter(|byte| covers(b, *byte)) {
                firsts.entry(byte).or_insert(second);
            }
        }
        firsts
    }

    fn is_race(&self, i: usize, j: usize) -> bool {
        let (a, b) = (&self.events[i], &self.events[j]);
        let plain = |event: &Event| matches!(event.kind, EventKind::Access { .. });
        a.thread != b.thread
            && overlap(a, b)
            && (writes(a) || writes(b))
            && (plain(a) || plain(b))
            && !self.happens_before(i, j)
    }
}

fn directly_precedes(events: &[Event], i: usize, j: usize) -> bool {
    let (a, b) = (&events[i], &events[j]);
    let same_life = |object: Addr| !events[i..j].iter().any(|event| restarts(event, object));
    if a.thread == b.thread {
        return true;
    }
    match (a.kind, b.kind) {
        (EventKind::Create { child }, _) if child == b.thread => true,
        (_, EventKind::Join { child }) => child == a.thread,
        (EventKind::Release { lock, mode: released }, EventKind::Acquire { lock: other, mode: acquired }) => {
            let both_shared = released == LockMode::Shared && acquired == LockMode::Shared;
            lock == other && !both_shared && same_life(lock)
        }
        (
            EventKind::BarrierArrive { barrier, round },
            EventKind::BarrierLeave { barrier: other, round: left },
        ) => barrier == other && round == left && same_life(barrier),
        (EventKind::SemPost { sem }, EventKind::SemWait { sem: other }) => sem == other && same_life(sem),
        (EventKind::OnceEnd { once }, EventKind::OncePass { once: other }) => {
            once == other && same_life(once)
        }
        _ => synchronises(events, i, j),
    }
}

fn restarts(event: &Event, object: Addr) -> bool {
    event.kind == EventKind::SyncInit { object } || event.kind == EventKind::SyncDestroy { object }
}

fn synchronises(events: &[Event], i: usize, j: usize) -> bool {
    let heads = heads(events, i);
    let reads = reads(events, j);
    reads.iter().any(|&read| {
        bytes(&events[read]).any(|byte| heads.iter().any(|&head| reads_sequence(events, head, read, byte)))
    })
}

/// The atomic writes that head the release sequences through which `i` is seen.
fn heads(events: &[Event], i: usize) -> Vec<usize> {
    match events[i].kind {
        EventKind::Atomic { op: AtomicOp::Store(order), .. } if order.releases() => vec![i],
        EventKind::Atomic { op: AtomicOp::Rmw(order), .. } if order.releases() => vec![i],
        EventKind::Fence { order } if order.releases() => (i + 1..events.len())
            .filter(|&x| events[x].thread == events[i].thread)
            .filter(|&x| matches!(events[x].kind, EventKind::Atomic { .. }) && writes(&events[x]))
            .collect(),
        _ => Vec::new(),
    }
}

/// The atomic reads through which `j` sees others.
fn reads(events: &[Event], j: usize) -> Vec<usize> {
    match events[j].kind {
        EventKind::Atomic { op: AtomicOp::Load(order), .. } if order.acquires() => vec![j],
        EventKind::Atomic { op: AtomicOp::Rmw(order), .. } if order.acquires() => vec![j],
        EventKind::Fence { order } if order.acquires() => (0..j)
            .filter(|&r| events[r].thread == events[j].thread)
            .filter(|&r| {
                let EventKind::Atomic { op, .. } = events[r].kind else { return false };
                !matches!(op, AtomicOp::Store(_))
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Whether `read` reads the byte from the release sequence of `head`.
fn reads_sequence(events: &[Event], head: usize, read: usize, byte: Addr) -> bool {
    let Some(source) = last_write_before(events, read, byte) else { return false };
    if source == head {
        return true;
    }
    let continues = matches!(events[source].kind, EventKind::Atomic { op: AtomicOp::Rmw(_), .. });
    continues && reads_sequence(events, head, source, byte)
}

fn last_write_before(events: &[Event], read: usize, byte: Addr) -> Option<usize> {
    (0..read).rev().find(|&w| writes(&events[w]) && covers(&events[w], byte))
}

fn writes(event: &Event) -> bool {
    match event.kind {
        EventKind::Access { kind, .. } => kind == AccessKind::Write,
        EventKind::Atomic { op: AtomicOp::Load(_), .. } => false,
        EventKind::Atomic { op: AtomicOp::Store(_) | AtomicOp::Rmw(_), .. } => true,
        _ => false,
    }
}

fn touched(event: &Event) -> Option<Loc> {
    match event.kind {
        EventKind::Access { loc, .. } | EventKind::Atomic { loc, .. } => Some(loc),
        _ => None,
    }
}

fn bytes(event: &Event) -> impl Iterator<Item = Addr> {
    let bytes = |loc: Loc| (0..loc.len).map(move |i| Addr { object: loc.object, offset: loc.offset + i });
    touched(event).into_iter().flat_map(bytes)
}

fn covers(event: &Event, byte: Addr) -> bool {
    touched(event).is_some_and(|loc| {
        loc.object == byte.object && loc.offset <= byte.offset && byte.offset - loc.offset < loc.len
    })
}

/// Two ranges overlap exactly when one of them covers the first byte of the other.
fn overlap(a: &Event, b: &Event) -> bool {
    let first_byte_of = |event: &Event| bytes(event).next();
    first_byte_of(a).is_some_and(|byte| covers(b, byte))
        || first_byte_of(b).is_some_and(|byte| covers(a, byte))
}
