//! What interposed functions call under control, from the side of the calling thread. `None`: it is not under control, and the C
//! library's own function is to be called.
//!
//! Results are error numbers, as the functions of POSIX threads give them; the detector is told by the interposed functions, which
//! know what happened by the result.

use super::lock::BEGINS_TO_WAIT;
use super::once::ABANDONED;
use super::operation::{Family, How, Kind, Mode, Operation, Outcome};
use super::pairs::Touch;
use super::schedule::{self, Arrival};
use super::{CONSISTENT, Ending, batons, is_detecting, is_on, stop};
use crate::atomics;
use crate::contexts::Shape;
use crate::explore;
use crate::gate;
use crate::lanes;
use crate::observe;
use crate::report::Account;
use crate::thread::{self, Thread};

/// The calling thread, if it is under control. Not in an exploration: its scheduler.
#[inline(always)]
fn controlled() -> Option<&'static mut Thread> {
    if !is_on() || observe::mode() == observe::Mode::Explore && explore::is_scheduler() {
        return None;
    }
    thread::current().filter(|thread| thread.is_followed())
}

#[inline(always)]
fn on(kind: Kind, family: Family, object: usize) -> Option<Outcome> {
    let me = controlled()?;
    let site = me.call_site();
    Some(stop(me, Operation::on(kind, family, object, site)))
}

#[inline(always)]
pub fn lock(family: Family, lock: usize, mode: Mode, how: How) -> Option<i32> {
    let me = controlled()?;
    let site = me.call_site();
    let operation = Operation { mode, how, ..Operation::on(Kind::Lock, family, lock, site) };
    if family == Family::Rwlock && mode == Mode::Exclusive && how != How::Try && prefers_writers(lock) {
        let tries = Operation { how: How::Try, number: BEGINS_TO_WAIT, ..operation };
        match stop(me, tries).result {
            libc::EBUSY => {}
            result => return Some(result),
        }
    }
    Some(stop(me, operation).result)
}

/// Whether glibc's read-write lock there is of the kind `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`.
fn prefers_writers(lock: usize) -> bool {
    const FLAGS: usize = 48;
    unsafe { *((lock + FLAGS) as *const u32) == 2 }
}

#[inline(always)]
pub fn unlock(family: Family, lock: usize) -> Option<i32> {
    on(Kind::Unlock, family, lock).map(|outcome| outcome.result)
}

/// A lock of the program's own is released by a function that knows its mode.
pub fn unlock_own(lock: usize, mode: Mode) -> Option<i32> {
    let me = controlled()?;
    let site = me.call_site();
    let operation = Operation { mode, ..Operation::on(Kind::Unlock, Family::Own, lock, site) };
    Some(stop(me, operation).result)
}

/// `number`: a mutex's kind word, a barrier's parties, a semaphore's value.
#[inline(always)]
pub fn initialise(family: Family, object: usize, number: u64) -> Option<i32> {
    let me = controlled()?;
    let site = me.call_site();
    let operation = Operation { number, ..Operation::on(Kind::SyncInit, family, object, site) };
    Some(stop(me, operation).result)
}

pub fn make_consistent(mutex: usize) -> Option<i32> {
    initialise(Family::Mutex, mutex, CONSISTENT)
}

#[inline(always)]
pub fn destroy(family: Family, object: usize) -> Option<i32> {
    on(Kind::SyncDestroy, family, object).map(|outcome| outcome.result)
}

/// Gives up the mutex: the outcome is for [`wake`]. Between the two the detector is told.
#[inline(always)]
pub fn wait(cond: usize, mutex: usize, how: How) -> Option<Outcome> {
    let me = controlled()?;
    let site = me.call_site();
    let operation =
        Operation { how, second: mutex, ..Operation::on(Kind::WaitBegin, Family::Cond, cond, site) };
    Some(stop(me, operation))
}

