//! Assumption ids (`A-SC`) in the crates against `docs/soundness.md`, both ways.

use std::collections::BTreeSet;

use super::Problem;
use crate::tree::Tree;

const SOUNDNESS: &str = "docs/soundness.md";

const NEVER: &str = "*Printed*: never";

/// Every id a crate names has a section, and every section is of an id that a crate names or says that it is never printed.
pub(super) fn assumptions_are_documented(tree: &Tree) -> Vec<Problem> {
    let sections = sections(tree.text(SOUNDNESS).unwrap_or_default());
    let documented: BTreeSet<&str> = sections.iter().map(|section| section.id.as_str()).collect();
    let mut problems = Vec::new();
    let mut used = BTreeSet::new();
    let sources = tree
        .rust_sources()
        .filter(|(folder, path, _)| *folder != "xtask" && path.starts_with(&format!("crates/{folder}/src/")));
    for (_, path, text) in sources {
        for (index, line) in text.lines().enumerate() {
            for id in ids(line) {
                if !documented.contains(id.as_str()) {
                    problems.push(Problem::line(path, index, format!("{id} has no section in {SOUNDNESS}")));
                }
                used.insert(id);
            }
        }
    }
    for section in sections.iter().filter(|section| section.printed && !used.contains(&section.id)) {
        problems.push(Problem::line(SOUNDNESS, section.line, format!("no crate names {}", section.id)));
    }
    problems
}

struct Section {
    line: usize,
    id: String,
    printed: bool,
}

fn sections(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for (line, text) in text.lines().enumerate() {
        if text.starts_with("### ") {
            sections.extend(ids(text).into_iter().map(|id| Section { line, id, printed: true }));
        } else if let Some(section) = sections.last_mut() {
            section.printed &= !text.starts_with(NEVER);
        }
    }
    sections
}

/// Words of the form `A-` and at least two capitals or digits; `[A-Z]` in a pattern is none.
fn ids(line: &str) -> Vec<String> {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))
        .filter(|word| {
            word.strip_prefix("A-").is_some_and(|name| {
                name.len() >= 2
                    && name.starts_with(|c: char| c.is_ascii_uppercase())
                    && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-')
            })
        })
        .map(str::to_string)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{assumptions_are_documented, ids};
    use crate::tree::Tree;

    const SECTIONS: &str = "# Soundness\n\n### A-SC: order\n\nUnlike A-GONE, this one is here.\n";

    #[test]
    fn ids_are_told_from_patterns() {
        assert_eq!(ids("uses A-SC, `A-NO-SPURIOUS` and \"A-C11\""), ["A-SC", "A-NO-SPURIOUS", "A-C11"]);
        assert!(ids("[A-Z] [A-Za-z] LDA-SC A-sc A-S_C a-SC A-Input").is_empty());
    }

    #[test]
    fn a_documented_id_passes() {
        let tree = Tree::of(&[("docs/soundness.md", SECTIONS), ("crates/finding/src/a.rs", "\"A-SC\"")]);
        assert!(assumptions_are_documented(&tree).is_empty());
    }

    #[test]
    fn an_undocumented_id_fails() {
        let source = "\"A-SC\"\n// A-GONE\n";
        let tree = Tree::of(&[("docs/soundness.md", SECTIONS), ("crates/finding/src/a.rs", source)]);
        let problems: Vec<String> = assumptions_are_documented(&tree).iter().map(|p| p.to_string()).collect();
        assert_eq!(problems, ["crates/finding/src/a.rs:2: A-GONE has no section in docs/soundness.md"]);
    }

    #[test]
    fn a_section_nobody_names_fails() {
        let tree = Tree::of(&[("docs/soundness.md", SECTIONS), ("crates/finding/tests/a.rs", "A-SC")]);
        let problems: Vec<String> = assumptions_are_documented(&tree).iter().map(|p| p.to_string()).collect();
        assert_eq!(problems, ["docs/soundness.md:3: no crate names A-SC"]);
        let never = format!("{SECTIONS}*Printed*: never.\n");
        assert!(assumptions_are_documented(&Tree::of(&[("docs/soundness.md", &never)])).is_empty());
    }
}
