//! Mutexes, spin locks, and C11 mutexes.

use super::real::real;
use crate::control::{self, Family, How, calls};
use crate::log::{self, What};
use crate::objects;
use crate::thread::{self, Mode};
use libc::{EOWNERDEAD, timespec};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

const THRD_SUCCESS: i32 = 0;
const THRD_BUSY: i32 = 1;
const THRD_ERROR: i32 = 2;
const THRD_TIMEDOUT: i32 = 4;

real! {
    fn pthread_mutex_init(mutex: usize, attributes: usize) -> i32;
    fn pthread_mutex_destroy(mutex: usize) -> i32;
    fn pthread_mutex_lock(mutex: usize) -> i32;
    fn pthread_mutex_trylock(mutex: usize) -> i32;
    fn pthread_mutex_timedlock(mutex: usize, until: *const timespec) -> i32;
    fn pthread_mutex_clocklock(mutex: usize, clock: i32, until: *const timespec) -> i32;
    fn pthread_mutex_unlock(mutex: usize) -> i32;
    fn pthread_mutex_consistent(mutex: usize) -> i32;
    fn pthread_spin_init(lock: usize, shared: i32) -> i32;
    fn pthread_spin_destroy(lock: usize) -> i32;
    fn pthread_spin_lock(lock: usize) -> i32;
    fn pthread_spin_trylock(lock: usize) -> i32;
    fn pthread_spin_unlock(lock: usize) -> i32;
    fn mtx_init(mutex: usize, kind: i32) -> i32;
    fn mtx_destroy(mutex: usize);
    fn mtx_lock(mutex: usize) -> i32;
    fn mtx_trylock(mutex: usize) -> i32;
    fn mtx_timedlock(mutex: usize, until: *const timespec) -> i32;
    fn mtx_unlock(mutex: usize) -> i32;
}

/// After the real function: the lock is held if it said so.
#[inline(always)]
pub fn taken(lock: usize, mode: Mode, result: i32) -> i32 {
    if (result == 0 || result == EOWNERDEAD)
        && control::is_detecting()
        && let Some(thread) = thread::current()
    {
        objects::acquired(thread, lock, mode);
    } else if let Some(thread) = thread::current() {
        log::event(thread, What::AcquireFailed, lock, 0, 0);
    }
    result
}

#[inline(always)]
pub fn giving_up(lock: usize) {
    giving_up_if(lock, || true);
}

#[inline(always)]
fn giving_up_if(lock: usize, works: impl FnOnce() -> bool) {
    if control::is_detecting()
        && let Some(thread) = thread::current()
    {
        objects::release(thread, lock, works);
    }
}

/// Whether an unlock of this mutex by the calling thread will not fail: some kinds look whether it is the owner (glibc's layout).
#[cold]
unsafe fn unlocks(mutex: usize) -> bool {
    const OWNER: usize = 8;
    const KIND: usize = 16;
    const RECURSIVE: u32 = 1;
    const CHECKING: u32 = 2;
    const ROBUST: u32 = 16;
    let word = |at: usize| unsafe { (*((mutex + at) as *const AtomicU32)).load(Relaxed) };
    let kind = word(KIND);
    let looks = matches!(kind & 3, RECURSIVE | CHECKING) || kind & ROBUST != 0;
    !looks || word(OWNER) == libc::syscall(libc::SYS_gettid) as u32
}

/// Under control: the model has released it, or says why not.
#[inline(always)]
pub fn given_up(lock: usize, result: i32) -> i32 {
    if result == 0 {
        giving_up(lock);
    }
    result
}

pub fn begins_anew(object: usize, parties: u32, value: u32) {
    if control::is_detecting()
        && let Some(thread) = thread::current()
    {
        objects::new_life(thread, object, parties, value, What::Init);
    }
}

pub fn goes(object: usize) {
    if control::is_detecting()
        && let Some(thread) = thread::current()
    {
        objects::new_life(thread, object, 0, 0, What::Destroy);
    }
}

/// Before an object is initialised: under control, the model may say no.
#[inline(always)]
pub fn may_begin(family: Family, object: usize, number: u64) -> Result<(), i32> {
    match calls::initialise(family, object, number) {
        None | Some(0) => Ok(()),
        Some(error) => Err(error),
    }
}

#[inline(always)]
pub fn may_end(family: Family, object: usize) -> Result<(), i32> {
    match calls::destroy(family, object) {
        None | Some(0) => Ok(()),
        Some(error) => Err(error),
    }
}

/// What C11 makes of an error number.
pub fn thrd(result: i32) -> i32 {
    match result {
        0 => THRD_SUCCESS,
        libc::EBUSY => THRD_BUSY,
        libc::ETIMEDOUT => THRD_TIMEDOUT,
        _ => THRD_ERROR,
    }
}

