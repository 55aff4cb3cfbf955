//! Semaphores and barriers.

use super::mutex::{begins_anew, goes, may_begin, may_end};
use super::real::real;
use crate::control::{self, Family, How, calls};
use crate::log::What;
use crate::objects;
use crate::thread;
use libc::timespec;

real! {
    fn sem_init(semaphore: usize, shared: i32, value: u32) -> i32;
    fn sem_destroy(semaphore: usize) -> i32;
    fn sem_post(semaphore: usize) -> i32;
    fn sem_wait(semaphore: usize) -> i32;
    fn sem_trywait(semaphore: usize) -> i32;
    fn sem_timedwait(semaphore: usize, until: *const timespec) -> i32;
    fn sem_clockwait(semaphore: usize, clock: i32, until: *const timespec) -> i32;
    fn sem_getvalue(semaphore: usize, value: *mut i32) -> i32;
    fn pthread_barrier_init(barrier: usize, attributes: usize, parties: u32) -> i32;
    fn pthread_barrier_destroy(barrier: usize) -> i32;
    fn pthread_barrier_wait(barrier: usize) -> i32;
}

/// Where glibc 2.36 keeps the number of parties in a `pthread_barrier_t`, for barriers that were not initialised through us.
const PARTIES: usize = 8;
const SHARED: usize = 12;

/// Whether a barrier may be used by several processes.
unsafe fn is_shared(barrier: usize) -> bool {
    *((barrier + SHARED) as *const u32) != 0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_init(semaphore: usize, shared: i32, value: u32) -> i32 {
    if let Err(error) = may_begin(Family::Semaphore, semaphore, u64::from(value)) {
        return failed(error);
    }
    begins_anew(semaphore, 0, value);
    real::sem_init(semaphore, shared, value)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_destroy(semaphore: usize) -> i32 {
    if let Err(error) = may_end(Family::Semaphore, semaphore) {
        return failed(error);
    }
    goes(semaphore);
    real::sem_destroy(semaphore)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_post(semaphore: usize) -> i32 {
    let result = calls::post(semaphore);
    if result.is_none_or(|result| result == 0)
        && control::is_detecting()
        && let Some(thread) = thread::current()
    {
        objects::tell(thread, semaphore, What::Post);
    }
    result.map(failed).unwrap_or_else(|| real::sem_post(semaphore))
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sem_wait(semaphore: usize) -> i32 {
    let result = calls::down(semaphore, How::Block).map(failed);
    waited(semaphore, result.unwrap_or_else(|| real::sem_wait(semaphore)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_trywait(semaphore: usize) -> i32 {
    let result = calls::down(semaphore, How::Try).map(failed);
    waited(semaphore, result.unwrap_or_else(|| real::sem_trywait(semaphore)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sem_timedwait(semaphore: usize, until: *const timespec) -> i32 {
    let result = calls::down(semaphore, How::Timed).map(failed);
    waited(semaphore, result.unwrap_or_else(|| real::sem_timedwait(semaphore, until)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sem_clockwait(semaphore: usize, clock: i32, until: *const timespec) -> i32 {
    let result = calls::down(semaphore, How::Timed).map(failed);
    waited(semaphore, result.unwrap_or_else(|| real::sem_clockwait(semaphore, clock, until)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_getvalue(semaphore: usize, value: *mut i32) -> i32 {
    match calls::semaphore_value(semaphore) {
        None => real::sem_getvalue(semaphore, value),
        Some(Ok(present)) => {
            *value = present as i32;
            0
        }
        Some(Err(error)) => failed(error),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_init(barrier: usize, attributes: usize, parties: u32) -> i32 {
    if let Err(error) = may_begin(Family::Barrier, barrier, u64::from(parties)) {
        return error;
    }
    begins_anew(barrier, parties, 0);
    real::pthread_barrier_init(barrier, attributes, parties)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_destroy(barrier: usize) -> i32 {
    if let Err(error) = may_end(Family::Barrier, barrier) {
        return error;
    }
    if !is_shared(barrier)
        && control::is_detecting()
        && let Some(thread) = thread::current()
    {
        objects::wait_until_left(thread, barrier);
    }
    let result = real::pthread_barrier_destroy(barrier);
    goes(barrier);
    result
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_wait(barrier: usize) -> i32 {
    let Some(thread) = thread::current() else { return real::pthread_barrier_wait(barrier) };
    if control::is_on() {
        return controlled_barrier(barrier);
    }
    let parties = *((barrier + PARTIES) as *const u32);
    let Some(place) = objects::arrive(thread, barrier, parties) else {
        return real::pthread_barrier_wait(barrier);
    };
    // Other processes may be among those who wait.
    let serial = if is_shared(barrier) {
        real::pthread_barrier_wait(barrier)
    } else {
        place.wait();
        if place.is_last { libc::PTHREAD_BARRIER_SERIAL_THREAD } else { 0 }
    };
    objects::depart(thread, barrier, place);
    serial
}

fn controlled_barrier(barrier: usize) -> i32 {
    let detector = || thread::current().filter(|_| control::is_detecting());
    let parties = unsafe { *((barrier + PARTIES) as *const u32) };
    if let Some(error) = calls::arrive(barrier).filter(|result| *result != 0) {
        return error;
    }
    let place = detector().and_then(|thread| objects::arrive(thread, barrier, parties));
    let serial = calls::leave(barrier);
    if let (Some(thread), Some(place)) = (detector(), place) {
        objects::depart(thread, barrier, place);
    }
    if serial { libc::PTHREAD_BARRIER_SERIAL_THREAD } else { 0 }
}

/// An error number as functions of semaphores tell it.
fn failed(error: i32) -> i32 {
    if error == 0 {
        return 0;
    }
    unsafe { *libc::__errno_location() = error };
    -1
}

fn waited(semaphore: usize, result: i32) -> i32 {
    if result == 0
        && control::is_detecting()
        && let Some(thread) = thread::current()
    {
        objects::hear(thread, semaphore, What::Wait);
    }
    result
}
