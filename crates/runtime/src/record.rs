//! The recorder: what the program's threads do, written to a file as it happens (2015 paper, section 3: a log per thread, one access per
//! address and segment).
//!
//! Each thread appends to chunks of its own in a file that is mapped shared; nothing is copied or flushed, so whatever ends the program
//! leaves all complete entries. Synchronisation takes the next sequence number while its object is locked, so that the numbers are the
//! order in which it took effect; plain accesses take the present number, but in a replay the next. Which accesses come here is the business of the cells: in
//! each segment the first of each kind per granule. See `docs/decisions/0018` and `docs/trace-format.md`.
//!
//! Without room, and in signal handlers that come too thick, entries are lost; the file says from where on. Never the program.

mod chunks;
mod memory;

use crate::gate;
use crate::lanes::Kind as AccessKind;
use crate::log::What;
use crate::observe::{self, Access, Mode};
use crate::options;
use crate::thread::Thread;
use crate::trace::{Draft, Kind, MOST_BYTES, NOWHERE, State, encode};
use chunks::Room;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Relaxed, SeqCst},
    compiler_fence,
};

/// A cache line of its own.
#[repr(align(128))]
struct Counter(AtomicU64);

#[cfg_attr(feature = "program", unsafe(export_name = "__raddle_logging"))]
static ON: AtomicBool = AtomicBool::new(false);
/// The next sequence number.
static NEXT: Counter = Counter(AtomicU64::new(1));

/// Entries of signal handlers that interrupted the recorder, at most.
const PATIENT: usize = 8;

/// A thread's log. Zeroed memory is one without a chunk.
#[repr(C)]
pub struct Log {
    room: Room,
    state: State,
    busy: bool,
    waiting: usize,
    waiters: [Late; PATIENT],
}

/// An entry that has to wait.
#[derive(Clone, Copy)]
#[repr(C)]
struct Late {
    kind: (Kind, u8),
    sequence: u64,
    site: u32,
    address: u64,
    more: [u64; 4],
    count: usize,
}

/// Opens the file, if one was asked for.
pub fn start() {
    if !options::get().trace.is_empty() {
        ON.store(chunks::start(), Relaxed);
    }
}

/// The process ends in an orderly way.
pub fn ended(thread: Option<&mut Thread>) {
    if is_on() {
        chunks::ended(thread);
    }
}

/// In the child of a fork: the file stays the parent's.
pub fn forked(thread: &mut Thread) {
    if is_on() {
        chunks::forked(thread);
    }
}

#[inline(always)]
pub fn is_on() -> bool {
    ON.load(Relaxed)
}

/// The next sequence number. What it belongs to must be locked.
#[inline(always)]
pub fn sequence() -> u64 {
    NEXT.0.fetch_add(1, Relaxed)
}

/// The sequence number of what needs no order of its own.
#[inline(always)]
fn present() -> u64 {
    NEXT.0.load(Relaxed)
}

/// A plain access, or a walk.
pub fn access(thread: &mut Thread, access: &Access) {
    let Access { first, stride, count, size, kind, site } = *access;
    let kind = if kind == AccessKind::Write { Kind::Write } else { Kind::Read };
    // One thread at a time runs in a replay: the numbers are the order of the accesses, those that race too.
    let sequence = if observe::mode() == Mode::Replay { sequence() } else { present() };
    let address = first as u64;
    let mut draft = |code, more: &[u64]| {
        append(thread, &Draft { kind: (kind, code), sequence, site, address, more, text: &[] });
    };
    match (count, size) {
        (1, 1 | 2 | 4 | 8 | 16) => draft(size.trailing_zeros() as u8, &[]),
        (1, _) => draft(5, &[size as u64]),
        _ => draft(6, &[stride as i64 as u64, count as u64, size as u64]),
    }
}

/// What the log's seam says. The object concerned is locked.
#[cold]
pub fn event(thread: &mut Thread, sequence: u64, what: What, address: usize, detail: u64, site: u32) {
    let (kind, has_detail) = coded(what);
    // Interposed functions do not name a site: it is that of the call that the program makes.
    let site = [site, thread.call_site()].into_iter().find(|site| *site != 0).unwrap_or(NOWHERE);
    let more = [detail];
    let more = &more[..usize::from(has_detail)];
    append(thread, &Draft { kind, sequence, site, address: address as u64, more, text: &[] });
}

/// The calling thread begins, or goes on in the child of a fork.
pub fn begins(thread: &mut Thread, forked: bool) {
    if is_on() {
        // The C library allocates memory for the answer.
        thread.busy += 1;
        let more = memory::of_thread(thread.id == 0);
        thread.busy -= 1;
        let kind = (Kind::Begin, u8::from(forked));
        append(
            thread,
            &Draft { kind, sequence: sequence(), site: NOWHERE, address: 0, more: &more, text: &[] },
        );
    }
}

/// An instrumented library was loaded.
pub fn library(thread: &mut Thread, path: &str, base: u32) {
    if is_on() {
        with_text(thread, Kind::Library, 0, &[u64::from(base)], path.as_bytes());
        memory::each_module(|module| modules(thread, module));
    }
}

/// All programs and libraries in memory.
pub fn all_modules(thread: &mut Thread) {
    if is_on() {
        memory::each_module(|module| modules(thread, module));
    }
}

