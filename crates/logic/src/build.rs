//! Constructors. They simplify a little and keep the meaning; sorts that do not fit are a fault of the caller and panic.

use crate::eval::Value;
use crate::fold::{apply, mask};
use crate::term::{Node, Op, Sort, Term, Var};
use std::sync::Arc;

impl Term {
    pub fn var(name: impl Into<Arc<str>>, sort: Sort) -> Term {
        Term::from(Var::new(name, sort))
    }

    pub fn truth(value: bool) -> Term {
        Term::from_node(Node::Bool(value))
    }

    /// The low bits of the value.
    pub fn bits(value: u128, width: u32) -> Term {
        assert!((1..=128).contains(&width), "a bit vector of {width} bits");
        Term::from_node(Node::Bits { value: value & mask(width), width })
    }

    pub fn and(terms: impl IntoIterator<Item = Term>) -> Term {
        Term::junction(Op::And, terms)
    }

    pub fn or(terms: impl IntoIterator<Item = Term>) -> Term {
        Term::junction(Op::Or, terms)
    }

    pub fn negated(&self) -> Term {
        Term::app(Op::Not, vec![self.clone()])
    }

    pub fn implies(&self, then: &Term) -> Term {
        Term::or([self.negated(), then.clone()])
    }

    pub fn equals(&self, other: &Term) -> Term {
        Term::app(Op::Eq, vec![self.clone(), other.clone()])
    }

    pub fn differs(&self, other: &Term) -> Term {
        self.equals(other).negated()
    }

    pub fn ite(condition: &Term, then: &Term, other: &Term) -> Term {
        Term::app(Op::Ite, vec![condition.clone(), then.clone(), other.clone()])
    }

    /// To that many bits: the low ones, or zeros before.
    pub fn zero_extended_to(&self, width: u32) -> Term {
        self.resized(width, Op::ZeroExtend)
    }

    /// To that many bits: the low ones, or copies of the sign before.
    pub fn sign_extended_to(&self, width: u32) -> Term {
        self.resized(width, Op::SignExtend)
    }

    fn resized(&self, width: u32, extend: impl Fn(u32) -> Op) -> Term {
        let own = self.width();
        match width.cmp(&own) {
            std::cmp::Ordering::Equal => self.clone(),
            std::cmp::Ordering::Less => {
                Term::app(Op::Extract { high: width - 1, low: 0 }, vec![self.clone()])
            }
            std::cmp::Ordering::Greater => Term::app(extend(width - own), vec![self.clone()]),
        }
    }

    /// One bit: whether the formula holds.
    pub fn as_bit(&self) -> Term {
        Term::ite(self, &Term::bits(1, 1), &Term::bits(0, 1))
    }

    /// Whether a bit vector is not zero.
    pub fn is_nonzero(&self) -> Term {
        self.differs(&Term::bits(0, self.width()))
    }

    /// The operator applied, simplified.
    pub fn app(op: Op, args: Vec<Term>) -> Term {
        check(op, &args);
        if let Some(value) = constant(op, &args) {
            return value;
        }
        match op {
            Op::And | Op::Or => Term::junction(op, args),
            Op::Not => match args[0].node() {
                Node::App(Op::Not, inner) => inner[0].clone(),
                _ => Term::from_node(Node::App(op, args)),
            },
            Op::Eq => equality(args),
            Op::Ite => choice(args),
            Op::Ule | Op::Sle if args[0] == args[1] => Term::truth(true),
            Op::Ult | Op::Slt if args[0] == args[1] => Term::truth(false),
            Op::Sub | Op::BvXor if args[0] == args[1] => Term::bits(0, args[0].width()),
            Op::BvAnd | Op::BvOr if args[0] == args[1] => args[0].clone(),
            Op::Extract { high, low: 0 } if high + 1 == args[0].width() => args[0].clone(),
            Op::Extract { high, low: 0 } => narrowed(args, high + 1),
            Op::ZeroExtend(0) | Op::SignExtend(0) => args[0].clone(),
            Op::Add | Op::BvOr | Op::BvXor if args[0].as_bits() == Some(0) => args[1].clone(),
            Op::Add | Op::Sub | Op::BvOr | Op::BvXor | Op::Shl | Op::LShr | Op::AShr
                if args[1].as_bits() == Some(0) =>
            {
                args[0].clone()
            }
            Op::Mul if args[0].as_bits() == Some(1) => args[1].clone(),
            Op::Mul if args[1].as_bits() == Some(1) => args[0].clone(),
            Op::Mul | Op::BvAnd if args.iter().any(|arg| arg.as_bits() == Some(0)) => {
                Term::bits(0, args[0].width())
            }
            _ => Term::from_node(Node::App(op, args)),
        }
    }

    /// Flattened, sorted, without duplicates and neutral elements.
    fn junction(op: Op, terms: impl IntoIterator<Item = Term>) -> Term {
        let absorbing = op == Op::Or;
        let mut all = Vec::new();
        for term in terms {
            assert_eq!(term.sort(), Sort::Bool, "{term} in a conjunction or disjunction");
            match term.node() {
                Node::Bool(value) if *value == absorbing => return term,
                Node::Bool(_) => {}
                Node::App(inner, args) if *inner == op => all.extend(args.iter().cloned()),
                _ => all.push(term),
            }
        }
        all.sort_unstable();
        all.dedup();
        if all.iter().any(|term| all.binary_search(&term.negated()).is_ok()) {
            return Term::truth(absorbing);
        }
        match all.len() {
            0 => Term::truth(!absorbing),
            1 => all.swap_remove(0),
            _ => Term::from_node(Node::App(op, all)),
        }
    }
}

