//! The dependency table of `ARCHITECTURE.md` against the manifests.
//!
//! Normal and build dependencies count. Dev-dependencies are free: a test may compare anything with anything.

use std::collections::BTreeSet;

use toml::Table;

use super::Problem;
use crate::tree::Tree;

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const HEADING: &str = "## Crates";

/// Every path dependency of a crate is allowed by its row.
pub(super) fn edges_follow_the_table(tree: &Tree) -> Vec<Problem> {
    let rows = rows(tree);
    let mut problems = Vec::new();
    for (folder, path, text) in tree.manifests() {
        let Some(row) = rows.iter().find(|row| row.name == folder) else { continue };
        let manifest = match text.parse::<Table>() {
            Ok(manifest) => manifest,
            Err(error) => {
                problems.push(Problem::file(path, format!("not TOML: {}", error.message())));
                continue;
            }
        };
        for used in own_dependencies(&manifest) {
            if !row.may_use.contains(&used) {
                problems.push(Problem::file(
                    path,
                    format!("`{folder}` may not depend on `{used}` by the table in {ARCHITECTURE}"),
                ));
            }
        }
    }
    problems
}

/// Every crate folder has a row and every row a folder.
pub(super) fn folders_match_the_table(tree: &Tree) -> Vec<Problem> {
    let rows = rows(tree);
    if rows.is_empty() {
        return vec![Problem::file(ARCHITECTURE, format!("no table of crates under `{HEADING}`"))];
    }
    let folders: BTreeSet<&str> = tree.manifests().map(|(folder, ..)| folder).collect();
    let named: BTreeSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let unlisted = folders.difference(&named).map(|folder| {
        Problem::file(&format!("crates/{folder}"), format!("not in the table of crates in {ARCHITECTURE}"))
    });
    let absent = rows
        .iter()
        .filter(|row| !folders.contains(row.name.as_str()))
        .map(|row| Problem::line(ARCHITECTURE, row.line, format!("`{}` has no folder in crates/", row.name)));
    unlisted.chain(absent).collect()
}

/// The table itself: a row names only rows above it, no engine names an engine, and the trusted crates name no engine.
pub(super) fn table_points_down(tree: &Tree) -> Vec<Problem> {
    let rows = rows(tree);
    let mut problems = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        for used in &row.may_use {
            let complaint = match rows[..index].iter().find(|above| above.name == *used) {
                None => format!("`{}` names `{used}`, which is not a row above it", row.name),
                Some(above)
                    if above.layer == "engine" && ["engine", "trust"].contains(&row.layer.as_str()) =>
                {
                    format!("`{}` is of layer {} and names the engine `{used}`", row.name, row.layer)
                }
                Some(_) => continue,
            };
            problems.push(Problem::line(ARCHITECTURE, row.line, complaint));
        }
    }
    problems
}

struct Row {
    line: usize,
    layer: String,
    name: String,
    may_use: BTreeSet<String>,
}

/// The rows of the table under the heading, `all above` spelt out.
fn rows(tree: &Tree) -> Vec<Row> {
    let text = tree.text(ARCHITECTURE).unwrap_or_default();
    let lines = text.lines().enumerate().skip_while(|(_, line)| *line != HEADING).skip(1);
    let table =
        lines.take_while(|(_, line)| !line.starts_with("## ")).filter(|(_, line)| line.starts_with('|'));
    let mut rows: Vec<Row> = Vec::new();
    // The first two lines of a table are its head and the rule below it.
    for (line, text) in table.skip(2) {
        let cells: Vec<&str> = text.trim_matches('|').split('|').map(str::trim).collect();
        let [layer, name, _, may_use] = cells[..] else { continue };
        let may_use = match may_use {
            "–" => BTreeSet::new(),
            "all above" => rows.iter().map(|row| row.name.clone()).collect(),
            names => names.split(',').map(|name| bare(name).to_string()).collect(),
        };
        rows.push(Row { line, layer: layer.to_string(), name: bare(name).to_string(), may_use });
    }
    rows
}

fn bare(cell: &str) -> &str {
    cell.trim().trim_matches('`')
}

