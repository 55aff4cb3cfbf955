//! Locks, conditions, barriers, semaphores, once: what they let happen and what they return.

use crate::explore::{check, ends_of};
use crate::load::machine_with;
use raddle_interp::{Options, SpuriousWakeups};

#[test]
fn a_mutex_keeps_others_out() {
    check(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int x;
         void *t(void *a) { pthread_mutex_lock(&m); int y = x; x = y + 1; pthread_mutex_unlock(&m); return 0; }
         int main(void) { pthread_t a, b; pthread_create(&a, 0, t, 0); pthread_create(&b, 0, t, 0);
           pthread_join(a, 0); pthread_join(b, 0); return x; }",
        &["exit 2"],
    );
}

#[test]
fn kinds_of_mutexes_answer_a_second_lock() {
    check(
        "int main(void) { pthread_mutexattr_t a; pthread_mutex_t m; int r[6];
           pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
           pthread_mutex_init(&m, &a); r[0] = pthread_mutex_lock(&m); r[1] = pthread_mutex_lock(&m);
           pthread_mutex_unlock(&m); pthread_mutex_unlock(&m); r[2] = pthread_mutex_unlock(&m);
           pthread_mutex_t e = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
           pthread_mutex_lock(&e); r[3] = pthread_mutex_lock(&e); r[4] = pthread_mutex_trylock(&e);
           pthread_mutex_unlock(&e); r[5] = pthread_mutex_trylock(&e);
           printf(\"%d %d %d %d %d %d\", r[0], r[1], r[2], r[3], r[4], r[5]); return 0; }",
        &["exit 0 0 0 1 35 16 0 [unlock-not-held]"],
    );
}

#[test]
fn a_normal_mutex_locked_twice_is_a_deadlock() {
    check(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
         int main(void) { pthread_mutex_lock(&m); pthread_mutex_lock(&m); return 0; }",
        &["deadlock [deadlock]"],
    );
}

#[test]
fn trylock_and_timedlock_fail_only_while_the_lock_is_taken() {
    check(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; struct timespec ts;
         void *t(void *a) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 0; }
         int main(void) { pthread_t a; int r = pthread_mutex_timedlock(&m, &ts); printf(\"%d \", r);
           pthread_mutex_unlock(&m); pthread_create(&a, 0, t, 0);
           r = pthread_mutex_trylock(&m); printf(\"%d \", r); if (!r) pthread_mutex_unlock(&m);
           r = pthread_mutex_timedlock(&m, &ts); printf(\"%d\", r); return 0; }",
        &["exit 0 0 0 0", "exit 0 0 0 110", "exit 0 0 16 0", "exit 0 0 16 110"],
    );
}

#[test]
fn a_robust_mutex_outlives_its_owner() {
    check(
        "pthread_mutex_t m;
         void *t(void *a) { pthread_mutex_lock(&m); return 0; }
         int main(void) { pthread_mutexattr_t a; pthread_t p; int r[5]; pthread_mutexattr_init(&a);
           pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST); pthread_mutex_init(&m, &a);
           pthread_create(&p, 0, t, 0); pthread_join(p, 0);
           r[0] = pthread_mutex_lock(&m); r[1] = pthread_mutex_consistent(&m); r[2] = pthread_mutex_unlock(&m);
           r[3] = pthread_mutex_lock(&m); r[4] = pthread_mutex_unlock(&m);
           printf(\"%d %d %d %d %d\", r[0], r[1], r[2], r[3], r[4]);
           return 0; }",
        &["exit 0 130 0 0 0 0"],
    );
    check(
        "pthread_mutex_t m;
         void *t(void *a) { pthread_mutex_lock(&m); return 0; }
         int main(void) { pthread_mutexattr_t a; pthread_t p; pthread_mutexattr_init(&a);
           pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST); pthread_mutex_init(&m, &a);
           pthread_create(&p, 0, t, 0); pthread_join(p, 0);
           pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return pthread_mutex_lock(&m); }",
        &["exit 131"],
    );
}

#[test]
fn readers_share_and_writers_do_not() {
    check(
        "pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER; atomic_int inside, most;
         void *r(void *a) { pthread_rwlock_rdlock(&l); int n = ++inside; if (n > most) most = n; --inside;
           pthread_rwlock_unlock(&l); return 0; }
         int main(void) { pthread_t a, b; pthread_create(&a, 0, r, 0); pthread_create(&b, 0, r, 0);
           pthread_join(a, 0); pthread_join(b, 0); return most; }",
        &["exit 1", "exit 2"],
    );
    check(
        "pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER; atomic_int inside, most;
         void *w(void *a) { pthread_rwlock_wrlock(&l); int n = ++inside; if (n > most) most = n; --inside;
           pthread_rwlock_unlock(&l); return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, w, 0); w(0); pthread_join(a, 0);
           printf(\"%d %d\", pthread_rwlock_tryrdlock(&l), pthread_rwlock_trywrlock(&l)); return most; }",
        &["exit 1 0 16"],
    );
}

#[test]
fn a_spin_lock_is_a_lock() {
    check(
        "pthread_spinlock_t s; int x;
         void *t(void *a) { pthread_spin_lock(&s); x++; pthread_spin_unlock(&s); return 0; }
         int main(void) { pthread_t a; pthread_spin_init(&s, 0); pthread_create(&a, 0, t, 0); t(0);
           pthread_join(a, 0); int r = pthread_spin_trylock(&s); r = r * 10 + (pthread_spin_trylock(&s) == 16);
           return x * 10 + r; }",
        &["exit 21"],
    );
}

const WAIT: &str = "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int ready;
     void *t(void *a) { pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return 0; }
     int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); pthread_mutex_lock(&m);
       while (!ready) pthread_cond_wait(&c, &m);
       pthread_mutex_unlock(&m); pthread_join(a, 0); return ready; }";

#[test]
fn a_wait_in_a_loop_ends_well() {
    check(WAIT, &["exit 1"]);
    let mut interp =
        machine_with(WAIT, Options { spurious_wakeups: SpuriousWakeups::Off, ..Options::default() });
    assert_eq!(ends_of(&mut interp).into_iter().collect::<Vec<_>>(), ["exit 1"]);
}

const WAIT_ONCE: &str = "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int ready;
     void *t(void *a) { pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return 0; }
     int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); pthread_mutex_lock(&m);
       if (!ready) pthread_cond_wait(&c, &m);
       return ready; }";

