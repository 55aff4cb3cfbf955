//! Streams of the C library on pipes and sockets. It reads and writes their descriptors by itself, so positions are not known: what is
//! written to such a stream comes before whatever is read from the channel later.
//!
//! Only streams that `fdopen` or `popen` made, or standard streams that were put on a descriptor by `dup2`. Formatted output is seen where
//! instrumented code makes it.

use super::descriptors::{are_followed, keeping_errno, me};
use super::real::real;
use crate::channels::{self, Id};
use crate::ends;
use libc::{FILE, c_char, c_int, c_void, size_t, ssize_t};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

real! {
    fn fdopen(file: c_int, mode: *const c_char) -> *mut FILE;
    fn popen(command: *const c_char, mode: *const c_char) -> *mut FILE;
    fn fclose(stream: *mut FILE) -> c_int;
    fn fflush(stream: *mut FILE) -> c_int;
    fn fwrite(from: *const c_void, size: size_t, count: size_t, stream: *mut FILE) -> size_t;
    fn fputs(text: *const c_char, stream: *mut FILE) -> c_int;
    fn fputc(byte: c_int, stream: *mut FILE) -> c_int;
    fn putc(byte: c_int, stream: *mut FILE) -> c_int;
    fn vfprintf(stream: *mut FILE, format: *const c_char, list: *mut c_void) -> c_int;
    fn vdprintf(file: c_int, format: *const c_char, list: *mut c_void) -> c_int;
    fn fread(to: *mut c_void, size: size_t, count: size_t, stream: *mut FILE) -> size_t;
    fn fgets(to: *mut c_char, most: c_int, stream: *mut FILE) -> *mut c_char;
    fn fgetc(stream: *mut FILE) -> c_int;
    fn getc(stream: *mut FILE) -> c_int;
    fn getline(line: *mut *mut c_char, bytes: *mut size_t, stream: *mut FILE) -> ssize_t;
    fn getdelim(line: *mut *mut c_char, bytes: *mut size_t, end: c_int, stream: *mut FILE) -> ssize_t;
}

unsafe extern "C" {
    fn fileno_unlocked(stream: *mut FILE) -> c_int;
}

/// Some stream is on a pipe or socket.
static ANY: AtomicBool = AtomicBool::new(false);

/// A stream is on this descriptor from now on.
pub fn opened(descriptor: c_int) {
    if are_followed() {
        keeping_errno(|| {
            if let Some(end) = ends::of(descriptor) {
                [end.input, end.output].into_iter().flatten().for_each(channels::lose_positions);
                ANY.store(true, Relaxed);
            }
        });
    }
}

unsafe fn channel(stream: *mut FILE, of: impl FnOnce(ends::End) -> Option<Id>) -> Option<Id> {
    if !ANY.load(Relaxed) || stream.is_null() || !are_followed() {
        return None;
    }
    keeping_errno(|| ends::of(fileno_unlocked(stream)).and_then(of))
}

/// Something is about to be written, now or with what comes later.
unsafe fn writes(stream: *mut FILE) {
    if let Some(channel) = channel(stream, |end| end.output) {
        channels::release(me(), channel);
    }
}

unsafe fn reads(stream: *mut FILE) {
    if let Some(channel) = channel(stream, |end| end.input) {
        keeping_errno(|| channels::acquire(me(), channel));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fdopen(file: c_int, mode: *const c_char) -> *mut FILE {
    opened(file);
    real::fdopen(file, mode)
}

/// The command has copies of all descriptors.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn popen(command: *const c_char, mode: *const c_char) -> *mut FILE {
    channels::shared();
    let stream = real::popen(command, mode);
    if !stream.is_null() {
        opened(fileno_unlocked(stream));
    }
    stream
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fclose(stream: *mut FILE) -> c_int {
    writes(stream);
    real::fclose(stream)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fflush(stream: *mut FILE) -> c_int {
    writes(stream);
    real::fflush(stream)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fwrite(
    from: *const c_void,
    size: size_t,
    count: size_t,
    stream: *mut FILE,
) -> size_t {
    writes(stream);
    real::fwrite(from, size, count, stream)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fputs(text: *const c_char, stream: *mut FILE) -> c_int {
    writes(stream);
    real::fputs(text, stream)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fputc(byte: c_int, stream: *mut FILE) -> c_int {
    writes(stream);
    real::fputc(byte, stream)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn putc(byte: c_int, stream: *mut FILE) -> c_int {
    writes(stream);
    real::putc(byte, stream)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn vfprintf(stream: *mut FILE, format: *const c_char, list: *mut c_void) -> c_int {
    writes(stream);
    real::vfprintf(stream, format, list)
}

/// Written at once, but not by a function that counts.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn vdprintf(file: c_int, format: *const c_char, list: *mut c_void) -> c_int {
    if are_followed() {
        keeping_errno(|| {
            if let Some(channel) = ends::of(file).and_then(|end| end.output) {
                channels::lose_positions(channel);
                channels::release(me(), channel);
            }
        });
    }
    real::vdprintf(file, format, list)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fread(to: *mut c_void, size: size_t, count: size_t, stream: *mut FILE) -> size_t {
    let got = real::fread(to, size, count, stream);
    reads(stream);
    got
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fgets(to: *mut c_char, most: c_int, stream: *mut FILE) -> *mut c_char {
    let got = real::fgets(to, most, stream);
    reads(stream);
    got
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn fgetc(stream: *mut FILE) -> c_int {
    let got = real::fgetc(stream);
    reads(stream);
    got
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn getc(stream: *mut FILE) -> c_int {
    let got = real::getc(stream);
    reads(stream);
    got
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn getline(
    line: *mut *mut c_char,
    bytes: *mut size_t,
    stream: *mut FILE,
) -> ssize_t {
    let got = real::getline(line, bytes, stream);
    reads(stream);
    got
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn getdelim(
    line: *mut *mut c_char,
    bytes: *mut size_t,
    end: c_int,
    stream: *mut FILE,
) -> ssize_t {
    let got = real::getdelim(line, bytes, end, stream);
    reads(stream);
    got
}
