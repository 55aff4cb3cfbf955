//! Library functions that the interpreter runs itself, one file per family.
//!
//! Semantics are glibc's in the C locale. A function touches exactly the bytes that the C standard lets it touch, through [`Host`], so
//! that races, use after free and accesses out of bounds inside library calls are seen; where glibc reads ahead, this does not.
//! What is not modelled is [`Host::unsupported`], never a guess. The rows of `libmodel` and the functions here are the same set, and a
//! test says so.

mod alloc;
mod attributes;
mod channel;
mod convert;
mod ctype;
mod decimal;
mod declared;
mod env;
mod errors;
mod files;
mod float_text;
mod folders;
mod format;
mod format_spec;
mod host;
mod hosts;
mod math;
mod math_long;
mod memory;
mod network;
mod number;
mod options;
mod paths;
mod polling;
mod printf;
mod process;
mod random;
mod real;
mod scan;
mod scanf;
mod shared;
mod sort;
mod state;
mod stdio;
mod stream;
mod string;
mod text;
mod time;
mod token;
mod unistd;
mod values;
mod varargs;

#[cfg(test)]
mod tests;

pub(crate) use channel::{is_open, may_differ};
pub(crate) use polling::MOST_ASKED;
pub(crate) use shared::SharedState;

pub use crate::channels::Channels;
pub use crate::outside::{EntryKind, FolderEntry, Links};
pub use crate::sync::Passing;
pub use host::{Host, Outcome, Stop, Zeroed};
pub(crate) use state::Behind;
pub use state::LibState;
pub use stream::{STREAM_BYTES, STREAM_KEYS};

use raddle_ir::Ty;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Runs the library function of this name and returns the bits of its result; `None` if no file implements it.
pub fn call(name: &str, host: &mut dyn Host) -> Option<Outcome<u128>> {
    find(name).map(|function| function.call(host))
}

/// The implementation of a library function, for callers that look it up once.
pub fn find(name: &str) -> Option<Function> {
    static INDEX: LazyLock<HashMap<&'static str, Function>> =
        LazyLock::new(|| functions().map(|(name, run)| (name, Function { run })).collect());
    INDEX.get(name).copied()
}

/// A library function that can be called.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    run: Run,
}

impl Function {
    /// Runs it; the result is cut to the width that the call site expects (K&R declarations say `int` for everything).
    pub fn call(self, host: &mut dyn Host) -> Outcome<u128> {
        let result = (self.run)(host)?;
        Ok(match host.result_type() {
            Some(Ty::Int(bits)) if bits < 128 => result & ((1 << bits) - 1),
            _ => result,
        })
    }
}

type Run = fn(&mut dyn Host) -> Outcome<u128>;

/// Names and implementations of one file.
type Family = &'static [(&'static str, Run)];

const FAMILIES: &[Family] = &[
    alloc::FUNCTIONS,
    attributes::FUNCTIONS,
    channel::FUNCTIONS,
    convert::FUNCTIONS,
    ctype::FUNCTIONS,
    declared::FUNCTIONS,
    env::FUNCTIONS,
    errors::FUNCTIONS,
    files::FUNCTIONS,
    folders::FUNCTIONS,
    hosts::FUNCTIONS,
    math::FUNCTIONS,
    math_long::FUNCTIONS,
    memory::FUNCTIONS,
    network::FUNCTIONS,
    options::FUNCTIONS,
    paths::FUNCTIONS,
    polling::FUNCTIONS,
    printf::FUNCTIONS,
    process::FUNCTIONS,
    random::FUNCTIONS,
    scanf::FUNCTIONS,
    sort::FUNCTIONS,
    stdio::FUNCTIONS,
    string::FUNCTIONS,
    time::FUNCTIONS,
    token::FUNCTIONS,
    unistd::FUNCTIONS,
];

fn functions() -> impl Iterator<Item = (&'static str, Run)> {
    FAMILIES.iter().flat_map(|family| family.iter().copied())
}
