//! Branches, switches, computed goto and returns.

use raddle_ir::{Operand, Terminator};

use super::Lowered;
use super::function::FunctionLowerer;
use crate::llvm::Value;

impl<'m> FunctionLowerer<'_, 'm> {
    pub(super) fn branch(&mut self, inst: Value<'m>) -> Lowered<()> {
        match inst.successors()[..] {
            [only] => {
                let target = self.block_id(only)?;
                self.terminate(Terminator::Br(target));
            }
            [then, other] => {
                let cond = self.input(inst, 0)?;
                let cond = self.scalar(cond)?;
                let (then, other) = (self.block_id(then)?, self.block_id(other)?);
                self.terminate(Terminator::CondBr { cond, then, other });
            }
            _ => return Err("branch of an unknown form".to_owned()),
        }
        Ok(())
    }

    /// Operands: the value, the default block, then pairs of case and block.
    pub(super) fn switch(&mut self, inst: Value<'m>) -> Lowered<()> {
        let refusal = || "switch of an unknown form".to_owned();
        let value = self.input(inst, 0)?;
        let ty = self.module.types.scalar(value.ty())?;
        let value = self.scalar(value)?;
        let default = self.input(inst, 1)?.as_block().ok_or_else(refusal)?;
        let default = self.block_id(default)?;
        let mut cases = Vec::new();
        for pair in 1..inst.operand_count() / 2 {
            let case = self.input(inst, pair * 2)?.int_bits().ok_or_else(refusal)?;
            let target = self.input(inst, pair * 2 + 1)?.as_block().ok_or_else(refusal)?;
            cases.push((case, self.block_id(target)?));
        }
        self.terminate(Terminator::Switch { value, ty, cases, default });
        Ok(())
    }

    pub(super) fn computed_goto(&mut self, inst: Value<'m>) -> Lowered<()> {
        let target = self.input(inst, 0)?;
        let target = self.scalar(target)?;
        let mut targets = Vec::new();
        for block in inst.successors() {
            let id = self.block_id(block)?;
            if !targets.contains(&id) {
                targets.push(id);
            }
        }
        self.terminate(Terminator::IndirectBr { target, targets });
        Ok(())
    }

    pub(super) fn ret(&mut self, inst: Value<'m>) -> Lowered<()> {
        let values: Vec<Operand> = match inst.operand(0) {
            Some(value) => self.pieces(value)?,
            None => Vec::new(),
        };
        self.terminate(Terminator::Ret { values });
        Ok(())
    }
}
