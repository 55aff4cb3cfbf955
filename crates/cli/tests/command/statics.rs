//! `raddle static`: verdicts, explanations, certificates, entries.

use crate::run::{Scratch, example, text};
use serde_json::Value;

#[test]
fn verdicts_and_exit_codes() {
    let scratch = Scratch::new();
    for (name, code, words) in [
        ("counter_race.c", 3, &["verdict: unknown", "possible data race on counter", "not confirmed"][..]),
        ("counter_fixed.c", 0, &["verdict: safe", "A-BOUNDS"]),
        ("queue_fixed.c", 0, &["verdict: safe"]),
        ("input.c", 3, &["possible data race on hits", "in worker (line 24)"]),
    ] {
        let ran = scratch.raddle(&["static", text(&example(name))]);
        ran.expect(code, words);
        assert!(!ran.stdout.contains("A-INPUT") && !ran.stdout.contains("execution"), "{}", ran.stdout);
    }
    assert!(scratch.files().is_empty(), "nothing is written: {:?}", scratch.files());
}

#[test]
fn no_threads_is_said() {
    let scratch = Scratch::new();
    scratch.file("one.c", "int x;\nint main(void)\n{\n    x = 1;\n    return x - 1;\n}\n");
    scratch.raddle(&["static", "one.c"]).expect(0, &["verdict: safe", "no threads are started"]);
}

#[test]
fn json_has_warnings_counts_and_proved_variables() {
    let scratch = Scratch::new();
    let json = |name: &str| -> Value {
        let ran = scratch.raddle(&["static", "--format", "json", text(&example(name))]);
        serde_json::from_str(&ran.stdout).expect("JSON and nothing else")
    };
    let racy = json("counter_race.c");
    assert_eq!((&racy["verdict"], &racy["findings"][0]["evidence"]), (&"unknown".into(), &"warning".into()));
    assert_eq!(racy["findings"][0]["engine"], "static");
    assert_eq!(racy["stats"]["after_contexts"], racy["findings"].as_array().unwrap().len());
    let safe = json("counter_fixed.c");
    let proved: Vec<&Value> = safe["proved"].as_array().unwrap().iter().map(|p| &p["variable"]).collect();
    assert_eq!(proved, ["", "counter"]);
    assert_eq!(safe["stats"]["warnings"], 0);
}

#[test]
fn a_line_is_explained() {
    let scratch = Scratch::new();
    // A short path, so that lines are not folded.
    scratch.file("counter_fixed.c", std::fs::read(example("counter_fixed.c")).unwrap());
    let explain = |line: &str| scratch.raddle(&["static", "--explain", line, "counter_fixed.c"]);
    let ran = explain("counter_fixed.c:12");
    ran.expect(0, &["counter++;", "holds lock", "both hold lock", "run by worker, created at"]);
    assert!(!ran.stdout.contains("may race"), "{}", ran.stdout);
    explain("counter_fixed.c:3").expect(0, &["touches no memory", "the nearest that do: 11, 12"]);
    explain("counter_fixd.c:3")
        .expect(2, &["no file of the program is called counter_fixd.c; nearest:", "counter_fixed.c"]);
    explain("counter_fixed.c").expect(2, &["write FILE:LINE"]);
    let racy = example("counter_race.c");
    scratch
        .raddle(&["static", "--explain", "counter_race.c:10", text(&racy)])
        .expect(3, &["may race with", "holds no lock for certain"]);
}

#[test]
fn a_proof_is_a_file_that_certify_accepts() {
    let scratch = Scratch::new();
    let file = example("counter_fixed.c");
    scratch
        .raddle(&["static", "--certificate", "proof.json", text(&file)])
        .expect(0, &["raddle certify proof.json"]);
    scratch
        .raddle(&["certify", "proof.json"])
        .expect(0, &["proof.json: accepted: no data race for all inputs, assuming A-BOUNDS"]);
    let proof = std::fs::read_to_string(scratch.path("proof.json")).unwrap();
    scratch
        .raddle(&["certify", "proof.json", text(&example("queue_fixed.c"))])
        .expect(2, &["another program"]);
    scratch.file("other.json", proof.replace("\"version\":1", "\"version\":7"));
    scratch.raddle(&["certify", "other.json"]).expect(2, &["version 7"]);
    scratch.file("cut.json", &proof[..proof.len() / 2]);
    scratch.raddle(&["certify", "cut.json"]).expect(2, &["not a certificate of Raddle"]);
    scratch.file("empty.json", "{}");
    scratch.raddle(&["certify", "empty.json"]).expect(2, &["not a certificate of Raddle"]);

    scratch
        .raddle(&["static", "--certificate", "none.json", text(&example("counter_race.c"))])
        .expect(3, &["there is no proof that could be written to none.json"]);
    assert!(!scratch.path("none.json").exists());
    scratch
        .raddle(&["static", "--certificate", "no/x.json", text(&file)])
        .expect(2, &["cannot write no/x.json"]);
    scratch.file("a.c", "int main(void) { return 0; }\n");
    scratch.raddle(&["static", "--certificate", "a.c", "a.c"]).expect(2, &["would overwrite an input"]);
}

