//! What calls of threads, locks and waits read and write besides their object, called by instrumented code under the names
//! `__raddle_w_NAME`: deadlines, attributes, names, results.
//!
//! Bytes are those of the table `raddle_libmodel::memory`. Deadlines and attributes are read before the operation. The handle of a new thread
//! is written before the thread begins, as glibc does: POSIX does not promise it, and a thread that reads its own handle there is not
//! reported.

use super::wrappers::{reads, reads_string, wrappers, writes};
use super::{condition, mutex, rwlock, semaphore, threads, time};
use libc::{
    c_char, c_int, c_void, clockid_t, cpu_set_t, pthread_attr_t, pthread_barrierattr_t, pthread_condattr_t,
    pthread_mutexattr_t, pthread_rwlockattr_t, pthread_t, sched_param, size_t, timespec,
};
use threads::Routine;

type Attributes = pthread_attr_t;
type RoutineC11 = extern "C-unwind" fn(*mut c_void) -> i32;

/// Where glibc keeps the flags of a thread's attributes, and the size of its stack.
const FLAGS: usize = 8;
const STACK_SIZE: usize = 32;

unsafe extern "C" {
    fn pthread_attr_setscope(attributes: *mut Attributes, scope: c_int) -> c_int;
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
    fn pthread_setcanceltype(kind: c_int, old: *mut c_int) -> c_int;
    fn pthread_mutexattr_gettype(attributes: *const pthread_mutexattr_t, to: *mut c_int) -> c_int;
    fn pthread_mutexattr_setprioceiling(attributes: *mut pthread_mutexattr_t, ceiling: c_int) -> c_int;
    fn pthread_rwlockattr_setkind_np(attributes: *mut pthread_rwlockattr_t, kind: c_int) -> c_int;
    fn pthread_rwlockattr_getkind_np(attributes: *const pthread_rwlockattr_t, to: *mut c_int) -> c_int;
}

unsafe fn reads_time(time: *const timespec) {
    reads_if_any(time, size_of::<timespec>());
}

unsafe fn reads_if_any(p: *const impl Sized, bytes: usize) {
    if !p.is_null() {
        reads(p, bytes);
    }
}

unsafe fn reads_attributes(address: usize, bytes: usize) {
    reads_if_any(address as *const u8, bytes);
}

/// A result, if it was wanted.
unsafe fn writes_if_any(p: *mut impl Sized, bytes: usize) {
    if !p.is_null() {
        writes(p, bytes);
    }
}

/// Settings in an object are changed if the call succeeded.
unsafe fn changes(result: c_int, p: *mut impl Sized, bytes: usize) {
    if result == 0 {
        reads(p, bytes);
        writes(p, bytes);
    }
}

unsafe fn fills(result: c_int, p: *mut impl Sized, bytes: usize) {
    if result == 0 {
        writes(p, bytes);
    }
}

/// A setting is copied from an object if the call succeeded.
unsafe fn copies(result: c_int, from: *const impl Sized, to: *mut impl Sized, bytes: usize) {
    if result == 0 {
        reads(from, bytes);
        writes(to, bytes);
    }
}

