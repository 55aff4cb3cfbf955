//! The registers, operands and places of an instruction, for rewriting them in place.

use crate::{Callee, Inst, Operand, PlaceId, Reg, Terminator};

pub(super) enum Part<'a> {
    Define(&'a mut Reg),
    Use(&'a mut Operand),
    Place(&'a mut PlaceId),
}

pub(super) fn each_part(inst: &mut Inst, mut visit: impl FnMut(Part<'_>)) {
    use Part::{Define, Place, Use};
    match inst {
        Inst::Bin { dst, a, b, .. }
        | Inst::FBin { dst, a, b, .. }
        | Inst::Icmp { dst, a, b, .. }
        | Inst::Fcmp { dst, a, b, .. } => {
            visit(Define(dst));
            visit(Use(a));
            visit(Use(b));
        }
        Inst::FNeg { dst, a, .. } | Inst::Cast { dst, a, .. } | Inst::Copy { dst, a, .. } => {
            visit(Define(dst));
            visit(Use(a));
        }
        Inst::Select { dst, cond, a, b, .. } => {
            visit(Define(dst));
            [cond, a, b].into_iter().for_each(|operand| visit(Use(operand)));
        }
        Inst::Alloca { dst, bytes, .. } => {
            visit(Define(dst));
            visit(Use(bytes));
        }
        Inst::TlsAddr { dst, .. } | Inst::StackSave { dst } => visit(Define(dst)),
        Inst::Load { dst, ptr, place, .. } => {
            visit(Define(dst));
            visit(Use(ptr));
            visit(Place(place));
        }
        Inst::Store { value, ptr, place, .. } => {
            visit(Use(value));
            visit(Use(ptr));
            visit(Place(place));
        }
        Inst::Rmw { dst, ptr, value, place, .. } => {
            visit(Define(dst));
            visit(Use(ptr));
            visit(Use(value));
            visit(Place(place));
        }
        Inst::CmpXchg(x) => {
            visit(Define(&mut x.old));
            visit(Define(&mut x.success));
            [&mut x.ptr, &mut x.expected, &mut x.new].into_iter().for_each(|operand| visit(Use(operand)));
            visit(Place(&mut x.place));
        }
        Inst::Gep(gep) => {
            visit(Define(&mut gep.dst));
            visit(Use(&mut gep.base));
            gep.indices.iter_mut().for_each(|(index, ..)| visit(Use(index)));
        }
        Inst::MemCopy { dst, src, len, dst_place, src_place, .. } => {
            [dst, src, len].into_iter().for_each(|operand| visit(Use(operand)));
            visit(Place(dst_place));
            visit(Place(src_place));
        }
        Inst::MemSet { dst, byte, len, place } => {
            [dst, byte, len].into_iter().for_each(|operand| visit(Use(operand)));
            visit(Place(place));
        }
        Inst::Call { dsts, callee, args } => {
            dsts.iter_mut().for_each(|dst| visit(Define(dst)));
            if let Callee::Indirect(target) = callee {
                visit(Use(target));
            }
            for arg in args {
                visit(Use(&mut arg.value));
                if let Some(place) = &mut arg.place {
                    visit(Place(place));
                }
            }
        }
        Inst::Intrinsic { dsts, args, .. } => {
            dsts.iter_mut().for_each(|dst| visit(Define(dst)));
            args.iter_mut().for_each(|arg| visit(Use(arg)));
        }
        Inst::VaStart { list } | Inst::VaEnd { list } => visit(Use(list)),
        Inst::VaCopy { dst, src } => {
            visit(Use(dst));
            visit(Use(src));
        }
        Inst::VaArg { dst, list, .. } => {
            visit(Define(dst));
            visit(Use(list));
        }
        Inst::StackRestore { mark } => visit(Use(mark)),
        Inst::Asm { dsts, writes, reads, .. } => {
            dsts.iter_mut().for_each(|dst| visit(Define(dst)));
            writes.iter_mut().for_each(|(target, _)| visit(Use(target)));
            reads.iter_mut().for_each(|read| visit(Use(read)));
        }
        Inst::Unsupported { dsts, .. } => dsts.iter_mut().for_each(|dst| visit(Define(dst))),
        Inst::Fence { .. } | Inst::SignalFence => {}
    }
}

pub(super) fn each_terminator_operand(terminator: &mut Terminator, mut visit: impl FnMut(&mut Operand)) {
    match terminator {
        Terminator::CondBr { cond, .. } => visit(cond),
        Terminator::Switch { value, .. } => visit(value),
        Terminator::IndirectBr { target, .. } => visit(target),
        Terminator::Ret { values } => values.iter_mut().for_each(visit),
        Terminator::Br(_) | Terminator::Unreachable | Terminator::Unsupported { .. } => {}
    }
}

pub(super) fn each_terminator_target(
    terminator: &mut Terminator,
    mut visit: impl FnMut(&mut crate::BlockId),
) {
    match terminator {
        Terminator::Br(target) => visit(target),
        Terminator::CondBr { then, other, .. } => {
            visit(then);
            visit(other);
        }
        Terminator::Switch { cases, default, .. } => {
            cases.iter_mut().for_each(|(_, target)| visit(target));
            visit(default);
        }
        Terminator::IndirectBr { targets, .. } => targets.iter_mut().for_each(visit),
        Terminator::Ret { .. } | Terminator::Unreachable | Terminator::Unsupported { .. } => {}
    }
}
