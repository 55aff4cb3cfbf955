//! Descriptors, files, sockets, memory maps and questions about the system.
//!
//! A length that comes back through a pointer (`accept`, `getsockopt`) is read first and limits what is written; here the whole
//! object counts.

use super::build::{
    A0, A1, A2, A3, A4, A5, Entries, WORD, behind_any, behind_twice, by_model, bytes, each, nothing, words,
};
use super::stdio::input;
use super::{Base, Doubt, Extent, Fill, Library, Life, MemoryEffect, Value};
use crate::Arg;
use Extent::{Arg as Bytes, CString, Pages, Times, TimesWords, ToEnd};

/// `struct stat` of x86-64; the 32-bit ones are smaller.
const STAT: Extent = bytes(144);

/// `int`, `socklen_t`.
const INT: Extent = bytes(4);

pub(super) fn entries() -> Entries {
    [descriptors(), names(), sockets(), system()].concat()
}

fn descriptors() -> Entries {
    // The content of a file is in the block from the start.
    let map = nothing()
        .returns_block(Pages(A1), Fill::Zero)
        .writes(Base::Fresh, ToEnd)
        .receives(Base::Fresh)
        .gap_if(Doubt::MapsMemoryInUse(A3), "a map that may be of memory that is in use already");
    // Up to 1024 descriptors.
    let set = bytes(128);
    let buffers = behind_any(A1);
    let mut all = vec![
        ("writev", nothing().reads(A1, TimesWords(A2, 2)).reads(buffers, ToEnd).publishes(buffers)),
        ("mmap", map.clone()),
        ("mmap64", map),
        ("munmap", nothing().frees(A0)),
        ("msync", nothing().reads(A0, Bytes(A1)).publishes(A0)),
        // What is left of the time is written back.
        ("select", nothing().changes(A1, set).changes(A2, set).changes(A3, set).changes(A4, words(2))),
        ("poll", nothing().changes(A0, Times(A1, 8))),
        ("ppoll", nothing().changes(A0, Times(A1, 8)).reads(A2, words(2)).reads(A3, bytes(8))),
        (
            "pselect",
            nothing()
                .changes(A1, set)
                .changes(A2, set)
                .changes(A3, set)
                .reads(A4, words(2))
                .reads(A5, bytes(8)),
        ),
        // What is to be reported may be a pointer.
        ("epoll_ctl", nothing().reads(A3, bytes(12)).publishes(A3)),
        ("epoll_wait", input(A1, Times(A2, 12))),
        // A `struct flock`, for the commands that take one.
        ("fcntl", nothing().changes(A2, by_model(32, 24))),
        // Whatever the request says, and what a structure there points to (`struct ifconf`).
        (
            "ioctl",
            nothing()
                .changes(A2, ToEnd)
                .changes(behind_any(A2), ToEnd)
                .publishes(A2)
                .receives(A2)
                .receives(behind_any(A2)),
        ),
    ];
    all.extend(each(&["read", "__read_chk", "pread", "pread64"], &input(A1, Bytes(A2))));
    all.extend(each(&["write", "pwrite", "pwrite64"], &nothing().reads(A1, Bytes(A2)).publishes(A1)));
    all.extend(each(&["close", "lseek", "lseek64", "ftruncate", "ftruncate64", "isatty"], &nothing()));
    all.extend(each(&["pipe", "pipe2"], &nothing().writes(A0, bytes(8))));
    all.push(("socketpair", nothing().writes(A3, bytes(8))));
    all.extend(each(&["eventfd", "dup", "dup2", "dup3", "epoll_create", "epoll_create1"], &nothing()));
    let advice = nothing().gap_if(Doubt::LosesContents(A2), "advice by which memory may lose its contents");
    all.extend(each(&["madvise", "posix_madvise"], &advice));
    all
}

fn names() -> Entries {
    let mut all = vec![
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
        ("opendir", nothing().reads(A0, CString).returns_block(ToEnd, Fill::Zero).writes(Base::Fresh, ToEnd)),
        // The entry is in the stream.
        ("readdir", nothing().changes(A0, ToEnd).returns_into(A0)),
        ("closedir", nothing().frees(A0)),
        ("readlink", nothing().reads(A0, CString).writes(A1, Bytes(A2))),
        (
            "realpath",
            nothing()
                .reads(A0, CString)
                .writes(A1, ToEnd)
                .returns(Value::Arg(A1))
                .returns_block(ToEnd, Fill::Uninitialised)
                .writes(Base::Fresh, ToEnd),
        ),
        ("utime", nothing().reads(A0, CString).reads(A1, words(2))),
        ("utimes", nothing().reads(A0, CString).reads(A1, words(4))),
    ];
    all.extend(each(
        &[
            "open",
            "creat",
            "unlink",
            "access",
            "truncate",
            "mkdir",
            "rmdir",
            "chdir",
            "chmod",
            "chown",
            "sem_unlink",
        ],
        &nothing().reads(A0, CString),
    ));
    all
}

