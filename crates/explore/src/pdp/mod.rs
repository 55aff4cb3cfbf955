//! Property-driven pruning: Wang, Yang, Gupta, Gopalakrishnan, *Dynamic Model Checking with Property Driven Pruning to Detect Race
//! Conditions* (ATVA 2008), sections 3 and 4.
//!
//! When a run has ended, a state on it is given no further runs if all that could follow it is free of races, by a look at
//! locksets alone ([`subspace`](self)). What the paper adds to Flanagan and Godefroid's search is added here to the optimal search for races
//! ([`crate::dpor::for_races`]), whose steps have the paper's lock-atomicity: an access goes with the lock and unlock around it. As in
//! Fig. 7 the reversals are decided at the end of the run, when the rest of it is known; a state whose subspace is race-free is
//! cut off as a whole, with what earlier runs had planned for it and for the states behind it.
//!
//! *Which runs are left out.* If `SubspaceRaceFree(s)` holds, no run that begins with the steps up to `s` has a race. Sleep sets and
//! wake-up trees leave out only what is equivalent to something explored; a run that is equivalent to one in the subspace has no race
//! either, because the order used here is that of the class ([`crate::dpor`], `sections`).
//!
//! *When a subspace may be cut off.* A race-free subspace may still be where it shows that an earlier step has to be reversed: an
//! operation `x` that conflicts with the step `e` at a state before `s` may come only behind others whose order is not explored, or on a side
//! of a branch that was not taken. The paper looks at the transitions of the run at hand only, and loses races by that: main takes a
//! lock with a time limit and ends; another thread's try comes after that end in the run, so the two are not a direct race, and the
//! end's order with it is pruned (`tests/pruning.rs`). So a subspace is cut off only if no step before it conflicts with an
//! operation that may come in it. By induction over the tree, every run is then equivalent to an explored one or to one through a state that
//! was cut off: take a run `v x …` from a state where `e` was taken, with `x` the first step that depends on `e`. `e v x` is
//! covered at the next state; if by an explored run, `e` and `x` are a direct race there and are reversed; by one that was cut off it
//! cannot be, for then `x` is an operation of that part. Expanding the states before it instead does not work in the optimal search: a
//! branch of a wake-up tree that a sleeping action may come before is not explored to its end.
//!
//! *Where we differ.* Plain accesses are not visible, so an access that was made before `s` is not over: it races with a later one
//! of a thread that is not ordered after it. These pairs are looked at, too (Listing 1 of the 2015 paper is why). Creation and join
//! order accesses, which the paper has by not letting a thread run before it exists. What is known of branches that were not
//! taken comes from an [`Oracle`], not from instrumentation. The paper's segments are split as far as they go: each access is one, with its
//! own locksets. An access or operation of the run that may be about other memory, locks or threads another time
//! ([`Oracle::is_fixed`]) counts as one anywhere, a lock taken so as not taken, a lock given back so as any lock given back. A lock
//! that is taken again by its owner gives no events, so a run with one is not looked at. Where the paper is silent the answer is "may race": a wait, a
//! creation, a once call or anything unknown in a side not taken, a thread that did not come to its end, rounds of a loop
//! that were not seen. A try or timed lock counts as taken and as not taken.
//!
//! *For deadlocks* ([`Property::RacesAndDeadlocks`], the paper's future work) a state is cut off if it is also free of those behind: nobody can come to
//! wait in a circle ([`deadlocks`](self)), to wait for what is no lock and no thread, or to end with a lock. A deadlock is a state that all
//! runs of a class end in, so the argument above holds for it too; and the search below it keeps deadlocks: a closed section holds nothing
//! that anybody waits for, an unlock never blocks, and steps that commute lead to the same state.
//!
//! *Two ways of looking ahead.* A machine that reports its branches gives the paper's analysis. Beside it the oracle may know which accesses a thread can still come to at all ([`Oracle::ahead`]); and for both, which pairs of
//! accesses can race in any run whatsoever ([`Oracle::may_race`]). Both err towards more.

mod deadlocks;
mod locksets;
mod oracle;
mod size;
mod subspace;

pub use oracle::{
    Ahead, Anything, Awaited, MayHold, Oracle, Released, SideAccess, SideOperations, SidePath, SideWait,
    Untaken,
};
pub use size::Size;
pub(crate) use subspace::{Later, Pruning, Stands};

use crate::dpor::{self, Reduced};
use crate::enumerate::Limits;
use raddle_machine::{Machine, Visibility};

/// What a pruned search found out. The columns of the paper's Table 1 besides the number of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    pub reduced: Reduced,
    pub counters: Counters,
    pub size: Size,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// States asked about.
    pub checks: u64,
    /// States that nothing can race behind.
    pub yes: u64,
    /// Reversals and variants that were not explored for that reason.
    pub skipped: u64,
}

/// What must not be lost by pruning. There is none for deadlocks alone: behind a race that was left out, runs may go other ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Property {
    #[default]
    Races,
    RacesAndDeadlocks,
}

/// Searches a machine that stands at its start; leaves it there, with [`Visibility::SyncOnly`].
pub fn search<M: Machine>(
    machine: &mut M,
    limits: &Limits,
    visibility: Visibility,
    oracle: &dyn Oracle,
    property: Property,
) -> Pruned {
    let mut counters = Counters::default();
    let size = Size::of(machine, limits);
    let mut pruning = Pruning::new(oracle, property, &mut counters);
    let reduced = dpor::pruned(machine, limits, visibility, &mut pruning);
    Pruned { reduced, counters, size }
}
