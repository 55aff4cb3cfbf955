//! Pipes, socket pairs and eventfds: see [`crate::channels`]. Whether one can be made is the environment's choice.
//!
//! Written bytes have places in a ring; a write gives its places, a read takes those that it returns. An eventfd, and the end of a
//! stream, have one place for each thread: who reads it is ordered after all that wrote, or closed.

use super::errors::{EAGAIN, EBADF, ECONNREFUSED, ECONNRESET, EINVAL, EMFILE, ENOTSOCK, EPIPE};
use super::state::{LibState, PipeSignal};
use super::stream::{MOST_FAILURES, differs, free_descriptor};
use super::{Family, Host, Outcome};
use crate::channels::{
    Blocking, Channels, Description, MOST_AT_ONCE, MOST_DATAGRAMS, MOST_MESSAGES, MOST_UNREAD, Remaining,
    StreamKind,
};
use crate::sync::Passing;

pub(super) const FUNCTIONS: Family = &[
    ("pipe", |h| pipe(h, 0)),
    ("pipe2", |h| {
        let flags = h.int(1);
        pipe(h, flags)
    }),
    ("socketpair", socketpair),
    ("eventfd", eventfd),
    ("dup", dup),
    ("dup2", |h| dup_to(h, 0)),
    ("dup3", |h| {
        let flags = h.int(2);
        dup_to(h, flags)
    }),
];

const NONBLOCK: i32 = 0o4000;
pub(super) const CLOEXEC: i32 = 0o2_000_000;

/// Places of the ring; twice what may be unread.
const RING: u32 = 2 * MOST_AT_ONCE as u32;

/// What a write that nobody can read does besides failing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// `SIGPIPE`
    Signals,
    /// `MSG_NOSIGNAL`
    Quiet,
}

/// Whether the environment may still let a call go another way than it would here.
pub(crate) fn may_differ(failures: u32) -> bool {
    failures < MOST_FAILURES
}

/// Whether the number stands for a file, a socket of an unknown peer, or a standard stream.
pub(crate) fn is_open(state: &LibState, descriptor: i32) -> bool {
    (0..=2).contains(&descriptor) || state.files.open.contains_key(&descriptor)
}

fn blocking(flags: i32) -> Blocking {
    if flags & NONBLOCK == 0 { Blocking::Yes } else { Blocking::No }
}

/// All that is done to channels happens in a visible operation.
pub(super) fn channels(host: &mut dyn Host) -> Outcome<&mut Channels> {
    if host.is_operation() {
        return Ok(host.channels());
    }
    Err(host.unsupported("this function on a pipe, socket pair or eventfd".into()))
}

/// The block that stands for it in events is made by the thread that makes it.
pub(super) fn new_stream(host: &mut dyn Host, kind: StreamKind, count: u64) -> Outcome<usize> {
    let channels = channels(host)?;
    let number = channels.new_stream(kind, count);
    let name = channels.stream(number).name(number);
    host.library_block(&name, &[0])?;
    Ok(number)
}

pub(super) fn connected(host: &mut dyn Host, description: Description) -> Result<i32, i32> {
    let descriptor = free_descriptor(host).ok_or(EMFILE)?;
    host.channels().connect(descriptor, description);
    Ok(descriptor)
}

/// Both descriptors go to the array, in this order.
fn two(host: &mut dyn Host, target: u64, both: [Description; 2]) -> Outcome<u128> {
    for (index, description) in both.into_iter().enumerate() {
        match connected(host, description) {
            Ok(descriptor) => {
                let at = host.offset(target, 4 * index as u64);
                host.write_int(at, descriptor)?;
            }
            Err(_) => return Err(host.limit("descriptors of the process")),
        }
    }
    Ok(0)
}

