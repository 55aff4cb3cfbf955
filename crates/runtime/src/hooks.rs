//! The functions that instrumented code calls, under the names of the binary interface.

use crate::atomics::{self, Operation, Order};
use crate::block::Block;
use crate::cells;
use crate::gate;
use crate::lanes::Kind;
use crate::log::{self, What};
use crate::objects;
use crate::observe::{self, Access};
use crate::options;
use crate::record;
use crate::report;
use crate::start;
use crate::thread;
use crate::walks::{self, Walk};
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// Libraries have up to 2 to this many sites.
const LIBRARY_SITES: u32 = 22;

unsafe extern "C" {
    /// The thread block of the calling thread (hot.c).
    pub fn __raddle_block() -> *mut Block;
}

/// Runs before every initialiser of the program and of its libraries: hot.c has the entry, and with it the name by which the linker pulls
/// in the archive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __raddle_start(
    _count: i32,
    _arguments: *const *const c_char,
    environment: *const *const c_char,
) {
    start::map();
    options::read(environment);
    match observe::mode() {
        observe::Mode::Explore => crate::explore::begin(),
        // A schedule is for this process, whatever programs it starts.
        observe::Mode::Replay => options::hide(environment),
        observe::Mode::Run | observe::Mode::Record => {}
    }
    start::start(__raddle_block());
    crate::interpose::start();
    if let Some(main) = thread::current() {
        crate::control::start(main);
    }
}

/// At least one byte.
#[unsafe(no_mangle)]
pub extern "C" fn __raddle_slow_read(p: usize, bytes: u64, site: u32) {
    match thread::current() {
        Some(thread) => cells::access(thread, p, bytes as usize, Kind::Read, site),
        None => of_a_stranger(),
    }
}

/// At least one byte.
#[unsafe(no_mangle)]
pub extern "C" fn __raddle_slow_write(p: usize, bytes: u64, site: u32) {
    match thread::current() {
        Some(thread) => cells::access(thread, p, bytes as usize, Kind::Write, site),
        None => of_a_stranger(),
    }
}

