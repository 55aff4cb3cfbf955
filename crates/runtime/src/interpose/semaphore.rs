//! Semaphores and barriers.

use super::mutex::{begins_anew, goes};
use super::real::real;
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
    fn pthread_barrier_init(barrier: usize, attributes: usize, parties: u32) -> i32;
    fn pthread_barrier_destroy(barrier: usize) -> i32;
    fn pthread_barrier_wait(barrier: usize) -> i32;
}

/// Where glibc 2.36 keeps the number of parties in a `pthread_barrier_t`, for barriers that were not initialised through us.
const PARTIES: usize = 8;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_init(semaphore: usize, shared: i32, value: u32) -> i32 {
    begins_anew(semaphore, 0);
    real::sem_init(semaphore, shared, value)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_destroy(semaphore: usize) -> i32 {
    goes(semaphore);
    real::sem_destroy(semaphore)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_post(semaphore: usize) -> i32 {
    if let Some(thread) = thread::current() {
        objects::tell(thread, semaphore, What::Post);
    }
    real::sem_post(semaphore)
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sem_wait(semaphore: usize) -> i32 {
    waited(semaphore, real::sem_wait(semaphore))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sem_trywait(semaphore: usize) -> i32 {
    waited(semaphore, real::sem_trywait(semaphore))
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sem_timedwait(semaphore: usize, until: *const timespec) -> i32 {
    waited(semaphore, real::sem_timedwait(semaphore, until))
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sem_clockwait(semaphore: usize, clock: i32, until: *const timespec) -> i32 {
    waited(semaphore, real::sem_clockwait(semaphore, clock, until))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_init(barrier: usize, attributes: usize, parties: u32) -> i32 {
    begins_anew(barrier, parties);
    real::pthread_barrier_init(barrier, attributes, parties)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_destroy(barrier: usize) -> i32 {
    let result = real::pthread_barrier_destroy(barrier);
    goes(barrier);
    result
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_wait(barrier: usize) -> i32 {
    let Some(thread) = thread::current() else { return real::pthread_barrier_wait(barrier) };
    let parties = *((barrier + PARTIES) as *const u32);
    let round = objects::arrive(thread, barrier, parties);
    let result = real::pthread_barrier_wait(barrier);
    objects::depart(thread, barrier, round);
    result
}

fn waited(semaphore: usize, result: i32) -> i32 {
    if result == 0
        && let Some(thread) = thread::current()
    {
        objects::hear(thread, semaphore, What::Wait);
    }
    result
}
