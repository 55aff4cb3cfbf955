//! Which reads decide, in small pieces of C: each line says what its sites read and what becomes of it.
//!
//! `// READS: x=passes y=decides =z=passes` in `deciding.c`: reads by their expressions, `=z` is a write of `z` whose check stands for a read.

mod harness;

use harness::{Language, Workshop};
use raddle_instrument::Reduce;
use raddle_instrument::sites::{Kind, Reads, decode};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn reads_decide_as_their_lines_say() {
    let text = include_str!("deciding.c");
    let workshop = Workshop::new();
    let unit = workshop.unit("deciding", text, Language::C);
    let built = workshop.instrument(&[unit], Reduce::All);
    let sites = decode(&built.sites).expect("a table");
    let mut found: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for site in sites.iter().filter(|site| site.reads != Reads::Nothing) {
        let what = match site.kind {
            Kind::Read | Kind::Atomic => site.expression.to_owned(),
            Kind::Write => format!("={}", site.expression),
            Kind::Copy => site.source.to_owned(),
            Kind::Call | Kind::Fence | Kind::Other => continue,
        };
        let reads = if site.reads == Reads::Decides { "decides" } else { "passes" };
        found.entry(site.line).or_default().insert(format!("{what}={reads}"));
    }
    let (mut wrong, mut cases) = (Vec::new(), 0);
    for (line, code) in (1..).zip(text.lines()) {
        let Some((_, wanted)) = code.split_once("// READS:") else { continue };
        let wanted: BTreeSet<String> = wanted.split_whitespace().map(str::to_owned).collect();
        let found = found.remove(&line).unwrap_or_default();
        cases += 1;
        if found != wanted {
            wrong.push(format!("{line}: found {found:?}, wanted {wanted:?}"));
        }
    }
    wrong.extend(
        found.into_iter().map(|(line, found)| format!("{line}: found {found:?}, which no line says")),
    );
    assert!(cases > 30, "only {cases} cases");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Without reduction, each check has its own flag.
#[test]
fn a_check_that_stands_for_others_has_their_flags() {
    let text = "int g, out;\nint f(void) {\n  out = g;\n  if (g) return 1;\n  return 0;\n}\n";
    for (reduce, first) in [(Reduce::Nothing, Reads::Passes), (Reduce::All, Reads::Decides)] {
        let workshop = Workshop::new();
        let unit = workshop.unit("two", text, Language::C);
        let sites = decode(&workshop.instrument(&[unit], reduce).sites).expect("a table");
        let reads = |line| sites.iter().find(|site| site.line == line && site.expression == "g");
        assert_eq!(reads(3).map(|site| site.reads), Some(first), "{reduce:?}");
        assert_eq!(reads(4).map(|site| site.reads), Some(Reads::Decides), "{reduce:?}");
    }
}
