//! Rows.

use super::Row;

pub(super) static ROWS: &[Row] = &[];
