//! Algorithm TAR (2003 paper, sections 2 to 4): thread transition relations abstracted from above by predicates, what the environment does
//! from below, until it covers what the threads do.
//!
//! Where we differ: the discharge of step 3 is that no state offers a step that the environment does not have, which is
//! `R_i ∩ Write_i(x) ⊆ h_i(x)` (the paper prints the inclusion the other way round, which would hold at once). A counterexample that the
//! formulas allow is no race yet: it is handed out as a candidate.

mod precision;
mod reach;
mod trace;

pub use reach::Environment;

use crate::ask::{Asker, Stop};
use crate::system::{Pairs, System};
use precision::Precision;
use raddle_logic::{Assignment, Term};
use reach::{Reach, StateId};
use std::collections::BTreeSet;
use trace::{Formula, Kind, is_input};

/// What came out, and what it took.
#[derive(Clone, Debug)]
pub struct Result {
    pub answer: Answer,
    pub counts: Counts,
}

#[derive(Clone, Debug)]
pub enum Answer {
    /// Per thread and location what holds there; `false`: never reached.
    Safe(Vec<Vec<Term>>),
    /// A conflict that the formulas do not exclude, with values of inputs on the way.
    Candidate {
        question: usize,
        values: Assignment,
    },
    /// The refinement found nothing new for an abstract counterexample that is none.
    Stuck {
        question: usize,
    },
    Stopped(Stop),
}

/// The columns of the paper's Table 2, and more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Refinements.
    pub outer: u64,
    /// Rounds of the environment since the last one.
    pub inner: u64,
    pub queries: u64,
    pub predicates: u64,
    pub states: u64,
}

/// Paths of the environment are followed so deep.
const DEEPEST: usize = 3;

/// More refinements are given up on.
const MOST: u64 = 400;

pub fn run(system: &System, pairs: &dyn Pairs, asker: &mut Asker, environment: Environment) -> Result {
    let mut counts = Counts::default();
    let before = asker.queries();
    let mut search = Search { system, pairs, asker, environment, precision: Precision::nothing(system) };
    let answer = search.run(&mut counts).unwrap_or_else(Answer::Stopped);
    counts.predicates = search.precision.count() as u64;
    counts.queries = search.asker.queries() - before;
    Result { answer, counts }
}

struct Search<'s, 'a> {
    system: &'s System,
    pairs: &'s dyn Pairs,
    asker: &'a mut Asker,
    environment: Environment,
    precision: Precision,
}

enum Round {
    Safe(Vec<Vec<Term>>),
    /// Predicates to add: thread, location, formula.
    Refine(Vec<(usize, usize, Term)>),
    Candidate {
        question: usize,
        values: Assignment,
    },
    Stuck {
        question: usize,
    },
}

impl Search<'_, '_> {
    fn run(&mut self, counts: &mut Counts) -> std::result::Result<Answer, Stop> {
        loop {
            match self.round(counts)? {
                Round::Safe(invariants) => return Ok(Answer::Safe(invariants)),
                Round::Candidate { question, values } => return Ok(Answer::Candidate { question, values }),
                Round::Stuck { question } => return Ok(Answer::Stuck { question }),
                Round::Refine(predicates) => {
                    for (thread, location, term) in predicates {
                        self.precision.add(thread, location, &term)?;
                    }
                }
            }
            counts.outer += 1;
            counts.inner = 0;
            if counts.outer > MOST {
                return Err(Stop::Refinements);
            }
        }
    }

    /// With the predicates as they are, from an environment that does nothing.
    fn round(&mut self, counts: &mut Counts) -> std::result::Result<Round, Stop> {
        let (system, pairs) = (self.system, self.pairs);
        let precision = self.precision.clone();
        let mut reach = Reach::new(system, pairs, &precision, self.environment);
        loop {
            counts.inner += 1;
            let result = reach.round(self.asker);
            counts.states = counts.states.max(reach.states.len() as u64);
            result?;
            if let Some((conflict, a, b)) = reach.conflict(self.asker, &system.conflicts)? {
                return self.analyse(&reach, conflict, (a, b));
            }
            if !reach.grow(self.asker)? {
                return Ok(Round::Safe(reach.invariants()));
            }
        }
    }

