//! What the runtime recorded of one script, as a trace for the closure, and the bytes that the detector found to race.
//!
//! A reader of its own, as simple as can be: the whole file at once, all entries sorted.

use raddle_base::{FenceOrder, LoadOrder, RmwOrder, SiteId, StoreOrder};
use raddle_event::{AccessKind, Addr, AtomicOp, Event, EventKind, Loc, LockMode, ObjectId, ThreadId, Trace};
use raddle_runtime::trace::{CHUNK_HEADER, Entry, HEADER_UNIT, Header, Kind, State, chunk, decode};
use std::collections::{BTreeMap, BTreeSet};

/// All entries of a file with their threads, in order.
pub fn entries(bytes: &[u8]) -> Vec<(u32, Entry)> {
    let header = Header::read(bytes).unwrap();
    assert_eq!(header.control.lost, 0);
    let mut logs: BTreeMap<u32, Vec<Entry>> = BTreeMap::new();
    let mut at = header.bytes;
    while at < bytes.len() {
        let Some(chunk) = chunk(&bytes[at..]).unwrap() else {
            at += HEADER_UNIT;
            continue;
        };
        let log = logs.entry(chunk.thread).or_default();
        let content = &bytes[at + CHUNK_HEADER..at + CHUNK_HEADER + chunk.used];
        let (mut state, mut inside) = (State::NEW, 0);
        while inside < content.len() {
            let (entry, next) = decode(&mut state, content, inside).unwrap();
            log.push(entry);
            inside = next;
        }
        at += chunk.bytes;
    }
    let mut all: Vec<(u32, Entry)> = Vec::new();
    for (thread, log) in logs {
        assert!(log.is_sorted_by_key(|entry| entry.sequence), "the log of thread {thread}");
        all.extend(log.into_iter().map(|entry| (thread, entry)));
    }
    // What has no number of its own stands before what has the number.
    all.sort_by_key(|(_, entry)| (entry.sequence, !is_plain(entry)));
    all
}

/// The entries of each script: from the allocation of its memory to its end.
pub fn scripts(all: &[(u32, Entry)], size: u64) -> Vec<&[(u32, Entry)]> {
    let begins =
        |(thread, entry): &&(u32, Entry)| *thread == 0 && entry.kind == Kind::Alloc && entry.more[0] == size;
    let starts: Vec<usize> = (0..all.len()).filter(|at| begins(&&all[*at])).collect();
    let slices = starts.iter().map(|&start| {
        let place = all[start].1.address;
        let free = |(_, entry): &(u32, Entry)| entry.kind == Kind::Free && entry.address == place;
        let length = all[start..].iter().position(free).expect("the memory of a script is freed");
        &all[start + 1..start + length]
    });
    slices.collect()
}

/// Which of the scripts, the first one 1, each thread that one makes is of.
pub fn scripts_of_threads(slices: &[&[(u32, Entry)]]) -> BTreeMap<u64, u64> {
    let made = |(script, entries): (u64, &&[(u32, Entry)])| {
        let created = entries.iter().filter(|(_, entry)| entry.kind == Kind::Create);
        created.map(|(_, entry)| (entry.more[0], script)).collect::<Vec<_>>()
    };
    (1..).zip(slices).flat_map(made).collect()
}

