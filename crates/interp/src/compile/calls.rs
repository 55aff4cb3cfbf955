//! Calls and what surrounds them.

use super::Compiler;
use crate::code::{ArgDesc, AsmDesc, CallDesc, CallTarget, Code};
use raddle_ir::{Callee, DebugType, DebugTypeId, Inst, Reg, Ty};

impl Compiler<'_> {
    pub(super) fn call(&mut self, inst: &Inst) {
        match inst {
            Inst::Call { dsts, callee, args } => {
                let callee = match callee {
                    Callee::Direct(function) => CallTarget::Direct(*function),
                    Callee::Indirect(operand) => CallTarget::Indirect(self.operand(*operand, Ty::Ptr)),
                };
                let args = args
                    .iter()
                    .map(|arg| ArgDesc {
                        slot: self.any_operand(arg.value, arg.ty),
                        ty: arg.ty,
                        by_value: arg.by_value,
                    })
                    .collect();
                let desc = CallDesc {
                    callee,
                    args,
                    result_type: dsts.first().and_then(|&dst| self.pointee(dst)),
                    result_computed_with: dsts.iter().any(|&dst| self.uses.may_be_computed_with(dst)),
                    result_look: dsts
                        .iter()
                        .map(|&dst| self.around.looks.at(self.id, dst))
                        .max()
                        .unwrap_or_default(),
                    result_is_kept: dsts.iter().any(|&dst| self.uses.may_be_kept(dst)),
                    result_is_used: dsts.iter().any(|&dst| self.uses.counts[dst.0 as usize] > 0),
                    dsts: self.result_slots(dsts),
                };
                self.func.calls.push(desc);
                self.emit(Code::Call { desc: self.func.calls.len() as u32 - 1 });
            }
            Inst::VaStart { list } => {
                let list = self.operand(*list, Ty::Ptr);
                self.emit(Code::VaStart { list });
            }
            Inst::VaEnd { .. } => {
                self.emit(Code::Nop);
            }
            Inst::VaCopy { dst, src } => {
                let (d, s) = (self.operand(*dst, Ty::Ptr), self.operand(*src, Ty::Ptr));
                self.emit(Code::VaCopy { d, s });
            }
            Inst::VaArg { dst, ty, list } => {
                let (d, list) = (self.slot(*dst), self.operand(*list, Ty::Ptr));
                self.func.va_args.push(*ty);
                self.emit(Code::VaArg { desc: self.func.va_args.len() as u32 - 1, d, list });
            }
            Inst::StackSave { dst } => {
                let d = self.slot(*dst);
                self.emit(Code::StackSave { d });
            }
            Inst::StackRestore { mark } => {
                let mark = self.operand(*mark, Ty::Ptr);
                self.emit(Code::StackRestore { mark });
            }
            Inst::Asm { dsts, writes, .. } => {
                let writes = writes.iter().map(|&(p, bytes)| (self.operand(p, Ty::Ptr), bytes)).collect();
                let dsts = self.result_slots(dsts);
                self.func.asms.push(AsmDesc { dsts, writes });
                self.emit(Code::Asm { desc: self.func.asms.len() as u32 - 1 });
            }
            Inst::Unsupported { reason, .. } => {
                self.emit(Code::Unsupported { reason: *reason });
            }
            _ => unreachable!("not a call"),
        }
    }

    /// What a pointer register points to, by its declared type.
    fn pointee(&self, reg: Reg) -> Option<DebugTypeId> {
        let program = self.around.program;
        match program.debug_types[program.strip(self.function.regs[reg].debug_type?)] {
            DebugType::Pointer { to } => Some(to),
            _ => None,
        }
    }
}
