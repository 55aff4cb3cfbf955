//! The one table of event kinds: word in text, tag in bytes, and fields as numbers.
//!
//! Both codecs turn an event into a tag and a short list of numbers and back; only how these are written differs.

use crate::{AccessKind, Addr, AtomicOp, EventKind, Loc, LockMode, ObjectId, ThreadId, WakeReason};
use raddle_base::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};

/// (word, number of fields); the index is the tag. Never reorder: tags are in files.
pub(super) const KINDS: [(&str, usize); 30] = [
    ("begin", 0),
    ("end", 0),
    ("create", 1),
    ("join", 1),
    ("detach", 1),
    ("read", 3),
    ("write", 3),
    ("atomic", 4),
    ("fence", 1),
    ("acquire", 3),
    ("release", 3),
    ("acquire-failed", 2),
    ("wait-begin", 2),
    ("wait-end", 3),
    ("signal", 2),
    ("signal-wakes", 3),
    ("broadcast", 2),
    ("barrier-arrive", 3),
    ("barrier-leave", 3),
    ("sem-post", 2),
    ("sem-wait", 2),
    ("once-begin", 2),
    ("once-end", 2),
    ("once-pass", 2),
    ("sync-init", 2),
    ("sync-destroy", 2),
    ("alloc", 1),
    ("free", 1),
    ("branch-begin", 1),
    ("branch-end", 0),
];
pub(super) const CHOOSE: usize = KINDS.len();
pub(super) const EXIT: usize = KINDS.len() + 1;

pub(super) fn word(tag: usize) -> &'static str {
    match tag {
        CHOOSE => "choose",
        EXIT => "exit",
        _ => KINDS[tag].0,
    }
}

pub(super) fn tag_of_word(text: &str) -> Option<usize> {
    (0..=EXIT).find(|tag| word(*tag) == text)
}

pub(super) fn field_count(tag: usize) -> Option<usize> {
    match tag {
        CHOOSE => Some(1),
        EXIT => Some(0),
        _ => KINDS.get(tag).map(|(_, fields)| *fields),
    }
}

pub(super) fn encode(kind: EventKind) -> (usize, Vec<u64>) {
    let addr = |a: Addr| vec![u64::from(a.object.0), u64::from(a.offset)];
    let with = |a: Addr, last: u64| vec![u64::from(a.object.0), u64::from(a.offset), last];
    let loc = |l: Loc| vec![u64::from(l.object.0), u64::from(l.offset), u64::from(l.len)];
    let id = |id: u32| vec![u64::from(id)];
    match kind {
        EventKind::Begin => (0, vec![]),
        EventKind::End => (1, vec![]),
        EventKind::Create { child } => (2, id(child.0)),
        EventKind::Join { child } => (3, id(child.0)),
        EventKind::Detach { child } => (4, id(child.0)),
        EventKind::Access { loc: l, kind: AccessKind::Read } => (5, loc(l)),
        EventKind::Access { loc: l, kind: AccessKind::Write } => (6, loc(l)),
        EventKind::Atomic { loc: l, op } => {
            let mut fields = loc(l);
            fields.push(position(&ATOMIC_OPS, &op));
            (7, fields)
        }
        EventKind::Fence { order } => (8, vec![position(&FENCES, &order)]),
        EventKind::Acquire { lock, mode } => (9, with(lock, position(&MODES, &mode))),
        EventKind::Release { lock, mode } => (10, with(lock, position(&MODES, &mode))),
        EventKind::AcquireFailed { lock } => (11, addr(lock)),
        EventKind::WaitBegin { cond } => (12, addr(cond)),
        EventKind::WaitEnd { cond, reason } => (13, with(cond, position(&REASONS, &reason))),
        EventKind::Signal { cond, woken: None } => (14, addr(cond)),
        EventKind::Signal { cond, woken: Some(thread) } => (15, with(cond, u64::from(thread.0))),
        EventKind::Broadcast { cond } => (16, addr(cond)),
        EventKind::BarrierArrive { barrier, round } => (17, with(barrier, u64::from(round))),
        EventKind::BarrierLeave { barrier, round } => (18, with(barrier, u64::from(round))),
        EventKind::SemPost { sem } => (19, addr(sem)),
        EventKind::SemWait { sem } => (20, addr(sem)),
        EventKind::OnceBegin { once } => (21, addr(once)),
        EventKind::OnceEnd { once } => (22, addr(once)),
        EventKind::OncePass { once } => (23, addr(once)),
        EventKind::SyncInit { object } => (24, addr(object)),
        EventKind::SyncDestroy { object } => (25, addr(object)),
        EventKind::Alloc { object } => (26, id(object.0)),
        EventKind::Free { object } => (27, id(object.0)),
        EventKind::BranchBegin { taken } => (28, id(taken)),
        EventKind::BranchEnd => (29, vec![]),
        EventKind::Choose { value } => (CHOOSE, vec![value]),
        EventKind::Exit => (EXIT, vec![]),
    }
}

