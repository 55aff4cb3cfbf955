//! Traces, schedules, wrong arguments and broken files.

use super::{built, raddle, root, said};
use std::path::Path;

const COMMUTES: &str = "tests/predict/scenarios/commute_write_write.c";

#[test]
fn a_trace_is_predicted_and_its_schedule_replayed() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let folder = folder.path();
    let program = built(folder, &root().join(COMMUTES)).to_string_lossy().into_owned();
    let recorded = raddle(folder, &["record", "-o", "t.trace", &program]);
    assert_eq!(recorded.status.code(), Some(0), "{}", said(&recorded));
    let predicted = raddle(folder, &["predict", "t.trace"]);
    let text = said(&predicted);
    assert_eq!(predicted.status.code(), Some(1), "{text}");
    assert!(text.contains("confirmed by native replay") && text.contains("sync-preserving"), "{text}");
    let command = text.lines().find_map(|line| line.trim().strip_prefix("replay: raddle "));
    let words: Vec<&str> = command.expect("there is a schedule").split(' ').collect();
    let replayed = raddle(folder, &words);
    assert_eq!(replayed.status.code(), Some(1), "{}", said(&replayed));
    // The same without running the program: nothing is claimed.
    let unconfirmed = raddle(folder, &["predict", "--no-replay", "t.trace"]);
    let text = said(&unconfirmed);
    assert_eq!(unconfirmed.status.code(), Some(0), "{text}");
    assert!(!text.contains("verdict: race"), "{text}");
    // A program that has changed since is refused.
    std::fs::write(&program, "other").expect("the program can be replaced");
    let other = raddle(folder, &["predict", "t.trace"]);
    assert_eq!(other.status.code(), Some(2), "{}", said(&other));
    let other = raddle(folder, &words);
    assert_eq!(other.status.code(), Some(2), "{}", said(&other));
}

#[test]
fn what_was_destroyed_may_be_initialised_again_without_a_call() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let folder = folder.path();
    built(folder, &root().join("crates/cli/tests/programs/waits_again.c"));
    let predicted = raddle(folder, &["predict", "./waits_again"]);
    let text = said(&predicted);
    assert_eq!(predicted.status.code(), Some(1), "{text}");
    assert!(text.contains("confirmed by native replay"), "{text}");
}

#[test]
fn traces_in_the_std_format() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let folder = folder.path();
    let text =
        "T0|w(x)|a.c:1\nT0|acq(m)|a.c:2\nT0|rel(m)|a.c:3\nT1|acq(m)|b.c:2\nT1|rel(m)|b.c:3\nT1|w(x)|b.c:4\n";
    std::fs::write(folder.join("t.std"), text).expect("a trace can be written");
    let predicted = raddle(folder, &["predict", "t.std"]);
    let text = said(&predicted);
    assert_eq!(predicted.status.code(), Some(0), "{text}");
    assert!(text.contains('x') && text.contains("a.c:1") && text.contains("b.c:4"), "{text}");
    std::fs::write(folder.join("bad.std"), "T0|w(x)|1\nT0|what(x)|1\n").expect("a trace can be written");
    let bad = raddle(folder, &["predict", "bad.std"]);
    assert_eq!(bad.status.code(), Some(2), "{}", said(&bad));
    assert!(said(&bad).contains("line 2"), "{}", said(&bad));
    let program = built(folder, &root().join(COMMUTES)).to_string_lossy().into_owned();
    raddle(folder, &["record", "-q", "-o", "t.trace", &program]);
    let written = raddle(folder, &["predict", "--write-std", "out.std", "t.trace"]);
    assert_eq!(written.status.code(), Some(0), "{}", said(&written));
    let written = std::fs::read_to_string(folder.join("out.std")).expect("it was written");
    assert!(written.contains("|acq(") && written.contains("|fork(T1)|"), "{written}");
    let again = raddle(folder, &["predict", "--format", "json", "out.std"]);
    assert!(said(&again).contains("\"data-race\""), "{}", said(&again));
}