fn pipe(host: &mut dyn Host, flags: i32) -> Outcome<u128> {
    if flags & !(NONBLOCK | CLOEXEC) != 0 {
        return Err(host.unsupported("a pipe that keeps packets apart".into()));
    }
    if differs(host)? {
        return Ok(host.error(EMFILE));
    }
    let stream = new_stream(host, StreamKind::Pipe, 0)?;
    let blocking = blocking(flags);
    let reads = Description { reads: Some(stream), writes: None, epoll: None, blocking };
    let writes = Description { reads: None, writes: Some(stream), epoll: None, blocking };
    let target = host.pointer(0);
    two(host, target, [reads, writes])
}

fn socketpair(host: &mut dyn Host) -> Outcome<u128> {
    const LOCAL: i32 = 1;
    const STREAM: i32 = 1;
    const DATAGRAMS: i32 = 2;
    const PACKETS: i32 = 5;
    let (domain, flags, protocol) = (host.int(0), host.int(1), host.int(2));
    let kind = match flags & !(NONBLOCK | CLOEXEC) {
        STREAM => StreamKind::Socket,
        DATAGRAMS => StreamKind::Datagrams,
        PACKETS => StreamKind::Messages,
        _ => return Err(host.unsupported("a socket pair of this type".into())),
    };
    if domain != LOCAL || protocol != 0 {
        return Err(host.unsupported("a socket pair of this domain".into()));
    }
    if differs(host)? {
        return Ok(host.error(EMFILE));
    }
    let there = new_stream(host, kind, 0)?;
    let back = new_stream(host, kind, 0)?;
    let blocking = blocking(flags);
    let one = Description { reads: Some(back), writes: Some(there), epoll: None, blocking };
    let other = Description { reads: Some(there), writes: Some(back), epoll: None, blocking };
    let target = host.pointer(3);
    two(host, target, [one, other])
}

fn eventfd(host: &mut dyn Host) -> Outcome<u128> {
    const SEMAPHORE: i32 = 1;
    let (count, flags) = (host.arg(0) as u32, host.int(1));
    if flags & !(NONBLOCK | CLOEXEC | SEMAPHORE) != 0 {
        return Ok(host.error(EINVAL));
    }
    if differs(host)? {
        return Ok(host.error(EMFILE));
    }
    let kind = if flags & SEMAPHORE == 0 { StreamKind::Counter } else { StreamKind::Semaphore };
    let stream = new_stream(host, kind, u64::from(count))?;
    let both =
        Description { reads: Some(stream), writes: Some(stream), epoll: None, blocking: blocking(flags) };
    match connected(host, both) {
        Ok(descriptor) => Ok(super::values::int(descriptor)),
        Err(_) => Err(host.limit("descriptors of the process")),
    }
}

/// Up to `limit` bytes, or an error number. The machine lets a read happen only when it does not wait.
pub(super) fn read(host: &mut dyn Host, descriptor: i32, limit: usize) -> Outcome<Result<Vec<u8>, i32>> {
    let channels = channels(host)?;
    let Some(Description { reads: Some(number), .. }) = channels.at(descriptor) else {
        return Ok(Err(EBADF));
    };
    let ended = channels.has_ended(number);
    let stream = channels.stream_mut(number);
    let counts = matches!(stream.kind, StreamKind::Counter | StreamKind::Semaphore);
    if counts && limit < 8 {
        return Ok(Err(EINVAL));
    }
    if limit == 0 {
        return Ok(Ok(Vec::new()));
    }
    if stream.reset && (stream.is_empty() || stream.kind == StreamKind::Messages) {
        stream.reset = false;
        hears_end(host, number)?;
        return Ok(Err(ECONNRESET));
    }
    if stream.is_empty() {
        if !ended {
            return Ok(Err(EAGAIN));
        }
        hears_end(host, number)?;
        return Ok(Ok(Vec::new()));
    }
    let place = stream.place;
    let (bytes, taken) = match stream.kind {
        StreamKind::Pipe | StreamKind::Socket => {
            let bytes: Vec<u8> = stream.unread.drain(..limit.min(stream.unread.len())).collect();
            let mut left = bytes.len() as u32;
            while left > 0 && !stream.messages.is_empty() {
                let first = left.min(stream.messages[0]);
                stream.messages[0] -= first;
                left -= first;
                if stream.messages[0] == 0 {
                    stream.messages.remove(0);
                }
            }
            let taken = bytes.len() as u32;
            (bytes, taken)
        }
        StreamKind::Messages | StreamKind::Datagrams => {
            let mut bytes: Vec<u8> = stream.unread.drain(..stream.messages[0] as usize).collect();
            bytes.truncate(limit);
            stream.messages.remove(0);
            (bytes, 1)
        }
        StreamKind::Counter | StreamKind::Semaphore => {
            let value = if stream.kind == StreamKind::Counter { stream.count } else { 1 };
            stream.count -= value;
            let threads = host.thread_count();
            host.pass(number, (0, threads), Passing::Takes)?;
            return Ok(Ok(value.to_le_bytes().to_vec()));
        }
        StreamKind::Interests => return Ok(Err(EINVAL)),
    };
    stream.place = if stream.is_empty() { 0 } else { (place + taken) % RING };
    pass(host, number, place, taken, Passing::Takes)?;
    Ok(Ok(bytes))
}

