//! Locks inside objects and locks behind pointers: which lock is it, and is it the one of this object?

use crate::programs::builder::{Builder, Lock, LockKind, Role};
use crate::programs::destroy::Kind;
use crate::programs::source::{Item, Node, branch, line};

/// `p->m` guards `p->x`.
pub(super) fn boxes(b: &mut Builder) {
    let kind =
        b.random.pick(&[LockKind::Mutex, LockKind::Mutex, LockKind::Mutex, LockKind::Spin, LockKind::Rwlock]);
    let tag = b.fresh("box");
    let field = b.pick(&["int x; ", "int x; int y; ", ""]);
    b.types.push(Item::Line(format!("struct {tag} {{ {field}{} m; int z; }};", kind.c_type())));
    let objects = b.fresh("o");
    let n = b.threads;
    let storage = b.random.below(5);
    let p = b.local("p", &format!("struct {tag} *# = 0;"));
    // How a worker comes to its object, and how `main` makes them ready.
    let (find, ready): (String, Vec<String>) = match storage {
        0 => {
            b.global(format!("struct {tag} {objects}"));
            (format!("&{objects}"), vec![format!("&{objects}")])
        }
        1 => {
            b.global(format!("struct {tag} {objects}[{n}]"));
            let index = match b.random.below(4) {
                0 => "0".to_owned(),
                1 => "__VERIFIER_nondet_bool()".to_owned(),
                _ => b.index(),
            };
            (format!("&{objects}[{index}]"), (0..n).map(|k| format!("&{objects}[{k}]")).collect())
        }
        2 => {
            b.tag("heap object");
            b.global(format!("struct {tag} *{objects}"));
            let make = b.pick(&["malloc(sizeof", "calloc(1, sizeof"]);
            b.before.push(line(format!("{objects} = {make} *{objects});")));
            if make.starts_with('m') {
                b.before.push(line(format!("memset({objects}, 0, sizeof *{objects});")));
            }
            (objects.clone(), vec![objects.clone()])
        }
        3 => {
            b.tag("heap objects");
            b.global(format!("struct {tag} *{objects}[{n}]"));
            let all = format!("for (int i = 0; i < {n}; i++)");
            let fill = vec![line(format!("{objects}[i] = calloc(1, sizeof **{objects});"))];
            b.before.push(Node::Block { head: all, body: fill, otherwise: Vec::new() });
            let index = b.index();
            (format!("{objects}[{index}]"), (0..n).map(|k| format!("{objects}[{k}]")).collect())
        }
        _ => {
            b.global(format!("struct {tag} {objects}[2]"));
            let same = b.random.below(2);
            let inits =
                (0..n).map(|k| format!("&{objects}[{}]", if b.chance(50) { k % 2 } else { same })).collect();
            b.arg_fields.push((format!("struct {tag} *{}", objects.replace('$', "")), inits));
            (format!("a->{}", objects.replace('$', "")), (0..2).map(|k| format!("&{objects}[{k}]")).collect())
        }
    };
    for object in ready {
        let nodes = b.initialise(kind, &format!("&({object})->m"));
        b.before.extend(nodes);
        b.destroyable(Kind::Lock(kind), &format!("&({object})->m"));
    }
    let lock = Lock { kind, address: format!("&{p}->m") };
    let mut body = vec![b.access(&format!("{p}->z"))];
    if storage != 4 && b.chance(12) {
        b.tag("pointer changes under its lock");
        let again = b.index();
        let change = match storage {
            1 => format!("{p} = &{objects}[{again}];"),
            3 => format!("{p} = {objects}[{again}];"),
            _ => format!("{p} = {find};"),
        };
        body.insert(0, line(change));
    }
    let mut nodes = vec![line(format!("{p} = {find};"))];
    if b.chance(35) {
        let helper = b.fresh("add");
        let inside = b.guarded(&lock, body);
        b.function(format!("void {helper}(struct {tag} *{p})"), inside);
        nodes.push(line(format!("{helper}({p});")));
    } else {
        nodes.extend(b.guarded(&lock, body));
    }
    if b.chance(15) && field.len() > 8 {
        nodes.push(b.read(&format!("{p}->y")));
    }
    b.all(nodes);
    if storage != 4 && b.chance(30) {
        b.after.extend([line(format!("{p} = {find};")), line(format!("{p}->z++;"))]);
    }
}

