//! The variables of formulas (decision 23, "Variables"): their names, and what each name means in the program that is checked.
//!
//! A name has one spelling; any other is no variable. What cannot be a variable by the decision is none, so a formula about it is refused.

use super::cells::Cell;
use crate::statics::Standing;
use raddle_facts::{ObjectId, ObjectKind};
use raddle_ir::{FunctionId, Reg, Ty};
use raddle_logic::{Sort, Term};
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Variable {
    Memory(Cell),
    /// Who wrote the cell last.
    Writer(Cell),
    Register(FunctionId, Reg),
    Lock(Lock),
    /// Who holds it exclusively.
    Owner(Lock),
    Thread,
    Address(ObjectId),
    Function(FunctionId),
}

/// A place of one concrete object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lock {
    pub object: ObjectId,
    pub offset: i64,
}

/// Bits of `tid`, `w` and `l`.
pub(super) const THREAD_BITS: u32 = 64;

/// Bits of `h`, and its values besides 0.
pub(super) const LOCK_BITS: u32 = 2;
pub(super) const SHARED: u128 = 1;
pub(super) const EXCLUSIVE: u128 = 2;

/// Before the name of a variable of the second thread of two.
const OTHER: &str = "o.";

/// Before the number of an arbitrary value.
const ANY: &str = "any.";

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Variable::Memory(cell) => write!(f, "m.{}.{}.{}", cell.object.0, cell.offset, cell.bytes),
            Variable::Writer(cell) => write!(f, "w.{}.{}.{}", cell.object.0, cell.offset, cell.bytes),
            Variable::Register(function, reg) => write!(f, "r.{}.{}", function.0, reg.0),
            Variable::Lock(lock) => write!(f, "h.{}.{}", lock.object.0, lock.offset),
            Variable::Owner(lock) => write!(f, "l.{}.{}", lock.object.0, lock.offset),
            Variable::Thread => f.write_str("tid"),
            Variable::Address(object) => write!(f, "a.{}", object.0),
            Variable::Function(function) => write!(f, "f.{}", function.0),
        }
    }
}

impl Variable {
    /// What a name means, by its spelling alone.
    pub fn named(name: &str) -> Option<Variable> {
        let parts: Vec<&str> = name.split('.').collect();
        let number = |index: usize| -> Option<u32> { parts.get(index)?.parse().ok() };
        let offset = |index: usize| -> Option<i64> { parts.get(index)?.parse().ok() };
        let cell = || Some(Cell { object: ObjectId(number(1)?), offset: offset(2)?, bytes: number(3)? });
        let lock = || Some(Lock { object: ObjectId(number(1)?), offset: offset(2)? });
        let variable = match (parts[0], parts.len()) {
            ("m", 4) => Variable::Memory(cell()?),
            ("w", 4) => Variable::Writer(cell()?),
            ("r", 3) => Variable::Register(FunctionId(number(1)?), Reg(number(2)?)),
            ("h", 3) => Variable::Lock(lock()?),
            ("l", 3) => Variable::Owner(lock()?),
            ("tid", 1) => Variable::Thread,
            ("a", 2) => Variable::Address(ObjectId(number(1)?)),
            ("f", 2) => Variable::Function(FunctionId(number(1)?)),
            _ => return None,
        };
        (variable.to_string() == name).then_some(variable)
    }

    /// `None`: the program has no such variable.
    pub fn sort(self, standing: &Standing<'_>) -> Option<Sort> {
        let code = standing.code();
        let is_object = |object: ObjectId| code.facts.points_to.objects.get(object).is_some();
        let bits = match self {
            Variable::Memory(cell) => {
                cell.is_of(standing).then_some(())?;
                cell.bits()
            }
            Variable::Writer(cell) => {
                cell.is_of(standing).then_some(())?;
                THREAD_BITS
            }
            Variable::Register(function, reg) => {
                let info = code.program.functions.get(function)?.regs.get(reg)?;
                width(standing, info.ty)?
            }
            Variable::Lock(lock) | Variable::Owner(lock) => {
                (is_object(lock.object) && standing.is_one_object(lock.object)).then_some(())?;
                let lasts = standing.has_lasting_owner((lock.object, lock.offset));
                (lasts || matches!(self, Variable::Lock(_))).then_some(())?;
                if matches!(self, Variable::Owner(_)) { THREAD_BITS } else { LOCK_BITS }
            }
            Variable::Thread => THREAD_BITS,
            Variable::Address(object) => {
                let is_global = is_object(object) && matches!(code.kind(object), ObjectKind::Global(_));
                is_global.then_some(())?;
                code.pointer_bytes() * 8
            }
            Variable::Function(function) => {
                code.program.functions.get(function)?;
                code.pointer_bytes() * 8
            }
        };
        Some(Sort::Bits(bits))
    }

    /// Every thread has its own.
    pub fn is_private(self) -> bool {
        match self {
            Variable::Register(..) | Variable::Lock(_) | Variable::Thread => true,
            Variable::Memory(_)
            | Variable::Writer(_)
            | Variable::Owner(_)
            | Variable::Address(_)
            | Variable::Function(_) => false,
        }
    }

    pub fn term(self, bits: u32) -> Term {
        Term::var(self.to_string(), Sort::Bits(bits))
    }
}

/// Bits of a register that formulas can speak of.
pub(super) fn width(standing: &Standing<'_>, ty: Ty) -> Option<u32> {
    match ty {
        Ty::Int(bits @ 1..=128) => Some(u32::from(bits)),
        Ty::Ptr => Some(standing.code().pointer_bytes() * 8),
        Ty::Int(_) | Ty::Float(_) => None,
    }
}

pub(super) fn register(function: FunctionId, reg: Reg, bits: u32) -> Term {
    Variable::Register(function, reg).term(bits)
}

pub(super) fn thread() -> Term {
    Variable::Thread.term(THREAD_BITS)
}

pub(super) fn held(lock: Lock) -> Term {
    Variable::Lock(lock).term(LOCK_BITS)
}

pub(super) fn owner(lock: Lock) -> Term {
    Variable::Owner(lock).term(THREAD_BITS)
}

pub(super) fn any(number: u64, bits: u32) -> Term {
    Term::var(format!("{ANY}{number}"), Sort::Bits(bits))
}

/// The same said of the second thread of two.
pub(super) fn of_other(term: &Term) -> Term {
    term.substitute(&mut |var| {
        let private = Variable::named(&var.name).is_some_and(Variable::is_private);
        private.then(|| Term::var(format!("{OTHER}{}", var.name), var.sort))
    })
}

#[cfg(test)]
mod tests {
    use super::Variable;

    #[test]
    fn a_name_has_one_spelling() {
        for name in ["m.3.0.4", "w.3.8.8", "r.0.12", "h.2.40", "l.2.40", "tid", "a.1", "f.9", "h.1.-8"] {
            assert_eq!(Variable::named(name).map(|variable| variable.to_string()).as_deref(), Some(name));
        }
        for name in
            ["", "m", "m.3.0", "m.03.0.4", "m.3.+0.4", "m.3.0.4.", "r.0", "tid.0", "any.1", "o.tid", "a.-1"]
        {
            assert_eq!(Variable::named(name), None, "{name}");
        }
    }
}