#[test]
fn check_writes_the_proof_beside_the_witnesses() {
    let scratch = Scratch::new();
    scratch
        .raddle(&["check", text(&example("counter_fixed.c"))])
        .expect(0, &["proved by static: raddle certify"]);
    let files = scratch.files();
    let [file] = files.as_slice() else { panic!("{files:?}") };
    assert!(file.starts_with("raddle-witness/counter_fixed-") && file.ends_with(".cert"), "{file}");
    scratch.raddle(&["certify", file]).expect(0, &["accepted"]);
}

/// What is proved stays proved when the search cannot finish.
#[test]
fn a_proof_outlives_the_search() {
    let scratch = Scratch::new();
    let ran = scratch.raddle(&["check", "--max-executions", "1", text(&example("counter_fixed.c"))]);
    ran.expect(0, &["verdict: safe", "deadlocks: unknown", "the limit of 1 executions was reached"]);
    scratch
        .raddle(&["explore", "--max-executions", "1", text(&example("counter_fixed.c"))])
        .expect(3, &["verdict: unknown"]);
    // An answer for all inputs, where the search has one for this input.
    scratch.file("input.c", INPUT);
    let ran = scratch.raddle(&["check", "input.c"]);
    ran.expect(0, &["verdict: safe", "deadlocks: none", "assuming, for deadlocks only:\n  A-INPUT"]);
    scratch.raddle(&["explore", "input.c"]).expect(0, &["assuming:\n  A-INPUT"]);
}

const INPUT: &str = "#include <pthread.h>\n\
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
    static int x;\n\
    static void *f(void *p)\n\
    {\n    pthread_mutex_lock(&m);\n    x++;\n    pthread_mutex_unlock(&m);\n    return p;\n}\n\
    int main(int argc, char **argv)\n\
    {\n    (void)argv;\n    pthread_t t;\n    pthread_create(&t, 0, f, 0);\n    if (argc > 1)\n        f(0);\n\
    \n    pthread_join(t, 0);\n    return 0;\n}\n";

#[test]
fn entries_stand_for_clients() {
    let scratch = Scratch::new();
    let file = example("account.c");
    scratch.raddle(&["static", text(&file)]).expect(2, &["no `main`", "--entry"]);
    let words = ["possible data race on a->moves", "a client of account_deposit", "A-ENTRY"];
    scratch.raddle(&["static", "--entry", "account_deposit", text(&file)]).expect(3, &words);
    scratch
        .raddle(&["static", "--entry", "account_balance", text(&file)])
        .expect(3, &["A-ENTRY", "proofs about clients"]);
    scratch
        .raddle(&["static", "--entry", "account_deposti", text(&file)])
        .expect(2, &["no function `account_deposti`", "nearest: account_deposit"]);
    scratch.file("raddle.toml", "entries = [\"account_deposit\", \"account_balance\"]\n");
    scratch.raddle(&["static", text(&file)]).expect(3, &words);
    scratch.raddle(&["check", text(&file)]).expect(3, &["nothing was run", "possible data race on a->moves"]);
    // A run has no clients, so it cannot tell that they do not race.
    scratch.file("raddle.toml", "entries = [\"worker\"]\n");
    scratch
        .raddle(&["explore", text(&example("counter_fixed.c"))])
        .expect(3, &["a run has no clients: worker"]);
    scratch.file("raddle.toml", "entries = \"worker\"\n");
    scratch.raddle(&["static", text(&file)]).expect(2, &["a list of function names is expected"]);
}
