//! Where an analysis may take two things for one or one for two: objects of one allocation site, locks of one declaration, pointers
//! read at different times, cells that overlap.

use crate::programs::builder::{Builder, Lock, LockKind, Role};
use crate::programs::destroy::Kind;
use crate::programs::source::{Item, Node, block, branch, fixed, line};

/// Several objects from one allocation site: whose lock, whose field?
pub(super) fn made(b: &mut Builder) {
    let (tag, make, objects) = (b.fresh("box"), b.fresh("make"), b.fresh("o"));
    b.types.push(Item::Line(format!("struct {tag} {{ pthread_mutex_t m; int x; }};")));
    b.function(
        format!("struct {tag} *{make}(void)"),
        vec![
            fixed(format!("struct {tag} *fresh = calloc(1, sizeof *fresh);")),
            line("pthread_mutex_init(&fresh->m, 0);"),
            fixed("return fresh;"),
        ],
    );
    b.global(format!("struct {tag} *{objects}[2]"));
    if b.chance(50) {
        let fill = vec![line(format!("{objects}[i] = {make}();"))];
        b.before.push(block("for (int i = 0; i < 2; i++)", fill));
    } else {
        b.before.push(line(format!("{objects}[0] = {make}();")));
        b.before.push(line(format!("{objects}[1] = {make}();")));
    }
    for k in 0..2 {
        b.destroyable(Kind::Lock(LockKind::Mutex), &format!("&{objects}[{k}]->m"));
    }
    let p = b.local("p", &format!("struct {tag} *# = 0;"));
    let q = b.local("q", &format!("struct {tag} *# = 0;"));
    let (one, other) = b.two();
    for role in [one, other] {
        let guard = b.random.below(2);
        let used = if b.chance(70) { guard } else { b.random.below(2) };
        let access = b.access(&format!("{q}->x"));
        let nodes = vec![
            line(format!("{p} = {objects}[{guard}];")),
            line(format!("{q} = {objects}[{used}];")),
            line(format!("pthread_mutex_lock(&{p}->m);")),
            access,
            line(format!("pthread_mutex_unlock(&{p}->m);")),
        ];
        b.play(role, nodes);
    }
}

/// A lock that every thread has for itself guards nothing; one that only looks so does.
pub(super) fn own_lock(b: &mut Builder) {
    let x = b.int();
    let l = b.local("l", "pthread_mutex_t *# = 0;");
    let mut nodes = match b.random.below(5) {
        0 => {
            let own = b.local("own", "pthread_mutex_t # = PTHREAD_MUTEX_INITIALIZER;");
            vec![line(format!("{l} = &{own};"))]
        }
        1 => {
            let own = b.fresh("ownm");
            b.global(format!("_Thread_local pthread_mutex_t {own} = PTHREAD_MUTEX_INITIALIZER"));
            vec![line(format!("{l} = &{own};"))]
        }
        2 => {
            vec![line(format!("{l} = calloc(1, sizeof *{l});")), line(format!("pthread_mutex_init({l}, 0);"))]
        }
        3 => {
            let give = b.fresh("lock_of");
            b.function(
                format!("pthread_mutex_t *{give}(void)"),
                vec![
                    fixed("static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;"),
                    fixed("return &lock;"),
                ],
            );
            vec![line(format!("{l} = {give}();"))]
        }
        _ => {
            let (pick, first, second) = (b.fresh("pick"), b.mutex().address, b.mutex().address);
            let then = vec![line(format!("return {second};"))];
            let bound = b.pick(&["k > 7", "k > 0", "k < 0"]);
            b.function(
                format!("pthread_mutex_t *{pick}(int k)"),
                vec![branch(bound, then, Vec::new()), fixed(format!("return {first};"))],
            );
            vec![line(format!("{l} = {pick}(id);"))]
        }
    };
    nodes.push(line(format!("pthread_mutex_lock({l});")));
    nodes.push(b.access(&x));
    nodes.push(line(format!("pthread_mutex_unlock({l});")));
    b.all(nodes);
}

