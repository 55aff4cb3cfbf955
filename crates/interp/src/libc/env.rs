//! The environment. Changes are kept apart from the program's memory: `setenv` in one thread against `getenv` in another is not reported
//! as the race it is.

use super::errors::EINVAL;
use super::values::NULL;
use super::{Family, Host, Outcome};
use std::sync::Arc;

pub(super) const FUNCTIONS: Family = &[
    ("getenv", getenv),
    ("setenv", setenv),
    ("unsetenv", unsetenv),
    ("putenv", putenv),
    ("clearenv", clearenv),
];

fn getenv(host: &mut dyn Host) -> Outcome<u128> {
    let name = host.pointer(0);
    let name = host.read_string(name)?;
    let Some(value) = value(host, &name) else { return Ok(NULL) };
    let key = format!("environment {}={}", String::from_utf8_lossy(&name), String::from_utf8_lossy(&value));
    let bytes: Vec<u8> = value.into_iter().chain([0]).collect();
    host.library_block(&key, &bytes).map(u128::from)
}

fn value(host: &mut dyn Host, name: &[u8]) -> Option<Vec<u8>> {
    if let Some(change) = host.state().environment.get(name) {
        return change.clone();
    }
    let name = std::str::from_utf8(name).ok()?;
    host.environment(name).map(String::into_bytes)
}

fn change(host: &mut dyn Host, name: Vec<u8>, value: Option<Vec<u8>>) -> u128 {
    if name.is_empty() || name.contains(&b'=') {
        return host.error(EINVAL);
    }
    Arc::make_mut(&mut host.state().environment).insert(name, value);
    0
}

fn setenv(host: &mut dyn Host) -> Outcome<u128> {
    let (name, text, overwrite) = (host.pointer(0), host.pointer(1), host.int(2) != 0);
    let name = host.read_string(name)?;
    let text = host.read_string(text)?;
    if !overwrite && value(host, &name).is_some() {
        return Ok(0);
    }
    Ok(change(host, name, Some(text)))
}

fn unsetenv(host: &mut dyn Host) -> Outcome<u128> {
    let name = host.pointer(0);
    let name = host.read_string(name)?;
    Ok(change(host, name, None))
}

/// The string becomes part of the environment natively; here a later change of it is not seen.
fn putenv(host: &mut dyn Host) -> Outcome<u128> {
    let text = host.pointer(0);
    let text = host.read_string(text)?;
    Ok(match text.iter().position(|byte| *byte == b'=') {
        Some(at) => change(host, text[..at].to_vec(), Some(text[at + 1..].to_vec())),
        None => change(host, text, None),
    })
}

fn clearenv(host: &mut dyn Host) -> Outcome<u128> {
    Err(host.unsupported("clearing the whole environment".into()))
}
