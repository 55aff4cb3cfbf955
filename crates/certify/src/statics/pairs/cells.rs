//! Cells of their own: addresses that are different in every instance of a thread.

use super::super::code::Code;
use super::Side;
use raddle_facts::{MOST_APART, Root, Spacing, Term, ThreadId};

/// `base + value * scale + offset`, where the value differs between instances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OwnCell {
    thread: ThreadId,
    source: Option<i64>,
    spacing: Spacing,
    /// `None`: the value itself is the address.
    base: Option<Term>,
    scale: i64,
    offset: i64,
    /// Nothing else is added.
    exact: bool,
}

pub(super) fn of(code: &Code<'_>, address: Term) -> Vec<OwnCell> {
    let mut found = Vec::new();
    for distinct in &code.facts.threads.distinct {
        let value = (distinct.function, distinct.reg);
        let (base, scale, exact) = match (address.root, address.index) {
            (Root::Reg(function, reg), index) if (function, reg) == value => (None, 1, index.is_none()),
            (root, Some(index))
                if (index.function, index.reg) == value && code.is_global(Term::root(root)) =>
            {
                (Some(Term::root(root)), index.scale, true)
            }
            _ => continue,
        };
        found.push(OwnCell {
            thread: distinct.thread,
            source: distinct.source,
            spacing: distinct.spacing,
            base,
            scale,
            offset: address.offset,
            exact,
        });
    }
    found
}

/// Whether two instances of the thread touch different memory.
pub(super) fn own_cells(first: &Side, second: &Side, thread: ThreadId) -> bool {
    first.cells.iter().filter(|cell| cell.thread == thread).any(|x| {
        second.cells.iter().filter(|cell| cell.thread == thread).any(|y| {
            let same =
                x.source == y.source && x.base == y.base && x.scale == y.scale && x.spacing == y.spacing;
            same && match x.spacing {
                Spacing::Objects => x.base.is_none(),
                Spacing::Apart { least, most } => {
                    let scale = i128::from(x.scale.unsigned_abs());
                    let room = i128::from(least) * scale;
                    // Further apart, two addresses may be the same again modulo 2^64.
                    let no_wrap = i128::from(most) * scale <= i128::from(MOST_APART);
                    x.exact && y.exact && no_wrap && room >= needed(x.offset, first, y.offset, second)
                }
            }
        })
    })
}

/// Whether `early` is done by the creator for the instance that it then creates, and `late` touches memory of its own instance only.
pub(super) fn prepared(early: &Side, late: &Side, thread: ThreadId) -> bool {
    early.prepares.iter().filter(|(prepared, _)| *prepared == thread).any(|(_, offset)| {
        late.cells.iter().any(|cell| {
            cell.thread == thread
                && cell.source.is_none()
                && cell.base.is_none()
                && match cell.spacing {
                    Spacing::Objects => true,
                    Spacing::Apart { least, .. } => {
                        cell.exact && i128::from(least) >= needed(*offset, early, cell.offset, late)
                    }
                }
        })
    })
}

/// The distance of two values from which on accesses at these offsets from them share no byte.
fn needed(a: i64, first: &Side, b: i64, second: &Side) -> i128 {
    (i128::from(a) - i128::from(b)).abs() + i128::from(first.bytes.max(second.bytes))
}
