//! The environment. Changes are kept apart from the program's memory; `shared` makes `setenv` against `getenv` the race that it is, and a
//! string that `getenv` returned is written when its variable changes. The array `environ` and a string given to `putenv` are not connected with
//! that: a program that uses the one and calls these functions is unsupported, and so is `putenv` of a string that may change.

use super::errors::EINVAL;
use super::values::NULL;
use super::{Family, Host, Outcome};
use std::sync::Arc;

pub(super) const FUNCTIONS: Family = &[
    ("getenv", |h| apart(h, getenv)),
    ("setenv", |h| apart(h, setenv)),
    ("unsetenv", |h| apart(h, unsetenv)),
    ("putenv", |h| apart(h, putenv)),
    ("clearenv", clearenv),
];

/// Runs a function in a program that does not get at the environment by itself.
fn apart(host: &mut dyn Host, function: fn(&mut dyn Host) -> Outcome<u128>) -> Outcome<u128> {
    match host.environment_is_memory() {
        true => {
            Err(host.unsupported("functions on the environment in a program that also uses environ".into()))
        }
        false => function(host),
    }
}

fn getenv(host: &mut dyn Host) -> Outcome<u128> {
    let name = host.pointer(0);
    let name = host.read_string(name)?;
    let Some(value) = value(host, &name) else { return Ok(NULL) };
    string(host, &name, value).map(|(block, _)| u128::from(block))
}

fn value(host: &mut dyn Host, name: &[u8]) -> Option<Vec<u8>> {
    if let Some(change) = host.state().environment.get(name) {
        return change.clone();
    }
    let name = std::str::from_utf8(name).ok()?;
    host.environment(name).map(String::into_bytes)
}

fn change(host: &mut dyn Host, name: Vec<u8>, new: Option<Vec<u8>>) -> Outcome<u128> {
    if name.is_empty() || name.contains(&b'=') {
        return Ok(host.error(EINVAL));
    }
    if let Some(old) = value(host, &name) {
        let (block, bytes) = string(host, &name, old)?;
        // A string may look like a pointer; single bytes do not.
        for (at, byte) in bytes.iter().enumerate() {
            let place = host.offset(block, at as u64);
            host.write(place, &[*byte])?;
        }
    }
    Arc::make_mut(&mut host.state().environment).insert(name, new);
    Ok(0)
}

/// The memory of a string of the environment, and its bytes.
fn string(host: &mut dyn Host, name: &[u8], value: Vec<u8>) -> Outcome<(u64, Vec<u8>)> {
    let key = format!("environment {}={}", String::from_utf8_lossy(name), String::from_utf8_lossy(&value));
    let bytes: Vec<u8> = value.into_iter().chain([0]).collect();
    Ok((host.library_block(&key, &bytes)?, bytes))
}

fn setenv(host: &mut dyn Host) -> Outcome<u128> {
    let (name, text, overwrite) = (host.pointer(0), host.pointer(1), host.int(2) != 0);
    let name = host.read_string(name)?;
    let text = host.read_string(text)?;
    if !overwrite && value(host, &name).is_some() {
        return Ok(0);
    }
    change(host, name, Some(text))
}

fn unsetenv(host: &mut dyn Host) -> Outcome<u128> {
    let name = host.pointer(0);
    let name = host.read_string(name)?;
    change(host, name, None)
}

/// The string becomes part of the environment.
fn putenv(host: &mut dyn Host) -> Outcome<u128> {
    let text = host.pointer(0);
    if text != 0 && !host.is_constant(text) {
        return Err(host.unsupported("putenv of a string that the program may change".into()));
    }
    let text = host.read_string(text)?;
    match text.iter().position(|byte| *byte == b'=') {
        Some(at) => change(host, text[..at].to_vec(), Some(text[at + 1..].to_vec())),
        None => change(host, text, None),
    }
}

fn clearenv(host: &mut dyn Host) -> Outcome<u128> {
    Err(host.unsupported("clearing the whole environment".into()))
}
