//! Abstract counterexamples as formulas: two paths to the places of a conflict, with one shared state at their ends.
//!
//! As in the paper (section 4), the order in which the two threads take their steps is left out; so a path that cannot be taken refutes
//! the counterexample, and one that can does not confirm it. Steps of the environment are concrete steps from an abstract state, which
//! has a path of its own; these are followed to a depth.

use super::reach::{Environment, NEW, Parent, Reach, StateId, created, interfered};
use crate::system::{
    self, Conflict, Creation, Edge, LocationIndex, Pairs, System, ThreadIndex, changes, suffixed, updated,
};
use raddle_logic::{Node, Op, Term, Var};
use std::collections::{BTreeSet, HashMap};

/// A path of one thread, with that of its creator before.
#[derive(Debug)]
pub(crate) struct Trace<'s> {
    pub(crate) points: Vec<(ThreadIndex, LocationIndex)>,
    /// From each point to the next.
    pub(crate) steps: Vec<Way<'s>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Way<'s> {
    Own(&'s Edge),
    Creates(&'s system::Step, &'s Creation),
    /// By another thread.
    Other(&'s system::Step),
}

/// A formula that must hold for the counterexample, and what it says about the trace.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) term: Term,
    pub(crate) trace: usize,
    /// The point that it speaks of.
    pub(crate) point: usize,
    /// Over the variables of the thread there; `None`: nothing that one thread can say.
    pub(crate) fact: Option<Term>,
    pub(crate) kind: Kind,
}

/// In the order in which parts are better left out of a proof: what is left says more, or lasts longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Who wrote or holds something.
    Ghost,
    /// Which variable was copied to which.
    Copy,
    Condition,
}

fn kind_of(fact: Option<&Term>, is_copy: bool) -> Kind {
    let is_ghost = |term: &Term| {
        crate::system::mentions(term, &mut |var| var.name.starts_with("w.") || var.name.starts_with("l."))
    };
    match fact {
        Some(fact) if is_ghost(fact) => Kind::Ghost,
        _ if is_copy => Kind::Copy,
        _ => Kind::Condition,
    }
}

#[derive(Debug, Default)]
pub(crate) struct Formula<'s> {
    pub(crate) traces: Vec<Trace<'s>>,
    pub(crate) parts: Vec<Part>,
    fresh: usize,
}

/// Values of the variables at a point.
type Values = HashMap<Var, Term>;

/// More parts make no formula.
const MOST: usize = 4_000;

pub(crate) fn of_conflict<'s>(
    system: &'s System,
    pairs: &dyn Pairs,
    reach: &Reach<'s>,
    conflict: &Conflict,
    (a, b): (StateId, StateId),
    environment: Environment,
    depth: usize,
) -> Formula<'s> {
    let mut maker = Maker { system, pairs, reach, environment, formula: Formula::default() };
    let first = maker.follow(a, depth);
    let second = maker.follow(b, depth);
    maker.link(&first.1, &second.1);
    let last = |formula: &Formula<'_>, trace: usize| formula.traces[trace].points.len() - 1;
    let point = last(&maker.formula, first.0);
    let both = |maker: &mut Maker<'s, '_>, term: &Term| maker.both(term, &first.1, &second.1);
    for literal in literals(&pairs.apart(conflict.first.0, conflict.second.0)) {
        let term = both(&mut maker, &literal);
        maker.formula.parts.push(Part { term, trace: first.0, point, fact: None, kind: Kind::Condition });
    }
    for literal in literals(&conflict.overlap) {
        let term = both(&mut maker, &literal);
        let own = !crate::system::mentions(&literal, &mut |var| var.name.ends_with('\''));
        maker.formula.parts.push(Part {
            term,
            trace: first.0,
            point,
            fact: own.then_some(literal),
            kind: Kind::Condition,
        });
    }
    maker.formula
}

