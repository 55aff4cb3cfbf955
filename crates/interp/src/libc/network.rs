//! Sockets of an unknown peer (A-IO). Whether a call succeeds is the environment's choice; a socket gives a few bytes once, then its
//! end, or an error at any time. A stream without a connection gives and takes nothing (POSIX: ENOTCONN). In one execution at most [`MOST_CONNECTIONS`] connections are accepted: more are not covered.
//! Messages have no control data. Byte order is computed.

use super::errors::{EACCES, EBADF, EIO, ENOTSOCK};
use super::state::{Peer, Target};
use super::stream::{OpenMode, differs, new_descriptor, open_file, read_descriptor, write_descriptor};
use super::values::int;
use super::{Family, Host, Outcome, channel};

pub(super) const FUNCTIONS: Family = &[
    ("socket", socket),
    ("connect", |h| {
        let (address, size) = (h.pointer(1), h.arg(2) as u32);
        read_address(h, address, size)?;
        let result = on_socket(h)?;
        if result == 0 {
            let descriptor = h.int(0);
            meet(h, descriptor);
        }
        Ok(result)
    }),
    ("bind", |h| {
        let (address, size) = (h.pointer(1), h.arg(2) as u32);
        read_address(h, address, size)?;
        on_socket(h)
    }),
    ("accept", accept),
    ("listen", on_socket),
    ("setsockopt", |h| {
        let (value, size) = (h.pointer(3), h.arg(4) as u32);
        read_address(h, value, size)?;
        on_socket(h)
    }),
    ("getsockopt", getsockopt),
    ("shutdown", |h| {
        let (descriptor, how) = (h.int(0), h.int(1));
        match h.is_channel(descriptor) && no_socket(h).is_none() {
            true => channel::shutdown(h, descriptor, how),
            false => on_socket(h),
        }
    }),
    ("getsockname", name_of),
    ("getpeername", name_of),
    ("send", send),
    ("recv", recv),
    ("sendto", send),
    ("recvfrom", recv),
    ("sendmsg", sendmsg),
    ("recvmsg", recvmsg),
    ("htons", |h| Ok(u128::from((h.arg(0) as u16).swap_bytes()))),
    ("ntohs", |h| Ok(u128::from((h.arg(0) as u16).swap_bytes()))),
    ("htonl", |h| Ok(u128::from((h.arg(0) as u32).swap_bytes()))),
    ("ntohl", |h| Ok(u128::from((h.arg(0) as u32).swap_bytes()))),
    ("inet_addr", inet_addr),
];

/// Connections accepted in one execution.
const MOST_CONNECTIONS: u32 = 2;

/// Bytes of an address or an option that are looked at.
const MOST_ADDRESS: u64 = 128;

const BOTH_WAYS: OpenMode = OpenMode {
    readable: true,
    writable: true,
    append: false,
    create: false,
    exclusive: false,
    truncate: false,
};

/// Kinds of sockets that need a connection: `SOCK_STREAM` and `SOCK_SEQPACKET`.
const CONNECTED: [i32; 2] = [1, 5];
const SOCK_NONBLOCK: i32 = 0o4000;

/// The socket has a peer, or may have one.
pub(super) fn meet(host: &mut dyn Host, descriptor: i32) {
    if let Some(Target::Socket { peer, .. }) = open_file(host, descriptor).map(|file| &mut file.target) {
        *peer = Peer::Possible;
    }
}

fn new_socket(host: &mut dyn Host, peer: Peer) -> u128 {
    match new_descriptor(host, Target::Socket { peer, readers: Vec::new() }, BOTH_WAYS) {
        Ok(descriptor) => int(descriptor),
        Err(errno) => host.error(errno),
    }
}

fn socket(host: &mut dyn Host) -> Outcome<u128> {
    if differs(host)? {
        return Ok(host.error(EACCES));
    }
    let kind = host.int(1);
    let waits = CONNECTED.contains(&(kind & 0xf)) && kind & SOCK_NONBLOCK == 0;
    Ok(new_socket(host, if waits { Peer::Missing } else { Peer::Possible }))
}

/// What is wrong with the descriptor of the first argument, if it is none of a socket.
fn no_socket(host: &mut dyn Host) -> Option<i32> {
    let descriptor = host.int(0);
    if host.is_channel(descriptor) {
        return channel::no_socket(host, descriptor);
    }
    match open_file(host, descriptor).map(|file| &file.target) {
        Some(Target::Socket { .. }) => None,
        Some(_) => Some(ENOTSOCK),
        None => Some(EBADF),
    }
}

