//! Abstract states that threads reach on their own and by what the others may do (2003 paper, section 3, steps 1 and 3).
//!
//! Over-approximates: an abstract state is a location with a value for each predicate followed there, and every concrete step is an
//! abstract one. The environment is approximated from below: it grows, round by round, by the steps that were found possible, and the
//! states are those of the whole system once a round adds nothing.

use super::precision::Precision;
use crate::ask::{Asker, Stop};
use crate::components::{Formula, Literal};
use crate::system::{
    Conflict, Creation, LocationIndex, Pairs, Step, System, ThreadIndex, changes, mentions, suffixed, updated,
};
use raddle_logic::{Term, Var};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// How much of a step of another thread is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Environment {
    /// Which variables it writes, and from where (section 3).
    Havoc,
    /// What it writes, too (section 2).
    Relation,
}

pub(crate) type StateId = usize;

#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) thread: ThreadIndex,
    pub(crate) location: LocationIndex,
    pub(crate) parent: Parent,
}

/// How it was reached first.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Parent {
    Initial,
    Created { creator: StateId, step: usize, creation: usize },
    Step { from: StateId, edge: usize },
    Interference { from: StateId, by: StateId, step: usize },
}

type Key = (ThreadIndex, LocationIndex, Rc<Vec<bool>>);

/// An edge or a step by its number.
type At = (ThreadIndex, LocationIndex, usize);

pub(crate) struct Reach<'s> {
    system: &'s System,
    pairs: &'s dyn Pairs,
    precision: &'s Precision,
    environment: Environment,
    pub(crate) states: Vec<State>,
    index: HashMap<Key, StateId>,
    terms: Vec<Term>,
    /// The same as literals, and as those of the other one of two threads.
    own: Vec<Formula>,
    other: Vec<Formula>,
    apart_of: HashMap<(ThreadIndex, ThreadIndex), Formula>,
    /// Guards of edges as literals; those of steps also as of the other one of two threads.
    guards: HashMap<(ThreadIndex, LocationIndex, usize), Formula>,
    step_guards: HashMap<(ThreadIndex, LocationIndex, usize), [Formula; 2]>,
    /// The predicates of a place after a step.
    after_own: HashMap<(ThreadIndex, LocationIndex, usize), Rc<[Literal]>>,
    after_other: HashMap<[At; 2], Option<Rc<[Literal]>>>,
    /// Steps of the environment: from which state, which step.
    steps: Vec<(StateId, usize)>,
    /// Per state: how many of `steps` it has seen.
    seen: Vec<usize>,
    /// States whose own steps were taken, and those whose steps are in `steps`.
    stepped: usize,
    offered: usize,
    apart: HashSet<(usize, StateId, StateId)>,
    predicates: Vec<Vec<Rc<Vec<Term>>>>,
}

/// More abstract states are given up on.
const MOST: usize = 200_000;

