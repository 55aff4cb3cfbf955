//! Sockets cannot be made, names cannot be found, and no descriptor is ever ready (A-IO). Byte order is computed.

use super::errors::{EAFNOSUPPORT, ENOTSOCK};
use super::values::{NULL, int};
use super::{Family, Host, Outcome};

pub(super) const FUNCTIONS: Family = &[
    ("socket", |h| Ok(h.error(EAFNOSUPPORT))),
    ("connect", no_socket),
    ("accept", no_socket),
    ("bind", no_socket),
    ("listen", no_socket),
    ("setsockopt", no_socket),
    ("getsockopt", no_socket),
    ("shutdown", no_socket),
    ("getsockname", no_socket),
    ("getpeername", no_socket),
    ("send", no_bytes),
    ("recv", no_bytes),
    ("sendto", no_bytes),
    ("recvfrom", no_bytes),
    ("sendmsg", no_bytes),
    ("recvmsg", no_bytes),
    ("freeaddrinfo", |_| Ok(0)),
    ("gethostbyname", |_| Ok(NULL)),
    ("getaddrinfo", |_| Ok(int(NAME_NOT_FOUND))),
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

fn no_socket(host: &mut dyn Host) -> Outcome<u128> {
    Ok(host.error(ENOTSOCK))
}

fn no_bytes(host: &mut dyn Host) -> Outcome<u128> {
    Ok(host.long_error(ENOTSOCK))
}

/// Waits for the time given; the sets come back empty.
fn select(host: &mut dyn Host) -> Outcome<u128> {
    let bits = u64::try_from(host.int(0)).unwrap_or(0).min(1024);
    let bytes = bits.div_ceil(8 * host.word_bytes()) * host.word_bytes();
    for index in 1..=3 {
        let set = host.pointer(index);
        if set != 0 && bytes > 0 {
            host.fill(set, 0, bytes)?;
        }
    }
    let timeout = host.pointer(4);
    if timeout == 0 {
        return Err(host.unsupported("select that waits for ever".into()));
    }
    let seconds = host.read_long(timeout)?;
    let micros_at = host.offset(timeout, host.word_bytes());
    let micros = host.read_long(micros_at)?;
    let nanoseconds = seconds.saturating_mul(1_000_000_000).saturating_add(micros.saturating_mul(1000));
    host.sleep(u64::try_from(nanoseconds).unwrap_or(0));
    Ok(0)
}

fn poll(host: &mut dyn Host) -> Outcome<u128> {
    const ENTRY: u64 = 8;
    let (entries, count, timeout) = (host.pointer(0), host.size(1), host.int(2));
    for index in 0..count.min(1024) {
        let result_at = host.offset(entries, index * ENTRY + 6);
        host.write(result_at, &[0, 0])?;
    }
    let Ok(timeout) = u64::try_from(timeout) else {
        return Err(host.unsupported("poll that waits for ever".into()));
    };
    host.sleep(timeout * 1_000_000);
    Ok(0)
}

/// `1.2.3.4` only.
fn inet_addr(host: &mut dyn Host) -> Outcome<u128> {
    let text = host.pointer(0);
    let text = host.read_string(text)?;
    let address = std::str::from_utf8(&text).ok().and_then(|text| text.parse::<std::net::Ipv4Addr>().ok());
    Ok(u128::from(address.map_or(u32::MAX, |address| u32::from_le_bytes(address.octets()))))
}