fn hears_end(host: &mut dyn Host, number: usize) -> Outcome<()> {
    let threads = host.thread_count();
    host.pass(number, (RING, threads), Passing::Takes)
}

/// A thread gets to know that this end can be read: it comes after the write of the first byte, or message, that waits there.
pub(super) fn hears(host: &mut dyn Host, end: &Description) -> Outcome<()> {
    let Some(number) = end.reads else { return Ok(()) };
    let threads = host.thread_count();
    let channels = channels(host)?;
    let stream = channels.stream(number);
    match stream.kind {
        _ if stream.is_empty() => {
            if channels.has_ended(number) {
                hears_end(host, number)?;
            }
            Ok(())
        }
        StreamKind::Counter | StreamKind::Semaphore => host.pass(number, (0, threads), Passing::Takes),
        _ => {
            let place = stream.place;
            host.pass(number, (place, 1), Passing::Takes)
        }
    }
}

/// Bytes of the message that a read would take, where messages stay apart.
pub(super) fn next_message(host: &mut dyn Host, descriptor: i32) -> Option<u64> {
    let channels = host.channels();
    let stream = channels.stream(channels.at(descriptor)?.reads?);
    let apart = matches!(stream.kind, StreamKind::Messages | StreamKind::Datagrams);
    stream.messages.first().filter(|_| apart).map(|size| u64::from(*size))
}

/// Goes round the ring.
fn pass(host: &mut dyn Host, number: usize, place: u32, len: u32, passing: Passing) -> Outcome<()> {
    let first = len.min(RING - place);
    host.pass(number, (place, first), passing)?;
    if len > first { host.pass(number, (0, len - first), passing) } else { Ok(()) }
}

