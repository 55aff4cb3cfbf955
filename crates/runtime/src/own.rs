//! Locks of the program's own, as `raddle.toml` names them: the functions that `raddle cc` puts around theirs.
//!
//! Between `begin` and `end` the thread is inside such a function: its accesses and what it synchronises by are not looked at, only that
//! the lock is taken or given back. Whether the lock excludes anybody is not known, so its record is changed under a lock of ours.
//!
//! An exception or `longjmp` may leave such a function without an `end`. Whoever catches it sets the shadow stack back, and looks here
//! whether the frame in which the function began is still there.

use crate::control::{self, Family, How, calls};
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

const RELEASE: u32 = 1;
const TRY: u32 = 2;

/// Before the function. Under control what it does is one operation of the model, and then the function itself, in which nobody stops,
/// finds the lock as the model has it.
#[unsafe(no_mangle)]
pub extern "C" fn __raddle_own_begin(lock: usize, shared: u32, does: u32) -> u32 {
    let Some(thread) = thread::current() else { return 0 };
    if thread.apart == 0 {
        let mode = mode(shared);
        match does {
            RELEASE => drop(calls::unlock_own(lock, mode)),
            TRY => thread.tried = calls::lock(Family::Own, lock, mode, How::Try),
            _ => drop(calls::lock(Family::Own, lock, mode, How::Block)),
        }
    }
    if does == RELEASE && control::is_detecting() {
        objects::release_own(thread, lock);
    }
    begin(thread)
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
    if control::is_detecting() {
        with_thread(|thread| objects::acquired_own(thread, lock, mode(shared)));
    }
}

/// After a function that returns at once: `zero` is 1 if it returns 0 when it got the lock.
#[unsafe(no_mangle)]
pub extern "C" fn __raddle_own_tried(lock: usize, shared: u32, result: i64, zero: u32) {
    let got = (result == 0) == (zero == 1);
    let expected = thread::current().and_then(|thread| thread.tried.take());
    if expected.is_some_and(|error| (error == 0) != got) {
        crate::start::give_up("a lock function of raddle.toml does not do what it is said to do");
    }
    if got {
        __raddle_own_acquired(lock, shared);
    }
}

fn mode(shared: u32) -> Mode {
    if shared == 0 { Mode::Exclusive } else { Mode::Shared }
}
