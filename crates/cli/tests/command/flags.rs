//! Formats, output files, usage errors.

use crate::run::{Scratch, example, program, text};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn json_is_one_object_of_schema_1() {
    let scratch = Scratch::new();
    let ran = scratch.raddle(&["check", "--format", "json", text(&example("counter_race.c"))]);
    let json: Value =
        serde_json::from_str(&ran.expect(1, &[]).stdout).expect("stdout is JSON and nothing else");
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    let expected =
        ["schema", "verdict", "deadlocks", "findings", "proved", "assumptions", "unknown_reasons", "stats"];
    let mut sorted = expected;
    sorted.sort();
    let mut found: Vec<&str> = keys.iter().map(|key| key.as_str()).collect();
    found.sort();
    assert_eq!(found, sorted);
    let positions: Vec<usize> =
        expected.iter().map(|key| ran.stdout.find(&format!("\n  \"{key}\"")).expect(key)).collect();
    assert!(positions.is_sorted(), "keys in the order of the schema");
    assert_eq!(json["schema"], 1);
    assert_eq!(json["verdict"], "race");
    let finding = &json["findings"][0];
    assert_eq!(finding["kind"], "data-race");
    assert_eq!(finding["variable"], "counter");
    assert_eq!(finding["evidence"], "replayed");
    assert_eq!(finding["accesses"].as_array().unwrap().len(), 2);
    assert_eq!(finding["accesses"][0]["line"], 10);
    assert_eq!(finding["accesses"][0]["function"], "worker");
}

#[test]
fn sarif_has_a_result_per_finding_and_says_why_an_answer_is_unknown() {
    let scratch = Scratch::new();
    let log = |args: &[&str], exit| -> Value {
        let ran = scratch.raddle(args);
        serde_json::from_str(&ran.expect(exit, &[]).stdout).expect("stdout is JSON and nothing else")
    };
    let race = log(&["check", "--format", "sarif", text(&example("counter_race.c"))], 1);
    assert_eq!(race["version"], "2.1.0");
    let run = &race["runs"][0];
    assert_eq!(run["properties"]["verdict"], "race");
    let result = &run["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"data-race".into(), &"error".into()));
    let at = &result["locations"][0]["physicalLocation"];
    assert!(at["artifactLocation"]["uri"].as_str().unwrap().ends_with("counter_race.c"), "{at}");
    assert_eq!(at["region"]["startLine"], 10);

    let unknown =
        log(&["explore", "--max-executions", "1", "--format", "sarif", text(&example("queue_fixed.c"))], 3);
    let run = &unknown["runs"][0];
    assert_eq!((&run["properties"]["verdict"], &run["results"]), (&"unknown".into(), &Value::Array(vec![])));
    let reasons = &run["invocations"][0]["toolExecutionNotifications"];
    assert!(reasons[0]["message"]["text"].as_str().is_some_and(|text| !text.is_empty()), "{run}");
}

#[test]
fn concise_is_one_line_per_finding() {
    let scratch = Scratch::new();
    let ran = scratch.raddle(&["check", "--format", "concise", text(&example("counter_race.c"))]);
    let lines: Vec<&str> = ran.expect(1, &[]).stdout.lines().collect();
    assert!(
        lines[0].contains("counter_race.c:10:") && lines[0].contains(": data race on counter ("),
        "{lines:?}"
    );
    assert!(lines[1].starts_with("verdict: race") && lines[2] == "assuming A-THREAD", "{lines:?}");
}

#[test]
fn reports_go_where_they_are_sent() {
    let scratch = Scratch::new();
    let file = example("counter_race.c");
    let ran = scratch.raddle(&["check", "-o", "report.txt", text(&file)]);
    assert_eq!(ran.expect(1, &[]).stdout, "");
    assert!(std::fs::read_to_string(scratch.path("report.txt")).unwrap().contains("data race on counter"));

    let ran = scratch.raddle(&["check", "--quiet", text(&file)]);
    ran.expect(1, &[]);
    assert_eq!(format!("{}{}", ran.stdout, ran.stderr), "");

    scratch
        .raddle(&["check", "-o", "no/such/folder/x", text(&file)])
        .expect(2, &["cannot write no/such/folder/x"]);
}

#[test]
fn inputs_are_not_overwritten() {
    let scratch = Scratch::new();
    let source = std::fs::read_to_string(example("counter_race.c")).unwrap();
    scratch.file("a.c", &source);
    scratch.raddle(&["check", "-o", "a.c", "a.c"]).expect(2, &["would overwrite an input"]);
    assert_eq!(std::fs::read_to_string(scratch.path("a.c")).unwrap(), source);
}

#[test]
fn colours_only_when_asked() {
    let scratch = Scratch::new();
    let file = example("counter_race.c");
    let plain = scratch.raddle(&["check", text(&file)]).stdout;
    let coloured = scratch.raddle(&["check", "--color", "always", text(&file)]).stdout;
    assert!(!plain.contains('\x1b') && coloured.contains('\x1b'));
}

#[test]
fn usage_errors_help() {
    let scratch = Scratch::new();
    scratch.raddle(&["chek", "a.c"]).expect(2, &["a similar subcommand exists: 'check'"]);
    scratch
        .raddle(&["check", "--formt", "json", "a.c"])
        .expect(2, &["a similar argument exists: '--format'"]);
    scratch.raddle(&["check"]).expect(2, &["<INPUT>"]);
    scratch.raddle(&["check", "--memory-limit", "5Q", "a.c"]).expect(2, &["`Q` is no unit"]);
    scratch.raddle(&["check", "--cflags", "'open", "a.c"]).expect(2, &["a quote that is not closed"]);
    scratch.raddle(&["--help"]).expect(0, &["Exit codes"]);
    scratch.raddle(&["--version"]).expect(0, &["raddle"]);
}

#[test]
fn limits_end_in_unknown() {
    let scratch = Scratch::new();
    let file = program("long.c");
    for (flags, words) in [
        (["--max-executions", "1"], "the limit of 1 executions was reached"),
        (["--time-limit", "0.5"], "the time limit of 0.5 s was reached"),
        (["--memory-limit", "1K"], "the memory limit of 1024 bytes was reached"),
    ] {
        let began = Instant::now();
        let ran = scratch.raddle(&["explore", flags[0], flags[1], text(&file)]);
        ran.expect(3, &["verdict: unknown", "deadlocks: unknown", words]);
        assert!(began.elapsed().as_secs() < 20, "{flags:?} took {:?}", began.elapsed());
    }
}

#[test]
fn an_interrupted_search_reports_what_it_covered() {
    let scratch = Scratch::new();
    let child = scratch
        .command(&["explore", "--time-limit", "100", text(&program("long.c"))])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{report}");
    assert!(report.contains("verdict: unknown") && report.contains("interrupted"), "{report}");
    assert!(report.contains("executions") && !report.contains("; 0 executions"), "{report}");
}

#[test]
fn first_stops_at_one_race() {
    let scratch = Scratch::new();
    let ran = scratch.raddle(&["check", "--first", text(&example("counter_race.c"))]);
    ran.expect(1, &["verdict: race, 1 data race"]);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let scratch = Scratch::new();
    let mut child = scratch
        .command(&["check", text(&example("counter_race.c"))])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
