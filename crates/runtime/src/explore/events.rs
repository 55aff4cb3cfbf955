//! What happens in a step, written to the channel as it happens: accesses, atomics, fences, and what the model notes.

use super::channel::{self, Event, Problem};
use super::session::{self, MOST_SHARED, Session};
use crate::atomics::{Operation as Access3, Order};
use crate::control::{self, Happened, Kind, Note, Noted, Operation};
use crate::lanes;
use crate::observe::{Access, Atomic};
use crate::thread::{Mode, Thread};

/// Kinds of events, in the order of `raddle_event::EventKind` where it has them.
pub mod kind {
    pub const READ: u32 = 1;
    pub const WRITE: u32 = 2;
    /// `extra`: operation (0 load, 1 store, 2 read and write) and C11 order above.
    pub const ATOMIC: u32 = 3;
    /// `extra`: C11 order.
    pub const FENCE: u32 = 4;
    pub const BEGIN: u32 = 5;
    pub const END: u32 = 6;
    /// `extra`: the other thread.
    pub const CREATE: u32 = 7;
    pub const JOIN: u32 = 8;
    pub const DETACH: u32 = 9;
    /// `extra`: 0 exclusive, 1 shared.
    pub const ACQUIRE: u32 = 10;
    pub const RELEASE: u32 = 11;
    pub const ACQUIRE_FAILED: u32 = 12;
    pub const WAIT_BEGIN: u32 = 13;
    /// `extra`: the variant by which it ends.
    pub const WAIT_END: u32 = 14;
    /// `extra`: the thread that was woken plus 1, or 0.
    pub const SIGNAL: u32 = 15;
    pub const BROADCAST: u32 = 16;
    /// `extra`: the round.
    pub const BARRIER_ARRIVE: u32 = 17;
    pub const BARRIER_LEAVE: u32 = 18;
    pub const SEM_POST: u32 = 19;
    pub const SEM_WAIT: u32 = 20;
    pub const ONCE_BEGIN: u32 = 21;
    pub const ONCE_END: u32 = 22;
    pub const ONCE_PASS: u32 = 23;
    pub const SYNC_INIT: u32 = 24;
    pub const SYNC_DESTROY: u32 = 25;
    /// `length`: the value.
    pub const CHOOSE: u32 = 26;
    pub const EXIT: u32 = 27;
    /// A block of `length` bytes, which nobody may use from now on.
    pub const FREE: u32 = 28;
}

/// Accesses of one step after which other threads get a chance.
const LONG: u32 = 50_000;
/// Events before the last one that are looked through for an equal one.
const LOOKED_BACK: usize = 4;

/// A plain access or a walk, before it is made.
pub fn access(thread: &mut Thread, access: Access) {
    let Some(session) = session::get().filter(|session| session.running.is_some()) else { return };
    if session.is_visible(access.site) {
        let number = u64::from(access.kind == lanes::Kind::Write);
        let (object, second) = span(&access);
        let operation = Operation { object, second, number, ..Operation::new(Kind::Access, access.site) };
        control::stop(thread, operation);
    } else if session.accesses >= LONG {
        control::stop(thread, Operation::new(Kind::Yield, access.site));
    }
    session.accesses += 1;
    let what = if access.kind == lanes::Kind::Write { kind::WRITE } else { kind::READ };
    let Access { first, stride, count, size, site, .. } = access;
    if count == 1 || stride.unsigned_abs() <= size {
        let (start, length) = span(&access);
        session.plain(thread.id, what, start, length, site);
    } else {
        for at in 0..count {
            session.plain(thread.id, what, first.wrapping_add_signed(stride * at as isize), size, site);
        }
    }
}

/// First byte and number of bytes from there to the last.
fn span(access: &Access) -> (usize, usize) {
    let Access { first, stride, count, size, .. } = *access;
    let reach = stride.unsigned_abs() * (count - 1);
    let start = if stride < 0 { first - reach } else { first };
    (start, reach + size)
}

pub fn before_atomic(thread: &mut Thread, atomic: &Atomic) {
    if session::get().is_some_and(|session| session.running.is_some()) {
        let number = words(atomic, atomic.operation, atomic.order);
        let (object, second) = (atomic.address, atomic.bytes);
        let operation =
            Operation { object, second, number: number.into(), ..Operation::new(Kind::Atomic, atomic.site) };
        control::stop(thread, operation);
    }
}

/// A compare-exchange that failed was a load.
pub fn after_atomic(thread: &mut Thread, atomic: &Atomic, succeeded: bool) {
    let Some(session) = session::get().filter(|session| session.running.is_some()) else { return };
    let extra = match succeeded {
        true => words(atomic, atomic.operation, atomic.order),
        false => words(atomic, Access3::Load, atomic.failure),
    };
    let (address, length) = (atomic.address as u64, atomic.bytes as u64);
    let event = Event { kind: kind::ATOMIC, site: atomic.site, extra, address, length, ..Event::default() };
    session.event(thread.id, event);
    if extra & 3 != 0 {
        session.note_shared(atomic.address, atomic.bytes);
    }
}

fn words(_: &Atomic, operation: Access3, order: Order) -> u32 {
    let operation = match operation {
        Access3::Load => 0,
        Access3::Store => 1,
        Access3::Modify | Access3::CompareExchange => 2,
    };
    operation | order.0 << 8
}

pub fn fence(thread: &mut Thread, order: Order, site: u32) {
    let Some(session) = session::get().filter(|session| session.running.is_some()) else { return };
    control::stop(thread, Operation::new(Kind::Fence, site));
    session.event(thread.id, Event { kind: kind::FENCE, site, extra: order.0, ..Event::default() });
}

