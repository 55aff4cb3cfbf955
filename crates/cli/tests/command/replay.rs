//! Witness files: written, replayed, refused.

use crate::run::{Ran, Scratch, example, text};
use std::fs::File;
use std::io::Write;
use std::process::Stdio;

fn witnesses(scratch: &Scratch) -> Vec<String> {
    scratch.files().into_iter().filter(|file| file.ends_with(".sched")).collect()
}

#[test]
fn a_witness_shows_its_finding_again() {
    for (name, title) in [
        ("counter_race.c", "data race on counter"),
        ("queue_race.c", "data race on"),
        ("deadlock.c", "deadlock: T"),
    ] {
        let scratch = Scratch::new();
        scratch.raddle(&["check", text(&example(name))]).expect(1, &[title]);
        let files = witnesses(&scratch);
        assert!(!files.is_empty());
        for file in &files {
            let first = scratch.raddle(&["replay", file]);
            first.expect(1, &["replay: raddle replay", "confirmed by replay"]);
            let second = scratch.raddle(&["replay", file]);
            assert_eq!(first.stdout, second.stdout, "the same every time");
            scratch.raddle(&["certify", file]).expect(1, &["confirmed"]);
        }
        let shown: Vec<String> = files.iter().map(|file| scratch.raddle(&["replay", file]).stdout).collect();
        assert!(shown.iter().any(|report| report.contains(title)));
    }
}

#[test]
fn a_second_check_writes_nothing_new() {
    let scratch = Scratch::new();
    let file = example("counter_race.c");
    scratch.raddle(&["check", text(&file)]);
    let before = witnesses(&scratch);
    scratch.raddle(&["check", text(&file)]);
    assert_eq!(witnesses(&scratch), before);
    scratch.raddle(&["check", "--witness-dir", "elsewhere", text(&file)]);
    assert!(witnesses(&scratch).iter().any(|name| name.starts_with("elsewhere/")));
}

#[test]
fn a_witness_of_another_program_is_refused() {
    let scratch = Scratch::new();
    let source = std::fs::read_to_string(example("counter_race.c")).unwrap();
    scratch.file("a.c", &source);
    scratch.raddle(&["check", "a.c"]).expect(1, &[]);
    let witness = witnesses(&scratch).remove(0);

    scratch
        .raddle(&["replay", &witness, text(&example("counter_fixed.c"))])
        .expect(2, &["for another program"]);
    scratch.file("a.c", source.replace("counter++;", "counter += 2;"));
    scratch.raddle(&["replay", &witness]).expect(2, &["for another program", "run `raddle check` again"]);
    scratch.raddle(&["certify", &witness]).expect(2, &["for another program"]);

    // Another folder is no other program.
    std::fs::create_dir(scratch.path("moved")).unwrap();
    scratch.file("moved/a.c", &source);
    scratch.raddle(&["replay", &witness, "moved/a.c"]).expect(1, &["data race on counter"]);

    std::fs::remove_file(scratch.path("a.c")).unwrap();
    scratch.raddle(&["replay", &witness]).expect(2, &["names the input a.c, which is not there"]);
}

#[test]
fn a_schedule_that_does_not_lead_there_is_not_reproduced() {
    let scratch = Scratch::new();
    scratch.raddle(&["check", text(&example("counter_race.c"))]).expect(1, &[]);
    let witness = witnesses(&scratch).remove(0);
    let text = std::fs::read_to_string(scratch.path(&witness)).unwrap();
    let (head, _) = text.split_once("schedule:\n").unwrap();
    for schedule in ["raddle-schedule 1\n", "raddle-schedule 1\nT0\n", "raddle-schedule 1\nT7*4\n"] {
        let file = scratch.file("edited.sched", format!("{head}schedule:\n{schedule}"));
        let file = file.to_str().unwrap();
        scratch.raddle(&["replay", file]).expect(3, &["verdict: unknown", "not reproduced"]);
        scratch.raddle(&["certify", file]).expect(3, &["not confirmed"]);
    }
}

#[test]
fn broken_files_are_named() {
    let scratch = Scratch::new();
    scratch.raddle(&["check", text(&example("counter_race.c"))]).expect(1, &[]);
    let witness = witnesses(&scratch).remove(0);
    let good = std::fs::read_to_string(scratch.path(&witness)).unwrap();
    let cases: [(&str, Vec<u8>); 5] = [
        ("empty", Vec::new()),
        ("binary", vec![0xFF, 0xFE, 0, 1, 2]),
        ("text", b"int main(void) { return 0; }\n".to_vec()),
        ("cut", good.as_bytes()[..good.len() / 2].to_vec()),
        ("newer", good.replace("raddle-witness 1", "raddle-witness 2").into_bytes()),
    ];
    for (name, bytes) in cases {
        let file = format!("{name}.sched");
        scratch.file(&file, bytes);
        scratch.raddle(&["replay", &file]).expect(2, &[&file, "not a witness file"]);
        scratch.raddle(&["certify", &file]).expect(2, &[&file]);
    }
    scratch.raddle(&["replay", "missing.sched"]).expect(2, &["missing.sched"]);
}

#[test]
fn standard_input_and_arguments_are_part_of_the_run() {
    let scratch = Scratch::new();
    let file = crate::run::program("reads_stdin.c");
    scratch.file("in.txt", "r\n");
    scratch.file("other.txt", "q\n");
    scratch.raddle(&["check", text(&file)]).expect(0, &["A-INPUT"]);
    scratch.raddle(&["check", "--stdin", "other.txt", text(&file)]).expect(0, &["A-INPUT"]);
    scratch
        .raddle(&["check", "--stdin", "in.txt", text(&file), "--", "go"])
        .expect(1, &["data race on shared"]);
    scratch.raddle(&["check", "--stdin", "in.txt", text(&file)]).expect(0, &[]);
    let witness = witnesses(&scratch).remove(0);
    scratch.raddle(&["replay", &witness]).expect(1, &["data race on shared"]);
    scratch.file("in.txt", "rr\n");
    scratch.raddle(&["replay", &witness]).expect(2, &["in.txt", "has changed"]);
}

/// From a file, from a pipe, and from the environment; the witness has all of it, whatever there is when it is replayed.
#[test]
fn what_the_shell_redirects_is_part_of_the_run() {
    let scratch = Scratch::new();
    let file = crate::run::program("reads_stdin.c");
    let input = scratch.file("in.txt", "r\n");
    let args = ["check", text(&file), "--", "go"];
    let redirected = File::open(&input).expect("it was written");
    let ran = scratch.command(&args).stdin(redirected).output().expect("it starts");
    Ran::of(ran).expect(1, &["data race on shared"]);
    let witness = witnesses(&scratch).remove(0);
    scratch.raddle(&["replay", &witness]).expect(1, &["data race on shared"]);

    let scratch = Scratch::new();
    let mut command = scratch.command(&args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(b"r\n").expect("it is read");
    Ran::of(child.wait_with_output().expect("it ends")).expect(1, &["data race on shared"]);
    let witness = witnesses(&scratch).remove(0);
    scratch.raddle(&["replay", &witness]).expect(1, &["data race on shared"]);

    let scratch = Scratch::new();
    let file = crate::run::program("reads_environment.c");
    let args = ["check", text(&file)];
    scratch.raddle(&args).expect(0, &["A-INPUT"]);
    let ran = scratch.command(&args).env("RADDLE_TEST_WISH", "yes").output().expect("it starts");
    Ran::of(ran).expect(1, &["data race on shared"]);
    let witness = witnesses(&scratch).remove(0);
    scratch.raddle(&["replay", &witness]).expect(1, &["data race on shared"]);
}
