//! The programs of `tests/prove`: those with a race end with one that is annotated and replays, and no other ever ends with one.
//!
//! A slice; all with `RADDLE_SOAK=1`. `RADDLE_FIXTURE=part-of-a-path` runs some.

use raddle_driver::{Certified, Evidence, Ground, ProveRequest, Subject, Verdict, certify, prove, replay};
use raddle_testkit::fixtures::{Completeness, compare, files, parse};
use raddle_testkit::soak;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Headers of these programs that fixtures do not have.
const OWN_HEADERS: [&str; 3] = ["//@ threads:", "//@ truth:", "//@ thread-modular:"];

#[test]
fn races_are_found_and_replayed() {
    // Replays of programs without end take long: the slice has one that ends soon.
    let all = soak::is_on() || std::env::var_os("RADDLE_FIXTURE").is_some();
    let programs = programs(1, |name| name.ends_with(if all { "_race.c" } else { "paper/simple_race.c" }));
    assert_silent(&programs, |path| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (mut complaints, outcome) = proved(path, Duration::from_secs(60), folder.path());
        if outcome.verdict != Verdict::Race {
            complaints.push(format!("{:?}: {:?}", outcome.verdict, outcome.unknown_reasons));
        }
        for finding in &outcome.findings {
            assert_eq!(finding.engine, "prove");
            match &finding.evidence {
                Evidence::Replayed { file: Some(file), .. } => {
                    complaints.extend(shown_again(Path::new(file)))
                }
                other => complaints.push(format!("no witness file: {other:?}")),
            }
        }
        complaints
    });
}

/// Mostly by running them, so shortly that few are proved.
#[test]
fn no_race_is_found_where_none_is() {
    let programs = programs(12, |name| !name.ends_with("_race.c"));
    let time = Duration::from_secs(soak::count(1, 10));
    assert_silent(&programs, |path| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        proved(path, time, folder.path()).0
    });
}

/// One of so many, or all.
fn programs(one_of: usize, is_meant: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/prove");
    let only = std::env::var("RADDLE_FIXTURE").ok();
    let one_of = if soak::is_on() || only.is_some() { 1 } else { one_of };
    let found = files(&root).expect("tests/prove is readable").into_iter();
    let meant = found.filter(|path| {
        let name = path.to_string_lossy();
        is_meant(&name) && only.as_ref().is_none_or(|only| name.contains(only))
    });
    meant.step_by(one_of).collect()
}

/// What does not agree with the annotations; that a race is not found does.
fn proved(path: &Path, time: Duration, folder: &Path) -> (Vec<String>, raddle_driver::Outcome) {
    let text = std::fs::read_to_string(path).expect("a program is readable");
    let own = |line: &str| OWN_HEADERS.iter().any(|header| line.starts_with(header));
    let lines: Vec<&str> = text.lines().map(|line| if own(line) { "" } else { line }).collect();
    let fixture = parse(&lines.join("\n")).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let subject = Subject { inputs: vec![path.to_path_buf()], ..Subject::default() };
    let request =
        ProveRequest { time: Some(time), witness_dir: Some(folder.to_path_buf()), ..ProveRequest::default() };
    let answer = prove(&subject, &request, &AtomicBool::new(false));
    let outcome = answer.unwrap_or_else(|error| panic!("{}: {error}", path.display())).outcome;
    let mut complaints = compare(&fixture, &outcome, Completeness::UnderApproximates);
    let bugs = outcome.unknown_reasons.iter().filter(|reason| reason.text.contains("a bug in Raddle"));
    complaints.extend(bugs.map(|reason| reason.text.clone()));
    (complaints, outcome)
}

fn shown_again(witness: &Path) -> Option<String> {
    match replay(witness, &[], &Ground::Interpreter, &AtomicBool::new(false)) {
        Ok(answer) if answer.outcome.verdict == Verdict::Race => {}
        other => return Some(format!("does not replay: {other:?}")),
    }
    match certify(witness, &[]) {
        Ok(Certified::Witness(answer)) if answer.outcome.verdict == Verdict::Race => None,
        other => Some(format!("is not certified: {other:?}")),
    }
}

/// On two threads.
fn assert_silent(programs: &[PathBuf], examine: impl Fn(&Path) -> Vec<String> + Sync) {
    assert!(!programs.is_empty());
    let next = AtomicUsize::new(0);
    let complaints = Mutex::new(Vec::new());
    let work = || {
        while let Some(path) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let lines = examine(path).into_iter().map(|line| format!("{}: {line}", path.display()));
            complaints.lock().expect("no program panics").extend(lines);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let mut complaints = complaints.into_inner().expect("no program panics");
    complaints.sort();
    assert!(complaints.is_empty(), "{} programs:\n{}", programs.len(), complaints.join("\n"));
}
