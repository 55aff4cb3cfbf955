//! `stdio.h`. Its internal lock orders nothing between threads (see `docs/soundness.md`).

use super::Row;
use super::row::libc;

pub(super) static ROWS: &[Row] =
    &[libc("printf"), libc("fprintf"), libc("puts"), libc("putchar"), libc("fflush")];
