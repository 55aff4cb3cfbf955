//! Locks of the program's own, as `raddle.toml` names them: the functions that `raddle cc` puts around theirs.
//!
//! Between `begin` and `end` the thread is inside such a function: its accesses and what it synchronises by are not looked at, only that
//! the lock is taken or given back. Whether the lock excludes anybody is not known, so its record is changed under a lock of ours.

use crate::objects;
use crate::thread::{self, Mode, Thread};

pub fn begin(thread: &mut Thread) {
    thread.apart += 1;
    thread.set_flags();
}

pub fn end(thread: &mut Thread) {
    thread.apart = thread.apart.saturating_sub(1);
    thread.set_flags();
}

fn with_thread(work: impl FnOnce(&mut Thread)) {
    if let Some(thread) = thread::current() {
        work(thread);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __raddle_own_begin() {
    with_thread(begin);
}

#[unsafe(no_mangle)]
pub extern "C" fn __raddle_own_end() {
    with_thread(end);
}

#[unsafe(no_mangle)]
pub extern "C" fn __raddle_own_acquired(lock: usize, shared: u32) {
    with_thread(|thread| objects::acquired_own(thread, lock, mode(shared)));
}

/// After a function that returns at once: `zero` is 1 if it returns 0 when it got the lock.
#[unsafe(no_mangle)]
pub extern "C" fn __raddle_own_tried(lock: usize, shared: u32, result: i64, zero: u32) {
    if (result == 0) == (zero == 1) {
        __raddle_own_acquired(lock, shared);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __raddle_own_release(lock: usize) {
    with_thread(|thread| objects::release_own(thread, lock));
}

fn mode(shared: u32) -> Mode {
    if shared == 0 { Mode::Exclusive } else { Mode::Shared }
}
