//! One lock or several, taken and given back in all manners.

use crate::programs::builder::{Builder, Lock, LockKind, Role};
use crate::programs::source::{Node, block, branch, line};

/// A variable and its lock.
pub(super) fn counter(b: &mut Builder) {
    let x = b.int();
    let lock = b.any_lock();
    if b.chance(30) {
        let write = b.write(&x);
        b.before.push(write);
    }
    let mut body = vec![b.access(&x)];
    if b.chance(25) {
        body.push(b.access(&x));
    }
    let nodes = b.guarded(&lock, body);
    b.all(nodes);
    if b.chance(30) {
        let body = vec![b.access(&x)];
        let nodes = b.guarded(&lock, body);
        b.during.extend(nodes);
    }
    if b.chance(50) {
        let read = b.access(&x);
        b.after.push(read);
    }
}

/// Two locks that overlap without nesting.
pub(super) fn overlap(b: &mut Builder) {
    let (x, y) = (b.int(), b.int());
    let (first, second) = (b.any_lock(), b.mutex());
    let nodes = vec![
        b.take(&first),
        b.access(&x),
        b.take(&second),
        b.access(&y),
        b.give(&first),
        b.access(&y),
        b.give(&second),
    ];
    let (one, other) = b.two();
    b.play(one, nodes);
    let body = vec![b.access(&x)];
    let mut nodes = b.guarded(&first, body);
    let body = vec![b.access(&y)];
    nodes.extend(b.guarded(&second, body));
    b.play(other, nodes);
}

/// The shape of Fig. 2 of the 2007 paper: whether two places can be reached at once depends on the histories.
pub(super) fn history(b: &mut Builder) {
    let x = b.int();
    let (first, second) = (b.mutex(), b.mutex());
    let (one, other) = b.two();
    let wait = b.chance(10);
    let mut inner = Vec::new();
    if b.chance(40) {
        let y = b.int();
        inner.push(b.access(&y));
    }
    let mut nodes = vec![b.take(&first)];
    nodes.extend(b.guarded(&second, inner));
    if wait {
        let cond = b.fresh("c");
        b.global(format!("pthread_cond_t {cond} = PTHREAD_COND_INITIALIZER"));
        b.tag("history restarted by a wait");
        nodes.push(line(format!("pthread_cond_timedwait(&{cond}, {}, &soon);", first.address)));
    }
    nodes.push(b.access(&x));
    nodes.push(b.give(&first));
    b.play(one, nodes);
    let mut nodes = vec![b.take(&second)];
    if b.chance(40) {
        nodes.push(b.access(&x));
    }
    nodes.extend(b.guarded(&first, Vec::new()));
    nodes.push(b.access(&x));
    nodes.push(b.give(&second));
    if b.chance(40) {
        let body = vec![b.access(&x)];
        nodes.extend(b.guarded(&second, body));
    }
    b.play(other, nodes);
}

/// Locks and accesses as they come.
pub(super) fn walk(b: &mut Builder) {
    let vars: Vec<String> = (0..b.random.between(1, 2)).map(|_| b.int()).collect();
    let locks: Vec<Lock> = (0..b.random.between(1, 3)).map(|_| b.any_lock()).collect();
    let (one, other) = b.two();
    for role in [one, other] {
        let nodes = wander(b, &vars, &locks);
        b.play(role, nodes);
    }
    if b.threads == 3 && b.chance(40) {
        let nodes = wander(b, &vars, &locks[..1]);
        b.play(Role::Worker(2), nodes);
    }
}

fn wander(b: &mut Builder, vars: &[String], locks: &[Lock]) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut held: Vec<usize> = Vec::new();
    let mut takes = b.random.between(1, 3);
    for _ in 0..9 {
        match b.random.below(6) {
            0..2 if takes > 0 => {
                let lock = b.random.below(locks.len());
                let again = held.contains(&lock) && locks[lock].kind != LockKind::Recursive;
                // In the order of their numbers, or half of the programs would end in a deadlock.
                let in_order = held.iter().all(|other| *other <= lock);
                if !again && (in_order || b.chance(10)) {
                    nodes.push(b.take(&locks[lock]));
                    held.push(lock);
                    takes -= 1;
                }
            }
            2 if !held.is_empty() => {
                let lock = held.remove(b.random.below(held.len()));
                nodes.push(b.give(&locks[lock]));
            }
            3 if held.is_empty() && b.chance(80) => {}
            _ if held.is_empty() && b.chance(70) => {}
            _ => {
                let var = b.random.below(vars.len());
                nodes.push(b.access(&vars[var]));
            }
        }
    }
    while let Some(lock) = held.pop() {
        nodes.push(b.give(&locks[lock]));
    }
    nodes
}