pub fn wake(cond: usize, mutex: usize, how: How, begun: Outcome) -> i32 {
    let Some(me) = controlled() else { return 0 };
    let site = me.call_site();
    let operation = match begun.value {
        0 => Operation { how, second: mutex, ..Operation::on(Kind::WaitEnd, Family::Cond, cond, site) },
        _ => Operation { second: cond, ..Operation::on(Kind::Lock, Family::Mutex, mutex, site) },
    };
    stop(me, operation).result
}

#[inline(always)]
pub fn signal(cond: usize) -> Option<i32> {
    on(Kind::Signal, Family::Cond, cond).map(|outcome| outcome.result)
}

#[inline(always)]
pub fn broadcast(cond: usize) -> Option<i32> {
    on(Kind::Broadcast, Family::Cond, cond).map(|outcome| outcome.result)
}

/// Before a thread is made.
#[inline(always)]
pub fn create() -> Option<()> {
    let me = controlled()?;
    let site = me.call_site();
    stop(me, Operation::new(Kind::Create, site));
    Some(())
}

/// The thread was made; it stands before its beginning.
pub fn created(me: &Thread, child: u32, detached: bool) {
    if is_on() {
        let site = me.call_site();
        super::with(|model| model.created(me.id, child, detached, site));
        explore::tell_notes();
    }
}

/// It could not be made after all.
pub fn not_created(child: u32) {
    if is_on() {
        super::with(|model| model.not_created(child));
    }
}

/// The program has this handle for it.
pub fn named(handle: u64, thread: u32) {
    if is_on() {
        super::with(|model| model.named(handle, thread));
    }
}

/// Waits for the end of a thread in the model. An unknown handle is for the C library.
#[inline(always)]
pub fn join(handle: u64, how: How) -> Option<i32> {
    let me = controlled()?;
    let child = super::with(|model| model.by_handle(handle))?;
    let site = me.call_site();
    let operation = Operation { how, number: u64::from(child), ..Operation::new(Kind::Join, site) };
    Some(stop(me, operation).result)
}

#[inline(always)]
pub fn detach(handle: u64) -> Option<i32> {
    let me = controlled()?;
    let child = super::with(|model| model.by_handle(handle))?;
    let site = me.call_site();
    Some(stop(me, Operation { number: u64::from(child), ..Operation::new(Kind::Detach, site) }).result)
}

/// The calling thread has run its function and the destructors of its values.
pub fn end(me: &mut Thread) {
    if is_on() {
        stop(me, Operation::new(Kind::End, 0));
    }
}

/// The process is about to end.
pub fn exit(ending: Ending) {
    if let Some(me) = controlled() {
        let site = me.call_site();
        stop(me, Operation { number: ending.number(), ..Operation::new(Kind::Exit, site) });
        if let (Some(problem), true) = (ending.problem(), is_detecting()) {
            schedule::fault(problem, me.id, site, 0);
        }
    }
}

#[inline(always)]
pub fn post(semaphore: usize) -> Option<i32> {
    on(Kind::SemPost, Family::Semaphore, semaphore).map(|outcome| outcome.result)
}

#[inline(always)]
pub fn down(semaphore: usize, how: How) -> Option<i32> {
    let me = controlled()?;
    let site = me.call_site();
    let operation = Operation { how, ..Operation::on(Kind::SemWait, Family::Semaphore, semaphore, site) };
    Some(stop(me, operation).result)
}

pub fn semaphore_value(semaphore: usize) -> Option<Result<u64, i32>> {
    let outcome = on(Kind::SemRead, Family::Semaphore, semaphore)?;
    Some(if outcome.result == 0 { Ok(outcome.value) } else { Err(outcome.result) })
}

pub fn arrive(barrier: usize) -> Option<i32> {
    on(Kind::BarrierArrive, Family::Barrier, barrier).map(|outcome| outcome.result)
}

/// Whether the thread is the one that completed the round.
pub fn leave(barrier: usize) -> bool {
    on(Kind::BarrierLeave, Family::Barrier, barrier).is_some_and(|outcome| outcome.value != 0)
}

/// Whether the thread is to run the initialiser, and then to call [`once_end`].
pub fn once(once: usize) -> bool {
    on(Kind::Once, Family::Once, once).is_some_and(|outcome| outcome.value != 0)
}

