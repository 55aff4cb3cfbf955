//! The project itself is tidy, and reading it from disk sees what is there.

use std::fs;
use std::path::Path;

use raddle_xtask::tidy::tidy;
use raddle_xtask::tree::Tree;

#[test]
fn the_project_is_tidy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tree = Tree::read(&root).expect("the project is readable");
    let own_source = tree.text("crates/xtask/tests/tidy.rs").expect("this file is in the tree");
    assert!(own_source.contains("the_project_is_tidy"));

    let problems: Vec<String> = tidy(&tree).iter().map(|problem| problem.to_string()).collect();
    assert!(problems.is_empty(), "\n{}\nagain: cargo run -p raddle-xtask -- tidy\n", problems.join("\n"));
}

#[test]
fn an_untidy_project_is_told_so() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let source = root.path().join("crates/a/src");
    fs::create_dir_all(&source).expect("crates/a/src");
    fs::create_dir_all(root.path().join("out")).expect("out");
    fs::write(root.path().join("out/CACHEDIR.TAG"), "Signature").expect("tag");
    fs::write(root.path().join("out/built.rs"), "generated").expect("built file");
    fs::write(source.join("lib.rs"), "fn f() { todo!() }\n").expect("source");
    fs::write(source.join("data.bin"), [0xff, 0xfe]).expect("binary file");

    let tree = Tree::read(root.path()).expect("readable");
    assert_eq!(tree.files().map(|(path, _)| path).collect::<Vec<_>>(), ["crates/a/src/lib.rs"]);
    let problems: Vec<String> = tidy(&tree).iter().map(|problem| problem.to_string()).collect();
    assert_eq!(
        problems,
        [
            "ARCHITECTURE.md: no table of crates under `## Crates`",
            "crates/a/src/lib.rs:1: does not open with a `//!` module doc",
            "crates/a/src/lib.rs:1: `todo!`",
            "ARCHITECTURE.md: missing",
        ]
    );
}
