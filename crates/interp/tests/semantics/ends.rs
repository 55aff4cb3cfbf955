//! How a process ends, and what runs before that.

use crate::explore::{check, first_run};
use crate::load::{machine, machine_with};
use raddle_interp::{Options, StartError};
use raddle_machine::Machine;

#[test]
fn handlers_run_last_first_and_destructors_after_them() {
    check(
        "void a(void) { printf(\"a\"); } void b(void) { printf(\"b\"); }
         __attribute__((constructor)) void before(void) { printf(\"<\"); }
         __attribute__((destructor)) void after(void) { printf(\">\"); }
         int main(void) { atexit(a); atexit(b); printf(\"m\"); return 5; }",
        &["exit 5 <mba>"],
    );
    check("void a(void) { printf(\"a\"); } int main(void) { atexit(a); _Exit(6); }", &["exit 6"]);
}

#[test]
fn arguments_environment_and_input_are_given() {
    let source = "int main(int argc, char **argv) { char line[16]; fgets(line, 16, stdin);
        printf(\"%d %s %s %s\", argc, argv[1], getenv(\"HOME\"), line); return argv[argc] != 0; }";
    let options = Options {
        args: vec!["p".to_owned(), "x y".to_owned()],
        env: vec![("HOME".to_owned(), "/h".to_owned())],
        stdin: b"in\nrest".to_vec(),
        ..Options::default()
    };
    let mut interp = machine_with(source, options);
    assert_eq!(first_run(&mut interp), "exit 0 2 x y /h in");
    assert!(interp.assumptions().contains(&"A-INPUT"), "{:?}", interp.assumptions());
}

#[test]
fn a_program_without_main_cannot_start() {
    let program = crate::load::program("int x;", raddle_ir::DataModel::Lp64);
    let models = raddle_libmodel::Models::resolve(&program, &raddle_config::Config::default());
    let refused = raddle_interp::Interp::new(program, models.into(), Options::default());
    assert_eq!(refused.err(), Some(StartError::NoMain));
}

#[test]
fn assumed_away_runs_do_not_count() {
    check(
        "extern int __VERIFIER_nondet_bool(void); extern void __VERIFIER_assume(int);
         int main(void) { int a = __VERIFIER_nondet_bool(), b = __VERIFIER_nondet_bool();
           __VERIFIER_assume(a || !b); return a * 2 + b; }",
        &["exit 0", "exit 2", "exit 3"],
    );
}

#[test]
fn wide_choices_are_marked_as_not_covered() {
    let narrow =
        "extern _Bool __VERIFIER_nondet_bool(void); int main(void) { return __VERIFIER_nondet_bool(); }";
    let wide =
        "extern int __VERIFIER_nondet_int(void); int main(void) { return __VERIFIER_nondet_int() % 7; }";
    let mut interp = machine(narrow);
    first_run(&mut interp);
    assert!(interp.incomplete_reasons().is_empty());
    let mut interp = machine(wide);
    first_run(&mut interp);
    assert_eq!(interp.incomplete_reasons().len(), 1);
    interp.reset();
    assert!(interp.incomplete_reasons().is_empty());
    assert_eq!(interp.uncovered().len(), 1);
}

#[test]
fn values_that_are_only_compared_stand_for_all() {
    // Program, and all ways in which it ends.
    let programs: [(&str, &[&str]); 6] = [
        (
            "int v = __VERIFIER_nondet_int(); return v == 7 ? 1 : v > 7 ? 2 : 3;",
            &["exit 1", "exit 2", "exit 3"],
        ),
        (
            "int v = __VERIFIER_nondet_int(); if (v < -100) return 1; if (v > 4000000000u) return 2; return 3;",
            &["exit 1", "exit 2", "exit 3"],
        ),
        (
            "unsigned v = __VERIFIER_nondet_uint(); return (int)v < 0 ? 1 : v > 100 ? 2 : 3;",
            &["exit 1", "exit 2", "exit 3"],
        ),
        (
            "switch (__VERIFIER_nondet_short()) { case -3: return 1; case 300: return 2; default: return 3; }",
            &["exit 1", "exit 2", "exit 3"],
        ),
        (
            "long v = __VERIFIER_nondet_int(); return v == 4294967295L ? 1 : v == -2147483648L ? 2 : 3;",
            &["exit 2", "exit 3"],
        ),
        (
            "int v = __VERIFIER_nondet_int(); __VERIFIER_assume(v >= 3 && v <= 4); return v == 3 ? 1 : v == 4 ? 2 : 3;",
            &["exit 1", "exit 2"],
        ),
    ];
    for (body, ends) in programs {
        let text = format!(
            "extern int __VERIFIER_nondet_int(void); extern unsigned __VERIFIER_nondet_uint(void);
             extern short __VERIFIER_nondet_short(void); extern void __VERIFIER_assume(int);
             int main(void) {{ {body} }}"
        );
        check(&text, ends);
        let mut interp = machine(&text);
        first_run(&mut interp);
        assert!(interp.uncovered().is_empty(), "{body}");
    }
    for body in [
        "return __VERIFIER_nondet_int() & 1;",
        "int v = 0; while (__VERIFIER_nondet_int() != v) v++; return 0;",
        "int v = __VERIFIER_nondet_int(); int w = v; if (w > 3) w = 3; return w == v;",
        "return (char)__VERIFIER_nondet_int() == 3;",
    ] {
        let mut interp =
            machine(&format!("extern int __VERIFIER_nondet_int(void); int main(void) {{ {body} }}"));
        first_run(&mut interp);
        assert_eq!(interp.uncovered().len(), 1, "{body}");
    }
}

#[test]
fn what_is_not_understood_is_said() {
    check("#include <setjmp.h>\n jmp_buf b; int main(void) { if (0) setjmp(b); return 2; }", &["exit 2"]);
    let mut interp = machine("#include <unistd.h>\n int main(void) { fork(); return 2; }");
    assert!(first_run(&mut interp).starts_with("unsupported: "), "{:?}", interp.status());
    let mut interp = machine("extern int unheard_of(int); int main(void) { return unheard_of(1); }");
    assert_eq!(first_run(&mut interp), "exit 0");
    assert_eq!(interp.assumptions(), ["A-EXTERN"]);
}

#[test]
fn assumptions_are_those_that_were_used() {
    let used = |source: &str| {
        let mut interp = machine(source);
        first_run(&mut interp);
        interp.assumptions()
    };
    assert_eq!(used("int main(void) { return 0; }"), [""; 0]);
    assert_eq!(used("int main(void) { int x; return x == 12345; }"), ["A-UNINIT"]);
    assert_eq!(used("int main(void) { free(malloc(3)); return 0; }"), ["A-MALLOC"]);
    assert_eq!(used("int main(int argc, char **argv) { int a[2]; return a[argc] == 12345; }"), ["A-UNINIT"]);
    assert_eq!(
        used("atomic_int x; int main(void) { return atomic_load_explicit(&x, memory_order_relaxed); }"),
        ["A-SC"]
    );
    assert_eq!(used("atomic_int x; int main(void) { return x; }"), [""; 0]);
    assert_eq!(used("int main(void) { __asm__ volatile(\"nop\"); return 0; }"), [""; 0]);
    assert_eq!(used("int main(void) { __asm__ volatile(\"mfence\"); return 0; }"), ["A-ASM"]);
}
