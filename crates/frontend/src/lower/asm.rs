//! Inline assembly: outputs become arbitrary, memory inputs are read. The text itself is not understood, unless it does nothing: then an
//! output that shares its register with an input keeps the value, and memory is left alone.
//!
//! LLVM's constraint list has outputs first (`=r` returned, `=*m` through a pointer argument), then inputs, then clobbers.

use raddle_ir::{Inst, Operand, Ty};

use super::Lowered;
use super::function::FunctionLowerer;
use crate::llvm::Value;

impl<'m> FunctionLowerer<'_, 'm> {
    pub(super) fn inline_asm(&mut self, inst: Value<'m>, callee: Value<'m>) -> Lowered<()> {
        let (text, constraints) = callee.inline_asm().ok_or_else(|| "inline assembly".to_owned())?;
        if does_nothing(&text)
            && let Some(kept) = self.kept_values(inst, &constraints)?
        {
            return if kept.is_empty() { Ok(()) } else { self.copy_pieces(inst, &kept) };
        }
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

    /// The inputs that the outputs share their registers with; `None` if one shares with nothing.
    fn kept_values(&mut self, inst: Value<'m>, constraints: &str) -> Lowered<Option<Vec<Operand>>> {
        let mut inputs: Vec<(usize, Value<'m>)> = Vec::new();
        let (mut args, mut outputs) = (inst.args().into_iter(), 0);
        for constraint in constraints.split(',').filter(|constraint| !constraint.starts_with('~')) {
            let is_indirect = constraint.trim_start_matches(['=', '&', '+', '%']).starts_with('*');
            if constraint.starts_with('=') && !is_indirect {
                outputs += 1;
                continue;
            }
            let Some(value) = args.next().filter(|_| !constraint.is_empty()) else { continue };
            if let Ok(output) = constraint.parse() {
                inputs.push((output, value));
            }
        }
        let wanted: Vec<Ty> = self.module.types.pieces(inst.ty())?.iter().map(|piece| piece.ty).collect();
        let mut kept = Vec::with_capacity(wanted.len());
        for (output, ty) in (0..outputs).zip(&wanted) {
            let Some((_, value)) = inputs.iter().find(|(tied, _)| *tied == output) else { return Ok(None) };
            match &self.module.types.pieces(value.ty())?[..] {
                [piece] if piece.ty == *ty => kept.extend(self.pieces(*value)?),
                _ => return Ok(None),
            }
        }
        Ok((kept.len() == wanted.len()).then_some(kept))
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

/// Whether the text is empty, or pauses the processor.
fn does_nothing(text: &str) -> bool {
    let text = text.replace([';', '\n', '\t'], " ");
    let words: Vec<&str> = text.split_whitespace().collect();
    ["", "nop", "pause", "rep nop", "yield"].contains(&words.join(" ").as_str())
}
