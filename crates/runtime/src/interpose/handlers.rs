//! Signal handlers: one runs after what its installer, and whoever sent the signal, did before (A-DESCRIPTOR).
//!
//! The kernel gets a function of ours, which calls the program's; flags and masks are the program's own. What the handler does is done by
//! the thread that it interrupts, so it comes after all that this thread did.

use super::descriptors::are_followed;
use super::real::real;
use super::signals::{LAST, is_sent, was_given};
use crate::gate;
use crate::spin::{Guard, Spin};
use libc::{c_int, c_uint, c_void, itimerspec, itimerval, sigevent, siginfo_t, timer_t};
use std::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

real! {
    fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int;
    fn signal(signal: c_int, handler: usize) -> usize;
    fn bsd_signal(signal: c_int, handler: usize) -> usize;
    fn sysv_signal(signal: c_int, handler: usize) -> usize;
    fn sigset(signal: c_int, handler: usize) -> usize;
    fn alarm(seconds: c_uint) -> c_uint;
    fn setitimer(which: c_int, new: *const itimerval, old: *mut itimerval) -> c_int;
    fn timer_create(clock: c_int, event: *mut sigevent, timer: *mut timer_t) -> c_int;
    fn timer_settime(timer: timer_t, flags: c_int, new: *const itimerspec, old: *mut itimerspec) -> c_int;
}

/// The last of the values that are not functions (`SIG_DFL`, `SIG_IGN`, `SIG_HOLD`).
const SPECIAL: usize = 2;
/// `SIG_ERR`.
const FAILED: usize = usize::MAX;

type Handler = extern "C-unwind" fn(c_int, *mut siginfo_t, *mut c_void);

/// The program's handlers, by signal.
static HANDLERS: [AtomicUsize; LAST as usize + 1] = [const { AtomicUsize::new(0) }; LAST as usize + 1];
static INSTALLING: Spin<()> = Spin::new(());
/// Signals that timers send, as bits.
static OF_TIMERS: AtomicU64 = AtomicU64::new(0);

/// In the child of a fork.
pub fn reset() {
    INSTALLING.reset();
}

extern "C-unwind" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    was_given(signal);
    let handler = HANDLERS[signal as usize].load(Acquire);
    let handler: Handler = unsafe { std::mem::transmute(handler) };
    handler(signal, info, context);
}

/// A handler that is being installed. No signal comes meanwhile.
struct Change {
    slot: &'static AtomicUsize,
    before: usize,
    /// For the kernel.
    given: usize,
    _alone: Guard<'static, ()>,
}

impl Change {
    fn begin(signal: c_int, handler: usize) -> Self {
        let alone = INSTALLING.lock();
        let slot = &HANDLERS[signal as usize];
        let before = slot.load(Relaxed);
        let is_function = handler > SPECIAL && handler != FAILED;
        if is_function {
            slot.store(handler, Release);
        }
        Self { slot, before, given: if is_function { ours() } else { handler }, _alone: alone }
    }

    /// What the program had installed, when the kernel names this.
    fn end(self, installed: bool, old: usize) -> usize {
        if !installed {
            self.slot.store(self.before, Release);
        }
        if old == ours() { self.before } else { old }
    }
}

fn ours() -> usize {
    handle as *const () as usize
}

fn is_followed(signal: c_int) -> bool {
    are_followed() && (1..=LAST).contains(&signal)
}

fn install(signal: c_int, handler: usize, call: impl FnOnce(usize) -> usize) -> usize {
    if !is_followed(signal) {
        return call(handler);
    }
    is_sent(signal);
    gate::undisturbed(|| {
        let change = Change::begin(signal, handler);
        let old = call(change.given);
        change.end(old != FAILED, old)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    if !is_followed(signal) {
        return real::sigaction(signal, new, old);
    }
    if !new.is_null() {
        is_sent(signal);
    }
    gate::undisturbed(|| {
        let mut action = new.as_ref().copied();
        let change = Change::begin(signal, action.map_or(0, |action| action.sa_sigaction));
        if let Some(action) = &mut action {
            action.sa_sigaction = change.given;
        }
        let result = real::sigaction(signal, action.as_ref().map_or(std::ptr::null(), |action| action), old);
        let replaced = old.as_mut().filter(|_| result == 0);
        let handler = change.end(result == 0, replaced.as_ref().map_or(0, |old| old.sa_sigaction));
        if let Some(old) = replaced {
            old.sa_sigaction = handler;
        }
        result
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn signal(number: c_int, handler: usize) -> usize {
    install(number, handler, |handler| real::signal(number, handler))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bsd_signal(number: c_int, handler: usize) -> usize {
    install(number, handler, |handler| real::bsd_signal(number, handler))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sysv_signal(number: c_int, handler: usize) -> usize {
    install(number, handler, |handler| real::sysv_signal(number, handler))
}

/// What `signal` means under strict versions of POSIX.
#[unsafe(no_mangle)]
unsafe extern "C" fn __sysv_signal(number: c_int, handler: usize) -> usize {
    sysv_signal(number, handler)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigset(number: c_int, handler: usize) -> usize {
    install(number, handler, |handler| real::sigset(number, handler))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn alarm(seconds: c_uint) -> c_uint {
    is_sent(libc::SIGALRM);
    real::alarm(seconds)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn setitimer(which: c_int, new: *const itimerval, old: *mut itimerval) -> c_int {
    is_sent(match which {
        libc::ITIMER_VIRTUAL => libc::SIGVTALRM,
        libc::ITIMER_PROF => libc::SIGPROF,
        _ => libc::SIGALRM,
    });
    real::setitimer(which, new, old)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timer_create(clock: c_int, event: *mut sigevent, timer: *mut timer_t) -> c_int {
    let result = real::timer_create(clock, event, timer);
    if result == 0 {
        let signal = event.as_ref().map_or(libc::SIGALRM, |event| event.sigev_signo);
        OF_TIMERS.fetch_or(1_u64.checked_shl(signal as u32 - 1).unwrap_or(0), Relaxed);
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timer_settime(
    timer: timer_t,
    flags: c_int,
    new: *const itimerspec,
    old: *mut itimerspec,
) -> c_int {
    let signals = OF_TIMERS.load(Relaxed);
    (1..=LAST).filter(|signal| signals >> (signal - 1) & 1 != 0).for_each(is_sent);
    real::timer_settime(timer, flags, new, old)
}