#[test]
fn spurious_wakeups_can_be_switched_off() {
    check(WAIT_ONCE, &["exit 0", "exit 1"]);
    let mut interp =
        machine_with(WAIT_ONCE, Options { spurious_wakeups: SpuriousWakeups::Off, ..Options::default() });
    assert_eq!(ends_of(&mut interp).into_iter().collect::<Vec<_>>(), ["exit 1"]);
    crate::explore::first_run(&mut interp);
}

#[test]
fn a_lost_wakeup_is_a_deadlock_in_spite_of_spurious_ones() {
    check(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; atomic_int ready;
         void *t(void *a) { ready = 1; pthread_cond_signal(&c); return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); pthread_mutex_lock(&m);
           int done = ready; while (!done) { pthread_cond_wait(&c, &m); done = 0; }
           return 0; }",
        &["deadlock [deadlock]", "exit 0"],
    );
}

#[test]
fn one_signal_wakes_one_waiter_and_a_broadcast_all() {
    let program = |wake: &str| {
        format!(
            "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int waiting;
             void *t(void *a) {{ pthread_mutex_lock(&m); waiting++; pthread_cond_wait(&c, &m);
               printf(\"%c\", *(char *)a); pthread_mutex_unlock(&m); return 0; }}
             int main(void) {{ pthread_t a, b; pthread_create(&a, 0, t, \"a\"); pthread_create(&b, 0, t, \"b\");
               pthread_mutex_lock(&m); if (waiting < 2) exit(9); {wake}(&c); pthread_mutex_unlock(&m);
               pthread_join(a, 0); pthread_join(b, 0); return 0; }}"
        )
    };
    let quiet = || Options { spurious_wakeups: SpuriousWakeups::Off, ..Options::default() };
    let ends = ends_of(&mut machine_with(&program("pthread_cond_signal"), quiet()));
    assert_eq!(
        ends.into_iter().collect::<Vec<_>>(),
        ["deadlock a [deadlock]", "deadlock b [deadlock]", "exit 9"]
    );
    let ends = ends_of(&mut machine_with(&program("pthread_cond_broadcast"), quiet()));
    assert_eq!(ends.into_iter().collect::<Vec<_>>(), ["exit 0 ab", "exit 0 ba", "exit 9"]);
}

#[test]
fn a_timed_wait_may_time_out() {
    check(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; struct timespec ts;
         int main(void) { pthread_mutex_lock(&m); int r = pthread_cond_timedwait(&c, &m, &ts);
           r = r == ETIMEDOUT ? 1 : r; return r * 10 + pthread_mutex_unlock(&m); }",
        &["exit 0", "exit 10"],
    );
}

#[test]
fn a_barrier_opens_for_all_and_again() {
    check(
        "pthread_barrier_t b; atomic_int in;
         void *t(void *a) { for (int i = 1; i <= 2; i++) { in++; int s = pthread_barrier_wait(&b);
             if (in < i + 1) printf(\"early\"); if (s == PTHREAD_BARRIER_SERIAL_THREAD) printf(\"s\"); } return 0; }
         int main(void) { pthread_t a; pthread_barrier_init(&b, 0, 2); pthread_create(&a, 0, t, 0); t(0);
           pthread_join(a, 0); return pthread_barrier_destroy(&b); }",
        &["exit 0 ss"],
    );
}

#[test]
fn semaphores_count() {
    check(
        "sem_t s; int x;
         void *t(void *a) { sem_wait(&s); int y = x; x = y + 1; sem_post(&s); return 0; }
         int main(void) { pthread_t a, b; sem_init(&s, 0, 1); pthread_create(&a, 0, t, 0);
           pthread_create(&b, 0, t, 0); pthread_join(a, 0); pthread_join(b, 0);
           int v; sem_getvalue(&s, &v); sem_wait(&s); int r = sem_trywait(&s);
           printf(\"%d %d %d\", v, r, errno == EAGAIN); return x; }",
        &["exit 2 1 -1 1"],
    );
    check(
        "sem_t s; int main(void) { sem_init(&s, 0, 0); sem_wait(&s); return 0; }",
        &["deadlock [deadlock]"],
    );
}

#[test]
fn once_runs_once_and_all_wait_for_it() {
    check(
        "pthread_once_t o = PTHREAD_ONCE_INIT; int x;
         void init(void) { x++; }
         void *t(void *a) { pthread_once(&o, init); if (x != 1) printf(\"bad\"); return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); t(0); pthread_join(a, 0); return x; }",
        &["exit 1"],
    );
}

#[test]
fn verifier_sections_are_atomic_among_themselves() {
    check(
        "extern void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void); int x;
         void __VERIFIER_atomic_add(int n) { int y = x; x = y + n; }
         void *t(void *a) { __VERIFIER_atomic_begin(); int y = x; x = y + 1; __VERIFIER_atomic_end(); return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); __VERIFIER_atomic_add(2);
           pthread_join(a, 0); return x; }",
        &["exit 3"],
    );
}

#[test]
fn atomics_read_modify_and_write_in_one_step() {
    check(
        "atomic_int x; int y;
         void *t(void *a) { atomic_fetch_add(&x, 1); int e = 1; atomic_compare_exchange_strong(&x, &e, 5); return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); atomic_fetch_add(&x, 1);
           pthread_join(a, 0); return x; }",
        &["exit 2", "exit 6"],
    );
    check(
        "atomic_int x;
         void *t(void *a) { int v = atomic_load(&x); atomic_store(&x, v + 1); return 0; }
         int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); t(0); pthread_join(a, 0); return x; }",
        &["exit 1", "exit 2"],
    );
}
