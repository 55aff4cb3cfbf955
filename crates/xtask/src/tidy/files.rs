//! Rules for any text file of the project: the map stays short, and no file names a folder of somebody's machine.

use super::Problem;
use crate::tree::Tree;

const LONGEST_MAP: usize = 300;

/// First parts of absolute paths that exist only on one machine.
const PRIVATE_ROOTS: [&str; 4] = ["home", "root", "work", "Users"];

pub(super) fn architecture_is_short(tree: &Tree) -> Vec<Problem> {
    let path = "ARCHITECTURE.md";
    match tree.text(path).map(|text| text.lines().count()) {
        None => vec![Problem::file(path, "missing")],
        Some(lines) if lines > LONGEST_MAP => {
            vec![Problem::file(path, format!("{lines} lines, more than {LONGEST_MAP}"))]
        }
        Some(_) => Vec::new(),
    }
}

pub(super) fn no_path_of_a_machine(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in tree.files() {
        for (index, line) in text.lines().enumerate() {
            if let Some(found) = private_path(line) {
                problems.push(Problem::line(path, index, format!("a path of one machine: {found}…")));
            }
        }
    }
    problems
}

/// The start of an absolute private path in `line`; a relative path that merely contains such a part is none.
fn private_path(line: &str) -> Option<String> {
    PRIVATE_ROOTS.iter().map(|root| format!("/{root}/")).find(|start| {
        line.match_indices(start.as_str()).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            !before
                .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '*' | '}' | ')'))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_MAP, architecture_is_short, no_path_of_a_machine};
    use crate::tree::Tree;

    #[test]
    fn a_long_or_missing_map_fails() {
        let (fits, long) = ("x\n".repeat(LONGEST_MAP), "x\n".repeat(LONGEST_MAP + 1));
        assert!(architecture_is_short(&Tree::of(&[("ARCHITECTURE.md", &fits)])).is_empty());
        assert_eq!(architecture_is_short(&Tree::of(&[("ARCHITECTURE.md", &long)])).len(), 1);
        assert_eq!(architecture_is_short(&Tree::of(&[])).len(), 1);
    }

    #[test]
    fn a_path_of_a_machine_fails() {
        for root in super::PRIVATE_ROOTS {
            let text = format!("first\n# 1 \"/{root}/me/a.c\"\n");
            let problems = no_path_of_a_machine(&Tree::of(&[("tests/a.i", &text)]));
            assert_eq!(problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [Some(2)], "{root}");
            for fine in [format!("src/{root}/a.c"), format!("$x/{root}.c"), format!("../{root}/b")] {
                assert!(no_path_of_a_machine(&Tree::of(&[("a.md", &fine)])).is_empty(), "{fine}");
            }
        }
    }
}
