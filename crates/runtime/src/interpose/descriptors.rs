//! Reading and writing by descriptors, and what makes, copies and closes these: order from a write to the read of its bytes.
//!
//! Bytes are counted for every thread, known or not; only known threads are ordered.

use super::real::real;
use crate::channels::{self, Got, Id, Key, Positions};
use crate::ends::{self, End, Kind, Unit};
use crate::observe::{self, Mode};
use crate::start;
use crate::thread::{self, Thread};
use libc::{c_char, c_int, c_uint, c_void, iovec, off_t, size_t, ssize_t};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

real! {
    fn read(file: c_int, to: *mut c_void, bytes: size_t) -> ssize_t;
    fn write(file: c_int, from: *const c_void, bytes: size_t) -> ssize_t;
    fn readv(file: c_int, list: *const iovec, count: c_int) -> ssize_t;
    fn writev(file: c_int, list: *const iovec, count: c_int) -> ssize_t;
    fn splice(from: c_int, at: *mut off_t, to: c_int, to_at: *mut off_t, bytes: size_t, flags: c_uint) -> ssize_t;
    fn tee(from: c_int, to: c_int, bytes: size_t, flags: c_uint) -> ssize_t;
    fn vmsplice(file: c_int, list: *const iovec, count: size_t, flags: c_uint) -> ssize_t;
    fn sendfile(to: c_int, from: c_int, at: *mut off_t, bytes: size_t) -> ssize_t;
    fn close(file: c_int) -> c_int;
    fn dup(file: c_int) -> c_int;
    fn dup2(file: c_int, wanted: c_int) -> c_int;
    fn dup3(file: c_int, wanted: c_int, flags: c_int) -> c_int;
    fn fcntl(file: c_int, command: c_int, argument: usize) -> c_int;
    fn fcntl64(file: c_int, command: c_int, argument: usize) -> c_int;
    fn open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int;
    fn openat(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int;
    fn rename(from: *const c_char, to: *const c_char) -> c_int;
    fn unlink(path: *const c_char) -> c_int;
    fn mkdir(path: *const c_char, mode: c_uint) -> c_int;
    fn rmdir(path: *const c_char) -> c_int;
    fn ftruncate(file: c_int, bytes: off_t) -> c_int;
}

unsafe extern "C" {
    fn __chk_fail() -> !;
}

/// Somebody watches files.
static WATCHED: AtomicBool = AtomicBool::new(false);

/// Whether descriptors are followed: not before the start, and not where nothing reaches outside.
pub fn are_followed() -> bool {
    start::is_mapped() && observe::mode() != Mode::Explore
}

/// The calling thread, if what it does counts.
pub fn me() -> Option<&'static mut Thread> {
    thread::current().filter(|thread| thread.is_followed())
}

/// A write or a read that is under way.
pub struct Transfer {
    descriptor: c_int,
    end: End,
    channel: Id,
    most: u64,
}

/// A write to a descriptor is about to be made; `None` if it is no matter of ours.
pub fn write_begins(descriptor: c_int) -> Option<Transfer> {
    if !are_followed() {
        return None;
    }
    let Some(end) = ends::of(descriptor) else {
        files_change(descriptor);
        return None;
    };
    write_to(descriptor, end, end.output?)
}

/// The same where the channel is known, as with an address for a datagram.
pub fn write_to(descriptor: c_int, end: End, channel: Id) -> Option<Transfer> {
    channels::write_begins(me(), channel);
    Some(Transfer { descriptor, end, channel, most: 0 })
}

/// A read of at most so many bytes is about to be made.
pub fn read_begins(descriptor: c_int, bytes: usize) -> Option<Transfer> {
    if !are_followed() {
        return None;
    }
    let end = ends::of(descriptor)?;
    let channel = end.input?;
    let most = if end.unit == Unit::Message { 1 } else { bytes as u64 };
    channels::read_begins(channel, most);
    Some(Transfer { descriptor, end, channel, most })
}

/// How a read is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    Takes,
    Peeks,
    /// Beside the stream: urgent data.
    Beside,
}

