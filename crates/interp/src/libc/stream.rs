//! Streams and descriptors over the file system of [`super::state`] (A-IO): standard input comes from the machine, standard output and
//! error are captured. A file that exists outside is read as it is; what the program writes stays in the run. `/dev/null` always
//! exists.
//!
//! Whether a call succeeds is the environment's choice: what would happen here and now comes first, the other outcome second. In one
//! execution at most [`MOST_FAILURES`] calls of a thread go the other way: how many is the thread's own business, so that it makes no
//! call depend on another thread's.
//!
//! A `FILE` is a block of the library whose address stands for a descriptor; its contents mean nothing. It is touched where the program
//! calls functions that do not lock streams: then each stream has a block of its own, whatever its number.
//! Buffering is not modelled: every byte is written at once.

use super::errors::{EACCES, EBADF, EEXIST, EINVAL, EIO, EMFILE, ENOENT, ENOTCONN, ESPIPE};
use super::state::{Files, OpenFile, Peer, Target};
use super::{Host, Outcome, channel};
use raddle_event::ProblemKind;
use std::sync::Arc;

/// Size of the block behind a `FILE *`.
pub const STREAM_BYTES: usize = 216;

/// Keys of the library blocks that the variables `stdin`, `stdout` and `stderr` point to, by descriptor.
pub const STREAM_KEYS: [&str; 3] = ["stdin", "stdout", "stderr"];

pub(super) const MOST_DESCRIPTORS: i32 = 1024;

/// An open stream: its descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stream(pub(super) i32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpenMode {
    pub(super) readable: bool,
    pub(super) writable: bool,
    pub(super) append: bool,
    pub(super) create: bool,
    pub(super) exclusive: bool,
    pub(super) truncate: bool,
}

impl Stream {
    /// The stream that an argument points to.
    pub(super) fn of_argument(host: &mut dyn Host, index: usize) -> Outcome<Stream> {
        let address = host.pointer(index);
        for descriptor in [1, 2, 0] {
            if Stream(descriptor).address(host)? == address {
                return Ok(Stream(descriptor));
            }
        }
        let open: Vec<i32> = host.state().files.open.keys().copied().filter(|fd| *fd > 2).collect();
        for descriptor in open {
            if Stream(descriptor).address(host)? == address {
                return Ok(Stream(descriptor));
            }
        }
        let kind = if address == 0 { ProblemKind::NullDereference } else { ProblemKind::InvalidArgument };
        Err(host.fail(kind, "the argument is not an open stream".into()))
    }

    pub(super) fn address(self, host: &mut dyn Host) -> Outcome<u64> {
        let key = match usize::try_from(self.0).ok().and_then(|index| STREAM_KEYS.get(index)) {
            Some(key) => (*key).to_owned(),
            None => match files(host).open.get(&self.0).map_or(0, |file| file.life) {
                0 => format!("FILE {}", self.0),
                life => format!("FILE {} ({life})", self.0),
            },
        };
        host.library_block(&key, &[0; STREAM_BYTES])
    }
}

/// Calls of one thread in one execution that do not go as they would here and now.
pub(super) const MOST_FAILURES: u32 = 2;

/// Whether the call goes the other way than it would here and now.
pub(super) fn differs(host: &mut dyn Host) -> Outcome<bool> {
    if *host.failures() >= MOST_FAILURES {
        host.assume("A-IO");
        return Ok(false);
    }
    let differs = host.choose(2)? == 1;
    if differs {
        *host.failures() += 1;
    }
    Ok(differs)
}

/// The contents of the file of this name, if it exists.
pub(super) fn contents(host: &mut dyn Host, path: &[u8]) -> Option<Arc<Vec<u8>>> {
    if let Some(known) = files(host).contents.get(path) {
        return known.clone();
    }
    let here = path.first() == Some(&b'/') || !files(host).moved;
    let found = if here { host.outside(path) } else { None };
    if found.is_some() {
        files(host).contents.insert(path.to_vec(), found.clone());
    }
    found
}

/// Whether the file exists, or is taken to exist by the environment's choice: then it is empty.
pub(super) fn exists(host: &mut dyn Host, path: &[u8]) -> Outcome<bool> {
    if path == b"/dev/null" {
        return Ok(true);
    }
    let here = contents(host, path).is_some();
    if !differs(host)? {
        return Ok(here);
    }
    if !here {
        files(host).contents.insert(path.to_vec(), Some(Arc::default()));
    }
    Ok(!here)
}

/// Opens a name and returns the lowest free descriptor, or an error number.
pub(super) fn open(host: &mut dyn Host, path: &[u8], mode: OpenMode) -> Outcome<Result<i32, i32>> {
    let target = if path == b"/dev/null" { Target::Null } else { Target::File(path.to_vec()) };
    if let Target::File(path) = &target {
        let here = contents(host, path).is_some();
        let fails = match (here, mode.create) {
            (false, false) => Some(ENOENT),
            (true, true) if mode.exclusive => Some(EEXIST),
            _ => None,
        };
        match (fails, differs(host)?) {
            (Some(errno), false) => return Ok(Err(errno)),
            (None, true) => return Ok(Err(EACCES)),
            (Some(_), true) | (None, false) => {}
        }
        if !here || fails.is_some() || (mode.truncate && mode.writable) {
            files(host).contents.insert(path.clone(), Some(Arc::default()));
        }
    }
    Ok(new_descriptor(host, target, mode))
}

