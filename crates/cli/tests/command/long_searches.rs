//! Searches that use several cores, and searches that are stopped or killed and go on later.

use crate::run::{Scratch, example, program, text};
use std::path::Path;
use std::time::{Duration, Instant};

const ALL: &str = "verdict: safe, no data race; deadlocks: none; 1680 executions";

#[test]
fn several_cores_give_one_answer() {
    let scratch = Scratch::new();
    let many = program("explore/many_orders.c");
    for jobs in ["1", "2", "3", "0"] {
        scratch.raddle(&["explore", "--jobs", jobs, text(&many)]).expect(0, &[ALL]);
    }
    scratch.raddle(&["check", "--jobs", "2", text(&example("counter_race.c"))]).expect(1, &["data race on"]);
    scratch
        .raddle(&["explore", "--jobs", "2", "--search", "pdp", text(&many)])
        .expect(2, &["--jobs is for --search optimal"]);
    scratch.raddle(&["explore", "--jobs", "999", text(&many)]).expect(2, &["999"]);
}

#[test]
fn a_stopped_search_goes_on() {
    let scratch = Scratch::new();
    let many = program("explore/many_orders.c");
    let kept = scratch.path("kept");
    let base = ["explore", "--checkpoint", text(&kept), text(&many)];
    scratch
        .raddle(&[&base[..], &["--max-executions", "100"]].concat())
        .expect(3, &["limit of 100 executions"]);
    // The old file is not lost by mistake.
    scratch.raddle(&base).expect(2, &["is there already", "--resume"]);
    let resume = [&base[..], &["--resume"]].concat();
    scratch
        .raddle(&[&resume[..], &["--max-executions", "700", "--jobs", "2"]].concat())
        .expect(3, &["limit of 700 executions"]);
    scratch.raddle(&resume).expect(0, &[ALL]);
    // A finished one says the same again.
    scratch.raddle(&resume).expect(0, &[ALL]);
}

#[test]
fn a_killed_search_goes_on() {
    let scratch = Scratch::new();
    let kept = scratch.path("kept");
    let long = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/programs/lastzero.c");
    let mut child = scratch
        .command(&[
            "explore",
            "--checkpoint",
            text(&kept),
            "--time-limit",
            "0",
            "--cflags=-DN=18",
            text(&long),
        ])
        .spawn()
        .expect("raddle starts");
    let began = Instant::now();
    while !kept.exists() && began.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(100));
    }
    child.kill().expect("it runs");
    child.wait().expect("it ended");
    let first = std::fs::read_to_string(&kept).expect("it was written before the kill");
    let again = ["explore", "--checkpoint", text(&kept), "--resume", "--time-limit", "4"];
    let resume = [&again[..], &["--cflags=-DN=18", text(&long)]].concat();
    scratch.raddle(&resume).expect(3, &["time limit"]);
    assert!(std::fs::read_to_string(&kept).expect("it is there") != first, "nothing was added");
}

#[test]
fn wrong_checkpoints_are_refused() {
    let scratch = Scratch::new();
    let many = program("explore/many_orders.c");
    let kept = scratch.path("kept");
    let resume = ["explore", "--checkpoint", text(&kept), "--resume", text(&many)];
    scratch.raddle(&resume).expect(2, &["cannot read"]);
    scratch
        .raddle(&["explore", "--checkpoint", text(&kept), "--max-executions", "9", text(&many)])
        .expect(3, &["limit of 9 executions"]);
    scratch
        .raddle(&[&resume[..4], &[text(&example("counter_fixed.c"))]].concat())
        .expect(2, &["is of another search: it differs in the program"]);
    scratch
        .raddle(&[&resume[..], &["--first"]].concat())
        .expect(2, &["is of another search: it differs in the goal"]);
    scratch
        .raddle(&[&resume[..], &["--search", "stateful"]].concat())
        .expect(2, &["--checkpoint is for --search optimal"]);
    scratch.raddle(&["explore", "--resume", text(&many)]).expect(2, &["--checkpoint"]);
    let whole = std::fs::read_to_string(&kept).expect("it was written");
    for (damaged, words) in [
        (whole[..whole.len() / 2].to_owned(), "it is cut"),
        (whole.replace("\\\"pass\\\":1", "\\\"pass\\\":2"), "it was changed"),
        (String::new(), "it is cut"),
        ("[]".to_owned(), "it is cut"),
        (whole.replace("checkpoint 2", "checkpoint 7"), "another version"),
    ] {
        assert_ne!(damaged, whole);
        scratch.file("kept", damaged);
        scratch.raddle(&resume).expect(2, &["is not a checkpoint of Raddle", words]);
    }
    let nowhere = ["explore", "--checkpoint", "no/such/folder/kept", "--max-executions", "9", text(&many)];
    scratch.raddle(&nowhere).expect(3, &["cannot write the checkpoint"]);
}
