//! Paths taken apart: `basename` of `string.h` leaves its argument alone, that of `libgen.h` and `dirname` may write zeros into it.

use super::errors::constant;
use super::{Family, Host, Outcome};

pub(super) const FUNCTIONS: Family =
    &[("basename", basename), ("__xpg_basename", xpg_basename), ("dirname", dirname)];

fn basename(host: &mut dyn Host) -> Outcome<u128> {
    let path = host.pointer(0);
    let text = host.read_string(path)?;
    let start = text.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    Ok(u128::from(host.offset(path, start as u64)))
}

/// The length without slashes at the end.
fn trimmed(text: &[u8]) -> usize {
    text.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1)
}

fn xpg_basename(host: &mut dyn Host) -> Outcome<u128> {
    let path = host.pointer(0);
    let text = if path == 0 { Vec::new() } else { host.read_string(path)? };
    if text.is_empty() {
        return constant(host, ".");
    }
    let end = trimmed(&text);
    if end == 0 {
        // Slashes only: the last of them.
        return Ok(u128::from(host.offset(path, text.len() as u64 - 1)));
    }
    if end < text.len() {
        let at = host.offset(path, end as u64);
        host.write(at, &[0])?;
    }
    let start = text[..end].iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    Ok(u128::from(host.offset(path, start as u64)))
}

fn dirname(host: &mut dyn Host) -> Outcome<u128> {
    let path = host.pointer(0);
    let text = if path == 0 { Vec::new() } else { host.read_string(path)? };
    let name_end = trimmed(&text);
    let Some(slash) = text[..name_end].iter().rposition(|byte| *byte == b'/') else {
        return if name_end == 0 && !text.is_empty() { root(host, path, &text) } else { constant(host, ".") };
    };
    let end = trimmed(&text[..slash]);
    if end == 0 {
        return root(host, path, &text);
    }
    let at = host.offset(path, end as u64);
    host.write(at, &[0])?;
    Ok(u128::from(path))
}

/// The path cut to its leading slash, or to two where it starts with exactly two.
fn root(host: &mut dyn Host, path: u64, text: &[u8]) -> Outcome<u128> {
    let slashes = text.iter().take_while(|byte| **byte == b'/').count();
    let kept = if slashes == 2 { 2 } else { 1 };
    if kept < text.len() {
        let at = host.offset(path, kept as u64);
        host.write(at, &[0])?;
    }
    Ok(u128::from(path))
}
