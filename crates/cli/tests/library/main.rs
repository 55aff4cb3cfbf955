//! The library models against two descriptions of the C library that know nothing of Raddle, and results against native runs.
//!
//! ThreadSanitizer knows by its interceptors what library functions touch; DRD runs the library's own code and knows what system calls
//! touch. Where either sees a race on the memory behind an argument, `raddle static` must warn. What neither sees is in `manual.txt`
//! with its source.

mod cases;
mod coverage;
mod detectors;
mod results;

use cases::{Case, all, program};
use detectors::{Tool, seen_by};
use raddle_testkit::soak;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// One case of so many runs in `make test`.
const SLICE: usize = 8;

#[test]
fn the_static_analysis_warns_of_what_detectors_see() {
    let all = all();
    let chosen: Vec<&Case> =
        all.iter().filter(|case| soak::is_on() || case.number % SLICE == SLICE / 2).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let by_sanitizer = seen_by(Tool::ThreadSanitizer, &chosen, folder.path());
    let for_drd: Vec<&Case> = chosen.iter().copied().filter(|case| case.runs_under_drd()).collect();
    let by_drd = seen_by(Tool::Drd, &for_drd, folder.path());
    let warned = warned(&chosen, folder.path());
    let manual = coverage::manual();
    let (mut missed, mut unsupported, mut by_manual) = (Vec::new(), Vec::new(), 0);
    for case in &chosen {
        let name = format!("{} {}", case.function, case.argument);
        let is_seen = by_sanitizer.contains(&case.number) || by_drd.contains(&case.number);
        if !warned.contains(&case.number) {
            missed.push(name.clone());
        }
        if !is_seen {
            by_manual += 1;
            if !manual.contains_key(&(case.function, case.argument)) {
                unsupported.push(name);
            }
        }
    }
    println!(
        "library: {} arguments, a race is seen by ThreadSanitizer on {}, by DRD on {}, by neither on {by_manual}",
        chosen.len(),
        by_sanitizer.len(),
        by_drd.len()
    );
    assert!(missed.is_empty(), "no warning: {}", missed.join(", "));
    assert!(unsupported.is_empty(), "seen by no detector and not in manual.txt: {}", unsupported.join(", "));
    assert!(by_sanitizer.len() + by_drd.len() > chosen.len(), "the detectors see too little");
    let done = chosen.len() as u64;
    soak::report(
        "pointer arguments of library calls: static warnings cover ThreadSanitizer and DRD",
        done,
        done,
        0,
    );
}

/// The cases of which the static analysis warns: at the write, or by a gap at the call.
fn warned(cases: &[&Case], folder: &Path) -> BTreeSet<usize> {
    let text = program(cases);
    std::fs::write(folder.join("cases.c"), &text).expect("writable");
    let output = Command::new(env!("CARGO_BIN_EXE_raddle"))
        .args(["static", "--format", "json", "--cflags", "-w", "cases.c"])
        .current_dir(folder)
        .output()
        .expect("raddle runs");
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let mut found = BTreeSet::new();
    for finding in report["findings"].as_array().expect("findings") {
        for access in finding["accesses"].as_array().expect("accesses") {
            let function = access["function"].as_str().unwrap_or_default();
            found.extend(function.strip_prefix("write_").and_then(|number| number.parse::<usize>().ok()));
        }
    }
    let lines: Vec<&str> = text.lines().collect();
    for reason in report["unknown_reasons"].as_array().expect("reasons") {
        let line = reason.as_str().and_then(|text| text.strip_prefix("cases.c:")?.split(':').next());
        let line = line.and_then(|line| lines.get(line.parse::<usize>().ok()? - 1));
        let call = line.and_then(|line| line.strip_prefix("static void *call_")?.split('(').next());
        found.extend(call.and_then(|number| number.parse::<usize>().ok()));
    }
    found
}
