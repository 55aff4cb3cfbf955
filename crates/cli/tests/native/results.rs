//! What synchronisation functions return: the program `results.c` asserts what glibc gives, in a plain run, on the interpreter and under
//! control. The two explorations have the same findings, since some of its calls are errors that POSIX has an answer to.

use crate::random::raddle;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

#[test]
fn functions_return_what_the_c_library_returns() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native/programs/results.c");
    let source = source.to_str().expect("a plain name");
    raddle(folder.path(), &["cc", "-g", "-pthread", source, "-o", "./results"]);
    let plain = Command::new(folder.path().join("results")).output().expect("it runs");
    assert!(plain.status.success(), "{}", String::from_utf8_lossy(&plain.stderr));
    let explored = |flags: &[&str]| {
        // In glibc no `mtx_trylock` fails for no reason.
        let base = ["explore", "--no-spurious", "--format", "json", source];
        let output = raddle(folder.path(), &[&base[..], flags].concat());
        let report: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        let findings = report["findings"].as_array().expect("findings").iter();
        let findings = findings.filter(|finding| finding["evidence"] != "warning");
        let kinds: BTreeSet<String> = findings.map(|finding| finding["kind"].to_string()).collect();
        (kinds, report["stats"]["executions"].as_u64())
    };
    let interpreted = explored(&[]);
    assert!(!interpreted.0.contains(r#""assertion-failure""#), "{interpreted:?}");
    assert_eq!(explored(&["--native"]), interpreted);
}
