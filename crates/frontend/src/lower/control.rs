//! Terminators.

use raddle_ir::Terminator;

use super::Lowered;
use super::function::FunctionLowerer;
use crate::llvm::Value;

impl<'m> FunctionLowerer<'_, 'm> {
    pub(super) fn branch(&mut self, inst: Value<'m>) -> Lowered<()> {
        let successors = inst.successors();
        match successors[..] {
            [only] => {
                let target = self.block_id(only)?;
                self.terminate(Terminator::Br(target));
            }
            [then, other] => {
                let condition = self.input(inst, 0)?;
                let cond = self.scalar(condition)?;
                let (then, other) = (self.block_id(then)?, self.block_id(other)?);
                self.terminate(Terminator::CondBr { cond, then, other });
            }
            _ => return Err("branch of an unknown form".to_owned()),
        }
        Ok(())
    }

    pub(super) fn switch(&mut self, inst: Value<'m>) -> Lowered<()> {
        let condition = self.input(inst, 0)?;
        let ty = self.module.types.scalar(condition.ty())?;
        let value = self.scalar(condition)?;
        let successors = inst.successors();
        let (first, rest) = successors.split_first().ok_or_else(|| "switch without targets".to_owned())?;
        let default = self.block_id(*first)?;
        let mut cases = Vec::with_capacity(rest.len());
        for (index, &target) in rest.iter().enumerate() {
            let constant = self.input(inst, 2 + 2 * index as u32)?;
            let bits = constant.int_bits().ok_or_else(|| "case that is not a constant".to_owned())?;
            cases.push((bits, self.block_id(target)?));
        }
        self.terminate(Terminator::Switch { value, ty, cases, default });
        Ok(())
    }

    pub(super) fn computed_goto(&mut self, inst: Value<'m>) -> Lowered<()> {
        let address = self.input(inst, 0)?;
        let target = self.scalar(address)?;
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
        let values = match inst.operand(0) {
            Some(value) => self.pieces(value)?,
            None => Vec::new(),
        };
        self.terminate(Terminator::Ret { values });
        Ok(())
    }

    /// A call that may throw: the normal way out is followed; the landing pad is reached by unwinding alone.
    pub(super) fn invoke(&mut self, inst: Value<'m>) -> Lowered<()> {
        self.call(inst)?;
        let normal = inst.normal_destination().ok_or_else(|| "call without a way out".to_owned())?;
        let target = self.block_id(normal)?;
        self.terminate(Terminator::Br(target));
        Ok(())
    }
}
