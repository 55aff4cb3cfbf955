//! Threads: creation, join, detach, exit, thread-local and thread-specific data.

use crate::explore::{check, first_run};
use crate::load::machine;
use raddle_event::ThreadId;
use raddle_machine::Machine;

#[test]
fn results_come_back_by_join() {
    check(
        "void *t(void *a) { return (char *)a + 2; }
         void *u(void *a) { pthread_exit((void *)7); }
         int main(void) { pthread_t a, b; void *r, *s; pthread_create(&a, 0, t, (void *)40);
           pthread_create(&b, 0, u, 0); pthread_join(a, &r); pthread_join(b, &s);
           return (int)(long)r * 2 + (int)(long)s; }",
        &["exit 91"],
    );
}

#[test]
fn joins_that_cannot_be_are_problems() {
    check(
        "void *t(void *a) { return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); pthread_join(a, 0);
           return pthread_join(a, 0); }",
        &["exit 22 [invalid-join]"],
    );
    check("int main(void) { return pthread_join(pthread_self(), 0); }", &["exit 35 [invalid-join]"]);
    check("int main(void) { return pthread_join((pthread_t)12345, 0); }", &["exit 3 [invalid-join]"]);
    check(
        "void *t(void *a) { return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); pthread_detach(a); return pthread_join(a, 0); }",
        &["exit 22 [invalid-join]"],
    );
}

#[test]
fn a_thread_made_detached_cannot_be_joined() {
    check(
        "void *t(void *a) { return 0; }
         int main(void) { pthread_t a; pthread_attr_t at; pthread_attr_init(&at);
           pthread_attr_setdetachstate(&at, PTHREAD_CREATE_DETACHED); pthread_create(&a, &at, t, 0);
           return pthread_join(a, 0); }",
        &["exit 22 [invalid-join]"],
    );
}

#[test]
fn the_process_ends_with_main_or_with_its_last_thread() {
    check(
        "void *t(void *a) { printf(\"t\"); return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); return 3; }",
        &["exit 3", "exit 3 t"],
    );
    check(
        "void *t(void *a) { printf(\"%d\", *(int *)a); return 0; }
         int main(void) { int x = 5; pthread_t a; pthread_create(&a, 0, t, &x); pthread_exit(0); }",
        &["exit 0 5"],
    );
    check(
        "void *t(void *a) { exit(4); } int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); pthread_join(a, 0); return 1; }",
        &["exit 4"],
    );
}

#[test]
fn thread_local_variables_are_apart() {
    check(
        "_Thread_local int x = 3; static __thread int *p;
         void *t(void *a) { x += 4; p = &x; return (void *)(long)(*p * 10 + (p == (int *)a)); }
         int main(void) { pthread_t a; void *r; x = 1; p = &x; pthread_create(&a, 0, t, p); pthread_join(a, &r);
           return (int)(long)r + x + *p; }",
        &["exit 72"],
    );
}

#[test]
fn thread_specific_data_and_its_destructors() {
    check(
        "pthread_key_t k;
         void gone(void *p) { printf(\"d%d\", *(int *)p); free(p); }
         void *t(void *a) { int *p = malloc(4); *p = 8; pthread_setspecific(k, p);
           if (pthread_getspecific(k) != p) printf(\"bad\"); return 0; }
         int main(void) { pthread_t a; pthread_key_create(&k, gone); pthread_create(&a, 0, t, 0);
           pthread_join(a, 0); return pthread_getspecific(k) != 0; }",
        &["exit 0 d8"],
    );
}

#[test]
fn handles_compare_equal_to_themselves() {
    check(
        "pthread_t main_thread;
         void *t(void *a) { return (void *)(long)(pthread_equal(pthread_self(), main_thread) != 0); }
         int main(void) { pthread_t a; void *r; main_thread = pthread_self(); pthread_create(&a, 0, t, 0);
           pthread_join(a, &r); return (int)(long)r * 10 + (pthread_equal(main_thread, pthread_self()) != 0); }",
        &["exit 1"],
    );
}

#[test]
fn a_thread_knows_its_function_and_maker() {
    let mut interp = machine(
        "void *worker(void *a) { return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, worker, 0); pthread_join(a, 0); return 0; }",
    );
    first_run(&mut interp);
    assert_eq!(interp.thread_count(), 2);
    assert_eq!(interp.thread_info(ThreadId::MAIN).entry, "main");
    assert_eq!(interp.thread_info(ThreadId::MAIN).created, None);
    let worker = interp.thread_info(ThreadId(1));
    assert_eq!(worker.entry, "worker");
    let (by, site, stack) = worker.created.expect("somebody made it");
    assert_eq!((by, stack.len()), (ThreadId::MAIN, 0));
    assert_eq!(interp.program().sites[site].span.expect("a line").line, 2);
}

/// Two threads of one function and argument are the same to the program only if it does nothing with their ids but join them.
#[test]
fn threads_are_identical_while_nobody_looks_at_their_ids() {
    let identical = |globals: &str, main: &str| {
        let text =
            format!("{globals} void *t(void *a) {{ return a; }} int main(void) {{ {main} return 0; }}");
        let mut interp = machine(&text);
        first_run(&mut interp);
        let origin = interp.origin(ThreadId(1));
        origin.is_some() && origin == interp.origin(ThreadId(2))
    };
    let (create, join) = (
        "pthread_t a, b; pthread_create(&a, 0, t, 0); pthread_create(&b, 0, t, 0);",
        "pthread_join(a, 0); pthread_join(b, 0);",
    );
    let both = |between: &str| format!("{create} {between} {join}");
    assert!(identical("", &both("")));
    assert!(identical(
        "pthread_t ids[2];",
        "for (int i = 0; i < 2; i++) pthread_create(&ids[i], 0, t, 0); for (int i = 0; i < 2; i++) pthread_join(ids[i], 0);"
    ));
    assert!(!identical("", "pthread_t a, b; pthread_create(&a, 0, t, 0); pthread_create(&b, 0, t, &a);"));
    for (globals, between) in [
        ("", "pthread_self();"),
        ("", "if (pthread_equal(a, b)) puts(\"\");"),
        ("", "if (a == b) puts(\"\");"),
        ("pthread_t kept;", "kept = b;"),
        ("pthread_t *kept;", "kept = &b;"),
        ("int n; pthread_t kept;", "kept = n ? a : b;"),
        ("int n; pthread_t *kept;", "pthread_t *p = n ? &a : &b; kept = p;"),
        ("int n;", "pthread_t c; if (n) c = a; else c = b; if (c > 5) puts(\"\");"),
        ("", "pthread_detach(a);"),
    ] {
        assert!(!identical(globals, &both(between)), "{between}");
    }
    assert!(!identical("void *r;", &format!("{create} pthread_join(a, &r); pthread_join(b, 0);")));
}
