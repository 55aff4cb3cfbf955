//! Terms of operands, and what arithmetic does to terms.
//!
//! A register of an integer type has the term `t` if its value, sign-extended, is exactly `t`: arithmetic below 64 bits keeps a
//! term only where its interval shows that nothing wraps. Constants are sign-extended from their type, so a true condition is -1.
//! Pointers, and integers of a pointer's width made from them, equal their term modulo the width of a pointer.

use super::interval::int_bits;
use raddle_base::Id;
use raddle_facts::{Index, Root, Term};
use raddle_ir::{DataModel, FunctionId, Operand, Program, Reg, Ty};

/// The number that a constant operand of this type is, sign-extended; `None` for what is no constant, floats and wide integers.
pub(crate) fn constant(operand: Operand, ty: Ty) -> Option<i64> {
    match (operand, ty) {
        (Operand::Const(bits), Ty::Int(_)) => Some(wrap(bits as i64, int_bits(ty)?)),
        (Operand::Const(bits), Ty::Ptr) => Some(bits as i64),
        (Operand::Null, _) => Some(0),
        _ => None,
    }
}

/// Sign-extended from that many bits.
pub(crate) fn wrap(value: i64, bits: u32) -> i64 {
    value << (64 - bits) >> (64 - bits)
}

/// The address of a block, which no other term equals. Distances between such terms mean nothing.
pub(crate) fn of_block(function: FunctionId, block: raddle_ir::BlockId) -> Term {
    Term::root(Root::Function(function)).plus(1 << 40 | block.index() as i64)
}

/// An undefined value: no constant, and no other term equals it. Each one may be another number, so nothing may rest on two of them
/// having the same term: [`super::typed_term_of`] gives none.
pub(crate) fn of_undefined(function: FunctionId) -> Term {
    Term::root(Root::Function(function)).plus(1 << 41)
}

/// Bits of the type that terms of this type are modulo; `None` where there are no terms.
pub(crate) fn width(model: DataModel, ty: Ty) -> Option<u32> {
    match ty {
        Ty::Ptr => Some(model.pointer_bytes() * 8),
        Ty::Int(_) => int_bits(ty),
        Ty::Float(_) => None,
    }
}

/// Whether the term is a number exactly, not modulo the width of a pointer.
pub(crate) fn is_exact(program: &Program, term: Term) -> bool {
    match program.data_model {
        DataModel::Lp64 => true,
        DataModel::Ilp32 => {
            let mut numbers = true;
            for (function, reg) in term.registers() {
                numbers &= matches!(program.functions[function].regs[reg].ty, Ty::Int(_));
            }
            numbers && matches!(term.root, Root::Zero | Root::Reg(..))
        }
    }
}

/// The sum, where it can be said. A register beside the address of a global or function becomes the index.
pub(crate) fn add(a: Term, b: Term) -> Option<Term> {
    let (a, b) = match (a.root, b.root) {
        (Root::Global(_) | Root::Function(_), Root::Reg(..)) => (a, as_index(b)?),
        (Root::Reg(..), Root::Global(_) | Root::Function(_)) => (as_index(a)?, b),
        _ => (a, b),
    };
    let root = match (a.root, b.root) {
        (root, Root::Zero) | (Root::Zero, root) => root,
        _ => return None,
    };
    let index = match (a.index, b.index) {
        (index, None) | (None, index) => index,
        (Some(a), Some(b)) if (a.function, a.reg) == (b.function, b.reg) => {
            let scale = a.scale.wrapping_add(b.scale);
            (scale != 0).then_some(Index { scale, ..a })
        }
        _ => return None,
    };
    let sum = Term { root, index, offset: a.offset.wrapping_add(b.offset) };
    // `r + r`: one register, two places for it.
    match (sum.root, sum.index) {
        (Root::Reg(function, reg), Some(index)) if (function, reg) == (index.function, index.reg) => {
            let index = Some(Index { scale: index.scale.wrapping_add(1), ..index }).filter(|i| i.scale != 0);
            Some(normal(Term { root: Root::Zero, index, ..sum }))
        }
        _ => Some(normal(sum)),
    }
}

/// The base of an address plus an index times its scale.
pub(crate) fn add_scaled(base: Term, index: Term, by: i64) -> Option<Term> {
    let scaled = scale(index, by)?;
    match base.root {
        Root::Zero => add(base, scaled),
        _ => add(base, as_index(scaled)?),
    }
}

/// `r` as `0 + r * 1`.
fn as_index(term: Term) -> Option<Term> {
    match (term.root, term.index) {
        (Root::Reg(function, reg), None) => {
            Some(Term { root: Root::Zero, index: Some(Index { function, reg, scale: 1 }), ..term })
        }
        (Root::Zero, _) => Some(term),
        _ => None,
    }
}

/// The term with registers replaced; `None` if one has no replacement or the result cannot be said.
pub(crate) fn substitute(term: Term, with: impl Fn(FunctionId, Reg) -> Option<Term>) -> Option<Term> {
    let root = match term.root {
        Root::Reg(function, reg) => with(function, reg)?,
        root => Term::root(root),
    };
    let sum = match term.index {
        Some(index) => add_scaled(root, with(index.function, index.reg)?, index.scale)?,
        None => root,
    };
    Some(sum.plus(term.offset))
}

/// As a pointer or integer of this type is written: offsets of pointers do not exceed their width.
pub(crate) fn fitted(program: &Program, ty: Ty, term: Term) -> Term {
    match (program.data_model, ty) {
        (DataModel::Ilp32, Ty::Ptr) => {
            let index = term.index.map(|i| Index { scale: wrap(i.scale, 32), ..i }).filter(|i| i.scale != 0);
            normal(Term { index, offset: wrap(term.offset, 32), ..term })
        }
        _ => term,
    }
}

pub(crate) fn subtract(a: Term, b: Term) -> Option<Term> {
    if let Some(distance) = a.distance(b) {
        return Some(Term::constant(distance));
    }
    add(a, scale(b, -1)?)
}

/// A term times a constant; a register becomes an index.
pub(crate) fn scale(term: Term, by: i64) -> Option<Term> {
    if by == 0 {
        return Some(Term::constant(0));
    }
    if by == 1 {
        return Some(term);
    }
    let index = match (term.root, term.index) {
        (Root::Zero, index) => index.map(|index| Index { scale: index.scale.wrapping_mul(by), ..index }),
        (Root::Reg(function, reg), None) => Some(Index { function, reg, scale: by }),
        _ => return None,
    };
    // A scale that wrapped to nothing says nothing about the register any more, which is right: the product is 0.
    let index = index.filter(|index| index.scale != 0);
    Some(normal(Term { root: Root::Zero, index, offset: term.offset.wrapping_mul(by) }))
}

/// One way to write a term: `0 + r * 1` is `r`.
pub(crate) fn normal(term: Term) -> Term {
    match (term.root, term.index) {
        (Root::Zero, Some(index)) if index.scale == 1 => {
            Term { root: Root::Reg(index.function, index.reg), index: None, offset: term.offset }
        }
        _ => term,
    }
}
