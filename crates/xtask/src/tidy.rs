//! What the written rules of the project promise, checked on its files.
//!
//! Each check is a function from the tree to problems; each has a test that shows it can fail.

use std::fmt;

use crate::tree::Tree;

mod dependencies;
mod files;
mod layers;
mod soundness;
mod sources;

/// All problems, in the order of the checks; empty for a tidy tree.
pub fn tidy(tree: &Tree) -> Vec<Problem> {
    let checks: [fn(&Tree) -> Vec<Problem>; 12] = [
        layers::edges_follow_the_table,
        layers::folders_match_the_table,
        layers::table_points_down,
        sources::files_open_with_a_module_doc,
        sources::files_are_short,
        sources::nothing_is_left_undone,
        sources::unsafe_stays_in_its_crates,
        files::architecture_is_short,
        files::no_path_of_a_machine,
        soundness::assumptions_are_documented,
        dependencies::dependencies_are_documented,
        dependencies::lock_names_the_public_registry,
    ];
    checks.iter().flat_map(|check| check(tree)).collect()
}

/// One broken rule, at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub path: String,
    /// 1-based; `None` when the whole file is meant.
    pub line: Option<usize>,
    pub message: String,
}

impl Problem {
    fn file(path: &str, message: impl Into<String>) -> Problem {
        Problem { path: path.to_string(), line: None, message: message.into() }
    }

    /// `index` counts from 0, as `enumerate` does.
    fn line(path: &str, index: usize, message: impl Into<String>) -> Problem {
        Problem { path: path.to_string(), line: Some(index + 1), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.message),
            None => write!(f, "{}: {}", self.path, self.message),
        }
    }
}