/// A call that changes nothing which is modelled.
fn on_socket(host: &mut dyn Host) -> Outcome<u128> {
    if let Some(errno) = no_socket(host) {
        return Ok(host.error(errno));
    }
    let descriptor = host.int(0);
    if host.is_channel(descriptor) {
        return Err(host.unsupported("an address, option or connection of a socket pair".into()));
    }
    Ok(if differs(host)? { host.error(EIO) } else { 0 })
}

/// A connection has come, or an error.
fn accept(host: &mut dyn Host) -> Outcome<u128> {
    let descriptor = host.int(0);
    if host.is_channel(descriptor) {
        return on_socket(host);
    }
    if let Some(errno) = no_socket(host) {
        return Ok(host.error(errno));
    }
    if differs(host)? {
        return Ok(host.error(EIO));
    }
    if host.state().connections >= MOST_CONNECTIONS {
        return Err(host.limit("connections that are accepted in one execution"));
    }
    host.state().connections += 1;
    let (address, size_at) = (host.pointer(1), host.pointer(2));
    write_address(host, address, size_at)?;
    Ok(new_socket(host, Peer::Possible))
}

/// An address, or an option, that the program gives.
fn read_address(host: &mut dyn Host, address: u64, size: u32) -> Outcome<()> {
    if address != 0 {
        host.read_bytes(address, u64::from(size).min(MOST_ADDRESS))?;
    }
    Ok(())
}

/// The address of a peer: of no family, with zeros in it.
fn write_address(host: &mut dyn Host, address: u64, size_at: u64) -> Outcome<()> {
    const IPV4: i32 = 16;
    if address == 0 || size_at == 0 {
        return Ok(());
    }
    let room = host.read_int(size_at)?;
    let bytes = room.clamp(0, IPV4);
    host.fill(address, 0, bytes as u64)?;
    host.write_int(size_at, IPV4)
}

fn name_of(host: &mut dyn Host) -> Outcome<u128> {
    let result = on_socket(host)?;
    if result == 0 {
        let (address, size_at) = (host.pointer(1), host.pointer(2));
        write_address(host, address, size_at)?;
    }
    Ok(result)
}

/// Every option is 0.
fn getsockopt(host: &mut dyn Host) -> Outcome<u128> {
    let result = on_socket(host)?;
    let (value, size_at) = (host.pointer(3), host.pointer(4));
    if result == 0 && value != 0 && size_at != 0 {
        let room = host.read_int(size_at)?;
        let bytes = room.clamp(0, 4);
        host.fill(value, 0, bytes as u64)?;
        host.write_int(size_at, bytes)?;
    }
    Ok(result)
}

fn send(host: &mut dyn Host) -> Outcome<u128> {
    if let Some(errno) = no_socket(host) {
        return Ok(host.long_error(errno));
    }
    let (source, size, flags, address) = (host.pointer(1), host.size(2), host.int(3), host.pointer(4));
    let bytes = host.read_bytes(source, size)?;
    let address_size = host.arg(5) as u32;
    read_address(host, address, address_size)?;
    send_bytes(host, &bytes, flags, address)
}

fn send_bytes(host: &mut dyn Host, bytes: &[u8], flags: i32, address: u64) -> Outcome<u128> {
    let descriptor = host.int(0);
    let sent = if host.is_channel(descriptor) {
        let broken = channel::flags(host, flags, address)?;
        channel::write(host, descriptor, bytes, broken)?
    } else {
        write_descriptor(host, descriptor, bytes)?
    };
    Ok(match sent {
        Ok(count) => count as u128,
        Err(errno) => host.long_error(errno),
    })
}

fn recv(host: &mut dyn Host) -> Outcome<u128> {
    if let Some(errno) = no_socket(host) {
        return Ok(host.long_error(errno));
    }
    let (descriptor, target, size) = (host.int(0), host.pointer(1), host.size(2));
    if host.is_channel(descriptor) {
        let (flags, address) = (host.int(3), host.pointer(4));
        channel::flags(host, flags, address)?;
    }
    Ok(match read_descriptor(host, descriptor, usize::try_from(size).unwrap_or(usize::MAX))? {
        Ok(bytes) => {
            host.write_bytes(target, &bytes)?;
            // POSIX: where the protocol has no address of the sender, the value stored is unspecified.
            let (address, size_at) = (host.pointer(4), host.pointer(5));
            write_address(host, address, size_at)?;
            bytes.len() as u128
        }
        Err(errno) => host.long_error(errno),
    })
}

