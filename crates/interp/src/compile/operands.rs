//! The registers that an instruction reads and writes.

use raddle_ir::{Callee, Inst, Operand, Reg, Terminator};

pub(crate) fn each_use(inst: &Inst, mut found: impl FnMut(Reg)) {
    let mut see = |operand: &Operand| {
        if let Operand::Reg(reg) = operand {
            found(*reg);
        }
    };
    match inst {
        Inst::Bin { a, b, .. }
        | Inst::FBin { a, b, .. }
        | Inst::Icmp { a, b, .. }
        | Inst::Fcmp { a, b, .. } => {
            see(a);
            see(b);
        }
        Inst::FNeg { a, .. } | Inst::Cast { a, .. } | Inst::Copy { a, .. } => see(a),
        Inst::Select { cond, a, b, .. } => [cond, a, b].into_iter().for_each(see),
        Inst::Alloca { bytes, .. } => see(bytes),
        Inst::TlsAddr { .. }
        | Inst::Fence { .. }
        | Inst::SignalFence
        | Inst::StackSave { .. }
        | Inst::Unsupported { .. } => {}
        Inst::Load { ptr, .. } => see(ptr),
        Inst::Store { value, ptr, .. } => {
            see(value);
            see(ptr);
        }
        Inst::Rmw { ptr, value, .. } => {
            see(ptr);
            see(value);
        }
        Inst::CmpXchg(exchange) => {
            [&exchange.ptr, &exchange.expected, &exchange.new].into_iter().for_each(see);
        }
        Inst::Gep(gep) => {
            see(&gep.base);
            gep.indices.iter().for_each(|(index, _, _)| see(index));
        }
        Inst::MemCopy { dst, src, len, .. } => [dst, src, len].into_iter().for_each(see),
        Inst::MemSet { dst, byte, len, .. } => [dst, byte, len].into_iter().for_each(see),
        Inst::Call { callee, args, .. } => {
            if let Callee::Indirect(operand) = callee {
                see(operand);
            }
            args.iter().for_each(|arg| see(&arg.value));
        }
        Inst::Intrinsic { args, .. } => args.iter().for_each(see),
        Inst::VaStart { list } | Inst::VaEnd { list } | Inst::VaArg { list, .. } => see(list),
        Inst::VaCopy { dst, src } => {
            see(dst);
            see(src);
        }
        Inst::StackRestore { mark } => see(mark),
        Inst::Asm { writes, reads, .. } => {
            writes.iter().for_each(|(operand, _)| see(operand));
            reads.iter().for_each(see);
        }
    }
}

pub(crate) fn each_terminator_use(terminator: &Terminator, mut found: impl FnMut(Reg)) {
    let mut see = |operand: &Operand| {
        if let Operand::Reg(reg) = operand {
            found(*reg);
        }
    };
    match terminator {
        Terminator::CondBr { cond, .. } => see(cond),
        Terminator::Switch { value, .. } => see(value),
        Terminator::IndirectBr { target, .. } => see(target),
        Terminator::Ret { values } => values.iter().for_each(see),
        Terminator::Br(_) | Terminator::Unreachable | Terminator::Unsupported { .. } => {}
    }
}

pub(crate) fn each_def(inst: &Inst, mut found: impl FnMut(Reg)) {
    match inst {
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
        | Inst::StackSave { dst } => found(*dst),
        Inst::CmpXchg(exchange) => {
            found(exchange.old);
            found(exchange.success);
        }
        Inst::Gep(gep) => found(gep.dst),
        Inst::Call { dsts, .. }
        | Inst::Intrinsic { dsts, .. }
        | Inst::Asm { dsts, .. }
        | Inst::Unsupported { dsts, .. } => dsts.iter().copied().for_each(found),
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

pub(crate) fn successors(terminator: &Terminator) -> Vec<raddle_ir::BlockId> {
    match terminator {
        Terminator::Br(target) => vec![*target],
        Terminator::CondBr { then, other, .. } => vec![*then, *other],
        Terminator::Switch { cases, default, .. } => {
            cases.iter().map(|(_, target)| *target).chain([*default]).collect()
        }
        Terminator::IndirectBr { targets, .. } => targets.clone(),
        Terminator::Ret { .. } | Terminator::Unreachable | Terminator::Unsupported { .. } => Vec::new(),
    }
}
