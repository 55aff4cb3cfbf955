//! Dynamic partial-order reduction: one run, or few, of each class of runs that differ only in the order of independent steps.
//!
//! * [`baseline`]: the readable one. Flanagan and Godefroid, *Dynamic Partial-Order Reduction for Model Checking Software* (POPL
//!   2005), as in Fig. 2 of the 2008 paper, made to work with sleep sets.
//! * [`optimal`]: each class once. Abdulla, Aronis, Jonsson and Sagonas, *Source Sets: A Foundation for Optimal Dynamic Partial
//!   Order Reduction* (J. ACM 2017): wake-up trees.
//!
//! * [`for_races`]: the optimal search for races alone, in which critical sections commute (`sections`).
//!
//! The first two find the same races, deadlocks and other problems as [`enumerate::sync`](crate::enumerate::sync), to whose results theirs are
//! compared. Races are found by exact happens-before in every run, so plain accesses need not be scheduling points; they are run
//! along with the operation before them. That is sound as long as no run has shown a race between accesses that are not visible:
//! in such runs conflicting plain accesses are ordered by dependent operations, and steps that are independent commute. With
//! [`Goal::AllRaces`](crate::enumerate::Goal::AllRaces) the first run that shows a race at accesses not yet visible therefore ends the
//! pass, and the search starts again with them visible.

mod baseline;
mod confirm;
mod deeds;
mod estimate;
mod kept;
mod lines;
mod node;
mod optimal;
mod pool;
mod record;
mod rests;
mod reversal;
mod run;
mod sections;
mod tally;
mod thread_set;
mod together;
mod twins;
mod wakeup;

pub use kept::{Keeping, Kept, Misfit};
pub(crate) use run::Run;
pub(crate) use sections::weak_trace;

use crate::enumerate::{Coverage, Exploration, Limits};
use crate::pdp::Pruning;
use optimal::Extras;
use raddle_event::SearchTree;
use raddle_machine::{Machine, Visibility};
use record::Recording;
use sections::Locks;
use twins::Symmetry;

/// What a reduced search found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced {
    pub exploration: Exploration,
    /// Runs given up half-way because others cover whatever could follow. They are in no other count.
    pub blocked: u64,
    pub covers: Covers,
}

/// What the absence of a finding means after a complete search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covers {
    Everything,
    /// Runs were left out that cannot have a race: nothing is said of deadlocks, other problems or final states.
    RacesOnly,
    /// The same for runs that can have neither a race nor a deadlock.
    RacesAndDeadlocks,
}

/// Searches with the baseline algorithm a machine that stands at its start; leaves it there, with [`Visibility::SyncOnly`].
/// `visibility` is that of the first pass.
pub fn baseline<M: Machine>(machine: &mut M, limits: &Limits, visibility: Visibility) -> Reduced {
    baseline::search(machine, limits, visibility)
}

/// Searches with wake-up trees; otherwise like [`baseline`].
pub fn optimal<M: Machine>(machine: &mut M, limits: &Limits, visibility: Visibility) -> Reduced {
    optimal::search(machine, limits, visibility, Extras::of(Locks::Ordered))
}

/// Like [`optimal`], but of runs that differ only in which of several identical threads does what one is enough.
pub fn up_to_symmetry<M: Machine>(machine: &mut M, limits: &Limits, visibility: Visibility) -> Reduced {
    let extras = Extras { symmetry: Symmetry::Used, ..Extras::of(Locks::Ordered) };
    optimal::search(machine, limits, visibility, extras)
}

/// Like [`optimal`], and writes down the tree of the last pass; `None` when the search was not complete or the tree has more than
/// `most` states.
pub fn optimal_with_tree<M: Machine>(
    machine: &mut M,
    limits: &Limits,
    visibility: Visibility,
    most: usize,
) -> (Reduced, Option<SearchTree>) {
    let mut recording = Recording::new(most);
    let extras = Extras { recording: Some(&mut recording), ..Extras::of(Locks::Ordered) };
    let reduced = optimal::search(machine, limits, visibility, extras);
    let complete = reduced.exploration.coverage == Coverage::Complete;
    let tree = recording.finish().filter(|_| complete);
    (reduced, tree)
}

/// Like [`optimal`], on several machines of one program at once, all at their start. Which of several races is found first, and by which run,
/// is a matter of chance.
pub fn optimal_together<M: Machine + Send>(
    machines: &mut [&mut M],
    limits: &Limits,
    visibility: Visibility,
) -> Reduced {
    together::search(machines, limits, visibility, None).expect("nothing was kept that could not fit")
}

/// Like [`optimal_together`], and can be put down and taken up again.
pub fn optimal_kept<M: Machine + Send>(
    machines: &mut [&mut M],
    limits: &Limits,
    keeping: &Keeping<M>,
) -> Result<Reduced, Misfit> {
    together::search(machines, limits, Visibility::SyncOnly, Some(keeping))
}

/// Like [`optimal`], but with one order only of critical sections whose order no race depends on.
pub fn for_races<M: Machine>(machine: &mut M, limits: &Limits, visibility: Visibility) -> Reduced {
    optimal::search(machine, limits, visibility, Extras::of(Locks::Commute))
}

/// Like [`for_races`], without what is known to be free of what is looked for.
pub(crate) fn pruned<M: Machine>(
    machine: &mut M,
    limits: &Limits,
    visibility: Visibility,
    pruning: &mut Pruning,
) -> Reduced {
    let extras = Extras { pruning: Some(pruning), ..Extras::of(Locks::Commute) };
    optimal::search(machine, limits, visibility, extras)
}