struct Maker<'s, 'r> {
    system: &'s System,
    pairs: &'r dyn Pairs,
    reach: &'r Reach<'s>,
    environment: Environment,
    formula: Formula<'s>,
}

impl<'s> Maker<'s, '_> {
    /// The path to a state: its number, and the values at its end.
    fn follow(&mut self, state: StateId, depth: usize) -> (usize, Values) {
        let system = self.system;
        let mut chain = vec![state];
        loop {
            let last = chain[chain.len() - 1];
            match self.reach.states[last].parent {
                Parent::Initial => break,
                Parent::Created { creator: from, .. }
                | Parent::Step { from, .. }
                | Parent::Interference { from, .. } => chain.push(from),
            }
        }
        chain.reverse();
        let at = |id: StateId| (self.reach.states[id].thread, self.reach.states[id].location);
        let points = chain.iter().map(|id| at(*id)).collect();
        let trace = self.formula.traces.len();
        self.formula.traces.push(Trace { points, steps: Vec::new() });
        let mut values = Values::new();
        for literal in
            literals(&system.initial).into_iter().chain(literals(&system.thread(system.first).starts_with))
        {
            let term = self.value(&literal, &mut values);
            let kind = kind_of(Some(&literal), false);
            self.formula.parts.push(Part { term, trace, point: 0, fact: Some(literal), kind });
        }
        for (point, pair) in chain.windows(2).enumerate() {
            let (from, to) = (pair[0], pair[1]);
            let place = at(from);
            let (edges, steps) =
                (&system.thread(place.0).edges[place.1], &system.thread(place.0).steps[place.1]);
            let way = match self.reach.states[to].parent {
                Parent::Initial => continue,
                Parent::Step { edge, .. } => {
                    let Edge { guard, updates, .. } = &edges[edge];
                    self.own(trace, point, (guard, updates), &mut values);
                    Way::Own(&edges[edge])
                }
                Parent::Created { step, creation, .. } => {
                    let (step, creation) = (&steps[step], &steps[step].creates[creation]);
                    self.creates(trace, point, step, creation, &mut values);
                    Way::Creates(step, creation)
                }
                Parent::Interference { by, step, .. } => {
                    let other = at(by);
                    let step = &system.thread(other.0).steps[other.1][step];
                    self.interferes(trace, point, (by, step), place.0, &mut values, depth);
                    Way::Other(step)
                }
            };
            self.formula.traces[trace].steps.push(way);
        }
        (trace, values)
    }

    fn push(&mut self, trace: usize, point: usize, literal: &Term, values: &mut Values) {
        let term = self.value(literal, values);
        let kind = kind_of(Some(literal), false);
        self.formula.parts.push(Part { term, trace, point, fact: Some(literal.clone()), kind });
    }

    fn own(
        &mut self,
        trace: usize,
        point: usize,
        (guard, updates): (&Term, &[(Var, Term)]),
        values: &mut Values,
    ) {
        let mut inputs = values.clone();
        for literal in literals(guard) {
            self.push(trace, point, &literal, &mut inputs);
        }
        let new: Vec<(Var, Term, Term)> = updates
            .iter()
            .map(|(var, value)| (var.clone(), value.clone(), self.value(value, &mut inputs)))
            .collect();
        // What was met for the first time, but for inputs, is as it was.
        for (var, value) in inputs.iter().filter(|(var, _)| !is_input(&var.name)) {
            values.entry(var.clone()).or_insert_with(|| value.clone());
        }
        for (var, value, now) in new {
            let version = self.version(&var);
            let says_itself =
                crate::system::mentions(&value, &mut |used| changes(updates, used) || is_input(&used.name));
            let fact = (!says_itself).then(|| Term::from(var.clone()).equals(&value));
            let kind = kind_of(fact.as_ref(), !value.variables().iter().all(|used| is_fixed(&used.name)));
            self.formula.parts.push(Part { term: version.equals(&now), trace, point: point + 1, fact, kind });
            values.insert(var, version);
        }
    }

    fn creates(
        &mut self,
        trace: usize,
        point: usize,
        step: &system::Step,
        creation: &Creation,
        values: &mut Values,
    ) {
        let system = self.system;
        let before = values.clone();
        let mut inputs = before.clone();
        let child = system.thread(creation.thread);
        let passed: Vec<(Var, Term, Term)> = creation
            .passes
            .iter()
            .map(|(var, value)| (var.clone(), value.clone(), self.value(value, &mut inputs)))
            .collect();
        self.own(trace, point, (&step.guard, &step.updates), values);
        values.retain(|var, _| (system.is_shared)(&var.name));
        for (var, value, now) in passed {
            let version = self.version(&var);
            let is_private = |used: &Var| !is_rigid(&used.name) && !(system.is_shared)(&used.name);
            let is_said = !crate::system::mentions(&value, &mut |used| {
                is_private(used) || changes(&step.updates, used)
            });
            let fact = is_said.then(|| Term::from(var.clone()).equals(&value));
            let kind = kind_of(fact.as_ref(), !value.variables().iter().all(|used| is_fixed(&used.name)));
            self.formula.parts.push(Part { term: version.equals(&now), trace, point: point + 1, fact, kind });
            values.insert(var, version);
        }
        for literal in literals(&child.starts_with) {
            self.push(trace, point + 1, &literal, values);
        }
    }

    fn interferes(
        &mut self,
        trace: usize,
        point: usize,
        (by, step): (StateId, &'s system::Step),
        thread: ThreadIndex,
        values: &mut Values,
        depth: usize,
    ) {
        let system = self.system;
        // The values of the other thread, on its own path or by its abstract state alone.
        let mut others: Values = if depth > 0 && self.formula.parts.len() < MOST {
            let (_, others) = self.follow(by, depth - 1);
            self.link(&others, values);
            others
        } else {
            Values::new()
        };
        others.retain(|var, _| !(system.is_shared)(&var.name));
        for (var, value) in values.iter().filter(|(var, _)| (system.is_shared)(&var.name)) {
            others.insert(var.clone(), value.clone());
        }
        let state = self.reach.term(by).clone();
        for literal in literals(&state).into_iter().chain(literals(&step.guard)) {
            let term = self.shared_value(&literal, values, &mut others);
            let is_common = !crate::system::mentions(&literal, &mut |var| !(system.is_shared)(&var.name));
            let fact = is_common.then_some(literal);
            let kind = kind_of(fact.as_ref(), false);
            self.formula.parts.push(Part { term, trace, point, fact, kind });
        }
        let apart = self.pairs.apart(thread, self.reach.states[by].thread);
        for literal in literals(&apart) {
            let term = self.both(&literal, values, &others);
            self.formula.parts.push(Part { term, trace, point, fact: None, kind: Kind::Condition });
        }
        let new: Vec<(Var, Term, Term)> = step
            .updates
            .iter()
            .filter(|(var, _)| (system.is_shared)(&var.name))
            .map(|(var, value)| (var.clone(), value.clone(), self.shared_value(value, values, &mut others)))
            .collect();
        for (var, value, now) in new {
            let version = self.version(&var);
            if self.environment == Environment::Relation {
                let mut is_lost =
                    |used: &Var| changes(&step.updates, used) || !(system.is_shared)(&used.name);
                let is_said = !crate::system::mentions(&value, &mut is_lost);
                let fact = is_said.then(|| Term::from(var.clone()).equals(&value));
                let kind = kind_of(fact.as_ref(), !value.variables().iter().all(|used| is_fixed(&used.name)));
                self.formula.parts.push(Part {
                    term: version.equals(&now),
                    trace,
                    point: point + 1,
                    fact,
                    kind,
                });
            }
            values.insert(var, version);
        }
    }

    /// The value of another thread's term, where both see the same shared variables.
    fn shared_value(&mut self, term: &Term, values: &mut Values, others: &mut Values) -> Term {
        let done = self.value(term, others);
        for (var, value) in others.iter() {
            if (self.system.is_shared)(&var.name) && !values.contains_key(var) {
                values.insert(var.clone(), value.clone());
            }
        }
        done
    }

    /// Variables without a value yet get one.
    fn value(&mut self, term: &Term, values: &mut Values) -> Term {
        term.substitute(&mut |var| {
            if let Some(value) = values.get(var) {
                return Some(value.clone());
            }
            let version = self.version(var);
            values.insert(var.clone(), version.clone());
            Some(version)
        })
    }

    fn version(&mut self, var: &Var) -> Term {
        if is_rigid(&var.name) {
            return Term::from(var.clone());
        }
        self.fresh_version(var)
    }

    fn fresh_version(&mut self, var: &Var) -> Term {
        self.formula.fresh += 1;
        Term::from(suffixed(var, &format!("@{}", self.formula.fresh)))
    }

    /// Both see the same shared state.
    fn link(&mut self, a: &Values, b: &Values) {
        let mut equal: Vec<Term> = a
            .iter()
            .filter(|(var, _)| (self.system.is_shared)(&var.name))
            .filter_map(|(var, value)| Some(value.equals(b.get(var)?)))
            .collect();
        equal.sort_unstable();
        for term in equal {
            self.formula.parts.push(Part { term, trace: 0, point: 0, fact: None, kind: Kind::Condition });
        }
    }

    /// A term about two threads.
    fn both(&mut self, term: &Term, a: &Values, b: &Values) -> Term {
        let mut free: HashMap<Var, Term> = HashMap::new();
        term.substitute(&mut |var| {
            let known = match var.name.strip_suffix('\'') {
                Some(name) => b.get(&Var::new(name, var.sort)),
                None => a.get(var),
            };
            Some(match known {
                Some(value) => value.clone(),
                None => free.entry(var.clone()).or_insert_with(|| self.version(var)).clone(),
            })
        })
    }
}

