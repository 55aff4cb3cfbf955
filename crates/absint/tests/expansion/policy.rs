//! What the policy copies and unrolls, on small programs.

use crate::{compile, function, roots};
use raddle_absint::specialise::{self, Budget};
use raddle_ir::Program;
use raddle_ir::expand::{Body, Expanded, Recipe, apply};

struct Result {
    program: Program,
    recipe: Recipe,
    expanded: Expanded,
}

fn specialise(source: &str, budget: Budget) -> Result {
    let (program, models) = compile(source);
    let recipe = specialise::recipe(&program, &models, &roots(&program), budget);
    assert_eq!(recipe, specialise::recipe(&program, &models, &roots(&program), budget));
    let expanded = apply(&program, &recipe).unwrap();
    Result { program, recipe, expanded }
}

impl Result {
    /// Bodies of one function in the expanded program, the original included.
    fn bodies(&self, name: &str) -> usize {
        let origin = function(&self.program, name);
        self.expanded.function_origin.values().filter(|f| **f == origin).count()
    }

    /// Loops left in the original body of a function.
    fn loops(&self, name: &str) -> usize {
        Body::of(&self.expanded.program.functions[function(&self.program, name)]).loops().len()
    }

    fn instructions(&self) -> usize {
        self.expanded.site_origin.len()
    }
}

const POOL: &str = r"
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_t t[2]; int ids[2]; int total;
void locked_add(int n) { pthread_mutex_lock(&m); total += n; pthread_mutex_unlock(&m); }
void *worker(void *arg) { for (int i = 0; i < 4; i++) locked_add(*(int *)arg); return 0; }
void *single(void *arg) { return arg; }
int main(void) {
    pthread_t s;
    for (int i = 0; i < 2; i++) ids[i] = i;
    for (int i = 0; i < 2; i++) if (pthread_create(&t[i], 0, worker, &ids[i])) return 1;
    pthread_create(&s, 0, single, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return total;
}
";

#[test]
fn each_thread_of_a_loop_runs_its_own_copy() {
    let pool = specialise(POOL, Budget::default());
    assert_eq!((pool.bodies("worker"), pool.bodies("locked_add"), pool.bodies("single")), (2, 8, 1));
    assert_eq!((pool.loops("main"), pool.loops("worker")), (0, 0));
}

#[test]
fn calls_along_the_tree_are_told_apart() {
    let tree = specialise(
        r"
int x;
void leaf(int n) { x += n; }
void inner(int n) { leaf(n); leaf(n + 1); }
void once_called(void) { inner(5); }
int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) { inner(1); inner(2); once_called(); return fib(3) + fib(4); }
",
        Budget::default(),
    );
    assert_eq!(tree.bodies("inner"), 3);
    assert_eq!(tree.bodies("leaf"), 6);
    assert_eq!(tree.bodies("once_called"), 1);
    assert_eq!(tree.bodies("fib"), 1);
}

/// Three levels of a thread that creates two of its own kind, directly and through a wrapper; the last level stands for all others.
#[test]
fn threads_that_create_themselves_have_few_copies() {
    let tree = specialise(
        r"
#include <pthread.h>
pthread_t t[2];
void *worker(void *);
void start(pthread_t *t, void *arg) { pthread_create(t, 0, worker, arg); }
void *worker(void *arg) {
    if (arg) { pthread_create(&t[0], 0, worker, 0); start(&t[1], 0); }
    return arg;
}
int main(void) { pthread_t t; return pthread_create(&t, 0, worker, &t); }
",
        Budget::default(),
    );
    assert_eq!((tree.bodies("worker"), tree.bodies("start")), (1 + 2 + 4, 1 + 2 + 4));
}

