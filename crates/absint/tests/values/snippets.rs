//! Expectations as calls: `is(x, 5)`, `between(x, 0, 9)`, `unknown(x)`, `same(a, b)`, `differ(a, b)`, `live()`, `dead()`.

use crate::compile;
use raddle_absint::Roots;
use raddle_absint::values::{Bounds, registers, typed_term_of};
use raddle_facts::{Interval, Term, Values};
use raddle_ir::{Callee, FunctionId, Inst, Operand, Program};

pub const DECLARATIONS: &str = "
#include <stddef.h>
#include <pthread.h>
void is(long x, long value);
void between(long x, long low, long high);
void unknown(long x);
void same(const void *a, const void *b);
void differ(const void *a, const void *b);
void live(void);
void dead(void);
int some_int(void);
void *some_pointer(void);
";

#[track_caller]
fn first_round(source: &str) {
    let (program, models) = compile(&format!("{DECLARATIONS}\n#line 1\n{source}"));
    let values = registers(&program, &models, &Roots::of(&program, Vec::new()));
    let wrong = disagreements(&program, &values);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// All expectations that are not met, in the order of the program.
pub fn disagreements(program: &Program, values: &Values) -> Vec<String> {
    let bounds = Bounds::new(program, values);
    let mut wrong = Vec::new();
    let mut expectations = 0;
    for (function, body) in program.functions.iter() {
        for (id, block) in body.blocks.iter() {
            let reachable = values.is_reachable(function, id);
            for (index, inst) in block.insts.iter().enumerate() {
                let Inst::Call { callee: Callee::Direct(callee), args, .. } = inst else { continue };
                let name = program.text(program.functions[*callee].symbol);
                let operands: Vec<(Operand, raddle_ir::Ty)> =
                    args.iter().map(|arg| (arg.value, arg.ty)).collect();
                let problem = match name {
                    "live" => (!reachable).then(|| "is not reached".to_owned()),
                    "dead" => reachable.then(|| "is reached".to_owned()),
                    "is" | "between" | "unknown" | "same" | "differ" if !reachable => {
                        Some("is not reached".to_owned())
                    }
                    "is" | "between" | "unknown" | "same" | "differ" => {
                        let interval = bounds.at(function, id, operands[0].0, operands[0].1);
                        expectation(values, function, name, &operands, interval)
                    }
                    _ => continue,
                };
                expectations += 1;
                if let Some(problem) = problem {
                    let line = program.sites[block.site_of(index)].span.map_or(0, |span| span.line);
                    wrong.push(format!("line {line}, {name}: {problem}"));
                }
            }
        }
    }
    assert!(expectations > 0, "a test that expects nothing");
    wrong
}

fn expectation(
    values: &Values,
    function: FunctionId,
    name: &str,
    operands: &[(Operand, raddle_ir::Ty)],
    interval: Interval,
) -> Option<String> {
    let term = |at: usize| typed_term_of(values, function, &operands[at].0, operands[at].1).expect("a term");
    let constant = |at: usize| term(at).as_constant().expect("the expectation is a constant");
    match name {
        "is" => (term(0) != Term::constant(constant(1))).then(|| format!("{:?}", term(0))),
        "between" => {
            let wanted = Interval { low: constant(1), high: constant(2) };
            (interval != wanted).then(|| format!("{interval:?}"))
        }
        "unknown" => term(0).as_constant().map(|value| value.to_string()),
        "same" => (term(0) != term(1)).then(|| format!("{:?} and {:?}", term(0), term(1))),
        _ => (term(0) == term(1)).then(|| format!("both {:?}", term(0))),
    }
}

#[test]
fn constants_come_through_arithmetic_and_branches() {
    first_round(
        "int main(void) {
            int x = 3, y;
            if (x * 2 == 6) { live(); y = x + 4; } else { dead(); y = some_int(); }
            is(y, 7);
            is((unsigned char)(x - 4), 255);
            is((signed char)(x + 252), -1);
            is(-7 / 2, -3);
            is(some_int() & 0, 0);
            unknown(some_int());
            switch (y) { case 6: dead(); break; case 7: live(); break; default: dead(); }
            int z = some_int() ? y : 7;
            is(z, 7);
            while (y == 8) { dead(); y++; }
            return 0;
        }",
    );
}