impl Transfer {
    /// The write returned this many bytes, or an error.
    pub fn written(self, result: ssize_t) -> ssize_t {
        let units = match self.end.unit {
            Unit::Byte => result.max(0) as u64,
            Unit::Message => u64::from(result >= 0),
        };
        keeping_errno(|| channels::write_ends(self.channel, units));
        result
    }

    /// Urgent data is not in the stream.
    pub fn is_beside(&self) {
        channels::lose_positions(self.channel);
    }

    /// The read returned this many bytes, or an error.
    pub fn was_read(self, result: ssize_t, manner: Manner) -> ssize_t {
        let got = match (result, self.end.unit) {
            (..0, _) => Got::Nothing,
            (0, Unit::Byte) if self.most == 0 => Got::Nothing,
            (0, Unit::Byte) => Got::EndOfStream,
            (_, Unit::Byte) => Got::Taken(result as u64),
            (_, Unit::Message) => Got::Taken(1),
        };
        self.ends_with(got, manner);
        result
    }

    /// Several messages.
    pub fn messages_were_read(self, result: c_int, manner: Manner) -> c_int {
        let got = if result > 0 { Got::Taken(result as u64) } else { Got::Nothing };
        self.ends_with(got, manner);
        result
    }

    fn ends_with(self, got: Got, manner: Manner) {
        keeping_errno(|| {
            let got = match (got, manner) {
                (Got::Taken(units), Manner::Peeks) => Got::Peeked(units),
                (Got::Taken(_), Manner::Beside) => {
                    channels::lose_positions(self.channel);
                    Got::Peeked(1)
                }
                (got, _) => got,
            };
            if matches!(got, Got::Taken(_)) {
                match self.end.kind {
                    Kind::Signals => super::signals::any_was_read(),
                    Kind::Watch => channels::acquire(me(), files()),
                    _ => {}
                }
            }
            channels::read_ends(me(), self.channel, self.most, got, || {
                ends::waiting(self.descriptor, &self.end)
            });
        });
    }
}

pub fn keeping_errno<T>(work: impl FnOnce() -> T) -> T {
    unsafe {
        let errno = *libc::__errno_location();
        let result = work();
        *libc::__errno_location() = errno;
        result
    }
}

/// Writes, with a call of the real function in between.
macro_rules! write_around {
    ($descriptor:expr, $call:expr) => {{
        let transfer = $crate::interpose::descriptors::write_begins($descriptor);
        let result = $call;
        match transfer {
            Some(transfer) => transfer.written(result),
            None => result,
        }
    }};
}

macro_rules! read_around {
    ($descriptor:expr, $bytes:expr, $manner:expr, $call:expr) => {{
        let transfer = $crate::interpose::descriptors::read_begins($descriptor, $bytes);
        let result = $call;
        match transfer {
            Some(transfer) => transfer.was_read(result, $manner),
            None => result,
        }
    }};
}

