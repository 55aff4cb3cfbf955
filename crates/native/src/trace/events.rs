//! Entries into events: addresses become objects, walks become ranges, what is said beside the events becomes lists.

use super::address_space::AddressSpace;
use super::logs::{Logs, Step};
use super::{Gap, Module, Object, ObjectKind, Program, Recorded, TraceError, WaitLoop};
use raddle_base::{FenceOrder, LoadOrder, RmwOrder, SiteId, StoreOrder};
use raddle_event::{
    AccessKind, AtomicOp, Event, EventKind, Loc, LockMode, ObjectId, ThreadId, Trace, WakeReason,
};
use raddle_runtime::trace::{Entry, Kind};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(super) fn read(path: &Path, limit: usize, until: Option<Instant>) -> Result<Recorded, TraceError> {
    let mut logs = Logs::open(path)?;
    let program = program(&logs)?;
    let control = logs.header.control;
    let (limit, objects) = plausible(logs.bytes, limit);
    let mut reading = Reading::new(limit, objects);
    let mut steps = 0_u64;
    while let Some(step) = logs.step()? {
        let plain = matches!(step.entry.kind, Kind::Read | Kind::Write);
        if control.lost != 0 && (step.entry.sequence, !plain) >= (control.lost, true) {
            break;
        }
        let (thread, sequence, kind) = (step.thread, step.entry.sequence, step.entry.kind);
        if !reading.take(step) {
            let what = format!("entry {sequence} of thread {thread} ({kind:?}) is impossible");
            return Err(logs.error(what));
        }
        if reading.events.len() > limit || reading.space.is_full() {
            reading.events.truncate(limit);
            reading.races.retain(|(at, _)| *at < limit);
            reading.gaps.push(Gap::Limit);
            break;
        }
        steps += 1;
        if steps.is_multiple_of(PERIOD) && until.is_some_and(|until| Instant::now() >= until) {
            reading.gaps.push(Gap::Time);
            break;
        }
    }
    reading.settle(|_| true);
    reading.events.truncate(limit);
    let mut gaps = logs.gaps();
    gaps.append(&mut reading.gaps);
    if control.lost != 0 {
        gaps.push(Gap::NoRoom);
    }
    if reading.events.is_empty() {
        gaps.push(Gap::Nothing);
    }
    Ok(Recorded {
        program,
        process: control.process,
        trace: Trace { events: reading.events },
        objects: reading.space.objects,
        modules: reading.modules,
        libraries: reading.libraries,
        wait_loops: reading.wait_loops,
        initial: reading.initial,
        races: reading.races,
        gaps,
        ended: control.ended,
        bytes: logs.bytes,
    })
}

/// Steps from one look at the time to the next.
const PERIOD: u64 = 4096;

pub(super) fn program(logs: &Logs) -> Result<Program, TraceError> {
    serde_json::from_str(&logs.header.text)
        .map_err(|error| logs.error(format!("the header is damaged: {error}")))
}

/// How many events and objects a file of this size may have. An entry may stand for many: a damaged number must not cost gigabytes. Traces
/// of real programs have less than an event for each byte; what is cut off is a gap.
fn plausible(bytes: u64, limit: usize) -> (usize, usize) {
    const EVENTS: (usize, usize) = (1_000_000, 16);
    const OBJECTS: (usize, usize) = (100_000, 1);
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    let most =
        |(least, for_each): (usize, usize)| bytes.saturating_mul(for_each).saturating_add(least).min(limit);
    (most(EVENTS), most(OBJECTS))
}

/// More pieces than an access of a few bytes can have.
const FEW: usize = 16;

struct Reading {
    limit: usize,
    events: Vec<Event>,
    space: AddressSpace,
    modules: Vec<Module>,
    libraries: Vec<(u32, PathBuf)>,
    wait_loops: Vec<WaitLoop>,
    initial: BTreeMap<usize, u32>,
    /// Loops that each thread is in, by index, outermost first.
    open: BTreeMap<ThreadId, Vec<usize>>,
    races: Vec<(usize, Loc)>,
    gaps: Vec<Gap>,
    /// Bytes with atomics since the last plain write among them.
    atomic: BTreeSet<u64>,
    /// Plain accesses that were logged where their bytes have atomics. An entry stands before its access. Where that has no place among
    /// the atomics, it came when there were none: after a plain write that ended them, before the next thing that its thread did.
    late: Vec<Late>,
}

/// A plain access to one byte.
#[derive(Clone, Copy)]
struct Late {
    thread: ThreadId,
    site: SiteId,
    kind: AccessKind,
    byte: u64,
}

