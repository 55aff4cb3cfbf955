//! Limits hold in every phase. The slack is large: other tests run at the same time.

use crate::run::{Scratch, program, text};
use std::fmt::Write;
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
    let mut source = "#define A0 x += 1;\n".to_owned();
    for i in 1..27 {
        writeln!(source, "#define A{i} A{0} A{0}", i - 1).expect("a string grows");
    }
    source.push_str("int x;\nint main(void) { A26 return 0; }\n");
    scratch.file("macros.c", source);
    let words = ["verdict: unknown", "the time limit of 3 s was reached while the program was compiled"];
    for command in ["check", "explore", "static"] {
        stops(&scratch, &[command, "--time-limit", LIMIT, "macros.c"], &[3], &words);
    }
}

#[test]
fn the_static_analysis_and_the_search_share_the_time() {
    let scratch = Scratch::new();
    let count = 600;
    let mut source = format!("#include <pthread.h>\nint g[{count}], *p[{count}]; void (*f[{count}])(int);\n");
    for i in 0..count {
        writeln!(
            source,
            "void f{i}(int k) {{ for (int i = 0; i < k; i++) {{ p[i] = &g[(i * {i}) % {count}]; \
             *p[(i + {i}) % {count}] += i; if (f[i]) f[i](i - 1); }} }}"
        )
        .expect("a string grows");
    }
    source.push_str("void *w(void *a) {\n");
    for i in 0..count {
        writeln!(source, "f[{i}] = f{i};").expect("a string grows");
    }
    source.push_str("f0(*(int *)a); return a; }\nint main(int c, char **v) { pthread_t t; (void)v;\n");
    source.push_str("pthread_create(&t, 0, w, &c); w(&c); pthread_join(t, 0); return 0; }\n");
    scratch.file("loops.c", source);
    // Whether it is done in time depends on the machine; that the command ends does not.
    for command in ["check", "static"] {
        stops(&scratch, &[command, "--time-limit", LIMIT, "loops.c"], &[0, 1, 3], &["verdict: "]);
    }
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
