//! Functions that the C library's headers declare and that have no row of their own. A call of one is unsupported, not an assumption
//! about an unknown function (A-EXTERN): it is known to exist, and what it does is not nothing.

use super::Row;
use super::row::unsupported;
use std::sync::LazyLock;

pub(super) fn rows() -> &'static [Row] {
    static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
        let names = include_str!("unmodelled.txt").split_whitespace();
        names.map(|name| unsupported(name, "a function of the C library without a model")).collect()
    });
    &ROWS
}
