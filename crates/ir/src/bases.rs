//! Which variable a register points into, as far as one function tells: through copies and address arithmetic, and not through memory, calls or
//! phis.

use crate::{Function, GlobalId, Inst, Operand, Reg};
use raddle_base::Id;

/// A variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Base {
    /// Made by the `Alloca` that assigns this register.
    Local(Reg),
    Global(GlobalId),
}

/// For each register of a function the one variable that it points into, if that is known.
#[derive(Clone, Debug)]
pub struct Bases(Vec<Option<Base>>);

impl Bases {
    pub fn of(function: &Function) -> Bases {
        let mut bases = Bases(vec![None; function.regs.len()]);
        let mut changed = true;
        while changed {
            changed = false;
            for inst in function.blocks.values().flat_map(|block| &block.insts) {
                let (dst, base) = match inst {
                    Inst::Alloca { dst, .. } => (*dst, Some(Base::Local(*dst))),
                    Inst::Copy { dst, a, .. } => (*dst, bases.of_operand(*a)),
                    Inst::Gep(gep) => (gep.dst, bases.of_operand(gep.base)),
                    _ => continue,
                };
                changed |= std::mem::replace(&mut bases.0[dst.index()], base) != base;
            }
        }
        bases
    }

    pub fn of_operand(&self, operand: Operand) -> Option<Base> {
        match operand {
            Operand::Reg(reg) => self.0[reg.index()],
            Operand::Global(global, _) => Some(Base::Global(global)),
            _ => None,
        }
    }
}
