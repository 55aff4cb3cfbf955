//! Descriptors, memory maps, and questions about the system.

use super::errors::{EBADF, EINVAL, ENOTTY, ESPIPE};
use super::network::meet;
use super::state::Target;
use super::stream::{contents, files, open_file, read_descriptor, seek, write_descriptor};
use super::values::{NULL, int};
use super::{Family, Host, Outcome, Zeroed, channel};
use raddle_ir::DataModel;
use raddle_libmodel::memory::{maps_at_fixed_address, maps_fresh_memory};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

pub(super) const FUNCTIONS: Family = &[
    ("read", read),
    ("__read_chk", read),
    ("write", write),
    ("writev", writev),
    ("lseek", |h| {
        let offset = h.long(1);
        let place = lseek(h, offset);
        Ok(h.word(place))
    }),
    ("lseek64", |h| {
        let offset = h.long_long(1);
        Ok(u128::from(lseek(h, offset) as u64))
    }),
    ("pread", |h| {
        let offset = h.long(3);
        pread(h, offset)
    }),
    ("pread64", |h| {
        let offset = h.long_long(3);
        pread(h, offset)
    }),
    ("pwrite", |h| {
        let offset = h.long(3);
        pwrite(h, offset)
    }),
    ("pwrite64", |h| {
        let offset = h.long_long(3);
        pwrite(h, offset)
    }),
    ("ftruncate", |h| {
        let size = h.long(1);
        ftruncate(h, size)
    }),
    ("ftruncate64", |h| {
        let size = h.long_long(1);
        ftruncate(h, size)
    }),
    ("fcntl", fcntl),
    ("ioctl", ioctl),
    ("isatty", |h| {
        h.set_errno(ENOTTY);
        Ok(0)
    }),
    ("mmap", mmap),
    ("mmap64", mmap),
    ("munmap", munmap),
    ("getcwd", getcwd),
    ("getpid", |_| Ok(4242)),
    ("getppid", |_| Ok(4241)),
    ("getuid", user),
    ("geteuid", user),
    ("getgid", group),
    ("getegid", group),
    ("getpagesize", |_| Ok(4096)),
    ("get_nprocs", |_| Ok(PROCESSORS)),
    ("sched_getcpu", |_| Ok(0)),
    ("getlogin", |_| Ok(NULL)),
    ("sysconf", sysconf),
    ("gethostname", gethostname),
    ("uname", uname),
    ("getrusage", getrusage),
    ("getrlimit", getrlimit),
];

const PROCESSORS: u128 = 4;

/// Who runs a program decides as its files do, so the ids are those of this process.
fn user(host: &mut dyn Host) -> Outcome<u128> {
    this_process(host).map(|process| process.uid().into())
}

fn group(host: &mut dyn Host) -> Outcome<u128> {
    this_process(host).map(|process| process.gid().into())
}

fn this_process(host: &mut dyn Host) -> Outcome<Metadata> {
    std::fs::metadata("/proc/self")
        .map_err(|error| host.unsupported(format!("a user id where the system does not tell it ({error})")))
}

/// No descriptor here is a device. What a request does to memory that it is given is not modelled.
fn ioctl(host: &mut dyn Host) -> Outcome<u128> {
    if host.pointer(2) != 0 {
        return Err(host.unsupported("an ioctl request that is given memory".into()));
    }
    Ok(host.error(ENOTTY))
}

/// A count of bytes, or -1 with `errno`.
fn count(host: &mut dyn Host, result: Result<usize, i32>) -> u128 {
    match result {
        Ok(bytes) => bytes as u128,
        Err(errno) => host.long_error(errno),
    }
}

fn read(host: &mut dyn Host) -> Outcome<u128> {
    let (descriptor, target, size) = (host.int(0), host.pointer(1), host.size(2));
    let result = read_descriptor(host, descriptor, usize::try_from(size).unwrap_or(usize::MAX))?;
    if let Ok(bytes) = &result {
        host.write_bytes(target, bytes)?;
    }
    Ok(count(host, result.map(|bytes| bytes.len())))
}

