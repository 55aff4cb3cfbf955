//! What an instruction defines, reads and jumps to, without a match over all kinds at every caller.

use crate::{BlockId, Callee, Inst, Operand, Reg, Terminator};

impl Inst {
    /// The registers that it assigns, in order.
    pub fn each_dst(&self, mut visit: impl FnMut(Reg)) {
        match self {
            Inst::Bin { dst, .. }
            | Inst::FBin { dst, .. }
            | Inst::FNeg { dst, .. }
            | Inst::Icmp { dst, .. }
            | Inst::Fcmp { dst, .. }
            | Inst::Cast { dst, .. }
            | Inst::Select { dst, .. }
            | Inst::Copy { dst, .. }
            | Inst::Alloca { dst, .. }
            | Inst::TlsAddr { dst, .. }
            | Inst::Load { dst, .. }
            | Inst::Rmw { dst, .. }
            | Inst::VaArg { dst, .. }
            | Inst::StackSave { dst } => visit(*dst),
            Inst::CmpXchg(x) => {
                visit(x.old);
                visit(x.success);
            }
            Inst::Gep(gep) => visit(gep.dst),
            Inst::Call { dsts, .. }
            | Inst::Intrinsic { dsts, .. }
            | Inst::Asm { dsts, .. }
            | Inst::Unsupported { dsts, .. } => dsts.iter().copied().for_each(visit),
            Inst::Store { .. }
            | Inst::Fence { .. }
            | Inst::SignalFence
            | Inst::MemCopy { .. }
            | Inst::MemSet { .. }
            | Inst::VaStart { .. }
            | Inst::VaEnd { .. }
            | Inst::VaCopy { .. }
            | Inst::StackRestore { .. } => {}
        }
    }

    /// The operands that it reads, in order.
    pub fn each_operand(&self, mut visit: impl FnMut(Operand)) {
        match self {
            Inst::Bin { a, b, .. }
            | Inst::FBin { a, b, .. }
            | Inst::Icmp { a, b, .. }
            | Inst::Fcmp { a, b, .. } => {
                visit(*a);
                visit(*b);
            }
            Inst::FNeg { a, .. } | Inst::Cast { a, .. } | Inst::Copy { a, .. } => visit(*a),
            Inst::Select { cond, a, b, .. } => [*cond, *a, *b].into_iter().for_each(visit),
            Inst::Alloca { bytes, .. } => visit(*bytes),
            Inst::Load { ptr, .. } => visit(*ptr),
            Inst::Store { value, ptr, .. } | Inst::Rmw { ptr, value, .. } => {
                visit(*ptr);
                visit(*value);
            }
            Inst::CmpXchg(x) => [x.ptr, x.expected, x.new].into_iter().for_each(visit),
            Inst::Gep(gep) => {
                visit(gep.base);
                gep.indices.iter().for_each(|(index, ..)| visit(*index));
            }
            Inst::MemCopy { dst, src, len, .. } => [*dst, *src, *len].into_iter().for_each(visit),
            Inst::MemSet { dst, byte, len, .. } => [*dst, *byte, *len].into_iter().for_each(visit),
            Inst::Call { callee, args, .. } => {
                if let Callee::Indirect(target) = callee {
                    visit(*target);
                }
                args.iter().for_each(|arg| visit(arg.value));
            }
            Inst::Intrinsic { args, .. } => args.iter().copied().for_each(visit),
            Inst::VaStart { list } | Inst::VaEnd { list } | Inst::VaArg { list, .. } => visit(*list),
            Inst::VaCopy { dst, src } => {
                visit(*dst);
                visit(*src);
            }
            Inst::StackRestore { mark } => visit(*mark),
            Inst::Asm { writes, reads, .. } => {
                writes.iter().for_each(|(target, _)| visit(*target));
                reads.iter().copied().for_each(visit);
            }
            Inst::TlsAddr { .. }
            | Inst::Fence { .. }
            | Inst::SignalFence
            | Inst::StackSave { .. }
            | Inst::Unsupported { .. } => {}
        }
    }
}

impl Terminator {
    pub fn each_operand(&self, mut visit: impl FnMut(Operand)) {
        match self {
            Terminator::CondBr { cond, .. } => visit(*cond),
            Terminator::Switch { value, .. } => visit(*value),
            Terminator::IndirectBr { target, .. } => visit(*target),
            Terminator::Ret { values } => values.iter().copied().for_each(visit),
            Terminator::Br(_) | Terminator::Unreachable | Terminator::Unsupported { .. } => {}
        }
    }

    /// The blocks that may come next; a block can be named more than once.
    pub fn each_target(&self, mut visit: impl FnMut(BlockId)) {
        match self {
            Terminator::Br(target) => visit(*target),
            Terminator::CondBr { then, other, .. } => {
                visit(*then);
                visit(*other);
            }
            Terminator::Switch { cases, default, .. } => {
                cases.iter().for_each(|(_, target)| visit(*target));
                visit(*default);
            }
            Terminator::IndirectBr { targets, .. } => targets.iter().copied().for_each(visit),
            Terminator::Ret { .. } | Terminator::Unreachable | Terminator::Unsupported { .. } => {}
        }
    }
}
