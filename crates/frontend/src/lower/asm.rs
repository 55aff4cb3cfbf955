//! Inline assembly: what it may read and write, from its constraints.
//!
//! The text is not understood. Outputs and memory operands become arbitrary; a "memory" clobber is a promise to the compiler, not an
//! access, so an empty text with that clobber alone is the compiler barrier people mean by it.

use raddle_ir::{Inst, Operand};

use super::Lowered;
use super::function::FunctionLowerer;
use crate::llvm::{TypeKind, Value};

impl<'m> FunctionLowerer<'_, 'm> {
    pub(super) fn inline_asm(&mut self, inst: Value<'m>, asm: Value<'m>) -> Lowered<()> {
        let (text, constraints) = asm.inline_asm().ok_or_else(|| "inline assembly".to_owned())?;
        let args = inst.args();
        let mut next = 0;
        let mut writes = Vec::new();
        let mut reads = Vec::new();
        for constraint in split(&constraints) {
            let output = constraint.starts_with('=');
            let indirect = constraint.contains('*');
            if constraint.starts_with('~') || (output && !indirect) {
                continue;
            }
            let Some(&arg) = args.get(next) else { return Err("inline assembly".to_owned()) };
            let position = next as u32;
            next += 1;
            if indirect {
                let target = inst.arg_type_attribute(position, "elementtype");
                let bytes = target.map_or(0, |ty| self.module.types.layout.size(ty));
                let pointer = self.scalar(arg)?;
                if output || constraint.starts_with('+') {
                    writes.push((pointer, bytes));
                } else {
                    reads.push(pointer);
                }
            } else if arg.as_block().is_none() && matches!(arg.ty().kind(), TypeKind::Pointer(_)) {
                reads.push(self.scalar(arg)?);
            } else {
                let values: Vec<Operand> = self.pieces(arg)?;
                reads.extend(values);
            }
        }
        let dsts = match self.module.types.pieces(inst.ty())?.is_empty() {
            true => Vec::new(),
            false => self.slot(inst)?.regs(),
        };
        let text = self.module.symbol(text.trim());
        self.emit(Inst::Asm { dsts, text, writes, reads });
        Ok(())
    }
}

/// Constraints are separated by commas; braces hold register names, which have none.
fn split(constraints: &str) -> impl Iterator<Item = &str> {
    constraints.split(',').map(str::trim).filter(|constraint| !constraint.is_empty())
}