// Threads.
wrappers! {
    __raddle_w_pthread_create = threads::pthread_create,
        (handle: *mut pthread_t, attributes: *const c_void, routine: Routine, argument: *mut c_void) -> c_int, got
        { reads_if_any(attributes, size_of::<Attributes>()); writes(handle, size_of::<pthread_t>()); } {}
    __raddle_w_thrd_create = threads::thrd_create,
        (handle: *mut pthread_t, routine: RoutineC11, argument: *mut c_void) -> c_int, got
        { writes(handle, size_of::<pthread_t>()); } {}
    __raddle_w_pthread_join = threads::pthread_join, (handle: pthread_t, result: *mut *mut c_void) -> c_int, got
        {} { if got == 0 { writes_if_any(result, 8); } }
    __raddle_w_pthread_tryjoin_np = threads::pthread_tryjoin_np,
        (handle: pthread_t, result: *mut *mut c_void) -> c_int, got
        {} { if got == 0 { writes_if_any(result, 8); } }
    __raddle_w_pthread_timedjoin_np = threads::pthread_timedjoin_np,
        (handle: pthread_t, result: *mut *mut c_void, until: *const timespec) -> c_int, got
        { reads_time(until); } { if got == 0 { writes_if_any(result, 8); } }
    __raddle_w_pthread_clockjoin_np = threads::pthread_clockjoin_np,
        (handle: pthread_t, result: *mut *mut c_void, clock: c_int, until: *const timespec) -> c_int, got
        { reads_time(until); } { if got == 0 { writes_if_any(result, 8); } }
    __raddle_w_thrd_join = threads::thrd_join, (handle: pthread_t, result: *mut i32) -> c_int, got
        {} { if got == 0 { writes_if_any(result, 4); } }
    __raddle_w_pthread_setname_np = libc::pthread_setname_np, (handle: pthread_t, name: *const c_char) -> c_int, got
        { reads_string(name); } {}
    __raddle_w_pthread_setaffinity_np = libc::pthread_setaffinity_np,
        (handle: pthread_t, bytes: size_t, set: *const cpu_set_t) -> c_int, got { reads(set, bytes); } {}
    __raddle_w_pthread_setcancelstate = pthread_setcancelstate, (state: c_int, old: *mut c_int) -> c_int, got
        {} { if got == 0 { writes_if_any(old, 4); } }
    __raddle_w_pthread_setcanceltype = pthread_setcanceltype, (kind: c_int, old: *mut c_int) -> c_int, got
        {} { if got == 0 { writes_if_any(old, 4); } }
    __raddle_w_thrd_sleep = time::thrd_sleep, (wanted: *const timespec, left: *mut timespec) -> c_int, got
        { reads_time(wanted); } { if got != 0 { writes_if_any(left, size_of::<timespec>()); } }
    __raddle_w_clock_nanosleep = time::clock_nanosleep,
        (clock: clockid_t, flags: c_int, wanted: *const timespec, left: *mut timespec) -> c_int, got
        { reads_time(wanted); } { if got == libc::EINTR { writes_if_any(left, size_of::<timespec>()); } }
}

// Locks, conditions, barriers, semaphores.
wrappers! {
    __raddle_w_pthread_mutex_init = mutex::pthread_mutex_init, (object: usize, attributes: usize) -> c_int, got
        { reads_attributes(attributes, 4); } {}
    __raddle_w_pthread_cond_init = condition::pthread_cond_init, (object: usize, attributes: usize) -> c_int, got
        { reads_attributes(attributes, 4); } {}
    __raddle_w_pthread_rwlock_init = rwlock::pthread_rwlock_init, (object: usize, attributes: usize) -> c_int, got
        { reads_attributes(attributes, 8); } {}
    __raddle_w_pthread_barrier_init = semaphore::pthread_barrier_init,
        (object: usize, attributes: usize, parties: u32) -> c_int, got { reads_attributes(attributes, 4); } {}
    __raddle_w_pthread_mutex_timedlock = mutex::pthread_mutex_timedlock,
        (lock: usize, until: *const timespec) -> c_int, got { reads_time(until); } {}
    __raddle_w_pthread_mutex_clocklock = mutex::pthread_mutex_clocklock,
        (lock: usize, clock: c_int, until: *const timespec) -> c_int, got { reads_time(until); } {}
    __raddle_w_mtx_timedlock = mutex::mtx_timedlock, (lock: usize, until: *const timespec) -> c_int, got
        { reads_time(until); } {}
    __raddle_w_pthread_rwlock_timedrdlock = rwlock::pthread_rwlock_timedrdlock,
        (lock: usize, until: *const timespec) -> c_int, got { reads_time(until); } {}
    __raddle_w_pthread_rwlock_clockrdlock = rwlock::pthread_rwlock_clockrdlock,
        (lock: usize, clock: c_int, until: *const timespec) -> c_int, got { reads_time(until); } {}
    __raddle_w_pthread_rwlock_timedwrlock = rwlock::pthread_rwlock_timedwrlock,
        (lock: usize, until: *const timespec) -> c_int, got { reads_time(until); } {}
    __raddle_w_pthread_rwlock_clockwrlock = rwlock::pthread_rwlock_clockwrlock,
        (lock: usize, clock: c_int, until: *const timespec) -> c_int, got { reads_time(until); } {}
    __raddle_w_pthread_cond_timedwait = condition::pthread_cond_timedwait,
        (cond: usize, lock: usize, until: *const timespec) -> c_int, got { reads_time(until); } {}
    __raddle_w_pthread_cond_clockwait = condition::pthread_cond_clockwait,
        (cond: usize, lock: usize, clock: c_int, until: *const timespec) -> c_int, got { reads_time(until); } {}
    __raddle_w_cnd_timedwait = condition::cnd_timedwait,
        (cond: usize, lock: usize, until: *const timespec) -> c_int, got { reads_time(until); } {}
    __raddle_w_sem_timedwait = semaphore::sem_timedwait, (object: usize, until: *const timespec) -> c_int, got
        { reads_time(until); } {}
    __raddle_w_sem_clockwait = semaphore::sem_clockwait,
        (object: usize, clock: c_int, until: *const timespec) -> c_int, got { reads_time(until); } {}
    __raddle_w_sem_getvalue = semaphore::sem_getvalue, (object: usize, value: *mut i32) -> c_int, got
        {} { fills(got, value, 4); }
}

