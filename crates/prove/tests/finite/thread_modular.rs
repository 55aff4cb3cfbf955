//! The slow twin of algorithm TAR: thread-modular reachability over concrete states (2003 paper, section 2, with exact relations).
//!
//! A thread's states are those it reaches by its own edges, by its creation, and by the steps that the other threads take from states of
//! theirs with the same shared state, where [`Pairs`] lets the two be at once.

use crate::table::{Space, Table, holds, is_conflict};
use raddle_logic::Term;
use raddle_prove::system::{LocationIndex, Pairs, System, ThreadIndex};
use std::collections::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub thread: ThreadIndex,
    pub location: LocationIndex,
    pub shared: usize,
    pub private: usize,
}

pub struct Reachable {
    pub states: Vec<State>,
    /// By shared state.
    at: Vec<Vec<usize>>,
    index: HashMap<State, usize>,
}

impl Reachable {
    pub fn new(system: &System, space: &Space, pairs: &dyn Pairs, table: &Table) -> Reachable {
        let mut reachable =
            Reachable { states: Vec::new(), at: vec![Vec::new(); table.shared], index: HashMap::new() };
        let apart = Apart::new(system, space, pairs, table);
        let first = system.first;
        for shared in table.initial.iter().copied() {
            for private in table.starts.iter().copied() {
                let location = system.thread(first).start;
                reachable.add(State { thread: first, location, shared, private });
            }
        }
        let mut next = 0;
        while next < reachable.states.len() {
            let state = reachable.states[next];
            reachable.own(system, table, state);
            // With itself, too: a thread of which there are many.
            for other in reachable.at[state.shared].clone() {
                if other <= next {
                    let other = reachable.states[other];
                    reachable.interferes(system, pairs, table, &apart, (state, other));
                    reachable.interferes(system, pairs, table, &apart, (other, state));
                }
            }
            next += 1;
        }
        reachable
    }

    fn add(&mut self, state: State) {
        if !self.index.contains_key(&state) {
            self.index.insert(state, self.states.len());
            self.at[state.shared].push(self.states.len());
            self.states.push(state);
        }
    }

    fn own(&mut self, system: &System, table: &Table, state: State) {
        let State { thread, location, shared, private } = state;
        let at = table.state(shared, private);
        for (edge, outcomes) in
            system.thread(thread).edges[location].iter().zip(&table.edges[thread][location])
        {
            for (shared, private) in outcomes[at].iter().copied() {
                if let Some(location) = edge.to {
                    self.add(State { thread, location, shared, private });
                }
            }
        }
        for outcomes in &table.creations[thread][location] {
            for (thread, shared, private) in outcomes[at].iter().copied() {
                self.add(State { thread, location: system.thread(thread).start, shared, private });
            }
        }
    }

    fn interferes(
        &mut self,
        system: &System,
        pairs: &dyn Pairs,
        table: &Table,
        apart: &Apart,
        (state, by): (State, State),
    ) {
        let meet = system.can_be_two(state.thread, by.thread)
            && pairs.may_meet((state.thread, state.location), (by.thread, by.location))
            && apart.holds(state, by);
        if meet {
            for outcomes in &table.steps[by.thread][by.location] {
                for shared in outcomes[table.state(by.shared, by.private)].iter().copied() {
                    self.add(State { shared, ..state });
                }
            }
        }
    }

    /// Whether a conflict is among them.
    pub fn has_conflict(&self, system: &System, space: &Space, pairs: &dyn Pairs) -> bool {
        system.conflicts.iter().any(|conflict| {
            let at = |place: (ThreadIndex, LocationIndex)| {
                self.states.iter().filter(move |state| (state.thread, state.location) == place)
            };
            at(conflict.first).any(|a| {
                let mut others = at(conflict.second).filter(|b| a.shared == b.shared);
                others.any(|b| is_conflict(space, pairs, conflict, (a.shared, a.private, b.private)))
            })
        })
    }
}

/// [`Pairs::apart`] by values: `None` where it says nothing.
struct Apart {
    said: Vec<Vec<Option<Vec<bool>>>>,
    private: usize,
}

impl Apart {
    fn new(system: &System, space: &Space, pairs: &dyn Pairs, table: &Table) -> Apart {
        let private = table.private;
        let values = |term: Term| -> Option<Vec<bool>> {
            let of = |index: usize| {
                let (both, second) = (index / private, index % private);
                holds(&term, &space.values_of_two(both / private, both % private, second))
            };
            (!term.is_true()).then(|| (0..table.shared * private * private).map(of).collect())
        };
        let threads = 0..system.threads.len();
        let said =
            threads.clone().map(|a| threads.clone().map(|b| values(pairs.apart(a, b))).collect()).collect();
        Apart { said, private }
    }

    fn holds(&self, a: State, b: State) -> bool {
        let index = (a.shared * self.private + a.private) * self.private + b.private;
        self.said[a.thread][b.thread].as_ref().is_none_or(|said| said[index])
    }
}
