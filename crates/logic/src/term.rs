//! Terms, shared and immutable.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sort {
    Bool,
    /// A bit vector of that many bits: 1 to 128.
    Bits(u32),
}

/// A variable is its name and sort.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var {
    pub name: Arc<str>,
    pub sort: Sort,
}

/// A term of some sort. Equal terms are equal values; the order is arbitrary and fixed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(Arc<Node>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    Var(Var),
    Bool(bool),
    /// The bits above `width` are zero.
    Bits {
        value: u128,
        width: u32,
    },
    App(Op, Vec<Term>),
}

/// Operators, with SMT-LIB's names and meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    Not,
    /// Two or more arguments.
    And,
    /// Two or more arguments.
    Or,
    /// Two arguments of one sort.
    Eq,
    /// Condition, then, else; of any sort.
    Ite,
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    BvAnd,
    BvOr,
    BvXor,
    BvNot,
    Neg,
    Ult,
    Ule,
    Slt,
    Sle,
    /// The first argument is the high part.
    Concat,
    /// Bits `high` down to `low`.
    Extract {
        high: u32,
        low: u32,
    },
    /// By that many bits.
    ZeroExtend(u32),
    SignExtend(u32),
}

impl Sort {
    pub fn width(self) -> Option<u32> {
        match self {
            Sort::Bool => None,
            Sort::Bits(width) => Some(width),
        }
    }
}

impl Var {
    pub fn new(name: impl Into<Arc<str>>, sort: Sort) -> Var {
        Var { name: name.into(), sort }
    }
}

impl Term {
    pub(crate) fn from_node(node: Node) -> Term {
        Term(Arc::new(node))
    }

    pub fn node(&self) -> &Node {
        &self.0
    }

    pub fn sort(&self) -> Sort {
        match self.node() {
            Node::Var(var) => var.sort,
            Node::Bool(_) => Sort::Bool,
            Node::Bits { width, .. } => Sort::Bits(*width),
            Node::App(op, args) => op.sort(args),
        }
    }

    /// Of a bit vector.
    pub fn width(&self) -> u32 {
        self.sort().width().expect("a bit vector")
    }

    pub fn variables(&self) -> BTreeSet<Var> {
        let mut found = BTreeSet::new();
        self.each_variable(&mut |var| {
            found.insert(var.clone());
        });
        found
    }

    pub fn each_variable(&self, visit: &mut impl FnMut(&Var)) {
        match self.node() {
            Node::Var(var) => visit(var),
            Node::Bool(_) | Node::Bits { .. } => {}
            Node::App(_, args) => args.iter().for_each(|arg| arg.each_variable(visit)),
        }
    }

    pub fn is_true(&self) -> bool {
        *self.node() == Node::Bool(true)
    }

    pub fn is_false(&self) -> bool {
        *self.node() == Node::Bool(false)
    }

    pub fn as_bits(&self) -> Option<u128> {
        match self.node() {
            Node::Bits { value, .. } => Some(*value),
            _ => None,
        }
    }
}

impl Op {
    /// Of its result.
    pub(crate) fn sort(self, args: &[Term]) -> Sort {
        match self {
            Op::Not | Op::And | Op::Or | Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle => Sort::Bool,
            Op::Ite => args[1].sort(),
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
            | Op::BvNot
            | Op::Neg => args[0].sort(),
            Op::Concat => Sort::Bits(args[0].width() + args[1].width()),
            Op::Extract { high, low } => Sort::Bits(high - low + 1),
            Op::ZeroExtend(by) | Op::SignExtend(by) => Sort::Bits(args[0].width() + by),
        }
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
