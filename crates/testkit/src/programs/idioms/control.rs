//! Unusual ways of control: tables of functions, early returns with a lock held, callbacks, recursion.

use crate::programs::builder::{Builder, Role};
use crate::programs::source::{Item, branch, fixed, line};

/// Which function runs is looked up in a table.
pub(super) fn table(b: &mut Builder) {
    let x = b.int();
    let lock = b.any_lock();
    let (locked, bare, table) = (b.fresh("locked"), b.fresh("bare"), b.fresh("ops"));
    let body = vec![b.access(&x)];
    let nodes = b.guarded(&lock, body);
    b.function(format!("void {locked}(void)"), nodes);
    let other = b.int();
    let target = if b.chance(35) { x } else { other };
    let access = b.access(&target);
    b.function(format!("void {bare}(void)"), vec![access]);
    b.globals.push(Item::Line(format!("static void {locked}(void);")));
    b.globals.push(Item::Line(format!("static void {bare}(void);")));
    b.global(format!("void (*{table}[2])(void) = {{ {locked}, {bare} }}"));
    let (one, other) = b.two();
    let (first, second) = match b.random.below(4) {
        0 => ("0", "0"),
        1 => ("0", "1"),
        2 => ("__VERIFIER_nondet_bool()", "0"),
        _ => ("id % 2", "0"),
    };
    let first = if one == Role::Main && first.starts_with("id") { "0" } else { first };
    b.play(one, vec![line(format!("{table}[{first}]();"))]);
    b.play(other, vec![line(format!("{table}[{second}]();"))]);
}

/// A helper that does not come back, or does under a condition.
pub(super) fn dying(b: &mut Builder) {
    let x = b.int();
    let lock = b.any_lock();
    let (bye, through) = (b.fresh("bye"), b.fresh("through"));
    let (condition, rarely) = (b.condition(), b.condition());
    let end = match b.random.below(4) {
        0 => branch(&rarely, vec![line("exit(0);")], Vec::new()),
        1 => line("for (;;) exit(0);"),
        _ => line("exit(0);"),
    };
    b.function(format!("void {bye}(void)"), vec![end]);
    b.function(format!("void {through}(void)"), vec![line(format!("{bye}();"))]);
    let call = if b.chance(50) { bye } else { through };
    let (take, give) = (b.take(&lock), b.give(&lock));
    let (access, last) = (b.access(&x), b.access(&x));
    let wrong = vec![give.clone(), line(format!("{call}();"))];
    b.all(vec![take, access, branch(&condition, wrong, Vec::new()), last, give]);
}

/// Leaves with the lock held, or by one exit for all.
pub(super) fn early_return(b: &mut Builder) {
    let x = b.int();
    let lock = b.any_lock();
    let helper = b.fresh("try");
    let condition = b.condition();
    let (take, give) = (b.take(&lock), b.give(&lock));
    let access = b.access(&x);
    let body = match b.random.below(4) {
        0 => vec![
            take,
            branch(&condition, vec![line("return 1;")], Vec::new()),
            access,
            give,
            fixed("return 0;"),
        ],
        1 => vec![
            take,
            branch(&condition, vec![give.clone(), line("return 1;")], Vec::new()),
            access,
            give,
            fixed("return 0;"),
        ],
        2 => vec![
            take,
            branch(&condition, vec![line("goto out;")], Vec::new()),
            access,
            fixed("out: ;"),
            give,
            fixed("return 0;"),
        ],
        _ => vec![branch(&condition, vec![line("return 1;")], Vec::new()), take, access, fixed("return 0;")],
    };
    let leaves_locked = body.len() == 4;
    b.function(format!("int {helper}(void)"), body);
    let call = if leaves_locked {
        let more = vec![b.access(&x), b.give(&lock)];
        branch(&format!("{helper}() == 0"), more, Vec::new())
    } else {
        line(format!("{helper}();"))
    };
    let (one, other) = b.two();
    b.play(one, vec![call]);
    let body = vec![b.access(&x)];
    let nodes = b.guarded(&lock, body);
    b.play(other, nodes);
}

