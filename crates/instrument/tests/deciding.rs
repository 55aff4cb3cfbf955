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
    let mut found: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    // Each function is a program of its own: a read may stand for those of other functions.
    for (number, alone) in each_function(text).iter().enumerate() {
        let unit = workshop.unit(&format!("deciding{number}"), alone, Language::C);
        let built = workshop.instrument(&[unit], Reduce::All);
        let sites = decode(&built.sites).expect("a table");
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

/// The text with one of its functions, and what is before the first; lines stay where they are.
fn each_function(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let begins =
        |line: &&str| line.ends_with("(void) {") || line.ends_with(" {") && line.starts_with(['v', 'i']);
    let starts: Vec<usize> = (0..lines.len()).filter(|at| begins(&lines[*at])).collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let own = |(start, end): (usize, usize)| {
        let line = |at: usize| if at < starts[0] || (start..end).contains(&at) { lines[at] } else { "" };
        (0..lines.len()).map(|at| line(at).to_owned() + "\n").collect()
    };
    starts.iter().copied().zip(ends).map(own).collect()
}

/// A thread may come to the second read without synchronising, and then the trace has only the first.
#[test]
fn a_read_decides_where_it_may_stand_for_one_in_another_function() {
    let text = "int x, z, out, *pointer; void use(int *);\n\
                void first(void) {\n  out = x;\n  out = z;\n  out = *pointer;\n}\n\
                int second(void) {\n  return x;\n}\n";
    let given = "int third(void) {\n  use(&z);\n  return 0;\n}\n";
    let reads = |text: &str, line: u32| {
        let workshop = Workshop::new();
        let unit = workshop.unit("merged", text, Language::C);
        let sites = decode(&workshop.instrument(&[unit], Reduce::All).sites).expect("a table");
        let here = |site: &&raddle_instrument::sites::Site<'_>| site.line == line && site.kind == Kind::Read;
        let expressions = ["x", "z", "*pointer"];
        sites
            .iter()
            .filter(|site| expressions.contains(&site.expression))
            .find(|site| here(&site))
            .map(|site| site.reads)
    };
    let both = text.to_owned() + given;
    assert_eq!(
        [3, 4, 5].map(|line| reads(text, line)),
        [Reads::Decides, Reads::Passes, Reads::Passes].map(Some)
    );
    assert_eq!([3, 4, 5].map(|line| reads(&both, line)), [Reads::Decides; 3].map(Some));
}
