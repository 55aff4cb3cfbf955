//! Read-write locks.

use super::mutex::{begins_anew, giving_up, goes, taken};
use super::real::real;
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
    begins_anew(lock, 0);
    real::pthread_rwlock_init(lock, attributes)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_destroy(lock: usize) -> i32 {
    goes(lock);
    real::pthread_rwlock_destroy(lock)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_rdlock(lock: usize) -> i32 {
    taken(lock, Mode::Shared, real::pthread_rwlock_rdlock(lock))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_tryrdlock(lock: usize) -> i32 {
    taken(lock, Mode::Shared, real::pthread_rwlock_tryrdlock(lock))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_timedrdlock(lock: usize, until: *const timespec) -> i32 {
    taken(lock, Mode::Shared, real::pthread_rwlock_timedrdlock(lock, until))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_clockrdlock(lock: usize, clock: i32, until: *const timespec) -> i32 {
    taken(lock, Mode::Shared, real::pthread_rwlock_clockrdlock(lock, clock, until))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_wrlock(lock: usize) -> i32 {
    taken(lock, Mode::Exclusive, real::pthread_rwlock_wrlock(lock))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_trywrlock(lock: usize) -> i32 {
    taken(lock, Mode::Exclusive, real::pthread_rwlock_trywrlock(lock))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_timedwrlock(lock: usize, until: *const timespec) -> i32 {
    taken(lock, Mode::Exclusive, real::pthread_rwlock_timedwrlock(lock, until))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_clockwrlock(lock: usize, clock: i32, until: *const timespec) -> i32 {
    taken(lock, Mode::Exclusive, real::pthread_rwlock_clockwrlock(lock, clock, until))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_unlock(lock: usize) -> i32 {
    giving_up(lock);
    real::pthread_rwlock_unlock(lock)
}
