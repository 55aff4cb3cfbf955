//! Time, and waiting for it. Under control no time passes but that which operations and sleeps take in the model: a sleep lets others
//! run and returns, a clock tells virtual time. Otherwise the C library's own.

use super::real::real;
use crate::control::calls;
use libc::{clockid_t, time_t, timespec, timeval};

real! {
    fn sched_yield() -> i32;
    fn thrd_yield();
    fn sleep(seconds: u32) -> u32;
    fn usleep(microseconds: u32) -> i32;
    fn nanosleep(wanted: *const timespec, left: *mut timespec) -> i32;
    fn thrd_sleep(wanted: *const timespec, left: *mut timespec) -> i32;
    fn clock_nanosleep(clock: clockid_t, flags: i32, wanted: *const timespec, left: *mut timespec) -> i32;
    fn clock_gettime(clock: clockid_t, now: *mut timespec) -> i32;
    fn gettimeofday(now: *mut timeval, zone: *mut u64) -> i32;
    fn time(now: *mut time_t) -> time_t;
    fn timespec_get(now: *mut timespec, base: i32) -> i32;
}

/// Seconds from 1970 to the start of virtual time: 2024-01-01, as in the interpreter.
const EPOCH: u64 = 1_704_067_200;
const SECOND: u64 = 1_000_000_000;
const TIME_UTC: i32 = 1;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sched_yield() -> i32 {
    if calls::give_way(0) { 0 } else { real::sched_yield() }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn thrd_yield() {
    if !calls::give_way(0) {
        real::thrd_yield();
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sleep(seconds: u32) -> u32 {
    if calls::give_way(u64::from(seconds) * SECOND) { 0 } else { real::sleep(seconds) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn usleep(microseconds: u32) -> i32 {
    if calls::give_way(u64::from(microseconds) * 1000) { 0 } else { real::usleep(microseconds) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn nanosleep(wanted: *const timespec, left: *mut timespec) -> i32 {
    if calls::is_controlled() && calls::give_way(length(wanted)) { 0 } else { real::nanosleep(wanted, left) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn thrd_sleep(wanted: *const timespec, left: *mut timespec) -> i32 {
    if calls::is_controlled() && calls::give_way(length(wanted)) { 0 } else { real::thrd_sleep(wanted, left) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn clock_nanosleep(
    clock: clockid_t,
    flags: i32,
    wanted: *const timespec,
    left: *mut timespec,
) -> i32 {
    if calls::is_controlled() && calls::give_way(if flags == 0 { length(wanted) } else { 0 }) {
        return 0;
    }
    real::clock_nanosleep(clock, flags, wanted, left)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: clockid_t, now: *mut timespec) -> i32 {
    let Some(time) = calls::now() else { return real::clock_gettime(clock, now) };
    let start = if matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE) { EPOCH } else { 0 };
    *now = timespec { tv_sec: (start + time / SECOND) as i64, tv_nsec: (time % SECOND) as i64 };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn gettimeofday(now: *mut timeval, zone: *mut u64) -> i32 {
    let Some(time) = calls::now() else { return real::gettimeofday(now, zone) };
    if let Some(now) = now.as_mut() {
        *now = timeval { tv_sec: (EPOCH + time / SECOND) as i64, tv_usec: (time % SECOND / 1000) as i64 };
    }
    if let Some(zone) = zone.as_mut() {
        *zone = 0;
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn time(now: *mut time_t) -> time_t {
    let Some(time) = calls::now() else { return real::time(now) };
    let seconds = (EPOCH + time / SECOND) as time_t;
    if let Some(now) = now.as_mut() {
        *now = seconds;
    }
    seconds
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn timespec_get(now: *mut timespec, base: i32) -> i32 {
    if base != TIME_UTC || !calls::is_controlled() {
        return real::timespec_get(now, base);
    }
    clock_gettime(libc::CLOCK_REALTIME, now);
    base
}

unsafe fn length(wanted: *const timespec) -> u64 {
    wanted.as_ref().map_or(0, |wanted| (wanted.tv_sec as u64).saturating_mul(SECOND) + wanted.tv_nsec as u64)
}
