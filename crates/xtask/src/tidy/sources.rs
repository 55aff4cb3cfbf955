//! Rules for Rust sources: a module doc first, short files, nothing left undone, `unsafe` where it is allowed.

use super::Problem;
use crate::rust_text::split;
use crate::tree::Tree;

const LONGEST_FILE: usize = 800;

/// Crates at the border to C libraries or to the running program.
const MAY_BE_UNSAFE: [&str; 3] = ["frontend", "instrument", "runtime"];

pub(super) fn files_open_with_a_module_doc(tree: &Tree) -> Vec<Problem> {
    tree.rust_sources()
        .filter(|(folder, path, _)| {
            !path.starts_with(&format!("crates/{folder}/tests/"))
                && *path != format!("crates/{folder}/build.rs")
        })
        .filter(|(_, _, text)| !text.starts_with("//!"))
        .map(|(_, path, _)| Problem::line(path, 0, "does not open with a `//!` module doc"))
        .collect()
}

pub(super) fn files_are_short(tree: &Tree) -> Vec<Problem> {
    tree.rust_sources()
        .map(|(_, path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > LONGEST_FILE)
        .map(|(path, lines)| {
            Problem::file(path, format!("{lines} lines, more than {LONGEST_FILE}: find the seam"))
        })
        .collect()
}

/// No placeholder macro, no ignored test, no reminder in a comment.
pub(super) fn nothing_is_left_undone(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (_, path, text) in tree.rust_sources() {
        let text = split(text);
        for (index, line) in text.code.lines().enumerate() {
            for undone in ["todo!", "unimplemented!", "#[ignore"] {
                if contains_word(line, undone) {
                    problems.push(Problem::line(path, index, format!("`{undone}`")));
                }
            }
        }
        for (index, line) in text.comments.lines().enumerate() {
            for reminder in ["TODO", "FIXME"] {
                if contains_word(line, reminder) {
                    problems.push(Problem::line(path, index, format!("a comment with `{reminder}`")));
                }
            }
        }
    }
    problems
}

pub(super) fn unsafe_stays_in_its_crates(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (_, path, text) in tree.rust_sources().filter(|(folder, ..)| !MAY_BE_UNSAFE.contains(folder)) {
        for (index, line) in split(text).code.lines().enumerate() {
            if contains_word(line, "unsafe") || contains_word(line, "allow(unsafe_code)") {
                problems.push(Problem::line(
                    path,
                    index,
                    format!("`unsafe` outside of the crates {}", MAY_BE_UNSAFE.join(", ")),
                ));
            }
        }
    }
    problems
}

/// Whether `word` stands in `line` and no identifier character touches either end of it.
fn contains_word(line: &str, word: &str) -> bool {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + word.len()..].chars().next();
        !before.is_some_and(part_of_word) && !after.is_some_and(part_of_word)
    })
}

#[cfg(test)]
mod tests {
    use super::{
        LONGEST_FILE, files_are_short, files_open_with_a_module_doc, nothing_is_left_undone,
        unsafe_stays_in_its_crates,
    };
    use crate::tidy::Problem;
    use crate::tree::Tree;

    fn places(problems: Vec<Problem>) -> Vec<(String, Option<usize>)> {
        problems.into_iter().map(|problem| (problem.path, problem.line)).collect()
    }

    #[test]
    fn a_source_without_a_module_doc_fails() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "//! Doc.\n"),
            ("crates/a/src/bare.rs", "use b;\n//! Late.\n"),
            ("crates/a/src/tests/inner.rs", "fn f() {}\n"),
            ("crates/a/tests/t.rs", "fn f() {}\n"),
            ("crates/a/build.rs", "fn main() {}\n"),
        ]);
        assert_eq!(
            places(files_open_with_a_module_doc(&tree)),
            [("crates/a/src/bare.rs".into(), Some(1)), ("crates/a/src/tests/inner.rs".into(), Some(1))]
        );
    }

    #[test]
    fn a_long_source_fails() {
        let (fits, long) = ("x\n".repeat(LONGEST_FILE), "x\n".repeat(LONGEST_FILE + 1));
        let tree = Tree::of(&[("crates/a/src/fits.rs", &fits), ("crates/a/tests/long.rs", &long)]);
        assert_eq!(places(files_are_short(&tree)), [("crates/a/tests/long.rs".into(), None)]);
    }

    #[test]
    fn undone_work_fails() {
        for undone in [
            "todo!()",
            "todo! { }",
            "unimplemented!(\"x\")",
            "#[ignore]",
            "#[ignore = \"slow\"]",
            "// TODO: x",
            "/* FIXME */",
        ] {
            let text = format!("fn f() {{\n    {undone}\n}}\n");
            let tree = Tree::of(&[("crates/a/src/lib.rs", &text)]);
            assert_eq!(
                places(nothing_is_left_undone(&tree)),
                [("crates/a/src/lib.rs".into(), Some(2))],
                "{undone}"
            );
        }
        for fine in ["let s = \"todo!()\";", "// about todo!()", "let s = \"TODO\";", "my_todo!()"] {
            assert!(nothing_is_left_undone(&Tree::of(&[("crates/a/src/lib.rs", fine)])).is_empty(), "{fine}");
        }
    }

    #[test]
    fn unsafe_in_a_safe_crate_fails() {
        for code in ["unsafe { f() }", "unsafe fn f() {}", "#![allow(unsafe_code)]", "#[unsafe(no_mangle)]"] {
            let tree = Tree::of(&[("crates/interp/src/lib.rs", code), ("crates/frontend/src/lib.rs", code)]);
            assert_eq!(
                places(unsafe_stays_in_its_crates(&tree)),
                [("crates/interp/src/lib.rs".into(), Some(1))],
                "{code}"
            );
        }
        let fine = "// unsafe\nlet s = \"unsafe\"; let unsafe_code = 1;";
        assert!(unsafe_stays_in_its_crates(&Tree::of(&[("crates/interp/src/lib.rs", fine)])).is_empty());
    }
}
