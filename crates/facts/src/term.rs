//! Terms: names for values that two places can compare. `root + index * scale + offset`, in bytes for addresses, wrapping at pointer width.
//!
//! A term with [`Root::Reg`] means the value of that register in the current activation of its function: the innermost one on the
//! stack of the thread whose state the term appears in. A register that is assigned at most once in the whole run
//! ([`crate::Times::Once`]) has one value for all threads, and such a term is *global*, as are constants, globals and functions.
//! Two equal terms in states of different threads name the same value only if they are global.
//!
//! A term in a state becomes stale when a register in it is assigned again (the next round of a loop): whoever keeps terms in a
//! state drops those whose register is being assigned. At a use of a register `r`, a term for `r` over registers that dominate it is
//! never stale: SSA has `r` assigned after them in every round.

use raddle_ir::{FunctionId, GlobalId, Reg};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Term {
    pub root: Root,
    pub index: Option<Index>,
    pub offset: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Root {
    /// No root: the term is a plain integer (null is 0).
    Zero,
    /// The address of a global's first byte. Not for thread-locals.
    Global(GlobalId),
    Function(FunctionId),
    Reg(FunctionId, Reg),
}

/// `register * scale`, the register sign-extended from its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Index {
    pub function: FunctionId,
    pub reg: Reg,
    pub scale: i64,
}

impl Term {
    pub fn constant(value: i64) -> Term {
        Term { root: Root::Zero, index: None, offset: value }
    }

    pub fn root(root: Root) -> Term {
        Term { root, index: None, offset: 0 }
    }

    pub fn reg(function: FunctionId, reg: Reg) -> Term {
        Term::root(Root::Reg(function, reg))
    }

    pub fn plus(self, bytes: i64) -> Term {
        Term { offset: self.offset.wrapping_add(bytes), ..self }
    }

    pub fn as_constant(self) -> Option<i64> {
        match (self.root, self.index) {
            (Root::Zero, None) => Some(self.offset),
            _ => None,
        }
    }

    /// The registers that it names.
    pub fn registers(self) -> impl Iterator<Item = (FunctionId, Reg)> {
        let root = match self.root {
            Root::Reg(function, reg) => Some((function, reg)),
            Root::Zero | Root::Global(_) | Root::Function(_) => None,
        };
        root.into_iter().chain(self.index.map(|index| (index.function, index.reg)))
    }

    /// Same root and index: the distance in bytes from `other` to `self`.
    pub fn distance(self, other: Term) -> Option<i64> {
        (self.root == other.root && self.index == other.index).then(|| self.offset.wrapping_sub(other.offset))
    }
}
