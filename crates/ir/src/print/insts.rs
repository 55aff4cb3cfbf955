//! Text of instructions and terminators.

use super::{Naming, Printer};
use crate::words::Word;
use crate::{CallArg, Callee, Inst, Operand, PlaceId, Reg, Terminator, Ty};
use std::fmt::Write;

impl<N: Naming> Printer<'_, N> {
    pub(super) fn inst(&mut self, inst: &Inst) {
        match inst {
            Inst::Bin { dst, op, ty, a, b } => self.plain(*dst, op.word(), *ty, &[*a, *b]),
            Inst::FBin { dst, op, ty, a, b } => self.plain(*dst, op.word(), *ty, &[*a, *b]),
            Inst::FNeg { dst, ty, a } => self.plain(*dst, "fneg", *ty, &[*a]),
            Inst::Copy { dst, ty, a } => self.plain(*dst, "copy", *ty, &[*a]),
            Inst::Select { dst, ty, cond, a, b } => self.plain(*dst, "select", *ty, &[*cond, *a, *b]),
            Inst::Icmp { dst, pred, ty, a, b } => {
                self.plain(*dst, &format!("icmp {}", pred.word()), *ty, &[*a, *b]);
            }
            Inst::Fcmp { dst, pred, ty, a, b } => {
                self.plain(*dst, &format!("fcmp {}", pred.word()), *ty, &[*a, *b]);
            }
            Inst::Cast { dst, op, from, to, a } => {
                self.plain(*dst, op.word(), *from, &[*a]);
                self.word(" to ");
                self.ty(*to);
            }
            Inst::Alloca { dst, bytes, align, name, debug_type } => {
                self.dsts(&[*dst]);
                self.word("alloca ");
                self.operand(*bytes);
                let _ = write!(self.out, " align {align}");
                self.optional_symbol("name", *name);
                self.optional_type(*debug_type);
            }
            Inst::TlsAddr { dst, global } => {
                self.dsts(&[*dst]);
                self.word("tls_addr ");
                self.global_ref(*global);
            }
            Inst::Load { dst, ty, ptr, atomic, volatile, place } => {
                self.dsts(&[*dst]);
                self.access("load", atomic.map(Word::word), *volatile);
                self.typed(*ty, &[*ptr]);
                self.at_place(*place);
            }
            Inst::Store { ty, value, ptr, atomic, volatile, place } => {
                self.access("store", atomic.map(Word::word), *volatile);
                self.typed(*ty, &[*value, *ptr]);
                self.at_place(*place);
            }
            Inst::Rmw { dst, op, ty, ptr, value, order, place } => {
                self.dsts(&[*dst]);
                let _ = write!(self.out, "rmw {} {} ", op.word(), order.word());
                self.typed(*ty, &[*ptr, *value]);
                self.at_place(*place);
            }
            Inst::CmpXchg(x) => {
                self.dsts(&[x.old, x.success]);
                self.word(if x.weak { "cmpxchg weak " } else { "cmpxchg " });
                let _ = write!(self.out, "{} {} ", x.on_success.word(), x.on_failure.word());
                self.typed(x.ty, &[x.ptr, x.expected, x.new]);
                self.at_place(x.place);
            }
            Inst::Fence { order } => {
                let _ = write!(self.out, "fence {}", order.word());
            }
            Inst::SignalFence => self.word("signal_fence"),
            Inst::Gep(gep) => {
                self.dsts(&[gep.dst]);
                self.word("gep ");
                self.operand(gep.base);
                let _ = write!(self.out, " offset {} ", gep.offset);
                self.list(&gep.indices, |p, (index, ty, scale)| {
                    p.ty(*ty);
                    p.word(" ");
                    p.operand(*index);
                    let _ = write!(p.out, " * {scale}");
                });
            }
            Inst::MemCopy { kind, dst, src, len, dst_place, src_place } => {
                self.word(kind.word());
                self.word(" ");
                self.operands(&[*dst, *src, *len]);
                self.at_place(*dst_place);
                self.word(" from ");
                self.place_ref(*src_place);
            }
            Inst::MemSet { dst, byte, len, place } => {
                self.word("memset ");
                self.operands(&[*dst, *byte, *len]);
                self.at_place(*place);
            }
            Inst::Call { dsts, callee, args } => {
                self.dsts(dsts);
                match callee {
                    Callee::Direct(function) => {
                        self.word("call ");
                        self.function_ref(*function);
                    }
                    Callee::Indirect(target) => {
                        self.word("call_indirect ");
                        self.operand(*target);
                    }
                }
                self.word(" ");
                self.list(args, |p, arg| p.call_arg(arg));
            }
            Inst::Intrinsic { dsts, op, ty, args } => {
                self.dsts(dsts);
                let _ = write!(self.out, "intrinsic {} ", op.word());
                self.ty(*ty);
                self.word(" ");
                self.list(args, |p, arg| p.operand(*arg));
            }
            Inst::VaStart { list } => self.effect("va_start", &[*list]),
            Inst::VaEnd { list } => self.effect("va_end", &[*list]),
            Inst::VaCopy { dst, src } => self.effect("va_copy", &[*dst, *src]),
            Inst::VaArg { dst, ty, list } => self.plain(*dst, "va_arg", *ty, &[*list]),
            Inst::StackSave { dst } => {
                self.dsts(&[*dst]);
                self.word("stack_save");
            }
            Inst::StackRestore { mark } => self.effect("stack_restore", &[*mark]),
            Inst::Asm { dsts, text, writes, reads } => {
                self.dsts(dsts);
                self.word("asm ");
                self.symbol(*text);
                self.word(" writes ");
                self.list(writes, |p, (target, bytes)| {
                    p.operand(*target);
                    let _ = write!(p.out, " bytes {bytes}");
                });
                self.word(" reads ");
                self.list(reads, |p, read| p.operand(*read));
            }
            Inst::Unsupported { dsts, reason } => {
                self.dsts(dsts);
                self.word("unsupported ");
                self.symbol(*reason);
            }
        }
    }

    pub(super) fn terminator(&mut self, terminator: &Terminator) {
        match terminator {
            Terminator::Br(target) => {
                self.word("br ");
                self.block_ref(*target);
            }
            Terminator::CondBr { cond, then, other } => {
                self.effect("cond_br", &[*cond]);
                let _ = write!(self.out, ", {then}, {other}");
            }
            Terminator::Switch { value, ty, cases, default } => {
                self.word("switch ");
                self.typed(*ty, &[*value]);
                self.word(" ");
                self.list(cases, |p, (value, target)| {
                    let _ = write!(p.out, "{value}: {target}");
                });
                let _ = write!(self.out, " default {default}");
            }
            Terminator::IndirectBr { target, targets } => {
                self.effect("indirect_br", &[*target]);
                self.word(" ");
                self.list(targets, |p, target| p.block_ref(*target));
            }
            Terminator::Ret { values } => {
                self.word("ret ");
                self.list(values, |p, value| p.operand(*value));
            }
            Terminator::Unreachable => self.word("unreachable"),
            Terminator::Unsupported { reason } => {
                self.word("stop ");
                self.symbol(*reason);
            }
        }
    }

    fn dsts(&mut self, dsts: &[Reg]) {
        for (i, dst) in dsts.iter().enumerate() {
            if i > 0 {
                self.word(", ");
            }
            self.reg(*dst);
        }
        if !dsts.is_empty() {
            self.word(" = ");
        }
    }

    fn plain(&mut self, dst: Reg, word: &str, ty: Ty, operands: &[Operand]) {
        self.dsts(&[dst]);
        self.word(word);
        self.word(" ");
        self.typed(ty, operands);
    }

    fn effect(&mut self, word: &str, operands: &[Operand]) {
        self.word(word);
        self.word(" ");
        self.operands(operands);
    }

    fn typed(&mut self, ty: Ty, operands: &[Operand]) {
        self.ty(ty);
        self.word(" ");
        self.operands(operands);
    }

    fn operands(&mut self, operands: &[Operand]) {
        for (i, operand) in operands.iter().enumerate() {
            if i > 0 {
                self.word(", ");
            }
            self.operand(*operand);
        }
    }

    fn access(&mut self, word: &str, atomic: Option<&str>, volatile: bool) {
        self.word(word);
        if volatile {
            self.word(" volatile");
        }
        if let Some(order) = atomic {
            self.word(" atomic ");
            self.word(order);
        }
        self.word(" ");
    }

    fn at_place(&mut self, place: PlaceId) {
        self.word(" place ");
        self.place_ref(place);
    }

    fn call_arg(&mut self, arg: &CallArg) {
        self.typed(arg.ty, &[arg.value]);
        self.by_value(arg.by_value);
        if let Some(place) = arg.place {
            self.at_place(place);
        }
    }
}