// Attributes of threads.
wrappers! {
    __raddle_w_pthread_attr_init = libc::pthread_attr_init, (object: *mut Attributes) -> c_int, got
        {} { fills(got, object, size_of::<Attributes>()); }
    __raddle_w_pthread_attr_destroy = libc::pthread_attr_destroy, (object: *mut Attributes) -> c_int, got
        { writes(object, size_of::<Attributes>()); } {}
    __raddle_w_pthread_attr_setdetachstate = libc::pthread_attr_setdetachstate,
        (object: *mut Attributes, state: c_int) -> c_int, got {} { changes(got, object.byte_add(FLAGS), 4); }
    __raddle_w_pthread_attr_getdetachstate = threads::pthread_attr_getdetachstate,
        (object: *const c_void, to: *mut c_int) -> c_int, got {} { copies(got, object.byte_add(FLAGS), to, 4); }
    __raddle_w_pthread_attr_setstacksize = libc::pthread_attr_setstacksize,
        (object: *mut Attributes, bytes: size_t) -> c_int, got {} { fills(got, object.byte_add(STACK_SIZE), 8); }
    __raddle_w_pthread_attr_getstacksize = libc::pthread_attr_getstacksize,
        (object: *const Attributes, to: *mut size_t) -> c_int, got
        {} { copies(got, object.byte_add(STACK_SIZE), to, 8); }
    __raddle_w_pthread_attr_setstack = libc::pthread_attr_setstack,
        (object: *mut Attributes, start: *mut c_void, bytes: size_t) -> c_int, got
        {} { changes(got, object, size_of::<Attributes>()); }
    __raddle_w_pthread_attr_setguardsize = libc::pthread_attr_setguardsize,
        (object: *mut Attributes, bytes: size_t) -> c_int, got
        {} { changes(got, object, size_of::<Attributes>()); }
    __raddle_w_pthread_attr_setscope = pthread_attr_setscope, (object: *mut Attributes, scope: c_int) -> c_int, got
        {} { changes(got, object, size_of::<Attributes>()); }
    __raddle_w_pthread_attr_setschedpolicy = libc::pthread_attr_setschedpolicy,
        (object: *mut Attributes, policy: c_int) -> c_int, got
        {} { changes(got, object, size_of::<Attributes>()); }
    __raddle_w_pthread_attr_setinheritsched = libc::pthread_attr_setinheritsched,
        (object: *mut Attributes, inherits: c_int) -> c_int, got
        {} { changes(got, object, size_of::<Attributes>()); }
    __raddle_w_pthread_attr_setschedparam = libc::pthread_attr_setschedparam,
        (object: *mut Attributes, from: *const sched_param) -> c_int, got
        { reads(from, 4); } { changes(got, object, size_of::<Attributes>()); }
    __raddle_w_pthread_attr_setaffinity_np = libc::pthread_attr_setaffinity_np,
        (object: *mut Attributes, bytes: size_t, set: *const cpu_set_t) -> c_int, got
        { reads(set, bytes); } { changes(got, object, size_of::<Attributes>()); }
}