impl From<Var> for Term {
    fn from(var: Var) -> Term {
        Term::from_node(Node::Var(var))
    }
}

impl From<Value> for Term {
    fn from(value: Value) -> Term {
        match value {
            Value::Bool(value) => Term::truth(value),
            Value::Bits { value, width } => Term::bits(value, width),
        }
    }
}

fn equality(args: Vec<Term>) -> Term {
    let [a, b] = [&args[0], &args[1]];
    if a == b {
        return Term::truth(true);
    }
    match (a.node(), b.node()) {
        (Node::Bool(value), _) => return if *value { b.clone() } else { b.negated() },
        (_, Node::Bool(value)) => return if *value { a.clone() } else { a.negated() },
        // A choice between two constants, compared with one.
        (Node::App(Op::Ite, parts), Node::Bits { .. }) if all_constant(&parts[1..]) => {
            return Term::ite(&parts[0], &parts[1].equals(b), &parts[2].equals(b));
        }
        (Node::Bits { .. }, Node::App(Op::Ite, parts)) if all_constant(&parts[1..]) => {
            return Term::ite(&parts[0], &parts[1].equals(a), &parts[2].equals(a));
        }
        // An extended value, compared with a constant.
        (Node::App(Op::ZeroExtend(_), inner), Node::Bits { value, .. })
        | (Node::Bits { value, .. }, Node::App(Op::ZeroExtend(_), inner)) => {
            let width = inner[0].width();
            return match *value & !mask(width) {
                0 => inner[0].equals(&Term::bits(*value, width)),
                _ => Term::truth(false),
            };
        }
        _ => {}
    }
    let mut args = args;
    args.sort_unstable();
    Term::from_node(Node::App(Op::Eq, args))
}

fn choice(args: Vec<Term>) -> Term {
    let [condition, then, other] = [&args[0], &args[1], &args[2]];
    match condition.node() {
        Node::Bool(true) => return then.clone(),
        Node::Bool(false) => return other.clone(),
        _ if then == other => return then.clone(),
        _ => {}
    }
    match (then.node(), other.node()) {
        (Node::Bool(true), Node::Bool(false)) => condition.clone(),
        (Node::Bool(false), Node::Bool(true)) => condition.negated(),
        _ => Term::from_node(Node::App(Op::Ite, args)),
    }
}

/// The low bits of what was extended before.
fn narrowed(args: Vec<Term>, width: u32) -> Term {
    match args[0].node() {
        Node::App(Op::ZeroExtend(_), inner) if inner[0].width() >= width => inner[0].zero_extended_to(width),
        Node::App(Op::SignExtend(_), inner) if inner[0].width() >= width => inner[0].sign_extended_to(width),
        _ => Term::from_node(Node::App(Op::Extract { high: width - 1, low: 0 }, args)),
    }
}

fn all_constant(terms: &[Term]) -> bool {
    terms.iter().all(|term| matches!(term.node(), Node::Bits { .. } | Node::Bool(_)))
}

fn constant(op: Op, args: &[Term]) -> Option<Term> {
    let value = |term: &Term| match term.node() {
        Node::Bool(value) => Some(Value::Bool(*value)),
        Node::Bits { value, width } => Some(Value::Bits { value: *value, width: *width }),
        _ => None,
    };
    let values: Option<Vec<Value>> = args.iter().map(value).collect();
    values.map(|values| Term::from(apply(op, &values)))
}

/// Panics where the arguments do not fit the operator.
fn check(op: Op, args: &[Term]) {
    assert!(fits(op, args), "{op:?} on {args:?}");
}

/// Whether the operator takes arguments of these sorts.
pub(crate) fn fits(op: Op, args: &[Term]) -> bool {
    let vector = |index: usize| args[index].sort() != Sort::Bool;
    let same = || args[0].sort() == args[1].sort();
    match op {
        Op::Not => args.len() == 1 && !vector(0),
        Op::And | Op::Or => args.iter().all(|arg| arg.sort() == Sort::Bool),
        Op::Eq => args.len() == 2 && same(),
        Op::Ite => args.len() == 3 && !vector(0) && args[1].sort() == args[2].sort(),
        Op::BvNot | Op::Neg => args.len() == 1 && vector(0),
        Op::Concat => args.len() == 2 && vector(0) && vector(1) && args[0].width() + args[1].width() <= 128,
        Op::Extract { high, low } => args.len() == 1 && vector(0) && low <= high && high < args[0].width(),
        Op::ZeroExtend(by) | Op::SignExtend(by) => {
            args.len() == 1 && vector(0) && by <= 128 && args[0].width() + by <= 128
        }
        Op::Add
        | Op::Sub
        | Op::Mul
        | Op::UDiv
        | Op::SDiv
        | Op::URem
        | Op::SRem
        | Op::Shl
        | Op::LShr
        | Op::AShr
        | Op::BvAnd
        | Op::BvOr
        | Op::BvXor
        | Op::Ult
        | Op::Ule
        | Op::Slt
        | Op::Sle => args.len() == 2 && vector(0) && same(),
    }
}
