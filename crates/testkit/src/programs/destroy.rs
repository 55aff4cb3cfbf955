//! What becomes of locks, semaphores, conditions and barriers in the end: mostly nothing, sometimes they are destroyed, where nobody can
//! use them any more or where somebody can, and sometimes made anew.

use super::builder::{Builder, LockKind, Who};
use super::source::{Node, branch, line};
use crate::random::Random;

/// Something that a function destroys.
#[derive(Clone, Debug)]
pub(super) struct Synchroniser {
    pub(super) kind: Kind,
    /// The address of it, as an expression that every thread can use.
    pub(super) address: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Lock(LockKind),
    Condition,
    Barrier,
}

/// Destroys some of what the program has.
pub(super) fn add(b: &mut Builder, random: &mut Random) {
    if b.synchronisers.is_empty() {
        return;
    }
    let mut all = b.synchronisers.clone();
    if random.chance(60) {
        all = vec![all.swap_remove(random.below(all.len()))];
    }
    let mut nodes: Vec<Node> = all.iter().map(destroy).collect();
    let anew = random.chance(20);
    if anew {
        let inits: Vec<Node> = all.iter().filter_map(|one| initialise(b, one)).collect();
        nodes.extend(inits);
        b.tag("destroyed: and made anew");
    }
    match random.below(100) {
        0..40 => {
            b.tag("destroyed: at the end");
            b.after.extend(nodes);
        }
        40..55 => {
            b.tag("destroyed: after the joins");
            b.after.splice(0..0, nodes);
        }
        55..60 => {
            b.tag("destroyed: before the threads");
            b.before.extend(nodes);
        }
        60..72 => {
            b.tag("destroyed: before the joins");
            b.during.extend(nodes);
        }
        72..84 => {
            b.tag("destroyed: by a worker");
            let who = Who::One(random.below(b.threads));
            b.worker.extend(nodes.into_iter().map(|node| (who, node)));
        }
        84..88 => {
            b.tag("destroyed: by every worker");
            b.worker.extend(nodes.into_iter().map(|node| (Who::All, node)));
        }
        _ => {
            b.tag("destroyed: by the last");
            let left = b.fresh("left");
            b.global(format!("atomic_int {left} = {}", b.threads));
            let order = random.pick(&["seq_cst", "seq_cst", "acq_rel", "relaxed"]);
            let last = format!("atomic_fetch_sub_explicit(&{left}, 1, memory_order_{order}) == 1");
            b.worker.push((Who::All, branch(&last, nodes, Vec::new())));
        }
    }
}

fn destroy(one: &Synchroniser) -> Node {
    let function = match one.kind {
        Kind::Lock(LockKind::Mutex | LockKind::Recursive) => "pthread_mutex_destroy",
        Kind::Lock(LockKind::Spin) => "pthread_spin_destroy",
        Kind::Lock(LockKind::Rwlock) => "pthread_rwlock_destroy",
        Kind::Lock(LockKind::C11) => "mtx_destroy",
        Kind::Lock(LockKind::Semaphore) => "sem_destroy",
        Kind::Condition => "pthread_cond_destroy",
        Kind::Barrier => "pthread_barrier_destroy",
    };
    line(format!("{function}({});", one.address))
}

/// As a plain one; a recursive mutex stays destroyed.
fn initialise(b: &mut Builder, one: &Synchroniser) -> Option<Node> {
    match one.kind {
        Kind::Lock(LockKind::Recursive) => None,
        Kind::Lock(kind) => b.initialise(kind, &one.address).pop(),
        Kind::Condition => Some(line(format!("pthread_cond_init({}, 0);", one.address))),
        Kind::Barrier => Some(line(format!("pthread_barrier_init({}, 0, {});", one.address, b.threads))),
    }
}
