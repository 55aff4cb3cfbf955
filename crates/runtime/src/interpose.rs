//! The functions that the runtime puts in front of the C library's own, so that everybody in the process synchronises through it:
//! the program, and libraries that were never instrumented.
//!
//! Each calls the real one, found as the next definition of its name, and tells the detector what that did. `errno` is left as the real
//! one left it.

pub mod condition;
pub mod descriptors;
mod explored;
pub mod handlers;
pub mod memory;
pub mod mutex;
pub mod once;
pub mod process;
pub mod readiness;
pub mod real;
pub mod rings;
pub mod rwlock;
pub mod semaphore;
pub mod settings;
pub mod signals;
pub mod sockets;
pub mod streams;
pub mod threads;
pub mod time;
pub mod verifier;
pub mod wrappers;

use crate::control::{self, Ending};
use crate::report;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What must be set up once the runtime runs.
pub fn start() {
    process::start();
    threads::start();
    // Under control several threads may be about to end the process, and each takes a handler for itself.
    let handlers = if control::is_on() { 16 } else { 1 };
    for _ in 0..handlers {
        unsafe { on_exit(at_exit, std::ptr::null_mut()) };
    }
}

unsafe extern "C" {
    fn on_exit(function: extern "C" fn(i32, *mut c_void), argument: *mut c_void) -> i32;
}

/// Some thread has gone through [`at_exit`]; it goes through those that are left, too.
static ENDS: AtomicBool = AtomicBool::new(false);

extern "C" fn at_exit(status: i32, _: *mut c_void) {
    if !ENDS.load(Relaxed) {
        control::calls::exit(Ending::Exit(status));
        ENDS.store(true, Relaxed);
        if let Some(code) = report::exit() {
            // What the program's streams hold; the C library would write it after us.
            unsafe {
                libc::fflush(std::ptr::null_mut());
                libc::syscall(libc::SYS_exit_group, code);
            }
        }
    }
}
