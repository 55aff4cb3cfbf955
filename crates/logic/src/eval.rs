//! The value of a term.

use crate::fold;
use crate::term::{Node, Sort, Term, Var};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    Bool(bool),
    /// The bits above `width` are zero.
    Bits {
        value: u128,
        width: u32,
    },
}

pub type Assignment = BTreeMap<Var, Value>;

/// A variable without a value, or with one of another sort.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` has no value of its sort", .0.name)]
pub struct Unassigned(pub Var);

impl Value {
    pub fn sort(self) -> Sort {
        match self {
            Value::Bool(_) => Sort::Bool,
            Value::Bits { width, .. } => Sort::Bits(width),
        }
    }
}

impl Term {
    pub fn eval(&self, assignment: &Assignment) -> Result<Value, Unassigned> {
        match self.node() {
            Node::Var(var) => match assignment.get(var) {
                Some(value) if value.sort() == var.sort => Ok(*value),
                _ => Err(Unassigned(var.clone())),
            },
            Node::Bool(value) => Ok(Value::Bool(*value)),
            Node::Bits { value, width } => Ok(Value::Bits { value: *value, width: *width }),
            Node::App(op, args) => {
                let values: Result<Vec<Value>, Unassigned> =
                    args.iter().map(|arg| arg.eval(assignment)).collect();
                Ok(fold::apply(*op, &values?))
            }
        }
    }
}
