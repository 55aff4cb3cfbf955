//! The lowering is checked, not believed: output and exit status under the interpreter equal those of clang's own binary, on the
//! programs of `tests/native` and on programs that csmith generates, in both data models where the machine can run them.

mod native;

use native::{Verdict, compare, compare_all, csmith_program, runs_32_bit};
use raddle_ir::DataModel;
use std::path::{Path, PathBuf};

#[test]
fn written_programs_agree() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/native");
    let mut programs: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("tests/native exists")
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .collect();
    programs.sort();
    assert!(programs.len() >= 12, "only {} programs in {}", programs.len(), folder.display());
    let mut jobs = Vec::new();
    for path in &programs {
        jobs.push((path.clone(), DataModel::Lp64));
        let text = std::fs::read_to_string(path).expect("a readable program");
        if runs_32_bit() && !text.contains("//@ only: LP64") {
            jobs.push((path.clone(), DataModel::Ilp32));
        }
    }
    let complaints = compare_all(&jobs, |(path, model)| compare(path, *model, &["-std=gnu17"]));
    let wrong: Vec<&String> = complaints.iter().filter_map(Verdict::complaint).collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), jobs.len(), join(&wrong));
    let unknown: Vec<&String> = complaints.iter().filter_map(Verdict::not_understood).collect();
    assert!(unknown.is_empty(), "not understood: {unknown:?}");
}

#[test]
fn generated_programs_agree() {
    let soak = std::env::var_os("RADDLE_SOAK").is_some();
    let wanted = if soak { 520 } else { 16 };
    let models: &[DataModel] =
        if runs_32_bit() { &[DataModel::Lp64, DataModel::Ilp32] } else { &[DataModel::Lp64] };
    let folder = tempfile::tempdir().expect("a temporary folder");
    for &model in models {
        let seeds: Vec<u64> = (1..=wanted * 5 / 4).collect();
        let verdicts = compare_all(&seeds, |seed| {
            let path = csmith_program(folder.path(), *seed, model);
            compare(&path, model, &["-I/usr/include/csmith", "-w"])
        });
        let wrong: Vec<&String> = verdicts.iter().filter_map(Verdict::complaint).collect();
        let agreed = verdicts.iter().filter(|v| matches!(v, Verdict::Agrees)).count() as u64;
        let unknown: Vec<&String> = verdicts.iter().filter_map(Verdict::not_understood).collect();
        println!(
            "csmith, {}: {agreed} programs agree, {} differ, {} not understood {:?}",
            model.name(),
            wrong.len(),
            unknown.len(),
            unknown.first()
        );
        // clang joins neighbouring bit-fields to units of more than 128 bits, which the IR does not have.
        assert!(unknown.len() * 20 <= verdicts.len(), "{unknown:?}");
        assert!(wrong.is_empty(), "{}", join(&wrong));
        assert!(agreed >= wanted, "only {agreed} of {} programs ended in time", seeds.len());
    }
}

fn join(lines: &[&String]) -> String {
    lines.iter().map(|l| l.as_str()).collect::<Vec<_>>().join("\n")
}
