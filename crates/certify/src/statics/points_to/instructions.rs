//! One rule per instruction, calls excepted.

use super::super::Refusal;
use super::super::code::{At, Code};
use super::super::flow::Definition;
use super::super::intervals::single;
use super::super::library::anywhere_unknown;
use super::super::patterns::{scaled, strided, sum};
use super::super::terms::constant_in;
use super::sets::Places;
use super::strides::residue;
use super::{RULE, calls};
use raddle_base::Id;
use raddle_facts::{Interval, ObjectId, ObjectKind, Offsets, Root};
use raddle_ir::{
    BinOp, CastOp, DataModel, Function, FunctionId, Gep, Inst, IntrinsicOp, Operand, Reg, RmwOp, Terminator,
    Ty,
};

pub(crate) fn check(code: &Code<'_>, carried: &[bool], at: At, inst: &Inst) -> Result<(), Refusal> {
    let f = at.function;
    let flow = |dst: Reg, places: &[(ObjectId, Offsets)]| {
        if carried[dst.index()] { code.flows_to(at, dst, places) } else { Ok(()) }
    };
    let word = code.pointer_bytes();
    match inst {
        Inst::Copy { dst, a, .. } => flow(*dst, &code.held(at, *a)?),
        Inst::Select { dst, a, b, .. } => {
            flow(*dst, &code.held(at, *a)?)?;
            flow(*dst, &code.held(at, *b)?)
        }
        Inst::Bin { dst, op, ty, a, b } => flow(*dst, &binary(code, at, *op, *ty, *a, *b)?),
        Inst::Cast { dst, op, from, to, a } => flow(*dst, &cast(code, at, *op, *from, *to, *a)?),
        Inst::Gep(gep) => flow(gep.dst, &address(code, at, gep)?),
        Inst::Intrinsic { dsts, op, args, .. } => match dsts.first() {
            Some(dst) => flow(*dst, &intrinsic(code, at, *op, args)?),
            None => Ok(()),
        },
        Inst::Alloca { dst, .. } => flow(*dst, &object(code, at, ObjectKind::Stack(code.site(at)))?),
        Inst::TlsAddr { dst, global } => flow(*dst, &object(code, at, ObjectKind::ThreadLocal(*global))?),
        Inst::Load { dst, ty, ptr, .. } => {
            let found = code.loaded(&code.held(at, *ptr)?, ty.access_bytes(word));
            match code.carries(*ty) {
                // What memory must hold there, or all that it may.
                true => flow(*dst, &found).or_else(|refusal| match equal_to(code, at, *dst)? {
                    Some(stored) => flow(*dst, &stored),
                    None => Err(refusal),
                }),
                false => Ok(()),
            }
        }
        Inst::Store { ty, value, ptr, .. } => store(code, at, *ptr, *value, *ty),
        Inst::Rmw { dst, op, ty, ptr, value, .. } => {
            let places = code.held(at, *ptr)?;
            let old = code.loaded(&places, ty.access_bytes(word));
            if code.carries(*ty) {
                flow(*dst, &old)?;
            }
            match op {
                RmwOp::Xchg | RmwOp::Max | RmwOp::Min | RmwOp::UMax | RmwOp::UMin => {
                    store(code, at, *ptr, *value, *ty)
                }
                RmwOp::Add | RmwOp::Sub | RmwOp::And | RmwOp::Nand | RmwOp::Or | RmwOp::Xor => {
                    // Narrower than a pointer: a number, as in `binary`.
                    if !is_mixing(code, *op, *ty) {
                        return Ok(());
                    }
                    let mut new = code.lost(&old);
                    new.extend(code.lost(&code.held(at, *value)?));
                    stored(code, at, &places, ty.access_bytes(word), &new)
                }
                RmwOp::FAdd | RmwOp::FSub | RmwOp::FMax | RmwOp::FMin => Ok(()),
            }
        }
        Inst::CmpXchg(x) => {
            store(code, at, x.ptr, x.new, x.ty)?;
            let old = code.loaded(&code.held(at, x.ptr)?, x.ty.access_bytes(word));
            if code.carries(x.ty) { flow(x.old, &old) } else { Ok(()) }
        }
        Inst::MemCopy { dst, src, len, .. } => {
            let bytes = code.at_most(f, *len, Ty::Int(64));
            copied(code, at, &code.held(at, *dst)?, &code.held(at, *src)?, bytes)
        }
        Inst::Call { dsts, args, .. } => calls::check(code, carried, at, dsts, args),
        Inst::VaStart { list } => {
            let area = variadic_area(code, at)?;
            for field in list_pointers(code) {
                let place = code.moved(&code.held(at, *list)?, Offsets::exact(*field));
                stored(code, at, &place, word, &area)?;
            }
            Ok(())
        }
        Inst::VaCopy { dst, src } => {
            copied(code, at, &code.held(at, *dst)?, &code.held(at, *src)?, code.list_bytes())
        }
        Inst::VaArg { dst, ty, list } => {
            let first = list_pointers(code).first().copied().unwrap_or(0);
            let place = code.moved(&code.held(at, *list)?, Offsets::exact(first));
            let anywhere = code.lost(&code.loaded(&place, word));
            stored(code, at, &place, word, &anywhere)?;
            flow(*dst, &code.loaded(&anywhere, ty.access_bytes(word)))
        }
        Inst::Asm { dsts, writes, reads, .. } => {
            let mut out = object_at(code, at, ObjectKind::Unknown, anywhere_unknown())?;
            for read in reads {
                out.extend(code.lost(&code.held(at, *read)?));
            }
            for dst in dsts {
                if code.is_wide(code.program.functions[f].regs[*dst].ty) {
                    flow(*dst, &out)?;
                }
            }
            for (target, bytes) in writes {
                if *bytes >= u64::from(word) {
                    let bytes = u32::try_from(*bytes).unwrap_or(u32::MAX);
                    stored(code, at, &code.held(at, *target)?, bytes, &out)?;
                }
            }
            Ok(())
        }
        // Reached, it is refused as a gap.
        Inst::Unsupported { .. } => Ok(()),
        Inst::FBin { .. }
        | Inst::FNeg { .. }
        | Inst::Icmp { .. }
        | Inst::Fcmp { .. }
        | Inst::Fence { .. }
        | Inst::SignalFence
        | Inst::MemSet { .. }
        | Inst::VaEnd { .. }
        | Inst::StackSave { .. }
        | Inst::StackRestore { .. } => {
            let mut result = Ok(());
            inst.each_operand(|operand| {
                if result.is_ok() {
                    result = code.held(at, operand).map(|_| ());
                }
            });
            result
        }
    }
}

