//! Opening, closing, removing and asking about files, by name, stream or descriptor (A-IO: see `stream`).

use super::errors::{EACCES, EBADF, EINVAL, ENOENT};
use super::state::Target;
use super::stream::{
    OpenMode, Stream, close, contents, differs, exists, files, open, open_file, take_for_written,
};
use super::values::{NULL, int};
use super::{Family, Host, Outcome, channel};
use raddle_ir::DataModel;

pub(super) const FUNCTIONS: Family = &[
    ("fopen", fopen),
    ("freopen", freopen),
    ("fdopen", fdopen),
    ("tmpfile", tmpfile),
    ("fclose", fclose),
    ("open", |h| open_at(h, 0)),
    ("openat", |h| open_at(h, 1)),
    ("creat", creat),
    ("close", close_descriptor),
    ("unlink", unlink),
    ("remove", unlink),
    ("rename", rename),
    ("access", access),
    ("truncate", truncate),
    ("stat", |h| stat(h, 0)),
    ("__xstat", |h| stat(h, 1)),
    ("fstat", |h| fstat(h, 0)),
    ("__fxstat", |h| fstat(h, 1)),
    ("mkdir", folder),
    ("rmdir", folder),
    ("chdir", |h| {
        let result = folder(h)?;
        files(h).moved |= result == 0;
        Ok(result)
    }),
];

/// `r`, `w+`, `ab`, …
fn stream_mode(mode: &[u8]) -> Option<OpenMode> {
    let update = mode.contains(&b'+');
    let exclusive = mode.contains(&b'x');
    let base = OpenMode {
        readable: update,
        writable: update,
        append: false,
        create: false,
        exclusive,
        truncate: false,
    };
    match mode.first()? {
        b'r' => Some(OpenMode { readable: true, ..base }),
        b'w' => Some(OpenMode { writable: true, create: true, truncate: true, ..base }),
        b'a' => Some(OpenMode { writable: true, create: true, append: true, ..base }),
        _ => None,
    }
}

fn open_stream(host: &mut dyn Host) -> Outcome<Result<Stream, i32>> {
    let (path, mode) = (host.pointer(0), host.pointer(1));
    let path = host.read_string(path)?;
    let mode = host.read_string(mode)?;
    Ok(match stream_mode(&mode) {
        Some(mode) => open(host, &path, mode)?.map(Stream),
        None => Err(EINVAL),
    })
}

fn stream_result(host: &mut dyn Host, stream: Result<Stream, i32>) -> Outcome<u128> {
    match stream {
        Ok(stream) => stream.address(host).map(u128::from),
        Err(errno) => {
            host.set_errno(errno);
            Ok(NULL)
        }
    }
}

fn fopen(host: &mut dyn Host) -> Outcome<u128> {
    let stream = open_stream(host)?;
    stream_result(host, stream)
}

/// The old stream is closed; a standard one cannot be sent elsewhere.
fn freopen(host: &mut dyn Host) -> Outcome<u128> {
    let old = Stream::of_argument(host, 2)?;
    if (0..=2).contains(&old.0) {
        return Err(host.unsupported("freopen of a standard stream".into()));
    }
    let stream = open_stream(host)?;
    close(host, old.0);
    stream_result(host, stream)
}

fn fdopen(host: &mut dyn Host) -> Outcome<u128> {
    let descriptor = host.int(0);
    if host.is_channel(descriptor) {
        return Err(host.unsupported("a stream on a pipe, socket pair or eventfd".into()));
    }
    let stream = if open_file(host, descriptor).is_some() { Ok(Stream(descriptor)) } else { Err(EBADF) };
    stream_result(host, stream)
}

fn tmpfile(host: &mut dyn Host) -> Outcome<u128> {
    let mode = stream_mode(b"w+");
    let name = format!("temporary file {}", files(host).contents.len());
    let stream = match mode {
        Some(mode) => open(host, name.as_bytes(), mode)?.map(Stream),
        None => Err(EINVAL),
    };
    stream_result(host, stream)
}

fn fclose(host: &mut dyn Host) -> Outcome<u128> {
    take_for_written(host);
    let stream = Stream::of_argument(host, 0)?;
    close(host, stream.0);
    Ok(0)
}

/// `open(path, flags, …)`; `shift` arguments come first. Flags as on Linux.
fn open_at(host: &mut dyn Host, shift: usize) -> Outcome<u128> {
    let (path, flags) = (host.pointer(shift), host.int(shift + 1));
    let path = host.read_string(path)?;
    let access = flags & 3;
    let mode = OpenMode {
        readable: access != 1,
        writable: access != 0,
        append: flags & 0o2000 != 0,
        create: flags & 0o100 != 0,
        exclusive: flags & 0o200 != 0,
        truncate: flags & 0o1000 != 0,
    };
    open_result(host, &path, mode)
}