impl<'s> Reach<'s> {
    pub(crate) fn new(
        system: &'s System,
        pairs: &'s dyn Pairs,
        precision: &'s Precision,
        environment: Environment,
    ) -> Reach<'s> {
        let predicates = (0..system.threads.len())
            .map(|thread| (0..precision.locations(thread)).map(|l| Rc::new(precision.at(thread, l))).collect())
            .collect();
        Reach {
            system,
            pairs,
            precision,
            environment,
            states: Vec::new(),
            index: HashMap::new(),
            terms: Vec::new(),
            own: Vec::new(),
            other: Vec::new(),
            apart_of: HashMap::new(),
            guards: HashMap::new(),
            step_guards: HashMap::new(),
            after_own: HashMap::new(),
            after_other: HashMap::new(),
            steps: Vec::new(),
            seen: Vec::new(),
            stepped: 0,
            offered: 0,
            apart: HashSet::new(),
            predicates,
        }
    }

    /// The formula of an abstract state.
    pub(crate) fn term(&self, state: StateId) -> &Term {
        &self.terms[state]
    }

    pub(crate) fn precision(&self) -> &Precision {
        self.precision
    }

    /// States under the environment known so far; the next round starts with what they do to others.
    pub(crate) fn round(&mut self, asker: &mut Asker) -> Result<(), Stop> {
        if self.states.is_empty() {
            let first = self.system.first;
            let thread = self.system.thread(first);
            let all = [self.system.initial.clone(), thread.starts_with.clone(), self.system.always.clone()];
            let parts = asker.formula(&Term::and(all));
            let predicates = Rc::clone(&self.predicates[first][thread.start]);
            let questions: Vec<Literal> = predicates.iter().map(|term| asker.question(term)).collect();
            self.reach(asker, (first, thread.start), &[&parts], &questions, Parent::Initial)?;
        }
        let mut next = 0;
        loop {
            while self.stepped < self.states.len() {
                self.stepped += 1;
                self.own_steps(asker, self.stepped - 1)?;
            }
            if next == self.states.len() {
                return Ok(());
            }
            asker.check_time()?;
            self.interference(asker, next)?;
            next += 1;
        }
    }

    /// Adds what the states can do to the environment; whether that is more than it had.
    pub(crate) fn grow(&mut self, asker: &mut Asker) -> Result<bool, Stop> {
        let before = self.steps.len();
        for id in self.offered..self.states.len() {
            let State { thread, location, .. } = self.states[id];
            for (index, step) in self.system.thread(thread).steps[location].iter().enumerate() {
                let [guard, _] = self.step_guards(asker, (thread, location, index));
                if !step.updates.is_empty() && asker.is_satisfiable(&[&self.own[id], &guard])? {
                    self.steps.push((id, index));
                }
            }
        }
        self.offered = self.states.len();
        Ok(self.steps.len() > before)
    }

    fn guard(&mut self, asker: &mut Asker, at: (ThreadIndex, LocationIndex, usize)) -> Formula {
        let system = self.system;
        let guard = self.guards.entry(at).or_insert_with(|| {
            let edge = &system.thread(at.0).edges[at.1][at.2];
            asker.formula(&Term::and([edge.guard.clone(), system.always.clone()]))
        });
        Rc::clone(guard)
    }

    fn step_guards(&mut self, asker: &mut Asker, at: (ThreadIndex, LocationIndex, usize)) -> [Formula; 2] {
        let system = self.system;
        let guards = self.step_guards.entry(at).or_insert_with(|| {
            let step = &system.thread(at.0).steps[at.1][at.2];
            let guard = Term::and([step.guard.clone(), system.always.clone()]);
            [asker.formula(&guard), asker.formula(&system.other(&guard))]
        });
        guards.clone()
    }

    fn apart(&mut self, asker: &mut Asker, a: ThreadIndex, b: ThreadIndex) -> Formula {
        let pairs = self.pairs;
        Rc::clone(self.apart_of.entry((a, b)).or_insert_with(|| asker.formula(&pairs.apart(a, b))))
    }

    fn own_steps(&mut self, asker: &mut Asker, id: StateId) -> Result<(), Stop> {
        let State { thread, location, .. } = self.states[id];
        let system = self.system;
        let own = Rc::clone(&self.own[id]);
        for (index, edge) in system.thread(thread).edges[location].iter().enumerate() {
            let guard = self.guard(asker, (thread, location, index));
            if let Some(to) = edge.to {
                let predicates = &self.predicates[thread][to];
                let questions = self.after_own.entry((thread, location, index)).or_insert_with(|| {
                    predicates.iter().map(|term| asker.question(&updated(&edge.updates, term))).collect()
                });
                let questions = Rc::clone(questions);
                let parent = Parent::Step { from: id, edge: index };
                self.reach(asker, (thread, to), &[&own, &guard], &questions, parent)?;
            }
        }
        for (index, step) in system.thread(thread).steps[location].iter().enumerate() {
            let [guard, _] = self.step_guards(asker, (thread, location, index));
            for (number, creation) in step.creates.iter().enumerate() {
                let child = system.thread(creation.thread);
                let starts = Term::and([child.starts_with.clone(), system.always.clone()]);
                let starts = asker.formula(&system.renamed(&starts, NEW));
                let parent = Parent::Created { creator: id, step: index, creation: number };
                let predicates = Rc::clone(&self.predicates[creation.thread][child.start]);
                let after = |term: &Term| created(system, step, creation, term);
                let questions: Vec<Literal> =
                    predicates.iter().map(|term| asker.question(&after(term))).collect();
                let place = (creation.thread, child.start);
                self.reach(asker, place, &[&own, &guard, &starts], &questions, parent)?;
            }
        }
        Ok(())
    }

    fn interference(&mut self, asker: &mut Asker, id: StateId) -> Result<(), Stop> {
        let State { thread, location, .. } = self.states[id];
        let system = self.system;
        let from = std::mem::replace(&mut self.seen[id], self.steps.len());
        if self.predicates[thread][location].is_empty() {
            return Ok(());
        }
        let own = Rc::clone(&self.own[id]);
        for step in from..self.steps.len() {
            let (by, index) = self.steps[step];
            let (other, place) = (self.states[by].thread, self.states[by].location);
            if !system.can_be_two(thread, other) || !self.pairs.may_meet((thread, location), (other, place)) {
                continue;
            }
            let (predicates, environment) = (&self.predicates[thread][location], self.environment);
            let key = [(thread, location, 0), (other, place, index)];
            let questions = self.after_other.entry(key).or_insert_with(|| {
                let step = &system.thread(other).steps[place][index];
                let touches = |predicate: &Term| mentions(predicate, &mut |var| changes(&step.updates, var));
                let after = |term: &Term| asker.question(&interfered(system, step, term, environment));
                predicates.iter().any(touches).then(|| predicates.iter().map(after).collect())
            });
            let Some(questions) = questions.clone() else { continue };
            let [_, guard] = self.step_guards(asker, (other, place, index));
            let apart = self.apart(asker, thread, other);
            let theirs = Rc::clone(&self.other[by]);
            let parent = Parent::Interference { from: id, by, step: index };
            let parts: [&[Literal]; 4] = [&own, &theirs, &guard, &apart];
            self.reach(asker, (thread, location), &parts, &questions, parent)?;
        }
        Ok(())
    }

    /// Adds every abstract state of the place that concrete states in which the parts hold may lead to.
    fn reach(
        &mut self,
        asker: &mut Asker,
        place: (ThreadIndex, LocationIndex),
        parts: &[&[Literal]],
        questions: &[Literal],
        parent: Parent,
    ) -> Result<(), Stop> {
        for cube in asker.valuations(parts, questions)? {
            let cube = Rc::new(cube);
            let key = (place.0, place.1, Rc::clone(&cube));
            if self.index.contains_key(&key) {
                continue;
            }
            if self.states.len() == MOST {
                return Err(Stop::States);
            }
            self.index.insert(key, self.states.len());
            let predicates = &self.predicates[place.0][place.1];
            let literals = predicates.iter().zip(cube.iter());
            let term = Term::and(literals.map(|(term, value)| if *value { term.clone() } else { term.negated() }));
            self.own.push(asker.formula(&term));
            self.other.push(asker.formula(&self.system.other(&term)));
            self.terms.push(term);
            self.seen.push(0);
            self.states.push(State { thread: place.0, location: place.1, parent });
        }
        Ok(())
    }

    /// The first conflict whose places two states can take at once.
    pub(crate) fn conflict(
        &mut self,
        asker: &mut Asker,
        conflicts: &[Conflict],
    ) -> Result<Option<(usize, StateId, StateId)>, Stop> {
        for (index, conflict) in conflicts.iter().enumerate() {
            let (first, second) = (conflict.first, conflict.second);
            let apart = self.apart(asker, first.0, second.0);
            let overlap = asker.formula(&conflict.overlap);
            let at = |place: (ThreadIndex, LocationIndex)| -> Vec<StateId> {
                let here = |id: &StateId| (self.states[*id].thread, self.states[*id].location) == place;
                (0..self.states.len()).filter(here).collect()
            };
            for a in at(first) {
                for b in at(second) {
                    if self.apart.contains(&(index, a, b)) {
                        continue;
                    }
                    let parts: [&[Literal]; 4] = [&self.own[a], &self.other[b], &apart, &overlap];
                    if asker.is_satisfiable(&parts)? {
                        return Ok(Some((index, a, b)));
                    }
                    self.apart.insert((index, a, b));
                }
            }
        }
        Ok(None)
    }

    /// What holds at each location: per thread, `false` where no state is.
    pub(crate) fn invariants(&self) -> Vec<Vec<Term>> {
        let mut cubes: Vec<Vec<Vec<Term>>> =
            self.system.threads.iter().map(|thread| vec![Vec::new(); thread.edges.len()]).collect();
        for (id, state) in self.states.iter().enumerate() {
            cubes[state.thread][state.location].push(self.terms[id].clone());
        }
        cubes.into_iter().map(|thread| thread.into_iter().map(Term::or).collect()).collect()
    }
}

/// Suffix of the private variables of a thread that is being created.
pub(crate) const NEW: &str = "^";

/// A term of a new thread, by the variables of its creator before the step, and its own, renamed, where nothing was passed.
pub(crate) fn created(system: &System, step: &Step, creation: &Creation, term: &Term) -> Term {
    term.substitute(&mut |var| {
        if (system.is_shared)(&var.name) {
            return step.updates.iter().find(|(changed, _)| changed == var).map(|(_, value)| value.clone());
        }
        let passed = creation.passes.iter().find(|(passed, _)| passed == var).map(|(_, value)| value.clone());
        Some(passed.unwrap_or_else(|| Term::from(suffixed(var, NEW))))
    })
}

/// A term of a thread after a step of another, whose private variables are renamed.
pub(crate) fn interfered(system: &System, step: &Step, term: &Term, environment: Environment) -> Term {
    term.substitute(&mut |var: &Var| {
        if !(system.is_shared)(&var.name) {
            return None;
        }
        let (_, value) = step.updates.iter().find(|(changed, _)| changed == var)?;
        Some(match environment {
            Environment::Havoc => Term::from(suffixed(var, "*")),
            Environment::Relation => system.other(value),
        })
    })
}