/// Which lock it is depends on a pointer: global, local, parameter or field, reassigned under conditions.
pub(super) fn lock_pointer(b: &mut Builder) {
    let x = b.int();
    let (first, second) = (b.mutex(), b.mutex());
    let (m0, m1) = (first.address, second.address);
    let shape = b.random.below(6);
    let pointer = match shape {
        0 | 1 => {
            let pointer = b.fresh("lp");
            b.global(format!("pthread_mutex_t *{pointer} = {m0}"));
            let condition = b.condition();
            if b.chance(50) {
                b.before.push(branch(&condition, vec![line(format!("{pointer} = {m1};"))], Vec::new()));
            }
            if b.chance(15) {
                b.tag("lock pointer changes meanwhile");
                b.during.push(line(format!("{pointer} = {m1};")));
            }
            pointer
        }
        2 => {
            let tag = b.fresh("holder");
            let object = b.fresh("h");
            b.types.push(Item::Line(format!("struct {tag} {{ int pad; pthread_mutex_t *lock; }};")));
            b.global(format!("struct {tag} {object} = {{ 0, {m0} }}"));
            format!("{object}.lock")
        }
        3 => {
            let choice = match b.random.below(4) {
                0 => format!("__VERIFIER_nondet_bool() ? {m0} : {m1}"),
                1 => format!("id == 0 ? {m0} : {m0}"),
                2 => format!("id > 5 ? {m1} : {m0}"),
                _ => m0.clone(),
            };
            let pointer = b.local("lp", "pthread_mutex_t *# = 0;");
            b.all(vec![line(format!("{pointer} = {choice};"))]);
            pointer
        }
        4 => {
            let pointer = b.local("lp", "pthread_mutex_t *# = 0;");
            let mut then = vec![line(format!("{pointer} = {m1};"))];
            if b.chance(40) {
                then = vec![line(format!("{pointer} = {m0};"))];
            }
            let condition = b.condition();
            b.all(vec![line(format!("{pointer} = {m0};")), branch(&condition, then, Vec::new())]);
            pointer
        }
        _ => {
            let table = b.fresh("locks");
            b.global(format!("pthread_mutex_t *{table}[2] = {{ {m0}, {m1} }}"));
            let index = b.pick(&["0", "id & 0", "id % 2", "id > 7"]);
            format!("{table}[{index}]")
        }
    };
    let access = b.access(&x);
    let mut nodes = Vec::new();
    if b.chance(25) {
        b.tag("lock as parameter");
        let helper = b.fresh("under");
        let body = vec![line("pthread_mutex_lock(lock);"), access, line("pthread_mutex_unlock(lock);")];
        b.function(format!("void {helper}(pthread_mutex_t *lock)"), body);
        nodes.push(line(format!("{helper}({pointer});")));
    } else {
        nodes.push(line(format!("pthread_mutex_lock({pointer});")));
        nodes.push(access);
        if b.chance(12) && shape != 5 {
            b.tag("lock pointer changes while held");
            nodes.push(line(format!("{pointer} = {m1};")));
            nodes.push(b.access(&x));
            nodes.push(line(format!("pthread_mutex_unlock({m0});")));
        } else {
            nodes.push(line(format!("pthread_mutex_unlock({pointer});")));
        }
    }
    if b.chance(60) {
        b.all(nodes);
    } else {
        let thread = b.random.below(b.threads);
        b.play(Role::Worker(thread), nodes);
        let direct = if b.chance(80) { &m0 } else { &m1 };
        let other = vec![
            line(format!("pthread_mutex_lock({direct});")),
            b.access(&x),
            line(format!("pthread_mutex_unlock({direct});")),
        ];
        b.play(Role::Worker((thread + 1) % b.threads), other);
    }
}

