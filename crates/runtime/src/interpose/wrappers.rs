//! Library functions that read or write the program's memory, called by instrumented code under the names `__raddle_w_NAME`.
//!
//! Each checks the bytes that the real function touches, with the site of the call: what is read before the call, what is written after
//! it where only the result tells how much. Strings are read up to their end, comparisons up to the first difference. Names and bytes
//! are those of the table `raddle_libmodel::memory`. Functions with formats are in hot.c, for their variable arguments.

use crate::cells;
use crate::lanes::Kind;
use crate::thread;
use libc::{FILE, c_char, c_int, c_void, iovec, off_t, size_t, ssize_t};

pub unsafe fn reads(p: *const impl Sized, bytes: usize) {
    touches(p as usize, bytes, Kind::Read);
}

pub unsafe fn writes(p: *mut impl Sized, bytes: usize) {
    touches(p as usize, bytes, Kind::Write);
}

fn touches(p: usize, bytes: usize, kind: Kind) {
    if bytes > 0
        && let Some(thread) = thread::current()
    {
        let site = thread.call_site();
        cells::access(thread, p, bytes, kind, site);
    }
}

pub unsafe fn reads_string(s: *const c_char) -> usize {
    let length = libc::strlen(s);
    reads(s, length + 1);
    length
}

unsafe fn reads_string_up_to(s: *const c_char, most: size_t) -> usize {
    let length = libc::strnlen(s, most);
    reads(s, (length + 1).min(most));
    length
}

/// Defines wrappers. `name(arguments) -> result { before } call { after }`; `result` is bound to what the real function returned.
macro_rules! wrappers {
    ($($wrapper:ident = $real:path, ($($argument:ident: $type:ty),*) -> $result:ty, $got:ident
        $before:block $after:block)*) => {
        $(
            #[unsafe(no_mangle)]
            #[allow(unused_braces)]
            pub unsafe extern "C-unwind" fn $wrapper($($argument: $type),*) -> $result {
                $before
                let $got = $real($($argument),*);
                let errno = *libc::__errno_location();
                $after
                *libc::__errno_location() = errno;
                $got
            }
        )*
    };
}

pub(crate) use wrappers;

/// How many bytes two strings are read until they differ or end.
unsafe fn common(a: *const c_char, b: *const c_char, most: usize, same: impl Fn(u8, u8) -> bool) -> usize {
    for at in 0..most {
        let (x, y) = (*a.add(at) as u8, *b.add(at) as u8);
        if x == 0 || !same(x, y) {
            return at + 1;
        }
    }
    most
}

unsafe fn reads_both(a: *const c_char, b: *const c_char, most: usize, same: impl Fn(u8, u8) -> bool) {
    let bytes = common(a, b, most, same);
    reads(a, bytes);
    reads(b, bytes);
}

fn equal(a: u8, b: u8) -> bool {
    a == b
}

fn same_letter(a: u8, b: u8) -> bool {
    a.eq_ignore_ascii_case(&b)
}

unsafe fn vectors(list: *const iovec, count: c_int, mut bytes: usize, kind: Kind) {
    reads(list, count.max(0) as usize * size_of::<iovec>());
    for at in 0..count.max(0) as usize {
        let part = *list.add(at);
        let here = part.iov_len.min(bytes);
        touches(part.iov_base as usize, here, kind);
        bytes -= here;
    }
}

fn count(result: ssize_t) -> usize {
    result.max(0) as usize
}

unsafe extern "C" {
    fn stpcpy(to: *mut c_char, from: *const c_char) -> *mut c_char;
    fn mempcpy(to: *mut c_void, from: *const c_void, bytes: size_t) -> *mut c_void;
    fn bcmp(a: *const c_void, b: *const c_void, bytes: size_t) -> c_int;
    fn bzero(p: *mut c_void, bytes: size_t);
    fn atof(s: *const c_char) -> f64;
    fn strtod(s: *const c_char, end: *mut *mut c_char) -> f64;
    fn strtoul(s: *const c_char, end: *mut *mut c_char, base: c_int) -> u64;
    fn strtoull(s: *const c_char, end: *mut *mut c_char, base: c_int) -> u64;
    fn strtoll(s: *const c_char, end: *mut *mut c_char, base: c_int) -> i64;
    fn atoll(s: *const c_char) -> i64;
    fn strerror_r(number: c_int, to: *mut c_char, bytes: size_t) -> *mut c_char;
    fn fgets(to: *mut c_char, most: c_int, file: *mut FILE) -> *mut c_char;
}

