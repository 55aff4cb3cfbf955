//! Every kind of problem, met by a program that has it and not by its twin.

use crate::explore::{check, first_run};
use crate::load::machine;
use raddle_event::ProblemKind;
use raddle_machine::Machine;
use std::collections::BTreeSet;

/// A program with the problem on every run, the end it comes to, and the kind.
const PROGRAMS: &[(&str, &str, ProblemKind)] = &[
    (
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
         int main(void) { pthread_mutex_lock(&m); pthread_mutex_lock(&m); return 0; }",
        "deadlock",
        ProblemKind::Deadlock,
    ),
    ("atomic_int f; int main(void) { while (!f) ; return 0; }", "livelock", ProblemKind::Livelock),
    ("int main(void) { assert(1 == 2); return 0; }", "crashed", ProblemKind::AssertionFailure),
    ("int main(void) { abort(); }", "crashed", ProblemKind::Abort),
    (
        "int main(void) { int *p = malloc(4); *p = 1; free(p); return *p; }",
        "crashed",
        ProblemKind::UseAfterFree,
    ),
    (
        "int main(void) { int *p = malloc(4); free(p); free(p); return 0; }",
        "crashed",
        ProblemKind::DoubleFree,
    ),
    ("int main(void) { int x; free(&x); return 0; }", "crashed", ProblemKind::InvalidFree),
    (
        "int a[4]; int main(int argc, char **argv) { return a[argc + 3]; }",
        "crashed",
        ProblemKind::OutOfBounds,
    ),
    ("int *p; int main(void) { return *p; }", "crashed", ProblemKind::NullDereference),
    ("int main(void) { return *(int *)0x123456789; }", "crashed", ProblemKind::InvalidPointer),
    (
        "int main(void) { pthread_mutex_t *m = malloc(sizeof *m); return pthread_mutex_lock(m); }",
        "exit 0",
        ProblemKind::UninitialisedLock,
    ),
    (
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int main(void) { pthread_mutex_unlock(&m); return 0; }",
        "exit 0",
        ProblemKind::UnlockNotHeld,
    ),
    (
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
         int main(void) { pthread_mutex_destroy(&m); return pthread_mutex_lock(&m); }",
        "exit 22",
        ProblemKind::DestroyedLockUse,
    ),
    (
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
         int main(void) { pthread_mutex_lock(&m); return pthread_mutex_destroy(&m); }",
        "exit 16",
        ProblemKind::DestroyLocked,
    ),
    (
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
         void *t(void *a) { pthread_mutex_lock(&m); return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); pthread_join(a, 0); return 0; }",
        "exit 0",
        ProblemKind::LockHeldAtExit,
    ),
    ("int main(void) { return pthread_join(pthread_self(), 0); }", "exit 35", ProblemKind::InvalidJoin),
    ("int zero; int main(void) { return 7 / zero; }", "crashed", ProblemKind::DivisionByZero),
    (
        "int f(int n) { return f(n + 1) + 1; } int main(void) { return f(0); }",
        "crashed",
        ProblemKind::StackOverflow,
    ),
    ("int main(void) { __builtin_unreachable(); }", "crashed", ProblemKind::Unreachable),
    (
        "pthread_barrier_t b; int main(void) { return pthread_barrier_init(&b, 0, 0); }",
        "exit 22",
        ProblemKind::InvalidArgument,
    ),
];

#[test]
fn each_kind_is_found() {
    let mut kinds = BTreeSet::new();
    for (source, end, kind) in PROGRAMS {
        let mut interp = machine(source);
        assert_eq!(first_run(&mut interp), format!("{end} [{}]", kind.name()), "{source}");
        let problem = interp.problems().last().expect("a problem");
        assert!(interp.program().sites.get(problem.site).is_some(), "{source}: no place");
        kinds.insert(*kind);
        interp.reset();
        assert!(interp.problems().is_empty());
    }
    assert_eq!(kinds, ProblemKind::ALL.into_iter().collect());
}

#[test]
fn twins_without_the_problem() {
    for source in [
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
         int main(void) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_mutex_lock(&m); return 0; }",
        "int main(void) { assert(1 == 1); return 0; }",
        "int main(void) { int *p = malloc(4); *p = 0; int x = *p; free(p); free(0); return x; }",
        "int a[5]; int main(int argc, char **argv) { int *end = a + 5; return end - a - 5 + a[argc + 3]; }",
        "int main(void) { pthread_mutex_t *m = calloc(1, sizeof *m); return pthread_mutex_lock(m); }",
        "int main(void) { pthread_mutex_t m; pthread_mutex_init(&m, 0); pthread_mutex_lock(&m);
           pthread_mutex_unlock(&m); pthread_mutex_destroy(&m); pthread_mutex_init(&m, 0); return pthread_mutex_lock(&m); }",
        "pthread_mutex_t m; int main(void) { pthread_mutex_destroy(&m);
           m = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; return pthread_mutex_lock(&m); }",
        "int f(int n) { return n ? f(n - 1) : 0; } int main(void) { return f(1000); }",
        "int main(void) { char *p = malloc(0), *q = malloc(0); return p == q || !p; }",
    ] {
        check(source, &["exit 0"]);
    }
}

#[test]
fn unlocking_another_threads_mutex_ends_the_run() {
    check(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
         void *t(void *a) { pthread_mutex_unlock(&m); return 0; }
         int main(void) { pthread_t a; pthread_mutex_lock(&m); pthread_create(&a, 0, t, 0);
           pthread_join(a, 0); return 0; }",
        &["crashed [unlock-not-held]"],
    );
}

#[test]
fn memory_errors_inside_library_calls_are_found() {
    check("int main(void) { char b[4]; strcpy(b, \"too long\"); return 0; }", &["crashed [out-of-bounds]"]);
    check("int main(void) { char b[4] = \"four\"; return strlen(b); }", &["crashed [out-of-bounds]"]);
    check(
        "int main(void) { \"constant\"[0] == 'c' ? *(char *)\"x\" = 'y' : 0; return 0; }",
        &["crashed [invalid-pointer]"],
    );
    check(
        "struct s { int a[3]; }; int main(void) { struct s *p = malloc(8), q = *p; return q.a[0] == 1; }",
        &["crashed [out-of-bounds]"],
    );
}

#[test]
fn a_local_is_gone_when_its_function_returns() {
    check(
        "int *p; void other(int *q) { *q = 3; } void f(void) { int x = 1; p = &x; other(p); }
         void g(void) { int y = 2; other(&y); }
         int main(void) { f(); g(); return *p; }",
        &["crashed [use-after-free]"],
    );
}

#[test]
fn a_crash_waits_until_others_have_moved() {
    check(
        "void *t(void *a) { printf(\"t\"); return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); *(int *)0 = 1; return 0; }",
        &["crashed [null-dereference]", "crashed t [null-dereference]"],
    );
}
