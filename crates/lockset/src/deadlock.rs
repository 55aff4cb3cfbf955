//! Deadlock candidates: cycles in the lock-order graph (Havelund's Goodlock with gate locks), over the same facts as the races.
//!
//! An edge says that some thread blocks on one lock while it must hold another. A cycle is a candidate if its edges can be by different
//! thread instances that all stand there at the same time: no two of them by one single thread, under a common lock, or at sites that
//! cannot be parallel; and where one waits for what the other holds, not both in read mode.
//!
//! Candidates only, in both directions: the facts are must-facts, so an edge may be missing; a lock stands for all that its points-to set can
//! mean, so a cycle may be of locks that are different. Locks of one kind against each other (`lock(a->m); lock(b->m)` of objects
//! made in one place) are not candidates: most lists and trees do that in order.

use crate::held::{Acquisition, Locks};
use raddle_absint::components::components;
use raddle_base::SiteId;
use raddle_facts::{
    ATOMIC_SECTION, HeldLock, LockFacts, LockMode, ObjectId, Offsets, Term, ThreadFacts, ThreadId,
};
use raddle_ir::{BlockId, FunctionId, Program};
use std::collections::BTreeSet;

/// A lock as the graph knows it: a place in an abstract object.
pub type LockClass = (ObjectId, Offsets);

/// A thread waits for `acquired` while it holds `held`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub held: LockClass,
    pub acquired: LockClass,
    pub held_mode: LockMode,
    pub acquired_mode: LockMode,
    pub site: SiteId,
    pub function: FunctionId,
    pub block: BlockId,
    pub index: usize,
    pub thread: ThreadId,
    pub held_term: Term,
    pub acquired_term: Term,
    /// All locks held, as far as two threads can compare them: any in common is a gate. Sorted.
    pub gates: Vec<(Term, LockMode)>,
}

/// Edges in the order of the cycle: each acquires what the next one holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub edges: Vec<Edge>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidates {
    pub found: Vec<Candidate>,
    /// The search ended early: there may be more.
    pub more: bool,
}

/// Limits of the search, counts so that the result is the same everywhere.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub longest: usize,
    pub candidates: usize,
    pub steps: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { longest: 6, candidates: 200, steps: 200_000 }
    }
}

/// All edges of the program, sorted.
pub fn edges(program: &Program, locks: &Locks<'_>, facts: &LockFacts, threads: &ThreadFacts) -> Vec<Edge> {
    let mut found = BTreeSet::new();
    for function in program.functions.ids() {
        if threads.runs[function].is_empty() || !locks.acquires(function) {
            continue;
        }
        locks.for_each_site(facts, function, |block, index, held| {
            let taken = locks.blocks_on(function, block, index);
            if held.is_empty() || taken.is_empty() {
                return;
            }
            let site = program.functions[function].blocks[block].site_of(index);
            for acquisition in &taken {
                let gates = gates(locks, held, acquisition);
                for one in
                    held.iter().filter(|one| one.lock != acquisition.lock && one.lock != ATOMIC_SECTION)
                {
                    for (held_class, acquired_class) in classes(locks, one, acquisition) {
                        for thread in &threads.runs[function] {
                            found.insert(Edge {
                                held: held_class,
                                acquired: acquired_class,
                                held_mode: one.mode,
                                acquired_mode: acquisition.mode,
                                site,
                                function,
                                block,
                                index,
                                thread: *thread,
                                held_term: one.lock,
                                acquired_term: acquisition.lock,
                                gates: gates.clone(),
                            });
                        }
                    }
                }
            }
        });
    }
    found.into_iter().collect()
}

/// The mutex of a condition wait is not held while the wait takes it back.
fn gates(locks: &Locks<'_>, held: &[HeldLock], taken: &Acquisition) -> Vec<(Term, LockMode)> {
    held.iter()
        .filter(|held| held.lock != taken.lock && locks.is_global(held.lock))
        .map(|held| (held.lock, held.mode))
        .collect()
}

/// More combinations of places than this say nothing.
const MOST_CLASSES: usize = 4;

fn classes(locks: &Locks<'_>, held: &HeldLock, taken: &Acquisition) -> Vec<(LockClass, LockClass)> {
    let (Some(from), Some(to)) = (locks.places_list(held.lock), locks.places_list(taken.lock)) else {
        return Vec::new();
    };
    if from.len() > MOST_CLASSES || to.len() > MOST_CLASSES {
        return Vec::new();
    }
    let pairs = from.iter().flat_map(|from| to.iter().map(move |to| (*from, *to)));
    pairs.filter(|(from, to)| from != to).collect()
}