fn write(host: &mut dyn Host) -> Outcome<u128> {
    let (descriptor, source, size) = (host.int(0), host.pointer(1), host.size(2));
    let bytes = host.read_bytes(source, size)?;
    let result = write_descriptor(host, descriptor, &bytes)?;
    Ok(count(host, result))
}

fn writev(host: &mut dyn Host) -> Outcome<u128> {
    let (descriptor, vector, pieces) = (host.int(0), host.pointer(1), host.int(2));
    let word = host.word_bytes();
    let mut bytes = Vec::new();
    for piece in 0..u64::try_from(pieces).unwrap_or(0) {
        let at = host.offset(vector, piece * 2 * word);
        let base = host.read_pointer(at)?;
        let len_at = host.offset(at, word);
        let len = host.read_long(len_at)? as u64;
        bytes.extend(host.read_bytes(base, len)?);
    }
    let result = write_descriptor(host, descriptor, &bytes)?;
    Ok(count(host, result))
}

fn lseek(host: &mut dyn Host, offset: i64) -> i64 {
    let (descriptor, whence) = (host.int(0), host.int(2));
    match seek(host, descriptor, offset, whence) {
        Ok(place) => place as i64,
        Err(errno) => {
            host.set_errno(errno);
            -1
        }
    }
}

/// Runs `operation` at another place of the file and comes back.
fn at_offset(
    host: &mut dyn Host,
    offset: i64,
    operation: fn(&mut dyn Host) -> Outcome<u128>,
) -> Outcome<u128> {
    let descriptor = host.int(0);
    if host.is_channel(descriptor) {
        return Ok(host.long_error(ESPIPE));
    }
    let before = open_file(host, descriptor).map(|file| file.offset);
    if let Err(errno) = seek(host, descriptor, offset, 0) {
        return Ok(host.long_error(errno));
    }
    let result = operation(host);
    if let (Some(before), Some(file)) = (before, open_file(host, descriptor)) {
        file.offset = before;
    }
    result
}

fn pread(host: &mut dyn Host, offset: i64) -> Outcome<u128> {
    at_offset(host, offset, read)
}

fn pwrite(host: &mut dyn Host, offset: i64) -> Outcome<u128> {
    at_offset(host, offset, write)
}

fn ftruncate(host: &mut dyn Host, size: i64) -> Outcome<u128> {
    let descriptor = host.int(0);
    if host.is_channel(descriptor) {
        return Ok(host.error(EINVAL));
    }
    let files = files(host);
    let Some(Target::File(path)) = files.open.get(&descriptor).map(|file| file.target.clone()) else {
        return Ok(host.error(EBADF));
    };
    if !(0..1 << 26).contains(&size) {
        return Ok(host.error(EINVAL));
    }
    let contents = files.contents.entry(path).or_default().get_or_insert_default();
    std::sync::Arc::make_mut(contents).resize(size as usize, 0);
    Ok(0)
}

const F_SETFL: i32 = 4;
const O_NONBLOCK: i32 = 0o4000;

/// Flags of a descriptor are not kept, and needed for connections only; locks and duplicates are refused.
fn fcntl(host: &mut dyn Host) -> Outcome<u128> {
    let (descriptor, command) = (host.int(0), host.int(1));
    if host.is_channel(descriptor) {
        return channel::fcntl(host, descriptor, command);
    }
    if open_file(host, descriptor).is_none() {
        return Ok(host.error(EBADF));
    }
    if command == F_SETFL && host.int(2) & O_NONBLOCK != 0 {
        meet(host, descriptor);
    }
    match command {
        1..=4 => Ok(0),
        _ => Err(host.unsupported(format!("fcntl command {command}"))),
    }
}

const PAGE: u64 = 4096;
const MAP_ANONYMOUS: i32 = 0x20;

