//! Every pointer argument of every row that touches memory has a case, or a line in `manual.txt`.

use crate::cases::all;
use raddle_libmodel::memory::{Atomicity, Base, Reach, Touch};
use raddle_libmodel::{Effect, rows};
use std::collections::{BTreeMap, BTreeSet};

/// Arguments that no detector sees, and what says that they are touched.
pub fn manual() -> BTreeMap<(&'static str, &'static str), &'static str> {
    let lines = include_str!("manual.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, source) = line.split_once(" | ").expect("name and source");
            (name.split_once(' ').expect("function and argument"), source)
        })
        .collect()
}

#[test]
fn every_pointer_argument_has_a_case_or_a_source() {
    let cases = all();
    let mut known: BTreeSet<(&str, &str)> = cases.iter().map(|case| (case.function, case.argument)).collect();
    for (name, source) in manual() {
        assert!(source.len() > 10, "{name:?}: {source}");
        known.insert(name);
    }
    let known: BTreeSet<String> = known.iter().map(|(name, argument)| format!("{name} {argument}")).collect();
    let wanted = touched();
    let missing: Vec<&String> = wanted.difference(&known).collect();
    assert!(missing.is_empty(), "neither a case nor a source:\n{missing:#?}");
    let cases: BTreeSet<String> =
        cases.iter().map(|case| format!("{} {}", case.function, case.argument)).collect();
    let gone: Vec<&String> = known.difference(&wanted).filter(|name| !cases.contains(*name)).collect();
    assert!(gone.is_empty(), "sources of what no row says:\n{gone:#?}");
}

/// Pointer arguments of rows, as `cases.txt` names them. Another name for a function counts as that function.
fn touched() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for row in rows() {
        let name = match row.effect {
            Effect::Libc(function) => function.0,
            Effect::Atomic(_) | Effect::Verifier(_) | Effect::Unsupported { .. } => continue,
            _ => row.name,
        };
        let memory = row.effect.memory();
        for touch in memory.touches.iter().filter(|touch| !touch.is_stream()) {
            all.extend(argument(touch).map(|argument| format!("{name} {argument}")));
        }
    }
    all
}

fn argument(touch: &Touch) -> Option<String> {
    let stars = match touch.region.reach {
        Reach::Direct => "",
        Reach::Behind | Reach::BehindAny => "*",
        Reach::BehindTwice => "**",
    };
    match touch.region.base {
        _ if touch.atomicity != Atomicity::Plain => None,
        Base::Arg(arg) => Some(format!("{}{stars}", arg.0)),
        Base::VarArgs(_) | Base::VaList(_) => Some("...".to_owned()),
        Base::Fresh
        | Base::Library(_)
        | Base::Variable(_)
        | Base::Errno
        | Base::ThreadResult(_)
        | Base::Specific(_) => None,
    }
}
