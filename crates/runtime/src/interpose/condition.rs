//! Condition variables. A wait gives its mutex up and takes it again; signals order nothing by themselves.

use super::mutex::{begins_anew, goes, may_begin, may_end, thrd};
use super::real::real;
use crate::control::{self, Family, calls};
use crate::log::{self, What, Woken};
use crate::objects;
use crate::thread;
use libc::{c_void, timespec};

real! {
    fn pthread_cond_init(cond: usize, attributes: usize) -> i32;
    fn pthread_cond_destroy(cond: usize) -> i32;
    fn pthread_cond_wait(cond: usize, mutex: usize) -> i32;
    fn pthread_cond_timedwait(cond: usize, mutex: usize, until: *const timespec) -> i32;
    fn pthread_cond_clockwait(cond: usize, mutex: usize, clock: i32, until: *const timespec) -> i32;
    fn pthread_cond_signal(cond: usize) -> i32;
    fn pthread_cond_broadcast(cond: usize) -> i32;
    fn cnd_signal(cond: usize) -> i32;
    fn cnd_broadcast(cond: usize) -> i32;
    fn cnd_init(cond: usize) -> i32;
    fn cnd_destroy(cond: usize);
    fn cnd_wait(cond: usize, mutex: usize) -> i32;
    fn cnd_timedwait(cond: usize, mutex: usize, until: *const timespec) -> i32;
}

/// Of `cnd_timedwait`, in glibc.
const THRD_TIMEDOUT: i32 = 4;

unsafe extern "C-unwind" {
    /// Calls the function; if the thread is cancelled in it, `__raddle_wait_cancelled` runs before the program's own handlers (hot.c).
    fn __raddle_cancellable_wait(real: extern "C-unwind" fn(*mut c_void) -> i32, wait: *mut c_void) -> i32;
}

/// A wait on its way through C.
struct Wait {
    cond: usize,
    mutex: usize,
    clock: i32,
    until: *const timespec,
    how: How,
    depth: u32,
}

#[derive(Clone, Copy)]
enum How {
    Forever,
    Timed,
    Clock,
    C11,
    C11Timed,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_init(cond: usize, attributes: usize) -> i32 {
    if let Err(error) = may_begin(Family::Cond, cond, 0) {
        return error;
    }
    begins_anew(cond, 0, 0);
    real::pthread_cond_init(cond, attributes)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_destroy(cond: usize) -> i32 {
    if let Err(error) = may_end(Family::Cond, cond) {
        return error;
    }
    goes(cond);
    real::pthread_cond_destroy(cond)
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_cond_wait(cond: usize, mutex: usize) -> i32 {
    wait(cond, mutex, 0, std::ptr::null(), How::Forever)
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_cond_timedwait(
    cond: usize,
    mutex: usize,
    until: *const timespec,
) -> i32 {
    wait(cond, mutex, 0, until, How::Timed)
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_cond_clockwait(
    cond: usize,
    mutex: usize,
    clock: i32,
    until: *const timespec,
) -> i32 {
    wait(cond, mutex, clock, until, How::Clock)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cnd_init(cond: usize) -> i32 {
    if let Err(error) = may_begin(Family::Cond, cond, 0) {
        return thrd(error);
    }
    begins_anew(cond, 0, 0);
    real::cnd_init(cond)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cnd_destroy(cond: usize) {
    if may_end(Family::Cond, cond).is_ok() {
        goes(cond);
        real::cnd_destroy(cond);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn cnd_wait(cond: usize, mutex: usize) -> i32 {
    wait(cond, mutex, 0, std::ptr::null(), How::C11)
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn cnd_timedwait(cond: usize, mutex: usize, until: *const timespec) -> i32 {
    wait(cond, mutex, 0, until, How::C11Timed)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_signal(cond: usize) -> i32 {
    wakes(cond, What::Signal);
    calls::signal(cond).unwrap_or_else(|| real::pthread_cond_signal(cond))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_broadcast(cond: usize) -> i32 {
    wakes(cond, What::Broadcast);
    calls::broadcast(cond).unwrap_or_else(|| real::pthread_cond_broadcast(cond))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cnd_signal(cond: usize) -> i32 {
    wakes(cond, What::Signal);
    calls::signal(cond).map(thrd).unwrap_or_else(|| real::cnd_signal(cond))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cnd_broadcast(cond: usize) -> i32 {
    wakes(cond, What::Broadcast);
    calls::broadcast(cond).map(thrd).unwrap_or_else(|| real::cnd_broadcast(cond))
}

/// The thread was cancelled while it waited. It holds the mutex again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __raddle_wait_cancelled(wait: *mut c_void) {
    let wait = &*wait.cast::<Wait>();
    if let Some(thread) = thread::current() {
        log::event(thread, What::WaitEnd(Woken::Cancelled), wait.cond, 0, 0);
        objects::reacquired(thread, wait.mutex, wait.depth);
    }
}

fn wakes(cond: usize, what: What) {
    if let Some(thread) = thread::current() {
        log::event(thread, what, cond, 0, 0);
    }
}

unsafe fn wait(cond: usize, mutex: usize, clock: i32, until: *const timespec, how: How) -> i32 {
    let mut wait = Wait { cond, mutex, clock, until, how, depth: 1 };
    let Some(thread) = thread::current() else { return real_wait((&raw mut wait).cast()) };
    if control::is_on() {
        return controlled_wait(cond, mutex, how);
    }
    wait.depth = objects::release_for_wait(thread, mutex, cond);
    let result = __raddle_cancellable_wait(real_wait, (&raw mut wait).cast());
    let timed_out = match how {
        How::C11Timed => result == THRD_TIMEDOUT,
        _ => result == libc::ETIMEDOUT,
    };
    let woken = if timed_out { Woken::TimedOut } else { Woken::Here };
    log::event(thread, What::WaitEnd(woken), cond, 0, 0);
    objects::reacquired(thread, mutex, wait.depth);
    result
}

fn controlled_wait(cond: usize, mutex: usize, how: How) -> i32 {
    let way = match how {
        How::Forever | How::C11 => control::How::Block,
        How::Timed | How::Clock | How::C11Timed => control::How::Timed,
    };
    let Some(begun) = calls::wait(cond, mutex, way) else { return 0 };
    let mut result = begun.result;
    if result == 0 {
        let depth = told(|thread| objects::release_for_wait(thread, mutex, cond)).unwrap_or(1);
        result = calls::wake(cond, mutex, way, begun);
        told(|thread| objects::reacquired(thread, mutex, depth));
    }
    match how {
        How::C11 | How::C11Timed => thrd(result),
        How::Forever | How::Timed | How::Clock => result,
    }
}

/// Tells the detector, if there is one.
fn told<T>(work: impl FnOnce(&mut thread::Thread) -> T) -> Option<T> {
    thread::current().filter(|_| control::is_detecting()).map(work)
}

extern "C-unwind" fn real_wait(wait: *mut c_void) -> i32 {
    unsafe {
        let Wait { cond, mutex, clock, until, how, .. } = *wait.cast::<Wait>();
        match how {
            How::Forever => real::pthread_cond_wait(cond, mutex),
            How::Timed => real::pthread_cond_timedwait(cond, mutex, until),
            How::Clock => real::pthread_cond_clockwait(cond, mutex, clock, until),
            How::C11 => real::cnd_wait(cond, mutex),
            How::C11Timed => real::cnd_timedwait(cond, mutex, until),
        }
    }
}
