//! How exactly `--time-limit` and `--memory-limit` hold, phase by phase: `docs/benchmarks/limits.md`.
//!
//! The programs are those of the tests of the command, each made so that one phase does not end. A program names its own rows: each line
//! `//@ limits: COMMAND FLAGS` is one.

use super::measure::Tool;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Measures and writes the page.
pub(super) fn run(root: &Path) -> Result<(), String> {
    let tool = Tool::find(root)?;
    let scratch = tool.scratch()?;
    let mut page = format!("{HEAD}\nMachine: {}.\n\n{COLUMNS}", super::machine());
    for file in programs(root)? {
        let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for row in text.lines().filter_map(|line| line.strip_prefix("//@ limits:")) {
            eprintln!("bench: limits: {name}{row}");
            let measured = measure(&tool, row, &file, &scratch)?;
            let _ = writeln!(page, "| {name} | `{}` | {measured} |", row.trim());
        }
    }
    let file = root.join("docs/benchmarks/limits.md");
    std::fs::write(&file, page).map_err(|error| format!("{}: {error}", file.display()))?;
    eprintln!("bench: wrote docs/benchmarks/limits.md");
    Ok(())
}

const HEAD: &str = "# Limits of time and memory

Written by `cargo run --release -p raddle-xtask -- bench limits`. Each program of `crates/cli/tests/programs/limits` keeps one phase busy for ever or fills memory: clang
(macros), the static analysis (loops), the interpreter between two visible operations (blocks, memory), the search (states), the
confirmation of races (sections), the detector (events). Goal: a limit of time holds to within a second, one of memory to within a tenth. *Seconds* are of the whole command;
*memory* is that of its largest process, and a limit counts what clang uses, too. Times are of one run and noisy.
";

const COLUMNS: &str =
    "| program | command | seconds | over the limit | MiB | of the limit | answer | exit code |
|---|---|---:|---:|---:|---:|---|---:|
";

fn measure(tool: &Tool, row: &str, file: &Path, scratch: &str) -> Result<String, String> {
    let words: Vec<&str> = row.split_whitespace().collect();
    let value = |flag: &str| {
        let at = words.iter().position(|word| *word == flag)?;
        words.get(at + 1)?.trim_end_matches('M').parse::<f64>().ok()
    };
    let usage = Path::new(scratch).join("limits.time");
    let output = Command::new("/usr/bin/time")
        .args(["-q", "-f", "%e %M", "-o"])
        .arg(&usage)
        .arg(tool.binary())
        .args(&words)
        .arg(file)
        .current_dir(scratch)
        .output()
        .map_err(|error| format!("/usr/bin/time: {error}"))?;
    let usage = std::fs::read_to_string(&usage).map_err(|error| error.to_string())?;
    let numbers: Vec<f64> = usage.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [seconds, kib] = numbers[..] else { return Err(format!("GNU time said: {usage}")) };
    let mib = kib / 1024.0;
    let over = value("--time-limit").map_or(String::new(), |limit| format!("{:+.1}", seconds - limit));
    let part = value("--memory-limit").map_or(String::new(), |limit| format!("{:.0} %", 100.0 * mib / limit));
    let said = String::from_utf8_lossy(&output.stdout);
    let verdict = said.lines().find_map(|line| line.strip_prefix("verdict: ")).unwrap_or_default();
    let verdict = verdict.split([',', ';']).next().unwrap_or_default();
    let code = output.status.code().map_or_else(|| "killed".to_owned(), |code| code.to_string());
    Ok(format!("{seconds:.1} | {over} | {mib:.0} | {part} | {verdict} | {code}"))
}

fn programs(root: &Path) -> Result<Vec<PathBuf>, String> {
    let folder = root.join("crates/cli/tests/programs/limits");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    Ok(files)
}
