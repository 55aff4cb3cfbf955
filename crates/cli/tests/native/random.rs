//! Random programs: what a native run reports, the complete search of the interpreter has found too.
//!
//! The search knows every race of the program; a run shows those of one schedule. So the pairs of lines that are reported natively are among those of
//! the search, and nothing is reported of a program that is safe.

use raddle_testkit::programs::{Profile, Sample, branchy, generate, knotted};
use raddle_testkit::soak::{cases_of_seeds, seeds};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

/// What the interpreter chooses and natively is chance.
pub(super) const CHOICES: &str = "
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t section = PTHREAD_MUTEX_INITIALIZER;
_Bool __VERIFIER_nondet_bool(void) { return arc4random() & 1; }
int __VERIFIER_nondet_int(void) { return arc4random() & 3; }
void __VERIFIER_assume(int held) { if (!held) _Exit(0); }
void __VERIFIER_assert(int held) { if (!held) abort(); }
void __VERIFIER_atomic_begin(void) { pthread_mutex_lock(&section); }
void __VERIFIER_atomic_end(void) { pthread_mutex_unlock(&section); }
";

type Pairs = BTreeSet<(u64, u64)>;

#[test]
fn reports_are_among_those_of_the_search() {
    let all: [(&str, &dyn Fn(u64) -> Sample); 3] = [
        ("idioms", &|seed| generate(seed, &Profile::default())),
        ("branchy", &branchy),
        ("knotted", &knotted),
    ];
    let (mut safe, mut racy, mut seen) = (0, 0, 0);
    for seed in cases_of_seeds("native reports are among those of the search", seeds(6, 1_000)) {
        for (name, make) in all {
            let Some((searched, found)) = compare(&make(seed)) else { continue };
            let (safe_here, racy_here) = (searched.is_empty(), !searched.is_empty());
            safe += u64::from(safe_here);
            racy += u64::from(racy_here);
            seen += u64::from(!found.is_empty());
            let text = make(seed).source.text();
            assert!(
                found.is_subset(&searched),
                "{name} {seed}: natively {found:?}, searched {searched:?}\n{text}"
            );
        }
    }
    println!("{safe} safe programs, {racy} racy ones, races seen in {seen} of these");
    assert!(safe > 3 && seen > 0, "{safe} safe, races seen in {seen}");
}

/// Pairs by the search, and in native runs. `None`: the search does not decide, or the program has other errors.
fn compare(sample: &Sample) -> Option<(Pairs, Pairs)> {
    // A function that is atomic by its name is an ordinary one for `raddle cc`.
    if sample.source.text().contains("__VERIFIER_atomic_step") {
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::fs::write(folder.join("program.c"), sample.source.text()).expect("it can be written");
    std::fs::write(folder.join("choices.c"), CHOICES).expect("it can be written");
    let explore =
        ["explore", "program.c", "--format", "json", "--time-limit", "5", "--max-executions", "3000"];
    let searched: Value = serde_json::from_slice(&raddle(folder, &explore).stdout).expect("it is JSON");
    let findings = searched["findings"].as_array().expect("there is a list");
    if searched["unknown_reasons"] != Value::Array(Vec::new())
        || findings.iter().any(|finding| finding["kind"] != "data-race")
    {
        return None;
    }
    let mut seen = Pairs::new();
    for flags in [&["-O0"][..], &["-O2"], &["-O2", "--raddle-no-prune"]] {
        let build =
            [&["cc", "-g", "-w", "-pthread", "program.c", "choices.c", "-o", "program"][..], flags].concat();
        let built = raddle(folder, &build);
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let to = folder.join("report.json");
        raddle(folder, &["run", "--format", "json", "-o", "report.json", "--time-limit", "20", "./program"]);
        let report = std::fs::read(&to).expect("there is a report, also of a run without races");
        seen.extend(pairs(&serde_json::from_slice(&report).expect("it is JSON")));
        std::fs::remove_file(to).expect("it is there");
    }
    Some((pairs(&searched), seen))
}

fn pairs(report: &Value) -> Pairs {
    let lines = |finding: &Value| {
        let line = |at: usize| finding["accesses"][at]["line"].as_u64().expect("a line");
        (line(0).min(line(1)), line(0).max(line(1)))
    };
    let findings = report["findings"].as_array().expect("there is a list");
    findings.iter().filter(|finding| finding["kind"] == "data-race").map(lines).collect()
}

pub(super) fn raddle(folder: &Path, args: &[&str]) -> Output {
    let command = Command::new(env!("CARGO_BIN_EXE_raddle")).args(args).current_dir(folder).output();
    command.expect("raddle runs")
}
