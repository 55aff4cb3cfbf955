//! Limits hold in every phase. The slack is large: other tests run at the same time.

use crate::run::{Scratch, program, text};
use std::process::Stdio;
use std::time::{Duration, Instant};

const LIMIT: &str = "3";
const MOST: Duration = Duration::from_secs(3 + 5);

/// The phase that cannot end: words of the answer.
fn stops(scratch: &Scratch, arguments: &[&str], codes: &[i32], words: &[&str]) {
    let began = Instant::now();
    let ran = scratch.raddle(arguments);
    assert!(began.elapsed() < MOST, "{arguments:?} took {:?}", began.elapsed());
    assert!(codes.contains(&ran.code), "{arguments:?}: exit code {}\n{}", ran.code, ran.stdout);
    ran.expect(ran.code, words);
}

#[test]
fn clang_is_killed_at_the_limit() {
    let scratch = Scratch::new();
    let file = program("limits/macros.c");
    let words = ["verdict: unknown", "the time limit of 3 s was reached while the program was compiled"];
    for command in ["check", "explore", "static"] {
        stops(&scratch, &[command, "--time-limit", LIMIT, text(&file)], &[3], &words);
    }
    let words = [
        "verdict: unknown",
        "the memory limit of 104857600 bytes was reached while the program was compiled",
    ];
    scratch.raddle(&["check", "--memory-limit", "100M", text(&file)]).expect(3, &words);
}

#[test]
fn clang_does_not_outlive_raddle() {
    let scratch = Scratch::new();
    let file = scratch.path("macros.c");
    std::fs::copy(program("limits/macros.c"), &file).expect("it can be copied");
    let mut command = scratch.command(&["static", "--time-limit", "60", text(&file)]);
    let mut raddle = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("raddle starts");
    let came = comes_to(|| compilers_of(text(&file)) > 0);
    raddle.kill().expect("it runs");
    raddle.wait().expect("it ends");
    assert!(came, "clang was never seen");
    assert!(comes_to(|| compilers_of(text(&file)) == 0), "clang goes on");
}

/// Waits for it, a while.
fn comes_to(condition: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    while !condition() {
        if began.elapsed() > Duration::from_secs(20) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// Processes other than `raddle` itself that were given the file.
fn compilers_of(file: &str) -> usize {
    let processes = std::fs::read_dir("/proc").expect("Linux").filter_map(Result::ok);
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    let words = |line: Vec<u8>| -> Vec<String> {
        line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
    };
    let is_compiler = |words: &Vec<String>| {
        words.iter().any(|word| word == "-emit-llvm") && words.iter().any(|word| word == file)
    };
    lines.map(words).filter(is_compiler).count()
}

#[test]
fn the_static_analysis_and_the_search_share_the_time() {
    let scratch = Scratch::new();
    let file = program("limits/loops.c");
    // Whether it is done in time depends on the machine; that the command ends does not.
    for command in ["check", "static"] {
        stops(&scratch, &[command, "--time-limit", LIMIT, text(&file)], &[0, 1, 3], &["verdict: "]);
    }
}

#[test]
fn memory_that_the_program_fills_ends_the_search() {
    let scratch = Scratch::new();
    let file = program("limits/memory.c");
    let words = ["verdict: unknown", "the memory limit of 209715200 bytes was reached"];
    scratch.raddle(&["explore", "--memory-limit", "200M", text(&file)]).expect(3, &words);
}

#[test]
fn the_search_is_left_behind_where_it_cannot_be_stopped() {
    let scratch = Scratch::new();
    let within = |name: &str, command: &[&str], words: &[&str]| {
        let file = program(&format!("limits/{name}"));
        let arguments = [command, &["--time-limit", LIMIT, text(&file)]].concat();
        stops(&scratch, &arguments, &[0, 1, 3], words);
    };
    let limited = ["verdict: ", "the time limit"];
    within("sections.c", &["check"], &limited);
    within("sections.c", &["explore", "--search", "pdp"], &limited);
    within("blocks.c", &["explore"], &limited);
    // A fast machine is done before the limit.
    within("events.c", &["check"], &["verdict: "]);
}

#[test]
fn certify_has_limits_too() {
    let scratch = Scratch::new();
    scratch.file(
        "two.c",
        "#include <pthread.h>\nint x; void *w(void *a) { x++; return a; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, w, 0); w(0); pthread_join(t, 0); return 0; }\n",
    );
    scratch.raddle(&["check", "two.c"]).expect(1, &["raddle replay raddle-witness/two-"]);
    let name = scratch.files().into_iter().find(|name| name.ends_with(".sched")).expect("a witness");
    scratch.raddle(&["certify", &name]).expect(1, &["confirmed"]);
    for (flag, value, words) in [
        ("--time-limit", "0.001", "not confirmed: the time limit of 0.001 s was reached"),
        ("--memory-limit", "1K", "not confirmed: the memory limit of 1024 bytes was reached"),
    ] {
        scratch.raddle(&["certify", flag, value, &name]).expect(3, &[words]);
    }
}
