//! Stage I: two accesses with inconsistent acquisition histories do not race (2007 paper, Definition 6 and Theorem 7).
//!
//! The paper states the theorem for two threads and simultaneous reachability. Here is why the test is sound for any number of threads
//! and for races as unordered accesses, whatever else the threads do.
//!
//! What a history says. An access `a` by thread `A` has `m` in the history of `l` only if `A` holds `l` exclusively and without a break
//! from an acquisition `s` on until after `a`, and has acquired `m` exclusively at some `t` with `s < t < a` in program order. `l`
//! and `m` are global terms: one concrete lock each, the same for all threads. (So a condition wait on `l` starts its history anew:
//! the hold is broken there. A read-mode hold has no history, because another reader may hold the lock at the same time; what a path
//! may or may not have acquired is in none, because the argument needs the acquisition to have happened.)
//!
//! The argument. Let `l1` be held at `a` since `s1`, with `l2` acquired at `t1`; let `l2` be held at `b` by another thread since `s2`, with
//! `l1` acquired at `t2`: `l2` is in the history of `l1` at `a`, and `l1` in the history of `l2` at `b`. Suppose `a` and `b` are not ordered
//! by happens-before. The exclusive holds of one lock do not overlap, and each release comes before the next acquisition in
//! happens-before; so of two holds of one lock by different threads one ends before the other begins. Take lock `l2`: the hold of `A`
//! that is acquired at `t1` (for a recursive lock: the hold that `t1` lies in), and the hold of `B` from `s2` on until after `b`. If
//! the hold of `B` came first, then `b` before its end before `t1` before `a`: ordered, against the supposition. So the hold of `A` ends before `s2`
//! begins, and `s1 < t1 < s2` in happens-before. In the same way, with lock `l1`, the hold of `A` from `s1` until after `a` cannot come before the
//! hold of `B` around `t2` (then `a` before `t2` before `b`), so that ends before `s1`: `s2 < t2 < s1`. Happens-before has no circle.
//!
//! Nothing in it speaks of other threads, of nesting, of signals or of what the program reads: other synchronisation only adds order. It needs that
//! the holds at `a` and `b` are by different threads, which a pair of accesses by one and the same thread instance is not asked for.

use raddle_facts::{HeldLock, LockMode, Term};
use std::collections::{BTreeMap, BTreeSet};

/// For each lock held, what was acquired since. A lock without an entry has the empty history.
pub type Histories = BTreeMap<Term, BTreeSet<Term>>;

/// Whether there are no locks `l1` and `l2` of which each was acquired after the other was taken: `l1` in `b`'s history of `l2`, and `l2`
/// in `a`'s history of `l1`.
pub fn consistent(a: &Histories, b: &Histories) -> bool {
    contradiction(a, b).is_none()
}

/// The two locks by which histories are inconsistent: the first held by the first thread, the second by the second.
pub fn contradiction(a: &Histories, b: &Histories) -> Option<(Term, Term)> {
    a.iter().find_map(|(l1, acquired)| {
        let l2 = acquired.iter().find(|l2| b.get(l2).is_some_and(|since| since.contains(l1)))?;
        Some((*l1, *l2))
    })
}

/// The histories of a state: of exclusive holds, of terms that two threads can compare.
pub fn histories(held: &[HeldLock], is_global: impl Fn(Term) -> bool) -> Histories {
    held.iter()
        .filter(|held| held.guard.is_none() && held.mode == LockMode::Exclusive && is_global(held.lock))
        .map(|held| (held.lock, held.history.iter().copied().collect()))
        .collect()
}
