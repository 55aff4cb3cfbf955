//! Whether a formula is valid, for those who check what others claim.
//!
//! A formula is [`Validity::Valid`] when a solver refutes its negation and no other finds it satisfiable. A counterexample needs no second
//! opinion: the formula is evaluated under it, by other code than a solver's.

use crate::shape::shape;
use crate::{Answer, Cvc5, Limits, Solver};
use raddle_logic::{Assignment, Term};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Validity {
    Valid,
    /// Values under which the formula is false.
    Invalid(Assignment),
    Unknown(String),
}

/// How much was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub z3: u64,
    pub cvc5: u64,
    /// Formulas taken for valid with one solver to confirm it: the other is not installed or does not know.
    pub confirmed_once: u64,
}

pub struct Checker {
    solver: Solver,
    cvc5: Cvc5,
    confirmed_once: u64,
}

impl Checker {
    pub fn new(limits: Limits) -> Checker {
        Checker::with_cvc5(limits.clone(), Cvc5::new("cvc5", limits))
    }

    /// With this program in place of the installed one.
    pub fn with_cvc5(limits: Limits, cvc5: Cvc5) -> Checker {
        Checker { solver: Solver::new(limits), cvc5, confirmed_once: 0 }
    }

    pub fn counts(&self) -> Counts {
        Counts { z3: self.solver.queries(), cvc5: self.cvc5.queries(), confirmed_once: self.confirmed_once }
    }

    pub fn valid(&mut self, formula: &Term) -> Validity {
        let negation = formula.negated();
        self.solver.push();
        self.solver.assert(&negation);
        let first = self.solver.check();
        let validity = match first {
            Answer::Sat => self.counterexample(formula),
            Answer::Unsat => self.decide(None, &negation),
            Answer::Unknown(reason) => self.decide(Some(reason), &negation),
        };
        self.solver.pop();
        validity
    }

    fn counterexample(&mut self, formula: &Term) -> Validity {
        let variables: Vec<_> = shape(std::slice::from_ref(formula)).variables.into_iter().collect();
        match self.solver.model(&variables) {
            Err(error) => Validity::Unknown(error.to_string()),
            Ok(values) => {
                let value = formula.substitute(&mut |var| values.get(var).map(|value| Term::from(*value)));
                if value.is_false() {
                    Validity::Invalid(values)
                } else {
                    Validity::Unknown("Z3's counterexample does not make the formula false".to_owned())
                }
            }
        }
    }

    /// Z3 refutes the negation, or does not know for this reason.
    fn decide(&mut self, unknown: Option<String>, negation: &Term) -> Validity {
        let second = self.cvc5.ask(std::slice::from_ref(negation));
        match (unknown, second) {
            (None, Some(Answer::Unsat)) => Validity::Valid,
            (None, None | Some(Answer::Unknown(_))) | (Some(_), Some(Answer::Unsat)) => {
                self.confirmed_once += 1;
                Validity::Valid
            }
            (None, Some(Answer::Sat)) => {
                Validity::Unknown("solvers disagree: valid by Z3, not by cvc5".to_owned())
            }
            (Some(reason), None) => Validity::Unknown(format!("Z3: {reason}")),
            (Some(reason), Some(Answer::Sat)) => {
                Validity::Unknown(format!("Z3: {reason}; not valid by cvc5"))
            }
            (Some(reason), Some(Answer::Unknown(other))) => {
                Validity::Unknown(format!("Z3: {reason}; cvc5: {other}"))
            }
        }
    }
}