/// A block is given back.
pub fn freed(thread: &Thread, address: usize, bytes: usize) {
    let Some(session) = session::get().filter(|session| session.running.is_some()) else { return };
    let (address, length) = (address as u64, bytes as u64);
    let site = thread.call_site();
    session.event(thread.id, Event { kind: kind::FREE, site, address, length, ..Event::default() });
}

/// An error of the program, by its name in `raddle_event`.
pub fn fault(name: &str, address: usize) {
    if let Some(session) = session::get()
        && let Some(thread) = session.running
    {
        let site = crate::thread::current().map_or(0, |thread| thread.call_site());
        session.problem(thread, site, address, name);
    }
}

impl Session {
    fn is_visible(&self, site: u32) -> bool {
        match self.visibility {
            channel::NONE => false,
            channel::SOME => self.channel.visible.get(site as usize).is_some_and(|visible| *visible != 0),
            _ => true,
        }
    }

    fn plain(&mut self, thread: u32, what: u32, start: usize, length: usize, site: u32) {
        let (address, length) = (start as u64, length as u64);
        let event = Event { kind: what, site, address, length, ..Event::default() };
        let told = self.events.all();
        let same = |other: &Event| {
            (other.kind, other.site, other.address, other.length) == (what, site, address, length)
        };
        if !told.iter().rev().take(LOOKED_BACK).any(same) {
            self.event(thread, event);
        }
        if what == kind::WRITE {
            self.note_shared(start, length as usize);
        }
    }

    /// The site of the access of this step that was about to be made to this address: accesses are told before they are made.
    pub(super) fn access_of(&self, address: usize) -> Option<u32> {
        self.accesses()
            .find(|event| event.address <= address as u64 && (address as u64) < event.address + event.length)
            .map(|event| event.site)
    }

    /// The site of the latest access of this step.
    pub(super) fn last_access(&self) -> Option<u32> {
        self.accesses().next().map(|event| event.site)
    }

    /// Latest first.
    fn accesses(&self) -> impl Iterator<Item = &Event> {
        let plain = |event: &&Event| matches!(event.kind, kind::READ | kind::WRITE);
        self.events.all().iter().rev().filter(plain)
    }

    fn note_shared(&mut self, start: usize, length: usize) {
        if !session::is_stack(start) {
            return;
        }
        let span = (start, start + length);
        if self.shared[..self.shared_count].iter().rev().any(|known| *known == span) {
            return;
        }
        if self.shared_count == MOST_SHARED {
            return self.stop_for_good(channel::LIMIT, "too many shared variables on stacks");
        }
        self.shared[self.shared_count] = span;
        self.shared_count += 1;
    }

    pub(super) fn event(&mut self, thread: u32, event: Event) {
        let (stack, depth) = self.stack_of(thread);
        if !self.events.push(Event { thread, stack, depth, ..event }) {
            self.stop_for_good(channel::LIMIT, "too many events between two visible operations");
        }
    }

    pub(super) fn problem(&mut self, thread: u32, site: u32, object: usize, name: &str) {
        let (stack, depth) = self.stack_of(thread);
        let mut problem =
            Problem { thread, site, address: object as u64, stack, depth, ..Problem::default() };
        problem.name[..name.len()].copy_from_slice(name.as_bytes());
        self.problems.push(problem);
    }

    pub(super) fn note(&mut self, note: &Note) {
        let happened = match note.what {
            Noted::Happened(happened) => happened,
            Noted::Fault(fault) => return self.problem(note.thread, note.site, note.object, fault.name()),
        };
        let mode = |mode: Mode| u32::from(mode == Mode::Shared);
        let (kind, extra, length) = match happened {
            Happened::Begin => (kind::BEGIN, 0, 0),
            Happened::End => (kind::END, 0, 0),
            Happened::Exit => (kind::EXIT, 0, 0),
            Happened::Create { child } => (kind::CREATE, child, 0),
            Happened::Join { child } => (kind::JOIN, child, 0),
            Happened::Detach { child } => (kind::DETACH, child, 0),
            Happened::Acquire { mode: how } => (kind::ACQUIRE, mode(how), 0),
            Happened::Release { mode: how } => (kind::RELEASE, mode(how), 0),
            Happened::AcquireFailed => (kind::ACQUIRE_FAILED, 0, 0),
            Happened::SyncInit => (kind::SYNC_INIT, 0, 0),
            Happened::SyncDestroy => (kind::SYNC_DESTROY, 0, 0),
            Happened::WaitBegin => (kind::WAIT_BEGIN, 0, 0),
            Happened::WaitEnd { reason } => (kind::WAIT_END, reason, 0),
            Happened::Signal { woken } => (kind::SIGNAL, woken.map_or(0, |thread| thread + 1), 0),
            Happened::Broadcast => (kind::BROADCAST, 0, 0),
            Happened::BarrierArrive { round } => (kind::BARRIER_ARRIVE, round, 0),
            Happened::BarrierLeave { round } => (kind::BARRIER_LEAVE, round, 0),
            Happened::SemPost => (kind::SEM_POST, 0, 0),
            Happened::SemWait => (kind::SEM_WAIT, 0, 0),
            Happened::OnceBegin => (kind::ONCE_BEGIN, 0, 0),
            Happened::OnceEnd => (kind::ONCE_END, 0, 0),
            Happened::OncePass => (kind::ONCE_PASS, 0, 0),
            Happened::Choose { value } => (kind::CHOOSE, 0, value),
        };
        let Note { thread, site, object, .. } = *note;
        self.event(thread, Event { kind, site, extra, address: object as u64, length, ..Event::default() });
    }
}