/// A pointer read in one critical section, used in the next, or across a wait.
pub(super) fn stale(b: &mut Builder) {
    let (tag, objects, current) = (b.fresh("box"), b.fresh("o"), b.fresh("cur"));
    b.types.push(Item::Line(format!("struct {tag} {{ pthread_mutex_t m; int x; }};")));
    b.global(format!(
        "struct {tag} {objects}[2] = {{ {{ PTHREAD_MUTEX_INITIALIZER, 0 }}, {{ PTHREAD_MUTEX_INITIALIZER, 0 }} }}"
    ));
    b.global(format!("struct {tag} *{current} = &{objects}[0]"));
    let guard = b.mutex();
    let p = b.local("p", &format!("struct {tag} *# = 0;"));
    let (one, other) = b.two();
    let read = line(format!("{p} = {current};"));
    let pause = if b.chance(50) {
        let cond = b.fresh("c");
        b.global(format!("pthread_cond_t {cond} = PTHREAD_COND_INITIALIZER"));
        vec![line(format!("pthread_cond_timedwait(&{cond}, {}, &soon);", guard.address))]
    } else if b.chance(60) {
        vec![b.give(&guard), b.take(&guard)]
    } else {
        Vec::new()
    };
    let used = if b.chance(50) { format!("{p}->x") } else { format!("{current}->x") };
    let own = b.chance(50);
    let access = b.access(&used);
    let mut nodes = vec![b.take(&guard), read];
    if own {
        nodes.push(line(format!("pthread_mutex_lock(&{p}->m);")));
    }
    nodes.extend(pause);
    nodes.push(access);
    if own {
        nodes.push(line(format!("pthread_mutex_unlock(&{p}->m);")));
    }
    nodes.push(b.give(&guard));
    b.play(one, nodes);
    let change = vec![line(format!("{current} = &{objects}[1];"))];
    let mut nodes = if b.chance(70) { b.guarded(&guard, change) } else { Vec::new() };
    let which = b.random.below(2);
    let lock = Lock { kind: LockKind::Mutex, address: format!("&{objects}[{which}].m") };
    let body = vec![b.access(&format!("{objects}[{which}].x"))];
    let body = if own { b.guarded(&lock, body) } else { b.guarded(&guard, body) };
    nodes.extend(body);
    b.play(other, nodes);
}

/// Pointers travel inside copied structures.
pub(super) fn copied(b: &mut Builder) {
    let (x, y) = (b.int(), b.int());
    let (first, second) = (b.mutex().address, b.mutex().address);
    let (tag, shared) = (b.fresh("pack"), b.fresh("pack_of"));
    b.types.push(Item::Line(format!("struct {tag} {{ pthread_mutex_t *lock; int *data; }};")));
    b.global(format!("struct {tag} {shared} = {{ {first}, &{x} }}"));
    let copy = b.local("copy", &format!("struct {tag} # = {{ 0, 0 }};"));
    let mut nodes = match b.random.below(3) {
        0 => vec![line(format!("{copy} = {shared};"))],
        1 => vec![line(format!("memcpy(&{copy}, &{shared}, sizeof {copy});"))],
        _ => vec![
            line(format!("{copy}.data = {shared}.data;")),
            line(format!("memcpy(&{copy}.lock, &{shared}.lock, sizeof {copy}.lock);")),
        ],
    };
    if b.chance(20) {
        let other =
            if b.chance(50) { format!("{copy}.lock = {second};") } else { format!("{copy}.data = &{y};") };
        nodes.push(line(other));
    }
    let body = if b.chance(40) {
        let helper = b.fresh("by_value");
        let access = b.access("(*pack.data)");
        b.function(
            format!("void {helper}(struct {tag} pack)"),
            vec![line("pthread_mutex_lock(pack.lock);"), access, line("pthread_mutex_unlock(pack.lock);")],
        );
        vec![line(format!("{helper}({copy});"))]
    } else {
        vec![
            line(format!("pthread_mutex_lock({copy}.lock);")),
            b.access(&format!("(*{copy}.data)")),
            line(format!("pthread_mutex_unlock({copy}.lock);")),
        ]
    };
    nodes.extend(body);
    b.all(nodes);
    if b.chance(15) {
        b.during.push(line(format!("{shared}.lock = {second};")));
    }
}

