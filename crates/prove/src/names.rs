//! Variables of formulas by the names of decision 23.

use raddle_facts::ObjectId;
use raddle_ir::{FunctionId, Program, Reg, Ty};
use raddle_logic::{Sort, Var};

/// Bytes of memory that have one variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Cell {
    pub(crate) object: ObjectId,
    pub(crate) offset: i64,
    pub(crate) bytes: u32,
}

pub(crate) const TID_BITS: u32 = 64;

impl Cell {
    pub(crate) fn value(self) -> Var {
        Var::new(format!("m.{}", self.suffix()), Sort::Bits(8 * self.bytes))
    }

    pub(crate) fn writer(self) -> Var {
        Var::new(format!("w.{}", self.suffix()), Sort::Bits(TID_BITS))
    }

    fn suffix(self) -> String {
        format!("{}.{}.{}", self.object.0, self.offset, self.bytes)
    }
}

pub(crate) fn register(program: &Program, function: FunctionId, reg: Reg) -> Option<Var> {
    let width = width(program, program.functions[function].regs[reg].ty)?;
    Some(Var::new(format!("r.{}.{}", function.0, reg.0), Sort::Bits(width)))
}

pub(crate) fn lock((object, offset): (ObjectId, i64)) -> Var {
    Var::new(format!("h.{}.{offset}", object.0), Sort::Bits(2))
}

/// Who holds it exclusively.
pub(crate) fn owner((object, offset): (ObjectId, i64)) -> Var {
    Var::new(format!("l.{}.{offset}", object.0), Sort::Bits(TID_BITS))
}

pub(crate) fn tid() -> Var {
    Var::new("tid", Sort::Bits(TID_BITS))
}

pub(crate) fn address(program: &Program, object: ObjectId) -> Var {
    Var::new(format!("a.{}", object.0), Sort::Bits(8 * program.data_model.pointer_bytes()))
}

pub(crate) fn function(program: &Program, function: FunctionId) -> Var {
    Var::new(format!("f.{}", function.0), Sort::Bits(8 * program.data_model.pointer_bytes()))
}

pub(crate) fn is_shared(name: &str) -> bool {
    ["m.", "w.", "a.", "f.", "l."].iter().any(|prefix| name.starts_with(prefix))
}

/// Of types that formulas speak of.
pub(crate) fn width(program: &Program, ty: Ty) -> Option<u32> {
    match ty {
        Ty::Int(bits) if (1..=128).contains(&bits) => Some(u32::from(bits)),
        Ty::Int(_) | Ty::Float(_) => None,
        Ty::Ptr => Some(8 * program.data_model.pointer_bytes()),
    }
}