/// Two lock pointers change places.
pub(super) fn swap(b: &mut Builder) {
    let x = b.int();
    let (first, second) = (b.mutex().address, b.mutex().address);
    let (p, q) = (b.fresh("p"), b.fresh("q"));
    b.global(format!("pthread_mutex_t *{p} = {first}"));
    b.global(format!("pthread_mutex_t *{q} = {second}"));
    let t = b.local("t", "pthread_mutex_t *# = 0;");
    let exchange =
        vec![line(format!("{t} = {p};")), line(format!("{p} = {q};")), line(format!("{q} = {t};"))];
    let guard = b.mutex();
    let access = b.access(&x);
    let use_p =
        vec![line(format!("pthread_mutex_lock({p});")), access, line(format!("pthread_mutex_unlock({p});"))];
    let (one, other) = b.two();
    match b.random.below(4) {
        0 => {
            let condition = b.condition();
            b.before.push(branch(&condition, exchange, Vec::new()));
            b.play(one, use_p.clone());
            b.play(other, use_p);
        }
        1 => {
            let moving = b.guarded(&guard, exchange);
            b.play(one, moving);
            let reading = b.guarded(&guard, use_p);
            b.play(other, reading.clone());
            if b.chance(50) {
                b.play(one, reading);
            }
        }
        2 => {
            let own = b.local("own", "pthread_mutex_t *# = 0;");
            let copy = vec![line(format!("{own} = {p};"))];
            let mut nodes = b.guarded(&guard, copy);
            let access = b.access(&x);
            nodes.extend([
                line(format!("pthread_mutex_lock({own});")),
                access,
                line(format!("pthread_mutex_unlock({own});")),
            ]);
            b.play(one, nodes.clone());
            b.play(other, nodes);
            if b.chance(30) {
                let moving = b.guarded(&guard, exchange);
                b.during.extend(moving);
            }
        }
        _ => {
            b.play(one, exchange.into_iter().chain(use_p.clone()).collect());
            let direct = vec![
                line(format!("pthread_mutex_lock({second});")),
                b.access(&x),
                line(format!("pthread_mutex_unlock({second});")),
            ];
            let nodes = if b.chance(60) { direct } else { use_p };
            b.play(other, nodes);
        }
    }
}

/// A lock for each cell of an array.
pub(super) fn locked_cells(b: &mut Builder) {
    let (cells, locks) = (b.fresh("cell"), b.fresh("ml"));
    b.global(format!("int {cells}[2]"));
    b.global(format!(
        "pthread_mutex_t {locks}[2] = {{ PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER }}"
    ));
    let j = b.local("j", "int # = 0;");
    let choose = b.pick(&["id % 2", "(id + 1) % 2", "0", "__VERIFIER_nondet_bool()", "id & 1", "id > 1"]);
    let access = b.access(&format!("{cells}[{j}]"));
    let mut nodes = vec![
        line(format!("{j} = {choose};")),
        line(format!("pthread_mutex_lock(&{locks}[{j}]);")),
        access,
        line(format!("pthread_mutex_unlock(&{locks}[{j}]);")),
    ];
    if b.chance(12) {
        let at = b.random.between(2, 3);
        let other = b.pick(&["1 - ", "0 * ", ""]);
        nodes.insert(at, line(format!("{j} = {other}{j};")));
    }
    if b.chance(20) {
        let other = format!("{cells}[1]");
        nodes.extend([
            line(format!("pthread_mutex_lock(&{locks}[1]);")),
            b.access(&other),
            line(format!("pthread_mutex_unlock(&{locks}[1]);")),
        ]);
    }
    b.all(nodes);
}