/// glibc's word for the kind of a mutex with these attributes.
unsafe fn kind_of(attributes: usize) -> u64 {
    const ROBUST_ATTRIBUTE: u32 = 0x4000_0000;
    const ROBUST_KIND: u32 = 16;
    if attributes == 0 {
        return 0;
    }
    let word = *(attributes as *const u32);
    u64::from((word & 3) | if word & ROBUST_ATTRIBUTE != 0 { ROBUST_KIND } else { 0 })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_init(mutex: usize, attributes: usize) -> i32 {
    if let Err(error) = may_begin(Family::Mutex, mutex, kind_of(attributes)) {
        return error;
    }
    begins_anew(mutex, 0, 0);
    real::pthread_mutex_init(mutex, attributes)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_destroy(mutex: usize) -> i32 {
    if let Err(error) = may_end(Family::Mutex, mutex) {
        return error;
    }
    let result = real::pthread_mutex_destroy(mutex);
    if result == 0 {
        goes(mutex);
    }
    result
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_lock(mutex: usize) -> i32 {
    let result = calls::lock(Family::Mutex, mutex, Mode::Exclusive, How::Block);
    taken(mutex, Mode::Exclusive, result.unwrap_or_else(|| real::pthread_mutex_lock(mutex)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_trylock(mutex: usize) -> i32 {
    let result = calls::lock(Family::Mutex, mutex, Mode::Exclusive, How::Try);
    taken(mutex, Mode::Exclusive, result.unwrap_or_else(|| real::pthread_mutex_trylock(mutex)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_timedlock(mutex: usize, until: *const timespec) -> i32 {
    let result = calls::lock(Family::Mutex, mutex, Mode::Exclusive, How::Timed);
    taken(mutex, Mode::Exclusive, result.unwrap_or_else(|| real::pthread_mutex_timedlock(mutex, until)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_clocklock(mutex: usize, clock: i32, until: *const timespec) -> i32 {
    let result = calls::lock(Family::Mutex, mutex, Mode::Exclusive, How::Timed);
    taken(
        mutex,
        Mode::Exclusive,
        result.unwrap_or_else(|| real::pthread_mutex_clocklock(mutex, clock, until)),
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_unlock(mutex: usize) -> i32 {
    if let Some(result) = calls::unlock(Family::Mutex, mutex) {
        return given_up(mutex, result);
    }
    giving_up_if(mutex, || unlocks(mutex));
    real::pthread_mutex_unlock(mutex)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_consistent(mutex: usize) -> i32 {
    calls::make_consistent(mutex).unwrap_or_else(|| real::pthread_mutex_consistent(mutex))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_spin_init(lock: usize, shared: i32) -> i32 {
    if let Err(error) = may_begin(Family::Spin, lock, 0) {
        return error;
    }
    begins_anew(lock, 0, 0);
    real::pthread_spin_init(lock, shared)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_spin_destroy(lock: usize) -> i32 {
    if let Err(error) = may_end(Family::Spin, lock) {
        return error;
    }
    goes(lock);
    real::pthread_spin_destroy(lock)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_spin_lock(lock: usize) -> i32 {
    let result = calls::lock(Family::Spin, lock, Mode::Exclusive, How::Block);
    taken(lock, Mode::Exclusive, result.unwrap_or_else(|| real::pthread_spin_lock(lock)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_spin_trylock(lock: usize) -> i32 {
    let result = calls::lock(Family::Spin, lock, Mode::Exclusive, How::Try);
    taken(lock, Mode::Exclusive, result.unwrap_or_else(|| real::pthread_spin_trylock(lock)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_spin_unlock(lock: usize) -> i32 {
    if let Some(result) = calls::unlock(Family::Spin, lock) {
        return given_up(lock, result);
    }
    giving_up(lock);
    real::pthread_spin_unlock(lock)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mtx_init(mutex: usize, kind: i32) -> i32 {
    if let Err(error) = may_begin(Family::Mutex, mutex, kind as u64 & 1) {
        return thrd(error);
    }
    begins_anew(mutex, 0, 0);
    real::mtx_init(mutex, kind)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mtx_destroy(mutex: usize) {
    if may_end(Family::Mutex, mutex).is_ok() {
        goes(mutex);
        real::mtx_destroy(mutex);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mtx_lock(mutex: usize) -> i32 {
    let result = calls::lock(Family::Mutex, mutex, Mode::Exclusive, How::Block).map(thrd);
    taken_c11(mutex, result.unwrap_or_else(|| real::mtx_lock(mutex)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mtx_trylock(mutex: usize) -> i32 {
    let result = calls::lock(Family::Mutex, mutex, Mode::Exclusive, How::Try).map(thrd);
    taken_c11(mutex, result.unwrap_or_else(|| real::mtx_trylock(mutex)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mtx_timedlock(mutex: usize, until: *const timespec) -> i32 {
    let result = calls::lock(Family::Mutex, mutex, Mode::Exclusive, How::Timed).map(thrd);
    taken_c11(mutex, result.unwrap_or_else(|| real::mtx_timedlock(mutex, until)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mtx_unlock(mutex: usize) -> i32 {
    if let Some(result) = calls::unlock(Family::Mutex, mutex) {
        return thrd(given_up(mutex, result));
    }
    giving_up_if(mutex, || unlocks(mutex));
    real::mtx_unlock(mutex)
}

fn taken_c11(mutex: usize, result: i32) -> i32 {
    taken(mutex, Mode::Exclusive, if result == THRD_SUCCESS { 0 } else { libc::EBUSY });
    result
}
