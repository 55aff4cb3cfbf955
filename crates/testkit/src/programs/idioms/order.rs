//! Order without locks: semaphores, conditions, barriers, once, atomics.

use crate::programs::builder::{Builder, LockKind};
use crate::programs::destroy::Kind;
use crate::programs::source::{Item, Node, block, branch, line};

/// A semaphore hands data over.
pub(super) fn post(b: &mut Builder) {
    let x = b.int();
    let sem = b.fresh("s");
    b.global(format!("sem_t {sem}"));
    b.destroyable(Kind::Lock(LockKind::Semaphore), &format!("&{sem}"));
    let start = if b.chance(12) { 1 } else { 0 };
    b.before.push(line(format!("sem_init(&{sem}, 0, {start});")));
    let (one, other) = b.two();
    let write = b.write(&x);
    b.play(one, vec![write, line(format!("sem_post(&{sem});"))]);
    let access = b.access(&x);
    let wait = match b.random.below(8) {
        0 => vec![branch(&format!("sem_trywait(&{sem}) == 0"), vec![access], Vec::new())],
        1 => vec![branch(&format!("sem_timedwait(&{sem}, &soon) == 0"), vec![access], Vec::new())],
        2 => vec![line(format!("sem_trywait(&{sem});")), access],
        _ => vec![line(format!("sem_wait(&{sem});")), access],
    };
    b.play(other, wait);
}

/// A predicate under a lock and a condition that says when to look again.
pub(super) fn condvar(b: &mut Builder) {
    let x = b.int();
    let (ready, cond) = (b.fresh("ready"), b.fresh("c"));
    b.global(format!("int {ready}"));
    b.global(format!("pthread_cond_t {cond} = PTHREAD_COND_INITIALIZER"));
    b.destroyable(Kind::Condition, &format!("&{cond}"));
    let lock = b.mutex();
    let (one, other) = b.two();
    let mut say = vec![line(format!("{ready} = 1;"))];
    let signal = b.pick(&["pthread_cond_signal", "pthread_cond_broadcast"]);
    say.push(line(format!("{signal}(&{cond});")));
    let write = b.write(&x);
    let mut nodes = Vec::new();
    if b.chance(50) {
        nodes.push(write);
        nodes.extend(b.guarded(&lock, say));
    } else {
        say.insert(0, write);
        nodes.extend(b.guarded(&lock, say));
    }
    b.play(one, nodes);
    let wait = match b.random.below(6) {
        0 => line(format!("pthread_cond_timedwait(&{cond}, {}, &soon);", lock.address)),
        _ => line(format!("pthread_cond_wait(&{cond}, {});", lock.address)),
    };
    let word = if b.chance(20) { "if" } else { "while" };
    let waiting = block(format!("{word} (!{ready})"), vec![wait]);
    let access = b.access(&x);
    let nodes = if b.chance(50) {
        b.guarded(&lock, vec![waiting, access])
    } else {
        let mut nodes = b.guarded(&lock, vec![waiting]);
        nodes.push(access);
        nodes
    };
    b.play(other, nodes);
}

/// Phases.
pub(super) fn barrier(b: &mut Builder) {
    let barrier = b.fresh("b");
    let n = b.threads;
    let cells = b.fresh("cell");
    b.global(format!("pthread_barrier_t {barrier}"));
    b.destroyable(Kind::Barrier, &format!("&{barrier}"));
    b.global(format!("int {cells}[{n}]"));
    let count = if b.chance(12) { n - 1 } else { n };
    b.before.push(line(format!("pthread_barrier_init(&{barrier}, 0, {count});")));
    let next = format!("{cells}[(id + 1) % {n}]");
    let wait = line(format!("pthread_barrier_wait(&{barrier});"));
    let first = line(format!("{cells}[id] = id;"));
    let second = b.read(&next);
    let mut nodes = vec![first, wait, second];
    if b.chance(20) {
        let x = b.int();
        let only = branch(
            &format!("pthread_barrier_wait(&{barrier}) == PTHREAD_BARRIER_SERIAL_THREAD"),
            vec![line(format!("{x}++;"))],
            Vec::new(),
        );
        nodes.push(only);
    }
    b.all(nodes);
}

/// Initialised once, then only read.
pub(super) fn once(b: &mut Builder) {
    let x = b.int();
    let (once, init) = (b.fresh("once"), b.fresh("init"));
    let (c_type, start, call) = if b.chance(75) {
        ("pthread_once_t", "PTHREAD_ONCE_INIT", "pthread_once")
    } else {
        ("once_flag", "ONCE_FLAG_INIT", "call_once")
    };
    b.global(format!("{c_type} {once} = {start}"));
    let write = b.write(&x);
    b.function(format!("void {init}(void)"), vec![write]);
    let access = if b.chance(85) { b.read(&x) } else { b.access(&x) };
    let nodes = vec![line(format!("{call}(&{once}, {init});")), access];
    if b.chance(70) {
        b.all(nodes);
    } else {
        let (one, other) = b.two();
        b.play(one, nodes.clone());
        let nodes = match b.random.below(10) {
            0..6 => nodes,
            6..8 => vec![b.read(&x)],
            _ => {
                b.tag("another once");
                let another = b.fresh("once");
                b.global(format!("{c_type} {another} = {start}"));
                vec![line(format!("{call}(&{another}, {init});")), b.read(&x)]
            }
        };
        b.play(other, nodes);
    }
}

