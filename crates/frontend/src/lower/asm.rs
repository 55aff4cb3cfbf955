//! Inline assembly: outputs become arbitrary, memory inputs are read. The text itself is not understood.
//!
//! LLVM's constraint list has outputs first (`=r` returned, `=*m` through a pointer argument), then inputs, then clobbers.

use raddle_ir::{Inst, Operand};

use super::Lowered;
use super::function::FunctionLowerer;
use crate::llvm::Value;

impl<'m> FunctionLowerer<'_, 'm> {
    pub(super) fn inline_asm(&mut self, inst: Value<'m>, callee: Value<'m>) -> Lowered<()> {
        let (text, constraints) = callee.inline_asm().ok_or_else(|| "inline assembly".to_owned())?;
        let dsts = self.slot(inst).map(|slot| slot.regs()).unwrap_or_default();
        self.module.types.pieces(inst.ty())?;
        let mut args = inst.args().into_iter().enumerate();
        let (mut writes, mut reads) = (Vec::new(), Vec::new());
        for constraint in constraints.split(',').filter(|constraint| !constraint.is_empty()) {
            if constraint.starts_with('~') {
                continue;
            }
            let is_output = constraint.starts_with('=');
            let is_indirect = constraint.trim_start_matches(['=', '&', '+', '%']).starts_with('*');
            if is_output && !is_indirect {
                continue;
            }
            let (index, value) =
                args.next().ok_or_else(|| "inline assembly of an unknown form".to_owned())?;
            if !is_indirect {
                reads.extend(self.pieces(value)?);
                continue;
            }
            let ty = inst
                .arg_type_attribute(index as u32, "elementtype")
                .ok_or_else(|| "inline assembly with memory of unknown size".to_owned())?;
            let address = self.scalar(value)?;
            if is_output {
                writes.push((address, self.module.types.layout.size(ty)));
            } else {
                reads.extend(self.read_memory(value, address, ty)?);
            }
        }
        let text = self.module.symbol(&text);
        self.emit(Inst::Asm { dsts, text, writes, reads });
        Ok(())
    }

    /// Plain loads of a memory input, so that the access is seen.
    fn read_memory(
        &mut self,
        pointer: Value<'m>,
        address: Operand,
        ty: crate::llvm::Type<'m>,
    ) -> Lowered<Vec<Operand>> {
        let pieces = self.module.types.pieces(ty)?;
        let mut values = Vec::with_capacity(pieces.len());
        for piece in pieces.iter() {
            let extent = self.scalar_extent(piece.ty);
            let place = self.place(pointer, piece.offset as i64, extent);
            let ptr = self.add_bytes(address, piece.offset as i64);
            let dst = self.temporary(piece.ty);
            self.emit(Inst::Load { dst, ty: piece.ty, ptr, atomic: None, volatile: false, place });
            values.push(Operand::Reg(dst));
        }
        Ok(values)
    }
}
