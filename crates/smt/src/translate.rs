//! From terms to Z3's.
//!
//! Variables get names of this crate's own, so that no name of a program can be one that Z3 does not take. What was translated
//! is found again by its address; the term is kept, so that the address stays its own.

use raddle_logic::{Node, Op, Sort, Term, Var};
use std::collections::HashMap;
use z3::ast::{Ast, BV, Bool};

#[derive(Clone)]
pub(crate) enum Expression {
    Bool(Bool),
    Bits(BV),
}

#[derive(Default)]
pub(crate) struct Translator {
    variables: HashMap<Var, Expression>,
    applications: HashMap<*const Node, (Term, Expression)>,
}

/// More applications are forgotten and translated again; Z3 shares equal ones.
const MOST_KEPT: usize = 200_000;

impl Translator {
    /// Of a formula.
    pub(crate) fn formula(&mut self, term: &Term) -> Bool {
        if self.applications.len() > MOST_KEPT {
            self.applications.clear();
        }
        truth(&self.expression(term)).clone()
    }

    pub(crate) fn variable(&mut self, var: &Var) -> Expression {
        if let Some(known) = self.variables.get(var) {
            return known.clone();
        }
        let name = format!("v{}", self.variables.len());
        let new = match var.sort {
            Sort::Bool => Expression::Bool(Bool::new_const(name)),
            Sort::Bits(width) => Expression::Bits(BV::new_const(name, width)),
        };
        self.variables.insert(var.clone(), new.clone());
        new
    }

    fn expression(&mut self, term: &Term) -> Expression {
        match term.node() {
            Node::Var(var) => self.variable(var),
            Node::Bool(value) => Expression::Bool(Bool::from_bool(*value)),
            Node::Bits { value, width } => Expression::Bits(constant(*value, *width)),
            Node::App(op, args) => {
                let key: *const Node = term.node();
                if let Some((_, known)) = self.applications.get(&key) {
                    return known.clone();
                }
                let args: Vec<Expression> = args.iter().map(|arg| self.expression(arg)).collect();
                let new = apply(*op, &args);
                self.applications.insert(key, (term.clone(), new.clone()));
                new
            }
        }
    }
}

fn constant(value: u128, width: u32) -> BV {
    match u64::try_from(value) {
        Ok(value) => BV::from_u64(value, width),
        Err(_) => BV::from_str(width, &value.to_string()).expect("decimal digits are a number"),
    }
}

/// The arguments have the sorts that the operator takes: terms are built that way.
fn apply(op: Op, args: &[Expression]) -> Expression {
    let truths = || args.iter().map(|arg| truth(arg).clone()).collect::<Vec<Bool>>();
    let pair = || (bits(&args[0]), bits(&args[1]));
    match op {
        Op::Not => Expression::Bool(truth(&args[0]).not()),
        Op::And => Expression::Bool(Bool::and(&truths())),
        Op::Or => Expression::Bool(Bool::or(&truths())),
        Op::Eq => Expression::Bool(equal(&args[0], &args[1])),
        Op::Ite => choice(truth(&args[0]), &args[1], &args[2]),
        Op::Add => binary(pair(), BV::bvadd),
        Op::Sub => binary(pair(), BV::bvsub),
        Op::Mul => binary(pair(), BV::bvmul),
        Op::UDiv => binary(pair(), BV::bvudiv),
        Op::SDiv => binary(pair(), BV::bvsdiv),
        Op::URem => binary(pair(), BV::bvurem),
        Op::SRem => binary(pair(), BV::bvsrem),
        Op::Shl => binary(pair(), BV::bvshl),
        Op::LShr => binary(pair(), BV::bvlshr),
        Op::AShr => binary(pair(), BV::bvashr),
        Op::BvAnd => binary(pair(), BV::bvand),
        Op::BvOr => binary(pair(), BV::bvor),
        Op::BvXor => binary(pair(), BV::bvxor),
        Op::Concat => binary(pair(), BV::concat),
        Op::Ult => compare(pair(), BV::bvult),
        Op::Ule => compare(pair(), BV::bvule),
        Op::Slt => compare(pair(), BV::bvslt),
        Op::Sle => compare(pair(), BV::bvsle),
        Op::BvNot => Expression::Bits(bits(&args[0]).bvnot()),
        Op::Neg => Expression::Bits(bits(&args[0]).bvneg()),
        Op::Extract { high, low } => Expression::Bits(bits(&args[0]).extract(high, low)),
        Op::ZeroExtend(by) => Expression::Bits(bits(&args[0]).zero_ext(by)),
        Op::SignExtend(by) => Expression::Bits(bits(&args[0]).sign_ext(by)),
    }
}

fn binary<'a>((a, b): (&'a BV, &'a BV), op: impl Fn(&'a BV, &'a BV) -> BV) -> Expression {
    Expression::Bits(op(a, b))
}

fn compare<'a>((a, b): (&'a BV, &'a BV), op: impl Fn(&'a BV, &'a BV) -> Bool) -> Expression {
    Expression::Bool(op(a, b))
}

fn equal(a: &Expression, b: &Expression) -> Bool {
    match (a, b) {
        (Expression::Bool(a), Expression::Bool(b)) => Ast::eq(a, b),
        (Expression::Bits(a), Expression::Bits(b)) => Ast::eq(a, b),
        (Expression::Bool(_), Expression::Bits(_)) | (Expression::Bits(_), Expression::Bool(_)) => {
            unreachable!("terms compare values of one sort")
        }
    }
}

fn choice(condition: &Bool, then: &Expression, other: &Expression) -> Expression {
    match (then, other) {
        (Expression::Bool(a), Expression::Bool(b)) => Expression::Bool(condition.ite(a, b)),
        (Expression::Bits(a), Expression::Bits(b)) => Expression::Bits(condition.ite(a, b)),
        (Expression::Bool(_), Expression::Bits(_)) | (Expression::Bits(_), Expression::Bool(_)) => {
            unreachable!("terms choose between values of one sort")
        }
    }
}

fn truth(expression: &Expression) -> &Bool {
    match expression {
        Expression::Bool(value) => value,
        Expression::Bits(_) => unreachable!("a bit vector where a truth value belongs"),
    }
}

fn bits(expression: &Expression) -> &BV {
    match expression {
        Expression::Bits(value) => value,
        Expression::Bool(_) => unreachable!("a truth value where a bit vector belongs"),
    }
}
