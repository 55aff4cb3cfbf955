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
    for (at, (thread, entry)) in entries.iter().enumerate() {
        let Some(number) = threads.get(thread) else { continue };
        let offset = entry.address.wrapping_sub(place) as u32;
        let inside = entry.address.wrapping_sub(place) < 64;
        let mut emit = |kind| events.push(Event { thread: ThreadId(*number), site: SiteId(0), kind });
        match entry.kind {
            Kind::Read | Kind::Write if inside => {
                let kind = if entry.kind == Kind::Write { AccessKind::Write } else { AccessKind::Read };
                let moved = moved_bytes(&entries[at + 1..], *thread, place);
                for loc in runs(touched(entry, offset).into_iter().filter(|byte| !moved.contains(byte))) {
                    emit(EventKind::Access { loc, kind });
                }
            }
            Kind::ReadAmong | Kind::WriteAmong if inside => {
                let write = entry.kind == Kind::WriteAmong;
                let kind = if write { AccessKind::Write } else { AccessKind::Read };
                for loc in runs(masked(entry, offset)) {
                    emit(EventKind::Access { loc, kind });
                }
            }
            Kind::Race if inside => races.extend(masked(entry, offset)),
            _ => {
                if let Some(kind) = kind(entry, offset, &threads) {
                    emit(kind);
                }
            }
        }
    }
    (Trace { events }, races)
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

/// Bytes of a plain access that took effect later, among atomics: the same thread says so before it does anything else.
fn moved_bytes(later: &[(u32, Entry)], thread: u32, place: u64) -> BTreeSet<u32> {
    later
        .iter()
        .filter(|(other, entry)| *other == thread && entry.kind != Kind::Race)
        .map(|(_, entry)| entry)
        .take_while(|entry| matches!(entry.kind, Kind::ReadAmong | Kind::WriteAmong))
        .flat_map(|entry| masked(entry, entry.address.wrapping_sub(place) as u32))
        .collect()
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
