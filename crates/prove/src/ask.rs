//! Questions to the solver, with the answers that were given before.

use raddle_logic::{Assignment, Term, Value, Var};
use raddle_smt::{Answer, Solver};
use std::collections::{BTreeSet, HashMap};

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
    satisfiable: HashMap<Vec<Term>, bool>,
    stop: Box<dyn Fn() -> bool>,
}

/// More valuations of one question are not listed.
const MOST: usize = 4_096;

impl Asker {
    pub fn new(solver: Solver, stop: Box<dyn Fn() -> bool>) -> Asker {
        Asker { solver, satisfiable: HashMap::new(), stop }
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

    pub fn is_satisfiable(&mut self, parts: &[Term]) -> Result<bool, Stop> {
        let mut key: Vec<Term> = parts.iter().filter(|part| !part.is_true()).cloned().collect();
        key.sort_unstable();
        key.dedup();
        if key.iter().any(Term::is_false) {
            return Ok(false);
        }
        if key.is_empty() {
            return Ok(true);
        }
        if let Some(known) = self.satisfiable.get(&key) {
            return Ok(*known);
        }
        self.check_time()?;
        self.solver.push();
        key.iter().for_each(|part| self.solver.assert(part));
        let answer = self.solver.check();
        self.solver.pop();
        let answer = self.answer(answer)?;
        self.satisfiable.insert(key, answer);
        Ok(answer)
    }

    /// All ways in which the questions can be answered where the parts hold.
    pub fn valuations(&mut self, parts: &[Term], questions: &[Term]) -> Result<Vec<Vec<bool>>, Stop> {
        let fixed = |question: &Term| match question {
            known if known.is_true() => Some(true),
            known if known.is_false() => Some(false),
            known if parts.contains(known) => Some(true),
            known if parts.contains(&known.negated()) => Some(false),
            _ => None,
        };
        let known: Vec<Option<bool>> = questions.iter().map(fixed).collect();
        if known.iter().all(Option::is_some) {
            let all = known.into_iter().flatten().collect();
            return Ok(if self.is_satisfiable(parts)? { vec![all] } else { Vec::new() });
        }
        if parts.iter().any(Term::is_false) {
            return Ok(Vec::new());
        }
        let open: Vec<&Term> =
            questions.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(term, _)| term).collect();
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
            let same = open.iter().zip(&values).map(|(term, value)| {
                if *value { (*term).clone() } else { term.negated() }
            });
            self.solver.assert(&Term::and(same).negated());
            let mut values = values.into_iter();
            found.push(known.iter().map(|known| known.unwrap_or_else(|| values.next() == Some(true))).collect());
        };
        self.solver.pop();
        found.sort_unstable();
        result.map(|()| found)
    }

    /// Parts that cannot all hold; `None`: all can.
    pub fn core(&mut self, parts: &[Term]) -> Result<Option<Vec<usize>>, Stop> {
        if let Some(at) = parts.iter().position(Term::is_false) {
            return Ok(Some(vec![at]));
        }
        self.check_time()?;
        let answer = self.solver.check_assuming(parts);
        match self.answer(answer)? {
            true => Ok(None),
            false => {
                let core = self.solver.core().unwrap_or_else(|| (0..parts.len()).collect());
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
            let rest: Vec<Term> = without.iter().map(|index| parts[*index].clone()).collect();
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
            Ok(true) => self.solver.model(&variables).map(Some).map_err(|error| Stop::Solver(error.to_string())),
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