/// The lowest free descriptor, for this.
pub(super) fn new_descriptor(host: &mut dyn Host, target: Target, mode: OpenMode) -> Result<i32, i32> {
    let descriptor = free_descriptor(host).ok_or(EMFILE)?;
    let told_apart = host.streams_are_memory();
    let files = files(host);
    files.lives += u32::from(told_apart);
    let OpenMode { readable, writable, append, .. } = mode;
    let life = files.lives;
    files.open.insert(descriptor, OpenFile { readable, writable, append, life, ..OpenFile::new(target) });
    host.channels().give_again(descriptor);
    Ok(descriptor)
}

/// The lowest number that stands for nothing.
pub(super) fn free_descriptor(host: &mut dyn Host) -> Option<i32> {
    (3..MOST_DESCRIPTORS).find(|fd| !files(host).open.contains_key(fd) && !host.channels().is_open(*fd))
}

/// Whether the descriptor was open.
pub(super) fn close(host: &mut dyn Host, descriptor: i32) -> bool {
    files(host).open.remove(&descriptor).is_some() || (0..=2).contains(&descriptor)
}

/// What a peer sends, once to each thread that reads from a socket; then it has ended.
const MESSAGE: &[u8] = b"x\n";

/// Threads that one socket gives bytes to.
const MOST_READERS: usize = 2;

/// Bytes from the peer, the end, or an error, as the environment chooses.
fn read_socket(
    host: &mut dyn Host,
    descriptor: i32,
    (peer, mut readers): (Peer, Vec<u32>),
    limit: usize,
) -> Outcome<Result<Vec<u8>, i32>> {
    if peer == Peer::Missing {
        return Ok(Err(ENOTCONN));
    }
    let thread = host.thread_number();
    let gives = readers.len() < MOST_READERS && !readers.contains(&thread);
    let choice = host.choose(if gives { 3 } else { 2 })? + u32::from(!gives);
    Ok(match choice {
        0 => {
            readers.push(thread);
            if let Some(file) = open_file(host, descriptor) {
                file.target = Target::Socket { peer, readers };
            }
            Ok(MESSAGE[..MESSAGE.len().min(limit)].to_vec())
        }
        1 => Ok(Vec::new()),
        _ => Err(EIO),
    })
}

/// Up to `limit` bytes, or an error number. Bytes that were pushed back come first.
pub(super) fn read_descriptor(
    host: &mut dyn Host,
    descriptor: i32,
    limit: usize,
) -> Outcome<Result<Vec<u8>, i32>> {
    if host.is_channel(descriptor) {
        return channel::read(host, descriptor, limit);
    }
    let Some(file) = open_file(host, descriptor) else { return Ok(Err(EBADF)) };
    if !file.readable {
        return Ok(Err(EBADF));
    }
    if let Target::Socket { peer, readers } = &file.target
        && file.pushed_back.is_empty()
    {
        let socket = (*peer, readers.clone());
        return read_socket(host, descriptor, socket, limit);
    }
    let mut bytes = Vec::new();
    while bytes.len() < limit {
        match file.pushed_back.pop() {
            Some(byte) => bytes.push(byte),
            None => break,
        }
    }
    let wanted = limit - bytes.len();
    let more = match file.target.clone() {
        Target::Standard => {
            host.assume("A-INPUT");
            if wanted > 0 { host.take_input(wanted) } else { Vec::new() }
        }
        Target::Null | Target::Socket { .. } => Vec::new(),
        Target::File(path) => {
            let start = file.offset;
            let contents = contents(host, &path).unwrap_or_default();
            let files = files(host);
            let start = contents.len().min(start as usize);
            let end = contents.len().min(start.saturating_add(wanted));
            if let Some(file) = files.open.get_mut(&descriptor) {
                file.offset = end as u64;
            }
            contents[start..end].to_vec()
        }
    };
    bytes.extend(more);
    Ok(Ok(bytes))
}

/// The number of bytes written, or an error number.
pub(super) fn write_descriptor(
    host: &mut dyn Host,
    descriptor: i32,
    bytes: &[u8],
) -> Outcome<Result<usize, i32>> {
    if descriptor == 1 || descriptor == 2 {
        print(host, descriptor, bytes);
        return Ok(Ok(bytes.len()));
    }
    if host.is_channel(descriptor) {
        return channel::write(host, descriptor, bytes, channel::Broken::Signals);
    }
    let peer = open_file(host, descriptor).and_then(|file| match file.target {
        Target::Socket { peer, .. } => Some(peer),
        _ => None,
    });
    match peer {
        Some(Peer::Missing) => return Ok(Err(ENOTCONN)),
        Some(Peer::Possible) if differs(host)? => return Ok(Err(EIO)),
        _ => {}
    }
    let files = files(host);
    let Some(file) = files.open.get_mut(&descriptor).filter(|file| file.writable) else {
        return Ok(Err(EBADF));
    };
    if let Target::File(path) = &file.target {
        let contents = files.contents.entry(path.clone()).or_default().get_or_insert_default();
        let contents = Arc::make_mut(contents);
        let start = if file.append { contents.len() } else { file.offset as usize };
        let end = start + bytes.len();
        if end > MOST_FILE_BYTES {
            return Err(host.unsupported("a file of more than 64 MiB".into()));
        }
        if contents.len() < end {
            contents.resize(end, 0);
        }
        contents[start..end].copy_from_slice(bytes);
        file.offset = end as u64;
    }
    Ok(Ok(bytes.len()))
}

