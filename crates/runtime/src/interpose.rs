//! The functions that the runtime puts in front of the C library's own, so that everybody in the process synchronises through it:
//! the program, and libraries that were never instrumented.
//!
//! Each calls the real one, found as the next definition of its name, and tells the detector what that did. `errno` is left as the real
//! one left it.

pub mod condition;
mod explored;
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

use crate::control::{self, Ending};
use crate::report;
use std::ffi::c_void;

/// What must be set up once the runtime runs.
pub fn start() {
    process::start();
    threads::start();
    unsafe { on_exit(at_exit, std::ptr::null_mut()) };
}

unsafe extern "C" {
    fn on_exit(function: extern "C" fn(i32, *mut c_void), argument: *mut c_void) -> i32;
}

extern "C" fn at_exit(status: i32, _: *mut c_void) {
    control::calls::exit(Ending::Exit(status));
    report::exit();
}