/// The number of bytes written, or an error number.
pub(super) fn write(
    host: &mut dyn Host,
    descriptor: i32,
    bytes: &[u8],
    broken: Broken,
) -> Outcome<Result<usize, i32>> {
    let channels = channels(host)?;
    let Some(Description { writes: Some(number), reads, .. }) = channels.at(descriptor) else {
        return Ok(Err(EBADF));
    };
    if let Some(back) = reads.filter(|back| channels.stream(*back).kind == StreamKind::Messages)
        && std::mem::take(&mut channels.stream_mut(back).reset)
    {
        hears_end(host, back)?;
        return Ok(Err(ECONNRESET));
    }
    let readers = channels.has_readers(number);
    let stream = channels.stream_mut(number);
    if matches!(stream.kind, StreamKind::Counter | StreamKind::Semaphore) {
        let Some(value) = bytes.first_chunk::<8>().map(|value| u64::from_le_bytes(*value)) else {
            return Ok(Err(EINVAL));
        };
        if value == u64::MAX {
            return Ok(Err(EINVAL));
        }
        match stream.count.checked_add(value).filter(|sum| *sum < u64::MAX) {
            Some(sum) => stream.count = sum,
            None => return Err(host.limit("the count of an eventfd")),
        }
        host.channels().stir(number);
        let own = host.thread_number();
        host.pass(number, (own, 1), Passing::Gives)?;
        return Ok(Ok(8));
    }
    let packets = matches!(stream.kind, StreamKind::Messages | StreamKind::Datagrams);
    let datagrams = stream.kind == StreamKind::Datagrams;
    if bytes.is_empty() && !packets {
        return Ok(Ok(0));
    }
    if !readers && datagrams {
        return Ok(Err(ECONNREFUSED));
    }
    if !readers || stream.shut {
        return unread(host, broken);
    }
    let most = match stream.kind {
        StreamKind::Pipe if stream.unread.is_empty() => MOST_AT_ONCE,
        _ => MOST_UNREAD,
    };
    let most_messages = if datagrams { MOST_DATAGRAMS } else { MOST_MESSAGES };
    if stream.unread.len() + bytes.len() > most || stream.messages.len() >= most_messages {
        return Err(host.limit("unread bytes of a pipe or socket pair"));
    }
    let (behind, len) = match packets {
        true => (stream.messages.len() as u32, 1),
        false => (stream.unread.len() as u32, bytes.len() as u32),
    };
    let place = (stream.place + behind) % RING;
    stream.unread.extend_from_slice(bytes);
    if stream.kind != StreamKind::Pipe {
        stream.messages.push(bytes.len() as u32);
    }
    host.channels().stir(number);
    pass(host, number, place, len, Passing::Gives)?;
    Ok(Ok(bytes.len()))
}

/// A write that nobody can read fails, or ends the process by the signal.
fn unread(host: &mut dyn Host, broken: Broken) -> Outcome<Result<usize, i32>> {
    const SIGPIPE: i32 = 13;
    match (broken, host.state().pipe_signal) {
        (Broken::Quiet, _) | (_, PipeSignal::Ignored) => Ok(Err(EPIPE)),
        (Broken::Signals, PipeSignal::Ends) => Err(host.killed(SIGPIPE)),
        (Broken::Signals, PipeSignal::Unknown) => {
            Err(host.unsupported("a write that nobody can read, where SIGPIPE is handled or blocked".into()))
        }
    }
}

pub(super) fn close(host: &mut dyn Host, descriptor: i32) -> Outcome<()> {
    let channels = channels(host)?;
    let Some((Description { reads, writes: Some(number), .. }, remaining)) = channels.close(descriptor)
    else {
        return Ok(());
    };
    let kind = channels.stream(number).kind;
    if let Some(back) = reads.filter(|_| matches!(kind, StreamKind::Socket | StreamKind::Messages)) {
        let unread = remaining == Remaining::None && !channels.stream(back).is_empty();
        channels.stream_mut(number).reset |= unread;
    }
    channels.stir(number);
    ends(host, number)
}

/// This thread writes no more; who reads the end is ordered after that.
fn ends(host: &mut dyn Host, number: usize) -> Outcome<()> {
    let own = host.thread_number();
    host.pass(number, (RING + own, 1), Passing::Gives)
}

/// What is wrong with it, if it is no socket of a pair.
pub(super) fn no_socket(host: &mut dyn Host, descriptor: i32) -> Option<i32> {
    let channels = host.channels();
    let Some(description) = channels.at(descriptor) else { return Some(EBADF) };
    let kind = description.reads.map(|number| channels.stream(number).kind);
    match kind {
        Some(StreamKind::Socket | StreamKind::Messages | StreamKind::Datagrams) => None,
        _ => Some(ENOTSOCK),
    }
}