#[test]
fn loops_give_bounds_inside_and_behind() {
    first_round(
        "int main(void) {
            for (int i = 0; i < 10; i++) between(i, 0, 9);
            int n = some_int() & 15;
            for (int i = 2; i <= n; i++) between(i, 2, 15);
            for (int i = 9; i >= 0; i--) between(i, 0, 9);
            for (int i = 0; i != 10; i++) between(i, 0, 9);
            for (size_t i = 0; i < 4; i++) between(i, 0, 3);
            for (int i = 0; i < sizeof(int); i++) between(i, 0, 3);
            for (int i = 0; i < 3; i++) for (int j = i; j < 5; j++) { between(j, 0, 4); between(i, 0, 2); }
            int k = 0;
            while (some_int()) { if (k < 7) { between(k, 0, 6); k++; } }
            between(k, 0, 7);
            int m = some_int();
            if (m > 3 && m < 8) between(m, 4, 7);
            if ((unsigned)m < 5u) between(m, 0, 4);
            unsigned u = some_int();
            between(u % 6, 0, 5);
            switch (m) { case 4: is(m, 4); break; }
            return 0;
        }"
        // A case narrows the interval; the register keeps its own name.
        .replace("is(m, 4)", "between(m, 4, 4)")
        .as_str(),
    );
}

#[test]
fn parameters_agree_or_have_one_caller() {
    first_round(
        "static int g; struct s { int a, b; };
        static void twice(int x, int *p, int y) { is(x, 5); same(p, &g); unknown(y); }
        static void inner(struct s *p, int *b) { same(&p->b, b); }
        static void outer(struct s *p) { inner(p, &p->b); }
        static void up(int n) { if (n < 20) { between(n, 0, 19); up(n + 1); } }
        static int *identity(int *p) { return p; }
        static int *second(struct s *p) { return &p->b; }
        static int five(int c) { if (c) return 5; return 2 + 3; }
        int main(void) {
            struct s here, there;
            twice(5, &g, 1); twice(2 + 3, &g, 2);
            outer(some_int() ? &here : &there);
            up(0);
            int *q = some_pointer();
            same(identity(q), q);
            same(identity(&g), &g);
            same(second(&here), &here.b);
            differ(second(&there), &here.b);
            is(five(some_int()), 5);
            return 0;
        }",
    );
}

#[test]
fn one_caller_is_not_enough_for_a_recursive_function_or_a_thread() {
    first_round(
        "static int *kept;
        static void again(int *p, int *top, int n) {
            int *mine = some_pointer();
            differ(p, top);
            if (n) again(mine, top, n - 1);
        }
        static void *worker(void *p) { int *q = p; differ(q, kept); unknown((long)p); return 0; }
        int main(void) {
            again(some_pointer(), some_pointer(), 3);
            pthread_t t;
            for (int i = 0; i < 3; i++) { int *p = some_pointer(); kept = p; pthread_create(&t, 0, worker, p); }
            return 0;
        }",
    );
}

#[test]
fn threads_get_constants_and_globals() {
    first_round(
        "static int g[4];
        static void *one(void *p) { same(p, &g[2]); live(); return 0; }
        static void *two(void *p) { is((long)p, 7); return 0; }
        static void *never(void *p) { dead(); return p; }
        int main(void) {
            pthread_t t;
            pthread_create(&t, 0, one, &g[2]);
            pthread_create(&t, 0, two, (void *)7);
            pthread_create(&t, 0, two, (void *)7);
            if (0) pthread_create(&t, 0, never, 0);
            return 0;
        }",
    );
}

#[test]
fn tables_of_constants_are_read_and_variables_are_not() {
    first_round(
        "static const int table[3] = {4, 5, 6};
        static int variable = 4;
        static void f(void) { live(); }
        static void h(void) { dead(); }
        static void (*const calls[])(void) = {f};
        static const struct { const int *p; short s; } pair = {&table[1], -2};
        int main(void) {
            is(table[2], 6);
            unknown(variable);
            same(pair.p, &table[1]);
            is(pair.s, -2);
            is(*pair.p, 5);
            calls[0]();
            return 0;
        }",
    );
}

#[test]
fn calls_through_pointers_reach_what_has_its_address_taken() {
    first_round(
        "static void a(int x) { live(); unknown(x); }
        static void b(int x) { live(); }
        static void c(int x) { dead(); }
        static void (*variable)(int) = a;
        static void (*other)(int) = b;
        int main(void) { a(3); variable(4); other(3); if (0) c(1); return 0; }",
    );
}

#[test]
fn narrow_sums_may_wrap() {
    first_round(
        "int main(void) {
            unsigned char c = some_int();
            char array[600];
            unsigned char d = c + 1;
            differ(&array[d], &array[c + 1]);
            int i = some_int();
            if (i < 100 && i > 0) same(&array[i + 1], &array[1 + i]);
            long l = some_int();
            same(&array[l + 2] - 1, &array[l + 1]);
            return 0;
        }",
    );
}