#[test]
fn once_functions_and_pointers_share_one_body() {
    let shared = specialise(
        r"
#include <pthread.h>
pthread_once_t once = PTHREAD_ONCE_INIT;
int x;
void setup(void) { x = 1; }
void hook(void) { x = 2; }
void (*hooks[])(void) = { hook };
void *worker(void *arg) { pthread_once(&once, setup); hooks[0](); return arg; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    hook();
    return 0;
}
",
        Budget::default(),
    );
    assert_eq!((shared.bodies("worker"), shared.bodies("setup"), shared.bodies("hook")), (2, 1, 2));
}

#[test]
fn loops_of_threads_are_unrolled_for_barriers_and_if_short() {
    let rounds = specialise(
        r"
#include <pthread.h>
pthread_barrier_t b; int x[3];
void meet(void) { pthread_barrier_wait(&b); }
void *phases(void *arg) { for (int i = 0; i < 3; i++) { x[i] = 1; meet(); } return arg; }
void *plain(void *arg) { for (int i = 0; i < 3; i++) x[i] = 2; return arg; }
int main(void) {
    pthread_t s, t;
    pthread_barrier_init(&b, 0, 2);
    pthread_create(&s, 0, phases, 0);
    pthread_create(&t, 0, plain, 0);
    for (int i = 0; i < 33; i++) x[0] = i;
    return 0;
}
",
        Budget::default(),
    );
    assert_eq!((rounds.loops("phases"), rounds.loops("plain"), rounds.loops("main")), (0, 0, 1));
    assert_eq!(rounds.bodies("meet"), 3);
}

#[test]
fn breaks_and_latch_tests_are_unrolled() {
    let shapes = specialise(
        r"
int x;
int main(void) {
    int i, n = 3;
    for (i = 0; i < 4; i++) if (x == i) break;
    x += i;
    do { x += n; if (x == 7) continue; x++; } while (--n > 0);
    long k = 10;
    while (k > 0) { k -= 3; if (x > 5) continue; x += (int)k; }
    return n;
}
",
        Budget::default(),
    );
    assert_eq!(shapes.loops("main"), 0);
}

#[test]
fn counters_of_every_width_and_sign_are_counted_out() {
    let loops = specialise(include_str!("../../../../tests/native/loops.c"), Budget::default());
    for (name, left) in
        [("counters", 0), ("values_behind", 0), ("ways_out", 0), ("early", 0), ("again", 1), ("squares", 0)]
    {
        assert_eq!(loops.loops(name), left, "{name}");
    }
}

#[test]
fn the_budget_is_kept_and_near_calls_come_first() {
    let calls: String = (0..40).map(|i| format!("  far({i}); near({i});\n")).collect();
    let source = format!(
        "int x; void deep(int n) {{ x += n; }} void far(int n) {{ deep(n); deep(n); }}
         void near(int n) {{ x -= n; }} int main(void) {{\n{calls} return x; }}"
    );
    let budget = Budget { instructions: 600, growth: 1, ..Budget::default() };
    let small = specialise(&source, budget);
    assert!(small.instructions() <= 600, "{}", small.instructions());
    assert_eq!((small.bodies("far"), small.bodies("near")), (40, 40));
    assert!(small.bodies("deep") > 1 && small.bodies("deep") < 80, "{}", small.bodies("deep"));
    let none = specialise(&source, Budget { instructions: 0, growth: 1, ..Budget::default() });
    assert_eq!(none.recipe.functions.len(), none.program.functions.len());
}

#[test]
fn of_a_large_program_only_lock_wrappers_are_copied() {
    let large = specialise(
        r"
#include <pthread.h>
pthread_mutex_t a, b; int x;
void enter(pthread_mutex_t *m) { pthread_mutex_lock(m); }
void outer(pthread_mutex_t *m) { enter(m); }
void other(int n) { x += n; }
int main(void) {
    for (int i = 0; i < 2; i++) pthread_mutex_init(i ? &a : &b, 0);
    outer(&a); outer(&b); other(1); other(2);
    return 0;
}
",
        Budget { small_program: 10, ..Budget::default() },
    );
    assert_eq!((large.bodies("enter"), large.bodies("outer"), large.bodies("other")), (2, 2, 1));
    assert_eq!(large.loops("main"), 1);
}
