//! The programs of `tests/predict/paths`: their errors are on other paths than the recorded one. Each has a twin without the error.
//!
//! `RADDLE_CASE=part-of-a-name` runs some.

use super::scenarios::complaint;
use super::{built, raddle, root};
use serde_json::Value;
use std::path::Path;

/// Which programs, by the beginning of their names; further options; whether the errors are found with them.
const CASES: [(&str, &[&str], bool); 10] = [
    ("third_sets_flag", &[], true),
    ("retry_loop", &[], true),
    ("cycle_behind_flag", &[], true),
    ("third_sets_flag", &["--keep-going"], true),
    ("behind_outcome", &["--keep-going"], true),
    // By an order of its own trace, which keeps the outcome of the first race.
    ("behind_outcome", &["--keep-going", "--divergence-runs", "0"], true),
    ("behind_outcome", &[], false),
    ("third_sets_flag", &["--divergence-runs", "0"], false),
    ("retry_loop", &["--divergence-runs", "0"], false),
    ("cycle_behind_flag", &["--divergence-runs", "0"], false),
];

#[test]
fn errors_on_other_paths_are_seen_and_their_twins_have_none() {
    let wanted = std::env::var("RADDLE_CASE").unwrap_or_default();
    let mut complaints = Vec::new();
    for (name, options, found) in CASES.into_iter().filter(|(name, ..)| name.contains(&wanted)) {
        let file = |end: &str| root().join("tests/predict/paths").join(format!("{name}{end}.c"));
        complaints.extend(complaint(&file("_safe"), options));
        if found {
            complaints.extend(complaint(&file(""), options));
            continue;
        }
        // A busy machine may record the other path.
        if (0..3).all(|_| complaint(&file(""), options).is_none()) {
            complaints.push(format!("{name}: found with {options:?}"));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn a_run_beside_a_diverged_order_is_counted_and_can_be_repeated() {
    for (name, kind) in [("third_sets_flag", "data-race"), ("cycle_behind_flag", "deadlock")] {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let answer = predicted(folder.path(), name, &[]);
        let stats = &answer["stats"]["prediction"];
        assert!(stats["explored"].as_u64().is_some_and(|runs| runs > 0), "{stats}");
        let replay = answer["findings"][0]["replay"].as_str().expect("there is a schedule");
        let words: Vec<&str> = replay.split(' ').skip(1).collect();
        let again = raddle(folder.path(), &[&words[..], &["--times", "5", "--format", "json"]].concat());
        let answer: Value = serde_json::from_slice(&again.stdout).expect("the answer is JSON");
        assert_eq!(answer["findings"][0]["kind"], kind, "{answer}");
        let said = String::from_utf8_lossy(&again.stderr);
        assert!(said.contains("5 of 5 runs showed what the order is for"), "{said}");
    }
}

#[test]
fn rounds_are_counted_and_a_bound_is_reported() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let answer = predicted(folder.path(), "behind_outcome", &["--keep-going"]);
    let stats = &answer["stats"]["prediction"];
    let more_than_one = |name: &str| stats[name].as_u64().is_some_and(|count| count > 1);
    assert!(more_than_one("rounds") && more_than_one("traces"), "{stats}");
    for finding in answer["findings"].as_array().expect("findings are a list") {
        let has_schedule = finding["replay"].as_str().is_some_and(|replay| !replay.is_empty());
        assert!(finding["evidence"] == "observed" || has_schedule, "{finding}");
    }
    let answer = predicted(folder.path(), "behind_outcome", &["--keep-going", "--time-limit", "0.001"]);
    let reasons = answer["unknown_reasons"].to_string();
    assert!(
        reasons.contains("the time limit was reached") || reasons.contains("the time was over"),
        "{reasons}"
    );
}

fn predicted(folder: &Path, name: &str, options: &[&str]) -> Value {
    let source = root().join("tests/predict/paths").join(format!("{name}.c"));
    let program = built(folder, &source).to_string_lossy().into_owned();
    let arguments = [&["predict", "--format", "json", "-o", "answer.json"], options, &[&program]].concat();
    raddle(folder, &arguments);
    let answer = std::fs::read_to_string(folder.join("answer.json")).expect("there is an answer");
    serde_json::from_str(&answer).expect("the answer is JSON")
}
