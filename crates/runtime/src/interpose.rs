//! The functions that the runtime puts in front of the C library's own, so that everybody in the process synchronises through it:
//! the program, and libraries that were never instrumented.
//!
//! Each calls the real one, found as the next definition of its name, and tells the detector what that did. `errno` is left as the real
//! one left it.

pub mod condition;
pub mod memory;
pub mod mutex;
pub mod once;
pub mod process;
pub mod real;
pub mod rwlock;
pub mod semaphore;
pub mod threads;
pub mod time;
pub mod verifier;
pub mod wrappers;

use crate::control;
use crate::report;

/// What must be set up once the runtime runs.
pub fn start() {
    threads::start();
    unsafe { libc::atexit(at_exit) };
}

extern "C" fn at_exit() {
    control::calls::exit();
    report::exit();
}