/// The trace, and the offsets of the racy bytes.
pub fn read(entries: &[(u32, Entry)], place: u64) -> (Trace, BTreeSet<u32>) {
    let threads = numbers(entries);
    let mut races = BTreeSet::new();
    let mut events = Vec::new();
    let mut late = Late::default();
    for (thread, entry) in entries {
        let Some(number) = threads.get(thread).map(|number| ThreadId(*number)) else { continue };
        let offset = entry.address.wrapping_sub(place) as u32;
        let inside = entry.address.wrapping_sub(place) < 64;
        let write = matches!(entry.kind, Kind::Write | Kind::WriteAmong);
        let access_kind = if write { AccessKind::Write } else { AccessKind::Read };
        let access = |byte| Access { thread: number, byte, kind: access_kind };
        let event = |kind| Event { thread: number, site: SiteId(0), kind };
        let accesses = |bytes: &BTreeSet<u32>| {
            let access = |loc| event(EventKind::Access { loc, kind: access_kind });
            runs(bytes.iter().copied()).into_iter().map(access).collect::<Vec<_>>()
        };
        match entry.kind {
            Kind::Read | Kind::Write if inside => {
                let (later, now): (BTreeSet<u32>, BTreeSet<u32>) =
                    touched(entry, offset).into_iter().partition(|byte| late.atomic.contains(byte));
                events.extend(accesses(&now));
                late.waiting.extend(later.into_iter().map(access));
            }
            Kind::ReadAmong | Kind::WriteAmong if inside => {
                let bytes: BTreeSet<u32> = masked(entry, offset).collect();
                late.waiting.retain(|one| !bytes.contains(&one.byte) || *one != access(one.byte));
                events.extend(accesses(&bytes));
                if write {
                    late.atomic.retain(|byte| !bytes.contains(byte));
                    events.extend(late.take(|one| bytes.contains(&one.byte)));
                }
            }
            Kind::Read | Kind::Write | Kind::ReadAmong | Kind::WriteAmong => {}
            Kind::Race if inside => races.extend(masked(entry, offset)),
            Kind::Race => {}
            _ => {
                events.extend(late.take(|one| one.thread == number));
                if let Some(kind) = kind(entry, offset, &threads) {
                    if let EventKind::Atomic { loc, .. } = kind {
                        late.atomic.extend(loc.offset..loc.offset + loc.len);
                    }
                    events.push(event(kind));
                }
            }
        }
    }
    events.extend(late.take(|_| true));
    (Trace { events }, races)
}

/// A plain access to one byte.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Access {
    thread: ThreadId,
    byte: u32,
    kind: AccessKind,
}

impl Access {
    fn event(self) -> Event {
        let kind = EventKind::Access { loc: memory(self.byte, 1), kind: self.kind };
        Event { thread: self.thread, site: SiteId(0), kind }
    }
}

/// Plain accesses noted where their bytes have atomics. A note stands before the access. If the access then has no place among the atomics,
/// it came when there were none: after a plain write that ended them, and before the next thing that its thread did.
#[derive(Default)]
struct Late {
    /// Bytes with atomics since the last plain write among them.
    atomic: BTreeSet<u32>,
    waiting: Vec<Access>,
}

impl Late {
    fn take(&mut self, mut which: impl FnMut(&Access) -> bool) -> Vec<Event> {
        self.waiting.extract_if(.., |one| which(one)).map(Access::event).collect()
    }
}

fn is_plain(entry: &Entry) -> bool {
    matches!(entry.kind, Kind::Read | Kind::Write)
}

/// Bytes of a plain access or a walk.
fn touched(entry: &Entry, offset: u32) -> BTreeSet<u32> {
    match entry.code {
        6 => {
            let [stride, count, size, _] = entry.more.map(|value| value as u32);
            let at = move |i: u32| offset.wrapping_add(i.wrapping_mul(stride));
            (0..count).flat_map(|i| (0..size).map(move |byte| at(i) + byte)).collect()
        }
        _ => (offset..offset + entry.size() as u32).collect(),
    }
}

fn masked(entry: &Entry, offset: u32) -> impl Iterator<Item = u32> {
    let mask = entry.more[0];
    (0..8).filter(move |byte| mask & 1 << byte != 0).map(move |byte| offset + byte)
}

/// Threads in order of creation; the first is the one that nobody created.
fn numbers(entries: &[(u32, Entry)]) -> BTreeMap<u32, u32> {
    let created = entries.iter().filter(|(_, entry)| entry.kind == Kind::Create);
    let all = std::iter::once(0).chain(created.map(|(_, entry)| entry.more[0] as u32));
    all.enumerate().map(|(number, id)| (id, number as u32)).collect()
}

/// Bytes in order, as ranges.
fn runs(bytes: impl Iterator<Item = u32>) -> Vec<Loc> {
    let mut runs: Vec<Loc> = Vec::new();
    for byte in bytes {
        match runs.last_mut() {
            Some(last) if last.offset + last.len == byte => last.len += 1,
            _ => runs.push(memory(byte, 1)),
        }
    }
    runs
}

fn memory(offset: u32, len: u32) -> Loc {
    Loc { object: ObjectId(0), offset, len }
}

