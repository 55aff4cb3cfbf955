//! The fixtures of all engines as native programs: what is called free of races is never reported, and of a race only what the file
//! names. A run shows the races of one schedule; those that every schedule shows must be found (all but `by_schedule.txt`). Each
//! program runs with all checks and with those that the static analysis leaves.
//!
//! A slice in `cargo test`; `RADDLE_SOAK=1` takes all, `RADDLE_FIXTURE=part-of-a-path` some.

use raddle_testkit::fixtures::{DataModels, Fixture, MarkKind, Truth, files, parse};
use raddle_testkit::soak;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

#[test]
fn fixtures_run_natively_with_equal_truth() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let chosen: Vec<PathBuf> =
        files(&root).expect("tests/fixtures").into_iter().filter(|path| is_chosen(path)).collect();
    let (cases, complaints) =
        (Mutex::new(soak::cases("fixtures natively", chosen.iter())), Mutex::new(Vec::new()));
    let next = || cases.lock().expect("no fixture panics").next();
    let work = || {
        while let Some(path) = next() {
            let name = path.strip_prefix(&root).unwrap_or(path).display().to_string();
            let found = examine(path, &name);
            let found = found.into_iter().map(|line| format!("{name}: {line}"));
            complaints.lock().expect("no fixture panics").extend(found);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let mut complaints = complaints.into_inner().expect("no fixture panics");
    complaints.sort();
    assert!(chosen.len() >= 60 || std::env::var_os("RADDLE_FIXTURE").is_some(), "only {}", chosen.len());
    assert!(
        complaints.is_empty(),
        "{} over {} fixtures:\n{}",
        complaints.len(),
        chosen.len(),
        complaints.join("\n")
    );
}

/// Every seventh, or all with RADDLE_SOAK=1, or where some were asked for.
pub(super) fn is_chosen(path: &Path) -> bool {
    if let Ok(part) = std::env::var("RADDLE_FIXTURE") {
        return path.to_string_lossy().contains(&part);
    }
    let sum: u64 =
        path.as_os_str().as_encoded_bytes().iter().rev().take(20).map(|byte| u64::from(*byte)).sum();
    soak::is_on() || sum.is_multiple_of(7)
}

/// Fixtures that some schedules do not show a race of, or that do not run as they stand; each line has its reason.
const EXCEPTIONS: &str = include_str!("by_schedule.txt");

/// The reason that a list gives for a fixture.
pub(super) fn exception(list: &'static str, name: &str) -> Option<&'static str> {
    let mut lines = list.lines().filter(|line| !line.starts_with('#'));
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

fn examine(path: &Path, name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a fixture is readable");
    let fixture = parse(&text).expect("a right fixture");
    let exception = exception(EXCEPTIONS, name);
    if fixture.data_models == DataModels::Ilp32 || exception.is_some_and(|why| why.starts_with("not run")) {
        return Vec::new();
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut compile = Command::new(env!("CARGO_BIN_EXE_raddle"));
    compile
        .args(["cc", "-O2", "-w", "-pthread", "-fcommon", "-c", "-o", "object.o"])
        .args(&fixture.cflags)
        .arg(path);
    let mut complaints = Vec::new();
    if let Err(message) = done(compile.current_dir(folder.path())) {
        return vec![format!("does not compile: {message}")];
    }
    for (prune, program) in [("none", "all"), ("all", "pruned")] {
        let mut link = Command::new(env!("CARGO_BIN_EXE_raddle"));
        link.args(["cc", "object.o", "-pthread", "-lm", "-o", program]).env("RADDLE_PRUNE", prune);
        match done(link.current_dir(folder.path())) {
            Ok(()) => {}
            // Functions that only models know.
            Err(message) if message.contains("undefined reference to") => return Vec::new(),
            Err(message) => return vec![format!("does not link: {message}")],
        }
        let found = run(path, &fixture, folder.path(), program, exception);
        complaints.extend(found.into_iter().map(|line| format!("({program}) {line}")));
    }
    complaints
}

fn done(command: &mut Command) -> Result<(), String> {
    let output = command.output().expect("raddle starts");
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

fn run(path: &Path, fixture: &Fixture, folder: &Path, program: &str, exception: Option<&str>) -> Vec<String> {
    let expected = expected(fixture);
    let mut seen: BTreeSet<(u64, u64)> = BTreeSet::new();
    let mut complaints = Vec::new();
    // Once more where a schedule may have hidden it.
    let attempts = match (fixture.truth, exception) {
        (Truth::Race, None) => 20,
        (Truth::Race, Some(_)) => 3,
        _ => 1,
    };
    for _ in 0..attempts {
        match report(path, fixture, folder, program) {
            Err(message) => return vec![message],
            Ok(findings) => {
                for (pair, names) in findings {
                    match expected.get(&pair) {
                        _ if fixture.truth == Truth::Safe => {
                            complaints.push(format!("race at {pair:?} in a safe program: {names:?}"))
                        }
                        None => {
                            complaints.push(format!("not annotated: race at lines {pair:?} on {names:?}"))
                        }
                        Some(variables)
                            if !names.iter().any(|name| variables.iter().any(|v| same(v, name))) =>
                        {
                            complaints.push(format!(
                                "lines {pair:?}: reported as {names:?}, annotated as {variables:?}"
                            ));
                        }
                        Some(_) => {}
                    }
                    seen.insert(pair);
                }
            }
        }
        if !seen.is_empty() || !complaints.is_empty() {
            break;
        }
    }
    if fixture.truth == Truth::Race && seen.is_empty() && exception.is_none() {
        complaints.push("no race was seen".to_owned());
    }
    complaints.sort();
    complaints.dedup();
    complaints
}

type Found = Vec<((u64, u64), Vec<String>)>;

fn report(path: &Path, fixture: &Fixture, folder: &Path, program: &str) -> Result<Found, String> {
    let json = folder.join("report.json");
    let _ = std::fs::remove_file(&json);
    let stdin = folder.join("stdin");
    std::fs::write(&stdin, format!("{}\n", fixture.stdin)).expect("writable");
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    command.args(["run", "--time-limit", "4", "--format", "json", "-o"]).arg(&json);
    if let Some(config) = &fixture.config {
        command.arg("--config").arg(path.with_file_name(config));
    }
    command.arg(format!("./{program}")).args(&fixture.args).current_dir(folder);
    command.stdin(std::fs::File::open(&stdin).expect("just written"));
    let output = command.output().expect("raddle starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    let text = std::fs::read_to_string(&json).map_err(|_| format!("no report: {errors}"))?;
    let report: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let code = output.status.code();
    if errors.contains("warning:") {
        return Err(errors.into_owned());
    }
    let findings = report["findings"].as_array().expect("a list");
    if !findings.is_empty() && code != Some(1) {
        return Err(format!("exit code {code:?} with {} findings", findings.len()));
    }
    Ok(findings.iter().map(pair).collect())
}

fn pair(finding: &Value) -> ((u64, u64), Vec<String>) {
    let accesses = finding["accesses"].as_array().expect("two accesses");
    let line = |access: &Value| access["line"].as_u64().unwrap_or(0);
    let (a, b) = (line(&accesses[0]), line(&accesses[1]));
    let names = accesses.iter().map(|access| &access["expression"]).chain([&finding["variable"]]);
    let names = names.filter_map(|name| name.as_str().map(str::to_owned)).collect();
    ((a.min(b), a.max(b)), names)
}

/// Annotated pairs of lines with the names that a report may use.
fn expected(fixture: &Fixture) -> BTreeMap<(u64, u64), Vec<String>> {
    let mut ends: BTreeMap<u32, Vec<(u64, String)>> = BTreeMap::new();
    for mark in &fixture.marks {
        if let MarkKind::Race { number, variable } = &mark.kind {
            ends.entry(*number).or_default().push((u64::from(mark.line), variable.clone()));
        }
    }
    let mut pairs: BTreeMap<(u64, u64), Vec<String>> = BTreeMap::new();
    for ends in ends.into_values() {
        let first = ends.iter().map(|end| end.0).min().expect("an end");
        let last = ends.iter().map(|end| end.0).max().expect("an end");
        pairs.entry((first, last)).or_default().extend(ends.into_iter().map(|end| end.1));
    }
    pairs
}

fn same(a: &str, b: &str) -> bool {
    let squeeze =
        |text: &str| text.chars().filter(|c| !c.is_whitespace() && !"()".contains(*c)).collect::<String>();
    squeeze(a) == squeeze(b)
}
