//! Programs under ThreadSanitizer and DRD: on the memory of which cases they see a race.

use crate::cases::{Case, program};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    ThreadSanitizer,
    Drd,
}

pub fn seen_by(tool: Tool, cases: &[&Case], folder: &Path) -> BTreeSet<usize> {
    let name = format!("{tool:?}");
    let source = folder.join(format!("{name}.c"));
    std::fs::write(&source, program(cases)).expect("writable");
    let built = folder.join(&name);
    let mut clang = Command::new("clang-19");
    // Valgrind reads DWARF 4. A call whose result nobody uses stays only without optimisation.
    clang.args(["-O0", "-gdwarf-4", "-fno-builtin", "-w", "-pthread"]).arg(&source).arg("-o").arg(&built);
    if tool == Tool::ThreadSanitizer {
        clang.arg("-fsanitize=thread");
    }
    let output = clang.arg("-lm").output().expect("clang-19 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut run = Command::new("timeout");
    run.arg("300");
    match tool {
        Tool::ThreadSanitizer => {
            let options =
                "exitcode=0 report_thread_leaks=0 suppress_equal_stacks=0 suppress_equal_addresses=0";
            run.arg(&built).env("TSAN_OPTIONS", options);
        }
        Tool::Drd => {
            run.args(["valgrind", "--tool=drd"]).arg(&built);
        }
    }
    let output = run.current_dir(folder).stdin(std::process::Stdio::null()).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr);
    let last = cases.last().map(|case| format!("case {} ", case.number)).unwrap_or_default();
    assert!(text.contains(&last), "{name} stopped early ({}):\n{}", output.status, tail(&text));
    races(&text)
}

fn tail(text: &str) -> &str {
    let from = text.len().saturating_sub(4000);
    &text[(from..).find(|at| text.is_char_boundary(*at)).unwrap_or(0)..]
}

/// Cases during which an access to their memory was reported. A case says where its memory is when it begins.
fn races(text: &str) -> BTreeSet<usize> {
    let mut present: Option<(usize, u64, u64)> = None;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        if let Some(case) = line.strip_prefix("case ") {
            present = case_of(case);
        }
        let (Some((number, start, bytes)), Some(address)) = (present, reported(line)) else { continue };
        if (start..start + bytes).contains(&address) {
            found.insert(number);
        }
    }
    found
}

/// `7 0x1234 8`
fn case_of(text: &str) -> Option<(usize, u64, u64)> {
    let mut words = text.split(' ');
    Some((words.next()?.parse().ok()?, hexadecimal(words.next()?)?, words.next()?.parse().ok()?))
}

/// The address of an access in a report: `Write of size 1 at 0x1234 by thread T2`, `Conflicting store by thread 3 at 0x1234 size 1`.
fn reported(line: &str) -> Option<u64> {
    let lower = line.to_ascii_lowercase();
    let is_access = lower.contains("write of size") || lower.contains("read of size");
    if !is_access && !lower.contains("conflicting load") && !lower.contains("conflicting store") {
        return None;
    }
    hexadecimal(lower.split(" at ").nth(1)?.split(' ').next()?)
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

#[test]
fn reports_are_read() {
    let text = "case 3 0x1000 8\n==7== Conflicting store by thread 3 at 0x00001004 size 1\n\
                case 4 0x2000 4\n  Write of size 1 at 0x000000002004 by thread T2:\n\
                case 5 0x3000 4\n  Previous read of size 4 at 0x000000003000 by thread T1:\n";
    assert_eq!(races(text), BTreeSet::from([3, 5]));
}
