//! The kinds of mutation: each lists the places of a text that it could change and changes one of them.

mod library;
mod locks;
mod statements;
mod threads;
mod types;
mod values;

pub(super) use library::HEADERS;

use super::shape::{Shape, Statement};
use crate::random::Random;
use std::ops::Range;

/// Replacements of bytes of the source that do not overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) changes: Vec<(Range<usize>, String)>,
    /// It needs the headers of the library calls.
    pub(super) needs_headers: bool,
}

/// `None`: the text has no place for it.
type Make = fn(&Shape<'_>, &mut Random) -> Option<Edit>;

pub(super) const KINDS: [(&str, Make); 27] = [
    ("drop-synchronisation", locks::drop_call),
    ("drop-pair", locks::drop_pair),
    ("swap-lock", locks::swap_lock),
    ("move-out-of-section", locks::move_out),
    ("other-lock-call", locks::other_call),
    ("lock-initialiser", locks::initialiser),
    ("write-to-lock", locks::write_to_lock),
    ("index", values::index),
    ("initialiser", values::initialiser),
    ("negate-condition", values::negate),
    ("undefined-condition", values::undefined),
    ("number", values::number),
    ("stray-access", values::stray_access),
    ("pointer-through-number", values::pointer_through_number),
    ("library-call", library::insert_call),
    ("library-result", library::insert_result),
    ("narrow-type", types::narrow),
    ("function-specifier", types::function_specifier),
    ("variable-qualifier", types::variable_qualifier),
    ("memory-order", types::memory_order),
    ("atomic-to-plain", types::atomic_to_plain),
    ("join", threads::join),
    ("create-argument", threads::create_argument),
    ("thread-function", threads::thread_function),
    ("drop-statement", statements::drop),
    ("swap-statements", statements::swap),
    ("double-statement", statements::double),
];

impl Edit {
    fn one(at: Range<usize>, text: impl Into<String>) -> Option<Edit> {
        Some(Edit { changes: vec![(at, text.into())], needs_headers: false })
    }

    fn many(changes: Vec<(Range<usize>, String)>) -> Option<Edit> {
        (!changes.is_empty()).then_some(Edit { changes, needs_headers: false })
    }

    /// `text` before the statement, in braces with it where it is a branch alone.
    fn before(shape: &Shape<'_>, statement: &Statement, text: &str) -> Option<Edit> {
        let at = shape.bytes(&statement.tokens);
        if statement.is_branch {
            return Edit::one(at.clone(), format!("{{ {text} {} }}", &shape.text[at]));
        }
        Edit::one(at.start..at.start, format!("{text} "))
    }
}

fn any<'a, T>(items: &'a [T], random: &mut Random) -> Option<&'a T> {
    (!items.is_empty()).then(|| &items[random.below(items.len())])
}

/// Statements that are no declarations.
fn plain<'a>(shape: &'a Shape<'_>) -> Vec<&'a Statement> {
    shape.statements.iter().filter(|statement| !statement.is_declaration).collect()
}
