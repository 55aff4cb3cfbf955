//! `str*`: zero-terminated strings, in the C locale. Functions that can stop early read no byte behind the one that decides.

use super::text::Text;
use super::values::{NULL, int};
use super::{Family, Host, Outcome, Zeroed};

pub(super) const FUNCTIONS: Family = &[
    ("strlen", strlen),
    ("strnlen", strnlen),
    ("strcpy", |h| copy(h, Returns::Start)),
    ("stpcpy", |h| copy(h, Returns::End)),
    ("strncpy", |h| copy_padded(h, Returns::Start)),
    ("stpncpy", |h| copy_padded(h, Returns::End)),
    ("strcat", strcat),
    ("strncat", strncat),
    ("strlcpy", strlcpy),
    ("strlcat", strlcat),
    ("strcmp", |h| compare(h, u64::MAX, exact)),
    ("strcoll", |h| compare(h, u64::MAX, exact)),
    ("strncmp", |h| compare_first(h, exact)),
    ("strcasecmp", |h| compare(h, u64::MAX, folded)),
    ("strncasecmp", |h| compare_first(h, folded)),
    ("strxfrm", strlcpy),
    ("strchr", |h| find_char(h, Absent::Null)),
    ("strchrnul", |h| find_char(h, Absent::End)),
    ("strrchr", strrchr),
    ("strstr", |h| find_string(h, exact)),
    ("strcasestr", |h| find_string(h, folded)),
    ("strpbrk", strpbrk),
    ("strspn", |h| span(h, Member::Yes)),
    ("strcspn", |h| span(h, Member::No)),
    ("strdup", strdup),
    ("strndup", strndup),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Returns {
    Start,
    End,
}

/// What a search that fails returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Absent {
    Null,
    End,
}

/// Which bytes a span is made of: members of the set, or the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Member {
    Yes,
    No,
}

fn exact(byte: u8) -> u8 {
    byte
}

fn folded(byte: u8) -> u8 {
    byte.to_ascii_lowercase()
}

fn strlen(host: &mut dyn Host) -> Outcome<u128> {
    let text = host.pointer(0);
    host.string_length(text, u64::MAX).map(u128::from)
}

fn strnlen(host: &mut dyn Host) -> Outcome<u128> {
    let (text, limit) = (host.pointer(0), host.size(1));
    host.string_length(text, limit).map(u128::from)
}

fn copy(host: &mut dyn Host, returns: Returns) -> Outcome<u128> {
    let (to, from) = (host.pointer(0), host.pointer(1));
    let len = host.string_length(from, u64::MAX)?;
    host.copy(to, from, len + 1)?;
    Ok(u128::from(match returns {
        Returns::Start => to,
        Returns::End => host.offset(to, len),
    }))
}

fn copy_padded(host: &mut dyn Host, returns: Returns) -> Outcome<u128> {
    let (to, from, size) = (host.pointer(0), host.pointer(1), host.size(2));
    let len = host.string_length(from, size)?;
    if len > 0 {
        host.copy(to, from, len)?;
    }
    let end = host.offset(to, len);
    if len < size {
        host.fill(end, 0, size - len)?;
    }
    Ok(u128::from(if returns == Returns::End { end } else { to }))
}

fn strcat(host: &mut dyn Host) -> Outcome<u128> {
    let (to, from) = (host.pointer(0), host.pointer(1));
    let end = host.string_length(to, u64::MAX)?;
    let len = host.string_length(from, u64::MAX)?;
    let end = host.offset(to, end);
    host.copy(end, from, len + 1)?;
    Ok(u128::from(to))
}

fn strncat(host: &mut dyn Host) -> Outcome<u128> {
    let (to, from, limit) = (host.pointer(0), host.pointer(1), host.size(2));
    let end = host.string_length(to, u64::MAX)?;
    let len = host.string_length(from, limit)?;
    let bytes = host.read_bytes(from, len)?;
    let end = host.offset(to, end);
    host.write_string(end, &bytes)?;
    Ok(u128::from(to))
}

fn strlcpy(host: &mut dyn Host) -> Outcome<u128> {
    let (to, from, size) = (host.pointer(0), host.pointer(1), host.size(2));
    let bytes = host.read_string(from)?;
    if size > 0 {
        let kept = bytes.len().min((size - 1) as usize);
        host.write_string(to, &bytes[..kept])?;
    }
    Ok(bytes.len() as u128)
}