/// What is not a plain access; `None`: of no matter for the order.
fn kind(entry: &Entry, offset: u32, threads: &BTreeMap<u32, u32>) -> Option<EventKind> {
    let object = Addr { object: ObjectId(1), offset };
    let round = entry.more[0] as u32;
    let child = || ThreadId(threads[&(entry.more[0] as u32)]);
    let mode = if entry.code == 0 { LockMode::Exclusive } else { LockMode::Shared };
    Some(match entry.kind {
        Kind::Create => EventKind::Create { child: child() },
        Kind::Join => EventKind::Join { child: child() },
        Kind::Acquire => EventKind::Acquire { lock: object, mode },
        Kind::Release => EventKind::Release { lock: object, mode },
        Kind::Arrive => EventKind::BarrierArrive { barrier: object, round },
        Kind::Depart => EventKind::BarrierLeave { barrier: object, round },
        Kind::Post => EventKind::SemPost { sem: object },
        Kind::Wait => EventKind::SemWait { sem: object },
        Kind::OnceEnd => EventKind::OnceEnd { once: object },
        Kind::OncePass => EventKind::OncePass { once: object },
        Kind::Init | Kind::Destroy => EventKind::SyncInit { object },
        Kind::Load | Kind::Store | Kind::Modify if offset < 64 => {
            EventKind::Atomic { loc: memory(offset, entry.more[0] as u32), op: operation(entry) }
        }
        Kind::Fence => EventKind::Fence {
            order: match entry.code {
                2 => FenceOrder::Acquire,
                3 => FenceOrder::Release,
                4 => FenceOrder::AcqRel,
                _ => FenceOrder::SeqCst,
            },
        },
        _ => return None,
    })
}

fn operation(entry: &Entry) -> AtomicOp {
    match (entry.kind, entry.code) {
        (Kind::Load, 0) => AtomicOp::Load(LoadOrder::Relaxed),
        (Kind::Load, 2) => AtomicOp::Load(LoadOrder::Acquire),
        (Kind::Load, _) => AtomicOp::Load(LoadOrder::SeqCst),
        (Kind::Store, 0) => AtomicOp::Store(StoreOrder::Relaxed),
        (Kind::Store, 3) => AtomicOp::Store(StoreOrder::Release),
        (Kind::Store, _) => AtomicOp::Store(StoreOrder::SeqCst),
        (_, 0) => AtomicOp::Rmw(RmwOrder::Relaxed),
        (_, 2) => AtomicOp::Rmw(RmwOrder::Acquire),
        (_, 3) => AtomicOp::Rmw(RmwOrder::Release),
        (_, 4) => AtomicOp::Rmw(RmwOrder::AcqRel),
        (_, _) => AtomicOp::Rmw(RmwOrder::SeqCst),
    }
}

/// A release store of T1, an acquire load of T2 that reads it, and a plain write of T3 that is noted in between but comes afterwards: with
/// these entries of T2 and T3 after the load.
fn synchronises(after: &[(u32, Kind, u64, u64)]) -> bool {
    const PLACE: u64 = 0x1000;
    let made = |child| (0, Kind::Create, 0, 0, child);
    let before = [
        made(1),
        made(2),
        made(3),
        (1, Kind::Write, 2, 0, 0),
        (1, Kind::Store, 3, 31, 1),
        // A walk: each step is noted before the first is made.
        (3, Kind::Write, 3, 24, 0),
        (3, Kind::Write, 3, 22, 0),
        (2, Kind::Load, 5, 24, 8),
        (2, Kind::Write, 2, 0, 0),
    ];
    let after = after.iter().map(|&(thread, kind, offset, more)| (thread, kind, 2, offset, more));
    let entries = (1..).zip(before.into_iter().chain(after)).map(|(sequence, one)| {
        let (thread, kind, code, offset, more) = one;
        let (address, more) = (PLACE + offset, [more, 0, 0, 0]);
        (thread, Entry { kind, code, sequence, site: 0, address, more, text: Vec::new() })
    });
    let (trace, _) = read(&entries.collect::<Vec<_>>(), PLACE);
    let racy = raddle_order::Closure::of(&trace).first_races();
    assert!(racy.keys().any(|byte| byte.offset == 31), "the plain write races with the store");
    racy.keys().all(|byte| byte.offset > 3)
}

#[test]
fn a_walk_among_atomics_counts_where_it_took_effect() {
    assert!(synchronises(&[(3, Kind::WriteAmong, 28, 0b1111), (3, Kind::End, 0, 0)]));
}

#[test]
fn a_write_after_the_end_of_the_atomics_counts_there() {
    let ended = (2, Kind::WriteAmong, 28, 0b1111);
    assert!(synchronises(&[(2, Kind::Write, 28, 0), ended, (3, Kind::End, 0, 0)]));
}
