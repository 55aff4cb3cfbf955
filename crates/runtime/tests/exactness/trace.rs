//! What the runtime logged of one script, as a trace for the closure, and the bytes that the detector found to race.

use raddle_base::{FenceOrder, LoadOrder, RmwOrder, SiteId, StoreOrder};
use raddle_event::{AccessKind, Addr, AtomicOp, Event, EventKind, Loc, LockMode, ObjectId, ThreadId, Trace};
use std::collections::{BTreeMap, BTreeSet};

pub const ENTRY_BYTES: usize = 32;
const PLAIN_READ: u32 = 100;
const PLAIN_WRITE: u32 = 101;
const PLAIN_AGAIN: u32 = 16;
const RACE: u32 = 17;
const CREATE: u32 = 1;

#[derive(Clone, Copy)]
struct Entry {
    thread: u32,
    what: u32,
    address: u64,
    detail: u64,
}

/// The trace, and the offsets of the racy bytes.
pub fn read(bytes: &[u8], place: u64) -> (Trace, BTreeSet<u32>) {
    let entries: Vec<Entry> = bytes.chunks_exact(ENTRY_BYTES).map(Entry::parse).collect();
    let threads = numbers(&entries);
    let mut races = BTreeSet::new();
    let mut events = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let thread = ThreadId(threads[&entry.thread]);
        let offset = entry.address.wrapping_sub(place) as u32;
        let mut emit = |kind| events.push(Event { thread, site: SiteId(0), kind });
        match entry.what & 255 {
            PLAIN_READ | PLAIN_WRITE => {
                let kind = if entry.what == PLAIN_WRITE { AccessKind::Write } else { AccessKind::Read };
                let moved = moved_bytes(&entries[at + 1..], entry, place);
                let all = offset..offset + entry.detail as u32;
                for loc in runs(all.filter(|byte| !moved.contains(byte))) {
                    emit(EventKind::Access { loc, kind });
                }
            }
            PLAIN_AGAIN => {
                let kind = if entry.what >> 8 & 255 == 1 { AccessKind::Write } else { AccessKind::Read };
                let bytes = (0..4).filter(|byte| entry.detail & 1 << byte != 0).map(|byte| offset + byte);
                for loc in runs(bytes) {
                    emit(EventKind::Access { loc, kind });
                }
            }
            RACE => {
                races.extend((0..8).filter(|byte| entry.detail & 1 << byte != 0).map(|byte| offset + byte))
            }
            _ => emit(entry.kind(offset, &threads)),
        }
    }
    (Trace { events }, races)
}

/// Bytes of a plain access that took effect later, among atomics: the same thread says so before it does anything else.
fn moved_bytes(later: &[Entry], access: &Entry, place: u64) -> BTreeSet<u32> {
    later
        .iter()
        .filter(|entry| entry.thread == access.thread && entry.what != RACE)
        .take_while(|entry| entry.what & 255 == PLAIN_AGAIN)
        .flat_map(|entry| {
            let offset = entry.address.wrapping_sub(place) as u32;
            (0..4).filter(|byte| entry.detail & 1 << byte != 0).map(move |byte| offset + byte)
        })
        .collect()
}

/// Threads in order of creation; the first is the one that nobody created.
fn numbers(entries: &[Entry]) -> BTreeMap<u32, u32> {
    let created = entries.iter().filter(|entry| entry.what == CREATE).map(|entry| entry.detail as u32);
    let all: Vec<u32> = std::iter::once(0).chain(created).collect();
    all.into_iter().enumerate().map(|(number, id)| (id, number as u32)).collect()
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

impl Entry {
    fn parse(bytes: &[u8]) -> Self {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!(word(28), 1, "an entry was not completed");
        Self { thread: word(0), what: word(4), address: long(8), detail: long(16) }
    }

    fn kind(&self, offset: u32, threads: &BTreeMap<u32, u32>) -> EventKind {
        let object = Addr { object: ObjectId(1), offset };
        let child = || ThreadId(threads[&(self.detail as u32)]);
        let (exclusive, shared) = (LockMode::Exclusive, LockMode::Shared);
        match self.what & 255 {
            CREATE => EventKind::Create { child: child() },
            2 => EventKind::Join { child: child() },
            3 => EventKind::Acquire { lock: object, mode: exclusive },
            4 => EventKind::Acquire { lock: object, mode: shared },
            5 => EventKind::Release { lock: object, mode: exclusive },
            6 => EventKind::Release { lock: object, mode: shared },
            7 => EventKind::BarrierArrive { barrier: object, round: self.detail as u32 },
            8 => EventKind::BarrierLeave { barrier: object, round: self.detail as u32 },
            9 => EventKind::SemPost { sem: object },
            10 => EventKind::SemWait { sem: object },
            11 => EventKind::OnceEnd { once: object },
            12 => EventKind::OncePass { once: object },
            13 => EventKind::SyncInit { object },
            14 => EventKind::Atomic { loc: memory(offset, self.detail as u32), op: self.operation() },
            15 => EventKind::Fence {
                order: match self.what >> 16 {
                    2 => FenceOrder::Acquire,
                    3 => FenceOrder::Release,
                    4 => FenceOrder::AcqRel,
                    _ => FenceOrder::SeqCst,
                },
            },
            other => panic!("entry of unknown kind {other}"),
        }
    }

    fn operation(&self) -> AtomicOp {
        match (self.what >> 8 & 255, self.what >> 16) {
            (0, 0) => AtomicOp::Load(LoadOrder::Relaxed),
            (0, 2) => AtomicOp::Load(LoadOrder::Acquire),
            (0, _) => AtomicOp::Load(LoadOrder::SeqCst),
            (1, 0) => AtomicOp::Store(StoreOrder::Relaxed),
            (1, 3) => AtomicOp::Store(StoreOrder::Release),
            (1, _) => AtomicOp::Store(StoreOrder::SeqCst),
            (_, 0) => AtomicOp::Rmw(RmwOrder::Relaxed),
            (_, 2) => AtomicOp::Rmw(RmwOrder::Acquire),
            (_, 3) => AtomicOp::Rmw(RmwOrder::Release),
            (_, 4) => AtomicOp::Rmw(RmwOrder::AcqRel),
            (_, _) => AtomicOp::Rmw(RmwOrder::SeqCst),
        }
    }
}
