//! Signals that are sent: who sends one comes before its handler, and before whoever is given it by `sigwait` or reads it from a
//! descriptor.

use super::descriptors::{are_followed, keeping_errno, me};
use super::real::real;
use crate::channels::{self, Id, Key, Positions};
use libc::{c_int, pid_t, pthread_t, siginfo_t, sigset_t, sigval, timespec};

real! {
    fn kill(process: pid_t, signal: c_int) -> c_int;
    fn killpg(group: pid_t, signal: c_int) -> c_int;
    fn raise(signal: c_int) -> c_int;
    fn tgkill(process: pid_t, thread: pid_t, signal: c_int) -> c_int;
    fn sigqueue(process: pid_t, signal: c_int, value: sigval) -> c_int;
    fn pthread_sigqueue(thread: pthread_t, signal: c_int, value: sigval) -> c_int;
    fn sigwait(signals: *const sigset_t, signal: *mut c_int) -> c_int;
    fn sigwaitinfo(signals: *const sigset_t, info: *mut siginfo_t) -> c_int;
    fn sigtimedwait(signals: *const sigset_t, info: *mut siginfo_t, time: *const timespec) -> c_int;
}

pub const LAST: c_int = 64;

/// A signal is about to be sent.
pub fn is_sent(signal: c_int) {
    if are_followed() && signal > 0 {
        keeping_errno(|| channels::release(me(), channel(signal)));
    }
}

/// Some signal was read from a descriptor.
pub fn any_was_read() {
    (1..=LAST).for_each(|signal| channels::acquire(me(), channel(signal)));
}

/// A signal was taken, by a call or by a handler.
pub fn was_given(signal: c_int) {
    if are_followed() && signal > 0 {
        keeping_errno(|| channels::acquire(me(), channel(signal)));
    }
}

fn channel(signal: c_int) -> Id {
    channels::of(Key::Signal(signal), Positions::Unknown)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn kill(process: pid_t, signal: c_int) -> c_int {
    is_sent(signal);
    real::kill(process, signal)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn killpg(group: pid_t, signal: c_int) -> c_int {
    is_sent(signal);
    real::killpg(group, signal)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn raise(signal: c_int) -> c_int {
    is_sent(signal);
    real::raise(signal)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn tgkill(process: pid_t, thread: pid_t, signal: c_int) -> c_int {
    is_sent(signal);
    real::tgkill(process, thread, signal)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sigqueue(process: pid_t, signal: c_int, value: sigval) -> c_int {
    is_sent(signal);
    real::sigqueue(process, signal, value)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_sigqueue(thread: pthread_t, signal: c_int, value: sigval) -> c_int {
    is_sent(signal);
    real::pthread_sigqueue(thread, signal, value)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sigwait(signals: *const sigset_t, signal: *mut c_int) -> c_int {
    let result = real::sigwait(signals, signal);
    if result == 0 {
        was_given(*signal);
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sigwaitinfo(signals: *const sigset_t, info: *mut siginfo_t) -> c_int {
    let signal = real::sigwaitinfo(signals, info);
    was_given(signal);
    signal
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sigtimedwait(
    signals: *const sigset_t,
    info: *mut siginfo_t,
    time: *const timespec,
) -> c_int {
    let signal = real::sigtimedwait(signals, info, time);
    was_given(signal);
    signal
}