/// Per register: whether its value may go on to memory, to another function, or into an address. What the facts say of the others
/// does not matter.
pub(crate) fn carried(code: &Code<'_>, function: &Function) -> Vec<bool> {
    let mut carried = vec![false; function.regs.len()];
    let mut passes: Vec<(Reg, Reg)> = Vec::new();
    for block in function.blocks.values() {
        for phi in &block.phis {
            phi.incoming.iter().for_each(|(_, from)| pass(&mut passes, *from, phi.dst));
        }
        let mut mark = |operand: Operand| {
            if let Operand::Reg(reg) = operand {
                carried[reg.index()] = true;
            }
        };
        for inst in &block.insts {
            match inst {
                Inst::Copy { dst, a, .. } => pass(&mut passes, *a, *dst),
                Inst::Bin { op, ty, .. } if !gives_address(code, *op, *ty) => {}
                Inst::Bin { dst, a, b, .. } => {
                    [*a, *b].iter().for_each(|from| pass(&mut passes, *from, *dst))
                }
                Inst::Select { dst, a, b, .. } => {
                    [*a, *b].iter().for_each(|from| pass(&mut passes, *from, *dst));
                }
                Inst::Cast { dst, op, a, .. } => match op {
                    CastOp::IntToPtr => mark(*a),
                    _ => pass(&mut passes, *a, *dst),
                },
                Inst::Intrinsic { dsts, args, .. } => {
                    for dst in dsts {
                        args.iter().for_each(|from| pass(&mut passes, *from, *dst));
                    }
                }
                Inst::Gep(gep) => {
                    mark(gep.base);
                    if matches!(
                        gep.base,
                        Operand::Const(_) | Operand::Null | Operand::Undef | Operand::Block(_)
                    ) {
                        gep.indices.iter().for_each(|(index, ..)| mark(*index));
                    }
                }
                // Compared, used as a size or a byte: a number.
                Inst::Icmp { .. } | Inst::Fcmp { .. } | Inst::Alloca { .. } => {}
                Inst::MemSet { dst, .. } => mark(*dst),
                Inst::MemCopy { dst, src, .. } => {
                    mark(*dst);
                    mark(*src);
                }
                other => other.each_operand(&mut mark),
            }
        }
        match &block.terminator {
            Terminator::Ret { .. } | Terminator::IndirectBr { .. } => {
                block.terminator.each_operand(&mut mark)
            }
            _ => {}
        }
    }
    // Backwards from what is carried on.
    let mut sources: Vec<Vec<Reg>> = vec![Vec::new(); function.regs.len()];
    passes.iter().for_each(|(from, to)| sources[to.index()].push(*from));
    let mut work: Vec<usize> = (0..carried.len()).filter(|at| carried[*at]).collect();
    while let Some(at) = work.pop() {
        for from in &sources[at] {
            if !std::mem::replace(&mut carried[from.index()], true) {
                work.push(from.index());
            }
        }
    }
    carried
}

