//! Processes as hash-consed terms in an arena.
//!
//! The operators of the 2015 paper, figures 1 to 3: prefix, external choice, interleaving, interface parallel, interrupt, hiding,
//! sequential composition, recursion by name. We differ in one term that the paper does not have: the events of a recorded thread are one
//! shared array and an index, so that a thread of 100,000 events is neither a deep term nor a long recursion.
//!
//! Invariants: equal terms have equal ids; a term holds only ids of its own arena. Which way it errs: [`Arena::check`] rejects every
//! recursion whose first steps cannot be computed, and nothing else; processes with infinitely many states are accepted and meet the
//! budget of the search.

use crate::event::{EventId, EventSet};
use crate::step::Step;
use std::collections::HashMap;
use std::sync::Arc;

/// The terms of a model.
#[derive(Debug)]
pub struct Arena {
    terms: Vec<Term>,
    ids: HashMap<Term, ProcId>,
    arrays: Vec<Arc<[EventId]>>,
    array_ids: HashMap<Arc<[EventId]>, ArrayId>,
    sets: HashMap<Arc<EventSet>, Arc<EventSet>>,
    definitions: Vec<Definition>,
    /// First steps of terms, where computed; by id.
    pub(crate) steps: Vec<Option<Arc<[Step]>>>,
}

/// A process: a term of one [`Arena`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcId(pub(crate) u32);

/// A name that a process may call, before and after it is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(u32);

/// Why the steps of a model cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IllFormed {
    /// A name that is called but has no body.
    Undefined(String),
    /// Names that call each other before any event; the first is repeated at the end.
    Unguarded(Vec<String>),
}

/// A shared array of events. Terms hold the number, so that hashing a term does not read the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ArrayId(u32);

#[derive(Debug)]
struct Definition {
    name: Box<str>,
    body: Option<ProcId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Term {
    Stop,
    Skip,
    /// A process that has terminated.
    Omega,
    Prefix(EventId, ProcId),
    /// The events from the index on, then the process. The index is inside the array.
    Events(ArrayId, u32, ProcId),
    Choice(Arc<[ProcId]>),
    /// All children agree on the events of the set, and on termination. Interleaving is the empty set.
    Parallel(Arc<EventSet>, Arc<[ProcId]>),
    Interrupt(ProcId, ProcId),
    Hide(ProcId, Arc<EventSet>),
    Then(ProcId, ProcId),
    Call(Name),
}

impl Arena {
    pub const STOP: ProcId = ProcId(0);
    pub const SKIP: ProcId = ProcId(1);
    pub(crate) const OMEGA: ProcId = ProcId(2);

    pub fn new() -> Self {
        let mut arena = Self {
            terms: Vec::new(),
            ids: HashMap::new(),
            arrays: Vec::new(),
            array_ids: HashMap::new(),
            sets: HashMap::new(),
            definitions: Vec::new(),
            steps: Vec::new(),
        };
        for term in [Term::Stop, Term::Skip, Term::Omega] {
            arena.add(term);
        }
        arena
    }

    /// `event -> then`
    pub fn prefix(&mut self, event: EventId, then: ProcId) -> ProcId {
        self.add(Term::Prefix(event, then))
    }

    /// `e0 -> e1 -> ... -> then`, of any length.
    pub fn events(&mut self, events: &[EventId], then: ProcId) -> ProcId {
        if events.is_empty() {
            return then;
        }
        let array = match self.array_ids.get(events) {
            Some(&array) => array,
            None => {
                let shared: Arc<[EventId]> = events.into();
                let array = ArrayId(self.arrays.len() as u32);
                self.arrays.push(shared.clone());
                self.array_ids.insert(shared, array);
                array
            }
        };
        self.add(Term::Events(array, 0, then))
    }

    /// `P [] Q [] ...`; STOP where there is none.
    pub fn choice(&mut self, branches: &[ProcId]) -> ProcId {
        match branches {
            [] => Self::STOP,
            [only] => *only,
            _ => self.add(Term::Choice(branches.into())),
        }
    }