/// The program's code runs on a thread that we have not seen begin.
#[cold]
fn of_a_stranger() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if start::is_mapped() && !thread::was_known() && !TOLD.swap(true, Relaxed) {
        report::gap("a thread that was not made by pthread_create (but by a timer, for example)");
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __raddle_read_n(p: usize, bytes: u64, site: u32) {
    if bytes > 0 {
        __raddle_slow_read(p, bytes, site);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __raddle_write_n(p: usize, bytes: u64, site: u32) {
    if bytes > 0 {
        __raddle_slow_write(p, bytes, site);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __raddle_slow_read_walk(first: usize, stride: i64, count: u64, size: u32, site: u32) {
    walk(Walk { first, stride: stride as isize, count: count as usize, size, kind: Kind::Read }, site);
}

#[unsafe(no_mangle)]
pub extern "C" fn __raddle_slow_write_walk(first: usize, stride: i64, count: u64, size: u32, site: u32) {
    walk(Walk { first, stride: stride as isize, count: count as usize, size, kind: Kind::Write }, site);
}

fn walk(walk: Walk, site: u32) {
    if let Some(thread) = thread::current() {
        walks::walk(thread, walk, site);
    }
}

/// The first site id of an instrumented library, of which `inside` is a part.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __raddle_library(inside: *const c_void) -> u32 {
    static LIBRARIES: AtomicU32 = AtomicU32::new(0);
    let base = (LIBRARIES.fetch_add(1, Relaxed) + 1) << LIBRARY_SITES;
    let mut info = std::mem::zeroed::<libc::Dl_info>();
    let known = libc::dladdr(inside, &mut info) != 0 && !info.dli_fname.is_null();
    let path =
        if known { CStr::from_ptr(info.dli_fname).to_string_lossy().into_owned() } else { String::new() };
    report::library(&path, base);
    if let Some(thread) = thread::current() {
        record::library(thread, &path, base);
    }
    base
}

/// The token is null when the access is not followed.
#[unsafe(no_mangle)]
pub extern "C" fn __raddle_slow_atomic_enter(
    p: usize,
    size: u32,
    kind: u32,
    order: u32,
    failure_order: u32,
    site: u32,
) -> *mut c_void {
    let Some(thread) = thread::current() else { return std::ptr::null_mut() };
    let operation = match kind {
        0 => Operation::Load,
        1 => Operation::Store,
        2 => Operation::Modify,
        _ => Operation::CompareExchange,
    };
    let place = (p, size as usize);
    match atomics::enter(thread, place, operation, Order(order), Order(failure_order), site) {
        true => (thread as *mut thread::Thread).cast(),
        false => std::ptr::null_mut(),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __raddle_slow_atomic_leave(token: *mut c_void, succeeded: u32) {
    if let Some(thread) = unsafe { token.cast::<thread::Thread>().as_mut() } {
        atomics::leave(thread, succeeded != 0);
    }
}

/// The thread went in while somebody wants to be alone.
#[unsafe(no_mangle)]
pub extern "C" fn __raddle_wait_outside() {
    if let Some(thread) = thread::current() {
        gate::wait_outside(thread);
    }
}

/// An access that hot.c made without the lock has to be looked at again. The thread is inside the gate.
#[unsafe(no_mangle)]
pub extern "C" fn __raddle_late_atomic(p: usize, size: u32, stores: u32, order: u32, site: u32) {
    if let Some(thread) = thread::current() {
        let operation = if stores == 0 { Operation::Load } else { Operation::Modify };
        atomics::late(thread, (p, size as usize), operation, Order(order), site);
    }
}

/// A place in the log for an access that hot.c makes without the lock.
#[unsafe(no_mangle)]
pub extern "C" fn __raddle_log_place() -> u64 {
    log::place()
}

#[unsafe(no_mangle)]
pub extern "C" fn __raddle_log_atomic(place: u64, p: usize, size: u32, stores: u32, order: u32, site: u32) {
    if let Some(thread) = thread::current() {
        let operation = if stores == 0 { Operation::Load } else { Operation::Modify };
        let what = What::Atomic { operation, order: Order(order) };
        log::event_at(thread, place, what, p, u64::from(size), site);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __raddle_fence(order: u32, site: u32) {
    if let Some(thread) = thread::current() {
        atomics::fence(thread, Order(order), site);
    }
}

/// What the thread did so far happens before what others do after a later acquire of `p`.
#[unsafe(no_mangle)]
pub extern "C" fn __raddle_release(p: usize, _site: u32) {
    if let Some(thread) = thread::current() {
        objects::tell(thread, p, What::Post);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __raddle_acquire(p: usize, _site: u32) {
    if let Some(thread) = thread::current() {
        objects::hear(thread, p, What::Wait);
    }
}

/// A loop that waits for a condition is about to begin; null where the condition variable or the mutex are not known yet.
#[unsafe(no_mangle)]
pub extern "C" fn __raddle_loop_begin(cond: usize, mutex: usize, site: u32) {
    if let Some(thread) = thread::current() {
        log::event(thread, What::LoopBegin, cond, mutex as u64, site);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __raddle_loop_end(site: u32) {
    if let Some(thread) = thread::current() {
        log::event(thread, What::LoopEnd, 0, 0, site);
    }
}

/// A plain access is about to be made: for tests of what is recorded without observing accesses.
#[unsafe(no_mangle)]
pub extern "C" fn __raddle_note(p: usize, bytes: u64, write: u32) {
    if let Some(thread) = thread::current()
        && !observe::is_on()
        && record::is_on()
    {
        let kind = if write != 0 { Kind::Write } else { Kind::Read };
        record::access(
            thread,
            &Access { first: p, stride: 0, count: 1, size: bytes as usize, kind, site: 0 },
        );
    }
}
