//! A hash of the state that does not depend on the order of allocations or the numbering of threads.
//!
//! Threads and objects are first coloured: a hash of their own content in which every reference is replaced by the colour of what it
//! refers to, refined a few times. Live threads are ordered by colour, then everything reachable is numbered depth first, from the globals
//! and from the threads in that order, and the state is hashed with these numbers for names. Blocks that nothing refers to cannot
//! matter to behaviour and are left out; so are output, problems and counters of the run so far, and ended threads to which no
//! handle is left. An object whose address was looked at as a number is hashed with its address, an exposed thread with its id; such an
//! object may be reached through the number, so it always counts as referred to.
//!
//! Errs: two states that differ only by renaming may get different hashes when the colours do not tell threads apart that are
//! not alike; two different states get the same hash only by accident (A-HASH).

mod encode;
mod graph;

use crate::machine::Interp;
use encode::{Colours, Numbers, Renaming};
use graph::{Graph, Node};
use raddle_base::StableHasher;
use raddle_event::{ObjectId, ThreadId};
use raddle_machine::{Canonical, Names, ObjectNames};
use std::collections::{HashMap, HashSet};

/// Rounds of refinement: how far away a difference can be and still tell two threads apart before numbering.
const ROUNDS: usize = 4;

pub(crate) fn of(interp: &mut Interp) -> Canonical {
    let graph = Graph::of(interp);
    let order = live_threads_in_order(interp, &graph);
    let mut numbers = Numbers::new(&graph);
    let mut hasher = StableHasher::new();
    encode::world(interp, &mut hasher);
    for &thread in &order {
        numbers.assign(thread);
    }
    let roots = graph.fixed.iter().map(|(index, _)| *index).chain(order.iter().copied());
    let mut stack = Vec::new();
    for root in roots {
        numbers.assign(root);
        stack.push(root);
        // Depth first; a node is written when it is taken up, its references get their numbers in order.
        while let Some(at) = stack.pop() {
            if !numbers.take_up(at) {
                continue;
            }
            let first = numbers.assigned();
            hasher.word(0xF1);
            encode::node(interp, &graph, at, &mut numbers, &mut hasher);
            for fresh in (first..numbers.assigned()).rev() {
                stack.push(numbers.node(fresh));
            }
        }
    }
    name_the_rest(interp, &graph, &mut numbers, &mut hasher);
    let names = names(interp, &graph, &numbers);
    Canonical { key: hasher.finish128(), names }
}

/// What no encoded reference leads to is named by what it is called in this run, which then is part of the state.
fn name_the_rest(interp: &Interp, graph: &Graph, numbers: &mut Numbers, hasher: &mut StableHasher) {
    for (index, node) in graph.nodes.iter().enumerate() {
        if numbers.number(index).is_none() {
            numbers.assign(index);
            hasher.word(match node {
                Node::Thread(id) => u64::from(id.0) << 1,
                Node::Object(slot) => interp.memory.address_of(*slot) | 1,
            });
        }
    }
}

fn names(interp: &Interp, graph: &Graph, numbers: &Numbers) -> Names {
    let (mut threads, mut objects) = (HashMap::new(), HashMap::new());
    for (index, node) in graph.nodes.iter().enumerate() {
        let number = numbers.number(index).expect("every node has a number");
        match node {
            Node::Thread(id) => {
                threads.insert(*id, ThreadId(number));
            }
            // Locals that no other thread can reach have no id yet.
            Node::Object(slot) if interp.memory.object(*slot).id == ObjectId(u32::MAX) => {}
            Node::Object(slot) => {
                objects.insert(interp.memory.object(*slot).id, ObjectId(number));
            }
        }
    }
    // A freed block that is still pointed to can be touched again, and race.
    for (name, number) in numbers.ghosts() {
        if let Some(id) = interp.memory.last_tenant(name) {
            objects.insert(id, ObjectId(GHOST | number as u32));
        }
    }
    Names::new(threads, ObjectNames::Renamed(objects))
}

/// Tells the numbers of dead objects from those of live ones.
const GHOST: u32 = 1 << 31;

/// Live threads, ordered by colour. Their own content mostly tells them apart; only where it does not are references followed.
fn live_threads_in_order(interp: &Interp, graph: &Graph) -> Vec<usize> {
    let mut threads: Vec<usize> = (0..graph.nodes.len())
        .filter(|&index| matches!(graph.nodes[index], Node::Thread(id) if !interp.world.state.life(id).ended))
        .collect();
    let mut colours: Vec<u64> = vec![1; graph.nodes.len()];
    for (index, identity) in &graph.fixed {
        colours[*index] = *identity;
    }
    let first: Vec<u64> = threads.iter().map(|&index| recolour(interp, graph, &colours, index)).collect();
    for (&index, &colour) in threads.iter().zip(&first) {
        colours[index] = colour;
    }
    let distinct: HashSet<u64> = first.into_iter().collect();
    if distinct.len() < threads.len() {
        for _ in 0..ROUNDS {
            colours = (0..graph.nodes.len()).map(|index| recolour(interp, graph, &colours, index)).collect();
        }
    }
    threads.sort_by_key(|&index| colours[index]);
    threads
}

fn recolour(interp: &Interp, graph: &Graph, colours: &[u64], index: usize) -> u64 {
    let mut hasher = StableHasher::new();
    hasher.word(colours[index]);
    let mut naming = Colours { graph, colours };
    encode::node(interp, graph, index, &mut naming as &mut dyn Renaming, &mut hasher);
    hasher.finish128() as u64
}