/// The access stands on the right branch, on the wrong one, or nobody asks.
pub(super) fn trylock(b: &mut Builder) {
    let x = b.int();
    let kind =
        b.random.pick(&[LockKind::Mutex, LockKind::Mutex, LockKind::Rwlock, LockKind::Spin, LockKind::C11]);
    let lock = b.lock(kind);
    let function = match kind {
        LockKind::Rwlock => {
            b.pick(&["pthread_rwlock_trywrlock", "pthread_rwlock_trywrlock", "pthread_rwlock_tryrdlock"])
        }
        LockKind::Spin => "pthread_spin_trylock",
        LockKind::C11 => "mtx_trylock",
        _ => b.pick(&["pthread_mutex_trylock", "pthread_mutex_trylock", "pthread_mutex_timedlock"]),
    };
    let address = lock.address.clone();
    let call = match function {
        "pthread_mutex_timedlock" => format!("{function}({address}, &soon)"),
        _ => format!("{function}({address})"),
    };
    let good = if kind == LockKind::C11 { "thrd_success" } else { "0" };
    let access = b.access(&x);
    let give = b.give(&lock);
    let nodes = match b.random.below(10) {
        0..4 => vec![branch(&format!("{call} == {good}"), vec![access, give], Vec::new())],
        4 => {
            let otherwise = vec![b.access(&x)];
            vec![branch(&format!("{call} == {good}"), vec![access, give], otherwise)]
        }
        5 => {
            let r = b.local("r", "int # = 0;");
            let inside = branch(&format!("{r} == {good}"), vec![access], Vec::new());
            let after = branch(&format!("{r} == {good}"), vec![give], Vec::new());
            vec![line(format!("{r} = {call};")), inside, after]
        }
        6 => vec![branch(&format!("{call} != {good}"), vec![line("return 0;")], Vec::new()), access, give],
        7 => {
            let r = b.local("r", "int # = 0;");
            let held = branch(&format!("!{r}"), vec![give], Vec::new());
            vec![line(format!("{r} = {call};")), access, held]
        }
        8 => {
            let otherwise = b.take(&lock);
            vec![branch(&format!("{call} != {good}"), vec![otherwise], Vec::new()), access, give]
        }
        _ => vec![line(format!("{call};")), access, give],
    };
    let (one, other) = b.two();
    b.play(one, nodes);
    let body = vec![b.access(&x)];
    let nodes = b.guarded(&lock, body);
    b.play(other, nodes);
}

/// Locks on a condition, unlocks on the same or on another, which may have changed.
pub(super) fn conditional(b: &mut Builder) {
    let x = b.int();
    let lock = b.any_lock();
    let flag = match b.random.below(4) {
        0 => {
            let flag = b.fresh("flag");
            b.global(format!("int {flag}"));
            b.before.push(line(format!("{flag} = __VERIFIER_nondet_bool();")));
            if b.chance(15) {
                b.tag("flag changes meanwhile");
                b.during.push(line(format!("{flag} = 0;")));
            }
            flag
        }
        1 => {
            let flag = b.local("f", "int # = 0;");
            let set = line(format!("{flag} = __VERIFIER_nondet_bool();"));
            b.all(vec![set]);
            flag
        }
        2 => format!("id == {}", b.random.below(b.threads)),
        _ => "id >= 0".to_owned(),
    };
    let access = b.access(&x);
    let (take, give) = (b.take(&lock), b.give(&lock));
    let mut nodes = vec![branch(&flag, vec![take], Vec::new())];
    match b.random.below(6) {
        0..3 => nodes.push(branch(&flag, vec![access], Vec::new())),
        3 => nodes.extend([branch(&flag, Vec::new(), vec![line("return 0;")]), access]),
        4 => {
            let own = b.local("w", "int # = 0;");
            nodes.extend([line(format!("{own}++;")), access]);
        }
        _ => nodes.push(access),
    }
    if flag.starts_with('f') && b.chance(10) {
        nodes.push(line(format!("{flag} = !{flag};")));
    }
    nodes.push(branch(&flag, vec![give], Vec::new()));
    if b.chance(50) {
        b.all(nodes);
    } else {
        let thread = b.random.below(b.threads);
        b.play(Role::Worker(thread), nodes);
        let body = vec![b.access(&x)];
        let nodes = b.guarded(&lock, body);
        b.play(Role::Worker((thread + 1) % b.threads), nodes);
    }
}

