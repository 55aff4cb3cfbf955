//! The rows: one per function name, one file per family.
//!
//! A row errs towards saying less: a function that may order threads in a way the vocabulary cannot express is
//! [`Effect::Unsupported`], never [`Effect::Nothing`].

mod atomics;
mod c11;
mod ctype;
mod kernel;
mod kernel_atomics;
mod math;
mod process;
mod pthread;
mod pthread_attributes;
mod row;
mod semaphore;
mod stdio;
mod stdlib;
mod string;
mod time;
mod unistd;
mod unmodelled;
mod verifier;

use crate::Effect;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The row of a function name, if there is one.
pub fn lookup(name: &str) -> Option<&'static Row> {
    static INDEX: LazyLock<HashMap<&'static str, &'static Row>> =
        LazyLock::new(|| rows().map(|row| (row.name, row)).collect());
    INDEX.get(name).copied()
}

/// All rows, family by family.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    FAMILIES.iter().flat_map(|family| family.iter()).chain(unmodelled::rows())
}

/// One function of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub name: &'static str,
    pub effect: Effect,
    /// Numbered assumptions that a call relies on.
    pub assumptions: &'static [&'static str],
}

static FAMILIES: &[&[Row]] = &[
    pthread::ROWS,
    pthread_attributes::ROWS,
    c11::ROWS,
    semaphore::ROWS,
    kernel::ROWS,
    kernel_atomics::ROWS,
    atomics::ROWS,
    verifier::ROWS,
    stdlib::ROWS,
    string::ROWS,
    stdio::ROWS,
    time::ROWS,
    unistd::ROWS,
    math::ROWS,
    ctype::ROWS,
    process::ROWS,
];
