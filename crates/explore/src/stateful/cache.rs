//! The states seen so far, and what is known of each: `table` and `rtable` of Fig. 5.
//!
//! With a state are kept the elements that it was searched with, those of incomparable sets side by side, and the operations that were
//! met in its future. Keys are 128 bits long (A-HASH).

use super::future::{Future, Next, Threads};
use super::history::{CanonicalPoint, Place};
use raddle_base::StableHasher;
use raddle_machine::Names;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash};

#[derive(Default)]
pub(super) struct Cache {
    states: HashMap<u128, State>,
    points: Numbering<CanonicalPoint>,
    futures: Numbering<(Next, Threads)>,
}

#[derive(Default)]
struct State {
    /// Minimal sets, sorted.
    searched: HashMap<Place, Vec<Box<[u32]>>>,
    /// In this round of the search.
    visited: bool,
    visits_on_stack: u32,
    future: Vec<u32>,
    /// How many operations of its future were known when somebody relied on it first.
    relied_on: Option<usize>,
}

/// A state that the search has come to.
pub(super) struct Visit {
    /// Positions of the elements that it must be searched with; `None` when nothing is left to search.
    pub(super) elements: Option<Vec<usize>>,
    /// For what is left out this leads back to the present path.
    pub(super) on_stack: bool,
}

impl Cache {
    /// Another round: nothing was visited in it yet; futures stay known.
    pub(super) fn start_round(&mut self) {
        for state in self.states.values_mut() {
            state.searched.clear();
            state.visited = false;
            state.visits_on_stack = 0;
            state.relied_on = None;
        }
    }

    /// Whether somebody relied on a future of which more became known later.
    pub(super) fn needs_another_round(&self) -> bool {
        self.states.values().any(|state| state.relied_on.is_some_and(|known| known < state.future.len()))
    }

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    pub(super) fn visit(&mut self, key: u128, elements: &[(Place, Vec<CanonicalPoint>)]) -> Visit {
        let state = self.states.entry(key).or_default();
        let mut uncovered = Vec::new();
        for (at, (place, points)) in elements.iter().enumerate() {
            let mut set: Box<[u32]> = points.iter().map(|point| self.points.number(*point)).collect();
            set.sort_unstable();
            let searched = state.searched.entry(*place).or_default();
            if searched.iter().all(|known| !is_subset(known, &set)) {
                searched.retain(|known| !is_subset(&set, known));
                searched.push(set);
                uncovered.push(at);
            }
        }
        let on_stack = state.visits_on_stack > 0;
        if state.visited && uncovered.is_empty() {
            state.relied_on.get_or_insert(state.future.len());
            return Visit { elements: None, on_stack };
        }
        state.visited = true;
        state.visits_on_stack += 1;
        Visit { elements: Some(uncovered), on_stack }
    }

    /// What may still happen from the state, as far as it is known, in the names of the run.
    pub(super) fn future(&self, key: u128, names: &Names) -> Future {
        let mut future = Future::default();
        let back = names.inverse();
        for at in self.states.get(&key).into_iter().flat_map(|state| &state.future) {
            let (next, after) = self.futures.items[*at as usize];
            if let Some(next) = next.renamed(&back) {
                future.insert(next, after.renamed(&back));
            }
        }
        future
    }

    /// The visit of the state is over.
    pub(super) fn leave(&mut self, key: u128, names: &Names, future: &Future) {
        let state = self.states.get_mut(&key).expect("it was visited");
        state.visits_on_stack -= 1;
        let mut known = Future::default();
        for at in &state.future {
            let (next, after) = self.futures.items[*at as usize];
            known.insert(next, after);
        }
        for (next, after) in future.iter() {
            if let Some(next) = next.renamed(names)
                && known.insert(next, after.renamed(names))
            {
                state.future.push(self.futures.number((next, after.renamed(names))));
            }
        }
    }
}

struct Numbering<T> {
    numbers: HashMap<T, u32, BuildHasherDefault<StableHasher>>,
    items: Vec<T>,
}

impl<T> Default for Numbering<T> {
    fn default() -> Self {
        Self { numbers: HashMap::default(), items: Vec::new() }
    }
}

impl<T: Copy + Eq + Hash> Numbering<T> {
    fn number(&mut self, item: T) -> u32 {
        let next = self.items.len() as u32;
        let number = *self.numbers.entry(item).or_insert(next);
        if number == next {
            self.items.push(item);
        }
        number
    }
}

fn is_subset(small: &[u32], large: &[u32]) -> bool {
    small.iter().all(|item| large.binary_search(item).is_ok())
}

#[cfg(test)]
mod tests {
    use super::{Cache, Visit};
    use crate::stateful::future::Future;
    use crate::stateful::history::{CanonicalPoint, History, Listing, Place};
    use raddle_base::SiteId;
    use raddle_event::{AccessKind, Event, EventKind, Loc, ObjectId, ThreadId};
    use raddle_machine::{Names, ObjectNames, OpKind};
    use raddle_order::lockset::point::Point;
    use std::collections::HashMap;

    fn names() -> Names {
        let threads: HashMap<ThreadId, ThreadId> = (0..3).map(|at| (ThreadId(at), ThreadId(at))).collect();
        Names::new(threads, ObjectNames::Same)
    }

    /// One access of thread 1 beside thread 2.
    fn element() -> (Place, Vec<CanonicalPoint>) {
        let mut history = History::new(Listing::First);
        let event = |thread, kind| Event { thread: ThreadId(thread), site: SiteId(1), kind };
        for child in [ThreadId(1), ThreadId(2)] {
            history.observe(&event(0, EventKind::Create { child }));
        }
        let loc = Loc { object: ObjectId(0), offset: 0, len: 4 };
        history.observe(&event(1, EventKind::Access { loc, kind: AccessKind::Write }));
        history.canonical(&names()).remove(0)
    }

    fn positions(visit: &Visit) -> Option<&[usize]> {
        visit.elements.as_deref()
    }

    #[test]
    fn a_smaller_set_is_searched_again_and_covers_larger_ones() {
        let mut cache = Cache::default();
        let (place, small) = element();
        let mut large = small.clone();
        large.push(CanonicalPoint::Point(Point::Thread(ThreadId(2))));
        assert_eq!(positions(&cache.visit(7, &[(place, large.clone())])), Some(&[0][..]));
        assert_eq!(positions(&cache.visit(7, &[(place, large.clone())])), None);
        assert_eq!(
            positions(&cache.visit(7, &[(place, large.clone()), (place, small.clone())])),
            Some(&[1][..])
        );
        assert_eq!(positions(&cache.visit(7, &[(place, large)])), None);
        assert_eq!(positions(&cache.visit(7, &[])), None);
        assert_eq!(positions(&cache.visit(8, &[])), Some(&[][..]));
    }

    #[test]
    fn a_future_that_grows_after_it_was_relied_on_takes_another_round() {
        let mut cache = Cache::default();
        cache.visit(7, &[]);
        cache.leave(7, &names(), &Future::default());
        cache.visit(7, &[]);
        assert!(!cache.needs_another_round());
        cache.visit(7, &[element()]);
        cache.leave(7, &names(), &Future::of(ThreadId(1), OpKind::Create));
        assert!(cache.needs_another_round());
        cache.start_round();
        assert!(!cache.needs_another_round());
        assert_eq!(cache.future(7, &names()), Future::of(ThreadId(1), OpKind::Create));
    }
}