/// What never changes for a thread.
fn is_fixed(name: &str) -> bool {
    name == "tid" || is_rigid(name)
}

/// Constants of an execution.
fn is_rigid(name: &str) -> bool {
    name.starts_with("a.") || name.starts_with("f.")
}

pub(crate) fn is_input(name: &str) -> bool {
    name.starts_with("i.")
}

/// Formulas that all must hold.
pub(crate) fn literals(term: &Term) -> Vec<Term> {
    match term.node() {
        Node::App(Op::And, args) => args.iter().flat_map(literals).collect(),
        Node::Bool(true) => Vec::new(),
        _ => vec![term.clone()],
    }
}

impl Trace<'_> {
    /// What must hold before a step for the formula to hold after it; `None`: nothing that can be said.
    pub(crate) fn before(
        &self,
        system: &System,
        step: usize,
        term: &Term,
        environment: Environment,
    ) -> Option<Term> {
        let term = match self.steps[step] {
            Way::Own(edge) => updated(&edge.updates, term),
            Way::Creates(step, creation) => created(system, step, creation, term),
            Way::Other(step) => interfered(system, step, term, environment),
        };
        let is_lost =
            |var: &Var| is_input(&var.name) || var.name.ends_with(['*', '\'']) || var.name.ends_with(NEW);
        (!crate::system::mentions(&term, &mut |var| is_lost(var))).then_some(term)
    }

    /// Whether a formula means the same after a step as before it.
    pub(crate) fn keeps(&self, system: &System, step: usize, term: &Term) -> bool {
        let variables: BTreeSet<Var> = term.variables();
        match self.steps[step] {
            Way::Own(edge) => !variables.iter().any(|var| changes(&edge.updates, var)),
            Way::Creates(step, _) => {
                variables.iter().all(|var| (system.is_shared)(&var.name) && !changes(&step.updates, var))
            }
            Way::Other(step) => {
                !variables.iter().any(|var| (system.is_shared)(&var.name) && changes(&step.updates, var))
            }
        }
    }
}