/// Read mode and write mode, mostly each where it belongs.
pub(super) fn readers(b: &mut Builder) {
    let x = b.int();
    let lock = b.lock(LockKind::Rwlock);
    let address = &lock.address;
    let unlock = || line(format!("pthread_rwlock_unlock({address});"));
    let (one, other) = b.two();
    let read = line(format!("pthread_rwlock_rdlock({address});"));
    let write = line(format!("pthread_rwlock_wrlock({address});"));
    let wrong = b.chance(12);
    let access = if wrong { b.write(&x) } else { b.read(&x) };
    b.play(one, vec![read.clone(), access, unlock()]);
    if b.chance(15) {
        b.tag("read lock taken twice");
        let access = b.access(&x);
        b.play(one, vec![read.clone(), read.clone(), unlock(), access, unlock()]);
    }
    let mut nodes = vec![write, b.write(&x), unlock()];
    if b.chance(20) {
        nodes.extend([read, b.read(&x), unlock()]);
    }
    b.play(other, nodes);
}

/// Taken twice, given back twice.
pub(super) fn recursive(b: &mut Builder) {
    let x = b.int();
    let lock = b.lock(LockKind::Recursive);
    let inner = vec![b.access(&x)];
    let mut body = b.guarded(&lock, inner);
    body.push(b.access(&x));
    if b.chance(30) {
        body.insert(0, b.access(&x));
    }
    let nodes = b.guarded(&lock, body);
    let (one, other) = b.two();
    b.play(one, nodes);
    let body = vec![b.access(&x)];
    let nodes = b.guarded(&lock, body);
    b.play(other, nodes);
}

/// Atomic sections of verification benchmarks.
pub(super) fn section(b: &mut Builder) {
    let x = b.int();
    let inside = b.access(&x);
    let begin = || line("__VERIFIER_atomic_begin();");
    let end = || line("__VERIFIER_atomic_end();");
    if b.chance(50) {
        let helper = b.fresh("step").replace('$', "$__VERIFIER_atomic_");
        b.function(format!("void {helper}(void)"), vec![inside]);
        b.all(vec![line(format!("{helper}();"))]);
    } else {
        b.all(vec![begin(), inside, end()]);
    }
}

/// A lock made of an atomic word.
pub(super) fn spinning(b: &mut Builder) {
    let x = b.int();
    let word = b.fresh("word");
    b.global(format!("atomic_int {word}"));
    let order = b.pick(&[
        "memory_order_seq_cst",
        "memory_order_acquire",
        "memory_order_acquire",
        "memory_order_relaxed",
    ]);
    let back = b.pick(&[
        "memory_order_seq_cst",
        "memory_order_release",
        "memory_order_release",
        "memory_order_relaxed",
    ]);
    let access = b.access(&x);
    let give = line(format!("atomic_store_explicit(&{word}, 0, {back});"));
    let give =
        if b.chance(20) { line(format!("atomic_exchange_explicit(&{word}, 0, {back});")) } else { give };
    let mut round = vec![line("thrd_yield();")];
    let (taken, free) = match b.random.below(4) {
        0 => {
            let e = b.local("e", "int # = 0;");
            if b.chance(75) {
                round.push(line(format!("{e} = 0;")));
            }
            let swapped = format!(
                "atomic_compare_exchange_weak_explicit(&{word}, &{e}, 1, {order}, memory_order_relaxed)"
            );
            (format!("!{swapped}"), swapped)
        }
        1 => {
            let old = format!("atomic_fetch_or_explicit(&{word}, 1, {order})");
            (old.clone(), format!("!{old}"))
        }
        _ => {
            let old = format!("atomic_exchange_explicit(&{word}, 1, {order})");
            (old.clone(), format!("{old} == 0"))
        }
    };
    let nodes = if b.chance(50) {
        vec![block(format!("while ({taken})"), round), access, give.clone()]
    } else {
        vec![branch(&free, vec![access, give.clone()], Vec::new())]
    };
    let (one, other) = b.two();
    b.play(one, nodes.clone());
    b.play(other, nodes);
    if b.chance(15) {
        b.tag("freed by another");
        b.play(one, vec![give]);
    }
}
