//! The rows.

use crate::Effect;

/// One function of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub name: &'static str,
    pub effect: Effect,
    /// Numbered assumptions that a call relies on.
    pub assumptions: &'static [&'static str],
}

/// The row of a function name, if there is one.
pub fn lookup(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == name)
}

static ROWS: &[Row] = &[];
