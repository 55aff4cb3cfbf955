//! Questions to the solver, with the answers that were given before.

use crate::components::{Formula, Literal, Literals};
use raddle_logic::{Assignment, Term, Value, Var};
use raddle_smt::{Answer, Solver};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Why no answer can be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The solver does not know, for this reason.
    Solver(String),
    /// More predicates at one place than are kept.
    Predicates,
    /// More abstract states than are kept.
    States,
    Refinements,
    /// The time is over or somebody interrupted.
    Time,
}

pub struct Asker {
    solver: Solver,
    satisfiable: HashMap<Vec<Literal>, bool>,
    #[allow(clippy::type_complexity)]
    valuations: HashMap<(Vec<Literal>, Vec<Literal>), Rc<Vec<Vec<bool>>>>,
    literals: Literals,
    stop: Box<dyn Fn() -> bool>,
}

/// More valuations of one question are not listed.
const MOST: usize = 4_096;

impl Asker {
    pub fn new(solver: Solver, stop: Box<dyn Fn() -> bool>) -> Asker {
        Asker {
            solver,
            satisfiable: HashMap::new(),
            valuations: HashMap::new(),
            literals: Literals::default(),
            stop,
        }
    }

    pub fn queries(&self) -> u64 {
        self.solver.queries()
    }

    pub fn check_time(&self) -> Result<(), Stop> {
        if (self.stop)() { Err(Stop::Time) } else { Ok(()) }
    }

    fn answer(&self, answer: Answer) -> Result<bool, Stop> {
        match answer {
            Answer::Sat => Ok(true),
            Answer::Unsat => Ok(false),
            Answer::Unknown(_) if (self.stop)() => Err(Stop::Time),
            Answer::Unknown(reason) => Err(Stop::Solver(reason)),
        }
    }

    pub(crate) fn formula(&mut self, term: &Term) -> Formula {
        self.literals.formula(term)
    }

    pub(crate) fn question(&mut self, term: &Term) -> Literal {
        self.literals.number(term)
    }

