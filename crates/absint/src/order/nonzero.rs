//! Which registers a branch shows to have been zero, or not to have been.
//!
//! What was read some time before the branch, that is: through a phi it may be the value of an earlier round of a loop.

use crate::terms::Definitions;
use raddle_ir::{BinOp, CastOp, Function, FunctionId, IcmpPred, Inst, Operand, Reg, Ty};

/// What follows from a condition that is (or is not) true.
#[derive(Default)]
pub(super) struct Shown {
    pub nonzero: Vec<Reg>,
    pub zero: Vec<Reg>,
}

pub(super) fn shown(
    id: FunctionId,
    function: &Function,
    definitions: &Definitions,
    condition: Operand,
    taken: bool,
) -> Shown {
    let mut search = Search { id, function, definitions, found: Shown::default() };
    if taken {
        search.nonzero(condition, 0);
    } else {
        search.zero(condition, 0);
    }
    search.found
}

struct Search<'a> {
    id: FunctionId,
    function: &'a Function,
    definitions: &'a Definitions,
    found: Shown,
}

const DEPTH: usize = 8;

impl<'a> Search<'a> {
    fn definition(&self, reg: Reg) -> Option<&'a Inst> {
        let block = &self.function.blocks[self.definitions.block(self.id, reg)];
        block.insts.iter().find(|inst| {
            let mut defines = false;
            inst.each_dst(|dst| defines |= dst == reg);
            defines
        })
    }

    fn nonzero(&mut self, operand: Operand, depth: usize) {
        let Operand::Reg(reg) = operand else { return };
        self.found.nonzero.push(reg);
        if depth == DEPTH {
            return;
        }
        if let Some(only) = self.only_nonzero(reg) {
            self.nonzero(only, depth + 1);
        }
        match self.definition(reg) {
            Some(Inst::Cast {
                op: CastOp::ZExt | CastOp::SExt | CastOp::Trunc | CastOp::PtrToInt,
                a,
                ..
            }) => {
                self.nonzero(*a, depth + 1);
            }
            Some(Inst::Copy { a, .. }) => self.nonzero(*a, depth + 1),
            Some(Inst::Bin { op: BinOp::And, a, b, .. }) => {
                self.nonzero(*a, depth + 1);
                self.nonzero(*b, depth + 1);
            }
            Some(Inst::Bin { op: BinOp::Xor, ty: Ty::Int(1), a, b: Operand::Const(1), .. }) => {
                self.zero(*a, depth + 1);
            }
            Some(Inst::Icmp { pred, a, b, .. }) => self.comparison(*pred, *a, *b, true, depth),
            _ => {}
        }
    }

    /// The only value of a phi that is not the number zero.
    fn only_nonzero(&self, reg: Reg) -> Option<Operand> {
        let block = &self.function.blocks[self.definitions.block(self.id, reg)];
        let phi = block.phis.iter().find(|phi| phi.dst == reg)?;
        let mut others = phi.incoming.iter().map(|(_, value)| *value).filter(|value| !is_zero(*value));
        let only = others.next()?;
        others.all(|other| other == only).then_some(only)
    }

    fn zero(&mut self, operand: Operand, depth: usize) {
        let Operand::Reg(reg) = operand else { return };
        self.found.zero.push(reg);
        if depth == DEPTH {
            return;
        }
        match self.definition(reg) {
            Some(Inst::Cast { op: CastOp::ZExt | CastOp::SExt, a, .. } | Inst::Copy { a, .. }) => {
                self.zero(*a, depth + 1);
            }
            Some(Inst::Bin { op: BinOp::Xor, ty: Ty::Int(1), a, b: Operand::Const(1), .. }) => {
                self.nonzero(*a, depth + 1);
            }
            Some(Inst::Icmp { pred, a, b, .. }) => self.comparison(*pred, *a, *b, false, depth),
            _ => {}
        }
    }

    fn comparison(&mut self, pred: IcmpPred, a: Operand, b: Operand, holds: bool, depth: usize) {
        let constant = match b {
            Operand::Const(bits) => bits,
            Operand::Null => 0,
            _ => return,
        };
        match (pred, holds, constant) {
            (IcmpPred::Ne, true, 0) | (IcmpPred::Eq, false, 0) | (IcmpPred::Ugt, true, _) => {
                self.nonzero(a, depth + 1);
            }
            (IcmpPred::Ne, false, 0) | (IcmpPred::Eq, true, 0) => self.zero(a, depth + 1),
            (IcmpPred::Eq, true, _) | (IcmpPred::Ne, false, _) => self.nonzero(a, depth + 1),
            (IcmpPred::Sgt, true, 0) => self.nonzero(a, depth + 1),
            (IcmpPred::Uge, true, 1..) => self.nonzero(a, depth + 1),
            _ => {}
        }
    }
}

fn is_zero(operand: Operand) -> bool {
    matches!(operand, Operand::Const(0) | Operand::Null)
}
