//! Search that remembers states: Elmas, Qadeer and Tasiran, *Precise Race Detection and Efficient Model Checking Using Locksets*
//! (MSR-TR-2005-118, 2006), section 5, Fig. 5 to 7. It ends on every finite state space, endless loops included.
//!
//! Happens-before is kept in lockset form, which does not grow with the length of a run, so a state can be recognised together with
//! all of its past that matters. States are compared up to the numbering of threads and objects, by a hash of 128 bits (A-HASH).
//!
//! # How, and where it differs from the paper
//!
//! *Steps* are visible operations of all kinds, not single accesses; plain accesses run along and are checked (`history`). A race at
//! accesses that are not visible ends the search, or with [`Goal::AllRaces`](crate::enumerate::Goal::AllRaces) starts it again with them
//! visible, as in [`dpor`](crate::dpor).
//!
//! *Which threads are tried* (`future`). The paper goes on with one thread until its step proves to be in a race or acquires a lock; then it
//! tries all. Here the threads tried from a state form a persistent set. It starts with one thread and grows until it is closed: no
//! operation in the state's future, by a thread outside, that is reached without a thread inside having moved, depends on a step that a thread
//! inside took from here. The future is what the paper's `rtable` is for variables alone: a summary kept with the state, read when
//! the state is met again.
//!
//! *What is remembered of the past* (`cache`). Line 50 of Fig. 6 intersects the locksets of different paths, which can invent a race: let
//! `x` be written under locks {a, c} in one thread and {b, c} in another, and read by a third under {a, b}. After both writes the set
//! of `x` has a, c or b, c in it, by the order of the writes; the intersection has c alone, and the third thread holds no lock of it. So sets
//! are kept side by side. Earlier accesses do not influence each other's sets, so a state needs no further search when for every access
//! of the present past an access at the same place with a smaller set, of whatever past, has been followed from there.
//! Otherwise it is searched again, with those accesses alone that were not.
//!
//! *Sleep sets* are not used. They make what is searched from a state depend on the way to it; a state cut off because of a sleep set that
//! came with one path is not covered for another.
//!
//! *Cycles.* As in the paper (lines 44 to 47), all threads are tried from a state with a step back to a state on the path, else a thread may
//! be put off for ever. That holds as well when a part of the past only is covered there and the state is searched again with the
//! rest: `x` read, then a loop that reads the atomic `y`, beside a thread that writes `x`. The first round of the loop leads back with a new
//! access, that of `y`; the search that follows knows nothing of `x`, and without this rule the other thread would be tried there only.
//! The paper takes everything for racy behind such a state, because the future of the state on the path is not known yet (lines 25 to 29).
//! Here the search is repeated, with the futures that are known by then, until nobody has relied on a future that grew later. The argument
//! below needs that; no program is known whose answer does.
//!
//! # Why nothing is lost
//!
//! Let F(s) be the future found for s and B(s) the threads tried, in the last round. F(s) has the operations that threads stand before in
//! s and the F of every state that a step of B(s) leads to; with each operation go threads that must move before. No operation in F(s) of a
//! thread outside B(s), reached without B(s), depends on what threads in B(s) do from s. On every cycle some state has all threads
//! tried.
//!
//! *Claim.* For every run w from a searched state s, the operation that a thread stands before after w is in F(s), with none but threads that
//! move in w. By induction over the length of w. If a thread of B(s) moves in w, its first step p can be moved to the front: what comes
//! before it is in F(s), reached without B(s), by the induction hypothesis for shorter runs, so independent of p. The rest is shorter, and
//! a run from a state that was searched. If none does, then any step p of B(s) can be taken first, and w remains possible behind it, with
//! the same operations. That cannot go on for ever without meeting a state from which all threads are tried. Who waits for a thread in s
//! moves in w only after it, so adding it to what a waiting thread does later is right.
//!
//! *Deadlocks and other ends.* If w leads to a state where nobody can move, then a thread of B(s) moves in w, or it could still; so w gets
//! shorter until that state itself is searched. A failed assertion and the end of the process depend on everything, so the same holds.
//!
//! *Races.* Moving independent steps changes no order between accesses, and a step taken in front of w adds none. Let the last access of w
//! race with an earlier one, before s or in w. The earlier one becomes an element; from then on the search follows it, or one with a
//! smaller set, along w. Should a step taken in front touch bytes that w touches, unordered, then that is a race, and found sooner.
//!
//! *Nothing is invented*: elements are followed along real paths, and each race comes with its path.
//!
//! # Which way it errs
//! States that differ by a renaming may be taken for different. A step that misuses an object that another thread waits for (unlocks its
//! mutex, detaches what it joins) does not count among what `Waiting` waits for. A livelock whose round is a cycle of states is not reported:
//! the round is not gone a second time. Deadlocks are.

mod account;
mod cache;
mod future;
mod history;
mod path;
mod search;

pub(crate) use account::{Account, Stop};

use crate::enumerate::{Exploration, Limits};
use raddle_machine::{Machine, Visibility};

/// Whether states are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    On,
    /// The stateless form: ends only when all runs do.
    Off,
}

/// What the search found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stateful {
    pub exploration: Exploration,
    /// Distinct states, over all passes; 0 without caching.
    pub states: u64,
    /// How often a path ended in a state that was covered already.
    pub covered: u64,
}

/// Searches a machine that stands at its start; leaves it there, with [`Visibility::SyncOnly`]. `visibility` is that of the first pass.
pub fn stateful<M: Machine>(
    machine: &mut M,
    limits: &Limits,
    visibility: Visibility,
    caching: Caching,
) -> Stateful {
    search::search(machine, limits, visibility, caching)
}