    fn analyse(
        &mut self,
        reach: &Reach<'_>,
        conflict: usize,
        states: (StateId, StateId),
    ) -> std::result::Result<Round, Stop> {
        let conflict = &self.system.conflicts[conflict];
        let question = conflict.question;
        let mut last = None;
        for depth in 0..=DEEPEST {
            let formula =
                trace::of_conflict(self.system, self.pairs, reach, conflict, states, self.environment, depth);
            let terms: Vec<Term> = formula.parts.iter().map(|part| part.term.clone()).collect();
            let order = |index: &usize| formula.parts[*index].kind;
            match self.asker.core(&terms, order)? {
                Some(core) => {
                    let conditions: Vec<usize> =
                        core.iter().copied().filter(|index| order(index) != Kind::Copy).collect();
                    let everything: Vec<usize> = (0..formula.parts.len()).collect();
                    for some in [Some(&conditions), None, Some(&core), Some(&everything)] {
                        let new = match some {
                            Some(parts) => self.predicates(reach, &formula, parts),
                            None => self.everywhere(),
                        };
                        if !new.is_empty() {
                            return Ok(Round::Refine(new));
                        }
                    }
                    return Ok(Round::Stuck { question });
                }
                None => last = Some(terms),
            }
        }
        let mut values = self.asker.model(&last.unwrap_or_default())?.unwrap_or_default();
        values.retain(|var, _| is_input(&var.name));
        Ok(Round::Candidate { question, values })
    }

    /// What the parts say, carried along their traces as long as it says something; only what is new.
    fn predicates(
        &self,
        reach: &Reach<'_>,
        formula: &Formula<'_>,
        core: &[usize],
    ) -> Vec<(usize, usize, Term)> {
        let mut found: Vec<(usize, usize, Term)> = Vec::new();
        for part in core.iter().map(|index| &formula.parts[*index]) {
            let Some(fact) = &part.fact else { continue };
            for atom in precision::atoms(fact) {
                self.carry(formula, part.trace, part.point, &atom, &mut found);
            }
        }
        found.sort();
        found.dedup();
        let known = |(thread, location, term): &(usize, usize, Term)| {
            reach.precision().at(*thread, *location).contains(term)
        };
        found.retain(|new| !known(new));
        found
    }

    /// What is followed at one place and all threads can say, at every place: what one thread relies on, others may have to keep.
    fn everywhere(&self) -> Vec<(usize, usize, Term)> {
        let system = self.system;
        let places = |thread: usize| 0..self.precision.locations(thread);
        let is_common = |term: &Term| {
            !crate::system::mentions(term, &mut |var| !(system.is_shared)(&var.name) && &*var.name != "tid")
        };
        let all: BTreeSet<Term> = (0..system.threads.len())
            .flat_map(|thread| places(thread).flat_map(move |place| self.precision.at(thread, place)))
            .filter(is_common)
            .collect();
        let mut found = Vec::new();
        for thread in 0..system.threads.len() {
            for place in places(thread) {
                let known = self.precision.at(thread, place);
                let new = all.iter().filter(|term| !known.contains(term));
                found.extend(new.map(|term| (thread, place, term.clone())));
            }
        }
        found
    }

    fn carry(
        &self,
        formula: &Formula<'_>,
        trace: usize,
        point: usize,
        atom: &Term,
        found: &mut Vec<(usize, usize, Term)>,
    ) {
        let trace = &formula.traces[trace];
        let mut add = |at: usize, term: &Term| {
            let (thread, location) = trace.points[at];
            let says_input = crate::system::mentions(term, &mut |var| is_input(&var.name));
            if !says_input {
                let atoms = precision::atoms(term);
                found.extend(
                    atoms
                        .into_iter()
                        .filter(|atom| !atom.variables().is_empty())
                        .map(|atom| (thread, location, atom)),
                );
            }
        };
        add(point, atom);
        let mut term = atom.clone();
        for step in (0..point).rev() {
            match trace.before(self.system, step, &term, self.environment) {
                Some(before) => term = before,
                None => break,
            }
            add(step, &term);
        }
        for step in point..trace.steps.len() {
            if !trace.keeps(self.system, step, atom) {
                break;
            }
            add(step + 1, atom);
        }
    }
}