// Attributes of locks, conditions, barriers.
wrappers! {
    __raddle_w_pthread_mutexattr_init = libc::pthread_mutexattr_init, (object: *mut pthread_mutexattr_t) -> c_int, got
        {} { fills(got, object, 4); }
    __raddle_w_pthread_mutexattr_destroy = libc::pthread_mutexattr_destroy,
        (object: *mut pthread_mutexattr_t) -> c_int, got { writes(object, 4); } {}
    __raddle_w_pthread_mutexattr_settype = libc::pthread_mutexattr_settype,
        (object: *mut pthread_mutexattr_t, kind: c_int) -> c_int, got {} { changes(got, object, 4); }
    __raddle_w_pthread_mutexattr_gettype = pthread_mutexattr_gettype,
        (object: *const pthread_mutexattr_t, to: *mut c_int) -> c_int, got {} { copies(got, object, to, 4); }
    __raddle_w_pthread_mutexattr_setrobust = libc::pthread_mutexattr_setrobust,
        (object: *mut pthread_mutexattr_t, robust: c_int) -> c_int, got {} { changes(got, object, 4); }
    __raddle_w_pthread_mutexattr_getrobust = libc::pthread_mutexattr_getrobust,
        (object: *const pthread_mutexattr_t, to: *mut c_int) -> c_int, got {} { copies(got, object, to, 4); }
    __raddle_w_pthread_mutexattr_setpshared = libc::pthread_mutexattr_setpshared,
        (object: *mut pthread_mutexattr_t, shared: c_int) -> c_int, got {} { changes(got, object, 4); }
    __raddle_w_pthread_mutexattr_setprotocol = libc::pthread_mutexattr_setprotocol,
        (object: *mut pthread_mutexattr_t, protocol: c_int) -> c_int, got {} { changes(got, object, 4); }
    __raddle_w_pthread_mutexattr_setprioceiling = pthread_mutexattr_setprioceiling,
        (object: *mut pthread_mutexattr_t, ceiling: c_int) -> c_int, got {} { changes(got, object, 4); }
    __raddle_w_pthread_condattr_init = libc::pthread_condattr_init, (object: *mut pthread_condattr_t) -> c_int, got
        {} { fills(got, object, 4); }
    __raddle_w_pthread_condattr_destroy = libc::pthread_condattr_destroy,
        (object: *mut pthread_condattr_t) -> c_int, got { writes(object, 4); } {}
    __raddle_w_pthread_condattr_setpshared = libc::pthread_condattr_setpshared,
        (object: *mut pthread_condattr_t, shared: c_int) -> c_int, got {} { changes(got, object, 4); }
    __raddle_w_pthread_condattr_setclock = libc::pthread_condattr_setclock,
        (object: *mut pthread_condattr_t, clock: clockid_t) -> c_int, got {} { changes(got, object, 4); }
    __raddle_w_pthread_rwlockattr_init = libc::pthread_rwlockattr_init,
        (object: *mut pthread_rwlockattr_t) -> c_int, got {} { fills(got, object, 8); }
    __raddle_w_pthread_rwlockattr_destroy = libc::pthread_rwlockattr_destroy,
        (object: *mut pthread_rwlockattr_t) -> c_int, got { writes(object, 8); } {}
    __raddle_w_pthread_rwlockattr_setpshared = libc::pthread_rwlockattr_setpshared,
        (object: *mut pthread_rwlockattr_t, shared: c_int) -> c_int, got {} { changes(got, object, 8); }
    __raddle_w_pthread_rwlockattr_setkind_np = pthread_rwlockattr_setkind_np,
        (object: *mut pthread_rwlockattr_t, kind: c_int) -> c_int, got {} { fills(got, object, 4); }
    __raddle_w_pthread_rwlockattr_getkind_np = pthread_rwlockattr_getkind_np,
        (object: *const pthread_rwlockattr_t, to: *mut c_int) -> c_int, got {} { copies(got, object, to, 4); }
    __raddle_w_pthread_barrierattr_init = libc::pthread_barrierattr_init,
        (object: *mut pthread_barrierattr_t) -> c_int, got {} { fills(got, object, 4); }
    __raddle_w_pthread_barrierattr_destroy = libc::pthread_barrierattr_destroy,
        (object: *mut pthread_barrierattr_t) -> c_int, got { writes(object, 4); } {}
    __raddle_w_pthread_barrierattr_setpshared = libc::pthread_barrierattr_setpshared,
        (object: *mut pthread_barrierattr_t, shared: c_int) -> c_int, got {} { changes(got, object, 4); }
}