    /// `P ||| Q ||| ...`; SKIP where there is none.
    pub fn interleave(&mut self, children: &[ProcId]) -> ProcId {
        match children {
            [] => Self::SKIP,
            [only] => *only,
            _ => self.parallel_term(EventSet::new(), children),
        }
    }

    /// `P [| on |] Q`; terminates when both have.
    pub fn parallel(&mut self, left: ProcId, on: EventSet, right: ProcId) -> ProcId {
        self.parallel_term(on, &[left, right])
    }

    /// `P /\ Q`: Q may take over at any time, by its first event.
    pub fn interrupt(&mut self, process: ProcId, by: ProcId) -> ProcId {
        self.add(Term::Interrupt(process, by))
    }

    /// `P \ set`
    pub fn hide(&mut self, process: ProcId, set: EventSet) -> ProcId {
        let set = self.set(set);
        self.add(Term::Hide(process, set))
    }

    /// `P ; Q`
    pub fn then(&mut self, first: ProcId, second: ProcId) -> ProcId {
        self.add(Term::Then(first, second))
    }

    /// A name for a process that is defined later. Names need not be unique, except for export.
    pub fn declare(&mut self, name: &str) -> Name {
        self.definitions.push(Definition { name: name.into(), body: None });
        Name(self.definitions.len() as u32 - 1)
    }

    /// Gives the name its body, once.
    ///
    /// # Panics
    /// Where the name has a body.
    pub fn define(&mut self, name: Name, body: ProcId) {
        let definition = &mut self.definitions[name.0 as usize];
        assert!(definition.body.is_none(), "{} is defined twice", definition.name);
        definition.body = Some(body);
    }

    pub fn call(&mut self, name: Name) -> ProcId {
        self.add(Term::Call(name))
    }

    /// Declares, defines and calls.
    pub fn named(&mut self, name: &str, body: ProcId) -> ProcId {
        let name = self.declare(name);
        self.define(name, body);
        self.call(name)
    }

    /// Whether the first steps of all processes that `roots` can become are computable: every name has a body, and no name calls itself
    /// before an event or a termination.
    pub fn check(&self, roots: &[ProcId]) -> Result<(), IllFormed> {
        crate::step::check_guarded(self, roots)
    }

    /// How many terms were made so far, by the user and by searches.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    pub(crate) fn term(&self, process: ProcId) -> &Term {
        &self.terms[process.0 as usize]
    }

    pub(crate) fn array(&self, array: ArrayId) -> &[EventId] {
        &self.arrays[array.0 as usize]
    }

    pub(crate) fn name(&self, name: Name) -> &str {
        &self.definitions[name.0 as usize].name
    }

    pub(crate) fn body(&self, name: Name) -> Option<ProcId> {
        self.definitions[name.0 as usize].body
    }

    pub(crate) fn add(&mut self, term: Term) -> ProcId {
        if let Some(&id) = self.ids.get(&term) {
            return id;
        }
        let id = ProcId(u32::try_from(self.terms.len()).expect("fewer than 2^32 terms"));
        assert!(id.0 < u32::MAX - 256, "fewer terms than marks of the network");
        self.terms.push(term.clone());
        self.steps.push(None);
        self.ids.insert(term, id);
        id
    }

    fn parallel_term(&mut self, on: EventSet, children: &[ProcId]) -> ProcId {
        let on = self.set(on);
        self.add(Term::Parallel(on, children.into()))
    }

    fn set(&mut self, set: EventSet) -> Arc<EventSet> {
        if let Some(set) = self.sets.get(&set) {
            return set.clone();
        }
        let set = Arc::new(set);
        self.sets.insert(set.clone(), set.clone());
        set
    }
}

impl Default for Arena {
    fn default() -> Self {
        Self::new()
    }
}
