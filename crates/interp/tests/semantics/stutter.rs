//! Loops that wait: they end, and end with the right word.

use crate::explore::{check, ends_of};
use crate::load::machine;
use raddle_event::{Choice, ThreadId};
use raddle_interp::Interp;
use raddle_machine::{IgnoreEvents, Machine, Visibility};

const SPIN: &str = "atomic_int f;
     void *t(void *a) { f = 1; return 0; }
     int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); while (!f) ; pthread_join(a, 0); return 7; }";

#[test]
fn spinning_on_an_atomic_ends() {
    check(SPIN, &["exit 7"]);
}

#[test]
fn spinning_with_compare_exchange_ends() {
    check(
        "atomic_int l; int x;
         static void lock(void) { int e = 0; while (!atomic_compare_exchange_weak(&l, &e, 1)) e = 0; }
         void *t(void *a) { lock(); x++; l = 0; return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); t(0); pthread_join(a, 0); return x; }",
        &["exit 2"],
    );
}

#[test]
fn spinning_on_trylock_ends() {
    check(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int x;
         void *t(void *a) { while (pthread_mutex_trylock(&m)) ; x++; pthread_mutex_unlock(&m); return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); t(0); pthread_join(a, 0); return x; }",
        &["exit 2"],
    );
}

#[test]
fn polling_under_a_lock_ends() {
    check(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int ready;
         void *t(void *a) { pthread_mutex_lock(&m); ready = 1; pthread_mutex_unlock(&m); return 0; }
         int main(void) { pthread_t a; int r; pthread_create(&a, 0, t, 0);
           do { pthread_mutex_lock(&m); r = ready; pthread_mutex_unlock(&m); } while (!r);
           pthread_join(a, 0); return 3; }",
        &["exit 3"],
    );
    check(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int ready;
         void *t(void *a) { pthread_mutex_lock(&m); ready = 1; pthread_mutex_unlock(&m); return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); pthread_mutex_lock(&m);
           while (!ready) { pthread_mutex_unlock(&m); pthread_mutex_lock(&m); }
           pthread_mutex_unlock(&m); pthread_join(a, 0); return 3; }",
        &["exit 3"],
    );
}

#[test]
fn spinning_on_a_plain_variable_ends() {
    check(
        "volatile int f;
         void *t(void *a) { f = 1; return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); while (!f) ; pthread_join(a, 0); return 7; }",
        &["exit 7"],
    );
    let mut interp = machine(
        "volatile int f;
         void *t(void *a) { f = 1; return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); while (!f) ; return 7; }",
    );
    interp.set_visibility(Visibility::EveryAccess);
    assert_eq!(ends_of(&mut interp).into_iter().collect::<Vec<_>>(), ["exit 7"]);
}

#[test]
fn sleeping_loops_end() {
    check(
        "#include <unistd.h>\n atomic_int f;
         void *t(void *a) { f = 1; return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); while (!f) usleep(10); return 7; }",
        &["exit 7"],
    );
}

#[test]
fn waiting_for_what_never_comes_is_a_livelock() {
    check("atomic_int f; int main(void) { while (!f) ; return 0; }", &["livelock [livelock]"]);
    check("int main(void) { for (;;) ; }", &["livelock [livelock]"]);
    check("volatile int f; int main(void) { while (!f) ; return 0; }", &["livelock [livelock]"]);
    check(
        "atomic_int f, g;
         void *t(void *a) { while (!f) ; g = 1; return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); while (!g) ; f = 1; return 0; }",
        &["livelock [livelock]"],
    );
    check(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int f;
         int main(void) { for (;;) { pthread_mutex_lock(&m); int r = f; pthread_mutex_unlock(&m); if (r) return 0; } }",
        &["livelock [livelock]"],
    );
}

