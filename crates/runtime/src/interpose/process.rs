//! Processes: forks, and ways to end without running handlers.

use super::real::real;
use super::threads;
use crate::control::{self, Ending, calls};
use crate::{explore, gate, mixed, objects, output, record, records, report, thread};
use libc::{c_char, pid_t};

real! {
    fn fork() -> pid_t;
    fn abort() -> !;
    fn __assert_fail(text: *const c_char, file: *const c_char, line: u32, function: *const c_char) -> !;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fork() -> pid_t {
    let Some(me) = thread::current() else { return real::fork() };
    explore::unsupported("fork");
    me.busy += 1;
    let child = real::fork();
    me.busy -= 1;
    if child == 0 {
        control::leave();
        gate::reset();
        records::reset_locks();
        mixed::reset_locks();
        objects::reset_locks();
        threads::reset();
        report::reset();
        crate::slots::reset();
        thread::keep_only(me);
        let parent = output::pid();
        output::restart();
        report::forked(parent);
        record::forked(me);
    }
    child
}

/// The child of a `vfork` runs in our memory; a fork does what it needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vfork() -> pid_t {
    fork()
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
    report::exit();
    loop {
        unsafe { libc::syscall(libc::SYS_exit_group, status) };
    }
}