fn strlcat(host: &mut dyn Host) -> Outcome<u128> {
    let (to, from, size) = (host.pointer(0), host.pointer(1), host.size(2));
    let start = host.string_length(to, size)?;
    let bytes = host.read_string(from)?;
    if start < size {
        let kept = bytes.len().min((size - start - 1) as usize);
        let end = host.offset(to, start);
        host.write_string(end, &bytes[..kept])?;
    }
    Ok(u128::from(start) + bytes.len() as u128)
}

fn compare_first(host: &mut dyn Host, fold: fn(u8) -> u8) -> Outcome<u128> {
    let limit = host.size(2);
    compare(host, limit, fold)
}

fn compare(host: &mut dyn Host, limit: u64, fold: fn(u8) -> u8) -> Outcome<u128> {
    let (a, b) = (host.pointer(0), host.pointer(1));
    for index in 0..limit {
        let (at_a, at_b) = (host.offset(a, index), host.offset(b, index));
        let (byte_a, byte_b) = (fold(host.read_byte(at_a)?), fold(host.read_byte(at_b)?));
        if byte_a != byte_b {
            return Ok(int(i32::from(byte_a) - i32::from(byte_b)));
        }
        if byte_a == 0 {
            break;
        }
    }
    Ok(0)
}

fn find_char(host: &mut dyn Host, absent: Absent) -> Outcome<u128> {
    let (text, wanted) = (host.pointer(0), host.int(1) as u8);
    let mut at = text;
    loop {
        let byte = host.read_byte(at)?;
        if byte == wanted || (byte == 0 && absent == Absent::End) {
            return Ok(u128::from(at));
        }
        if byte == 0 {
            return Ok(NULL);
        }
        at = host.offset(at, 1);
    }
}

fn strrchr(host: &mut dyn Host) -> Outcome<u128> {
    let (text, wanted) = (host.pointer(0), host.int(1) as u8);
    let mut bytes = host.read_string(text)?;
    bytes.push(0);
    let found = bytes.iter().rposition(|byte| *byte == wanted);
    Ok(found.map_or(NULL, |index| u128::from(host.offset(text, index as u64))))
}

fn find_string(host: &mut dyn Host, fold: fn(u8) -> u8) -> Outcome<u128> {
    let (start, needle) = (host.pointer(0), host.pointer(1));
    let needle = host.read_string(needle)?;
    let mut text = Text::at(start);
    for index in 0.. {
        let mut same = true;
        for (offset, byte) in needle.iter().enumerate() {
            let found = text.get(host, index + offset)?;
            if fold(found) != fold(*byte) {
                same = false;
                break;
            }
        }
        if same {
            return Ok(u128::from(host.offset(start, index as u64)));
        }
        if text.get(host, index)? == 0 {
            break;
        }
    }
    Ok(NULL)
}

fn strpbrk(host: &mut dyn Host) -> Outcome<u128> {
    let (text, set) = (host.pointer(0), host.pointer(1));
    let set = host.read_string(set)?;
    let len = span_of(host, text, &set, Member::No)?;
    let at = host.offset(text, len);
    Ok(if host.read_byte(at)? == 0 { NULL } else { u128::from(at) })
}

fn span(host: &mut dyn Host, member: Member) -> Outcome<u128> {
    let (text, set) = (host.pointer(0), host.pointer(1));
    let set = host.read_string(set)?;
    span_of(host, text, &set, member).map(u128::from)
}

/// Number of bytes at the start that are members of the set, or that are not.
pub(super) fn span_of(host: &mut dyn Host, text: u64, set: &[u8], member: Member) -> Outcome<u64> {
    let mut len = 0;
    loop {
        let at = host.offset(text, len);
        let byte = host.read_byte(at)?;
        if byte == 0 || set.contains(&byte) != (member == Member::Yes) {
            return Ok(len);
        }
        len += 1;
    }
}

fn strdup(host: &mut dyn Host) -> Outcome<u128> {
    let text = host.pointer(0);
    let bytes = host.read_string(text)?;
    duplicate(host, &bytes, "strdup")
}

fn strndup(host: &mut dyn Host) -> Outcome<u128> {
    let (text, limit) = (host.pointer(0), host.size(1));
    let len = host.string_length(text, limit)?;
    let bytes = host.read_bytes(text, len)?;
    duplicate(host, &bytes, "strndup")
}

fn duplicate(host: &mut dyn Host, bytes: &[u8], name: &str) -> Outcome<u128> {
    let size = bytes.len() as u64 + 1;
    let block = host.allocate(size, 16, Zeroed::No, &format!("{name}({size})"))?;
    host.write_string(block, bytes)?;
    Ok(u128::from(block))
}
