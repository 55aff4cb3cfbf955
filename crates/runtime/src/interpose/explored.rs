//! What the C library must not do itself in an exploration: start `main`, end threads, unwind them, destroy their values.
//!
//! Elsewhere these only pass on to its own functions.

use super::real::real;
use crate::explore::{self, Main};
use crate::observe::{self, Mode};
use libc::{c_char, c_int, c_void, pthread_key_t, pthread_t};
use std::cell::Cell;

type MainFunction = extern "C-unwind" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;
type Destructor = unsafe extern "C" fn(*mut c_void);

real! {
    fn __libc_start_main(main: MainFunction, count: c_int, arguments: *mut *mut c_char, init: usize, fini: usize, end: usize, stack: usize) -> c_int;
    fn pthread_exit(result: *mut c_void) -> !;
    fn thrd_exit(result: c_int) -> !;
    fn pthread_cancel(handle: pthread_t) -> c_int;
    fn pthread_kill(handle: pthread_t, signal: c_int) -> c_int;
    fn pthread_key_create(key: *mut pthread_key_t, destructor: Option<Destructor>) -> c_int;
    fn pthread_key_delete(key: pthread_key_t) -> c_int;
    fn __pthread_register_cancel(buffer: *mut Cleanup);
    fn __pthread_unregister_cancel(buffer: *mut Cleanup);
    fn __pthread_unwind_next(buffer: *mut Cleanup) -> !;
}

unsafe extern "C" {
    fn longjmp(state: *mut c_void, value: c_int) -> !;
}

/// `__pthread_unwind_buf_t`: a saved state, whether it has a signal mask, and room for us.
#[repr(C)]
struct Cleanup {
    state: [usize; 8],
    mask: c_int,
    outer: *mut Cleanup,
}

thread_local! {
    /// The innermost handler of `pthread_cleanup_push` in C.
    static CLEANUP: Cell<*mut Cleanup> = const { Cell::new(std::ptr::null_mut()) };
    static RESULT: Cell<usize> = const { Cell::new(0) };
}

static mut MAIN: Option<MainFunction> = None;

fn is_explored() -> bool {
    observe::mode() == Mode::Explore
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __libc_start_main(
    main: MainFunction,
    count: c_int,
    arguments: *mut *mut c_char,
    init: usize,
    fini: usize,
    end: usize,
    stack: usize,
) -> c_int {
    let main = match is_explored() {
        true => {
            MAIN = Some(main);
            explored_main
        }
        false => main,
    };
    real::__libc_start_main(main, count, arguments, init, fini, end, stack)
}

extern "C-unwind" fn explored_main(
    count: c_int,
    arguments: *mut *mut c_char,
    environment: *mut *mut c_char,
) -> c_int {
    match unsafe { MAIN } {
        Some(function) => explore::serve(Main { function, count, arguments, environment }),
        None => 1,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_exit(result: *mut c_void) -> ! {
    if is_explored() {
        leave(result as usize);
    }
    real::pthread_exit(result)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn thrd_exit(result: c_int) -> ! {
    if is_explored() {
        leave(result as usize);
    }
    real::thrd_exit(result)
}

unsafe fn leave(result: usize) -> ! {
    RESULT.set(result);
    unwind()
}

/// Runs the next handler, or ends the thread.
unsafe fn unwind() -> ! {
    match CLEANUP.get().as_mut() {
        Some(handler) => {
            CLEANUP.set(handler.outer);
            longjmp((&raw mut handler.state).cast(), 1)
        }
        None => explore::end_thread(RESULT.get()),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __pthread_register_cancel(buffer: *mut Cleanup) {
    if !is_explored() {
        return real::__pthread_register_cancel(buffer);
    }
    (*buffer).outer = CLEANUP.replace(buffer);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __pthread_unregister_cancel(buffer: *mut Cleanup) {
    if !is_explored() {
        return real::__pthread_unregister_cancel(buffer);
    }
    CLEANUP.set((*buffer).outer);
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __pthread_unwind_next(buffer: *mut Cleanup) -> ! {
    if !is_explored() {
        real::__pthread_unwind_next(buffer);
    }
    unwind()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_cancel(handle: pthread_t) -> c_int {
    explore::unsupported("pthread_cancel");
    real::pthread_cancel(handle)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_kill(handle: pthread_t, signal: c_int) -> c_int {
    explore::unsupported("pthread_kill");
    super::signals::is_sent(signal);
    real::pthread_kill(handle, signal)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_key_create(key: *mut pthread_key_t, destructor: Option<Destructor>) -> c_int {
    if !is_explored() {
        return real::pthread_key_create(key, destructor);
    }
    let result = real::pthread_key_create(key, None);
    if result == 0 {
        explore::destructor(*key, destructor);
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_key_delete(key: pthread_key_t) -> c_int {
    if is_explored() {
        explore::forget_destructor(key);
    }
    real::pthread_key_delete(key)
}