fn pass(passes: &mut Vec<(Reg, Reg)>, from: Operand, to: Reg) {
    if let Operand::Reg(reg) = from {
        passes.push((reg, to));
    }
}

/// The start of an object that must be among the facts.
pub(super) fn object(code: &Code<'_>, at: At, kind: ObjectKind) -> Result<Places, Refusal> {
    object_at(code, at, kind, Offsets::exact(0))
}

pub(super) fn object_at(
    code: &Code<'_>,
    at: At,
    kind: ObjectKind,
    offsets: Offsets,
) -> Result<Places, Refusal> {
    match code.object(kind) {
        Some(object) => Ok(vec![(object, offsets)]),
        None => code.refuse_at(at, "objects", format!("{kind:?} is missing")),
    }
}

fn store(code: &Code<'_>, at: At, ptr: Operand, value: Operand, ty: Ty) -> Result<(), Refusal> {
    let places = code.held(at, ptr)?;
    let held = code.held(at, value)?;
    if !code.carries(ty) {
        return Ok(());
    }
    stored(code, at, &places, ty.access_bytes(code.pointer_bytes()), &held)
}

pub(super) fn stored(
    code: &Code<'_>,
    at: At,
    places: &[(ObjectId, Offsets)],
    bytes: u32,
    values: &[(ObjectId, Offsets)],
) -> Result<(), Refusal> {
    if code.holds(places, bytes, values) {
        return Ok(());
    }
    let named: Vec<_> = places.iter().map(|(object, at)| (code.kind(*object), *at)).collect();
    code.refuse_at(at, RULE, format!("memory may point to more: {bytes} bytes at {named:?} hold {values:?}"))
}

pub(super) fn copied(
    code: &Code<'_>,
    at: At,
    to: &[(ObjectId, Offsets)],
    from: &[(ObjectId, Offsets)],
    bytes: u64,
) -> Result<(), Refusal> {
    if bytes == 0 || code.holds_copy(to, from, bytes) {
        return Ok(());
    }
    code.refuse_at(at, RULE, format!("a copy of {bytes} bytes carries addresses that are not there"))
}

/// The places of what a register is said to be equal to: another register of the function or the address of a global, moved.
fn equal_to(code: &Code<'_>, at: At, dst: Reg) -> Result<Option<Places>, Refusal> {
    let term = code.reg_term(at.function, dst);
    let value = match (term.root, term.index) {
        (Root::Reg(owner, reg), None) if owner == at.function && reg != dst => Operand::Reg(reg),
        (Root::Global(global), None) => Operand::Global(global, 0),
        _ => return Ok(None),
    };
    Ok(Some(code.moved(&code.held(at, value)?, Offsets::exact(term.offset))))
}

