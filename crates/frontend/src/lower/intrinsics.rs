//! LLVM's intrinsic functions, by name without its type suffixes (`llvm.umax.i32` is `umax`).

use raddle_ir::{BinOp, Callee, CastOp, FBinOp, IcmpPred, Inst, IntrinsicOp, MemKind, Operand, PlaceId, Ty};

use super::Lowered;
use super::function::FunctionLowerer;
use super::module::GlobalRef;
use super::places::Extent;
use crate::llvm::{TypeKind, Value};

/// Bytes of a `const volatile` object that are copied one by one.
const LONGEST_OUTSIDE: u64 = 1024;

impl<'m> FunctionLowerer<'_, 'm> {
    pub(super) fn intrinsic(&mut self, inst: Value<'m>, name: &str) -> Lowered<()> {
        let base = base_name(name);
        if let Some(op) = elementwise(base) {
            return self.elementwise(inst, op);
        }
        match base {
            "lifetime.start"
            | "lifetime.end"
            | "invariant.end"
            | "assume"
            | "donothing"
            | "prefetch"
            | "var.annotation"
            | "sideeffect"
            | "experimental.noalias.scope.decl"
            | "pseudoprobe"
            | "x86.sse2.pause"
            | "clear_cache" => Ok(()),
            "expect"
            | "expect.with.probability"
            | "ptr.annotation"
            | "annotation"
            | "ssa.copy"
            | "launder.invariant.group"
            | "strip.invariant.group"
            | "arithmetic.fence"
            | "canonicalize" => self.copy_operand(inst, 0),
            "invariant.start" => self.copy_pieces(inst, &[Operand::Undef]),
            "is.constant" => self.copy_pieces(inst, &[Operand::Const(0)]),
            "objectsize" => self.object_size(inst),
            "get.rounding" | "flt.rounds" => self.copy_pieces(inst, &[Operand::Const(1)]),
            "memcpy" | "memcpy.inline" => self.mem_copy(inst, MemKind::Copy),
            "memmove" => self.mem_copy(inst, MemKind::Move),
            "memset" | "memset.inline" => self.mem_set(inst),
            "threadlocal.address" => self.thread_local_address(inst),
            "stacksave" => {
                let dst = self.slot(inst)?.first;
                self.emit(Inst::StackSave { dst });
                Ok(())
            }
            "stackrestore" => {
                let mark = self.argument(inst, 0)?;
                self.emit(Inst::StackRestore { mark });
                Ok(())
            }
            "va_start" => {
                let list = self.argument(inst, 0)?;
                self.emit(Inst::VaStart { list });
                Ok(())
            }
            "va_end" => {
                let list = self.argument(inst, 0)?;
                self.emit(Inst::VaEnd { list });
                Ok(())
            }
            "va_copy" => {
                let (dst, src) = (self.argument(inst, 0)?, self.argument(inst, 1)?);
                self.emit(Inst::VaCopy { dst, src });
                Ok(())
            }
            "trap" | "ubsantrap" | "debugtrap" => {
                let callee = Callee::Direct(self.module.library_function("abort"));
                self.emit(Inst::Call { dsts: Vec::new(), callee, args: Vec::new() });
                Ok(())
            }
            "lrint" | "llrint" => self.round_to_int(inst, IntrinsicOp::Rint),
            "lround" | "llround" => self.round_to_int(inst, IntrinsicOp::Round),
            "ptrmask" => self.pointer_mask(inst),
            // Processor instructions without operands in memory: known only by name, like inline assembly.
            "readcyclecounter" | "x86.rdtsc" | "x86.sse2.mfence" | "x86.sse2.lfence" | "x86.sse.sfence" => {
                let dsts = self.slot(inst).map(|slot| slot.regs()).unwrap_or_default();
                let text = self.module.symbol(name);
                self.emit(Inst::Asm { dsts, text, writes: Vec::new(), reads: Vec::new() });
                Ok(())
            }
            "x86.sse2.pmovmskb.128" | "x86.avx2.pmovmskb" | "x86.sse.movmsk.ps" | "x86.sse2.movmsk.pd" => {
                self.sign_bits(inst)
            }
            "x86.sse2.pslli.w" | "x86.sse2.pslli.d" | "x86.sse2.pslli.q" => self.shift(inst, BinOp::Shl),
            "x86.sse2.psrli.w" | "x86.sse2.psrli.d" | "x86.sse2.psrli.q" => self.shift(inst, BinOp::LShr),
            "x86.sse2.psrai.w" | "x86.sse2.psrai.d" => self.shift(inst, BinOp::AShr),
            _ if base.starts_with("vector.reduce.") => self.reduce(inst, base),
            _ => Err(format!("intrinsic llvm.{base}")),
        }
    }

    /// Pure scalar operations, applied to every lane. The overflow bits follow all values.
    fn elementwise(&mut self, inst: Value<'m>, op: IntrinsicOp) -> Lowered<()> {
        let slot = self.slot(inst)?;
        let first = inst.operand(0).ok_or_else(|| "intrinsic without operands".to_owned())?;
        let types = self.module.types.pieces(first.ty())?;
        let mut inputs = Vec::new();
        for arg in inst.args().into_iter().take(operand_count(op)) {
            inputs.push(self.pieces(arg)?);
        }
        let lanes = types.len();
        for (lane, piece) in types.iter().enumerate() {
            let args: Vec<Operand> =
                inputs.iter().filter_map(|input| input.get(lane).or(input.first()).copied()).collect();
            let mut dsts = vec![slot.reg(lane)];
            if has_overflow_bit(op) {
                dsts.push(slot.reg(lanes + lane));
            }
            self.emit(Inst::Intrinsic { dsts, op, ty: piece.ty, args });
        }
        Ok(())
    }

    fn mem_copy(&mut self, inst: Value<'m>, kind: MemKind) -> Lowered<()> {
        let (dst, src, len) = (self.input(inst, 0)?, self.input(inst, 1)?, self.input(inst, 2)?);
        let outside = self.input(inst, 3)?.int_bits() == Some(1) && self.may_change_outside(src);
        let bytes = len.int_bits().map(|len| len as u64);
        let dst_place = self.place(dst, 0, Extent::Range(bytes));
        let src_place = self.place(src, 0, Extent::Range(bytes));
        let (dst, src, len) = (self.scalar(dst)?, self.scalar(src)?, self.length(len)?);
        self.emit(Inst::MemCopy { kind, dst, src, len, dst_place, src_place });
        match (outside, bytes) {
            (false, _) => Ok(()),
            (true, Some(bytes @ 0..=LONGEST_OUTSIDE)) => {
                self.copy_from_outside(dst, src, bytes, dst_place, src_place);
                Ok(())
            }
            (true, _) => Err("copy of a large object that is `const volatile`".to_owned()),
        }
    }

    /// Once more, byte by byte, each of which something outside may have changed: the copy itself says where pointers come from.
    fn copy_from_outside(&mut self, dst: Operand, src: Operand, bytes: u64, to: PlaceId, from: PlaceId) {
        const BYTE: Ty = Ty::Int(8);
        for offset in 0..bytes as i64 {
            let (read, value) = (self.temporary(BYTE), self.temporary(BYTE));
            let ptr = self.add_bytes(src, offset);
            self.emit(Inst::Load { dst: read, ty: BYTE, ptr, atomic: None, volatile: true, place: from });
            let (dsts, args) = (vec![value], vec![Operand::Reg(read)]);
            self.emit(Inst::Intrinsic { dsts, op: IntrinsicOp::Outside, ty: BYTE, args });
            let (value, ptr) = (Operand::Reg(value), self.add_bytes(dst, offset));
            self.emit(Inst::Store { ty: BYTE, value, ptr, atomic: None, volatile: true, place: to });
        }
    }

    fn mem_set(&mut self, inst: Value<'m>) -> Lowered<()> {
        let (dst, byte, len) = (self.input(inst, 0)?, self.input(inst, 1)?, self.input(inst, 2)?);
        let place = self.place(dst, 0, Extent::Range(len.int_bits().map(|len| len as u64)));
        let (dst, byte, len) = (self.scalar(dst)?, self.scalar(byte)?, self.length(len)?);
        self.emit(Inst::MemSet { dst, byte, len, place });
        Ok(())
    }

    fn thread_local_address(&mut self, inst: Value<'m>) -> Lowered<()> {
        let variable = self.input(inst, 0)?;
        let dst = self.slot(inst)?.first;
        match self.module.global_ref(variable)? {
            (GlobalRef::ThreadLocal(global), 0) => {
                self.emit(Inst::TlsAddr { dst, global });
                Ok(())
            }
            _ => Err("address of a thread-local of an unknown form".to_owned()),
        }
    }

    /// Nothing is known about the object: the answer that the program must expect.
    fn object_size(&mut self, inst: Value<'m>) -> Lowered<()> {
        let want_minimum = self.input(inst, 1)?.int_bits() == Some(1);
        let ty = self.module.types.scalar(inst.ty())?;
        let unknown = if want_minimum { 0 } else { super::types::mask(self.bits(ty)) };
        self.copy_pieces(inst, &[Operand::Const(unknown)])
    }

    fn round_to_int(&mut self, inst: Value<'m>, op: IntrinsicOp) -> Lowered<()> {
        let slot = self.slot(inst)?;
        let value = self.input(inst, 0)?;
        let (from, to) = (self.module.types.scalar(value.ty())?, self.module.types.scalar(inst.ty())?);
        let value = self.scalar(value)?;
        let rounded = self.temporary(from);
        self.emit(Inst::Intrinsic { dsts: vec![rounded], op, ty: from, args: vec![value] });
        let a = Operand::Reg(rounded);
        self.emit(Inst::Cast { dst: slot.first, op: CastOp::FpToSi, from, to, a });
        Ok(())
    }

    fn pointer_mask(&mut self, inst: Value<'m>) -> Lowered<()> {
        let (pointer, mask) = (self.input(inst, 0)?, self.input(inst, 1)?);
        let address = self.module.address_type();
        if self.module.types.scalar(mask.ty())? != address {
            return Err("pointer mask of another width".to_owned());
        }
        let (pointer, mask) = (self.scalar(pointer)?, self.scalar(mask)?);
        let bits = self.cast_to(pointer, CastOp::PtrToInt, Ty::Ptr, address);
        let masked = self.binary_to(BinOp::And, address, bits, mask);
        let pointer = self.cast_to(masked, CastOp::IntToPtr, address, Ty::Ptr);
        self.copy_pieces(inst, &[pointer])
    }

    /// All lanes of a vector folded into one scalar, from the first to the last.
    fn reduce(&mut self, inst: Value<'m>, base: &str) -> Lowered<()> {
        let op = base.trim_start_matches("vector.reduce.");
        let args = inst.args();
        let vector = *args.last().ok_or_else(|| "intrinsic without operands".to_owned())?;
        let TypeKind::Vector(_) = vector.ty().kind() else {
            return Err(format!("intrinsic llvm.{base}"));
        };
        let ty = self.module.types.scalar(inst.ty())?;
        let mut lanes = self.pieces(vector)?.into_iter();
        let mut result = match args.len() {
            2 => self.scalar(args[0])?,
            _ => lanes.next().ok_or_else(|| "empty vector".to_owned())?,
        };
        for lane in lanes {
            let dst = self.temporary(ty);
            let (a, b) = (result, lane);
            let inst = match op {
                "add" => Inst::Bin { dst, op: BinOp::Add, ty, a, b },
                "mul" => Inst::Bin { dst, op: BinOp::Mul, ty, a, b },
                "and" => Inst::Bin { dst, op: BinOp::And, ty, a, b },
                "or" => Inst::Bin { dst, op: BinOp::Or, ty, a, b },
                "xor" => Inst::Bin { dst, op: BinOp::Xor, ty, a, b },
                "fadd" => Inst::FBin { dst, op: FBinOp::Add, ty, a, b },
                "fmul" => Inst::FBin { dst, op: FBinOp::Mul, ty, a, b },
                "smax" | "smin" | "umax" | "umin" => {
                    let pred = match op {
                        "smax" => IcmpPred::Sgt,
                        "smin" => IcmpPred::Slt,
                        "umax" => IcmpPred::Ugt,
                        _ => IcmpPred::Ult,
                    };
                    let cond = self.temporary(Ty::Int(1));
                    self.emit(Inst::Icmp { dst: cond, pred, ty, a, b });
                    Inst::Select { dst, ty, cond: Operand::Reg(cond), a, b }
                }
                _ => return Err(format!("intrinsic llvm.{base}")),
            };
            self.emit(inst);
            result = Operand::Reg(dst);
        }
        self.copy_pieces(inst, &[result])
    }

    /// The sign bits of all lanes as one integer, the first lane lowest.
    fn sign_bits(&mut self, inst: Value<'m>) -> Lowered<()> {
        let vector = self.input(inst, 0)?;
        let types = self.module.types.pieces(vector.ty())?;
        let to = self.module.types.scalar(inst.ty())?;
        let lanes = self.pieces(vector)?;
        let mut result = Operand::Const(0);
        for (index, (lane, piece)) in lanes.into_iter().zip(types.iter()).enumerate() {
            let width = self.bits(piece.ty);
            let ty = Ty::Int(width as u8);
            let bits = self.convert(lane, piece.ty, ty);
            let sign = self.binary_to(BinOp::LShr, ty, bits, Operand::Const(u128::from(width - 1)));
            let sign = self.convert(sign, ty, to);
            let sign = self.binary_to(BinOp::Shl, to, sign, Operand::Const(index as u128));
            result = self.binary_to(BinOp::Or, to, result, sign);
        }
        self.copy_pieces(inst, &[result])
    }

    /// All lanes shifted by one constant; by the width or more gives 0 or the sign, in the processor as in the IR.
    fn shift(&mut self, inst: Value<'m>, op: BinOp) -> Lowered<()> {
        let (vector, amount) = (self.input(inst, 0)?, self.input(inst, 1)?);
        let amount = amount.int_bits().ok_or_else(|| "vector shift by a variable amount".to_owned())?;
        let (slot, types) = (self.slot(inst)?, self.module.types.pieces(inst.ty())?);
        let lanes = self.pieces(vector)?;
        for (lane, piece) in types.iter().enumerate() {
            let b = Operand::Const(amount.min(u128::from(self.bits(piece.ty))));
            self.emit(Inst::Bin { dst: slot.reg(lane), op, ty: piece.ty, a: lanes[lane], b });
        }
        Ok(())
    }

    fn argument(&mut self, inst: Value<'m>, index: u32) -> Lowered<Operand> {
        let value = self.input(inst, index)?;
        self.scalar(value)
    }
}