/// Folders of the `raddle-*` packages among the normal and build dependencies, those of `[target.…]` included.
fn own_dependencies(manifest: &Table) -> BTreeSet<String> {
    let targets = manifest.get("target").and_then(|target| target.as_table());
    let tables = std::iter::once(manifest).chain(
        targets.into_iter().flat_map(|targets| targets.values()).filter_map(|target| target.as_table()),
    );
    tables
        .flat_map(|table| ["dependencies", "build-dependencies"].map(|key| table.get(key)))
        .filter_map(|dependencies| dependencies?.as_table())
        .flatten()
        .filter_map(|(key, value)| {
            let package = value.get("package").and_then(|package| package.as_str()).unwrap_or(key);
            package.strip_prefix("raddle-").map(str::to_string)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{edges_follow_the_table, folders_match_the_table, table_points_down};
    use crate::tree::Tree;

    const TABLE: &str = "# Map\n\n## Crates\n\n| layer | crate | holds | may depend on |\n|---|---|---|---|\n\
        | base | `base` | ids | – |\n| engine | `explore` | search | base |\n| engine | `predict` | more | base |\n\
        | assembly | `driver` | order | all above |\n\n## Planned crates\n\n| layer | crate |\n|---|---|\n| x | `later` | y | z |\n";

    fn tree(table: &str, explore: &str) -> Tree {
        Tree::of(&[
            ("ARCHITECTURE.md", table),
            ("crates/base/Cargo.toml", ""),
            ("crates/explore/Cargo.toml", explore),
            ("crates/predict/Cargo.toml", ""),
            ("crates/driver/Cargo.toml", "[dependencies]\nraddle-explore.workspace = true\n"),
        ])
    }

    fn messages(problems: Vec<super::Problem>) -> Vec<String> {
        problems.iter().map(|problem| problem.to_string()).collect()
    }

    #[test]
    fn a_tidy_table_passes() {
        let manifest = "[dependencies]\nraddle-base.workspace = true\nserde = \"1\"\n[dev-dependencies]\nraddle-driver.workspace = true\n";
        let tree = tree(TABLE, manifest);
        assert!(edges_follow_the_table(&tree).is_empty());
        assert!(folders_match_the_table(&tree).is_empty());
        assert!(table_points_down(&tree).is_empty());
    }

    #[test]
    fn an_edge_outside_the_table_fails() {
        let expected = [
            "crates/explore/Cargo.toml: `explore` may not depend on `predict` by the table in ARCHITECTURE.md",
        ];
        for manifest in [
            "[dependencies]\nraddle-predict.workspace = true\n",
            "[dependencies]\nraddle-predict = { path = \"../predict\" }\n",
            "[dependencies]\nother = { package = \"raddle-predict\", path = \"../predict\" }\n",
            "[build-dependencies]\nraddle-predict.workspace = true\n",
            "[target.'cfg(unix)'.dependencies]\nraddle-predict.workspace = true\n",
        ] {
            assert_eq!(messages(edges_follow_the_table(&tree(TABLE, manifest))), expected, "{manifest}");
        }
    }

    #[test]
    fn a_manifest_that_is_not_toml_fails() {
        assert_eq!(edges_follow_the_table(&tree(TABLE, "[dependencies\n")).len(), 1);
    }

    #[test]
    fn folder_and_row_need_each_other() {
        let without_row = TABLE.replace("| engine | `predict` | more | base |\n", "");
        assert_eq!(
            messages(folders_match_the_table(&tree(&without_row, ""))),
            ["crates/predict: not in the table of crates in ARCHITECTURE.md"]
        );
        let extra_row = TABLE.replace("| assembly |", "| base | `ghost` | nothing | – |\n| assembly |");
        assert_eq!(
            messages(folders_match_the_table(&tree(&extra_row, ""))),
            ["ARCHITECTURE.md:10: `ghost` has no folder in crates/"]
        );
        assert_eq!(folders_match_the_table(&tree("", "")).len(), 1);
    }

    #[test]
    fn a_table_that_points_up_or_sideways_fails() {
        let up = TABLE.replace("| ids | – |", "| ids | driver |");
        assert_eq!(
            messages(table_points_down(&tree(&up, ""))),
            ["ARCHITECTURE.md:7: `base` names `driver`, which is not a row above it"]
        );
        let sideways = TABLE.replace("| more | base |", "| more | base, explore |");
        assert_eq!(
            messages(table_points_down(&tree(&sideways, ""))),
            ["ARCHITECTURE.md:9: `predict` is of layer engine and names the engine `explore`"]
        );
        let trust = TABLE.replace("| assembly | `driver`", "| trust | `driver`");
        assert_eq!(table_points_down(&tree(&trust, "")).len(), 2);
    }
}
