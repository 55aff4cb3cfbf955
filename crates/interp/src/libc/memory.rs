//! `mem*`: blocks of bytes. Copies go through the machine so that stored pointers stay pointers. `memcmp` reads both blocks whole;
//! `memchr` stops at what it finds, as C11 7.24.5.1 says.

use super::text::Text;
use super::values::{NULL, int};
use super::{Family, Host, Outcome};

pub(super) const FUNCTIONS: Family = &[
    ("memcpy", |h| copy(h, Returns::Start)),
    ("memmove", |h| copy(h, Returns::Start)),
    ("mempcpy", |h| copy(h, Returns::End)),
    ("bcopy", bcopy),
    ("memset", memset),
    ("bzero", bzero),
    ("memcmp", memcmp),
    ("memchr", memchr),
    ("rawmemchr", rawmemchr),
    ("memrchr", memrchr),
    ("memmem", memmem),
    ("memccpy", memccpy),
    ("ffs", |h| Ok(ffs(u64::from(h.int(0) as u32)))),
    ("ffsl", |h| Ok(ffs(h.size(0)))),
    ("ffsll", |h| Ok(ffs(h.arg(0) as u64))),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Returns {
    Start,
    End,
}

fn copy(host: &mut dyn Host, returns: Returns) -> Outcome<u128> {
    let (to, from, len) = (host.pointer(0), host.pointer(1), host.size(2));
    if len > 0 {
        host.copy(to, from, len)?;
    }
    Ok(u128::from(match returns {
        Returns::Start => to,
        Returns::End => host.offset(to, len),
    }))
}

fn bcopy(host: &mut dyn Host) -> Outcome<u128> {
    let (from, to, len) = (host.pointer(0), host.pointer(1), host.size(2));
    if len > 0 {
        host.copy(to, from, len)?;
    }
    Ok(0)
}

fn memset(host: &mut dyn Host) -> Outcome<u128> {
    let (to, byte, len) = (host.pointer(0), host.int(1) as u8, host.size(2));
    if len > 0 {
        host.fill(to, byte, len)?;
    }
    Ok(u128::from(to))
}

fn bzero(host: &mut dyn Host) -> Outcome<u128> {
    let (to, len) = (host.pointer(0), host.size(1));
    if len > 0 {
        host.fill(to, 0, len)?;
    }
    Ok(0)
}

fn memcmp(host: &mut dyn Host) -> Outcome<u128> {
    let len = host.size(2);
    let (a, b) = (host.pointer(0), host.pointer(1));
    let a = host.read_bytes(a, len)?;
    let b = host.read_bytes(b, len)?;
    Ok(int(a.iter().zip(&b).find(|(a, b)| a != b).map_or(0, |(a, b)| i32::from(*a) - i32::from(*b))))
}

fn memchr(host: &mut dyn Host) -> Outcome<u128> {
    let len = host.size(2);
    find_byte(host, len)
}

fn rawmemchr(host: &mut dyn Host) -> Outcome<u128> {
    find_byte(host, u64::MAX)
}

fn find_byte(host: &mut dyn Host, len: u64) -> Outcome<u128> {
    let (start, wanted) = (host.pointer(0), host.int(1) as u8);
    for index in 0..len {
        let at = host.offset(start, index);
        if host.read_byte(at)? == wanted {
            return Ok(u128::from(at));
        }
    }
    Ok(NULL)
}

fn memrchr(host: &mut dyn Host) -> Outcome<u128> {
    let (start, wanted, len) = (host.pointer(0), host.int(1) as u8, host.size(2));
    for index in (0..len).rev() {
        let at = host.offset(start, index);
        if host.read_byte(at)? == wanted {
            return Ok(u128::from(at));
        }
    }
    Ok(NULL)
}

fn memmem(host: &mut dyn Host) -> Outcome<u128> {
    let (start, len) = (host.pointer(0), host.size(1) as usize);
    let (needle, needle_len) = (host.pointer(2), host.size(3));
    let needle = host.read_bytes(needle, needle_len)?;
    let mut text = Text::at(start);
    for index in 0..=len.wrapping_sub(needle.len()).min(len) {
        if index + needle.len() > len {
            break;
        }
        let mut same = true;
        for (offset, byte) in needle.iter().enumerate() {
            if text.get(host, index + offset)? != *byte {
                same = false;
                break;
            }
        }
        if same {
            return Ok(u128::from(host.offset(start, index as u64)));
        }
    }
    Ok(NULL)
}

fn memccpy(host: &mut dyn Host) -> Outcome<u128> {
    let (to, from, stop, len) = (host.pointer(0), host.pointer(1), host.int(2) as u8, host.size(3));
    let mut text = Text::at(from);
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < len && bytes.last() != Some(&stop) {
        bytes.push(text.get(host, bytes.len())?);
    }
    host.write_bytes(to, &bytes)?;
    let found = bytes.last() == Some(&stop);
    Ok(if found { u128::from(host.offset(to, bytes.len() as u64)) } else { NULL })
}

/// Position of the lowest set bit, from 1; 0 if there is none.
fn ffs(value: u64) -> u128 {
    if value == 0 { 0 } else { u128::from(value.trailing_zeros() + 1) }
}
