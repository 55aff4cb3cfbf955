//! What the C library does for a thread of the system and nobody does for a fiber: beginning, ending, destructors of values.

use super::channel::MOST_THREADS;
use super::fiber;
use super::session;
use super::start;
use crate::control::{self, calls};
use crate::observe::{self, Mode};
use crate::thread;
use libc::c_void;

/// Rounds of destructors that the C library promises (`PTHREAD_DESTRUCTOR_ITERATIONS`).
const ROUNDS: u32 = 4;
const MOST_KEYS: usize = 1024;

pub type Destructor = unsafe extern "C" fn(*mut c_void);

/// Destructors of thread-specific values, by key.
static mut DESTRUCTORS: [Option<Destructor>; MOST_KEYS] = [None; MOST_KEYS];
/// One more than the last key that has one.
static mut KEYS: usize = 0;

/// Makes a fiber that calls `entry(argument)` once its beginning was performed. Gives what the program knows the thread by.
pub fn spawn(
    id: u32,
    record: u32,
    entry: extern "C-unwind" fn(usize) -> !,
    argument: usize,
) -> Option<usize> {
    session::get()?.make_fiber(id, record, entry, argument)
}

/// Before a thread is made: there may be too many.
pub fn make_room() {
    if observe::mode() != Mode::Explore {
        return;
    }
    if session::get().is_none() {
        start::fail(start::EARLY_THREADS);
    }
    if control::with(|model| model.lives.len()) >= MOST_THREADS {
        session::unsupported("more than 64 threads");
    }
}

/// A thread is to have a stack of so many bytes.
pub fn must_fit(bytes: usize) {
    if bytes > session::STACK {
        session::unsupported("a stack of more than 8 MiB");
    }
}

/// First in a new fiber.
pub fn start_thread() {
    unsafe { fiber::start_thread() };
}

/// The calling thread has come to its end, with this result.
pub fn end_thread(result: usize) -> ! {
    unsafe {
        fiber::end_thread();
        for _ in 0..ROUNDS {
            if !destroy_values() {
                break;
            }
        }
    }
    let session = session::get().expect("fibers have a session");
    if let Some(me) = thread::current() {
        session.results[me.id as usize] = result;
        calls::end(me);
    }
    unreachable!("a thread that has ended is not gone on with")
}

/// Whether there was one.
unsafe fn destroy_values() -> bool {
    let mut any = false;
    for key in 0..KEYS as libc::pthread_key_t {
        let Some(destructor) = DESTRUCTORS[key as usize] else { continue };
        let value = libc::pthread_getspecific(key);
        if !value.is_null() {
            libc::pthread_setspecific(key, std::ptr::null());
            destructor(value);
            any = true;
        }
    }
    any
}

/// Values of this key are destroyed by this.
pub fn destructor(key: libc::pthread_key_t, destructor: Option<Destructor>) {
    unsafe {
        if let Some(entry) = (&raw mut DESTRUCTORS).as_mut().and_then(|all| all.get_mut(key as usize)) {
            *entry = destructor;
            KEYS = KEYS.max(key as usize + 1);
        }
    }
}

pub fn forget_destructor(key: libc::pthread_key_t) {
    destructor(key, None);
}

/// What a thread that has ended has returned.
pub fn result_of(thread: u32) -> usize {
    session::get().and_then(|session| session.results.get(thread as usize).copied()).unwrap_or(0)
}