/// Files, their flags and the arguments of the program; the witness is an ordinary one.
#[test]
fn files_are_executed_by_the_interpreter() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let folder = folder.path();
    let main = "#include <pthread.h>\n#include <stdlib.h>\nvoid *work(void *);\nint x, n;\n\
        pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
        int main(int argc, char **argv) {\n  pthread_t t;\n  n = argc > 1 ? atoi(argv[1]) : 0;\n\
        pthread_create(&t, 0, work, 0);\n  if (n == FOUR)\n    x = 1;\n  pthread_mutex_lock(&m);\n\
        pthread_mutex_unlock(&m);\n  pthread_join(t, 0);\n  return 7;\n}\n";
    let work = "#include <pthread.h>\nextern int x, n;\nextern pthread_mutex_t m;\n\
        void *work(void *a) {\n  pthread_mutex_lock(&m);\n  pthread_mutex_unlock(&m);\n\
        if (n == FOUR)\n    x = 2;\n  return a;\n}\n";
    std::fs::write(folder.join("main.c"), main).expect("a file can be written");
    std::fs::write(folder.join("work.c"), work).expect("a file can be written");
    let files = ["--cflags", "-DFOUR=4", "main.c", "work.c"];
    let predict =
        |flags: &[&str], rest: &[&str]| raddle(folder, &[&["predict"], flags, &files, rest].concat());
    let without = predict(&[], &[]);
    assert_eq!(without.status.code(), Some(0), "{}", said(&without));
    let found = predict(&["--data-model", "ILP32"], &["--", "4"]);
    let text = said(&found);
    assert_eq!(found.status.code(), Some(1), "{text}");
    assert!(text.contains("(sync-preserving), confirmed by replay"), "{text}");
    assert!(text.contains("verdict: race, 1 data race; deadlocks: unknown; 2 executions"), "{text}");
    let line = text.lines().find_map(|line| line.trim().strip_prefix("replay: raddle replay "));
    let witness = line.expect("the schedule was written");
    let replayed = raddle(folder, &["replay", "--interpreted", witness]);
    assert_eq!(replayed.status.code(), Some(1), "{}", said(&replayed));
    assert_eq!(raddle(folder, &["certify", witness]).status.code(), Some(1));
    let unconfirmed = predict(&["--no-replay"], &["--", "4"]);
    let text = said(&unconfirmed);
    assert_eq!(unconfirmed.status.code(), Some(0), "{text}");
    assert!(text.contains("not confirmed: not replayed, as was asked for"), "{text}");
    for seed in ["1", "2", "3"] {
        let by_chance = predict(&["--seed", seed, "--format", "json"], &["--", "4"]);
        assert_eq!(by_chance.status.code(), Some(1), "{}", said(&by_chance));
    }
}

#[test]
fn what_is_wrong_is_said() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let folder = folder.path();
    std::fs::write(folder.join("cut.trace"), "RADDLETR").expect("a file can be written");
    std::fs::write(folder.join("empty"), "").expect("a file can be written");
    std::fs::write(folder.join("x.order"), "raddle-order 1\nhello\n").expect("a file can be written");
    for (arguments, code, words) in [
        (&["predict", "missing"][..], 2, "no such program"),
        (&["predict", "cut.trace"], 2, "cut.trace"),
        (&["predict", "cut.trace", "argument"], 2, "has no arguments"),
        (&["predict", "empty"], 2, "empty"),
        (&["predict"], 2, "PROGRAM|TRACE|FILES"),
        (&["predict", "missing.c"], 2, "missing.c"),
        (&["predict", "missing.c", "--seed", "3"], 2, "flags come before the files"),
        (&["predict", "--keep-trace", "t", "missing.c"], 2, "are for traces"),
        (&["predict", "--keep-going", "missing.c"], 2, "are for runs of programs"),
        (&["predict", "--client", "true", "missing.c"], 2, "are for runs of programs"),
        (&["predict", "--seed", "3", "cut.trace"], 2, "are for C files"),
        (&["predict", "--cflags", "-O1", "empty"], 2, "are for C files"),
        (&["replay", "x.order"], 2, "line 2"),
    ] {
        let output = raddle(folder, arguments);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        assert!(text.contains(words), "{arguments:?}: {text}");
        assert!(!text.contains("panicked") && !Path::new("raddle-witness").exists(), "{text}");
    }
}