impl Reading {
    fn new(limit: usize, objects: usize) -> Self {
        Self {
            limit,
            events: Vec::new(),
            space: AddressSpace::new(objects),
            modules: Vec::new(),
            libraries: Vec::new(),
            wait_loops: Vec::new(),
            initial: BTreeMap::new(),
            open: BTreeMap::new(),
            races: Vec::new(),
            gaps: Vec::new(),
            atomic: BTreeSet::new(),
            late: Vec::new(),
        }
    }

    /// False: no run can have this entry.
    fn take(&mut self, step: Step) -> bool {
        let Step { thread, entry, moved } = step;
        let thread = ThreadId(thread);
        let site = SiteId(entry.site);
        match entry.kind {
            Kind::ReadAmong | Kind::WriteAmong => {}
            Kind::Race => {
                let granule = entry.address..entry.address.saturating_add(8);
                self.settle(|late| late.thread == thread && granule.contains(&late.byte));
            }
            _ => self.settle(|late| late.thread == thread),
        }
        match entry.kind {
            Kind::Read | Kind::Write => self.plain(thread, &entry, &moved),
            Kind::ReadAmong | Kind::WriteAmong => {
                let kind = if entry.kind == Kind::WriteAmong { AccessKind::Write } else { AccessKind::Read };
                let possible = self.masked(&entry, |reading, loc| {
                    reading.emit(thread, site, EventKind::Access { loc, kind });
                });
                if kind == AccessKind::Write {
                    let ended: BTreeSet<u64> = bytes_of(entry.address, entry.more[0]).collect();
                    ended.iter().for_each(|byte| _ = self.atomic.remove(byte));
                    self.settle(|late| ended.contains(&late.byte));
                }
                possible
            }
            Kind::Race => self.masked(&entry, |reading, loc| {
                let last = reading.events.len().saturating_sub(1);
                reading.races.push((last, loc));
            }),
            Kind::Load | Kind::Store | Kind::Modify => self.atomic(thread, &entry),
            Kind::Begin => {
                let [stack, stack_bytes, local, local_bytes] = entry.more;
                let object = |kind, address, bytes| Object { kind, address, bytes, site, thread };
                self.emit(thread, site, EventKind::Begin);
                (stack_bytes == 0 || self.space.add(object(ObjectKind::Stack, stack, stack_bytes)))
                    && (local_bytes == 0
                        || self.space.add(object(ObjectKind::ThreadLocal, local, local_bytes)))
            }
            Kind::Alloc => {
                let (address, bytes) = (entry.address, entry.more[0]);
                self.is_new(address, bytes);
                let first = self.space.objects.len();
                let added = self.space.add(Object { kind: ObjectKind::Heap, address, bytes, site, thread });
                for object in first..self.space.objects.len() {
                    self.emit(thread, site, EventKind::Alloc { object: ObjectId(object as u32) });
                }
                added
            }
            Kind::Free => {
                for object in self.space.block(entry.address).unwrap_or_default() {
                    self.emit(thread, site, EventKind::Free { object });
                }
                true
            }
            Kind::Map => {
                let (address, bytes) = (entry.address, entry.more[0]);
                self.is_new(address, bytes);
                self.space.add(Object { kind: ObjectKind::Mapped, address, bytes, site, thread })
            }
            Kind::Unmap => match entry.address.checked_add(entry.more[0]) {
                Some(end) => {
                    self.space.remove(entry.address, end);
                    true
                }
                None => false,
            },
            Kind::Module => self.module(thread, &entry),
            Kind::Library => {
                self.libraries.push((entry.more[0] as u32, text(&entry).into()));
                true
            }
            Kind::Gap => {
                self.gaps.push(Gap::Told(text(&entry)));
                true
            }
            Kind::LoopBegin => {
                let known = |address: u64| (address != 0).then_some(address);
                let cond = known(entry.address).map(|address| self.space.address(address));
                let mutex = known(entry.more[0]).map(|address| self.space.address(address));
                let begin = self.events.len();
                self.open.entry(thread).or_default().push(self.wait_loops.len());
                self.wait_loops.push(WaitLoop { thread, site, begin, end: None, cond, mutex, waits: 0 });
                true
            }
            Kind::LoopEnd => {
                // A thread may have left inner loops by a jump.
                let open = self.open.entry(thread).or_default();
                if let Some(at) = open.iter().rposition(|index| self.wait_loops[*index].site == site) {
                    self.wait_loops[open[at]].end = Some(self.events.len());
                    open.truncate(at);
                }
                true
            }
            _ => match self.synchronisation(&entry) {
                Some(kind) => {
                    self.note_wait(thread, &entry, kind);
                    if entry.kind == Kind::Init
                        && let Ok(value) = u32::try_from(entry.more[0])
                    {
                        self.initial.insert(self.events.len(), value);
                    }
                    self.emit(thread, site, kind);
                    true
                }
                None => false,
            },
        }
    }

