//! The 48 programs of `tests/predict/scenarios`, 31 errors: all are found from one recorded run each and seen again under the schedule,
//! and none is reported in the others (2015 paper, section 4.1).
//!
//! `RADDLE_CASE=part-of-a-name` runs some.

use super::{built, raddle, root};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn all_errors_of_the_scenarios_are_predicted_and_confirmed() {
    let wanted = std::env::var("RADDLE_CASE").unwrap_or_default();
    let entries = std::fs::read_dir(root().join("tests/predict/scenarios")).expect("the folder is there");
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "c"));
    assert_eq!(files.len(), 48);
    files.retain(|file| file.to_string_lossy().contains(&wanted));
    files.sort();
    let (next, complaints) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let found = complaint(file, &[]);
            complaints.lock().expect("no scenario panics").extend(found);
        }
    };
    // They mostly sleep.
    std::thread::scope(|scope| (0..4).for_each(|_| _ = scope.spawn(work)));
    let complaints = complaints.into_inner().expect("no scenario panics");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// What is wrong with the answer for this program, with further options.
pub(super) fn complaint(file: &Path, options: &[&str]) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let program = built(folder.path(), file).to_string_lossy().into_owned();
    let arguments = [&["predict", "--format", "json", "-o", "answer.json"], options, &[&program]].concat();
    let output = raddle(folder.path(), &arguments);
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let answer = std::fs::read_to_string(folder.path().join("answer.json"));
    let Ok(answer) = answer else {
        return Some(format!("{name}: no answer: {}", String::from_utf8_lossy(&output.stderr)));
    };
    let answer: Value = serde_json::from_str(&answer).expect("the answer is JSON");
    let (races, deadlocks) = expected(file);
    let mut found: BTreeSet<BTreeSet<u64>> = BTreeSet::new();
    let mut found_deadlock = false;
    for finding in answer["findings"].as_array().expect("findings are a list") {
        if finding["evidence"] == "predicted" {
            return Some(format!("{name}: not confirmed: {}", finding["unconfirmed"]));
        }
        let lines = finding["accesses"].as_array().into_iter().flatten();
        match finding["kind"].as_str() {
            Some("data-race") => {
                _ = found.insert(lines.filter_map(|access| access["line"].as_u64()).collect())
            }
            Some("deadlock") => found_deadlock = true,
            _ => return Some(format!("{name}: {}", finding["kind"])),
        }
        if finding["evidence"] == "replayed" && finding["replay"].as_str().is_none_or(str::is_empty) {
            return Some(format!("{name}: a finding without its schedule"));
        }
    }
    let right = found == races && found_deadlock == deadlocks;
    let why = &answer["unknown_reasons"];
    (!right).then(|| {
        format!("{name}: races {found:?}, deadlock {found_deadlock}; expected {races:?}, {deadlocks}; {why}")
    })
}

/// The pairs of lines that race, and whether there is a deadlock.
fn expected(file: &Path) -> (BTreeSet<BTreeSet<u64>>, bool) {
    let text = std::fs::read_to_string(file).expect("a scenario can be read");
    let mut races: std::collections::BTreeMap<String, BTreeSet<u64>> = Default::default();
    for (number, line) in text.lines().enumerate() {
        for race in line.split("RACE#").skip(1) {
            let id: String = race.chars().take_while(char::is_ascii_digit).collect();
            races.entry(id).or_default().insert(number as u64 + 1);
        }
    }
    (races.into_values().collect(), text.contains("FINDING: deadlock"))
}