/// Flags of `send` and `recv` that are known; no address goes with them.
pub(super) fn flags(host: &mut dyn Host, flags: i32, address: u64) -> Outcome<Broken> {
    const NOSIGNAL: i32 = 0x4000;
    const DO_NOT_WAIT: i32 = 0x40;
    if flags & !(NOSIGNAL | DO_NOT_WAIT) != 0 || address != 0 {
        return Err(host.unsupported("flags or an address with a socket pair".into()));
    }
    Ok(if flags & NOSIGNAL == 0 { Broken::Signals } else { Broken::Quiet })
}

pub(super) fn shutdown(host: &mut dyn Host, descriptor: i32, how: i32) -> Outcome<u128> {
    const WRITING: i32 = 1;
    if how != WRITING {
        return Err(host.unsupported("a socket pair that is shut down for reading".into()));
    }
    if let Some(Description { writes: Some(number), .. }) = channels(host)?.at(descriptor) {
        if channels(host)?.stream(number).kind == StreamKind::Datagrams {
            return Err(host.unsupported("a socket pair of datagrams that is shut down".into()));
        }
        channels(host)?.stream_mut(number).shut = true;
        host.channels().stir(number);
        ends(host, number)?;
    }
    Ok(0)
}

pub(super) fn fcntl(host: &mut dyn Host, descriptor: i32, command: i32) -> Outcome<u128> {
    const DUPLICATE: i32 = 0;
    const DUPLICATE_CLOEXEC: i32 = 1030;
    const GET_FLAGS: i32 = 3;
    const SET_FLAGS: i32 = 4;
    let argument = host.int(2);
    let Some(description) = channels(host)?.at(descriptor) else { return Ok(host.error(EBADF)) };
    match command {
        1 | 2 => Ok(0),
        GET_FLAGS => {
            let mode = match (description.reads, description.writes) {
                (Some(_), Some(_)) => 2,
                (None, Some(_)) => 1,
                _ => 0,
            };
            let flags = if description.blocking == Blocking::No { NONBLOCK } else { 0 };
            Ok(super::values::int(mode | flags))
        }
        SET_FLAGS => {
            host.channels().set_blocking(descriptor, blocking(argument));
            Ok(0)
        }
        DUPLICATE | DUPLICATE_CLOEXEC if argument <= 3 => dup(host),
        _ => Err(host.unsupported(format!("fcntl command {command} on a pipe, socket pair or eventfd"))),
    }
}

fn dup(host: &mut dyn Host) -> Outcome<u128> {
    let descriptor = host.int(0);
    if !host.is_channel(descriptor) {
        return not_duplicated(host, descriptor);
    }
    match free_descriptor(host) {
        Some(new) => {
            channels(host)?.duplicate(descriptor, new);
            Ok(super::values::int(new))
        }
        None => Err(host.limit("descriptors of the process")),
    }
}

fn not_duplicated(host: &mut dyn Host, descriptor: i32) -> Outcome<u128> {
    match is_open(host.state(), descriptor) {
        true => Err(host.unsupported("a duplicated descriptor of a file".into())),
        false => Ok(host.error(EBADF)),
    }
}

fn dup_to(host: &mut dyn Host, flags: i32) -> Outcome<u128> {
    let (from, to) = (host.int(0), host.int(1));
    if !host.is_channel(from) {
        return not_duplicated(host, from);
    }
    if flags & !CLOEXEC != 0 || !(0..super::stream::MOST_DESCRIPTORS).contains(&to) {
        return Ok(host.error(if flags & !CLOEXEC != 0 { EINVAL } else { EBADF }));
    }
    if from == to {
        return Ok(super::values::int(to));
    }
    let channels = host.channels();
    if channels.is_taken(to) || is_open(host.state(), to) {
        return Err(host.unsupported("a descriptor that is put in the place of another one".into()));
    }
    host.channels().duplicate(from, to);
    Ok(super::values::int(to))
}
