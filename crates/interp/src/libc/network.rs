//! Sockets of an unknown peer (A-IO). Whether a call succeeds is the environment's choice; a socket gives a few bytes once, then its
//! end, or an error at any time. In one execution at most [`MOST_CONNECTIONS`] connections are accepted: more are not covered. Names
//! of hosts are not found, or that is not modelled. Byte order is computed.

use super::errors::{EACCES, EBADF, EIO, ENOTSOCK};
use super::state::Target;
use super::stream::{OpenMode, differs, new_descriptor, open_file, read_descriptor, write_descriptor};
use super::values::{NULL, int};
use super::{Family, Host, Outcome, channel};

pub(super) const FUNCTIONS: Family = &[
    ("socket", socket),
    ("connect", |h| {
        let (address, size) = (h.pointer(1), h.arg(2) as u32);
        if address != 0 {
            h.read_bytes(address, u64::from(size).min(MOST_ADDRESS))?;
        }
        on_socket(h)
    }),
    ("bind", |h| {
        let (address, size) = (h.pointer(1), h.arg(2) as u32);
        if address != 0 {
            h.read_bytes(address, u64::from(size).min(MOST_ADDRESS))?;
        }
        on_socket(h)
    }),
    ("accept", accept),
    ("listen", on_socket),
    ("setsockopt", |h| {
        let (value, size) = (h.pointer(3), h.arg(4) as u32);
        if value != 0 {
            h.read_bytes(value, u64::from(size).min(MOST_ADDRESS))?;
        }
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
    ("sendmsg", message),
    ("recvmsg", message),
    ("freeaddrinfo", |_| Ok(0)),
    ("gethostbyname", |h| {
        if differs(h)? {
            return Err(h.unsupported("a host found by its name".into()));
        }
        Ok(NULL)
    }),
    ("getaddrinfo", |h| {
        if differs(h)? {
            return Err(h.unsupported("a host found by its name".into()));
        }
        Ok(int(NAME_NOT_FOUND))
    }),
    ("select", select),
    ("poll", poll),
    ("htons", |h| Ok(u128::from((h.arg(0) as u16).swap_bytes()))),
    ("ntohs", |h| Ok(u128::from((h.arg(0) as u16).swap_bytes()))),
    ("htonl", |h| Ok(u128::from((h.arg(0) as u32).swap_bytes()))),
    ("ntohl", |h| Ok(u128::from((h.arg(0) as u32).swap_bytes()))),
    ("inet_addr", inet_addr),
];

/// `EAI_NONAME`
const NAME_NOT_FOUND: i32 = -2;

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

fn new_socket(host: &mut dyn Host) -> u128 {
    match new_descriptor(host, Target::Socket { reads: 0 }, BOTH_WAYS) {
        Ok(descriptor) => int(descriptor),
        Err(errno) => host.error(errno),
    }
}

fn socket(host: &mut dyn Host) -> Outcome<u128> {
    if differs(host)? {
        return Ok(host.error(EACCES));
    }
    Ok(new_socket(host))
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
    Ok(new_socket(host))
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
    let (descriptor, source, size) = (host.int(0), host.pointer(1), host.size(2));
    if host.is_channel(descriptor) {
        let flags = host.int(3);
        channel::plain_flags(host, flags)?;
    }
    let bytes = host.read_bytes(source, size)?;
    Ok(match write_descriptor(host, descriptor, &bytes)? {
        Ok(count) => count as u128,
        Err(errno) => host.long_error(errno),
    })
}

/// Vectors of buffers are not modelled.
fn message(host: &mut dyn Host) -> Outcome<u128> {
    match no_socket(host) {
        Some(errno) => Ok(host.long_error(errno)),
        None => Err(host.unsupported("messages of several buffers".into())),
    }
}

fn recv(host: &mut dyn Host) -> Outcome<u128> {
    if let Some(errno) = no_socket(host) {
        return Ok(host.long_error(errno));
    }
    let (descriptor, target, size) = (host.int(0), host.pointer(1), host.size(2));
    if host.is_channel(descriptor) {
        let flags = host.int(3);
        channel::plain_flags(host, flags)?;
    }
    Ok(match read_descriptor(host, descriptor, usize::try_from(size).unwrap_or(usize::MAX))? {
        Ok(bytes) => {
            host.write_bytes(target, &bytes)?;
            bytes.len() as u128
        }
        Err(errno) => host.long_error(errno),
    })
}

/// All that is asked for is ready, or, where there is a time limit, nothing is.
fn select(host: &mut dyn Host) -> Outcome<u128> {
    let bits = u64::try_from(host.int(0)).unwrap_or(0).min(1024);
    let bytes = bits.div_ceil(8 * host.word_bytes()) * host.word_bytes();
    let timeout = host.pointer(4);
    for index in 1..=3 {
        let set = host.pointer(index);
        if set == 0 {
            continue;
        }
        let asked = host.read_bytes(set, bytes)?;
        for descriptor in (0..bits as i32).filter(|fd| asked[*fd as usize / 8] >> (fd % 8) & 1 == 1) {
            if host.is_channel(descriptor) {
                return Err(host.unsupported("select of a pipe, socket pair or eventfd".into()));
            }
        }
    }
    if timeout != 0 && differs(host)? || bytes == 0 {
        for index in 1..=3 {
            let set = host.pointer(index);
            if set != 0 && bytes > 0 {
                host.fill(set, 0, bytes)?;
            }
        }
        if timeout == 0 {
            return Err(host.unsupported("select that waits for ever".into()));
        }
        let seconds = host.read_long(timeout)?;
        let micros_at = host.offset(timeout, host.word_bytes());
        let micros = host.read_long(micros_at)?;
        let nanoseconds = seconds.saturating_mul(1_000_000_000).saturating_add(micros.saturating_mul(1000));
        // Linux writes what is left of the time: nothing.
        host.fill(timeout, 0, 2 * host.word_bytes())?;
        host.sleep(u64::try_from(nanoseconds).unwrap_or(0));
        return Ok(0);
    }
    let mut ready = 0;
    for index in 1..=2 {
        let set = host.pointer(index);
        if set != 0 {
            ready += host.read_bytes(set, bytes)?.iter().map(|byte| byte.count_ones()).sum::<u32>();
        }
    }
    let errors = host.pointer(3);
    if errors != 0 {
        host.fill(errors, 0, bytes)?;
    }
    Ok(u128::from(ready))
}

/// All that is asked for is ready, or, where there is a time limit, nothing is.
fn poll(host: &mut dyn Host) -> Outcome<u128> {
    const ENTRY: u64 = 8;
    const INPUT_OR_OUTPUT: u8 = 0x05;
    let (entries, count, timeout) = (host.pointer(0), host.size(1), host.int(2));
    for index in 0..count.min(1024) {
        let at = host.offset(entries, index * ENTRY);
        let descriptor = host.read_int(at)?;
        if host.is_channel(descriptor) {
            return Err(host.unsupported("poll of a pipe, socket pair or eventfd".into()));
        }
    }
    let times_out = timeout >= 0 && differs(host)?;
    let mut ready = 0;
    for index in 0..count.min(1024) {
        let asked_at = host.offset(entries, index * ENTRY + 4);
        let asked = host.read_bytes(asked_at, 1)?[0] & INPUT_OR_OUTPUT;
        let result = if times_out { 0 } else { asked };
        ready += u128::from(result != 0);
        let result_at = host.offset(entries, index * ENTRY + 6);
        host.write(result_at, &[result, 0])?;
    }
    if ready == 0 {
        let Ok(timeout) = u64::try_from(timeout) else {
            return Err(host.unsupported("poll that waits for ever".into()));
        };
        host.sleep(timeout * 1_000_000);
    }
    Ok(ready)
}

/// `1.2.3.4` only.
fn inet_addr(host: &mut dyn Host) -> Outcome<u128> {
    let text = host.pointer(0);
    let text = host.read_string(text)?;
    let address = std::str::from_utf8(&text).ok().and_then(|text| text.parse::<std::net::Ipv4Addr>().ok());
    Ok(u128::from(address.map_or(u32::MAX, |address| u32::from_le_bytes(address.octets()))))
}