/// An atomic flag says that the data are there.
pub(super) fn flag(b: &mut Builder) {
    let x = b.int();
    let flag = b.fresh("done");
    b.global(format!("atomic_int {flag}"));
    let (release, acquire) = match b.random.below(10) {
        0..4 => ("memory_order_seq_cst", "memory_order_seq_cst"),
        4..7 => ("memory_order_release", "memory_order_acquire"),
        7 => ("memory_order_relaxed", "memory_order_acquire"),
        8 => ("memory_order_release", "memory_order_relaxed"),
        _ => ("memory_order_relaxed", "memory_order_relaxed"),
    };
    let (one, other) = b.two();
    if b.chance(12) {
        b.tag("fences");
        let (before, after) = if b.chance(75) {
            ("memory_order_release", "memory_order_acquire")
        } else {
            ("memory_order_acquire", "memory_order_release")
        };
        let write = b.write(&x);
        b.play(
            one,
            vec![
                write,
                line(format!("atomic_thread_fence({before});")),
                line(format!("atomic_store_explicit(&{flag}, 1, memory_order_relaxed);")),
            ],
        );
        let seen = format!("atomic_load_explicit(&{flag}, memory_order_relaxed)");
        let access = b.access(&x);
        let then = vec![line(format!("atomic_thread_fence({after});")), access];
        b.play(other, vec![branch(&seen, then, Vec::new())]);
        return;
    }
    let set = match b.random.below(4) {
        0 => format!("atomic_fetch_add_explicit(&{flag}, 1, {release});"),
        1 => format!("atomic_exchange_explicit(&{flag}, 1, {release});"),
        _ => format!("atomic_store_explicit(&{flag}, 1, {release});"),
    };
    let write = b.write(&x);
    b.play(one, vec![write, line(set)]);
    let seen = format!("atomic_load_explicit(&{flag}, {acquire})");
    let access = b.access(&x);
    let nodes = match b.random.below(4) {
        0 => vec![block(format!("while (!{seen})"), vec![line("thrd_yield();")]), access],
        1 => vec![branch(&format!("{seen} == 0"), vec![line("return 0;")], Vec::new()), access],
        _ => vec![branch(&seen, vec![access], Vec::new())],
    };
    b.play(other, nodes);
}

/// Looks without the lock first.
pub(super) fn double_checked(b: &mut Builder) {
    let (x, ready) = (b.int(), b.fresh("ready"));
    let plain = b.chance(30);
    b.global(format!("{} {ready}", if plain { "int" } else { "atomic_int" }));
    let lock = b.mutex();
    let (load, store) = if plain {
        (ready.clone(), format!("{ready} = 1;"))
    } else {
        let order = b.pick(&["memory_order_acquire", "memory_order_seq_cst", "memory_order_relaxed"]);
        (format!("atomic_load_explicit(&{ready}, {order})"), format!("atomic_store(&{ready}, 1);"))
    };
    let make = vec![line(format!("{x} = 1;")), line(store)];
    let inner = vec![branch(&format!("!{load}"), make, Vec::new())];
    let guarded = b.guarded(&lock, inner);
    let read = b.read(&x);
    b.all(vec![branch(&format!("!{load}"), guarded, Vec::new()), read]);
}

/// Each takes a number and with it a cell.
pub(super) fn ticket(b: &mut Builder) {
    let (cells, next) = (b.fresh("cell"), b.fresh("next"));
    let n = b.threads;
    b.global(format!("int {cells}[{n}]"));
    b.global(format!("atomic_int {next}"));
    let t = b.local("t", "int # = 0;");
    let order = b.pick(&["memory_order_seq_cst", "memory_order_relaxed"]);
    b.all(vec![
        line(format!("{t} = atomic_fetch_add_explicit(&{next}, 1, {order});")),
        branch(&format!("{t} < {n}"), vec![line(format!("{cells}[{t}]++;"))], Vec::new()),
    ]);
}

/// The last one out frees it.
pub(super) fn reference_count(b: &mut Builder) {
    let (tag, object) = (b.fresh("shared"), b.fresh("o"));
    b.types.push(Item::Line(format!("struct {tag} {{ atomic_int users; int x; }};")));
    b.global(format!("struct {tag} *{object}"));
    let n = b.threads;
    b.before.push(line(format!("{object} = calloc(1, sizeof *{object});")));
    b.before.push(line(format!("atomic_store(&{object}->users, {n});")));
    let order = b.pick(&["memory_order_seq_cst", "memory_order_acq_rel", "memory_order_release"]);
    let last = format!("atomic_fetch_sub_explicit(&{object}->users, 1, {order}) == 1");
    let read = b.read(&format!("{object}->x"));
    let end: Vec<Node> = if b.chance(60) {
        vec![line(format!("free({object});"))]
    } else {
        vec![line(format!("{object}->x = 1;"))]
    };
    b.all(vec![read, branch(&last, end, Vec::new())]);
}
