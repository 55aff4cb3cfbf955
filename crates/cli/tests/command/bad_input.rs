//! Bad input: a clear message or finding, the right exit code, no panic.

use crate::run::{Scratch, program, text};

#[test]
fn missing_file() {
    let scratch = Scratch::new();
    for command in ["check", "explore"] {
        scratch.raddle(&[command, "nowhere.c"]).expect(2, &["nowhere.c"]);
    }
    assert!(scratch.files().is_empty(), "nothing is written");
}

#[test]
fn a_file_of_no_known_kind() {
    let scratch = Scratch::new();
    scratch.file("notes.txt", "hello");
    scratch.raddle(&["check", "notes.txt"]).expect(2, &["notes.txt"]);
    scratch.raddle(&["check", "."]).expect(2, &["."]);
}

#[test]
fn c_that_does_not_compile() {
    let scratch = Scratch::new();
    scratch.file("bad.c", "int main(void) { return undeclared_name; }\n");
    // clang's own words.
    scratch.raddle(&["check", "bad.c"]).expect(2, &["bad.c:1:", "error:", "undeclared_name"]);
    assert_eq!(scratch.files(), ["bad.c"]);
}

#[test]
fn no_main() {
    let scratch = Scratch::new();
    scratch.file("lib.c", "int x; void f(void) { x = 1; }\n");
    scratch.raddle(&["check", "lib.c"]).expect(2, &["no `main`"]);
    scratch.file("declared.c", "int main(void);\nint (*p)(void) = main;\n");
    scratch.raddle(&["check", "declared.c"]).expect(2, &["no `main`"]);
}

#[test]
fn an_empty_file() {
    let scratch = Scratch::new();
    for name in ["empty.c", "empty.i"] {
        scratch.file(name, "");
        scratch.raddle(&["check", name]).expect(2, &[name, "empty"]);
    }
    scratch.file("blank.c", "\n/* nothing */\n");
    scratch.raddle(&["check", "blank.c"]).expect(2, &["no `main`"]);
    for name in ["empty.bc", "empty.ll", "compile_commands.json"] {
        scratch.file(name, "");
        scratch.raddle(&["check", name]).expect(2, &[]);
    }
}

#[test]
fn bitcode_that_is_cut_or_foreign() {
    let scratch = Scratch::new();
    let clang = std::env::var("RADDLE_CLANG").unwrap_or_else(|_| "clang-19".to_owned());
    scratch.file("ok.c", "int main(void) { return 0; }\n");
    let built = std::process::Command::new(clang)
        .args(["-c", "-emit-llvm", "-g", "-o"])
        .arg(scratch.path("ok.bc"))
        .arg(scratch.path("ok.c"))
        .status()
        .expect("clang-19 is installed");
    assert!(built.success());
    scratch.raddle(&["check", "ok.bc"]).expect(0, &["verdict: safe"]);
    let bytes = std::fs::read(scratch.path("ok.bc")).unwrap();
    for end in [1, 4, 100, bytes.len() / 2, bytes.len() - 4] {
        scratch.file("cut.bc", &bytes[..end]);
        scratch.raddle(&["check", "cut.bc"]).expect(2, &["cut.bc"]);
    }
    scratch.file("foreign.bc", b"\x7fELF this is no bitcode at all");
    scratch.raddle(&["check", "foreign.bc"]).expect(2, &["foreign.bc"]);
    scratch.file("garbage.ll", "define i32 @main( {");
    scratch.raddle(&["check", "garbage.ll"]).expect(2, &["garbage.ll"]);
}

#[test]
fn files_that_do_not_fit_together() {
    let scratch = Scratch::new();
    scratch.file("a.c", "int main(void) { return 0; }\n");
    scratch.file("b.c", "int main(void) { return 1; }\n");
    scratch.raddle(&["check", "a.c", "b.c"]).expect(2, &["main"]);
}

#[test]
fn a_crash_is_a_finding() {
    let scratch = Scratch::new();
    scratch
        .raddle(&["check", text(&program("crash.c"))])
        .expect(1, &["null pointer dereference", "crash.c:"]);
    scratch.raddle(&["check", text(&program("abort.c"))]).expect(1, &["abort", "abort.c:"]);
}

#[test]
fn a_program_that_hangs() {
    let scratch = Scratch::new();
    scratch.raddle(&["check", text(&program("hang.c"))]).expect(1, &["livelock", "hang.c:6"]);
    let busy = scratch.raddle(&["explore", "--time-limit", "2", text(&program("busy.c"))]);
    busy.expect(3, &["verdict: unknown", "the time limit of 2 s was reached"]);
    // It cannot race all the same.
    let busy = scratch.raddle(&["check", "--time-limit", "2", text(&program("busy.c"))]);
    busy.expect(0, &["verdict: safe", "deadlocks: unknown", "the time limit of 2 s was reached"]);
}

#[test]
fn threads_without_end() {
    let scratch = Scratch::new();
    let ran = scratch.raddle(&["explore", "--time-limit", "3", text(&program("threads.c"))]);
    ran.expect(3, &["verdict: unknown", "limit"]);
    scratch.raddle(&["static", text(&program("threads.c"))]).expect(0, &["verdict: safe"]);
}

#[test]
fn recursion_without_end() {
    let scratch = Scratch::new();
    scratch.raddle(&["check", text(&program("recursion.c"))]).expect(1, &["stack overflow", "recursion.c:4"]);
}

#[test]
fn memory_without_end() {
    let scratch = Scratch::new();
    let ran = scratch.raddle(&["explore", text(&program("memory.c"))]);
    ran.expect(3, &["verdict: unknown", "a limit was reached: memory of the program"]);
}
