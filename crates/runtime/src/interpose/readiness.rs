//! Descriptors that count, measure time or watch others; and waiting until one can be read.
//!
//! Whoever is told that a descriptor can be read comes after the write of the first byte that waits there. What `epoll_wait` returns was given
//! to `epoll_ctl` by whoever comes before.

use super::descriptors::{are_followed, keeping_errno, me, watch};
use super::real::real;
use crate::channels::{self, Id, Key, Positions};
use crate::ends::{self, Kind};
use crate::gate;
use crate::spin::Spin;
use libc::{
    c_int, c_uint, epoll_event, fd_set, itimerspec, nfds_t, pollfd, sigset_t, size_t, ssize_t, timespec,
    timeval,
};
use std::collections::BTreeMap;

real! {
    fn eventfd(value: c_uint, flags: c_int) -> c_int;
    fn timerfd_create(clock: c_int, flags: c_int) -> c_int;
    fn timerfd_settime(timer: c_int, flags: c_int, new: *const itimerspec, old: *mut itimerspec) -> c_int;
    fn signalfd(file: c_int, signals: *const sigset_t, flags: c_int) -> c_int;
    fn inotify_init() -> c_int;
    fn inotify_init1(flags: c_int) -> c_int;
    fn epoll_create(size: c_int) -> c_int;
    fn epoll_create1(flags: c_int) -> c_int;
    fn epoll_ctl(epoll: c_int, operation: c_int, file: c_int, event: *mut epoll_event) -> c_int;
    fn epoll_wait(epoll: c_int, events: *mut epoll_event, most: c_int, time: c_int) -> c_int;
    fn epoll_pwait(epoll: c_int, events: *mut epoll_event, most: c_int, time: c_int, mask: *const sigset_t) -> c_int;
    fn epoll_pwait2(epoll: c_int, events: *mut epoll_event, most: c_int, time: *const timespec, mask: *const sigset_t) -> c_int;
    fn poll(files: *mut pollfd, count: nfds_t, time: c_int) -> c_int;
    fn ppoll(files: *mut pollfd, count: nfds_t, time: *const timespec, mask: *const sigset_t) -> c_int;
    fn select(count: c_int, read: *mut fd_set, write: *mut fd_set, other: *mut fd_set, time: *mut timeval) -> c_int;
    fn pselect(count: c_int, read: *mut fd_set, write: *mut fd_set, other: *mut fd_set, time: *const timespec, mask: *const sigset_t) -> c_int;
}

/// Which descriptors an epoll was asked to report with which data.
static INTERESTS: Spin<BTreeMap<(u64, c_int), u64>> = Spin::new(BTreeMap::new());

