//! What steps do, as far as others can tell: a choice with its footprint. The same ones come again and again in runs, sleep sets and plans,
//! so a search keeps each once.

use super::sections::Along;
use super::thread_set::ThreadSet;
use crate::dependence::Footprint;
use raddle_base::fast_hash::FastMap;
use raddle_event::{Choice, ThreadId};
use raddle_machine::{Machine, Operation};
use std::ops::Deref;
use std::sync::Arc;

/// Those that a search has met. Searches that work together have one each: counting uses of the same one from two threads is slow.
#[derive(Default)]
pub(super) struct Deeds {
    known: FastMap<(Choice, Footprint, ThreadSet), Action>,
}

/// Kept at most; then it starts anew.
const MOST: usize = 1 << 16;

impl Deeds {
    pub(super) fn action(&mut self, deed: &Deed) -> Action {
        let Deed { choice, footprint, touched, along, .. } = deed;
        if along.is_some() {
            return Action::from(deed.clone());
        }
        if self.known.len() >= MOST {
            self.known.clear();
        }
        let key = (*choice, *footprint, touched.clone());
        self.known.entry(key).or_insert_with(|| Action::from(deed.clone())).clone()
    }
}

/// A choice and what it did, or would do. The same one is in many sleep sets and plans, so it is shared.
#[derive(Clone, Debug)]
pub(super) struct Action(Arc<Deed>);

#[derive(Clone, Debug)]
pub(super) struct Deed {
    pub(super) choice: Choice,
    pub(super) footprint: Footprint,
    /// Other threads whose choices it changed.
    pub(super) touched: ThreadSet,
    /// What it released besides.
    pub(super) along: Option<Arc<Along>>,
    /// See [`Footprint::marks`].
    pub(super) marks: u64,
}

impl Deref for Action {
    type Target = Deed;

    #[inline]
    fn deref(&self) -> &Deed {
        &self.0
    }
}

impl From<Deed> for Action {
    fn from(deed: Deed) -> Action {
        Action(Arc::new(deed))
    }
}

impl Deed {
    pub(super) fn new(
        choice: Choice,
        footprint: Footprint,
        touched: ThreadSet,
        along: Option<Arc<Along>>,
    ) -> Deed {
        let released = along.iter().flat_map(|along| along.given_up());
        let marks = released.fold(footprint.marks(), |marks, release| marks | release.marks());
        Deed { choice, footprint, touched, along, marks }
    }

    /// The same with another footprint.
    pub(super) fn with(self, footprint: Footprint) -> Deed {
        Deed::new(self.choice, footprint, self.touched, self.along)
    }
}

impl Action {
    /// What the thread would do next, at its worst; `None` when it has ended.
    pub(super) fn pending<M: Machine>(machine: &M, thread: ThreadId) -> Option<(Operation, Action)> {
        let operation = machine.pending(thread)?;
        let footprint = Footprint::pending(thread, operation.kind, &machine.held_locks(thread));
        let choice = Choice { thread, variant: 0 };
        Some((operation, Action::worst(choice, footprint)))
    }

    /// Nothing is known but the operation.
    pub(super) fn worst(choice: Choice, footprint: Footprint) -> Action {
        Action::from(Deed::new(choice, footprint, ThreadSet::default(), None))
    }

    /// Whether it comes before `later`, an action of another thread that follows it, in every equivalent run.
    #[inline]
    pub(super) fn orders(&self, later: &Action) -> bool {
        self.depends(later) || self.touches(later.choice.thread)
    }

    /// Whether `other`, an action of another thread that was possible in the same state, is still possible behind this one, and
    /// both orders are equivalent.
    #[inline]
    pub(super) fn leaves(&self, other: &Action) -> bool {
        !self.excludes(other) && !self.touches(other.choice.thread) && !other.touches(self.choice.thread)
    }

    /// Both variants of one operation, taken together.
    pub(super) fn and(self, other: Action) -> Action {
        let everything = other.footprint == Footprint::Everything;
        let footprint = if everything { Footprint::Everything } else { self.footprint };
        let touched = self.touched.iter().chain(other.touched.iter()).collect();
        Action::from(Deed::new(self.choice, footprint, touched, self.along.clone()))
    }

    #[inline]
    pub(super) fn touches(&self, thread: ThreadId) -> bool {
        self.touched.contains(thread)
    }
}