    fn emit(&mut self, thread: ThreadId, site: SiteId, kind: EventKind) {
        self.events.push(Event { thread, site, kind });
    }

    fn is_full(&self) -> bool {
        self.events.len() > self.limit || self.space.is_full()
    }

    fn plain(&mut self, thread: ThreadId, entry: &Entry, moved: &[(u64, u64)]) -> bool {
        const WALK: u8 = 6;
        let kind = if entry.kind == Kind::Write { AccessKind::Write } else { AccessKind::Read };
        let site = SiteId(entry.site);
        let first = entry.address;
        if entry.code != WALK {
            let Some(end) = first.checked_add(entry.size()) else { return false };
            self.access(thread, site, kind, (first, end), moved);
            return true;
        }
        let (stride, count, size) = (entry.more[0] as i64, entry.more[1], entry.more[2]);
        let way = i64::try_from(count).ok().and_then(|count| stride.checked_mul(count.saturating_sub(1)));
        let last = way.and_then(|way| first.checked_add_signed(way));
        let Some(last) = last.filter(|last| last.max(&first).checked_add(size).is_some()) else {
            return false;
        };
        if stride.unsigned_abs() <= size {
            self.access(thread, site, kind, (first.min(last), first.max(last) + size), moved);
            return true;
        }
        let mut at = first;
        for _ in 0..count {
            self.access(thread, site, kind, (at, at + size), moved);
            at = at.wrapping_add_signed(stride);
            if self.is_full() {
                break;
            }
        }
        true
    }

    /// The bytes from the first to before the second address, without those that moved.
    fn access(
        &mut self,
        thread: ThreadId,
        site: SiteId,
        kind: AccessKind,
        (start, end): (u64, u64),
        moved: &[(u64, u64)],
    ) {
        let mut holes: BTreeSet<u64> = moved
            .iter()
            .flat_map(|(granule, mask)| bytes_of(*granule, *mask))
            .filter(|byte| (start..end).contains(byte))
            .collect();
        for byte in self.atomic.range(start..end) {
            if holes.insert(*byte) {
                self.late.push(Late { thread, site, kind, byte: *byte });
            }
        }
        let mut at = start;
        for stop in holes.into_iter().chain([end]) {
            if at < stop {
                let most = (self.limit + 1).saturating_sub(self.events.len());
                let events = &mut self.events;
                self.space.ranges(at, stop, most, |loc| {
                    events.push(Event { thread, site, kind: EventKind::Access { loc, kind } });
                });
            }
            at = stop + 1;
        }
    }

    /// Nothing was done to this memory.
    fn is_new(&mut self, address: u64, bytes: u64) {
        let old: Vec<u64> = self.atomic.range(address..address.saturating_add(bytes)).copied().collect();
        old.iter().for_each(|byte| _ = self.atomic.remove(byte));
    }

    /// Makes events of accesses that wait.
    fn settle(&mut self, which: impl Fn(&Late) -> bool) {
        if self.late.is_empty() {
            return;
        }
        for Late { thread, site, kind, byte } in self.late.extract_if(.., |late| which(late)) {
            let events = &mut self.events;
            self.space.ranges(byte, byte + 1, 1, |loc| {
                events.push(Event { thread, site, kind: EventKind::Access { loc, kind } });
            });
        }
    }

    /// Neighbouring bytes of a granule together.
    fn masked(&mut self, entry: &Entry, mut visit: impl FnMut(&mut Self, Loc)) -> bool {
        if entry.address.checked_add(8).is_none() {
            return false;
        }
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for byte in bytes_of(entry.address, entry.more[0]) {
            match runs.last_mut() {
                Some(last) if last.1 == byte => last.1 += 1,
                _ => runs.push((byte, byte + 1)),
            }
        }
        for (start, end) in runs {
            let mut found = Vec::new();
            self.space.ranges(start, end, FEW, |loc| found.push(loc));
            found.into_iter().for_each(|loc| visit(self, loc));
        }
        true
    }

    fn atomic(&mut self, thread: ThreadId, entry: &Entry) -> bool {
        let bytes = entry.more[0];
        let (Some(op), Some(end)) = (operation(entry), entry.address.checked_add(bytes)) else {
            return false;
        };
        if !(1..=16).contains(&bytes) {
            return false;
        }
        // One access is one event: it lies in one object.
        let mut whole = None;
        self.space.ranges(entry.address, end, FEW, |loc| whole = whole.or(Some(loc)));
        self.atomic.extend(entry.address..end);
        if let Some(loc) = whole {
            self.emit(thread, SiteId(entry.site), EventKind::Atomic { loc, op });
        }
        true
    }

