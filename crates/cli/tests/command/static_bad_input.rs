//! Programs that are odd, broken or very large: `raddle static` does not crash, ends in bounded time, and its answer is honest.

use crate::run::{Scratch, program, text};
use std::fmt::Write;
use std::time::Instant;

/// Seconds that no program here may take, on a machine that does other things too.
const BOUND: u64 = 120;

#[test]
fn odd_programs_get_an_honest_answer() {
    let scratch = Scratch::new();
    for (name, code, words) in [
        ("recursion.c", 0, &["verdict: safe"][..]),
        // The race is in code that never runs.
        ("unreachable.c", 0, &["verdict: safe"]),
        ("table.c", 3, &["possible data race on bare", "one pair of accesses could not be ruled out"]),
        ("corrupt_cast.c", 3, &["verdict: unknown", "a call through a pointer that may point to data"]),
        // Undefined; the holder is taken to be the one who releases (A-BOUNDS).
        ("other_thread_unlocks.c", 0, &["verdict: safe", "A-BOUNDS"]),
        ("unlock_without_lock.c", 3, &["possible data race on x", "no lock held"]),
        // Held on one of two paths is not held.
        ("leaked_lock.c", 3, &["possible data race on x"]),
        (
            "crossed.c",
            0,
            &["verdict: safe", "1 other warning", "possible deadlock: main, worker", "not confirmed"],
        ),
        ("in_order.c", 0, &["verdict: safe, no data race; deadlocks: unknown"]),
    ] {
        // A short path, so that lines are not folded.
        scratch.file(name, std::fs::read(program(&format!("static/{name}"))).unwrap());
        scratch.raddle(&["static", name]).expect(code, words);
    }
}

#[test]
fn a_deadlock_candidate_is_a_finding_of_its_own() {
    let scratch = Scratch::new();
    let json = |name: &str| -> serde_json::Value {
        let file = program(&format!("static/{name}"));
        let ran = scratch.raddle(&["static", "--format", "json", text(&file)]);
        serde_json::from_str(&ran.stdout).expect("JSON and nothing else")
    };
    let crossed = json("crossed.c");
    let [finding] = crossed["findings"].as_array().unwrap().as_slice() else { panic!("{crossed}") };
    assert_eq!((&finding["kind"], &finding["evidence"]), (&"deadlock".into(), &"warning".into()));
    assert_eq!(finding["accesses"].as_array().unwrap().len(), 2);
    assert_eq!((&crossed["verdict"], &crossed["deadlocks"]), (&"safe".into(), &"unknown".into()));
    assert!(json("in_order.c")["findings"].as_array().unwrap().is_empty());
}

#[test]
fn ten_thousand_locks() {
    let mut source = String::from("#include <pthread.h>\n");
    for n in 0..10_000 {
        writeln!(source, "static pthread_mutex_t m{n};\nstatic int x{n};").unwrap();
    }
    source.push_str("static void *f(void *p)\n{\n");
    for n in 0..10_000 {
        writeln!(source, "    pthread_mutex_lock(&m{n});\n    x{n}++;\n    pthread_mutex_unlock(&m{n});")
            .unwrap();
    }
    source.push_str(MAIN);
    let scratch = Scratch::new();
    scratch.file("locks.c", &source);
    scratch
        .raddle(&["static", "--time-limit", "0.01", "locks.c"])
        .expect(3, &["the time limit of 0.01 s was reached"]);
    ends(&scratch, "locks.c", 0, "verdict: safe");
}

#[test]
fn a_function_of_fifty_thousand_lines() {
    let mut source = String::from("#include <pthread.h>\nstatic int x;\nstatic void *f(void *p)\n{\n");
    (0..50_000).for_each(|n| writeln!(source, "    x += {n};").unwrap());
    source.push_str(MAIN);
    let scratch = Scratch::new();
    scratch.file("long.c", &source);
    ends(&scratch, "long.c", 3, "possible data race on x");
}

/// Branches and loops under a lock: the proof has to be found, and to be checked.
#[test]
fn a_function_of_many_branches() {
    let mut source = String::from(
        "#include <pthread.h>\nstatic pthread_mutex_t m;\nstatic int x, y;\nstatic void *f(void *p)\n{\n\
         \n    pthread_mutex_lock(&m);\n",
    );
    (0..2_000).for_each(|n| {
        writeln!(
            source,
            "    x++;\n    if (x > {n})\n        y++;\n    for (int i = 0; i < x; i++)\n        y--;"
        )
        .unwrap();
    });
    source.push_str("    pthread_mutex_unlock(&m);\n");
    source.push_str(MAIN);
    let scratch = Scratch::new();
    scratch.file("branches.c", &source);
    ends(&scratch, "branches.c", 0, "verdict: safe");
}

const MAIN: &str = "    return p;\n}\nint main(void)\n{\n    pthread_t t;\n    pthread_create(&t, 0, f, 0);\n    f(0);\n\
    \n    return pthread_join(t, 0);\n}\n";

fn ends(scratch: &Scratch, name: &str, code: i32, word: &str) {
    let began = Instant::now();
    scratch.raddle(&["static", name, "-o", "report.txt"]).expect(code, &[]);
    let report = std::fs::read_to_string(scratch.path("report.txt")).unwrap();
    assert!(report.contains(word), "{name}: {report:.400}");
    assert!(began.elapsed().as_secs() < BOUND, "{name}: {:?}", began.elapsed());
}