/// `None` when a field is out of range or their number is wrong.
pub(super) fn decode(tag: usize, fields: &[u64]) -> Option<EventKind> {
    if field_count(tag)? != fields.len() {
        return None;
    }
    let at = |i: usize| fields.get(i).and_then(|v| u32::try_from(*v).ok());
    let thread = |i: usize| at(i).map(ThreadId);
    let addr = || Some(Addr { object: ObjectId(at(0)?), offset: at(1)? });
    let loc = || Some(Loc { object: ObjectId(at(0)?), offset: at(1)?, len: at(2)? });
    Some(match tag {
        0 => EventKind::Begin,
        1 => EventKind::End,
        2 => EventKind::Create { child: thread(0)? },
        3 => EventKind::Join { child: thread(0)? },
        4 => EventKind::Detach { child: thread(0)? },
        5 => EventKind::Access { loc: loc()?, kind: AccessKind::Read },
        6 => EventKind::Access { loc: loc()?, kind: AccessKind::Write },
        7 => EventKind::Atomic { loc: loc()?, op: element(&ATOMIC_OPS, fields[3])? },
        8 => EventKind::Fence { order: element(&FENCES, fields[0])? },
        9 => EventKind::Acquire { lock: addr()?, mode: element(&MODES, fields[2])? },
        10 => EventKind::Release { lock: addr()?, mode: element(&MODES, fields[2])? },
        11 => EventKind::AcquireFailed { lock: addr()? },
        12 => EventKind::WaitBegin { cond: addr()? },
        13 => EventKind::WaitEnd { cond: addr()?, reason: element(&REASONS, fields[2])? },
        14 => EventKind::Signal { cond: addr()?, woken: None },
        15 => EventKind::Signal { cond: addr()?, woken: Some(thread(2)?) },
        16 => EventKind::Broadcast { cond: addr()? },
        17 => EventKind::BarrierArrive { barrier: addr()?, round: at(2)? },
        18 => EventKind::BarrierLeave { barrier: addr()?, round: at(2)? },
        19 => EventKind::SemPost { sem: addr()? },
        20 => EventKind::SemWait { sem: addr()? },
        21 => EventKind::OnceBegin { once: addr()? },
        22 => EventKind::OnceEnd { once: addr()? },
        23 => EventKind::OncePass { once: addr()? },
        24 => EventKind::SyncInit { object: addr()? },
        25 => EventKind::SyncDestroy { object: addr()? },
        26 => EventKind::Alloc { object: ObjectId(at(0)?) },
        27 => EventKind::Free { object: ObjectId(at(0)?) },
        28 => EventKind::BranchBegin { taken: at(0)? },
        29 => EventKind::BranchEnd,
        CHOOSE => EventKind::Choose { value: fields[0] },
        EXIT => EventKind::Exit,
        _ => return None,
    })
}

/// Names of the values of a field that is an enum; `None` for plain numbers.
pub(super) fn field_words(tag: usize, field: usize) -> Option<&'static [&'static str]> {
    match (tag, field) {
        (7, 3) => Some(&ATOMIC_WORDS),
        (8, 0) => Some(&["acquire", "release", "acq_rel", "seq_cst"]),
        (9 | 10, 2) => Some(&["exclusive", "shared"]),
        (13, 2) => Some(&["signalled", "spurious", "timed-out"]),
        _ => None,
    }
}

const ATOMIC_OPS: [AtomicOp; 11] = [
    AtomicOp::Load(LoadOrder::Relaxed),
    AtomicOp::Load(LoadOrder::Acquire),
    AtomicOp::Load(LoadOrder::SeqCst),
    AtomicOp::Store(StoreOrder::Relaxed),
    AtomicOp::Store(StoreOrder::Release),
    AtomicOp::Store(StoreOrder::SeqCst),
    AtomicOp::Rmw(RmwOrder::Relaxed),
    AtomicOp::Rmw(RmwOrder::Acquire),
    AtomicOp::Rmw(RmwOrder::Release),
    AtomicOp::Rmw(RmwOrder::AcqRel),
    AtomicOp::Rmw(RmwOrder::SeqCst),
];
const ATOMIC_WORDS: [&str; 11] = [
    "load-relaxed",
    "load-acquire",
    "load-seq_cst",
    "store-relaxed",
    "store-release",
    "store-seq_cst",
    "rmw-relaxed",
    "rmw-acquire",
    "rmw-release",
    "rmw-acq_rel",
    "rmw-seq_cst",
];
const FENCES: [FenceOrder; 4] =
    [FenceOrder::Acquire, FenceOrder::Release, FenceOrder::AcqRel, FenceOrder::SeqCst];
const MODES: [LockMode; 2] = [LockMode::Exclusive, LockMode::Shared];
const REASONS: [WakeReason; 3] = [WakeReason::Signalled, WakeReason::Spurious, WakeReason::TimedOut];

fn position<T: PartialEq>(table: &[T], value: &T) -> u64 {
    table.iter().position(|item| item == value).expect("the table holds every value") as u64
}

fn element<T: Copy>(table: &[T], index: u64) -> Option<T> {
    table.get(usize::try_from(index).ok()?).copied()
}
