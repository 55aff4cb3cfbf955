//! Error numbers of Linux and their messages.

use super::values::int;
use super::{Family, Host, Outcome};

pub(super) const EPERM: i32 = 1;
pub(super) const ENOENT: i32 = 2;
pub(super) const EIO: i32 = 5;
pub(super) const EBADF: i32 = 9;
pub(super) const EAGAIN: i32 = 11;
pub(super) const ENOMEM: i32 = 12;
pub(super) const EACCES: i32 = 13;
pub(super) const EEXIST: i32 = 17;
pub(super) const EINVAL: i32 = 22;
pub(super) const EMFILE: i32 = 24;
pub(super) const ENOTTY: i32 = 25;
pub(super) const ESPIPE: i32 = 29;
pub(super) const EPIPE: i32 = 32;
pub(super) const EDOM: i32 = 33;
pub(super) const ERANGE: i32 = 34;
pub(super) const ENOTSOCK: i32 = 88;
pub(super) const ENOTCONN: i32 = 107;
pub(super) const ECONNRESET: i32 = 104;
pub(super) const ECONNREFUSED: i32 = 111;

pub(super) const FUNCTIONS: Family = &[
    ("__errno_location", errno_location),
    ("strerror", strerror),
    ("strerror_r", strerror_r),
    ("__xpg_strerror_r", xpg_strerror_r),
    ("strsignal", strsignal),
];

/// Accesses to `errno` are no events, which is right while only its thread has the address.
fn errno_location(host: &mut dyn Host) -> Outcome<u128> {
    match host.result_is_kept() {
        true => Err(host.unsupported("the address of errno is kept".into())),
        false => host.errno_address().map(u128::from),
    }
}

pub(super) fn error_text(errno: i32) -> String {
    message(errno).map_or_else(|| format!("Unknown error {errno}"), str::to_owned)
}

/// The message of a known number.
fn message(errno: i32) -> Option<&'static str> {
    let text = MESSAGES.get(usize::try_from(errno).ok()?)?;
    (!text.is_empty()).then_some(*text)
}

fn strerror(host: &mut dyn Host) -> Outcome<u128> {
    let text = error_text(host.int(0));
    constant(host, &text)
}

/// The GNU form: returns the message, which is in the buffer where the number has none of its own.
fn strerror_r(host: &mut dyn Host) -> Outcome<u128> {
    let (errno, buffer, size) = (host.int(0), host.pointer(1), host.size(2));
    if message(errno).is_some() || size == 0 {
        return strerror(host);
    }
    let text = error_text(errno);
    let kept = text.len().min((size - 1) as usize);
    host.write_string(buffer, &text.as_bytes()[..kept])?;
    Ok(u128::from(buffer))
}

/// The POSIX form: fills the buffer and returns an error number.
fn xpg_strerror_r(host: &mut dyn Host) -> Outcome<u128> {
    let text = error_text(host.int(0));
    let (buffer, size) = (host.pointer(1), host.size(2));
    let fits = (text.len() as u64) < size;
    if size > 0 {
        let kept = text.len().min((size - 1) as usize);
        host.write_string(buffer, &text.as_bytes()[..kept])?;
    }
    Ok(int(if fits { 0 } else { ERANGE }))
}

fn strsignal(host: &mut dyn Host) -> Outcome<u128> {
    let signal = host.int(0);
    let text = match usize::try_from(signal).ok().and_then(|signal| SIGNALS.get(signal)) {
        Some(text) if !text.is_empty() => (*text).to_owned(),
        _ => format!("Unknown signal {signal}"),
    };
    constant(host, &text)
}

/// A string that lives as long as the process.
pub(super) fn constant(host: &mut dyn Host, text: &str) -> Outcome<u128> {
    let bytes: Vec<u8> = text.bytes().chain([0]).collect();
    host.library_block(&format!("string {text:?}"), &bytes).map(u128::from)
}