/// `llvm.memcpy.p0.p0.i64` is `memcpy`.
fn base_name(name: &str) -> &str {
    let mut base = name.strip_prefix("llvm.").unwrap_or(name);
    while let Some((stem, last)) = base.rsplit_once('.') {
        if !is_type_suffix(last) {
            break;
        }
        base = stem;
    }
    base
}

fn is_type_suffix(part: &str) -> bool {
    if part == "bf16" {
        return true;
    }
    let mut chars = part.chars();
    match chars.next() {
        Some('i' | 'f' | 'p') => part.len() > 1 && chars.all(|c| c.is_ascii_digit()),
        // `v4i32`, `v2f64`.
        Some('v') => chars.next().is_some_and(|c| c.is_ascii_digit()),
        _ => false,
    }
}

fn elementwise(base: &str) -> Option<IntrinsicOp> {
    Some(match base {
        "bswap" => IntrinsicOp::Bswap,
        "bitreverse" => IntrinsicOp::BitReverse,
        "ctpop" => IntrinsicOp::CtPop,
        "ctlz" => IntrinsicOp::CtLz,
        "cttz" => IntrinsicOp::CtTz,
        "fshl" => IntrinsicOp::Fshl,
        "fshr" => IntrinsicOp::Fshr,
        "abs" => IntrinsicOp::Abs,
        "smin" => IntrinsicOp::SMin,
        "smax" => IntrinsicOp::SMax,
        "umin" => IntrinsicOp::UMin,
        "umax" => IntrinsicOp::UMax,
        "sadd.with.overflow" => IntrinsicOp::SAddOverflow,
        "uadd.with.overflow" => IntrinsicOp::UAddOverflow,
        "ssub.with.overflow" => IntrinsicOp::SSubOverflow,
        "usub.with.overflow" => IntrinsicOp::USubOverflow,
        "smul.with.overflow" => IntrinsicOp::SMulOverflow,
        "umul.with.overflow" => IntrinsicOp::UMulOverflow,
        "sadd.sat" => IntrinsicOp::SAddSat,
        "uadd.sat" => IntrinsicOp::UAddSat,
        "ssub.sat" => IntrinsicOp::SSubSat,
        "usub.sat" => IntrinsicOp::USubSat,
        "fabs" => IntrinsicOp::FAbs,
        "sqrt" => IntrinsicOp::Sqrt,
        "floor" => IntrinsicOp::Floor,
        "ceil" => IntrinsicOp::Ceil,
        "trunc" => IntrinsicOp::FTrunc,
        "rint" | "nearbyint" => IntrinsicOp::Rint,
        "round" => IntrinsicOp::Round,
        "roundeven" => IntrinsicOp::RoundEven,
        "copysign" => IntrinsicOp::CopySign,
        "minnum" => IntrinsicOp::FMin,
        "maxnum" => IntrinsicOp::FMax,
        "fma" => IntrinsicOp::Fma,
        "fmuladd" => IntrinsicOp::MulAdd,
        "pow" => IntrinsicOp::Pow,
        "powi" => IntrinsicOp::Powi,
        "exp" => IntrinsicOp::Exp,
        "exp2" => IntrinsicOp::Exp2,
        "log" => IntrinsicOp::Log,
        "log2" => IntrinsicOp::Log2,
        "log10" => IntrinsicOp::Log10,
        "sin" => IntrinsicOp::Sin,
        "cos" => IntrinsicOp::Cos,
        "is.fpclass" => IntrinsicOp::IsFpClass,
        _ => return None,
    })
}

