//! Processes: forks, and ways to end without running handlers.

use super::real::real;
use super::{handlers, readiness, rings, threads};
use crate::control::{self, Ending, calls};
use crate::{channels, ends, explore, gate, image, mixed, objects, output, record, records, report, thread};
use libc::{c_char, c_void, pid_t};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

real! {
    fn fork() -> pid_t;
    fn abort() -> !;
    fn posix_spawn(process: *mut pid_t, path: *const c_char, actions: *const c_void, attributes: *const c_void, arguments: *const *mut c_char, environment: *const *mut c_char) -> i32;
    fn posix_spawnp(process: *mut pid_t, file: *const c_char, actions: *const c_void, attributes: *const c_void, arguments: *const *mut c_char, environment: *const *mut c_char) -> i32;
    fn __assert_fail(text: *const c_char, file: *const c_char, line: u32, function: *const c_char) -> !;
}

unsafe extern "C" {
    /// As `pthread_atfork`, without the part of it that is linked statically.
    fn __register_atfork(before: Handler, parent: Handler, child: Handler, library: *const c_void) -> i32;
}

type Handler = unsafe extern "C" fn();

/// What was taken for a fork, by the only thread that forks.
static TAKEN: AtomicU8 = AtomicU8::new(NOTHING);
const NOTHING: u8 = 0;
const GATE: u8 = 1;
const HANDLES: u8 = 2;
const SLOTS: u8 = 4;
const PAIRS: u8 = 8;
const CHANNELS: u8 = 16;
const ENDS: u8 = 32;
const INTERESTS: u8 = 64;

/// Before the program can: our handlers come next to the fork itself, on both sides of it.
pub fn start() {
    unsafe { __register_atfork(before_fork, in_parent, in_child, std::ptr::null()) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fork() -> pid_t {
    explore::unsupported("fork");
    real::fork()
}

unsafe extern "C" fn before_fork() {
    let Some(me) = thread::current() else { return };
    gate::hold(me);
    let mut taken = GATE;
    for (lock, hold) in [
        (HANDLES, threads::hold as fn() -> bool),
        (SLOTS, crate::slots::hold),
        (PAIRS, report::hold),
        (CHANNELS, channels::hold),
        (ENDS, ends::hold),
        (INTERESTS, readiness::hold),
    ] {
        if hold() {
            taken |= lock;
        }
    }
    TAKEN.store(taken, Relaxed);
    channels::shared();
}

unsafe extern "C" fn in_parent() {
    let taken = TAKEN.swap(NOTHING, Relaxed);
    for (lock, give) in [
        (INTERESTS, readiness::reset as fn()),
        (ENDS, ends::reset),
        (CHANNELS, channels::reset),
        (PAIRS, report::let_go),
        (SLOTS, crate::slots::reset),
        (HANDLES, threads::let_go),
        (GATE, gate::reset),
    ] {
        if taken & lock != 0 {
            give();
        }
    }
}

unsafe extern "C" fn in_child() {
    TAKEN.store(NOTHING, Relaxed);
    let Some(me) = thread::current() else { return };
    control::leave();
    gate::reset();
    records::reset_locks();
    mixed::reset_locks();
    objects::reset_locks();
    threads::reset();
    report::reset();
    image::reset();
    crate::slots::reset();
    channels::reset();
    ends::reset();
    readiness::reset();
    handlers::reset();
    rings::reset();
    thread::keep_only(me);
    let parent = output::pid();
    output::restart();
    report::forked(parent);
    record::forked(me);
}

/// The child of a `vfork` runs in our memory; a fork does what it needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vfork() -> pid_t {
    fork()
}

/// The new process has copies of descriptors.
#[unsafe(no_mangle)]
unsafe extern "C" fn posix_spawn(
    process: *mut pid_t,
    path: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    arguments: *const *mut c_char,
    environment: *const *mut c_char,
) -> i32 {
    channels::shared();
    real::posix_spawn(process, path, actions, attributes, arguments, environment)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_spawnp(
    process: *mut pid_t,
    file: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    arguments: *const *mut c_char,
    environment: *const *mut c_char,
) -> i32 {
    channels::shared();
    real::posix_spawnp(process, file, actions, attributes, arguments, environment)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn _exit(status: i32) -> ! {
    end(status)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn _Exit(status: i32) -> ! {
    end(status)
}

/// Under control other threads may go on before.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn abort() -> ! {
    calls::exit(Ending::Abort);
    real::abort()
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __assert_fail(
    text: *const c_char,
    file: *const c_char,
    line: u32,
    function: *const c_char,
) -> ! {
    calls::exit(Ending::Assertion);
    // The message says what failed; the abort in it is the end of the same operation.
    if let Some(me) = thread::current() {
        me.busy += 1;
    }
    real::__assert_fail(text, file, line, function)
}

fn end(status: i32) -> ! {
    calls::exit(Ending::Exit(status));
    let status = report::exit().unwrap_or(status);
    loop {
        unsafe { libc::syscall(libc::SYS_exit_group, status) };
    }
}