fn interval(code: &Code<'_>, function: FunctionId, operand: Operand, ty: Ty) -> Interval {
    match (constant_in(&code.facts.values, function, operand, ty), operand) {
        (Some(number), _) => single(number),
        (None, Operand::Reg(reg)) => code.facts.values.intervals[function][reg.index()],
        (None, _) => Interval::ANY,
    }
}

pub(super) fn number(code: &Code<'_>, function: FunctionId, operand: Operand, ty: Ty) -> Option<i64> {
    let interval = interval(code, function, operand, ty);
    (interval.low == interval.high && !matches!(operand, Operand::Global(..) | Operand::Function(_)))
        .then_some(interval.low)
}

fn binary(code: &Code<'_>, at: At, op: BinOp, ty: Ty, a: Operand, b: Operand) -> Result<Places, Refusal> {
    let f = at.function;
    let (left, right) = (code.held(at, a)?, code.held(at, b)?);
    if !gives_address(code, op, ty) {
        return Ok(Places::new());
    }
    if ty.access_bytes(code.pointer_bytes()) < code.pointer_bytes() {
        let mut both = code.lost(&left);
        both.extend(code.lost(&right));
        return Ok(both);
    }
    let by = |number: i64| Offsets::exact(number);
    Ok(match (op, number(code, f, a, ty), number(code, f, b, ty)) {
        (BinOp::Add, _, Some(n)) => code.moved(&left, by(n)),
        (BinOp::Add, Some(n), _) => code.moved(&right, by(n)),
        (BinOp::Sub, _, Some(n)) => code.moved(&left, by(n.wrapping_neg())),
        // How many elements lie between two addresses: a number.
        (BinOp::SDiv, _, Some(2..)) if is_difference(code, f, a) => Places::new(),
        _ => {
            let mut both = code.lost(&left);
            both.extend(code.lost(&right));
            both
        }
    })
}

/// Whether an operation on addresses, or on pieces of them, may give one: a piece that is moved and masked still is one, computed with it is
/// a number.
fn gives_address(code: &Code<'_>, op: BinOp, ty: Ty) -> bool {
    let moves = match op {
        BinOp::Shl | BinOp::LShr | BinOp::AShr | BinOp::And | BinOp::Or | BinOp::Xor => true,
        BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem => false,
    };
    moves || ty.access_bytes(code.pointer_bytes()) >= code.pointer_bytes()
}

/// Whether the result of an atomic operation of this width may be an address: as in `binary`.
fn is_mixing(code: &Code<'_>, op: RmwOp, ty: Ty) -> bool {
    ty.access_bytes(code.pointer_bytes()) >= code.pointer_bytes() || !matches!(op, RmwOp::Add | RmwOp::Sub)
}

fn is_difference(code: &Code<'_>, function: FunctionId, operand: Operand) -> bool {
    let Operand::Reg(reg) = operand else { return false };
    let Definition::Inst(block, index) = code.flows[function].definition(reg) else { return false };
    match &code.program.functions[function].blocks[block].insts[index] {
        Inst::Bin { op: BinOp::Sub, a, b, .. } => {
            was_pointer(code, function, *a) && was_pointer(code, function, *b)
        }
        _ => false,
    }
}

fn was_pointer(code: &Code<'_>, function: FunctionId, operand: Operand) -> bool {
    match operand {
        Operand::Global(..) => true,
        Operand::Reg(reg) => match code.flows[function].definition(reg) {
            Definition::Inst(block, index) => {
                let inst = &code.program.functions[function].blocks[block].insts[index];
                matches!(inst, Inst::Cast { op: CastOp::PtrToInt, to, .. } if code.is_wide(*to))
            }
            _ => false,
        },
        _ => false,
    }
}

fn cast(code: &Code<'_>, at: At, op: CastOp, from: Ty, to: Ty, a: Operand) -> Result<Places, Refusal> {
    let held = code.held(at, a)?;
    let word = code.pointer_bytes();
    Ok(match op {
        CastOp::Trunc | CastOp::PtrToInt
            if to.access_bytes(word) < word && from.access_bytes(word) >= word =>
        {
            code.lost(&held)
        }
        CastOp::Trunc
        | CastOp::ZExt
        | CastOp::SExt
        | CastOp::PtrToInt
        | CastOp::IntToPtr
        | CastOp::Bitcast => held,
        CastOp::FpTrunc
        | CastOp::FpExt
        | CastOp::FpToUi
        | CastOp::FpToSi
        | CastOp::UiToFp
        | CastOp::SiToFp => Places::new(),
    })
}