/// Operands that carry a value; flags of the compiler (`is_zero_poison`) follow them.
fn operand_count(op: IntrinsicOp) -> usize {
    match op {
        IntrinsicOp::Bswap
        | IntrinsicOp::BitReverse
        | IntrinsicOp::CtPop
        | IntrinsicOp::CtLz
        | IntrinsicOp::CtTz
        | IntrinsicOp::Abs
        | IntrinsicOp::FAbs
        | IntrinsicOp::Sqrt
        | IntrinsicOp::Floor
        | IntrinsicOp::Ceil
        | IntrinsicOp::FTrunc
        | IntrinsicOp::Rint
        | IntrinsicOp::Round
        | IntrinsicOp::RoundEven
        | IntrinsicOp::Exp
        | IntrinsicOp::Exp2
        | IntrinsicOp::Log
        | IntrinsicOp::Log2
        | IntrinsicOp::Log10
        | IntrinsicOp::Sin
        | IntrinsicOp::Cos => 1,
        IntrinsicOp::Fshl | IntrinsicOp::Fshr | IntrinsicOp::Fma | IntrinsicOp::MulAdd => 3,
        _ => 2,
    }
}

fn has_overflow_bit(op: IntrinsicOp) -> bool {
    matches!(
        op,
        IntrinsicOp::SAddOverflow
            | IntrinsicOp::UAddOverflow
            | IntrinsicOp::SSubOverflow
            | IntrinsicOp::USubOverflow
            | IntrinsicOp::SMulOverflow
            | IntrinsicOp::UMulOverflow
    )
}
