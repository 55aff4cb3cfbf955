//! Programs of `tests/known-wrong`, whose answer is wrong and known to be: each says what is right, what Raddle answers, and why.
//!
//! When an answer changes, the program goes to `tests/fixtures`, or its header is put right.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn wrong_answers_are_the_known_ones() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/known-wrong");
    let entries = std::fs::read_dir(&folder).expect("the folder is there");
    let mut programs: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable entry").path()).collect();
    programs.sort();
    let changed: Vec<String> = programs.iter().filter_map(|program| change(program)).collect();
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

/// What is no longer as the header says.
fn change(program: &Path) -> Option<String> {
    let text = std::fs::read_to_string(program).expect("a readable program");
    let header = |key: &str| {
        let line =
            text.lines().find_map(|line| line.strip_prefix("//@ ")?.strip_prefix(key)?.strip_prefix(": "));
        line.map(str::to_owned)
    };
    let name = program.display();
    let (Some(right), Some(answer), Some(_)) = (header("right"), header("answer"), header("because")) else {
        return Some(format!("{name}: the header lacks `right`, `answer` or `because`"));
    };
    if right == answer {
        return Some(format!("{name}: the answer is right"));
    }
    let scratch = tempfile::tempdir().expect("a folder");
    let input = scratch.path().join("stdin");
    let bytes = header("stdin").unwrap_or_default().replace("\\n", "\n");
    std::fs::write(&input, bytes).expect("it can be written");
    let output = Command::new(env!("CARGO_BIN_EXE_raddle"))
        .args(["check", "--format", "json", "--time-limit", "20", "--stdin"])
        .arg(&input)
        .arg(program)
        .current_dir(scratch.path())
        .output()
        .expect("raddle runs");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let verdict = report["verdict"].as_str().unwrap_or("none");
    (verdict != answer).then(|| format!("{name}: the answer is {verdict}, was {answer}; right is {right}"))
}