fn sockets() -> Entries {
    let message = words(7);
    let mut all = vec![
        ("connect", nothing().reads(A1, Bytes(A2))),
        ("bind", nothing().reads(A1, Bytes(A2))),
        ("accept", address_out()),
        ("getsockname", address_out()),
        ("getpeername", address_out()),
        ("send", nothing().reads(A1, Bytes(A2)).publishes(A1)),
        ("sendto", nothing().reads(A1, Bytes(A2)).publishes(A1).reads(A4, Bytes(A5))),
        ("recv", input(A1, Bytes(A2))),
        ("recvfrom", input(A1, Bytes(A2)).writes(A4, ToEnd).changes(Arg(5), INT)),
        // Name, vector and control data; then the buffers of the vector.
        (
            "sendmsg",
            nothing()
                .reads(A1, message)
                .reads(behind_any(A1), ToEnd)
                .reads(behind_twice(A1), ToEnd)
                .publishes(behind_any(A1))
                .publishes(behind_twice(A1)),
        ),
        (
            "recvmsg",
            nothing()
                .changes(A1, message)
                .changes(behind_any(A1), ToEnd)
                .writes(behind_twice(A1), ToEnd)
                .receives(behind_any(A1))
                .receives(behind_twice(A1)),
        ),
        ("setsockopt", nothing().reads(A3, Bytes(A4))),
        ("getsockopt", nothing().writes(A3, ToEnd).changes(A4, INT)),
        (
            "gethostbyname",
            nothing()
                .reads(A0, CString)
                .changes(Library::HostEntry, ToEnd)
                .stores(Library::HostEntry, Value::Into(Library::HostEntry.into()))
                .returns_into(Library::HostEntry),
        ),
        // A list of blocks that point to each other, named by one.
        (
            "getaddrinfo",
            nothing()
                .reads(A0, CString)
                .reads(A1, CString)
                .reads(A2, by_model(48, 32))
                .allocates(ToEnd, Fill::Uninitialised, Life::Handed)
                .writes(Base::Fresh, ToEnd)
                .stores(Base::Fresh, Value::Into(Base::Fresh.into()))
                .writes(A3, WORD)
                .stores(A3, Value::Into(Base::Fresh.into())),
        ),
        ("freeaddrinfo", nothing().frees(A0).frees(behind_any(A0))),
        ("inet_addr", nothing().reads(A0, CString).in_locale()),
    ];
    all.extend(each(&["socket", "listen", "shutdown", "htons", "htonl", "ntohs", "ntohl"], &nothing()));
    all
}

/// An address and its length, which says how much room there is.
fn address_out() -> MemoryEffect {
    nothing().writes(A1, ToEnd).changes(A2, INT)
}

fn system() -> Entries {
    let mut all = vec![
        ("gethostname", nothing().writes(A0, Bytes(A1))),
        ("uname", nothing().writes(A0, bytes(6 * 65))),
        ("getrusage", nothing().writes(A1, by_model(144, 72))),
        ("getrlimit", nothing().writes(A1, words(2))),
        ("setrlimit", nothing().reads(A1, words(2))),
        ("getlogin", nothing().changes(Library::LoginName, ToEnd).returns_into(Library::LoginName)),
        ("sched_setscheduler", nothing().reads(A2, INT)),
        ("sched_setaffinity", nothing().reads(A2, Bytes(A1))),
        ("pthread_setaffinity_np", nothing().reads(A2, Bytes(A1))),
        ("pthread_setschedparam", nothing().reads(A2, INT)),
        ("pthread_setname_np", nothing().reads(A1, CString)),
    ];
    all.extend(each(
        &[
            "getpid",
            "getppid",
            "getuid",
            "geteuid",
            "getgid",
            "getegid",
            "sysconf",
            "getpagesize",
            "get_nprocs",
            "sched_getcpu",
        ],
        &nothing(),
    ));
    all
}
