//! External crates of the workspace: against `docs/dependencies.md`, both ways, and all from the public registry.

use std::collections::{BTreeMap, BTreeSet};

use toml::Table;

use super::Problem;
use crate::tree::Tree;

const DOCUMENT: &str = "docs/dependencies.md";
const ROOT: &str = "Cargo.toml";
const LOCK: &str = "Cargo.lock";
const PUBLIC_REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";
const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Every external crate that a member uses has a line; every line, and every entry of the root manifest, is used.
pub(super) fn dependencies_are_documented(tree: &Tree) -> Vec<Problem> {
    let documented = documented(tree);
    let used = used_by_members(tree);
    let mut problems = Vec::new();
    for (name, path) in &used {
        if !documented.contains_key(name) {
            problems.push(Problem::file(path, format!("`{name}` has no line in {DOCUMENT}")));
        }
    }
    for (name, line) in &documented {
        if !used.contains_key(name) {
            problems.push(Problem::line(DOCUMENT, *line, format!("no crate uses `{name}`")));
        }
    }
    for name in shared(tree) {
        if !used.contains_key(&name) {
            problems.push(Problem::file(ROOT, format!("no crate uses the workspace dependency `{name}`")));
        }
    }
    problems
}

/// A lock file written behind a mirror may name it, and then builds only there.
pub(super) fn lock_names_the_public_registry(tree: &Tree) -> Vec<Problem> {
    let lines = tree.text(LOCK).unwrap_or_default().lines().enumerate();
    lines
        .filter(|(_, line)| {
            line.starts_with("source = ") && *line != format!("source = \"{PUBLIC_REGISTRY}\"")
        })
        .map(|(index, _)| Problem::line(LOCK, index, "not from the public registry"))
        .collect()
}

/// Names with their line: lines of the form "- `name`: why".
fn documented(tree: &Tree) -> BTreeMap<String, usize> {
    let lines = tree.text(DOCUMENT).unwrap_or_default().lines().enumerate();
    lines
        .filter_map(|(index, line)| {
            let (name, why) = line.strip_prefix("- `")?.split_once("`: ")?;
            (!why.trim().is_empty()).then(|| (name.to_string(), index))
        })
        .collect()
}

/// External packages with the first manifest that asks for each. A manifest that is not TOML is the layer check's matter.
fn used_by_members(tree: &Tree) -> BTreeMap<String, String> {
    let mut used = BTreeMap::new();
    for (_, path, text) in tree.manifests() {
        let manifest = text.parse::<Table>().unwrap_or_default();
        let targets = manifest.get("target").and_then(|target| target.as_table());
        let targets =
            targets.into_iter().flat_map(|targets| targets.values()).filter_map(|target| target.as_table());
        for table in std::iter::once(&manifest).chain(targets) {
            for name in KINDS.iter().filter_map(|kind| table.get(*kind)?.as_table()).flat_map(external) {
                used.entry(name).or_insert_with(|| path.to_string());
            }
        }
    }
    used
}

fn shared(tree: &Tree) -> BTreeSet<String> {
    let root = tree.text(ROOT).unwrap_or_default().parse::<Table>().unwrap_or_default();
    let shared =
        root.get("workspace").and_then(|workspace| workspace.get("dependencies")).and_then(|d| d.as_table());
    shared.map(external).unwrap_or_default()
}

fn external(dependencies: &Table) -> BTreeSet<String> {
    dependencies
        .iter()
        .map(|(key, value)| value.get("package").and_then(|package| package.as_str()).unwrap_or(key))
        .filter(|name| !name.starts_with("raddle-"))
        .map(str::to_string)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{PUBLIC_REGISTRY, dependencies_are_documented, lock_names_the_public_registry};
    use crate::tree::Tree;

    const ROOT: &str = "[workspace.dependencies]\nserde = \"1\"\ntempfile = \"3\"\nraddle-base = { path = \"crates/base\" }\n";
    const MEMBER: &str = "[dependencies]\nraddle-base.workspace = true\nserde.workspace = true\n\
        [target.'cfg(unix)'.dev-dependencies]\ntempfile.workspace = true\n";
    const DOCUMENT: &str = "# Dependencies\n\n- `serde`: JSON.\n- `tempfile`: folders for tests.\n";

    fn problems(root: &str, member: &str, document: &str) -> Vec<String> {
        let tree = Tree::of(&[
            ("Cargo.toml", root),
            ("crates/a/Cargo.toml", member),
            ("docs/dependencies.md", document),
        ]);
        dependencies_are_documented(&tree).iter().map(|problem| problem.to_string()).collect()
    }

    #[test]
    fn documented_dependencies_pass() {
        assert!(problems(ROOT, MEMBER, DOCUMENT).is_empty());
    }

    #[test]
    fn an_undocumented_dependency_fails() {
        let expected = ["crates/a/Cargo.toml: `tempfile` has no line in docs/dependencies.md"];
        assert_eq!(problems(ROOT, MEMBER, "- `serde`: JSON.\n"), expected);
        assert_eq!(problems(ROOT, MEMBER, "- `serde`: JSON.\n- `tempfile`: \n"), expected);
    }

    #[test]
    fn a_stale_line_or_entry_fails() {
        assert_eq!(
            problems(ROOT, "[dependencies]\nserde = \"1\"\n", DOCUMENT),
            [
                "docs/dependencies.md:4: no crate uses `tempfile`",
                "Cargo.toml: no crate uses the workspace dependency `tempfile`"
            ]
        );
    }

    #[test]
    fn a_crate_from_elsewhere_fails() {
        let text = format!(
            "name = \"a\"\nsource = \"{PUBLIC_REGISTRY}\"\n\nname = \"b\"\nsource = \"registry+https://mirror.example/index\"\n"
        );
        let problems = lock_names_the_public_registry(&Tree::of(&[("Cargo.lock", &text)]));
        assert_eq!(problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [Some(5)]);
    }
}