pub(crate) use read_around;

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn read(file: c_int, to: *mut c_void, bytes: size_t) -> ssize_t {
    read_around!(file, bytes, Manner::Takes, real::read(file, to, bytes))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __read_chk(file: c_int, to: *mut c_void, bytes: size_t, room: size_t) -> ssize_t {
    if bytes > room {
        __chk_fail();
    }
    read(file, to, bytes)
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn write(file: c_int, from: *const c_void, bytes: size_t) -> ssize_t {
    write_around!(file, real::write(file, from, bytes))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn readv(file: c_int, list: *const iovec, count: c_int) -> ssize_t {
    read_around!(file, total(list, count.max(0) as usize), Manner::Takes, real::readv(file, list, count))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn writev(file: c_int, list: *const iovec, count: c_int) -> ssize_t {
    write_around!(file, real::writev(file, list, count))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn splice(
    from: c_int,
    at: *mut off_t,
    to: c_int,
    to_at: *mut off_t,
    bytes: size_t,
    flags: c_uint,
) -> ssize_t {
    read_around!(
        from,
        bytes,
        Manner::Takes,
        write_around!(to, real::splice(from, at, to, to_at, bytes, flags))
    )
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn tee(from: c_int, to: c_int, bytes: size_t, flags: c_uint) -> ssize_t {
    read_around!(from, bytes, Manner::Peeks, write_around!(to, real::tee(from, to, bytes, flags)))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn vmsplice(
    file: c_int,
    list: *const iovec,
    count: size_t,
    flags: c_uint,
) -> ssize_t {
    let mode = keeping_errno(|| real::fcntl(file, libc::F_GETFL, 0)) & libc::O_ACCMODE;
    if mode == libc::O_RDONLY {
        return read_around!(
            file,
            total(list, count),
            Manner::Takes,
            real::vmsplice(file, list, count, flags)
        );
    }
    write_around!(file, real::vmsplice(file, list, count, flags))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendfile(to: c_int, from: c_int, at: *mut off_t, bytes: size_t) -> ssize_t {
    read_around!(from, bytes, Manner::Takes, write_around!(to, real::sendfile(to, from, at, bytes)))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendfile64(to: c_int, from: c_int, at: *mut off_t, bytes: size_t) -> ssize_t {
    sendfile(to, from, at, bytes)
}

/// Whoever reads the end of the stream comes after this.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn close(file: c_int) -> c_int {
    if are_followed() {
        ends(file);
        ends::closed(file);
    }
    real::close(file)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dup(file: c_int) -> c_int {
    copied(file, real::dup(file))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dup2(file: c_int, wanted: c_int) -> c_int {
    replaces(file, wanted);
    copied(file, real::dup2(file, wanted))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dup3(file: c_int, wanted: c_int, flags: c_int) -> c_int {
    replaces(file, wanted);
    copied(file, real::dup3(file, wanted, flags))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fcntl(file: c_int, command: c_int, argument: usize) -> c_int {
    let result = real::fcntl(file, command, argument);
    if matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) { copied(file, result) } else { result }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fcntl64(file: c_int, command: c_int, argument: usize) -> c_int {
    let result = real::fcntl64(file, command, argument);
    if matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) { copied(file, result) } else { result }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    something_changes();
    real::open(path, flags, mode)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    something_changes();
    real::open(path, flags, mode)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn openat(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    something_changes();
    real::openat(folder, path, flags, mode)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn openat64(
    folder: c_int,
    path: *const c_char,
    flags: c_int,
    mode: c_uint,
) -> c_int {
    something_changes();
    real::openat(folder, path, flags, mode)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    something_changes();
    real::rename(from, to)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    something_changes();
    real::unlink(path)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mkdir(path: *const c_char, mode: c_uint) -> c_int {
    something_changes();
    real::mkdir(path, mode)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rmdir(path: *const c_char) -> c_int {
    something_changes();
    real::rmdir(path)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ftruncate(file: c_int, bytes: off_t) -> c_int {
    something_changes();
    real::ftruncate(file, bytes)
}

/// Files are watched from now on.
pub fn watch() {
    WATCHED.store(true, Relaxed);
}

/// A stream may end here.
pub fn ends(descriptor: c_int) {
    match ends::of(descriptor) {
        Some(end) => end.output.into_iter().for_each(|channel| channels::release(me(), channel)),
        None => files_change(descriptor),
    }
}

fn files_change(descriptor: c_int) {
    if WATCHED.load(Relaxed) && ends::is_file(descriptor) {
        channels::release(me(), files());
    }
}

fn something_changes() {
    if WATCHED.load(Relaxed) && are_followed() {
        keeping_errno(|| channels::release(me(), files()));
    }
}

fn files() -> Id {
    channels::of(Key::Files, Positions::Unknown)
}

fn copied(old: c_int, new: c_int) -> c_int {
    if are_followed() {
        keeping_errno(|| ends::duplicated(old, new));
    }
    new
}

/// What `wanted` was is closed; where it is one of the standard streams, the C library writes or reads by itself.
unsafe fn replaces(file: c_int, wanted: c_int) {
    if are_followed() && file != wanted {
        ends(wanted);
        if (0..3).contains(&wanted) {
            super::streams::opened(file);
        }
    }
}

unsafe fn total(list: *const iovec, count: usize) -> usize {
    (0..count).map(|at| (*list.add(at)).iov_len).fold(0, usize::saturating_add)
}
