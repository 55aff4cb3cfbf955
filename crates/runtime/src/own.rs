//! Locks of the program's own, as `raddle.toml` names them: the functions that `raddle cc` puts around theirs.
//!
//! Between `begin` and `end` the thread is inside such a function: its accesses and what it synchronises by are not looked at, only that
//! the lock is taken or given back. Whether the lock excludes anybody is not known, so its record is changed under a lock of ours.
//!
//! An exception or `longjmp` may leave such a function without an `end`. Whoever catches it sets the shadow stack back, and looks here
//! whether the frame in which the function began is still there.

use crate::objects;
use crate::thread::{self, MOST_APART, Mode, Thread};

/// How deep the thread was before.
fn begin(thread: &mut Thread) -> u32 {
    let depth = thread.apart;
    if let Some(began) = thread.apart_from.get_mut(depth as usize) {
        *began = unsafe { (*thread.block).top };
    }
    set_depth(thread, depth + 1);
    depth
}

/// Frames above the top do not exist any more, and whoever the top belongs to goes on: functions that began there were left.
fn come_back(thread: &mut Thread) {
    let top = thread.top();
    let began = &thread.apart_from[..thread.apart.min(MOST_APART as u32) as usize];
    if let Some(depth) = began.iter().position(|began| top <= *began) {
        set_depth(thread, depth as u32);
    }
}

pub fn set_depth(thread: &mut Thread, depth: u32) {
    thread.apart = depth;
    thread.set_flags();
}

fn with_thread(work: impl FnOnce(&mut Thread)) {
    if let Some(thread) = thread::current() {
        work(thread);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn __raddle_own_begin() -> u32 {
    thread::current().map_or(0, begin)
}

/// With what `__raddle_own_begin` said: functions inside this one may have been left unseen.
#[unsafe(no_mangle)]
pub extern "C" fn __raddle_own_end(depth: u32) {
    with_thread(|thread| set_depth(thread, depth));
}

/// An exception was caught, or `longjmp` has come back.
#[unsafe(no_mangle)]
pub extern "C" fn __raddle_own_left() {
    with_thread(come_back);
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
