//! Mutexes, spin locks, and C11 mutexes.

use super::real::real;
use crate::log::{self, What};
use crate::objects;
use crate::thread::{self, Mode};
use libc::timespec;

const EOWNERDEAD: i32 = 130;
const THRD_SUCCESS: i32 = 0;

real! {
    fn pthread_mutex_init(mutex: usize, attributes: usize) -> i32;
    fn pthread_mutex_destroy(mutex: usize) -> i32;
    fn pthread_mutex_lock(mutex: usize) -> i32;
    fn pthread_mutex_trylock(mutex: usize) -> i32;
    fn pthread_mutex_timedlock(mutex: usize, until: *const timespec) -> i32;
    fn pthread_mutex_clocklock(mutex: usize, clock: i32, until: *const timespec) -> i32;
    fn pthread_mutex_unlock(mutex: usize) -> i32;
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
    if let Some(thread) = thread::current() {
        objects::release(thread, lock);
    }
}

pub fn begins_anew(object: usize, parties: u32) {
    if let Some(thread) = thread::current() {
        objects::new_life(thread, object, parties, What::Init);
    }
}

pub fn goes(object: usize) {
    if let Some(thread) = thread::current() {
        objects::new_life(thread, object, 0, What::Destroy);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_init(mutex: usize, attributes: usize) -> i32 {
    begins_anew(mutex, 0);
    real::pthread_mutex_init(mutex, attributes)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_destroy(mutex: usize) -> i32 {
    let result = real::pthread_mutex_destroy(mutex);
    if result == 0 {
        goes(mutex);
    }
    result
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_lock(mutex: usize) -> i32 {
    taken(mutex, Mode::Exclusive, real::pthread_mutex_lock(mutex))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_trylock(mutex: usize) -> i32 {
    taken(mutex, Mode::Exclusive, real::pthread_mutex_trylock(mutex))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_timedlock(mutex: usize, until: *const timespec) -> i32 {
    taken(mutex, Mode::Exclusive, real::pthread_mutex_timedlock(mutex, until))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_clocklock(mutex: usize, clock: i32, until: *const timespec) -> i32 {
    taken(mutex, Mode::Exclusive, real::pthread_mutex_clocklock(mutex, clock, until))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_unlock(mutex: usize) -> i32 {
    giving_up(mutex);
    real::pthread_mutex_unlock(mutex)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_spin_init(lock: usize, shared: i32) -> i32 {
    begins_anew(lock, 0);
    real::pthread_spin_init(lock, shared)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_spin_destroy(lock: usize) -> i32 {
    goes(lock);
    real::pthread_spin_destroy(lock)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_spin_lock(lock: usize) -> i32 {
    taken(lock, Mode::Exclusive, real::pthread_spin_lock(lock))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_spin_trylock(lock: usize) -> i32 {
    taken(lock, Mode::Exclusive, real::pthread_spin_trylock(lock))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_spin_unlock(lock: usize) -> i32 {
    giving_up(lock);
    real::pthread_spin_unlock(lock)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mtx_init(mutex: usize, kind: i32) -> i32 {
    begins_anew(mutex, 0);
    real::mtx_init(mutex, kind)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mtx_destroy(mutex: usize) {
    goes(mutex);
    real::mtx_destroy(mutex);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mtx_lock(mutex: usize) -> i32 {
    taken_c11(mutex, real::mtx_lock(mutex))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mtx_trylock(mutex: usize) -> i32 {
    taken_c11(mutex, real::mtx_trylock(mutex))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mtx_timedlock(mutex: usize, until: *const timespec) -> i32 {
    taken_c11(mutex, real::mtx_timedlock(mutex, until))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn mtx_unlock(mutex: usize) -> i32 {
    giving_up(mutex);
    real::mtx_unlock(mutex)
}

fn taken_c11(mutex: usize, result: i32) -> i32 {
    taken(mutex, Mode::Exclusive, if result == THRD_SUCCESS { 0 } else { libc::EBUSY });
    result
}