fn modules(thread: &mut Thread, module: &memory::Module) {
    with_text(thread, Kind::Module, module.base, &[module.start, module.bytes], module.path);
}

#[inline(always)]
fn append(thread: &mut Thread, draft: &Draft<'_>) {
    let id = thread.id;
    let log = &mut thread.log;
    if log.is_busy() {
        return log.postpone(draft);
    }
    log.set_busy(true);
    if log.has_room(id, MOST_BYTES + draft.text.len(), draft.sequence) {
        let length = encode(&mut log.state, log.room.rest(), draft);
        log.room.commit(length);
    }
    log.set_busy(false);
    if log.waiting > 0 {
        resume(thread);
    }
}

/// Rare entries with a text in them.
#[cold]
fn with_text(thread: &mut Thread, kind: Kind, address: u64, more: &[u64], text: &[u8]) {
    const LONGEST: usize = 2048;
    let text = &text[..text.len().min(LONGEST)];
    append(thread, &Draft { kind: (kind, 0), sequence: sequence(), site: NOWHERE, address, more, text });
}

/// What signal handlers had to say meanwhile.
#[cold]
fn resume(thread: &mut Thread) {
    let (waiting, waiters) = (std::mem::take(&mut thread.log.waiting), thread.log.waiters);
    for late in &waiters[..waiting.min(PATIENT)] {
        let Late { kind, sequence, site, address, .. } = *late;
        append(thread, &Draft { kind, sequence, site, address, more: &late.more[..late.count], text: &[] });
    }
    if waiting > PATIENT {
        with_text(thread, Kind::Gap, 0, &[], b"what signal handlers did that interrupted the recorder");
    }
}

impl Log {
    #[inline(always)]
    fn is_busy(&self) -> bool {
        unsafe { (&raw const self.busy).read_volatile() }
    }

    #[inline(always)]
    fn set_busy(&mut self, busy: bool) {
        compiler_fence(SeqCst);
        unsafe { (&raw mut self.busy).write_volatile(busy) };
        compiler_fence(SeqCst);
    }

    #[inline(always)]
    fn has_room(&mut self, thread: u32, bytes: usize, sequence: u64) -> bool {
        self.room.has(bytes) || self.renew(thread, bytes, sequence)
    }

    /// Takes long, so that many signals might come.
    #[cold]
    fn renew(&mut self, thread: u32, bytes: usize, sequence: u64) -> bool {
        self.state = State::NEW;
        gate::undisturbed(|| self.room.renew(thread, bytes, sequence))
    }

    #[cold]
    fn postpone(&mut self, draft: &Draft<'_>) {
        let Draft { kind, sequence, site, address, more, .. } = *draft;
        if let Some(late) = self.waiters.get_mut(self.waiting) {
            let mut kept = [0; 4];
            kept[..more.len()].copy_from_slice(more);
            *late = Late { kind, sequence, site, address, more: kept, count: more.len() };
        }
        self.waiting += 1;
    }
}

/// Kind and code, and whether the detail is part of the entry.
fn coded(what: What) -> ((Kind, u8), bool) {
    let plain = |kind| ((kind, 0), false);
    let detailed = |kind| ((kind, 0), true);
    match what {
        What::Create => detailed(Kind::Create),
        What::Join => detailed(Kind::Join),
        What::Detach => detailed(Kind::Detach),
        What::End => plain(Kind::End),
        What::Acquire => plain(Kind::Acquire),
        What::AcquireShared => ((Kind::Acquire, 1), false),
        What::AcquireFailed => plain(Kind::AcquireFailed),
        What::Release => plain(Kind::Release),
        What::ReleaseShared => ((Kind::Release, 1), false),
        What::WaitBegin => detailed(Kind::WaitBegin),
        What::WaitEnd(why) => ((Kind::WaitEnd, why as u8), false),
        What::Signal => plain(Kind::Signal),
        What::Broadcast => plain(Kind::Broadcast),
        What::Arrive => detailed(Kind::Arrive),
        What::Depart => detailed(Kind::Depart),
        What::Post => plain(Kind::Post),
        What::Wait => plain(Kind::Wait),
        What::OnceBegin => plain(Kind::OnceBegin),
        What::OnceEnd => plain(Kind::OnceEnd),
        What::OncePass => plain(Kind::OncePass),
        What::Init => detailed(Kind::Init),
        What::Destroy => plain(Kind::Destroy),
        What::Alloc => detailed(Kind::Alloc),
        What::Free => plain(Kind::Free),
        What::Map => detailed(Kind::Map),
        What::Unmap => detailed(Kind::Unmap),
        What::LoopBegin => detailed(Kind::LoopBegin),
        What::LoopEnd => plain(Kind::LoopEnd),
        What::Exit => plain(Kind::Exit),
        What::Atomic { operation, order } => {
            let kind = match operation {
                crate::atomics::Operation::Load => Kind::Load,
                crate::atomics::Operation::Store => Kind::Store,
                _ => Kind::Modify,
            };
            ((kind, order.0.min(5) as u8), true)
        }
        What::Fence { order } => ((Kind::Fence, order.0.min(5) as u8), false),
        What::PlainAgain { kind: AccessKind::Read } => detailed(Kind::ReadAmong),
        What::PlainAgain { kind: AccessKind::Write } => detailed(Kind::WriteAmong),
        What::Race => detailed(Kind::Race),
    }
}
