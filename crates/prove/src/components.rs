//! Formulas by number, and those that share variables: formulas that share none can be asked about one by one, and far more often with an
//! answer that is known already.

use raddle_logic::{Node, Op, Term, Var};
use std::collections::HashMap;
use std::rc::Rc;

/// A formula that is no conjunction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Literal(u32);

/// Formulas that must hold together.
pub(crate) type Formula = Rc<[Literal]>;

#[derive(Default)]
pub(crate) struct Literals {
    numbers: HashMap<Term, Literal>,
    terms: Vec<Term>,
    /// By literal.
    variables: Vec<Rc<[usize]>>,
    negations: Vec<Option<Literal>>,
    variable_numbers: HashMap<Var, usize>,
    /// Which variables belong together, of those that have this mark.
    above: Vec<usize>,
    marks: Vec<u64>,
    mark: u64,
}

/// Formulas and questions with common variables, directly or through others.
#[derive(Debug, Default)]
pub(crate) struct Component {
    /// Sorted.
    pub(crate) parts: Vec<Literal>,
    /// By their positions.
    pub(crate) questions: Vec<usize>,
    group: Option<usize>,
}

impl Literals {
    pub(crate) fn number(&mut self, term: &Term) -> Literal {
        if let Some(known) = self.numbers.get(term) {
            return *known;
        }
        let literal = Literal(self.terms.len() as u32);
        self.numbers.insert(term.clone(), literal);
        self.terms.push(term.clone());
        let numbers = &mut self.variable_numbers;
        let variables = term.variables().into_iter().map(|var| {
            let next = numbers.len();
            *numbers.entry(var).or_insert(next)
        });
        self.variables.push(variables.collect());
        self.above.resize(self.variable_numbers.len(), 0);
        self.marks.resize(self.variable_numbers.len(), 0);
        let negation = self.numbers.get(&term.negated()).copied();
        self.negations.push(negation);
        if let Some(negation) = negation {
            self.negations[negation.0 as usize] = Some(literal);
        }
        literal
    }

    pub(crate) fn formula(&mut self, term: &Term) -> Formula {
        let mut found = Vec::new();
        flatten(term, &mut found);
        found.iter().map(|term| self.number(term)).collect()
    }

    pub(crate) fn term(&self, literal: Literal) -> &Term {
        &self.terms[literal.0 as usize]
    }

    pub(crate) fn negation(&self, literal: Literal) -> Option<Literal> {
        self.negations[literal.0 as usize]
    }

    /// The parts and the questions by common variables.
    pub(crate) fn components(
        &mut self,
        parts: &[&[Literal]],
        questions: &[(usize, Literal)],
    ) -> Vec<Component> {
        let mut literals: Vec<Literal> = parts.iter().flat_map(|part| part.iter().copied()).collect();
        literals.sort_unstable();
        literals.dedup();
        self.mark += 1;
        literals.iter().copied().chain(questions.iter().map(|(_, question)| *question)).for_each(|literal| {
            let variables = Rc::clone(&self.variables[literal.0 as usize]);
            let mut first = None;
            for var in variables.iter().copied() {
                if self.marks[var] != self.mark {
                    self.marks[var] = self.mark;
                    self.above[var] = var;
                }
                let root = self.root(var);
                match first {
                    None => first = Some(root),
                    Some(first) => self.above[root] = self.root(first),
                }
            }
        });
        let mut found: Vec<Component> = Vec::new();
        for literal in literals {
            let group = self.group(literal);
            component(&mut found, group).parts.push(literal);
        }
        for (index, question) in questions {
            let group = self.group(*question);
            component(&mut found, group).questions.push(*index);
        }
        found
    }

    fn group(&self, literal: Literal) -> Option<usize> {
        self.variables[literal.0 as usize].first().map(|var| self.root(*var))
    }

    fn root(&self, mut at: usize) -> usize {
        while self.above[at] != at {
            at = self.above[at];
        }
        at
    }
}

fn component(found: &mut Vec<Component>, group: Option<usize>) -> &mut Component {
    let at = found.iter().position(|component| component.group == group).unwrap_or_else(|| {
        found.push(Component { group, ..Component::default() });
        found.len() - 1
    });
    &mut found[at]
}

fn flatten(term: &Term, found: &mut Vec<Term>) {
    match term.node() {
        Node::App(Op::And, args) => args.iter().for_each(|arg| flatten(arg, found)),
        Node::App(Op::Not, args) => match args[0].node() {
            Node::App(Op::Or, inner) => inner.iter().for_each(|arg| flatten(&arg.negated(), found)),
            _ => found.push(term.clone()),
        },
        Node::Bool(true) => {}
        Node::Var(_) | Node::Bool(false) | Node::Bits { .. } | Node::App(..) => found.push(term.clone()),
    }
}
