//! Every fixture, whole: the verdict, each racing pair and each other finding against the truth in the file, both directions. What is
//! called a race must replay from its witness file.

use raddle_driver::{Control, DataModel, Goal, Search, Spurious, Subject, Verdict, check, replay};
use raddle_testkit::fixtures::{Completeness, DataModels, Fixture, compare, files, parse};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

#[test]
fn fixtures_say_what_is_found() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let only = std::env::var("RADDLE_FIXTURE").unwrap_or_default();
    let files: Vec<PathBuf> = files(&root)
        .expect("tests/fixtures is readable")
        .into_iter()
        .filter(|path| path.to_string_lossy().contains(&only))
        .collect();
    assert!(!only.is_empty() || files.len() >= 80, "only {} fixtures", files.len());
    let next = AtomicUsize::new(0);
    let complaints = Mutex::new(Vec::new());
    let work = || {
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let found = examine(path);
            let name = path.strip_prefix(&root).unwrap_or(path).display().to_string();
            let mut complaints = complaints.lock().expect("no fixture panics");
            complaints.extend(found.into_iter().map(|line| format!("{name}: {line}")));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let mut complaints = complaints.into_inner().expect("no fixture panics");
    complaints.sort();
    assert!(
        complaints.is_empty(),
        "{} complaints over {} fixtures (RADDLE_FIXTURE=part-of-a-path runs some):\n{}",
        complaints.len(),
        files.len(),
        complaints.join("\n")
    );
}

fn examine(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a fixture is readable");
    let fixture = match parse(&text) {
        Ok(fixture) => fixture,
        Err(error) => return vec![error.to_string()],
    };
    let models: &[DataModel] = match fixture.data_models {
        DataModels::Lp64 => &[DataModel::Lp64],
        DataModels::Ilp32 => &[DataModel::Ilp32],
        DataModels::Both => &[DataModel::Lp64, DataModel::Ilp32],
    };
    models.iter().flat_map(|model| examine_in(path, &fixture, *model)).collect()
}

fn examine_in(path: &Path, fixture: &Fixture, data_model: DataModel) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let stdin = folder.path().join("stdin");
    std::fs::write(&stdin, format!("{}\n", fixture.stdin)).expect("writable");
    let subject = Subject {
        inputs: vec![path.to_path_buf()],
        cflags: fixture.cflags.clone(),
        data_model: Some(data_model),
        config: fixture.config.as_ref().map(|name| path.with_file_name(name)),
        args: fixture.args.clone(),
        stdin: (!fixture.stdin.is_empty()).then_some(stdin),
        spurious: if fixture.no_spurious { Spurious::Off } else { Spurious::On },
        ..Subject::default()
    };
    let search = Search {
        goal: Goal::AllRaces,
        time: Some(Duration::from_secs(60)),
        witness_dir: Some(folder.path().join("witness")),
        ..Search::default()
    };
    let interrupt = AtomicBool::new(false);
    let control = Control { interrupt: &interrupt, progress: None };
    let answer = match check(&subject, &search, control) {
        Ok(answer) => answer,
        Err(error) => return vec![format!("({}) {error}", data_model.name())],
    };
    let mut complaints = compare(fixture, &answer.outcome, Completeness::Exact);
    complaints.extend(replays(&folder.path().join("witness"), &answer.outcome));
    complaints.into_iter().map(|line| format!("({}) {line}", data_model.name())).collect()
}

/// Each finding's witness shows that finding again.
fn replays(folder: &Path, outcome: &raddle_driver::Outcome) -> Vec<String> {
    let witnesses = std::fs::read_dir(folder).map(|entries| entries.count()).unwrap_or(0);
    let mut complaints = Vec::new();
    if witnesses != outcome.findings.len() {
        complaints.push(format!("{} findings, {witnesses} witness files", outcome.findings.len()));
    }
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match replay(&entry.path(), &[]) {
            Ok(answer) if !answer.outcome.findings.is_empty() => {}
            Ok(answer) => complaints.push(format!("does not replay: {:?}", answer.outcome.unknown_reasons)),
            Err(error) => complaints.push(format!("does not replay: {error}")),
        }
    }
    if outcome.verdict == Verdict::Race && witnesses == 0 {
        complaints.push("a race without a witness".to_owned());
    }
    complaints
}
