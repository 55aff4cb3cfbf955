//! Which checks are left in small pieces of C: each case says what `work` may hold after reduction, and all of it.
//!
//! `// CHECKS: read4=1 write_walk=2` in `cases/*.c`: the hooks called in the whole text but for the shadow stack.

mod harness;

use std::collections::BTreeMap;

use harness::{Language, Workshop, hook_calls};
use raddle_instrument::Reduce;

const STACK: [&str; 5] = ["enter", "exit", "again", "call", "start"];

#[test]
fn cases_have_the_checks_they_name() {
    let text = include_str!("cases.c");
    let mut wrong = Vec::new();
    let mut seen = 0;
    let (prelude, cases) = text.split_once("// CASE ").expect("cases");
    for case in cases.split("// CASE ") {
        let (title, rest) = case.split_once('\n').expect("a title");
        let (marker, code) = rest.split_once('\n').expect("a line with checks");
        let wanted = marker.strip_prefix("// CHECKS:").unwrap_or_else(|| panic!("{title}: no CHECKS line"));
        let wanted: BTreeMap<String, usize> = wanted
            .split_whitespace()
            .map(|entry| {
                let (name, count) = entry.split_once('=').expect("name=count");
                (name.to_owned(), count.parse().expect("a number"))
            })
            .collect();
        let workshop = Workshop::new();
        let unit = workshop.unit("case", &format!("{prelude}\n{code}"), Language::C);
        let built = workshop.instrument(&[unit], Reduce::All);
        let text = built.text.unwrap_or_default();
        let mut found = hook_calls(&text);
        found.retain(|name, _| !STACK.contains(&name.as_str()));
        if found != wanted {
            wrong.push(format!("{title}: found {found:?}, wanted {wanted:?}"));
            if std::env::var_os("RADDLE_SHOW").is_some() {
                eprintln!("{text}");
            }
        }
        seen += 1;
    }
    assert!(seen > 30, "only {seen} cases");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