/// Data and lock come in the argument.
pub(super) fn lock_argument(b: &mut Builder) {
    let x = b.int();
    let (first, second) = (b.mutex().address, b.mutex().address);
    let wrong = b.chance(30);
    let (lock_field, data_field) = (b.fresh("lock").replace('$', ""), b.fresh("data").replace('$', ""));
    let mut locks: Vec<String> = vec![first; b.threads];
    let mut data = vec![format!("&{x}"); b.threads];
    if wrong {
        locks[b.threads - 1] = second;
        if b.chance(40) {
            let y = b.int();
            data[b.threads - 1] = format!("&{y}");
        }
    }
    b.arg_fields.push((format!("pthread_mutex_t *{lock_field}"), locks));
    b.arg_fields.push((format!("int *{data_field}"), data));
    let lock = Lock { kind: LockKind::Mutex, address: format!("a->{lock_field}") };
    let body = vec![b.access(&format!("(*a->{data_field})"))];
    let nodes = b.guarded(&lock, body);
    b.all(nodes);
}

/// A list that grows at its head; nodes have locks, or the head has.
pub(super) fn list(b: &mut Builder) {
    let (tag, head) = (b.fresh("node"), b.fresh("head"));
    b.types
        .push(Item::Line(format!("struct {tag} {{ struct {tag} *next; pthread_mutex_t m; int value; }};")));
    b.global(format!("struct {tag} *{head}"));
    let lock = b.any_lock();
    let n = b.local("n", &format!("struct {tag} *# = 0;"));
    let (one, other) = b.two();
    let mut insert = vec![
        line(format!("{n} = calloc(1, sizeof *{n});")),
        line(format!("pthread_mutex_init(&{n}->m, 0);")),
        line(format!("{n}->value = 1;")),
    ];
    let link = vec![line(format!("{n}->next = {head};")), line(format!("{head} = {n};"))];
    insert.extend(b.guarded(&lock, link));
    b.play(one, insert);
    let body = vec![line(format!("{n} = {head};"))];
    let mut find = b.guarded(&lock, body);
    let guarded_value = vec![
        line(format!("pthread_mutex_lock(&{n}->m);")),
        line(format!("{n}->value++;")),
        line(format!("pthread_mutex_unlock(&{n}->m);")),
    ];
    find.push(branch(&n, guarded_value.clone(), Vec::new()));
    b.play(other, find);
    if b.chance(30) {
        b.play(one, guarded_value);
    }
}

/// Many locks in one table; the one in use is found by number.
pub(super) fn lock_table(b: &mut Builder) {
    let locks = b.fresh("mt");
    let x = b.int();
    b.global(format!("pthread_mutex_t {locks}[3]"));
    let all = "for (int i = 0; i < 3; i++)".to_owned();
    let fill = vec![line(format!("pthread_mutex_init(&{locks}[i], 0);"))];
    b.before.push(Node::Block { head: all, body: fill, otherwise: Vec::new() });
    let p = b.local("mp", "pthread_mutex_t *# = 0;");
    let (one, other) = b.two();
    let place = b.random.below(2);
    for role in [one, other] {
        let place = if b.chance(80) { place } else { 1 - place };
        let choose = match b.random.below(3) {
            0 => format!("{p} = {locks} + {place};"),
            1 => format!("{p} = &{locks}[{place}];"),
            _ => format!("{p} = {locks};"),
        };
        let steps_on = !choose.contains(['+', '[']);
        let mut nodes = vec![line(choose)];
        if steps_on {
            nodes.push(line(format!("{p} += {place};")));
        }
        nodes.push(line(format!("pthread_mutex_lock({p});")));
        nodes.push(b.access(&x));
        nodes.push(line(format!("pthread_mutex_unlock({p});")));
        b.play(role, nodes);
    }
}