    fn module(&mut self, thread: ThreadId, entry: &Entry) -> bool {
        let [start, bytes, ..] = entry.more;
        let module = Module { path: text(entry).into(), base: entry.address, start, bytes };
        if self.modules.contains(&module) {
            return true;
        }
        let kind = ObjectKind::Static(self.modules.len());
        self.modules.push(module);
        self.space.add(Object { kind, address: start, bytes, site: SiteId(0), thread })
    }

    fn synchronisation(&mut self, entry: &Entry) -> Option<EventKind> {
        let number = u32::try_from(entry.more[0]);
        let child = number.map(ThreadId).ok();
        let mode = if entry.code == 0 { LockMode::Exclusive } else { LockMode::Shared };
        let mut object = || self.space.address(entry.address);
        Some(match entry.kind {
            Kind::Acquire => EventKind::Acquire { lock: object(), mode },
            Kind::Release => EventKind::Release { lock: object(), mode },
            Kind::AcquireFailed => EventKind::AcquireFailed { lock: object() },
            Kind::WaitBegin => EventKind::WaitBegin { cond: object() },
            Kind::WaitEnd => {
                let reasons = [WakeReason::Signalled, WakeReason::TimedOut, WakeReason::Spurious];
                EventKind::WaitEnd { cond: object(), reason: *reasons.get(usize::from(entry.code))? }
            }
            Kind::Signal => EventKind::Signal { cond: object(), woken: None },
            Kind::Broadcast => EventKind::Broadcast { cond: object() },
            Kind::Arrive => EventKind::BarrierArrive { barrier: object(), round: number.ok()? },
            Kind::Depart => EventKind::BarrierLeave { barrier: object(), round: number.ok()? },
            Kind::Post => EventKind::SemPost { sem: object() },
            Kind::Wait => EventKind::SemWait { sem: object() },
            Kind::OnceBegin => EventKind::OnceBegin { once: object() },
            Kind::OnceEnd => EventKind::OnceEnd { once: object() },
            Kind::OncePass => EventKind::OncePass { once: object() },
            Kind::Init => EventKind::SyncInit { object: object() },
            Kind::Destroy => EventKind::SyncDestroy { object: object() },
            Kind::Create => EventKind::Create { child: child? },
            Kind::Join => EventKind::Join { child: child? },
            Kind::Detach => EventKind::Detach { child: child? },
            Kind::End => EventKind::End,
            Kind::Exit => EventKind::Exit,
            Kind::Fence => EventKind::Fence {
                order: match entry.code {
                    1 | 2 => FenceOrder::Acquire,
                    3 => FenceOrder::Release,
                    4 => FenceOrder::AcqRel,
                    5 => FenceOrder::SeqCst,
                    // A relaxed fence orders nothing, and instrumented code has none.
                    _ => return None,
                },
            },
            _ => return None,
        })
    }

    /// A wait tells what its loop waits for.
    fn note_wait(&mut self, thread: ThreadId, entry: &Entry, kind: EventKind) {
        let EventKind::WaitBegin { cond } = kind else { return };
        let mutex = self.space.address(entry.more[0]);
        let Some(&index) = self.open.get(&thread).and_then(|open| open.last()) else { return };
        let wait_loop = &mut self.wait_loops[index];
        wait_loop.cond.get_or_insert(cond);
        wait_loop.mutex.get_or_insert(mutex);
        wait_loop.waits += 1;
    }
}

fn bytes_of(granule: u64, mask: u64) -> impl Iterator<Item = u64> {
    (0..8).filter(move |byte| mask & 1 << byte != 0).map(move |byte| granule.saturating_add(byte))
}

fn operation(entry: &Entry) -> Option<AtomicOp> {
    // Consume is acquire.
    Some(match (entry.kind, entry.code) {
        (Kind::Load, 0) => AtomicOp::Load(LoadOrder::Relaxed),
        (Kind::Load, 1 | 2) => AtomicOp::Load(LoadOrder::Acquire),
        (Kind::Load, 5) => AtomicOp::Load(LoadOrder::SeqCst),
        (Kind::Store, 0) => AtomicOp::Store(StoreOrder::Relaxed),
        (Kind::Store, 3) => AtomicOp::Store(StoreOrder::Release),
        (Kind::Store, 5) => AtomicOp::Store(StoreOrder::SeqCst),
        (Kind::Modify, 0) => AtomicOp::Rmw(RmwOrder::Relaxed),
        (Kind::Modify, 1 | 2) => AtomicOp::Rmw(RmwOrder::Acquire),
        (Kind::Modify, 3) => AtomicOp::Rmw(RmwOrder::Release),
        (Kind::Modify, 4) => AtomicOp::Rmw(RmwOrder::AcqRel),
        (Kind::Modify, 5) => AtomicOp::Rmw(RmwOrder::SeqCst),
        _ => return None,
    })
}

fn text(entry: &Entry) -> String {
    String::from_utf8_lossy(&entry.text).into_owned()
}