/// Fresh memory, or a private copy of a file. A map in a place of the caller's choice, and a file that is shared, are not modelled.
fn mmap(host: &mut dyn Host) -> Outcome<u128> {
    let (size, flags, descriptor) = (host.size(1), host.int(3), host.int(4));
    if size == 0 {
        return Ok(host.long_error(EINVAL));
    }
    if !maps_fresh_memory(flags.into()) {
        let what = match maps_at_fixed_address(flags.into()) {
            true => "memory mapped at a fixed address",
            false => "a file mapped into memory and shared",
        };
        return Err(host.unsupported(what.into()));
    }
    let bytes = size.checked_next_multiple_of(PAGE).unwrap_or(size);
    let what = format!("mmap({size})");
    if flags & MAP_ANONYMOUS != 0 {
        return host.allocate(bytes, PAGE, Zeroed::Yes, &what).map(u128::from);
    }
    let offset = host.long(5);
    if host.is_channel(descriptor) {
        return Err(host.unsupported("a pipe, socket pair or eventfd mapped into memory".into()));
    }
    let path = match open_file(host, descriptor).map(|file| file.target.clone()) {
        Some(Target::File(path)) => path,
        Some(_) => return Err(host.unsupported("a device or socket mapped into memory".into())),
        None => return Ok(host.long_error(EBADF)),
    };
    let contents = contents(host, &path).unwrap_or_default();
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(contents.len());
    let end = contents.len().min(start.saturating_add(bytes as usize));
    host.assume("A-IO");
    let address = host.allocate(bytes, PAGE, Zeroed::Yes, &what)?;
    host.write(address, &contents[start..end])?;
    Ok(u128::from(address))
}

fn munmap(host: &mut dyn Host) -> Outcome<u128> {
    let (address, size) = (host.pointer(0), host.size(1));
    match host.block_size(address) {
        Some(block) if block == size.checked_next_multiple_of(PAGE).unwrap_or(size) => {
            host.free(address)?;
            Ok(0)
        }
        _ => Err(host.unsupported("munmap of a part of a map".into())),
    }
}

fn getcwd(host: &mut dyn Host) -> Outcome<u128> {
    let (target, size) = (host.pointer(0), host.size(1));
    if target == 0 {
        return Err(host.unsupported("getcwd that allocates".into()));
    }
    if size < 2 {
        host.set_errno(if size == 0 { EINVAL } else { super::errors::ERANGE });
        return Ok(NULL);
    }
    host.write_string(target, b"/")?;
    Ok(u128::from(target))
}

/// Numbers of the names as in glibc's `confname.h`.
fn sysconf(host: &mut dyn Host) -> Outcome<u128> {
    let value = match host.int(0) {
        0 => 2_097_152,
        1 => 127_235,
        2 => 100,
        4 => 1024,
        30 => PAGE as i64,
        83 | 84 => PROCESSORS as i64,
        85 => 1 << 20,
        86 => 1 << 19,
        name => return Err(host.unsupported(format!("sysconf({name})"))),
    };
    Ok(host.word(value))
}

fn gethostname(host: &mut dyn Host) -> Outcome<u128> {
    let (target, size) = (host.pointer(0), host.size(1));
    if size < 10 {
        return Ok(host.error(EINVAL));
    }
    host.write_string(target, b"localhost")?;
    Ok(0)
}

fn uname(host: &mut dyn Host) -> Outcome<u128> {
    const FIELD: usize = 65;
    let target = host.pointer(0);
    let mut bytes = [0; 6 * FIELD];
    for (field, text) in ["Linux", "localhost", "6.1.0", "#1 SMP", "x86_64", "(none)"].iter().enumerate() {
        bytes[field * FIELD..][..text.len()].copy_from_slice(text.as_bytes());
    }
    host.write(target, &bytes)?;
    Ok(0)
}

fn getrusage(host: &mut dyn Host) -> Outcome<u128> {
    let target = host.pointer(1);
    let bytes = match host.data_model() {
        DataModel::Lp64 => 144,
        DataModel::Ilp32 => 72,
    };
    host.fill(target, 0, bytes)?;
    Ok(int(0))
}

/// No limit on anything.
fn getrlimit(host: &mut dyn Host) -> Outcome<u128> {
    let target = host.pointer(1);
    let bytes = 2 * host.word_bytes();
    host.fill(target, 0xff, bytes)?;
    Ok(0)
}