/// By error number; empty where there is none.
const MESSAGES: &[&str] = &[
    "Success",
    "Operation not permitted",
    "No such file or directory",
    "No such process",
    "Interrupted system call",
    "Input/output error",
    "No such device or address",
    "Argument list too long",
    "Exec format error",
    "Bad file descriptor",
    "No child processes",
    "Resource temporarily unavailable",
    "Cannot allocate memory",
    "Permission denied",
    "Bad address",
    "Block device required",
    "Device or resource busy",
    "File exists",
    "Invalid cross-device link",
    "No such device",
    "Not a directory",
    "Is a directory",
    "Invalid argument",
    "Too many open files in system",
    "Too many open files",
    "Inappropriate ioctl for device",
    "Text file busy",
    "File too large",
    "No space left on device",
    "Illegal seek",
    "Read-only file system",
    "Too many links",
    "Broken pipe",
    "Numerical argument out of domain",
    "Numerical result out of range",
    "Resource deadlock avoided",
    "File name too long",
    "No locks available",
    "Function not implemented",
    "Directory not empty",
    "Too many levels of symbolic links",
    "",
    "No message of desired type",
    "Identifier removed",
    "Channel number out of range",
    "Level 2 not synchronized",
    "Level 3 halted",
    "Level 3 reset",
    "Link number out of range",
    "Protocol driver not attached",
    "No CSI structure available",
    "Level 2 halted",
    "Invalid exchange",
    "Invalid request descriptor",
    "Exchange full",
    "No anode",
    "Invalid request code",
    "Invalid slot",
    "",
    "Bad font file format",
    "Device not a stream",
    "No data available",
    "Timer expired",
    "Out of streams resources",
    "Machine is not on the network",
    "Package not installed",
    "Object is remote",
    "Link has been severed",
    "Advertise error",
    "Srmount error",
    "Communication error on send",
    "Protocol error",
    "Multihop attempted",
    "RFS specific error",
    "Bad message",
    "Value too large for defined data type",
    "Name not unique on network",
    "File descriptor in bad state",
    "Remote address changed",
    "Can not access a needed shared library",
    "Accessing a corrupted shared library",
    ".lib section in a.out corrupted",
    "Attempting to link in too many shared libraries",
    "Cannot exec a shared library directly",
    "Invalid or incomplete multibyte or wide character",
    "Interrupted system call should be restarted",
    "Streams pipe error",
    "Too many users",
    "Socket operation on non-socket",
    "Destination address required",
    "Message too long",
    "Protocol wrong type for socket",
    "Protocol not available",
    "Protocol not supported",
    "Socket type not supported",
    "Operation not supported",
    "Protocol family not supported",
    "Address family not supported by protocol",
    "Address already in use",
    "Cannot assign requested address",
    "Network is down",
    "Network is unreachable",
    "Network dropped connection on reset",
    "Software caused connection abort",
    "Connection reset by peer",
    "No buffer space available",
    "Transport endpoint is already connected",
    "Transport endpoint is not connected",
    "Cannot send after transport endpoint shutdown",
    "Too many references: cannot splice",
    "Connection timed out",
    "Connection refused",
    "Host is down",
    "No route to host",
    "Operation already in progress",
    "Operation now in progress",
    "Stale file handle",
    "Structure needs cleaning",
    "Not a XENIX named type file",
    "No XENIX semaphores available",
    "Is a named type file",
    "Remote I/O error",
    "Disk quota exceeded",
    "No medium found",
    "Wrong medium type",
    "Operation canceled",
    "Required key not available",
    "Key has expired",
    "Key has been revoked",
    "Key was rejected by service",
    "Owner died",
    "State not recoverable",
    "Operation not possible due to RF-kill",
    "Memory page has hardware error",
];

/// By signal number.
const SIGNALS: &[&str] = &[
    "",
    "Hangup",
    "Interrupt",
    "Quit",
    "Illegal instruction",
    "Trace/breakpoint trap",
    "Aborted",
    "Bus error",
    "Floating point exception",
    "Killed",
    "User defined signal 1",
    "Segmentation fault",
    "User defined signal 2",
    "Broken pipe",
    "Alarm clock",
    "Terminated",
    "Stack fault",
    "Child exited",
    "Continued",
    "Stopped (signal)",
    "Stopped",
    "Stopped (tty input)",
    "Stopped (tty output)",
    "Urgent I/O condition",
    "CPU time limit exceeded",
    "File size limit exceeded",
    "Virtual timer expired",
    "Profiling timer expired",
    "Window changed",
    "I/O possible",
    "Power failure",
    "Bad system call",
];
