//! All interleavings of a system: the truth, for single threads, and for two instances of each thread of which there are many.

use crate::table::{Space, Table, is_conflict};
use raddle_prove::system::{Conflict, LocationIndex, Pairs, System, ThreadIndex};
use std::collections::HashSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stand {
    NotCreated,
    At(LocationIndex, usize),
    Ended,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub shared: usize,
    /// By instance.
    pub stands: Vec<Stand>,
}

pub struct Product {
    /// Which thread each instance is of.
    pub instances: Vec<ThreadIndex>,
    pub states: Vec<State>,
}

/// More states are not looked at.
const MOST: usize = 200_000;

impl Product {
    /// `None`: too many states.
    pub fn new(system: &System, table: &Table) -> Option<Product> {
        let instances: Vec<ThreadIndex> = (0..system.threads.len())
            .flat_map(|thread| vec![thread; if system.thread(thread).many { 2 } else { 1 }])
            .collect();
        let mut seen = HashSet::new();
        let mut states = Vec::new();
        let mut add = |states: &mut Vec<State>, state: State| {
            if seen.insert(state.clone()) {
                states.push(state);
            }
        };
        for shared in table.initial.iter().copied() {
            for private in table.starts.iter().copied() {
                let stand = |thread: &ThreadIndex| match *thread == system.first {
                    true => Stand::At(system.thread(*thread).start, private),
                    false => Stand::NotCreated,
                };
                add(&mut states, State { shared, stands: instances.iter().map(stand).collect() });
            }
        }
        let mut next = 0;
        while next < states.len() {
            if states.len() > MOST {
                return None;
            }
            let state = states[next].clone();
            for instance in 0..instances.len() {
                for after in after(system, table, &instances, &state, instance) {
                    add(&mut states, after);
                }
            }
            next += 1;
        }
        Some(Product { instances, states })
    }

    /// Every two instances that stand somewhere at once: thread, location and private state of both, and the shared state.
    pub fn pairs(&self) -> impl Iterator<Item = ([(ThreadIndex, LocationIndex, usize); 2], usize)> {
        let at = |state: &State, instance: usize| match state.stands[instance] {
            Stand::At(location, private) => Some((self.instances[instance], location, private)),
            Stand::NotCreated | Stand::Ended => None,
        };
        let count = self.instances.len();
        self.states.iter().flat_map(move |state| {
            let two = (0..count).flat_map(move |a| (0..count).map(move |b| (a, b))).filter(|(a, b)| a != b);
            two.filter_map(move |(a, b)| Some(([at(state, a)?, at(state, b)?], state.shared)))
        })
    }

    pub fn has_conflict(&self, system: &System, space: &Space, pairs: &dyn Pairs) -> bool {
        self.pairs().any(|([a, b], shared)| {
            let here = |conflict: &&_| {
                let conflict: &Conflict = conflict;
                conflict.first == (a.0, a.1) && conflict.second == (b.0, b.1)
            };
            let mut conflicts = system.conflicts.iter().filter(here);
            conflicts.any(|conflict| is_conflict(space, pairs, conflict, (shared, a.2, b.2)))
        })
    }
}

fn after(
    system: &System,
    table: &Table,
    instances: &[ThreadIndex],
    state: &State,
    instance: usize,
) -> Vec<State> {
    let Stand::At(location, private) = state.stands[instance] else { return Vec::new() };
    let thread = instances[instance];
    let at = table.state(state.shared, private);
    let mut found = Vec::new();
    for (edge, outcomes) in system.thread(thread).edges[location].iter().zip(&table.moves[thread][location]) {
        for outcome in &outcomes[at] {
            let mut after = State { shared: outcome.shared, stands: state.stands.clone() };
            after.stands[instance] = edge.to.map_or(Stand::Ended, |to| Stand::At(to, outcome.private));
            found.extend(with_created(system, instances, after, &outcome.creates));
        }
    }
    found
}

/// Nothing if there are as many instances already as are looked at.
fn with_created(
    system: &System,
    instances: &[ThreadIndex],
    state: State,
    creates: &[(ThreadIndex, Vec<usize>)],
) -> Vec<State> {
    let mut states = vec![state];
    for (thread, privates) in creates {
        let created = |state: State| {
            let is_free = |at: &usize| instances[*at] == *thread && state.stands[*at] == Stand::NotCreated;
            let free = (0..instances.len()).find(is_free);
            let at = |(free, private): (usize, &usize)| {
                let mut state = state.clone();
                state.stands[free] = Stand::At(system.thread(*thread).start, *private);
                state
            };
            free.into_iter()
                .flat_map(|free| privates.iter().map(move |p| (free, p)))
                .map(at)
                .collect::<Vec<State>>()
        };
        states = states.into_iter().flat_map(created).collect();
    }
    states
}