/// A `struct msghdr`: all its members are words, or in a word of their own.
struct Message {
    address: u64,
    name: u64,
    buffers: Vec<(u64, u64)>,
    control: u64,
}

/// Buffers of one message (`IOV_MAX`).
const MOST_BUFFERS: i64 = 1024;

impl Message {
    fn member(host: &dyn Host, address: u64, index: u64) -> u64 {
        host.offset(address, index * host.word_bytes())
    }

    fn read(host: &mut dyn Host, address: u64) -> Outcome<Message> {
        let word = host.word_bytes();
        let name = host.read_pointer(Message::member(host, address, 0))?;
        let vector = host.read_pointer(Message::member(host, address, 2))?;
        let count = host.read_long(Message::member(host, address, 3))?;
        let control = host.read_pointer(Message::member(host, address, 4))?;
        let control_bytes = host.read_long(Message::member(host, address, 5))?;
        if control != 0 && control_bytes != 0 {
            return Err(host.unsupported("control data of a message".into()));
        }
        if !(0..=MOST_BUFFERS).contains(&count) {
            return Err(host.unsupported("a message of more than 1024 buffers".into()));
        }
        let mut buffers = Vec::new();
        for index in 0..count as u64 {
            let at = host.offset(vector, index * 2 * word);
            let base = host.read_pointer(at)?;
            let size_at = host.offset(at, word);
            buffers.push((base, host.read_long(size_at)? as u64));
        }
        Ok(Message { address, name, buffers, control })
    }
}

fn sendmsg(host: &mut dyn Host) -> Outcome<u128> {
    if let Some(errno) = no_socket(host) {
        return Ok(host.long_error(errno));
    }
    let (address, flags) = (host.pointer(1), host.int(2));
    let message = Message::read(host, address)?;
    let mut bytes = Vec::new();
    for (base, size) in message.buffers {
        bytes.extend(host.read_bytes(base, size)?);
    }
    if message.name != 0 {
        let size = host.read_int(Message::member(host, message.address, 1))?;
        read_address(host, message.name, size as u32)?;
    }
    send_bytes(host, &bytes, flags, message.name)
}

fn recvmsg(host: &mut dyn Host) -> Outcome<u128> {
    if let Some(errno) = no_socket(host) {
        return Ok(host.long_error(errno));
    }
    let (descriptor, address, flags) = (host.int(0), host.pointer(1), host.int(2));
    let message = Message::read(host, address)?;
    let room = message.buffers.iter().fold(0, |sum: u64, (_, size)| sum.saturating_add(*size));
    if host.is_channel(descriptor) {
        channel::flags(host, flags, 0)?;
        if room == 0 || channel::next_message(host, descriptor).is_some_and(|size| size > room) {
            return Err(host.unsupported("a message that is cut because the buffers are too small".into()));
        }
    }
    let bytes = match read_descriptor(host, descriptor, usize::try_from(room).unwrap_or(usize::MAX))? {
        Ok(bytes) => bytes,
        Err(errno) => return Ok(host.long_error(errno)),
    };
    let mut rest = &bytes[..];
    for (base, size) in message.buffers {
        let (now, later) = rest.split_at(rest.len().min(usize::try_from(size).unwrap_or(usize::MAX)));
        host.write_bytes(base, now)?;
        rest = later;
    }
    // An end of a pair has no name, no control data came, and nothing is to be said about the message.
    let size_at = Message::member(host, message.address, 1);
    match host.is_channel(descriptor) {
        true if message.name != 0 => host.write_int(size_at, 0)?,
        true => {}
        false => write_address(host, message.name, size_at)?,
    }
    if message.control != 0 {
        host.write_long(Message::member(host, message.address, 5), 0)?;
    }
    host.write_int(Message::member(host, message.address, 6), 0)?;
    Ok(bytes.len() as u128)
}

/// `1.2.3.4` only.
fn inet_addr(host: &mut dyn Host) -> Outcome<u128> {
    let text = host.pointer(0);
    let text = host.read_string(text)?;
    let address = std::str::from_utf8(&text).ok().and_then(|text| text.parse::<std::net::Ipv4Addr>().ok());
    Ok(u128::from(address.map_or(u32::MAX, |address| u32::from_le_bytes(address.octets()))))
}
