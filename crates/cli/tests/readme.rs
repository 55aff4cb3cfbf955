//! Every output block of the README is what the program prints, to the byte. `RADDLE_BLESS=1` writes them anew.
//!
//! A block is `<!-- output: raddle … -->` and the fenced text after it. Commands run in order in one folder that holds a copy of
//! `examples/`, so that a later one can replay what an earlier one wrote.

use std::path::{Path, PathBuf};
use std::process::Command;

const START: &str = "<!-- output: raddle ";

struct Block {
    arguments: Vec<String>,
    /// Lines of the fenced text in the README, fences not included.
    lines: std::ops::Range<usize>,
}

#[test]
fn readme_shows_what_raddle_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = root.join("README.md");
    let text = std::fs::read_to_string(&readme).expect("README.md is readable");
    let lines: Vec<&str> = text.lines().collect();
    let blocks = blocks(&lines);
    assert!(blocks.len() >= 8, "only {} output blocks found", blocks.len());
    let folder = copy_of_examples(&root);

    let mut blessed: Vec<String> = Vec::new();
    let mut wrong = Vec::new();
    let mut taken = 0;
    for block in &blocks {
        blessed.extend(lines[taken..block.lines.start].iter().map(|l| (*l).to_owned()));
        taken = block.lines.end;
        let printed = run(folder.path(), &block.arguments);
        let expected: Vec<&str> = lines[block.lines.clone()].to_vec();
        if printed.iter().map(String::as_str).ne(expected.iter().copied()) {
            wrong.push(format!(
                "raddle {}\n--- README\n{}\n--- printed\n{}",
                block.arguments.join(" "),
                expected.join("\n"),
                printed.join("\n")
            ));
        }
        blessed.extend(printed);
    }
    blessed.extend(lines[taken..].iter().map(|l| (*l).to_owned()));
    if std::env::var_os("RADDLE_BLESS").is_some() {
        std::fs::write(&readme, blessed.join("\n") + "\n").expect("README.md is writable");
        return;
    }
    assert!(
        wrong.is_empty(),
        "{} blocks differ (RADDLE_BLESS=1 writes them anew):\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}

fn blocks(lines: &[&str]) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some(rest) = line.strip_prefix(START) else { continue };
        let command = rest.strip_suffix(" -->").expect("the output marker is closed on its line");
        assert!(lines[index + 1].starts_with("```"), "no fence after line {}", index + 1);
        let start = index + 2;
        let length = lines[start..].iter().position(|l| *l == "```").expect("the fence is closed");
        blocks.push(Block {
            arguments: command.split_whitespace().map(str::to_owned).collect(),
            lines: start..start + length,
        });
    }
    blocks
}

fn copy_of_examples(root: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let target = folder.path().join("examples");
    std::fs::create_dir(&target).expect("a fresh folder");
    for entry in std::fs::read_dir(root.join("examples")).expect("examples/ exists") {
        let from: PathBuf = entry.expect("a readable entry").path();
        std::fs::copy(&from, target.join(from.file_name().expect("a file")))
            .expect("an example can be copied");
    }
    folder
}

/// A word with a star stands for the one file that fits it, as in a shell.
fn expand(folder: &Path, word: &str) -> String {
    let Some((before, after)) = word.split_once('*') else { return word.to_owned() };
    let (parent, start) = before.rsplit_once('/').unwrap_or((".", before));
    let entries = std::fs::read_dir(folder.join(parent)).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut fitting: Vec<String> = names.filter(|n| n.starts_with(start) && n.ends_with(after)).collect();
    assert_eq!(fitting.len(), 1, "files that fit {word}: {fitting:?}");
    format!("{parent}/{}", fitting.remove(0))
}

/// Standard output, line by line; times are not part of a stable output and are masked.
fn run(folder: &Path, arguments: &[String]) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_raddle"))
        .args(arguments.iter().map(|word| expand(folder, word)))
        .current_dir(folder)
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .output()
        .expect("raddle can be started");
    let text = String::from_utf8(output.stdout).expect("output is UTF-8");
    text.lines().map(mask_seconds).collect()
}

/// `"seconds": 0.123` becomes `"seconds": 0.0`, and so does `"search_seconds"`.
fn mask_seconds(line: &str) -> String {
    match line.split_once("seconds\": ") {
        Some((before, after)) => {
            let rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || ".e-".contains(c));
            format!("{before}seconds\": 0.0{rest}")
        }
        None => line.to_owned(),
    }
}
