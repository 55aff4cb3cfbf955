//! Programs under `raddle run` and `raddle record`: the cases of `scenarios.txt` and `recordings.txt`. `RADDLE_CASE=part-of-a-title`
//! runs some.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn scenarios() {
    run(include_str!("scenarios.txt"), 55);
}

#[test]
fn recordings() {
    run(include_str!("recordings.txt"), 24);
}

fn run(text: &str, least: usize) {
    let wanted = std::env::var("RADDLE_CASE").unwrap_or_default();
    let cases: Vec<Case> = cases(text);
    assert!(cases.len() >= least, "only {} cases found", cases.len());
    let cases: Vec<&Case> = cases.iter().filter(|case| case.title.contains(&wanted)).collect();
    let (next, complaints) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let found = case.complaints();
            complaints.lock().expect("no case panics").extend(found);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let complaints = complaints.into_inner().expect("no case panics");
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

struct Case {
    title: String,
    steps: Vec<Step>,
}

struct Step {
    command: String,
    code: i32,
    has: Vec<String>,
    lacks: Vec<String>,
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(title) = line.strip_prefix("== ") {
            cases.push(Case { title: title.to_owned(), steps: Vec::new() });
            continue;
        }
        let steps = &mut cases.last_mut().expect("a title comes first").steps;
        let Some(expected) = line.strip_prefix("= ") else {
            steps.push(Step { command: line.to_owned(), code: 0, has: Vec::new(), lacks: Vec::new() });
            continue;
        };
        let step = steps.last_mut().expect("a command comes before what is expected of it");
        match expected.split_once(' ').expect("a word and its value") {
            ("exit", code) => step.code = code.parse().expect("an exit code"),
            ("has", text) => step.has.push(text.to_owned()),
            ("lacks", text) => step.lacks.push(text.to_owned()),
            (other, _) => panic!("`{other}` says nothing"),
        }
    }
    cases
}

impl Case {
    fn complaints(&self) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native/programs");
        for entry in std::fs::read_dir(programs).expect("the programs of the cases").flatten() {
            std::fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("a copy");
        }
        let raddle = PathBuf::from(env!("CARGO_BIN_EXE_raddle"));
        let mut path = raddle.parent().expect("a folder").as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut complaints = Vec::new();
        for step in &self.steps {
            let mut shell = Command::new("sh");
            shell.args(["-c", &step.command]).current_dir(folder.path());
            shell.env("PATH", &path).env("CC", "raddle cc").env("CXX", "raddle c++").env("LC_ALL", "C");
            shell.env("EXAMPLES", Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"));
            let output = shell.output().expect("sh starts");
            let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            let mut wrong = Vec::new();
            if output.status.code() != Some(step.code) {
                wrong.push(format!("{}, not exit code {}", output.status, step.code));
            }
            // Reports are folded at the width of a line.
            let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let says = |words: &str| text.contains(words) || flat.contains(words);
            wrong
                .extend(step.has.iter().filter(|words| !says(words)).map(|words| format!("lacks `{words}`")));
            wrong.extend(step.lacks.iter().filter(|words| says(words)).map(|words| format!("has `{words}`")));
            if !wrong.is_empty() {
                complaints.push(format!(
                    "{}: {}\n  {}\n{text}",
                    self.title,
                    step.command,
                    wrong.join("\n  ")
                ));
            }
        }
        complaints
    }
}
