//! Things that are initialised once: `pthread_once`, C11 `call_once`, guards of static locals in C++.

use super::real::real;
use crate::atomics::{self, Operation, Order};
use crate::control::{self, calls};
use crate::log::{self, What};
use crate::objects;
use crate::thread;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};

real! {
    fn pthread_once(once: usize, initialiser: Initialiser) -> i32;
    fn call_once(once: usize, initialiser: Initialiser);
    fn __cxa_guard_acquire(guard: usize) -> i32;
    fn __cxa_guard_release(guard: usize);
    fn __cxa_guard_abort(guard: usize);
}

type Initialiser = extern "C-unwind" fn();

const ACQUIRE: Order = Order(2);
const RELEASE: Order = Order(3);

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_once(once: usize, initialiser: Initialiser) -> i32 {
    through(once, initialiser, |run| real::pthread_once(once, run))
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn call_once(once: usize, initialiser: Initialiser) {
    through(once, initialiser, |run| {
        real::call_once(once, run);
        0
    });
}

/// A guard is taken like a lock, and seen by an acquire load in the program's own code: so it is an atomic for us. Under control it is
/// a thing that is initialised once, and the C++ library's own function, which could wait, is not called.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __cxa_guard_acquire(guard: usize) -> i32 {
    if calls::is_controlled() {
        let runs = calls::once(guard);
        tell(|thread| objects::hear(thread, guard, What::OncePass));
        return i32::from(runs);
    }
    let result = real::__cxa_guard_acquire(guard);
    if let Some(thread) = thread::current() {
        let site = thread.call_site();
        if atomics::enter(thread, (guard, 1), Operation::Load, ACQUIRE, ACQUIRE, site) {
            atomics::leave(thread, true);
        }
    }
    result
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cxa_guard_release(guard: usize) {
    if calls::is_controlled() {
        stored(guard, || (guard as *mut u8).write_volatile(1));
        calls::once_end(guard);
        tell(|thread| objects::tell(thread, guard, What::OnceEnd));
    } else {
        stored(guard, || real::__cxa_guard_release(guard));
    }
}

/// The initialiser was left by an exception.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cxa_guard_abort(guard: usize) {
    if calls::is_controlled() {
        abandoned(guard);
    } else {
        stored(guard, || real::__cxa_guard_abort(guard));
    }
}

/// Changes the guard by a release store.
fn stored(guard: usize, change: impl FnOnce()) {
    let Some(thread) = thread::current() else { return change() };
    let site = thread.call_site();
    let followed = atomics::enter(thread, (guard, 1), Operation::Store, RELEASE, RELEASE, site);
    change();
    if followed {
        atomics::leave(thread, true);
    }
}

fn through(once: usize, initialiser: Initialiser, real: impl FnOnce(Initialiser) -> i32) -> i32 {
    let Some(thread) = thread::current() else { return real(initialiser) };
    if control::is_on() {
        controlled(once, initialiser);
        return 0;
    }
    let outer = std::mem::replace(&mut thread.once, (once, initialiser as usize));
    let result = real(run);
    thread.once = outer;
    if result == 0 {
        objects::hear(thread, once, What::OncePass);
    }
    result
}

fn controlled(once: usize, initialiser: Initialiser) {
    if calls::once(once) {
        tell(|thread| objects::hear(thread, once, What::OncePass));
        let running = Running { once, left: abandoned };
        initialiser();
        std::mem::forget(running);
        calls::once_end(once);
        tell(|thread| objects::tell(thread, once, What::OnceEnd));
    }
    tell(|thread| objects::hear(thread, once, What::OncePass));
}

/// Under control: somebody else may run the initialiser.
fn abandoned(once: usize) {
    tell(|thread| objects::tell(thread, once, What::OnceEnd));
    calls::once_abandoned(once);
}

/// An initialiser that runs; when it is left by an exception, or the end of its thread, `left` is called.
struct Running {
    once: usize,
    left: fn(usize),
}

impl Drop for Running {
    fn drop(&mut self) {
        (self.left)(self.once);
    }
}

/// Tells the detector, if there is one.
fn tell(work: impl FnOnce(&mut thread::Thread)) {
    if let Some(thread) = thread::current().filter(|_| control::is_detecting()) {
        work(thread);
    }
}

/// Some initialiser was left before it was through; the next one of its object is ordered after it.
static LEFT: AtomicBool = AtomicBool::new(false);

/// In the place of the program's initialiser.
extern "C-unwind" fn run() {
    let Some(thread) = thread::current() else { return };
    let (once, initialiser) = thread.once;
    let initialiser: Initialiser = unsafe { std::mem::transmute(initialiser) };
    if LEFT.load(Acquire) {
        objects::hear(thread, once, What::OncePass);
    }
    log::event(thread, What::OnceBegin, once, 0, 0);
    let running = Running {
        once,
        left: |once| {
            LEFT.store(true, Release);
            tell(|thread| objects::tell(thread, once, What::OnceEnd));
        },
    };
    initialiser();
    std::mem::forget(running);
    objects::tell(thread, once, What::OnceEnd);
}
