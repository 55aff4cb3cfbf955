//! Terms of operands by the facts, and which terms mean the same to every thread.

use super::code::Code;
use raddle_base::Id;
use raddle_facts::{Root, Term, Times, Values};
use raddle_ir::{FunctionId, Operand, Reg, Ty};

impl Code<'_> {
    /// The term of an operand of this type; a register without another term stands for itself. `None`: no term says it (floats,
    /// wide integers, undefined values, addresses of blocks and of thread-local variables).
    pub fn term(&self, function: FunctionId, operand: Operand, ty: Ty) -> Option<Term> {
        match operand {
            Operand::Reg(reg) => Some(self.reg_term(function, reg)),
            Operand::Global(global, _) if self.program.globals[global].thread_local => None,
            Operand::Global(global, offset) => Some(Term::root(Root::Global(global)).plus(offset)),
            Operand::Function(target) => Some(Term::root(Root::Function(target))),
            Operand::Const(_) | Operand::Null | Operand::Undef => number(operand, ty).map(Term::constant),
            Operand::Block(_) => None,
        }
    }

    pub fn reg_term(&self, function: FunctionId, reg: Reg) -> Term {
        self.facts.values.terms[function][reg.index()].unwrap_or(Term::reg(function, reg))
    }

    /// Whether the term has one value in the whole run: its registers are assigned at most once.
    pub fn is_global(&self, term: Term) -> bool {
        term.registers().all(|(function, reg)| self.times(function, reg) == Times::Once)
    }

    /// How often a register is assigned.
    pub fn times(&self, function: FunctionId, reg: Reg) -> Times {
        let block = self.flows[function].block_of(reg);
        self.facts.threads.times[function].get(block.index()).copied().unwrap_or(Times::Many)
    }
}

/// The number that a constant operand of this type is, sign-extended. An undefined value is none: it may be every number.
pub(crate) fn number(operand: Operand, ty: Ty) -> Option<i64> {
    match (operand, ty) {
        (Operand::Const(bits), Ty::Int(width)) if width <= 64 => {
            Some(sign_extend(bits as i64, u32::from(width)))
        }
        (Operand::Const(bits), Ty::Ptr) => Some(bits as i64),
        (Operand::Null, _) => Some(0),
        _ => None,
    }
}

/// The constant that an operand is by the facts.
pub(crate) fn constant_in(values: &Values, function: FunctionId, operand: Operand, ty: Ty) -> Option<i64> {
    match operand {
        Operand::Reg(reg) => values.terms[function][reg.index()].and_then(Term::as_constant),
        _ => number(operand, ty),
    }
}

/// From that many bits, 1 to 64.
pub(crate) fn sign_extend(value: i64, bits: u32) -> i64 {
    let unused = 64 - bits.clamp(1, 64);
    (value << unused) >> unused
}

/// Bytes that a control object has at least.
pub(crate) const WORD: u64 = 4;
