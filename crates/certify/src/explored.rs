//! The checker of exhaustive searches: does a tree of runs stand for all runs of the program, and has none of them a race?
//!
//! Simple on purpose: every run of the tree is run again from the start, and from each of its states whatever could have come in place of
//! its next step is tried. No engine is called, and nothing is taken from one but the tree. On trust: the machine, the relation of
//! [`footprint`], and assumption A-LOOP. Errs towards refusing.
//!
//! # What is checked
//!
//! *Tree* ([`walk`]). In every state each open choice is named once, as explored, asleep or not needed. A choice is *asleep* behind a step
//! if it was explored before that step, in the same state or where it was asleep already, and is independent of the step. What is asleep is
//! never explored. Where nothing is explored everything is asleep. Every other path goes to the end of a run.
//!
//! *Races* ([`run`]). No run of the tree has a race, by exact happens-before over all accesses.
//!
//! *Closure* ([`closure`]). Take a run `E.q.z` of the tree, with `q` any of its steps. `N` are the steps of `z` that are not ordered
//! after `q`. Take the next operation `f` of any thread `p` at any point of the run, or at its end, if `q` is not ordered before the step of
//! `p` before `f` (nor created `p`), and `q` may depend on `f`, at its worst; or `f` is `q`'s own operation. `D` are the steps of `N` that may
//! depend on `f` and that `f` does not need to be reached. For each `A` that is a part of `D`, with each step also those ordered before it,
//! let `S` be `N` without `f`, `D \ A` and all that is ordered after these. Then `v = S.f` is run from `E`, for every variant of `f` that is
//! open. Unless `q` may come first in it, the tree must *follow* it from `E`: if something asleep may come first in `v`, it does; otherwise
//! the earliest explored choice that may come first is taken out of `v`, and the tree below must follow the rest; nothing left is
//! followed everywhere. Where `f` cannot block, `A` holds all of `D` that is ordered before `f`.
//!
//! # Why that is enough
//!
//! Two runs are equivalent if they differ in the order of independent neighbours. `u` *begins* `w` if `w` is equivalent to a run with `u`
//! in front; `r` *may come first* in `w` if `r.w` or `w` itself, with `r` taken out of it and put in front, is equivalent to `w.r` or `w`: all of
//! `w`, up to `r`, is independent of `r`. Steps include the plain accesses behind their operation, and a run may be *cut*: the last step of a
//! thread may stop before one of its accesses.
//!
//! *Plain accesses.* Neighbours with independent operations commute unless their plain accesses conflict; then nothing orders these, and
//! they race. So in runs without a race independent neighbours commute. Claim: for every state `E` of the tree and every cut run `w` from there
//! without a race, (a) something asleep at `E` may come first in `w`, or (b) `w` begins a run of the tree below `E`. At the start nothing is
//! asleep. If any run had a race, cut it before the first access that completes one; what is left is without a race, so it begins a run of the
//! tree; that run goes on with the access, nothing has been added to what happens before it, and the tree has a run with a race.
//!
//! *The claim*, by induction in the order in which the search leaves states. Let `w` violate it at `E`. If an explored `r` may come first in
//! `w`, take the earliest; the claim for `E.r` and the rest of `w` gives (b) for `w`, or something asleep at `E.r` that may come first, which
//! is asleep at `E` too or was explored there earlier. So nothing explored or asleep at `E` may come first in `w`. For each such `q` there is
//! the first step `e` of `w` that does not commute with it, with `w' ` before it. Take the `q` with the longest `w'`. It was explored at `E` or
//! above it: at `F`, with `E = F.y` and all of `y` independent of `q`. The state `F.q` was left before `E`, so the claim holds for it and
//! `y.w'`, and as long as `e` is possible behind it, `y.w'.e`. Were (a) the case, the sleeper were asleep at `E` also (it is never
//! explored, so it is not in `y`), and it would commute with all of `w'.e`, against the choice of `q`, or come first in `w`. So the tree below
//! `F.q` has a run `z` that begins with `q.y.w'`, and in the second case `e`. Should it have a race, so would the tree.
//!
//! The thread of `e` stands behind `y.w'` before the operation `f` of `e`, in `z` as in `w`. In `z` it performs `f` at some later point, or
//! not at all. `q` is not ordered before the steps that led there, and `q` and `f` depend on each other or are variants of one operation:
//! `f` is among the operations that are looked at in `z` in place of `q` at `F`. `N` holds `y.w'`. Let `A` be the part of `D` that is in
//! `y.w'`. Then `v = S.e` is among what is run, `y.w'.e` begins it, and all else in it is independent of `y.w'.e` and of `q`. If `f` cannot
//! block, `e` was possible in `z` right behind `y.w'`, so that all in `D` ordered before it is in `y.w'`, and all else in `N` is independent
//! of what it did.
//!
//! The tree follows `v` from `F`. As long as it has not come to `E`, the next step of `y` may come first in what is left, and is explored. So
//! something at least as early is taken, or asleep. If it is not that step: it is not in `y`, because it would have been asleep when it was
//! explored; so it is asleep at `E`, and commutes with `w'.e` or comes first in it, against the choice of `q`. So `E` is reached with all of
//! `w'.e` left, and again there something asleep or explored may come first in it, against the choice of `q`. ∎
//!
//! *Blocking.* That a step made the operation possible (an unlock, a post, a signal, the last arrival) needs no rule: without it
//! `v` cannot be run, and the earlier steps that depend on the operation are looked at anyway, because all of them are, and not the latest only.
//!
//! *Barriers.* Two arrivals in one round commute, but the last one moves what comes behind it to the next round. Which one is the last changes
//! with the order, so it is found out again, by running, when an arrival is put in front of another.
//!
//! *Waiting loops.* A thread that came back to where it was sleeps until the shared state changes ([decision 5](../../../docs/decisions/0005-stutter-steps.md)).
//! Then it is like a thread that is blocked, and the step that wakes it, or puts it to sleep, is ordered before what it does next: it changes the
//! choices of the thread, and that is always looked at. Only, independent steps may come in another order between the rounds, so that one
//! round more or less is recognised. That runs which differ in nothing else stand for each other is assumption A-LOOP.