unsafe fn reads_number(s: *const c_char, end: *mut *mut c_char) {
    if end.is_null() {
        reads_string(s);
    } else {
        // One byte behind the number was looked at.
        reads(s, *end as usize - s as usize + 1);
        writes(end, size_of::<usize>());
    }
}

wrappers! {
    __raddle_w_memcpy = libc::memcpy, (to: *mut c_void, from: *const c_void, bytes: size_t) -> *mut c_void, got
        { reads(from, bytes); writes(to, bytes); } {}
    __raddle_w_mempcpy = mempcpy, (to: *mut c_void, from: *const c_void, bytes: size_t) -> *mut c_void, got
        { reads(from, bytes); writes(to, bytes); } {}
    __raddle_w_memmove = libc::memmove, (to: *mut c_void, from: *const c_void, bytes: size_t) -> *mut c_void, got
        { reads(from, bytes); writes(to, bytes); } {}
    __raddle_w_memset = libc::memset, (to: *mut c_void, byte: c_int, bytes: size_t) -> *mut c_void, got
        { writes(to, bytes); } {}
    __raddle_w_bzero = bzero, (to: *mut c_void, bytes: size_t) -> (), _got { writes(to, bytes); } {}
    __raddle_w_memcmp = libc::memcmp, (a: *const c_void, b: *const c_void, bytes: size_t) -> c_int, got
        { reads(a, bytes); reads(b, bytes); } {}
    __raddle_w_bcmp = bcmp, (a: *const c_void, b: *const c_void, bytes: size_t) -> c_int, got
        { reads(a, bytes); reads(b, bytes); } {}
    __raddle_w_memchr = libc::memchr, (p: *const c_void, byte: c_int, bytes: size_t) -> *mut c_void, got
        {} { reads(p, if got.is_null() { bytes } else { got as usize - p as usize + 1 }); }
    __raddle_w_strlen = libc::strlen, (s: *const c_char) -> size_t, got {} { reads(s, got + 1); }
    __raddle_w_strnlen = libc::strnlen, (s: *const c_char, most: size_t) -> size_t, got
        {} { reads(s, (got + 1).min(most)); }
    __raddle_w_strcpy = libc::strcpy, (to: *mut c_char, from: *const c_char) -> *mut c_char, got
        { let length = reads_string(from); writes(to, length + 1); } {}
    __raddle_w_stpcpy = stpcpy, (to: *mut c_char, from: *const c_char) -> *mut c_char, got
        { let length = reads_string(from); writes(to, length + 1); } {}
    __raddle_w_strncpy = libc::strncpy, (to: *mut c_char, from: *const c_char, bytes: size_t) -> *mut c_char, got
        { reads_string_up_to(from, bytes); writes(to, bytes); } {}
    __raddle_w_strcat = libc::strcat, (to: *mut c_char, from: *const c_char) -> *mut c_char, got
        { let at = reads_string(to); let length = reads_string(from); writes(to.add(at), length + 1); } {}
    __raddle_w_strncat = libc::strncat, (to: *mut c_char, from: *const c_char, most: size_t) -> *mut c_char, got
        { let at = reads_string(to); let length = reads_string_up_to(from, most); writes(to.add(at), length + 1); } {}
    __raddle_w_strcmp = libc::strcmp, (a: *const c_char, b: *const c_char) -> c_int, got
        { reads_both(a, b, usize::MAX, equal); } {}
    __raddle_w_strncmp = libc::strncmp, (a: *const c_char, b: *const c_char, most: size_t) -> c_int, got
        { reads_both(a, b, most, equal); } {}
    __raddle_w_strcasecmp = libc::strcasecmp, (a: *const c_char, b: *const c_char) -> c_int, got
        { reads_both(a, b, usize::MAX, same_letter); } {}
    __raddle_w_strncasecmp = libc::strncasecmp, (a: *const c_char, b: *const c_char, most: size_t) -> c_int, got
        { reads_both(a, b, most, same_letter); } {}
    __raddle_w_strchr = libc::strchr, (s: *const c_char, byte: c_int) -> *mut c_char, got
        {} { if got.is_null() { reads_string(s); } else { reads(s, got as usize - s as usize + 1); } }
    __raddle_w_strrchr = libc::strrchr, (s: *const c_char, byte: c_int) -> *mut c_char, got { reads_string(s); } {}
    __raddle_w_strstr = libc::strstr, (s: *const c_char, part: *const c_char) -> *mut c_char, got
        { let length = reads_string(part); if length == 0 { return s.cast_mut(); } }
        { if got.is_null() { reads_string(s); } else { reads(s, got as usize - s as usize + libc::strlen(part)); } }
    __raddle_w_strspn = libc::strspn, (s: *const c_char, set: *const c_char) -> size_t, got
        { reads_string(set); } { reads(s, got + 1); }
    __raddle_w_strcspn = libc::strcspn, (s: *const c_char, set: *const c_char) -> size_t, got
        { reads_string(set); } { reads(s, got + 1); }
    __raddle_w_strpbrk = libc::strpbrk, (s: *const c_char, set: *const c_char) -> *mut c_char, got
        { reads_string(set); } { if got.is_null() { reads_string(s); } else { reads(s, got as usize - s as usize + 1); } }
    __raddle_w_strdup = libc::strdup, (s: *const c_char) -> *mut c_char, got
        { reads_string(s); } { if !got.is_null() { writes(got, libc::strlen(got) + 1); } }
    __raddle_w_strndup = libc::strndup, (s: *const c_char, most: size_t) -> *mut c_char, got
        { reads_string_up_to(s, most); } { if !got.is_null() { writes(got, libc::strlen(got) + 1); } }
    __raddle_w_strerror_r = strerror_r, (number: c_int, to: *mut c_char, bytes: size_t) -> *mut c_char, got
        {} { if got == to { writes(to, libc::strlen(to) + 1); } }
    __raddle_w_atoi = libc::atoi, (s: *const c_char) -> c_int, got { reads_string(s); } {}
    __raddle_w_atol = libc::atol, (s: *const c_char) -> i64, got { reads_string(s); } {}
    __raddle_w_atoll = atoll, (s: *const c_char) -> i64, got { reads_string(s); } {}
    __raddle_w_atof = atof, (s: *const c_char) -> f64, got { reads_string(s); } {}
    __raddle_w_strtol = libc::strtol, (s: *const c_char, end: *mut *mut c_char, base: c_int) -> i64, got
        {} { reads_number(s, end); }
    __raddle_w_strtoll = strtoll, (s: *const c_char, end: *mut *mut c_char, base: c_int) -> i64, got
        {} { reads_number(s, end); }
    __raddle_w_strtoul = strtoul, (s: *const c_char, end: *mut *mut c_char, base: c_int) -> u64, got
        {} { reads_number(s, end); }
    __raddle_w_strtoull = strtoull, (s: *const c_char, end: *mut *mut c_char, base: c_int) -> u64, got
        {} { reads_number(s, end); }
    __raddle_w_strtod = strtod, (s: *const c_char, end: *mut *mut c_char) -> f64, got {} { reads_number(s, end); }
    __raddle_w_puts = libc::puts, (s: *const c_char) -> c_int, got { reads_string(s); } {}
    __raddle_w_fputs = libc::fputs, (s: *const c_char, file: *mut FILE) -> c_int, got { reads_string(s); } {}
    __raddle_w_perror = libc::perror, (s: *const c_char) -> (), _got { if !s.is_null() { reads_string(s); } } {}
    __raddle_w_fwrite = libc::fwrite, (from: *const c_void, size: size_t, n: size_t, file: *mut FILE) -> size_t, got
        { reads(from, size * n); } {}
    __raddle_w_fread = libc::fread, (to: *mut c_void, size: size_t, n: size_t, file: *mut FILE) -> size_t, got
        {} { writes(to, size * got); }
    __raddle_w_fgets = fgets, (to: *mut c_char, most: c_int, file: *mut FILE) -> *mut c_char, got
        {} { if !got.is_null() { writes(to, libc::strlen(to) + 1); } }
    __raddle_w_getline = libc::getline, (line: *mut *mut c_char, bytes: *mut size_t, file: *mut FILE) -> ssize_t, got
        { reads(line, 8); reads(bytes, 8); }
        { writes(line, 8); writes(bytes, 8); if got >= 0 { writes(*line, got as usize + 1); } }
    __raddle_w_read = libc::read, (file: c_int, to: *mut c_void, bytes: size_t) -> ssize_t, got
        {} { writes(to, count(got)); }
    __raddle_w_write = libc::write, (file: c_int, from: *const c_void, bytes: size_t) -> ssize_t, got
        { reads(from, bytes); } {}
    __raddle_w_pread = libc::pread, (file: c_int, to: *mut c_void, bytes: size_t, at: off_t) -> ssize_t, got
        {} { writes(to, count(got)); }
    __raddle_w_pread64 = libc::pread64, (file: c_int, to: *mut c_void, bytes: size_t, at: off_t) -> ssize_t, got
        {} { writes(to, count(got)); }
    __raddle_w_pwrite = libc::pwrite, (file: c_int, from: *const c_void, bytes: size_t, at: off_t) -> ssize_t, got
        { reads(from, bytes); } {}
    __raddle_w_pwrite64 = libc::pwrite64, (file: c_int, from: *const c_void, bytes: size_t, at: off_t) -> ssize_t, got
        { reads(from, bytes); } {}
    __raddle_w_readv = libc::readv, (file: c_int, list: *const iovec, n: c_int) -> ssize_t, got
        {} { vectors(list, n, count(got), Kind::Write); }
    __raddle_w_writev = libc::writev, (file: c_int, list: *const iovec, n: c_int) -> ssize_t, got
        { vectors(list, n, usize::MAX, Kind::Read); } {}
    __raddle_w_recv = libc::recv, (socket: c_int, to: *mut c_void, bytes: size_t, flags: c_int) -> ssize_t, got
        {} { writes(to, count(got).min(bytes)); }
    __raddle_w_send = libc::send, (socket: c_int, from: *const c_void, bytes: size_t, flags: c_int) -> ssize_t, got
        { reads(from, bytes); } {}
    __raddle_w_time = libc::time, (to: *mut i64) -> i64, got {} { if !to.is_null() { writes(to, 8); } }
    __raddle_w_gettimeofday = libc::gettimeofday, (to: *mut libc::timeval, zone: *mut libc::timezone) -> c_int, got
        {} { if !to.is_null() { writes(to, size_of::<libc::timeval>()); } }
    __raddle_w_clock_gettime = libc::clock_gettime, (clock: i32, to: *mut libc::timespec) -> c_int, got
        {} { if got == 0 { writes(to, size_of::<libc::timespec>()); } }
    __raddle_w_nanosleep = libc::nanosleep, (time: *const libc::timespec, left: *mut libc::timespec) -> c_int, got
        { reads(time, size_of::<libc::timespec>()); }
        { if got != 0 && !left.is_null() { writes(left, size_of::<libc::timespec>()); } }
    __raddle_w_localtime_r = libc::localtime_r, (time: *const i64, to: *mut libc::tm) -> *mut libc::tm, got
        { reads(time, 8); } { writes(to, size_of::<libc::tm>()); }
    __raddle_w_gmtime_r = libc::gmtime_r, (time: *const i64, to: *mut libc::tm) -> *mut libc::tm, got
        { reads(time, 8); } { writes(to, size_of::<libc::tm>()); }
    __raddle_w_fstat = libc::fstat, (file: c_int, to: *mut libc::stat) -> c_int, got
        {} { if got == 0 { writes(to, size_of::<libc::stat>()); } }
    __raddle_w_stat = libc::stat, (path: *const c_char, to: *mut libc::stat) -> c_int, got
        { reads_string(path); } { if got == 0 { writes(to, size_of::<libc::stat>()); } }
    __raddle_w_lstat = libc::lstat, (path: *const c_char, to: *mut libc::stat) -> c_int, got
        { reads_string(path); } { if got == 0 { writes(to, size_of::<libc::stat>()); } }
    __raddle_w_pipe = libc::pipe, (to: *mut c_int) -> c_int, got {} { if got == 0 { writes(to, 8); } }
    __raddle_w_fopen = libc::fopen, (path: *const c_char, mode: *const c_char) -> *mut FILE, got
        { reads_string(path); reads_string(mode); } {}
    __raddle_w_getenv = libc::getenv, (name: *const c_char) -> *mut c_char, got { reads_string(name); } {}
}
