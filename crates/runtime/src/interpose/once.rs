//! Things that are initialised once: `pthread_once`, C11 `call_once`, guards of static locals in C++.

use super::real::real;
use crate::atomics::{self, Operation, Order};
use crate::control::{self, calls};
use crate::log::{self, What};
use crate::objects;
use crate::thread;

real! {
    fn pthread_once(once: usize, initialiser: Initialiser) -> i32;
    fn call_once(once: usize, initialiser: Initialiser);
    fn __cxa_guard_acquire(guard: usize) -> i32;
    fn __cxa_guard_release(guard: usize);
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

/// A guard is taken like a lock, and seen by an acquire load in the program's own code: so it is an atomic for us.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __cxa_guard_acquire(guard: usize) -> i32 {
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
    let Some(thread) = thread::current() else { return real::__cxa_guard_release(guard) };
    let site = thread.call_site();
    let followed = atomics::enter(thread, (guard, 1), Operation::Store, RELEASE, RELEASE, site);
    real::__cxa_guard_release(guard);
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
    let tell = |work: &dyn Fn(&mut thread::Thread)| {
        if let Some(thread) = thread::current().filter(|_| control::is_detecting()) {
            work(thread);
        }
    };
    if calls::once(once) {
        initialiser();
        calls::once_end(once);
        tell(&|thread| objects::tell(thread, once, What::OnceEnd));
    }
    tell(&|thread| objects::hear(thread, once, What::OncePass));
}

/// In the place of the program's initialiser.
extern "C-unwind" fn run() {
    let Some(thread) = thread::current() else { return };
    let (once, initialiser) = thread.once;
    let initialiser: Initialiser = unsafe { std::mem::transmute(initialiser) };
    log::event(thread, What::OnceBegin, once, 0, 0);
    initialiser();
    objects::tell(thread, once, What::OnceEnd);
}