fn creat(host: &mut dyn Host) -> Outcome<u128> {
    let path = host.pointer(0);
    let path = host.read_string(path)?;
    let mode = OpenMode {
        readable: false,
        writable: true,
        append: false,
        create: true,
        exclusive: false,
        truncate: true,
    };
    open_result(host, &path, mode)
}

fn open_result(host: &mut dyn Host, path: &[u8], mode: OpenMode) -> Outcome<u128> {
    Ok(match open(host, path, mode)? {
        Ok(descriptor) => int(descriptor),
        Err(errno) => host.error(errno),
    })
}

fn close_descriptor(host: &mut dyn Host) -> Outcome<u128> {
    let descriptor = host.int(0);
    if host.is_channel(descriptor) {
        channel::close(host, descriptor)?;
        return Ok(0);
    }
    Ok(if close(host, descriptor) { 0 } else { host.error(EBADF) })
}

fn unlink(host: &mut dyn Host) -> Outcome<u128> {
    let path = host.pointer(0);
    let path = host.read_string(path)?;
    if !exists(host, &path)? {
        return Ok(host.error(ENOENT));
    }
    files(host).contents.insert(path, None);
    Ok(0)
}

fn rename(host: &mut dyn Host) -> Outcome<u128> {
    let (from, to) = (host.pointer(0), host.pointer(1));
    let from = host.read_string(from)?;
    let to = host.read_string(to)?;
    if !exists(host, &from)? {
        return Ok(host.error(ENOENT));
    }
    let contents = contents(host, &from).unwrap_or_default();
    let files = files(host);
    files.contents.insert(from.clone(), None);
    for file in files.open.values_mut() {
        if file.target == Target::File(from.clone()) {
            file.target = Target::File(to.clone());
        }
    }
    files.contents.insert(to, Some(contents));
    Ok(0)
}

fn access(host: &mut dyn Host) -> Outcome<u128> {
    let path = host.pointer(0);
    let path = host.read_string(path)?;
    Ok(if exists(host, &path)? { 0 } else { host.error(ENOENT) })
}

fn truncate(host: &mut dyn Host) -> Outcome<u128> {
    let (path, size) = (host.pointer(0), host.long(1));
    let path = host.read_string(path)?;
    if !exists(host, &path)? {
        return Ok(host.error(ENOENT));
    }
    if !(0..1 << 26).contains(&size) {
        return Ok(host.error(EINVAL));
    }
    let mut contents = contents(host, &path).unwrap_or_default();
    std::sync::Arc::make_mut(&mut contents).resize(size as usize, 0);
    files(host).contents.insert(path, Some(contents));
    Ok(0)
}

fn stat(host: &mut dyn Host, path_at: usize) -> Outcome<u128> {
    let (path, target) = (host.pointer(path_at), host.pointer(path_at + 1));
    let path = host.read_string(path)?;
    if !exists(host, &path)? {
        return Ok(host.error(ENOENT));
    }
    let size = contents(host, &path).map_or(0, |contents| contents.len());
    write_stat(host, target, REGULAR, size as u64)
}

fn fstat(host: &mut dyn Host, descriptor_at: usize) -> Outcome<u128> {
    let (descriptor, target) = (host.int(descriptor_at), host.pointer(descriptor_at + 1));
    if host.is_channel(descriptor) {
        return Err(host.unsupported("fstat of a pipe, socket pair or eventfd".into()));
    }
    let Some(file) = open_file(host, descriptor) else { return Ok(host.error(EBADF)) };
    match file.target.clone() {
        Target::Standard | Target::Null => write_stat(host, target, CHARACTER_DEVICE, 0),
        Target::Socket { .. } => write_stat(host, target, SOCKET, 0),
        Target::File(path) => {
            let size = contents(host, &path).map_or(0, |contents| contents.len());
            write_stat(host, target, REGULAR, size as u64)
        }
    }
}

const REGULAR: u32 = 0o100_644;
const CHARACTER_DEVICE: u32 = 0o020_666;
const SOCKET: u32 = 0o140_777;

/// The `struct stat` of x86-64: kind and size, the rest zero.
fn write_stat(host: &mut dyn Host, target: u64, mode: u32, size: u64) -> Outcome<u128> {
    if host.data_model() == DataModel::Ilp32 {
        return Err(host.unsupported("struct stat of 32-bit programs".into()));
    }
    let mut bytes = [0; 144];
    bytes[16] = 1;
    bytes[24..28].copy_from_slice(&mode.to_le_bytes());
    bytes[48..56].copy_from_slice(&size.to_le_bytes());
    host.write(target, &bytes)?;
    Ok(0)
}

/// Folders are neither kept nor looked at: the call succeeds or fails.
fn folder(host: &mut dyn Host) -> Outcome<u128> {
    let path = host.pointer(0);
    host.read_string(path)?;
    Ok(if differs(host)? { host.error(EACCES) } else { 0 })
}