/// One lock or the other, then the access.
pub(super) fn either(b: &mut Builder) {
    let x = b.int();
    let (first, second) = (b.mutex(), b.mutex());
    let condition = b.condition();
    let flag = b.local("f", "int # = 0;");
    let (one, other) = b.two();
    let (then, otherwise) = (b.take(&first), b.take(&second));
    let access = b.access(&x);
    let (give, give_other) = (b.give(&first), b.give(&second));
    let mut nodes = vec![
        line(format!("{flag} = {condition};")),
        branch(&flag, vec![then], vec![otherwise]),
        access,
        branch(&flag, vec![give], vec![give_other]),
    ];
    if b.chance(40) {
        nodes.insert(0, line("pthread_mutex_lock(&$both);"));
        nodes.push(line("pthread_mutex_unlock(&$both);"));
        if !b.mutexes.iter().any(|name| name == "$both") {
            b.global("pthread_mutex_t $both = PTHREAD_MUTEX_INITIALIZER".to_owned());
            b.mutexes.push("$both".to_owned());
        }
    }
    b.play(one, nodes);
    let body = vec![b.access(&x)];
    let nodes = match b.random.below(3) {
        0 => b.guarded(&first, body),
        1 => b.guarded(&second, body),
        _ => {
            let inner = b.guarded(&second, body);
            b.guarded(&first, inner)
        }
    };
    b.play(other, nodes);
}

/// A list walked node by node, each with its lock, or hand over hand.
pub(super) fn chain(b: &mut Builder) {
    let (tag, first, second) = (b.fresh("link"), b.fresh("n"), b.fresh("n"));
    b.types.push(Item::Line(format!("struct {tag} {{ struct {tag} *next; pthread_mutex_t m; int x; }};")));
    b.global(format!("struct {tag} {second} = {{ 0, PTHREAD_MUTEX_INITIALIZER, 0 }}"));
    b.global(format!("struct {tag} {first} = {{ &{second}, PTHREAD_MUTEX_INITIALIZER, 0 }}"));
    let p = b.local("p", &format!("struct {tag} *# = 0;"));
    let walk = if b.chance(60) {
        let body = vec![
            line(format!("pthread_mutex_lock(&{p}->m);")),
            b.access(&format!("{p}->x")),
            line(format!("pthread_mutex_unlock(&{p}->m);")),
        ];
        vec![block(format!("for ({p} = &{first}; {p}; {p} = {p}->next)"), body)]
    } else {
        vec![
            line(format!("{p} = &{first};")),
            line(format!("pthread_mutex_lock(&{p}->m);")),
            line(format!("pthread_mutex_lock(&{p}->next->m);")),
            line(format!("pthread_mutex_unlock(&{p}->m);")),
            line(format!("{p} = {p}->next;")),
            b.access(&format!("{p}->x")),
            line(format!("pthread_mutex_unlock(&{p}->m);")),
        ]
    };
    let (one, other) = b.two();
    b.play(one, walk);
    let lock = Lock { kind: LockKind::Mutex, address: format!("&{second}.m") };
    let body = vec![b.access(&format!("{second}.x"))];
    let nodes = b.guarded(&lock, body);
    b.play(other, nodes);
}

/// Only the winner of a compare-exchange goes on.
pub(super) fn elected(b: &mut Builder) {
    let x = b.int();
    let word = b.fresh("word");
    b.global(format!("atomic_int {word}"));
    let e = b.local("e", "int # = 0;");
    let access = b.access(&x);
    let wins = format!("atomic_compare_exchange_strong(&{word}, &{e}, 1)");
    b.all(vec![branch(&wins, vec![access], Vec::new())]);
    if b.chance(25) {
        let read = b.read(&x);
        b.after.push(read);
    }
}