mod closure;
mod footprint;
mod run;
mod step;
mod text;
mod walk;

pub use text::{Certificate, ReadError, is_search, read, write};

use crate::Subject;
use closure::Found;
use raddle_event::SearchTree;
use raddle_machine::{Machine, Visibility};
use run::Run;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use walk::Node;

/// Checks the tree of a search of a program, with [`Visibility::SyncOnly`].
pub fn check(subject: &Subject, tree: &SearchTree, stop: &AtomicBool) -> Result<Covered, Refusal> {
    let mut machine =
        subject.fresh().map_err(|error| Refusal { rule: Rule::Tree, text: error.to_string() })?;
    let covered = check_on(&mut machine, Visibility::SyncOnly, tree, stop)?;
    match machine.uncovered().into_iter().next() {
        None => Ok(covered),
        Some(text) => Err(Refusal { rule: Rule::Values, text }),
    }
}

/// Checks the tree of a search on a machine that stands at its start, and is left there when the tree is accepted. Whether all values
/// that the environment could choose are choices of the machine is not checked.
pub fn check_on<M: Machine>(
    machine: &mut M,
    visibility: Visibility,
    tree: &SearchTree,
    stop: &AtomicBool,
) -> Result<Covered, Refusal> {
    machine.set_visibility(visibility);
    let start = machine.checkpoint();
    let nodes = walk::walk(machine, tree, stop)?;
    let mut covered = Covered { runs: 0, reversals: 0, assumptions: BTreeSet::new() };
    let (mut paths, mut found) = (Paths::new(&nodes), Found::default());
    while let Some(path) = paths.next_run() {
        go_on(stop)?;
        let run = Run::of(machine, &nodes, path)?;
        covered.assumptions.extend(machine.assumptions());
        if run.weak_atomics {
            covered.assumptions.insert("A-SC");
        }
        machine.restore(&start);
        covered.runs += 1;
        covered.reversals +=
            closure::check(machine, &nodes, &run, &mut found, &mut covered.assumptions, stop)?;
    }
    machine.discard(start);
    Ok(covered)
}

/// What an accepted tree says: no run of the program has a race, if the assumptions hold. No public constructor: see [`check`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Covered {
    /// Complete runs of the tree.
    pub runs: u64,
    /// Other orders and outcomes that were tried and found in the tree.
    pub reversals: u64,
    pub assumptions: BTreeSet<&'static str>,
}

/// The assumption of every run in which a thread was put to sleep in a waiting loop.
const SLEEP: &str = "A-LOOP";

/// Why a tree was not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub rule: Rule,
    pub text: String,
}

/// What does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The tree is one of the program.
    Tree,
    /// Its runs have no race.
    Races,
    /// It is closed under reversal.
    Closure,
    /// The same, where a thread was put to sleep in a waiting loop: the tree may be complete all the same.
    Loops,
    /// All values of the environment were tried.
    Values,
    /// It is small enough to be checked.
    Size,
    /// There was time to check it.
    Time,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = match self.rule {
            Rule::Tree => "tree",
            Rule::Races => "races",
            Rule::Closure => "closure",
            Rule::Loops => "closure, with waiting loops",
            Rule::Values => "values",
            Rule::Size => "size",
            Rule::Time => "time",
        };
        write!(f, "{rule}: {}", self.text)
    }
}

impl std::error::Error for Refusal {}

fn go_on(stop: &AtomicBool) -> Result<(), Refusal> {
    match stop.load(Ordering::Relaxed) {
        false => Ok(()),
        true => Err(Refusal { rule: Rule::Time, text: "stopped before everything was checked".to_owned() }),
    }
}

/// Goes through the runs of a tree: each as its states and which of their explored choices was taken.
struct Paths<'a> {
    nodes: &'a [Node],
    path: Vec<(usize, usize)>,
    started: bool,
}

impl<'a> Paths<'a> {
    fn new(nodes: &'a [Node]) -> Self {
        Self { nodes, path: Vec::new(), started: false }
    }

    fn next_run(&mut self) -> Option<&[(usize, usize)]> {
        loop {
            if self.started {
                loop {
                    let (node, child) = self.path.pop()?;
                    if child + 1 < self.nodes[node].explored.len() {
                        self.path.push((node, child + 1));
                        break;
                    }
                }
            }
            self.started = true;
            let mut node = match self.path.last() {
                Some((last, child)) => self.nodes[*last].explored[*child].1,
                None => 0,
            };
            while let Some((_, below)) = self.nodes[node].explored.first() {
                self.path.push((node, 0));
                node = *below;
            }
            // A state in which all choices are asleep ends no run.
            if self.nodes[node].asleep.is_empty() {
                return Some(&self.path);
            }
        }
    }
}
