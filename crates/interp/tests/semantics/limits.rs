//! Programs without end meet a limit, not the end of this process.

use crate::explore::first_run;
use crate::load::machine_with;
use raddle_interp::Options;

#[test]
fn threads_without_end() {
    let mut interp = machine_with(
        "void *t(void *a) { pthread_t b; pthread_create(&b, 0, t, 0); pthread_join(b, 0); return 0; }
         int main(void) { t(0); return 0; }",
        Options { thread_limit: 20, ..Options::default() },
    );
    assert_eq!(first_run(&mut interp), "limit: number of threads");
}

#[test]
fn recursion_without_end() {
    let source = "int f(int n) { int a[4]; a[n & 3] = n; return f(n + 1) + a[n & 3]; } int main(void) { return f(0); }";
    let mut interp = machine_with(source, Options::default());
    assert_eq!(first_run(&mut interp), "crashed [stack-overflow]");
}

#[test]
fn memory_without_end() {
    let mut interp = machine_with(
        "int main(void) { for (;;) { char *p = malloc(1 << 16); p[0] = 1; } }",
        Options { memory_limit: 8 << 20, ..Options::default() },
    );
    assert_eq!(first_run(&mut interp), "limit: memory of the program");
    let mut interp = machine_with("int main(void) { return malloc(1ul << 60) != 0; }", Options::default());
    assert_eq!(first_run(&mut interp), "limit: memory of the program");
}

#[test]
fn steps_and_instructions_without_end() {
    let mut interp = machine_with(
        "atomic_uint n; int main(void) { for (;;) n++; }",
        Options { step_limit: 1000, ..Options::default() },
    );
    assert_eq!(first_run(&mut interp), "limit: visible operations of one run");
    let mut interp = machine_with(
        "volatile unsigned long n; int main(void) { for (;;) n++; }",
        Options { instruction_limit: 5_000_000, ..Options::default() },
    );
    assert_eq!(first_run(&mut interp), "limit: instructions of one run");
}

#[test]
fn output_without_end_is_cut() {
    let mut interp = machine_with(
        "int main(void) { for (int i = 0; i < 1000; i++) printf(\"0123456789\"); return 0; }",
        Options { output_limit: 25, ..Options::default() },
    );
    assert_eq!(first_run(&mut interp), "exit 0 0123456789012345678901234");
}