/// A field of the argument that only its thread uses.
pub(super) fn own_field(b: &mut Builder) {
    let field = b.fresh("sum").replace('$', "");
    let inits = vec!["0".to_owned(); b.threads];
    b.arg_fields.push((format!("int {field}"), inits));
    let access = b.access(&format!("a->{field}"));
    b.all(vec![access]);
    if b.chance(60) {
        let index = b.random.below(b.threads);
        let read = b.read(&format!("@args[{index}].{field}"));
        b.after.push(read);
    }
}

/// The lock is chosen by what the pointer is.
pub(super) fn correlated(b: &mut Builder) {
    let (x, y) = (b.int(), b.int());
    let (first, second) = (b.mutex(), b.mutex());
    let p = b.local("p", "int *# = 0;");
    let condition = b.condition();
    let (take, take_other) = (b.take(&first), b.take(&second));
    let access = b.access(&format!("(*{p})"));
    let (give, give_other) = (b.give(&first), b.give(&second));
    let is_x = format!("{p} == &{x}");
    let nodes = vec![
        line(format!("{p} = {condition} ? &{x} : &{y};")),
        branch(&is_x, vec![take], vec![take_other]),
        access,
        branch(&is_x, vec![give], vec![give_other]),
    ];
    let (one, other) = b.two();
    b.play(one, nodes);
    let body = vec![b.access(&x)];
    let mut nodes = b.guarded(&first, body);
    if b.chance(40) {
        let body = vec![b.access(&y)];
        nodes.extend(b.guarded(&second, body));
    }
    b.play(other, nodes);
}

/// Accesses wider than a cell, or beside it.
pub(super) fn neighbours(b: &mut Builder) {
    let n = b.threads;
    let cells = b.fresh("cell");
    b.global(format!("int {cells}[{}] __attribute__((aligned(8)))", 2 * n + 2));
    let v = b.value();
    let access: Node = match b.random.below(7) {
        0 => line(format!("*(long long *)&{cells}[2 * id] = 1;")),
        1 => line(format!("*(short *)&{cells}[id] = 1;")),
        2 => line(format!("((char *)&{cells}[id])[3]++;")),
        3 => line(format!("memset(&{cells}[id], 0, 2 * sizeof(int));")),
        4 => line(format!("memcpy(&{cells}[2 * id], &{v}, sizeof(int));")),
        5 => line(format!("*({cells} + id + 1) = {v};")),
        _ => {
            let p = b.local("p", "int *# = 0;");
            let step = b.pick(&["1", "id", "id + 1"]);
            b.all(vec![line(format!("{p} = &{cells}[id];"))]);
            line(format!("{p}[{step}]++;"))
        }
    };
    b.all(vec![access]);
    if b.chance(30) {
        let plain = b.access(&format!("{cells}[2 * id + 1]"));
        let thread = b.random.below(n);
        b.play(Role::Worker(thread), vec![plain]);
    }
}

/// Tries until it has the lock.
pub(super) fn insistent(b: &mut Builder) {
    let x = b.int();
    let lock = b.mutex();
    let call = format!("pthread_mutex_trylock({})", lock.address);
    let access = b.access(&x);
    let give = b.give(&lock);
    let nodes = match b.random.below(3) {
        0 => vec![block(format!("while ({call} != 0)"), vec![line("thrd_yield();")]), access, give],
        1 => vec![block(format!("while ({call})"), vec![line("thrd_yield();")]), access, give],
        _ => vec![block(
            "for (int i = 0; i < 2; i++)",
            vec![branch(&format!("{call} == 0"), vec![access, give, line("break;")], Vec::new())],
        )],
    };
    let (one, other) = b.two();
    b.play(one, nodes);
    let body = vec![b.access(&x)];
    let nodes = b.guarded(&lock, body);
    b.play(other, nodes);
}
