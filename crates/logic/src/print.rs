//! The text of a term: an SMT-LIB 2.6 term.

use crate::term::{Node, Op, Sort, Term, Var};
use std::fmt;

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.node() {
            Node::Var(var) => var.fmt(f),
            Node::Bool(value) => write!(f, "{value}"),
            Node::Bits { value, width } => write!(f, "(_ bv{value} {width})"),
            Node::App(op, args) => {
                match op {
                    Op::Extract { high, low } => write!(f, "((_ extract {high} {low})")?,
                    Op::ZeroExtend(by) => write!(f, "((_ zero_extend {by})")?,
                    Op::SignExtend(by) => write!(f, "((_ sign_extend {by})")?,
                    _ => write!(f, "({}", name(*op))?,
                }
                args.iter().try_for_each(|arg| write!(f, " {arg}"))?;
                f.write_str(")")
            }
        }
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sort::Bool => f.write_str("Bool"),
            Sort::Bits(width) => write!(f, "(_ BitVec {width})"),
        }
    }
}

/// Its name, quoted where SMT-LIB wants that. A name holds neither `|` nor `\`.
impl fmt::Display for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_simple(&self.name) { f.write_str(&self.name) } else { write!(f, "|{}|", self.name) }
    }
}

fn is_simple(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || "~!@$%^&*_-+=<>.?/".contains(c);
    let reserved = ["true", "false", "let", "par", "forall", "exists", "match", "as", "_", "!"];
    !name.is_empty()
        && name.chars().all(letter)
        && !name.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == '@')
        && !reserved.contains(&name)
        && from_name(name).is_none()
}

/// Operators without indices.
const NAMES: [(&str, Op); 25] = [
    ("not", Op::Not),
    ("and", Op::And),
    ("or", Op::Or),
    ("=", Op::Eq),
    ("ite", Op::Ite),
    ("bvadd", Op::Add),
    ("bvsub", Op::Sub),
    ("bvmul", Op::Mul),
    ("bvudiv", Op::UDiv),
    ("bvsdiv", Op::SDiv),
    ("bvurem", Op::URem),
    ("bvsrem", Op::SRem),
    ("bvshl", Op::Shl),
    ("bvlshr", Op::LShr),
    ("bvashr", Op::AShr),
    ("bvand", Op::BvAnd),
    ("bvor", Op::BvOr),
    ("bvxor", Op::BvXor),
    ("bvnot", Op::BvNot),
    ("bvneg", Op::Neg),
    ("bvult", Op::Ult),
    ("bvule", Op::Ule),
    ("bvslt", Op::Slt),
    ("bvsle", Op::Sle),
    ("concat", Op::Concat),
];

fn name(op: Op) -> &'static str {
    NAMES.iter().find(|(_, other)| *other == op).map(|(name, _)| *name).expect("an operator without indices")
}

pub(crate) fn from_name(name: &str) -> Option<Op> {
    NAMES.iter().find(|(other, _)| *other == name).map(|(_, op)| *op)
}