#[test]
fn blocked_and_spinning_together_is_a_livelock() {
    check(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; atomic_int f, held;
         void *t(void *a) { pthread_mutex_lock(&m); f = 1; pthread_mutex_unlock(&m); return 0; }
         int main(void) { pthread_t a; pthread_mutex_lock(&m); pthread_create(&a, 0, t, 0); while (!f) ; return 0; }",
        &["livelock [livelock]"],
    );
}

#[test]
fn a_loop_that_the_environment_can_leave_is_no_livelock() {
    check(
        "extern _Bool __VERIFIER_nondet_bool(void);
         int main(void) { while (__VERIFIER_nondet_bool()) ; return 5; }",
        &["exit 5"],
    );
}

#[test]
fn a_counting_loop_is_not_a_spin() {
    check(
        "int main(void) { unsigned n = 0; for (int i = 0; i < 3000000; i++) n += i & 3; return n % 251; }",
        &["exit 72"],
    );
}

#[test]
fn a_waiter_with_a_second_chance_takes_it() {
    // The thread polls and each time leaves a moment in which the other can get in.
    check(
        "sem_t s; atomic_int done;
         void *t(void *a) { sem_wait(&s); done = 1; sem_post(&s); return 0; }
         int main(void) { pthread_t a; sem_init(&s, 0, 0); pthread_create(&a, 0, t, 0);
           while (!done) { sem_post(&s); sem_wait(&s); } return 6; }",
        &["exit 6"],
    );
}

#[test]
fn a_useless_wake_up_is_known_whatever_others_do() {
    let mut interp = machine(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int done;
         void *t(void *a) { return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); pthread_mutex_lock(&m);
           while (!done) pthread_cond_wait(&c, &m); return 0; }",
    );
    let choice = |thread, variant| Choice { thread: ThreadId(thread), variant };
    let open = |interp: &Interp| {
        let mut open = Vec::new();
        interp.enabled(&mut open);
        open.contains(&choice(0, 1))
    };
    for _ in ["begin", "create", "lock"] {
        interp.step(choice(0, 0), &mut IgnoreEvents);
    }
    assert!(open(&interp));
    interp.step(choice(0, 1), &mut IgnoreEvents);
    interp.step(choice(1, 0), &mut IgnoreEvents);
    interp.step(choice(0, 0), &mut IgnoreEvents);
    assert!(!open(&interp));
    interp.step(choice(1, 0), &mut IgnoreEvents);
    assert!(!open(&interp));
}

#[test]
fn a_wake_up_during_which_the_lock_was_used_may_come_again() {
    // The thread has the lock between two wake-ups of the other, and between them finds it taken.
    check(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int done;
         void *t(void *a) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m);
           if (pthread_mutex_trylock(&m)) { pthread_mutex_lock(&m); done = 5; } else done = 6;
           pthread_mutex_unlock(&m); return 0; }
         int main(void) { pthread_t a; pthread_mutex_lock(&m); pthread_create(&a, 0, t, 0);
           while (!done) pthread_cond_wait(&c, &m); return done; }",
        &["deadlock [deadlock]", "exit 5", "exit 6"],
    );
}

#[test]
fn long_rounds_end_too() {
    check(
        "volatile int f; int main(void) { while (!f) for (volatile int i = 0; i < 900; i++) ; return 0; }",
        &["livelock [livelock]"],
    );
    check(
        "atomic_int a[100], f; int main(void) { int s = 0; while (!f) for (int i = 0; i < 100; i++) s |= a[i]; return s; }",
        &["livelock [livelock]"],
    );
    // Always the first choice: the main thread goes round until it sleeps, then the other moves.
    let mut interp = machine(
        "atomic_int a[40], f; void *t(void *x) { f = 1; return 0; }
         int main(void) { pthread_t p; int s = 0; pthread_create(&p, 0, t, 0);
           do { s = 0; for (int i = 0; i < 40; i++) s |= a[i]; } while (!f); return s; }",
    );
    assert_eq!(crate::explore::first_run(&mut interp), "exit 0");
}
