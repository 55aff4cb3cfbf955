//! What loads find: expectations as in [`crate::snippets`], after the second round.

use crate::snippets::{DECLARATIONS, disagreements};
use crate::{compile, solve};

#[track_caller]
fn second_round(source: &str) {
    let (program, models) =
        compile(&format!("{DECLARATIONS}\n#include <stdlib.h>\n#include <string.h>\n#line 1\n{source}"));
    let solved = solve(&program, &models);
    let wrong = disagreements(&program, &solved.values);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn stores_are_found_again() {
    second_round(
        "static int g; static int *p; static struct { int a, b; } s;
        static int untouched = 6;
        static void set(int *where) { *where = 9; }
        static void maybe(int *where) { if (some_int()) *where = 1; }
        static void other(void) { s.b = 2; }
        int main(void) {
            is(g, 0);
            is(untouched, 6);
            g = 4; p = &g; s.a = 3;
            is(g, 4);
            same(p, &g);
            is(*p, 4);
            *p = 5;
            is(g, 5);
            other();
            is(s.a, 3);
            is(s.b, 2);
            set(&g);
            is(g, 9);
            maybe(&s.a);
            unknown(s.a);
            is(g, 9);
            for (int i = 0; i < 3; i++) is(g, 9);
            for (int i = 0; i < 3; i++) { unknown(g); g++; }
            memset(&s, 0, sizeof s);
            is(s.b, 0);
            return 0;
        }",
    );
}

#[test]
fn both_branches_must_agree() {
    second_round(
        "static int g; static int *p; static int a, b;
        int main(void) {
            if (some_int()) { g = 1; p = &a; } else { g = 1; p = &b; }
            is(g, 1);
            differ(p, &a);
            differ(p, &b);
            if (some_int()) g = 1;
            is(g, 1);
            if (some_int()) g = 2;
            unknown(g);
            return 0;
        }",
    );
}

#[test]
fn objects_from_constructors_keep_what_they_were_given() {
    second_round(
        "struct s { int *p; struct s *self; int n; };
        static int g;
        static struct s *make(int *p) {
            struct s *it = calloc(1, sizeof *it);
            it->p = p; it->self = it;
            return it;
        }
        static struct s *wrapped(void) { return make(&g); }
        int main(void) {
            struct s *one = wrapped();
            same(one->p, &g);
            same(one->self, one);
            is(one->n, 0);
            struct s *two = malloc(sizeof *two);
            unknown(two->n);
            *two = *one;
            same(two->p, &g);
            free(one);
            unknown(one->n);
            return 0;
        }",
    );
}

#[test]
fn what_was_there_before_the_thread_is_there_inside() {
    second_round(
        "static int g, h, late; static int *p;
        struct job { int id; int *where; int sum; };
        static void *worker(void *arg) {
            struct job *job = arg;
            is(job->id, 3);
            same(job->where, &h);
            is(g, 4);
            same(p, &h);
            unknown(late);
            job->sum = 1;
            return 0;
        }
        int main(void) {
            g = 4; p = &h;
            struct job *job = malloc(sizeof *job);
            job->id = 3; job->where = &h;
            pthread_t t;
            pthread_create(&t, 0, worker, job);
            late = 1;
            is(job->id, 3);
            unknown(job->sum);
            pthread_join(t, 0);
            is(job->id, 3);
            is(g, 4);
            return 0;
        }",
    );
}

#[test]
fn a_thread_created_and_joined_in_one_block_is_seen() {
    second_round(
        "static int g;
        static void *worker(void *arg) { unknown(g); g = 7; is(g, 7); return arg; }
        int main(void) {
            pthread_t t;
            g = 4;
            is(g, 4);
            pthread_create(&t, 0, worker, 0);
            unknown(g);
            pthread_join(t, 0);
            unknown(g);
            g = 5;
            is(g, 5);
            return 0;
        }"
        // The worker reads before its own write what main wrote before the creation.
        .replace("unknown(g); g = 7;", "is(g, 4); g = 7;")
        // The block that creates and joins is judged as a whole.
        .replace(
            "g = 5;\n            is(g, 5);",
            "if (some_int()) live();\n            g = 5;\n            is(g, 5);",
        )
        .as_str(),
    );
}

#[test]
fn locks_behind_pointers_are_named() {
    second_round(
        "static pthread_mutex_t m, n;
        struct account { pthread_mutex_t *lock; int balance; };
        static struct account account;
        static void *worker(void *arg) {
            struct account *a = arg;
            same(a->lock, &m);
            pthread_mutex_lock(a->lock);
            a->balance++;
            pthread_mutex_unlock(a->lock);
            return 0;
        }
        int main(void) {
            account.lock = &m;
            pthread_t t[2];
            pthread_create(&t[0], 0, worker, &account);
            pthread_create(&t[1], 0, worker, &account);
            pthread_join(t[0], 0);
            pthread_join(t[1], 0);
            return 0;
        }",
    );
}

#[test]
fn a_cell_that_another_thread_writes_is_not_known() {
    second_round(
        "static int g, h;
        static void *writer(void *arg) { g = 1; return 0; }
        static void *reader(void *arg) { unknown(g); is(h, 8); return 0; }
        int main(void) {
            pthread_t t, u;
            g = 1; h = 8;
            pthread_create(&t, 0, writer, 0);
            pthread_create(&u, 0, reader, 0);
            return 0;
        }",
    );
}

#[test]
fn recursion_and_many_callers() {
    second_round(
        "static int g, h; struct s { int *p; };
        static void down(int n) { is(g, 3); if (n) down(n - 1); is(g, 3); }
        static void up(int n) { unknown(h); h = n; if (n) up(n - 1); }
        static void use(struct s *s) { same(s->p, &g); }
        static void fill(struct s *s) { s->p = &g; }
        int main(void) {
            struct s a, b;
            g = 3;
            down(4);
            up(4);
            fill(&a); use(&a);
            fill(&b); use(&b);
            return 0;
        }",
    );
}

#[test]
fn figure_1_of_the_paper_as_a_program() {
    second_round(
        "static int g1, g2, g3, g4, g5, *p, *q, u;
        static void goo(void) {
            p = &g3;
            q = &g4;
            same(p, &g3); same(q, &g4);
            if (some_int()) p = &g5;
            u = 1;
            differ(p, &g3); differ(p, &g5); same(q, &g4);
        }
        static void bar(void) { goo(); }
        int main(void) {
            p = &g1;
            q = &g2;
            same(p, &g1); same(q, &g2);
            bar();
            differ(p, &g1); differ(p, &g3); differ(p, &g5); same(q, &g4);
            return 0;
        }",
    );
}

#[test]
fn structs_passed_by_value_bring_their_content() {
    second_round(
        "struct big { int a[20]; int *p; struct big *self; };
        static int g;
        static struct big kept;
        static void take(struct big it) { same(it.p, &g); is(it.a[3], 7); it.a[3] = 8; is(it.a[3], 8); }
        static int *leak(struct big it) { kept.p = &it.a[0]; return 0; }
        int main(void) {
            static struct big it;
            it.p = &g; it.a[3] = 7;
            take(it);
            is(it.a[3], 7);
            take(it);
            leak(it);
            differ(kept.p, &it.a[0]);
            return 0;
        }",
    );
}

/// Where `g` is read, the sum in `add` was not looked at yet, and becomes a constant only afterwards.
#[test]
fn a_switch_on_what_becomes_a_constant_late_comes_to_an_end() {
    second_round(
        "static int g;
        static void add(int *where) { *where += 1; }
        int main(void) {
            add(&g);
            switch (g) { case 0: some_int(); break; case 1: live(); }
            is(g, 1);
            return 0;
        }",
    );
}