/// The cycles that can be deadlocks; one per set of sites. `parallel` says whether two sites can be reached at the same time.
pub fn candidates(
    edges: &[Edge],
    threads: &ThreadFacts,
    parallel: impl Fn(SiteId, ThreadId, SiteId, ThreadId) -> bool,
    limits: Limits,
) -> Candidates {
    let mut nodes: Vec<LockClass> = edges.iter().flat_map(|edge| [edge.held, edge.acquired]).collect();
    nodes.sort();
    nodes.dedup();
    let number = |class: &LockClass| nodes.binary_search(class).expect("a node of the graph");
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (at, edge) in edges.iter().enumerate() {
        out[number(&edge.held)].push(at);
    }
    let successors = |node: usize| -> Vec<usize> {
        let mut targets: Vec<usize> = out[node].iter().map(|edge| number(&edges[*edge].acquired)).collect();
        targets.dedup();
        targets
    };
    let mut component = vec![0; nodes.len()];
    for (at, members) in components(nodes.len(), successors).iter().enumerate() {
        members.iter().for_each(|node| component[*node] = at);
    }
    let targets: Vec<usize> = edges.iter().map(|edge| number(&edge.acquired)).collect();
    let search =
        Search { edges, threads, out: &out, targets: &targets, component: &component, parallel, limits };
    search.run()
}

struct Search<'a, P> {
    edges: &'a [Edge],
    threads: &'a ThreadFacts,
    out: &'a [Vec<usize>],
    targets: &'a [usize],
    component: &'a [usize],
    parallel: P,
    limits: Limits,
}

impl<P: Fn(SiteId, ThreadId, SiteId, ThreadId) -> bool> Search<'_, P> {
    /// Every cycle from its smallest lock, depth first, inside components.
    fn run(&self) -> Candidates {
        let mut result = Candidates::default();
        let mut seen: BTreeSet<Vec<SiteId>> = BTreeSet::new();
        let mut steps = 0;
        for start in 0..self.out.len() {
            let mut path: Vec<usize> = Vec::new();
            let mut cursors = vec![0];
            while let Some(cursor) = cursors.last_mut() {
                let at = path.last().map_or(start, |edge| self.targets[*edge]);
                let Some(edge) = self.out[at].get(*cursor).copied() else {
                    cursors.pop();
                    path.pop();
                    continue;
                };
                *cursor += 1;
                steps += 1;
                if steps > self.limits.steps {
                    result.more = true;
                    return result;
                }
                let target = self.targets[edge];
                if target < start
                    || self.component[target] != self.component[start]
                    || !self.fits(&path, edge)
                {
                    continue;
                }
                if target == start {
                    if path.is_empty() || !self.conflict(&self.edges[edge], &self.edges[path[0]]) {
                        continue;
                    }
                    let cycle: Vec<usize> = path.iter().copied().chain([edge]).collect();
                    let mut sites: Vec<SiteId> = cycle.iter().map(|edge| self.edges[*edge].site).collect();
                    sites.sort();
                    if seen.insert(sites) {
                        if result.found.len() == self.limits.candidates {
                            result.more = true;
                            return result;
                        }
                        let edges = cycle.iter().map(|edge| self.edges[*edge].clone()).collect();
                        result.found.push(Candidate { edges });
                    }
                    continue;
                }
                let visited = path.iter().any(|edge| self.targets[*edge] == target);
                if visited {
                    continue;
                }
                if path.len() + 2 > self.limits.longest {
                    // A longer cycle might close here.
                    result.more = true;
                    continue;
                }
                path.push(edge);
                cursors.push(0);
            }
        }
        result
    }

    /// Whether the edge can be by another thread at the same time as all of the path, and waits for what the path's last one is after.
    fn fits(&self, path: &[usize], edge: usize) -> bool {
        let new = &self.edges[edge];
        let connects = path.last().is_none_or(|last| self.conflict(&self.edges[*last], new));
        connects && path.iter().all(|other| self.together(&self.edges[*other], new))
    }

    /// What the first waits for, the second holds; readers do not wait for readers.
    fn conflict(&self, waits: &Edge, holds: &Edge) -> bool {
        (waits.acquired_mode, holds.held_mode) != (LockMode::Shared, LockMode::Shared)
    }

    fn together(&self, a: &Edge, b: &Edge) -> bool {
        let same_instance = a.thread == b.thread && !self.threads.threads[a.thread].many;
        let gate = a.gates.iter().any(|(lock, mode)| {
            b.gates
                .binary_search_by_key(lock, |(other, _)| *other)
                .is_ok_and(|at| (*mode, b.gates[at].1) != (LockMode::Shared, LockMode::Shared))
        });
        !same_instance && !gate && (self.parallel)(a.site, a.thread, b.site, b.thread)
    }
}
