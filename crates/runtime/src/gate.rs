//! Lets one thread stop all others from changing cells, for the collector.
//!
//! Whoever is about to change a cell or a table is *inside*; entering is two plain stores. The collector raises a flag, makes it seen
//! everywhere by `membarrier(2)`, and waits until nobody is inside. Threads that run the program's own code, or sleep in the kernel, are
//! not disturbed: the tests compiled into the program only read.

use crate::thread::{self, Thread};
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
    compiler_fence, fence,
};

const REGISTER_PRIVATE_EXPEDITED: i32 = 1 << 4;
const PRIVATE_EXPEDITED: i32 = 1 << 3;

const PATIENCE: u32 = 1_000_000;

static STOPPED: AtomicBool = AtomicBool::new(false);
/// Who enters must look closer: somebody wants to be alone, or the system has no `membarrier` and a fence is needed each time.
#[cfg_attr(feature = "program", unsafe(export_name = "__raddle_careful"))]
static CAREFUL: AtomicBool = AtomicBool::new(false);
static NEEDS_FENCE: AtomicBool = AtomicBool::new(false);

pub fn start() {
    if membarrier(REGISTER_PRIVATE_EXPEDITED) != 0 {
        NEEDS_FENCE.store(true, Relaxed);
        CAREFUL.store(true, Relaxed);
    }
}

#[inline(always)]
pub fn enter(thread: &Thread) {
    let depth = thread.inside.load(Relaxed);
    thread.inside.store(depth + 1, Relaxed);
    compiler_fence(SeqCst);
    if CAREFUL.load(Relaxed) {
        enter_slowly(thread, depth);
    }
    compiler_fence(SeqCst);
}

/// For hot.c, after it went in and saw that it must look closer.
pub fn wait_outside(thread: &Thread) {
    enter_slowly(thread, thread.inside.load(Relaxed) - 1);
}

#[inline(always)]
pub fn leave(thread: &Thread) {
    compiler_fence(SeqCst);
    thread.inside.store(thread.inside.load(Relaxed) - 1, Release);
}

/// Runs `work` while no other thread is inside; `None` if another thread is doing that already. The caller is outside, and not interrupted
/// meanwhile: a signal handler that wants to go in would wait for it.
pub fn alone<T>(work: impl FnOnce() -> T) -> Option<T> {
    undisturbed(|| alone_undisturbed(work))
}

/// Runs `work` without signal handlers in between.
pub fn undisturbed<T>(work: impl FnOnce() -> T) -> T {
    let before = set_mask(libc::SIG_BLOCK, u64::MAX);
    let result = work();
    set_mask(libc::SIG_SETMASK, before);
    result
}

fn alone_undisturbed<T>(work: impl FnOnce() -> T) -> Option<T> {
    if STOPPED.swap(true, SeqCst) {
        return None;
    }
    // A thread that jumped out of the runtime by `siglongjmp` from a signal handler stays inside for ever.
    let result = others_are_outside(None).then(work);
    reset();
    result
}

/// Keeps all other threads outside until [`reset`]. For a fork: the child gets everything in one piece.
pub fn hold(me: &Thread) {
    while STOPPED.swap(true, SeqCst) {
        pause();
    }
    others_are_outside(Some(me.index));
}

/// Waits until nobody is inside, but perhaps one thread. False: somebody stayed.
fn others_are_outside(but: Option<u32>) -> bool {
    CAREFUL.store(true, SeqCst);
    fence(SeqCst);
    membarrier(PRIVATE_EXPEDITED);
    let mut patience = PATIENCE;
    thread::each(|other| {
        while Some(other.index) != but && other.inside.load(Acquire) != 0 && patience > 0 {
            patience -= 1;
            pause();
        }
    });
    patience > 0
}

/// Others may go in again; in the child of a fork there are none.
pub fn reset() {
    CAREFUL.store(NEEDS_FENCE.load(Relaxed), Relaxed);
    STOPPED.store(false, Release);
}

pub fn pause() {
    unsafe { libc::syscall(libc::SYS_sched_yield) };
}

/// A longer pause. Leaves `errno` alone.
pub fn sleep() {
    let time = libc::timespec { tv_sec: 0, tv_nsec: 50_000 };
    unsafe {
        let errno = *libc::__errno_location();
        libc::syscall(libc::SYS_nanosleep, &time, std::ptr::null_mut::<libc::timespec>());
        *libc::__errno_location() = errno;
    }
}

#[cold]
fn enter_slowly(thread: &Thread, depth: u32) {
    // A signal handler that interrupted somebody inside must not wait: the collector waits for the interrupted one.
    if depth > 0 {
        return;
    }
    fence(SeqCst);
    while STOPPED.load(Relaxed) {
        thread.inside.store(0, Release);
        while STOPPED.load(Relaxed) {
            pause();
        }
        thread.inside.store(1, Relaxed);
        fence(SeqCst);
    }
}

/// Changes which signals of the calling thread are held back; those before. Leaves `errno` alone.
fn set_mask(how: i32, mask: u64) -> u64 {
    let mut before = 0_u64;
    unsafe {
        let errno = *libc::__errno_location();
        libc::syscall(libc::SYS_rt_sigprocmask, how, &raw const mask, &raw mut before, size_of::<u64>());
        *libc::__errno_location() = errno;
    }
    before
}

fn membarrier(command: i32) -> i64 {
    unsafe {
        let errno = *libc::__errno_location();
        let result = libc::syscall(libc::SYS_membarrier, command, 0, 0);
        *libc::__errno_location() = errno;
        result
    }
}
