//! The rows of `libmodel` and the functions here are the same set.

use crate::libc::functions;
use raddle_libmodel::{Effect, rows};
use std::collections::BTreeSet;

#[test]
fn every_row_has_a_function_and_every_function_a_row() {
    let named: BTreeSet<&str> = rows()
        .filter_map(|row| match row.effect {
            Effect::Libc(function) => Some(function.0),
            _ => None,
        })
        .collect();
    let mut implemented = BTreeSet::new();
    for (name, _) in functions() {
        assert!(implemented.insert(name), "{name} is implemented twice");
    }
    let missing: Vec<_> = named.difference(&implemented).collect();
    assert!(missing.is_empty(), "rows without a function: {missing:?}");
    let unnamed: Vec<_> = implemented.difference(&named).collect();
    assert!(unnamed.is_empty(), "functions without a row: {unnamed:?}");
}

/// A row may point to another function only under a name that is no row of its own with another meaning.
#[test]
fn aliases_point_to_rows() {
    for row in rows() {
        if let Effect::Libc(function) = row.effect {
            let target = raddle_libmodel::lookup(function.0);
            let target =
                target.unwrap_or_else(|| panic!("{} stands for {}, which has no row", row.name, function.0));
            assert_eq!(target.effect, row.effect, "{} stands for {}", row.name, function.0);
        }
    }
}