/// Bytes for standard output or error.
pub(super) fn print(host: &mut dyn Host, descriptor: i32, bytes: &[u8]) {
    take_for_written(host);
    host.output(descriptor, bytes);
}

/// Output succeeds: an assumption where the program looks at the result.
pub(super) fn take_for_written(host: &mut dyn Host) {
    if host.result_is_used() {
        host.assume("A-IO");
    }
}

const MOST_FILE_BYTES: usize = 64 << 20;

/// Whether it worked; the stream's error flag is set otherwise.
pub(super) fn write_stream(host: &mut dyn Host, stream: Stream, bytes: &[u8]) -> Outcome<bool> {
    match write_descriptor(host, stream.0, bytes)? {
        Ok(_) => Ok(true),
        Err(errno) => {
            host.set_errno(errno);
            if let Some(file) = open_file(host, stream.0) {
                file.error = true;
            }
            Ok(false)
        }
    }
}

/// Up to `limit` bytes; fewer set the stream's end-of-file or error flag.
pub(super) fn read_stream(host: &mut dyn Host, stream: Stream, limit: usize) -> Outcome<Vec<u8>> {
    Ok(match read_descriptor(host, stream.0, limit)? {
        Ok(bytes) => {
            if let Some(file) = open_file(host, stream.0) {
                file.end_of_file |= bytes.len() < limit;
            }
            bytes
        }
        Err(errno) => {
            host.set_errno(errno);
            if let Some(file) = open_file(host, stream.0) {
                file.error = true;
            }
            Vec::new()
        }
    })
}

pub(super) fn read_stream_byte(host: &mut dyn Host, stream: Stream) -> Outcome<Option<u8>> {
    Ok(read_stream(host, stream, 1)?.first().copied())
}

/// Gives a byte back to be read next.
pub(super) fn push_back(host: &mut dyn Host, stream: Stream, byte: u8) {
    if let Some(file) = open_file(host, stream.0) {
        file.pushed_back.push(byte);
        file.end_of_file = false;
    }
}

/// Moves to an offset from the start (0), the place (1) or the end (2); the new place, or an error number.
/// What standard input and output are is not known: a terminal or pipe here, where a file has a position.
pub(super) fn look_at_standard(host: &mut dyn Host, descriptor: i32) {
    if open_file(host, descriptor).map_or((0..=2).contains(&descriptor), |file| file.is_standard()) {
        host.assume("A-IO");
    }
}

pub(super) fn seek(host: &mut dyn Host, descriptor: i32, offset: i64, whence: i32) -> Result<u64, i32> {
    if host.is_channel(descriptor) {
        return Err(ESPIPE);
    }
    look_at_standard(host, descriptor);
    let files = files(host);
    let Some(file) = files.open.get_mut(&descriptor) else {
        return Err(if (0..=2).contains(&descriptor) { ESPIPE } else { EBADF });
    };
    let length = match &file.target {
        Target::Standard | Target::Socket { .. } => return Err(ESPIPE),
        Target::Null => 0,
        Target::File(path) => {
            files.contents.get(path).and_then(Option::as_ref).map_or(0, |contents| contents.len())
        }
    };
    let pushed_back = file.pushed_back.len() as i64;
    let base = match whence {
        0 => 0,
        1 => file.offset as i64 - pushed_back,
        2 => length as i64,
        _ => return Err(EINVAL),
    };
    let place = base.checked_add(offset).and_then(|place| u64::try_from(place).ok()).ok_or(EINVAL)?;
    file.offset = place;
    file.end_of_file = false;
    file.pushed_back.clear();
    Ok(place)
}

/// The state of an open descriptor; the standard ones get theirs when first asked for.
pub(super) fn open_file<'h>(host: &'h mut (dyn Host + '_), descriptor: i32) -> Option<&'h mut OpenFile> {
    let files = files(host);
    if (0..=2).contains(&descriptor) {
        let standard = || OpenFile {
            readable: descriptor == 0,
            writable: descriptor != 0,
            ..OpenFile::new(Target::Standard)
        };
        return Some(files.open.entry(descriptor).or_insert_with(standard));
    }
    files.open.get_mut(&descriptor)
}

pub(super) fn files<'h>(host: &'h mut (dyn Host + '_)) -> &'h mut Files {
    Arc::make_mut(&mut host.state().files)
}
