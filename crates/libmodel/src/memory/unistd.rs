//! Descriptors, files, sockets, memory maps and questions about the system. Where the interpreter lets a call fail before it looks at
//! its arguments (sockets, `readlink`), nothing is touched.

use super::build::{A0, A1, A2, A3, A4, Entries, behind_any, by_model, bytes, each, nothing, words};
use super::stdio::input;
use super::{Base, Extent, Fill, Value};
use Extent::{Arg as Bytes, CString, Pages, Times, TimesWords, ToEnd};

/// `struct stat` of x86-64; the 32-bit ones are smaller.
const STAT: Extent = bytes(144);

pub(super) fn entries() -> Entries {
    let map = nothing().returns_block(Pages(A1), Fill::Zero).stores(Base::Fresh, Value::Outside);
    // Up to 1024 descriptors.
    let set = bytes(128);
    let mut all = vec![
        ("writev", nothing().reads(A1, TimesWords(A2, 2)).reads(behind_any(A1), ToEnd)),
        ("mmap", map.clone()),
        ("mmap64", map),
        ("munmap", nothing().frees(A0)),
        ("openat", nothing().reads(A1, CString)),
        ("stat", nothing().reads(A0, CString).writes(A1, STAT)),
        ("__xstat", nothing().reads(A1, CString).writes(A2, STAT)),
        ("fstat", nothing().writes(A1, STAT)),
        ("__fxstat", nothing().writes(A2, STAT)),
        (
            "getcwd",
            nothing()
                .writes(A0, Bytes(A1))
                .returns(Value::Arg(A0))
                .returns_block(ToEnd, Fill::Uninitialised)
                .writes(Base::Fresh, ToEnd),
        ),
        ("select", nothing().writes(A1, set).writes(A2, set).writes(A3, set).reads(A4, words(2))),
        ("poll", nothing().writes(A0, Times(A1, 8))),
        ("inet_addr", nothing().reads(A0, CString)),
        ("gethostname", nothing().writes(A0, Bytes(A1))),
        ("uname", nothing().writes(A0, bytes(6 * 65))),
        ("getrusage", nothing().writes(A1, by_model(144, 72))),
        ("getrlimit", nothing().writes(A1, words(2))),
    ];
    all.extend(each(&["read", "__read_chk", "pread", "pread64"], &input(A1, Bytes(A2))));
    all.extend(each(&["write", "pwrite", "pwrite64"], &nothing().reads(A1, Bytes(A2))));
    all.extend(each(
        &["open", "creat", "unlink", "access", "truncate", "mkdir", "rmdir", "chdir"],
        &nothing().reads(A0, CString),
    ));
    all.extend(each(
        &[
            "close",
            "lseek",
            "lseek64",
            "ftruncate",
            "ftruncate64",
            "fcntl",
            "ioctl",
            "isatty",
            "opendir",
            "readlink",
            "realpath",
            "socket",
            "connect",
            "accept",
            "bind",
            "listen",
            "send",
            "recv",
            "sendto",
            "recvfrom",
            "setsockopt",
            "getsockopt",
            "shutdown",
            "getsockname",
            "getpeername",
            "gethostbyname",
            "getaddrinfo",
            "htons",
            "htonl",
            "ntohs",
            "ntohl",
            "getpid",
            "getppid",
            "getuid",
            "geteuid",
            "getgid",
            "getegid",
            "sysconf",
            "getpagesize",
            "get_nprocs",
            "getlogin",
            "sched_getcpu",
        ],
        &nothing(),
    ));
    all
}
