//! Native exploration beside the interpreter: executions a second on programs of some thirty visible operations
//! (`bench/programs/explored`), a part of `docs/benchmarks/native.md`.

use serde_json::Value;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

pub(super) const PROGRAMS: [&str; 3] = ["locks", "queue", "atomics"];

/// Enough to be measured; the best of so many.
const EXECUTIONS: &str = "60000";
const RUNS: usize = 3;
/// What is asked for.
const GOAL: f64 = 20_000.0;

/// A table with a row for each program and way to run it.
pub(super) fn page(raddle: &Path, root: &Path) -> String {
    let mut page = HEAD.to_owned();
    let mut rates = Vec::new();
    for name in PROGRAMS {
        let source = root.join("bench/programs/explored").join(name).with_extension("c");
        for (machine, flags) in [("interpreter", &[][..]), ("native", &["--native"])] {
            eprintln!("bench: explored: {name} {machine}");
            let best =
                (0..RUNS).filter_map(|_| run(raddle, &source, flags)).max_by(|a, b| a.1.total_cmp(&b.1));
            match best {
                Some((executions, rate)) => {
                    let _ = writeln!(page, "| {name} | {machine} | {executions} | {rate:.0} |");
                    rates.extend((machine == "native").then_some(rate));
                }
                None => {
                    let _ = writeln!(page, "| {name} | {machine} | could not be measured | |");
                }
            }
        }
    }
    let _ = match rates.into_iter().min_by(f64::total_cmp) {
        Some(least) => {
            writeln!(page, "\nThe least of the native ones is {least:.0} a second; the goal is {GOAL:.0}.\n")
        }
        None => writeln!(page, "\nNo native exploration could be measured.\n"),
    };
    page
}

/// Executions, and how many a second.
fn run(raddle: &Path, source: &Path, flags: &[&str]) -> Option<(u64, f64)> {
    let folder = std::env::temp_dir();
    let limits = ["--format", "json", "--time-limit", "30", "--max-executions", EXECUTIONS];
    let output =
        Command::new(raddle).arg("explore").args(flags).args(limits).arg(source).current_dir(folder).output();
    let report: Value = serde_json::from_slice(&output.ok()?.stdout).ok()?;
    let executions = report["stats"]["executions"].as_u64()?;
    Some((executions, executions as f64 / report["stats"]["search_seconds"].as_f64()?.max(0.001)))
}

const HEAD: &str = "## Exploration

`raddle explore --search optimal` on programs of some thirty visible operations in each run, the program itself and the interpreter; executions a
second of the search alone, the best of three, with at most 60000 executions.

| program | machine | executions | a second |
|---|---|---:|---:|
";
