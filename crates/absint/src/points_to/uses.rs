//! How the registers of a function are used. Which are addresses that go through memory step by step, and which registers are looked at: computed with, compared, converted, used as an index or a size, returned, or passed on
//! as an integer. An integer that is loaded and only stored again is part of a copy, and may be an address or a piece of one.

use raddle_base::Id;
use raddle_ir::{
    Callee, CastOp, DebugType, Function, FunctionId, Inst, Operand, Program, Reg, RmwOp, Terminator,
};

/// Per register of the function.
pub(super) fn looked_at(program: &Program, function: &Function) -> Vec<bool> {
    let mut result = vec![false; function.regs.len()];
    // A register that only passes its value on is looked at if its result is.
    let mut passes: Vec<(Reg, Reg)> = Vec::new();
    let mut mark = |operand: Operand| {
        if let Operand::Reg(reg) = operand {
            result[reg.index()] = true;
        }
    };
    for block in function.blocks.values() {
        for phi in &block.phis {
            passes.extend(phi.incoming.iter().filter_map(|(_, from)| pass(*from, phi.dst)));
        }
        for inst in &block.insts {
            match inst {
                Inst::Copy { dst, a, .. } => passes.extend(pass(*a, *dst)),
                Inst::Select { dst, cond, a, b, .. } => {
                    mark(*cond);
                    passes.extend(pass(*a, *dst).into_iter().chain(pass(*b, *dst)));
                }
                Inst::Cast { dst, op, a, .. } => match op {
                    // Same bits: an integer that becomes a pointer is no number.
                    CastOp::IntToPtr => {}
                    CastOp::PtrToInt | CastOp::Bitcast => passes.extend(pass(*a, *dst)),
                    CastOp::Trunc
                    | CastOp::ZExt
                    | CastOp::SExt
                    | CastOp::FpTrunc
                    | CastOp::FpExt
                    | CastOp::FpToUi
                    | CastOp::FpToSi
                    | CastOp::UiToFp
                    | CastOp::SiToFp => mark(*a),
                },
                Inst::Store { ptr, .. } => mark(*ptr),
                Inst::CmpXchg(x) => mark(x.ptr),
                Inst::Rmw { op: RmwOp::Xchg, ptr, .. } => mark(*ptr),
                Inst::Call { callee, args, .. } => {
                    for (index, arg) in args.iter().enumerate() {
                        if takes_integer(program, *callee, index) {
                            mark(arg.value);
                        }
                    }
                }
                Inst::Asm { writes, .. } => writes.iter().for_each(|(target, _)| mark(*target)),
                _ => inst.each_operand(&mut mark),
            }
        }
        match &block.terminator {
            Terminator::IndirectBr { .. } => {}
            other => other.each_operand(&mut mark),
        }
    }
    spread(passes, &mut result);
    for (is_looked_at, is_address) in result.iter_mut().zip(become_addresses(function)) {
        *is_looked_at &= !is_address;
    }
    result
}

/// Per register: an integer is computed from it that then becomes a pointer.
fn become_addresses(function: &Function) -> Vec<bool> {
    let mut result = vec![false; function.regs.len()];
    let mut passes: Vec<(Reg, Reg)> = Vec::new();
    for block in function.blocks.values() {
        for phi in &block.phis {
            passes.extend(phi.incoming.iter().filter_map(|(_, from)| pass(*from, phi.dst)));
        }
        for inst in &block.insts {
            match inst {
                Inst::Cast { op: CastOp::IntToPtr, a: Operand::Reg(from), .. } => result[from.index()] = true,
                Inst::Cast { op: CastOp::ZExt | CastOp::SExt | CastOp::Bitcast, dst, a, .. }
                | Inst::Copy { dst, a, .. } => passes.extend(pass(*a, *dst)),
                Inst::Bin { dst, a, b, .. } | Inst::Select { dst, a, b, .. } => {
                    passes.extend(pass(*a, *dst).into_iter().chain(pass(*b, *dst)));
                }
                _ => {}
            }
        }
    }
    spread(passes, &mut result);
    result
}

fn pass(from: Operand, to: Reg) -> Option<(Reg, Reg)> {
    match from {
        Operand::Reg(reg) => Some((reg, to)),
        _ => None,
    }
}

/// Backwards from what is looked at.
fn spread(mut passes: Vec<(Reg, Reg)>, result: &mut [bool]) {
    passes.sort_unstable_by_key(|(_, to)| *to);
    let mut work: Vec<Reg> = passes.iter().map(|(_, to)| *to).filter(|to| result[to.index()]).collect();
    work.dedup();
    while let Some(to) = work.pop() {
        let first = passes.partition_point(|(_, other)| *other < to);
        for (from, _) in passes[first..].iter().take_while(|(_, other)| *other == to) {
            if !std::mem::replace(&mut result[from.index()], true) {
                work.push(*from);
            }
        }
    }
}

/// Whether the parameter was declared as a number: it is not a piece of a structure or union.
fn takes_integer(program: &Program, callee: Callee, index: usize) -> bool {
    let Callee::Direct(target) = callee else { return false };
    declared_integer(program, target, index)
}

fn declared_integer(program: &Program, target: FunctionId, index: usize) -> bool {
    let function = &program.functions[target];
    if !function.is_defined() {
        return true;
    }
    let ty = function.params.get(index).and_then(|param| param.debug_type);
    ty.is_some_and(|ty| matches!(program.debug_types[program.strip(ty)], DebugType::Scalar { .. }))
}

/// Per register: it is an address that goes through memory in steps of at most that many bytes; 0 if it does not.
pub(super) fn steps(function: &Function) -> Vec<u64> {
    let mut result = vec![0; function.regs.len()];
    // Pointers that are moved on by a constant.
    let mut moved: Vec<Option<(Reg, u64)>> = vec![None; function.regs.len()];
    for block in function.blocks.values() {
        for inst in &block.insts {
            let Inst::Gep(gep) = inst else { continue };
            let scales = gep.indices.iter().filter(|(index, ..)| matches!(index, Operand::Reg(_)));
            match (scales.map(|(_, _, scale)| scale.unsigned_abs()).min(), gep.base) {
                (Some(step), _) => result[gep.dst.index()] = step,
                (None, Operand::Reg(base)) => {
                    moved[gep.dst.index()] = Some((base, gep.offset.unsigned_abs()));
                }
                (None, _) => {}
            }
        }
    }
    for phi in function.blocks.values().flat_map(|block| &block.phis) {
        for (_, from) in &phi.incoming {
            if let Operand::Reg(from) = from
                && let Some((base, step)) = moved[from.index()]
                && base == phi.dst
            {
                result[phi.dst.index()] = step;
                result[from.index()] = step;
            }
        }
    }
    result
}