pub fn once_end(once: usize) {
    on(Kind::OnceEnd, Family::Once, once);
}

/// The initialiser was left before it was through.
pub fn once_abandoned(once: usize) {
    if let Some(me) = controlled() {
        let site = me.call_site();
        let operation = Operation::on(Kind::OnceEnd, Family::Once, once, site);
        stop(me, Operation { number: ABANDONED, ..operation });
    }
}

/// A plain access, if it is one that the schedule stops at.
pub fn access(me: &mut Thread, access: &observe::Access) {
    hold(me, access.site);
    if me.is_followed() && batons::is_visible(access.site) {
        let number = u64::from(access.kind == lanes::Kind::Write);
        let operation = Operation::new(Kind::Access, access.site);
        stop(me, Operation { object: access.first, second: access.size * access.count, number, ..operation });
    }
}

/// Holds a thread before its access, for a debugger, until the other one is before its own.
fn hold(me: &mut Thread, site: u32) {
    match batons::arrives(me.id, site) {
        Arrival::Passes => {}
        Arrival::First => {
            stop(me, Operation::new(Kind::Access, site));
        }
        Arrival::Second => {
            batons::__raddle_stopped();
            batons::release();
        }
    }
}

/// What the schedule is for may be it. A walk counts as the range that it goes through.
pub fn accessed(me: &mut Thread, access: &observe::Access) {
    let observe::Access { first, stride, count, size, kind, site } = *access;
    let way = stride * (count as isize - 1);
    let (low, bytes) = (first.wrapping_add_signed(way.min(0)), way.unsigned_abs() + size);
    let writes = kind == lanes::Kind::Write;
    let touch = Touch { first: low, bytes, writes, atomic: false, site };
    gate::enter(me);
    batons::touched(me, touch, |me| Account::of(me, site, Shape::plain(size, writes)));
    gate::leave(me);
}

/// Inside the gate.
pub fn accessed_atomically(me: &mut Thread, atomic: &observe::Atomic, succeeded: bool) {
    let writes = match atomic.operation {
        atomics::Operation::Load => false,
        atomics::Operation::Store | atomics::Operation::Modify => true,
        atomics::Operation::CompareExchange => succeeded,
    };
    let &observe::Atomic { address: first, bytes, site, .. } = atomic;
    let touch = Touch { first, bytes, writes, atomic: true, site };
    batons::touched(me, touch, |me| Account::of(me, site, Shape::atomic(bytes, writes)));
}

/// Before every atomic access.
pub fn atomic(me: &mut Thread, atomic: &observe::Atomic) {
    if is_on() && me.is_followed() {
        if observe::mode() == observe::Mode::Replay {
            hold(me, atomic.site);
        }
        let operation = Operation::new(Kind::Atomic, atomic.site);
        let number = atomic.operation as u64;
        stop(me, Operation { object: atomic.address, second: atomic.bytes, number, ..operation });
    }
}

pub fn fence(me: &mut Thread, site: u32) {
    if is_on() && me.is_followed() {
        stop(me, Operation::new(Kind::Fence, site));
    }
}

/// The program asks for nothing but that others run, for so many nanoseconds: these pass at once. False: not under control.
pub fn give_way(nanoseconds: u64) -> bool {
    let Some(me) = controlled() else { return false };
    let site = me.call_site();
    stop(me, Operation::new(Kind::Yield, site));
    super::with(|model| model.time = model.time.saturating_add(nanoseconds.min(1 << 50)));
    true
}

#[inline(always)]
pub fn is_controlled() -> bool {
    controlled().is_some()
}

/// Virtual time in nanoseconds, which each question moves on.
#[inline(always)]
pub fn now() -> Option<u64> {
    controlled()?;
    Some(super::with(|model| {
        model.time += 1000;
        model.time
    }))
}

/// A value from outside.
pub fn choose(variants: u32) -> Option<u64> {
    let me = controlled()?;
    let site = me.call_site();
    Some(stop(me, Operation { number: u64::from(variants), ..Operation::new(Kind::Choose, site) }).value)
}
