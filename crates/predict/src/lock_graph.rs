//! Deadlocks: cycles of threads each of which waits for what the next one holds, in reorderings that keep the order of critical sections.
//!
//! Tunç, Mathur, Pavlogiannis and Viswanathan, *Sound Dynamic Deadlock Prediction in Linear Time* (PLDI 2023): *abstract* acquisitions
//! (thread, lock, locks held) make a graph; a cycle of different threads without a common lock among those held (a gate) is a pattern; and a
//! pattern is a deadlock when the closure of what comes before some acquisitions of it contains none of them.
//!
//! We differ in what can be waited for: besides mutexes and read-write locks, semaphores that are used as locks, and the end of a thread, which that
//! thread holds as long as it runs (a join under a lock that the joined thread needs). Other deadlocks (lost signals, barriers, semaphores
//! that count) are left to the exhaustive check. Which way it errs: what is found is a reordering; cycles beyond the limits are counted.

use crate::closure::{Closure, Locks, Values};
use crate::prepared::{Prepared, Section};
use raddle_base::SiteId;
use raddle_base::fast_hash::FastMap;
use raddle_event::{EventKind, LockMode};
use std::collections::{BTreeMap, BTreeSet};

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Wanted {
    Lock(u32, LockMode),
    End(usize),
}

/// What tells abstract waits apart: thread, what is waited for, locks held, place.
type Node = (usize, Wanted, Vec<(u32, LockMode)>, SiteId);

/// Waits of one thread for one thing with the same locks held.
#[derive(Debug)]
struct Abstract {
    thread: usize,
    wanted: Wanted,
    held: Vec<(u32, LockMode)>,
    /// Where it stands when it waits, and the index of that event.
    waits: Vec<(u32, u32)>,
}

/// A cycle, as the waits of each thread in it.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// For each thread: positions and indices of its waits.
    pub(crate) waits: Vec<(usize, Vec<(u32, u32)>)>,
    /// The places of the waits, sorted.
    pub(crate) places: Vec<SiteId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stuck {
    /// Indices of the events that wait, sorted.
    pub(crate) blocked: Vec<usize>,
    pub(crate) cut: Vec<u32>,
}

/// Steps of the search for cycles, and threads in one.
const MOST_STEPS: usize = 1_000_000;
const MOST_THREADS: usize = 8;
const MOST_PATTERNS: usize = 4096;

/// Patterns, and whether the limits were reached.
pub(crate) fn patterns(prepared: &Prepared<'_>) -> (Vec<Pattern>, bool) {
    let nodes = abstracts(prepared);
    let mut search =
        Search { nodes: &nodes, holders: BTreeMap::new(), path: Vec::new(), found: Vec::new(), steps: 0 };
    for (number, node) in nodes.iter().enumerate() {
        node.held.iter().for_each(|(lock, _)| search.holders.entry(*lock).or_default().push(number));
    }
    for start in 0..nodes.len() {
        search.path = vec![start];
        search.go(start);
    }
    let is_cut = search.steps >= MOST_STEPS || search.found.len() >= MOST_PATTERNS;
    let found = search.found.iter().map(|path| pattern(prepared, &nodes, path)).collect();
    (found, is_cut)
}

fn pattern(prepared: &Prepared<'_>, nodes: &[Abstract], path: &[usize]) -> Pattern {
    let waits: Vec<(usize, Vec<(u32, u32)>)> =
        path.iter().map(|node| (nodes[*node].thread, nodes[*node].waits.clone())).collect();
    let place = |(_, waits): &(usize, Vec<(u32, u32)>)| prepared.event(waits[0].1 as usize).site;
    let places: BTreeSet<SiteId> = waits.iter().map(place).collect();
    Pattern { places: places.into_iter().collect(), waits }
}