/// A function gets what to do under its lock.
pub(super) fn callback(b: &mut Builder) {
    let x = b.int();
    let lock = b.any_lock();
    let (with, work) = (b.fresh("with"), b.fresh("work"));
    let access = b.access("(*p)");
    b.function(format!("void {work}(int *p)"), vec![access]);
    let nodes = b.guarded(&lock, vec![line("f(p);")]);
    b.function(format!("void {with}(void (*f)(int *), int *p)"), nodes);
    let (one, other) = b.two();
    b.play(one, vec![line(format!("{with}({work}, &{x});"))]);
    let direct =
        if b.chance(75) { line(format!("{with}({work}, &{x});")) } else { line(format!("{work}(&{x});")) };
    b.play(other, vec![direct]);
}

/// A function that calls itself.
pub(super) fn recursion(b: &mut Builder) {
    let x = b.int();
    let lock = b.any_lock();
    let down = b.fresh("down");
    let body = vec![b.access(&x)];
    let mut inside = b.guarded(&lock, body);
    inside.push(line(format!("{down}(n - 1);")));
    b.function(format!("void {down}(int n)"), vec![branch("n > 0", inside, Vec::new())]);
    let (one, other) = b.two();
    let depth = b.random.between(1, 2);
    b.play(one, vec![line(format!("{down}({depth});"))]);
    b.play(other, vec![line(format!("{down}(1);"))]);
}

/// Cases that fall through.
pub(super) fn switch(b: &mut Builder) {
    let x = b.int();
    let (first, second) = (b.mutex().address, b.mutex().address);
    let v = b.value();
    let role = b.pick(&["id", "id % 2", "0", "__VERIFIER_nondet_bool()"]);
    let access = b.access(&x);
    b.all(vec![
        line(format!("{v} = {role};")),
        line(format!("switch ({v}) {{ case 0: pthread_mutex_lock({first}); break; default: pthread_mutex_lock({second}); }}")),
        access,
        line(format!("switch ({role}) {{ case 0: pthread_mutex_unlock({first}); break; default: pthread_mutex_unlock({second}); }}")),
    ]);
}

/// A variable of a function that outlives it.
pub(super) fn static_local(b: &mut Builder) {
    let lock = b.any_lock();
    let next = b.fresh("next");
    let body = vec![line("count++;")];
    let mut nodes = vec![fixed("static int count;")];
    nodes.extend(if b.chance(70) { b.guarded(&lock, body) } else { body });
    nodes.push(fixed("return 0;"));
    b.function(format!("int {next}(void)"), nodes);
    let call = vec![line(format!("{next}();"))];
    let (one, other) = b.two();
    b.play(one, call.clone());
    let call =
        if b.chance(50) { b.guarded(&lock, Vec::new()).into_iter().chain(call).collect() } else { call };
    b.play(other, call);
}

/// Pointers as numbers, bytes and `void *`.
pub(super) fn launder(b: &mut Builder) {
    let x = b.int();
    let lock = b.any_lock();
    let number = b.fresh("number");
    b.global(format!("uintptr_t {number}"));
    let p = b.local("p", "int *# = 0;");
    let set = match b.random.below(3) {
        0 => format!("{number} = (uintptr_t)&{x};"),
        1 => format!("{{ int *q = &{x}; memcpy(&{number}, &q, sizeof q); }}"),
        _ => format!("*(int **)&{number} = &{x};"),
    };
    b.before.push(line(set));
    let body = vec![line(format!("{p} = (int *){number};")), b.access(&format!("(*{p})"))];
    let (one, other) = b.two();
    let nodes = b.guarded(&lock, body);
    b.play(one, nodes);
    let body = vec![b.access(&x)];
    let nodes = b.guarded(&lock, body);
    b.play(other, nodes);
}
