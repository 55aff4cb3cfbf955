//! Names of hosts (A-IO): one is found, with one address, or it is not, by the environment's choice. A host that is given by its number has
//! that address, any other one 127.0.0.1; all are called `localhost`.

use super::stream::differs;
use super::values::{NULL, int};
use super::{Family, Host, Outcome, Zeroed};
use std::net::IpAddr;

pub(super) const FUNCTIONS: Family =
    &[("getaddrinfo", getaddrinfo), ("freeaddrinfo", freeaddrinfo), ("gethostbyname", gethostbyname)];

/// `EAI_NONAME`
const NAME_NOT_FOUND: i32 = -2;
/// `EAI_SOCKTYPE`
const NO_SUCH_TYPE: i32 = -7;
/// `SOCK_RAW`
const RAW: i32 = 3;
/// `EAI_FAMILY`
const NO_SUCH_FAMILY: i32 = -6;
const IPV4: u16 = 2;
const IPV6: u16 = 10;
const LOCAL: [u8; 4] = [127, 0, 0, 1];
/// What every host is called.
const NAME: &[u8] = b"localhost";

fn number(text: &[u8]) -> Option<IpAddr> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// A `struct sockaddr_in` or `struct sockaddr_in6`.
fn socket_address(family: u16, address: Option<IpAddr>, port: u16) -> Vec<u8> {
    let mut bytes = family.to_le_bytes().to_vec();
    bytes.extend(port.to_be_bytes());
    match address {
        Some(IpAddr::V6(address)) if family == IPV6 => {
            bytes.extend([0; 4]);
            bytes.extend(address.octets());
        }
        _ if family == IPV6 => {
            bytes.extend([0; 4]);
            bytes.extend(std::net::Ipv6Addr::LOCALHOST.octets());
        }
        Some(IpAddr::V4(address)) => bytes.extend(address.octets()),
        _ => bytes.extend(LOCAL),
    }
    bytes.resize(if family == IPV6 { 28 } else { 16 }, 0);
    bytes
}

/// The members of a `struct addrinfo` that are pointers: address, name, next one.
fn pointers(host: &dyn Host, entry: u64) -> [u64; 3] {
    let word = host.word_bytes();
    let first = 20u64.next_multiple_of(word);
    [0, 1, 2].map(|index| host.offset(entry, first + index * word))
}

fn getaddrinfo(host: &mut dyn Host) -> Outcome<u128> {
    const CANONICAL_NAME: i32 = 2;
    let (node, service, hints, result) = (host.pointer(0), host.pointer(1), host.pointer(2), host.pointer(3));
    let node = if node == 0 { Vec::new() } else { host.read_string(node)? };
    let service = if service == 0 { Vec::new() } else { host.read_string(service)? };
    let mut asked = [0; 4];
    if hints != 0 {
        let size = host.offset(pointers(host, 0)[2], host.word_bytes());
        let bytes = host.read_bytes(hints, size)?;
        for (index, value) in asked.iter_mut().enumerate() {
            let at = 4 * index;
            *value = i32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        }
    }
    let [flags, family, kind, protocol] = asked;
    if !(0..=RAW).contains(&kind) {
        return Ok(int(NO_SUCH_TYPE));
    }
    let (flags, protocol) = (flags & 0x7ff, protocol & 0xff);
    let address = number(&node);
    let family = match (family, address) {
        (0, Some(IpAddr::V6(_))) => IPV6,
        (0, _) => IPV4,
        (family, _) if family == i32::from(IPV4) => IPV4,
        (family, _) if family == i32::from(IPV6) => IPV6,
        _ => return Ok(int(NO_SUCH_FAMILY)),
    };
    if differs(host)? {
        return Ok(int(NAME_NOT_FOUND));
    }
    let port = std::str::from_utf8(&service).ok().and_then(|text| text.parse().ok()).unwrap_or(80);
    let address = socket_address(family, address, port);
    let [address_at, name_at, next_at] = pointers(host, 0);
    let head = next_at + host.word_bytes();
    let size = address.len() + NAME.len() + 1;
    let entry = host.allocate(head + size as u64, 16, Zeroed::No, "getaddrinfo")?;
    let kind = if kind == 0 { 1 } else { kind };
    let values = [flags, i32::from(family), kind, protocol, address.len() as i32];
    let values: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    host.write(entry, &values)?;
    let behind = host.offset(entry, head);
    host.write(behind, &address)?;
    let name = host.offset(behind, address.len() as u64);
    host.write_string(name, NAME)?;
    let name = if flags & CANONICAL_NAME == 0 { 0 } else { name };
    for (at, pointer) in [(address_at, behind), (name_at, name), (next_at, 0)] {
        let at = host.offset(entry, at);
        host.write_pointer(at, pointer)?;
    }
    host.write_pointer(result, entry)?;
    Ok(0)
}

/// The list has one entry, which is one block.
fn freeaddrinfo(host: &mut dyn Host) -> Outcome<u128> {
    let entry = host.pointer(0);
    host.free(entry)?;
    Ok(0)
}

/// The `struct hostent` of the library, which the next call overwrites: name, aliases (none), family, length, addresses (one).
fn gethostbyname(host: &mut dyn Host) -> Outcome<u128> {
    let name = host.pointer(0);
    let name = host.read_string(name)?;
    if differs(host)? {
        return Ok(NULL);
    }
    let word = host.word_bytes();
    // The members, two lists of pointers that share their end, the address, the name.
    let lists = 3 * word + 8;
    let address_at = lists + 2 * word;
    let name_at = address_at + 4;
    let size = name_at as usize + NAME.len() + 1;
    let entry = host.library_block("entry of gethostbyname", &vec![0; size])?;
    let at = |host: &dyn Host, offset: u64| host.offset(entry, offset);
    let address = match number(&name) {
        Some(IpAddr::V4(address)) => address.octets(),
        _ => LOCAL,
    };
    let (text, bytes) = (at(host, name_at), at(host, address_at));
    host.write_string(text, NAME)?;
    host.write(bytes, &address)?;
    let (list, no_aliases) = (at(host, lists), at(host, lists + word));
    host.write_pointer(list, bytes)?;
    host.write_pointer(no_aliases, 0)?;
    for (offset, pointer) in [(0, text), (word, no_aliases), (2 * word + 8, list)] {
        let place = at(host, offset);
        host.write_pointer(place, pointer)?;
    }
    let family = at(host, 2 * word);
    host.write_int(family, i32::from(IPV4))?;
    let length = at(host, 2 * word + 4);
    host.write_int(length, 4)?;
    Ok(u128::from(entry))
}
