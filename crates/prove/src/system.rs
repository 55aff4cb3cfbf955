//! What the refinement works on: threads as graphs of locations with guarded parallel assignments, over shared and private variables.
//!
//! It knows nothing of programs; [`crate::extract`] makes one from the IR, tests make them by hand. An edge is one atomic step: its visible
//! operation and everything private up to the next location.

use raddle_logic::{Term, Var};
use std::sync::Arc;

/// Index into [`System::threads`].
pub type ThreadIndex = usize;

/// Index into [`Thread::edges`] of one thread's locations.
pub type LocationIndex = usize;

#[derive(Clone, Debug)]
pub struct System {
    pub threads: Vec<Thread>,
    /// Where execution starts; the others are created.
    pub first: ThreadIndex,
    /// Of the shared variables.
    pub initial: Term,
    /// Of the private variables of every thread, at all times.
    pub always: Term,
    pub is_shared: fn(&str) -> bool,
    /// Pairs of locations that must not be taken by two threads at once.
    pub conflicts: Vec<Conflict>,
}

#[derive(Clone, Debug)]
pub struct Thread {
    pub name: Arc<str>,
    /// Any number of instances.
    pub many: bool,
    pub start: LocationIndex,
    /// Of the private variables.
    pub starts_with: Term,
    /// Per location, the edges that leave it.
    pub edges: Vec<Vec<Edge>>,
    /// Per location, what others may see of its visible operation, also if the thread does not come to another location.
    pub steps: Vec<Vec<Step>>,
}

#[derive(Clone, Debug)]
pub struct Edge {
    /// `None`: the thread ends.
    pub to: Option<LocationIndex>,
    /// Over the variables before the step, and inputs of the step.
    pub guard: Term,
    /// At once; the other variables keep their values.
    pub updates: Vec<(Var, Term)>,
}

/// The visible operation alone.
#[derive(Clone, Debug)]
pub struct Step {
    pub guard: Term,
    /// Of shared variables.
    pub updates: Vec<(Var, Term)>,
    pub creates: Vec<Creation>,
}

#[derive(Clone, Debug)]
pub struct Creation {
    pub thread: ThreadIndex,
    /// Private variables of the new thread by those of its creator before the step.
    pub passes: Vec<(Var, Term)>,
}

/// Two places and when being there at once is a race.
#[derive(Clone, Debug)]
pub struct Conflict {
    pub first: (ThreadIndex, LocationIndex),
    pub second: (ThreadIndex, LocationIndex),
    /// Over the variables of the first, and those of the second as [`other`] names them.
    pub overlap: Term,
    /// Which question of the caller this is.
    pub question: usize,
}

/// What is known of two threads besides what they know themselves.
pub trait Pairs {
    /// Whether threads (two instances, if it is one thread) can stand there at once.
    fn may_meet(&self, a: (ThreadIndex, LocationIndex), b: (ThreadIndex, LocationIndex)) -> bool;

    /// Over the variables of the first, and those of the second as [`other`] names them.
    fn apart(&self, a: ThreadIndex, b: ThreadIndex) -> Term;
}

impl System {
    pub fn thread(&self, thread: ThreadIndex) -> &Thread {
        &self.threads[thread]
    }

    pub fn can_be_two(&self, a: ThreadIndex, b: ThreadIndex) -> bool {
        a != b || self.threads[a].many
    }

    /// A term of a thread as a term of the other one of two: private variables get another name.
    pub fn other(&self, term: &Term) -> Term {
        self.renamed(term, "'")
    }

    pub fn renamed(&self, term: &Term, suffix: &str) -> Term {
        term.substitute(&mut |var| (!(self.is_shared)(&var.name)).then(|| Term::from(suffixed(var, suffix))))
    }
}

/// New values of variables, all at once.
pub(crate) fn updated(updates: &[(Var, Term)], term: &Term) -> Term {
    term.substitute(&mut |var| {
        updates.iter().find(|(changed, _)| changed == var).map(|(_, value)| value.clone())
    })
}

pub(crate) fn changes(updates: &[(Var, Term)], var: &Var) -> bool {
    updates.iter().any(|(changed, _)| changed == var)
}

pub fn suffixed(var: &Var, suffix: &str) -> Var {
    Var::new(format!("{}{suffix}", var.name), var.sort)
}

pub fn mentions(term: &Term, test: &mut impl FnMut(&Var) -> bool) -> bool {
    let mut found = false;
    term.each_variable(&mut |var| found |= test(var));
    found
}
