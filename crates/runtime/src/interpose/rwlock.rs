//! Read-write locks.

use super::mutex::{begins_anew, given_up, giving_up, goes, may_begin, may_end, taken};
use super::real::real;
use crate::control::{Family, How, calls};
use crate::thread::Mode;
use libc::timespec;

real! {
    fn pthread_rwlock_init(lock: usize, attributes: usize) -> i32;
    fn pthread_rwlock_destroy(lock: usize) -> i32;
    fn pthread_rwlock_rdlock(lock: usize) -> i32;
    fn pthread_rwlock_tryrdlock(lock: usize) -> i32;
    fn pthread_rwlock_timedrdlock(lock: usize, until: *const timespec) -> i32;
    fn pthread_rwlock_clockrdlock(lock: usize, clock: i32, until: *const timespec) -> i32;
    fn pthread_rwlock_wrlock(lock: usize) -> i32;
    fn pthread_rwlock_trywrlock(lock: usize) -> i32;
    fn pthread_rwlock_timedwrlock(lock: usize, until: *const timespec) -> i32;
    fn pthread_rwlock_clockwrlock(lock: usize, clock: i32, until: *const timespec) -> i32;
    fn pthread_rwlock_unlock(lock: usize) -> i32;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_init(lock: usize, attributes: usize) -> i32 {
    if let Err(error) = may_begin(Family::Rwlock, lock, 0) {
        return error;
    }
    begins_anew(lock, 0, 0);
    real::pthread_rwlock_init(lock, attributes)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_destroy(lock: usize) -> i32 {
    if let Err(error) = may_end(Family::Rwlock, lock) {
        return error;
    }
    goes(lock);
    real::pthread_rwlock_destroy(lock)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_rdlock(lock: usize) -> i32 {
    let result = calls::lock(Family::Rwlock, lock, Mode::Shared, How::Block);
    taken(lock, Mode::Shared, result.unwrap_or_else(|| real::pthread_rwlock_rdlock(lock)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_tryrdlock(lock: usize) -> i32 {
    let result = calls::lock(Family::Rwlock, lock, Mode::Shared, How::Try);
    taken(lock, Mode::Shared, result.unwrap_or_else(|| real::pthread_rwlock_tryrdlock(lock)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_timedrdlock(lock: usize, until: *const timespec) -> i32 {
    let result = calls::lock(Family::Rwlock, lock, Mode::Shared, How::Timed);
    taken(lock, Mode::Shared, result.unwrap_or_else(|| real::pthread_rwlock_timedrdlock(lock, until)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_clockrdlock(lock: usize, clock: i32, until: *const timespec) -> i32 {
    let result = calls::lock(Family::Rwlock, lock, Mode::Shared, How::Timed);
    taken(lock, Mode::Shared, result.unwrap_or_else(|| real::pthread_rwlock_clockrdlock(lock, clock, until)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_wrlock(lock: usize) -> i32 {
    let result = calls::lock(Family::Rwlock, lock, Mode::Exclusive, How::Block);
    taken(lock, Mode::Exclusive, result.unwrap_or_else(|| real::pthread_rwlock_wrlock(lock)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_trywrlock(lock: usize) -> i32 {
    let result = calls::lock(Family::Rwlock, lock, Mode::Exclusive, How::Try);
    taken(lock, Mode::Exclusive, result.unwrap_or_else(|| real::pthread_rwlock_trywrlock(lock)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_timedwrlock(lock: usize, until: *const timespec) -> i32 {
    let result = calls::lock(Family::Rwlock, lock, Mode::Exclusive, How::Timed);
    taken(lock, Mode::Exclusive, result.unwrap_or_else(|| real::pthread_rwlock_timedwrlock(lock, until)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_clockwrlock(lock: usize, clock: i32, until: *const timespec) -> i32 {
    let result = calls::lock(Family::Rwlock, lock, Mode::Exclusive, How::Timed);
    taken(
        lock,
        Mode::Exclusive,
        result.unwrap_or_else(|| real::pthread_rwlock_clockwrlock(lock, clock, until)),
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_unlock(lock: usize) -> i32 {
    if let Some(result) = calls::unlock(Family::Rwlock, lock) {
        return given_up(lock, result);
    }
    giving_up(lock);
    real::pthread_rwlock_unlock(lock)
}