    pub(crate) fn is_satisfiable(&mut self, parts: &[&[Literal]]) -> Result<bool, Stop> {
        for component in self.literals.components(parts, &[]) {
            if !self.holds_together(component.parts)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// For parts that are sorted.
    fn holds_together(&mut self, parts: Vec<Literal>) -> Result<bool, Stop> {
        if parts.iter().any(|part| self.literals.term(*part).is_false()) {
            return Ok(false);
        }
        if parts.is_empty() {
            return Ok(true);
        }
        if let Some(known) = self.satisfiable.get(&parts) {
            return Ok(*known);
        }
        self.check_time()?;
        self.solver.push();
        parts.iter().for_each(|part| self.solver.assert(self.literals.term(*part)));
        let answer = self.solver.check();
        self.solver.pop();
        let answer = self.answer(answer)?;
        self.satisfiable.insert(parts, answer);
        Ok(answer)
    }

    /// All ways in which the questions can be answered where the parts hold.
    pub(crate) fn valuations(
        &mut self,
        parts: &[&[Literal]],
        questions: &[Literal],
    ) -> Result<Vec<Vec<bool>>, Stop> {
        let fixed = |question: &Literal| match self.literals.term(*question) {
            known if known.is_true() => Some(true),
            known if known.is_false() => Some(false),
            _ => None,
        };
        let known: Vec<Option<bool>> = questions.iter().map(fixed).collect();
        let open: Vec<(usize, Literal)> =
            questions.iter().copied().enumerate().filter(|(index, _)| known[*index].is_none()).collect();
        let mut all = vec![known.iter().map(|known| known.unwrap_or_default()).collect::<Vec<bool>>()];
        for component in self.literals.components(parts, &open) {
            if component.questions.is_empty() {
                if !self.holds_together(component.parts)? {
                    return Ok(Vec::new());
                }
                continue;
            }
            let asked: Vec<Literal> = component.questions.iter().map(|index| questions[*index]).collect();
            let answers = self.of_component(component.parts, asked)?;
            if answers.len().saturating_mul(all.len()) > MOST {
                return Err(Stop::States);
            }
            let mut product = Vec::new();
            for values in &all {
                for answer in answers.iter() {
                    let mut values = values.clone();
                    component.questions.iter().zip(answer).for_each(|(index, value)| values[*index] = *value);
                    product.push(values);
                }
            }
            all = product;
        }
        all.sort_unstable();
        Ok(all)
    }

    fn of_component(
        &mut self,
        parts: Vec<Literal>,
        questions: Vec<Literal>,
    ) -> Result<Rc<Vec<Vec<bool>>>, Stop> {
        let key = (parts, questions);
        if let Some(known) = self.valuations.get(&key) {
            return Ok(Rc::clone(known));
        }
        let said = |question: &Literal| {
            let negation = self.literals.negation(*question);
            if key.0.binary_search(question).is_ok() {
                Some(true)
            } else if negation.is_some_and(|negation| key.0.binary_search(&negation).is_ok()) {
                Some(false)
            } else {
                None
            }
        };
        let known: Vec<Option<bool>> = key.1.iter().map(said).collect();
        let found = if key.0.iter().any(|part| self.literals.term(*part).is_false()) {
            Vec::new()
        } else if known.iter().all(Option::is_some) {
            let all = known.into_iter().flatten().collect();
            if self.holds_together(key.0.clone())? { vec![all] } else { Vec::new() }
        } else {
            let parts: Vec<Term> = key.0.iter().map(|part| self.literals.term(*part).clone()).collect();
            let questions: Vec<Term> = key.1.iter().map(|part| self.literals.term(*part).clone()).collect();
            self.enumerate(&parts, &questions, &known)?
        };
        let found = Rc::new(found);
        self.valuations.insert(key, Rc::clone(&found));
        Ok(found)
    }

    fn enumerate(
        &mut self,
        parts: &[Term],
        questions: &[Term],
        known: &[Option<bool>],
    ) -> Result<Vec<Vec<bool>>, Stop> {
        let open: Vec<&Term> =
            questions.iter().zip(known).filter(|(_, known)| known.is_none()).map(|(term, _)| term).collect();
        let variables: BTreeSet<Var> = open.iter().flat_map(|term| term.variables()).collect();
        let variables: Vec<Var> = variables.into_iter().collect();
        let mut found = Vec::new();
        self.solver.push();
        parts.iter().for_each(|part| self.solver.assert(part));
        let result = loop {
            if let Err(stop) = self.check_time() {
                break Err(stop);
            }
            let answer = self.solver.check();
            match self.answer(answer) {
                Err(stop) => break Err(stop),
                Ok(false) => break Ok(()),
                Ok(true) => {}
            }
            if found.len() == MOST {
                break Err(Stop::States);
            }
            let model = match self.solver.model(&variables) {
                Ok(model) => model,
                Err(error) => break Err(Stop::Solver(error.to_string())),
            };
            let values: Vec<bool> = open.iter().map(|term| holds(term, &model)).collect();
            let same = open.iter().zip(&values).map(
                |(term, value)| {
                    if *value { (*term).clone() } else { term.negated() }
                },
            );
            self.solver.assert(&Term::and(same).negated());
            let mut values = values.into_iter();
            found.push(
                known.iter().map(|known| known.unwrap_or_else(|| values.next() == Some(true))).collect(),
            );
        };
        self.solver.pop();
        found.sort_unstable();
        result.map(|()| found)
    }

    /// Parts that cannot all hold; `None`: all can. What comes first in the order is left out first.
    pub fn core<K: Ord>(
        &mut self,
        parts: &[Term],
        order: impl Fn(&usize) -> K,
    ) -> Result<Option<Vec<usize>>, Stop> {
        if let Some(at) = parts.iter().position(Term::is_false) {
            return Ok(Some(vec![at]));
        }
        self.check_time()?;
        let answer = self.solver.check_assuming(parts);
        match self.answer(answer)? {
            true => Ok(None),
            false => {
                let mut core = self.solver.core().unwrap_or_else(|| (0..parts.len()).collect());
                core.sort_by_key(order);
                self.smaller(parts, core).map(Some)
            }
        }
    }

    /// Leaves parts out while the rest still cannot hold.
    fn smaller(&mut self, parts: &[Term], core: Vec<usize>) -> Result<Vec<usize>, Stop> {
        let mut core = core;
        let mut at = 0;
        while at < core.len() && core.len() > 1 {
            let mut without = core.clone();
            without.remove(at);
            let rest: Vec<Formula> = without.iter().map(|index| self.formula(&parts[*index])).collect();
            let rest: Vec<&[Literal]> = rest.iter().map(|part| &part[..]).collect();
            if self.is_satisfiable(&rest)? { at += 1 } else { core = without }
        }
        Ok(core)
    }

    pub fn model(&mut self, parts: &[Term]) -> Result<Option<Assignment>, Stop> {
        let variables: BTreeSet<Var> = parts.iter().flat_map(|term| term.variables()).collect();
        let variables: Vec<Var> = variables.into_iter().collect();
        self.solver.push();
        parts.iter().for_each(|part| self.solver.assert(part));
        let answer = self.solver.check();
        let answer = self.answer(answer);
        let model = match answer {
            Ok(true) => {
                self.solver.model(&variables).map(Some).map_err(|error| Stop::Solver(error.to_string()))
            }
            Ok(false) => Ok(None),
            Err(stop) => Err(stop),
        };
        self.solver.pop();
        model
    }
}

fn holds(term: &Term, model: &Assignment) -> bool {
    term.eval(model) == Ok(Value::Bool(true))
}