fn address(code: &Code<'_>, at: At, gep: &Gep) -> Result<Places, Refusal> {
    let base = code.held(at, gep.base)?;
    match gep.base {
        Operand::Global(..) | Operand::Function(_) | Operand::Reg(_) => {
            let mut by = Offsets::exact(gep.offset);
            for (index, ty, scale) in &gep.indices {
                code.held(at, *index)?;
                let range = interval(code, at.function, *index, *ty);
                let numbers = scaled(range.low, range.high, *scale);
                let residue = residue(code, at.function, *index);
                by = sum(
                    by,
                    residue.map_or(numbers, |(first, divisor)| strided(numbers, first, divisor, *scale)),
                );
            }
            Ok(code.moved(&base, by))
        }
        Operand::Const(_) | Operand::Null | Operand::Undef | Operand::Block(_) => {
            let mut all = Places::new();
            for (index, ..) in &gep.indices {
                all.extend(code.lost(&code.held(at, *index)?));
            }
            Ok(all)
        }
    }
}

fn intrinsic(code: &Code<'_>, at: At, op: IntrinsicOp, args: &[Operand]) -> Result<Places, Refusal> {
    let mut all = Places::new();
    for arg in args {
        all.extend(code.held(at, *arg)?);
    }
    Ok(match op {
        IntrinsicOp::SMin
        | IntrinsicOp::SMax
        | IntrinsicOp::UMin
        | IntrinsicOp::UMax
        | IntrinsicOp::Outside => all,
        IntrinsicOp::Bswap
        | IntrinsicOp::BitReverse
        | IntrinsicOp::Fshl
        | IntrinsicOp::Fshr
        | IntrinsicOp::Abs
        | IntrinsicOp::SAddOverflow
        | IntrinsicOp::UAddOverflow
        | IntrinsicOp::SSubOverflow
        | IntrinsicOp::USubOverflow
        | IntrinsicOp::SMulOverflow
        | IntrinsicOp::UMulOverflow
        | IntrinsicOp::SAddSat
        | IntrinsicOp::UAddSat
        | IntrinsicOp::SSubSat
        | IntrinsicOp::USubSat => code.lost(&all),
        IntrinsicOp::CtPop
        | IntrinsicOp::CtLz
        | IntrinsicOp::CtTz
        | IntrinsicOp::FAbs
        | IntrinsicOp::Sqrt
        | IntrinsicOp::Floor
        | IntrinsicOp::Ceil
        | IntrinsicOp::FTrunc
        | IntrinsicOp::Rint
        | IntrinsicOp::Round
        | IntrinsicOp::RoundEven
        | IntrinsicOp::CopySign
        | IntrinsicOp::FMin
        | IntrinsicOp::FMax
        | IntrinsicOp::Fma
        | IntrinsicOp::MulAdd
        | IntrinsicOp::Pow
        | IntrinsicOp::Powi
        | IntrinsicOp::Exp
        | IntrinsicOp::Exp2
        | IntrinsicOp::Log
        | IntrinsicOp::Log2
        | IntrinsicOp::Log10
        | IntrinsicOp::Sin
        | IntrinsicOp::Cos
        | IntrinsicOp::IsFpClass => Places::new(),
    })
}

/// A pointer to the variadic arguments of the function: one object, at any offset.
pub(super) fn variadic_area(code: &Code<'_>, at: At) -> Result<Places, Refusal> {
    let named = code.program.functions[at.function].params.len() as u32;
    object_at(code, at, ObjectKind::Parameter(at.function, named), Offsets::ANY)
}

/// Where a `va_list` keeps its pointers.
fn list_pointers(code: &Code<'_>) -> &'static [i64] {
    match code.program.data_model {
        DataModel::Lp64 => &[8, 16],
        DataModel::Ilp32 => &[0],
    }
}