#[unsafe(no_mangle)]
unsafe extern "C" fn eventfd(value: c_uint, flags: c_int) -> c_int {
    made(real::eventfd(value, flags), Kind::Collected)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn eventfd_read(file: c_int, value: *mut u64) -> c_int {
    let got = super::descriptors::read(file, value.cast(), size_of::<u64>());
    whole(got)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn eventfd_write(file: c_int, value: u64) -> c_int {
    whole(super::descriptors::write(file, (&raw const value).cast(), size_of::<u64>()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn timerfd_create(clock: c_int, flags: c_int) -> c_int {
    made(real::timerfd_create(clock, flags), Kind::Collected)
}

/// What was done before a timer is set comes before its expiry is read.
#[unsafe(no_mangle)]
unsafe extern "C" fn timerfd_settime(
    timer: c_int,
    flags: c_int,
    new: *const itimerspec,
    old: *mut itimerspec,
) -> c_int {
    release(timer);
    real::timerfd_settime(timer, flags, new, old)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn signalfd(file: c_int, signals: *const sigset_t, flags: c_int) -> c_int {
    let result = real::signalfd(file, signals, flags);
    if file < 0 { made(result, Kind::Signals) } else { result }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn inotify_init() -> c_int {
    watch();
    made(real::inotify_init(), Kind::Watch)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn inotify_init1(flags: c_int) -> c_int {
    watch();
    made(real::inotify_init1(flags), Kind::Watch)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_create(size: c_int) -> c_int {
    made(real::epoll_create(size), Kind::Epoll)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_create1(flags: c_int) -> c_int {
    made(real::epoll_create1(flags), Kind::Epoll)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_ctl(
    epoll: c_int,
    operation: c_int,
    file: c_int,
    event: *mut epoll_event,
) -> c_int {
    if are_followed() {
        keeping_errno(|| {
            let number = ends::number(epoll);
            let data = event.as_ref().filter(|_| operation != libc::EPOLL_CTL_DEL).map(|event| event.u64);
            interests(|interests| match data {
                Some(data) => interests.insert((number, file), data),
                None => interests.remove(&(number, file)),
            });
            if let Some(data) = data {
                channels::release(me(), interest(number, data));
            }
        });
    }
    real::epoll_ctl(epoll, operation, file, event)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn epoll_wait(
    epoll: c_int,
    events: *mut epoll_event,
    most: c_int,
    time: c_int,
) -> c_int {
    reported(epoll, events, real::epoll_wait(epoll, events, most, time))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn epoll_pwait(
    epoll: c_int,
    events: *mut epoll_event,
    most: c_int,
    time: c_int,
    mask: *const sigset_t,
) -> c_int {
    reported(epoll, events, real::epoll_pwait(epoll, events, most, time, mask))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn epoll_pwait2(
    epoll: c_int,
    events: *mut epoll_event,
    most: c_int,
    time: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    reported(epoll, events, real::epoll_pwait2(epoll, events, most, time, mask))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn poll(files: *mut pollfd, count: nfds_t, time: c_int) -> c_int {
    polled(files, count, real::poll(files, count, time))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __poll_chk(files: *mut pollfd, count: nfds_t, time: c_int, _: size_t) -> c_int {
    poll(files, count, time)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn ppoll(
    files: *mut pollfd,
    count: nfds_t,
    time: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    polled(files, count, real::ppoll(files, count, time, mask))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn select(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    other: *mut fd_set,
    time: *mut timeval,
) -> c_int {
    selected(count, read, real::select(count, read, write, other, time))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pselect(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    other: *mut fd_set,
    time: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    selected(count, read, real::pselect(count, read, write, other, time, mask))
}

/// For a fork.
pub fn hold() -> bool {
    INTERESTS.hold()
}

/// After a fork, on both sides.
pub fn reset() {
    INTERESTS.reset();
}

fn whole(bytes: ssize_t) -> c_int {
    if bytes == size_of::<u64>() as ssize_t { 0 } else { -1 }
}

pub fn made(descriptor: c_int, kind: Kind) -> c_int {
    if are_followed() {
        keeping_errno(|| ends::made(descriptor, kind));
    }
    descriptor
}

pub fn counter(descriptor: c_int) -> Id {
    channels::of(Key::Anonymous(ends::number(descriptor)), Positions::Unknown)
}

pub fn release(descriptor: c_int) {
    if are_followed() {
        keeping_errno(|| channels::release(me(), counter(descriptor)));
    }
}

fn interest(epoll: u64, data: u64) -> Id {
    channels::of(Key::Interest(epoll, data), Positions::Unknown)
}

unsafe fn reported(epoll: c_int, events: *const epoll_event, count: c_int) -> c_int {
    if count > 0 && are_followed() {
        keeping_errno(|| {
            let number = ends::number(epoll);
            for at in 0..count as usize {
                let event = events.add(at).read_unaligned();
                let (bits, data) = (event.events as c_int, event.u64);
                channels::acquire(me(), interest(number, data));
                if bits & (libc::EPOLLIN | libc::EPOLLHUP | libc::EPOLLRDHUP | libc::EPOLLPRI) != 0 {
                    let files: Vec<c_int> = interests(|interests| {
                        let of_epoll = interests.range((number, c_int::MIN)..=(number, c_int::MAX));
                        of_epoll.filter(|(_, wanted)| **wanted == data).map(|((_, file), _)| *file).collect()
                    });
                    files.into_iter().for_each(is_ready);
                }
            }
        });
    }
    count
}

unsafe fn polled(files: *const pollfd, count: nfds_t, result: c_int) -> c_int {
    const READ: i16 = libc::POLLIN | libc::POLLHUP | libc::POLLRDHUP | libc::POLLPRI;
    if result > 0 && are_followed() {
        keeping_errno(|| {
            let files = std::slice::from_raw_parts(files, count as usize);
            files.iter().filter(|file| file.revents & READ != 0).for_each(|file| is_ready(file.fd));
        });
    }
    result
}

unsafe fn selected(count: c_int, read: *const fd_set, result: c_int) -> c_int {
    if result > 0 && !read.is_null() && are_followed() {
        keeping_errno(|| (0..count).filter(|file| libc::FD_ISSET(*file, read)).for_each(is_ready));
    }
    result
}

fn is_ready(descriptor: c_int) {
    if let Some(end) = ends::of(descriptor) {
        end.input.into_iter().for_each(|channel| channels::is_ready(me(), channel));
    }
}

fn interests<T>(work: impl FnOnce(&mut BTreeMap<(u64, c_int), u64>) -> T) -> T {
    gate::undisturbed(|| work(&mut INTERESTS.lock()))
}