fn abstracts(prepared: &Prepared<'_>) -> Vec<Abstract> {
    let joined: BTreeSet<usize> = prepared
        .input
        .trace
        .events
        .iter()
        .filter_map(|event| match event.kind {
            EventKind::Join { child } => Some(child.0 as usize),
            _ => None,
        })
        .collect();
    let mut numbers: FastMap<Node, usize> = FastMap::default();
    let mut nodes: Vec<Abstract> = Vec::new();
    for thread in 0..prepared.threads() {
        let mut add = |wanted: Wanted, held: Vec<(u32, LockMode)>, at: u32| {
            let index = prepared.of_thread[thread][at as usize];
            let site = prepared.event(index as usize).site;
            let number = *numbers.entry((thread, wanted, held.clone(), site)).or_insert_with(|| {
                nodes.push(Abstract { thread, wanted, held, waits: Vec::new() });
                nodes.len() - 1
            });
            nodes[number].waits.push((at, index));
        };
        let mut joins =
            prepared.of_thread[thread].iter().enumerate().filter_map(|(at, index)| {
                match prepared.event(*index as usize).kind {
                    EventKind::Join { child } => Some((at as u32, child.0 as usize)),
                    _ => None,
                }
            });
        let mut next_join = joins.next();
        let mut open: Vec<Section> = Vec::new();
        let held_at = |open: &[Section], at: u32| -> Vec<(u32, LockMode)> {
            let is_held = |section: &&Section| section.release.is_none_or(|release| release >= at);
            let mut held: Vec<_> =
                open.iter().filter(is_held).map(|section| (section.lock, section.mode)).collect();
            held.sort_unstable();
            held
        };
        for section in &prepared.sections[thread] {
            while let Some((at, child)) = next_join.filter(|(at, _)| *at < section.entry) {
                let held = held_at(&open, at);
                if !held.is_empty() {
                    add(Wanted::End(child), held, at);
                }
                next_join = joins.next();
            }
            open.retain(|earlier| earlier.release.is_none_or(|release| release >= section.entry));
            let held = held_at(&open, section.entry);
            if !held.is_empty() || joined.contains(&thread) {
                add(Wanted::Lock(section.lock, section.mode), held, section.entry);
            }
            open.push(*section);
        }
        while let Some((at, child)) = next_join {
            let held = held_at(&open, at);
            if !held.is_empty() {
                add(Wanted::End(child), held, at);
            }
            next_join = joins.next();
        }
    }
    nodes
}

struct Search<'a> {
    nodes: &'a [Abstract],
    holders: BTreeMap<u32, Vec<usize>>,
    path: Vec<usize>,
    found: Vec<Vec<usize>>,
    steps: usize,
}

impl Search<'_> {
    /// Each cycle is found from its node with the smallest number.
    fn go(&mut self, start: usize) {
        let last = *self.path.last().expect("there is a first one");
        let nodes = self.nodes;
        let next: Vec<usize> = match nodes[last].wanted {
            Wanted::Lock(lock, mode) => {
                let conflicts = |node: &usize| {
                    let holds = |held: &(u32, LockMode)| {
                        held.0 == lock && (mode == LockMode::Exclusive || held.1 == LockMode::Exclusive)
                    };
                    nodes[*node].held.iter().any(holds)
                };
                self.holders.get(&lock).into_iter().flatten().copied().filter(conflicts).collect()
            }
            Wanted::End(thread) => (0..nodes.len()).filter(|node| nodes[*node].thread == thread).collect(),
        };
        for node in next {
            self.steps += 1;
            if self.steps >= MOST_STEPS || self.found.len() >= MOST_PATTERNS {
                return;
            }
            if node == start && self.path.len() > 1 {
                self.found.push(self.path.clone());
            } else if node > start && self.path.len() < MOST_THREADS && self.fits(node) {
                self.path.push(node);
                self.go(start);
                self.path.pop();
            }
        }
    }

    /// Another thread, and no lock that excludes one that is held on the path.
    fn fits(&self, node: usize) -> bool {
        let new = &self.nodes[node];
        self.path.iter().map(|on| &self.nodes[*on]).all(|on| {
            let excludes = |a: &(u32, LockMode), b: &(u32, LockMode)| {
                a.0 == b.0 && (a.1 == LockMode::Exclusive || b.1 == LockMode::Exclusive)
            };
            on.thread != new.thread && !on.held.iter().any(|a| new.held.iter().any(|b| excludes(a, b)))
        })
    }
}

/// The first waits of the pattern that can be reached together.
pub(crate) fn deadlock(prepared: &Prepared<'_>, values: Values, pattern: &Pattern) -> Option<Stuck> {
    let mut closure = Closure::new(prepared, values, Locks::KeepOrder);
    let mut at = vec![0; pattern.waits.len()];
    loop {
        for (place, (thread, waits)) in at.iter().zip(&pattern.waits) {
            if !closure.require(*thread, waits[*place].0) {
                return None;
            }
        }
        let mut moved = false;
        for (place, (thread, waits)) in at.iter_mut().zip(&pattern.waits) {
            while closure.contains(*thread, waits[*place].0) {
                moved = true;
                *place += 1;
                if *place == waits.len() {
                    return None;
                }
            }
        }
        if !moved {
            let waits = at.iter().zip(&pattern.waits);
            let mut blocked: Vec<usize> = waits.map(|(place, (_, waits))| waits[*place].1 as usize).collect();
            blocked.sort_unstable();
            return Some(Stuck { blocked, cut: closure.cut().to_vec() });
        }
    }
}
