//! Whether the program asks for `memory_order_consume`. clang makes it `acquire`, as all compilers do, so bitcode does not show it: the text of the
//! program is searched for the words (A-CONSUME).
//!
//! Searched are the inputs, the files that the program's code is from, and what they include by a quoted name. Headers of the system only define the
//! words. May miss one in a file that cannot be read, in bitcode without its source, and in preprocessed text that has only the number.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Whether one of these files, or a file that it includes, has the words.
pub(crate) fn is_named(files: impl Iterator<Item = PathBuf>) -> bool {
    let mut open: Vec<PathBuf> = files.collect();
    let mut seen = BTreeSet::new();
    while let Some(path) = open.pop() {
        if path.starts_with("/usr") || !is_text(&path) || !seen.insert(path.clone()) {
            continue;
        }
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        if has_words(&text) {
            return true;
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        open.extend(text.lines().filter_map(included).map(|name| folder.join(name)));
    }
    false
}

fn is_text(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    !matches!(ending, Some("bc" | "ll" | "o" | "a" | "json"))
}

/// `x.h` of `#include "x.h"`.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    rest.trim_start().strip_prefix('"')?.split('"').next()
}

/// A word that is used; `stdatomic.h`, which preprocessed text has in it, gives it a value.
fn has_words(text: &str) -> bool {
    let is_used = |rest: &str| !rest.trim_start().starts_with('=');
    ["memory_order_consume", "__ATOMIC_CONSUME"]
        .iter()
        .any(|word| text.match_indices(word).any(|(at, _)| is_used(&text[at + word.len()..])))
}

#[cfg(test)]
mod tests {
    use super::{has_words, included};

    #[test]
    fn a_definition_is_no_use() {
        assert!(!has_words("enum { memory_order_consume = 1 };"));
        assert!(has_words("atomic_load_explicit(p, memory_order_consume)"));
        assert!(has_words("enum { memory_order_consume = 1 }; f(memory_order_consume);"));
        assert!(has_words("__atomic_load_n(p, __ATOMIC_CONSUME)"));
    }

    #[test]
    fn quoted_names_are_followed() {
        assert_eq!(included("#include \"a/b.h\""), Some("a/b.h"));
        assert_eq!(included("  # include \"b.h\" // c"), Some("b.h"));
        assert_eq!(included("#include <b.h>"), None);
        assert_eq!(included("int include;"), None);
    }
}
