//! Compiler intrinsics, by name: the numbers change between versions of LLVM.

use raddle_ir::{CallArg, Callee, CastOp, Inst, IntrinsicOp, MemKind, Operand, Ty};

use super::Lowered;
use super::function::FunctionLowerer;
use super::module::GlobalRef;
use super::places::Extent;
use crate::llvm::Value;

impl<'m> FunctionLowerer<'_, 'm> {
    pub(super) fn intrinsic(&mut self, inst: Value<'m>, name: &str) -> Lowered<()> {
        let name = name.strip_prefix("llvm.").unwrap_or(name);
        let args = inst.args();
        let arg = |index: usize| args.get(index).copied().ok_or_else(|| "missing operand".to_owned());
        match family(name) {
            "lifetime"
            | "assume"
            | "donothing"
            | "prefetch"
            | "invariant"
            | "experimental.noalias.scope.decl"
            | "var.annotation"
            | "codeview.annotation"
            | "dbg"
            | "pcmarker"
            | "sideeffect"
            | "pseudoprobe" => Ok(()),
            "expect"
            | "expect.with.probability"
            | "launder.invariant.group"
            | "strip.invariant.group"
            | "ptr.annotation"
            | "annotation"
            | "ssa.copy" => self.copy_argument(inst, arg(0)?),
            "is.constant" => self.copy_pieces(inst, vec![Operand::Const(0)]),
            "objectsize" => self.object_size(inst, arg(1)?),
            "memcpy" | "memcpy.inline" => self.copy_bytes(MemKind::Copy, &args),
            "memmove" => self.copy_bytes(MemKind::Move, &args),
            "memset" | "memset.inline" => self.fill_bytes(&args),
            "threadlocal.address" => self.thread_local(inst, arg(0)?),
            "va_start" => {
                let list = self.scalar(arg(0)?)?;
                self.emit(Inst::VaStart { list });
                Ok(())
            }
            "va_end" => {
                let list = self.scalar(arg(0)?)?;
                self.emit(Inst::VaEnd { list });
                Ok(())
            }
            "va_copy" => {
                let (dst, src) = (self.scalar(arg(0)?)?, self.scalar(arg(1)?)?);
                self.emit(Inst::VaCopy { dst, src });
                Ok(())
            }
            "stacksave" => {
                let dst = self.slot(inst)?.first;
                self.emit(Inst::StackSave { dst });
                Ok(())
            }
            "stackrestore" => {
                let mark = self.scalar(arg(0)?)?;
                self.emit(Inst::StackRestore { mark });
                Ok(())
            }
            "trap" | "debugtrap" | "ubsantrap" => self.abort(),
            "ptrmask" => self.mask_pointer(inst, arg(0)?, arg(1)?),
            "fmuladd" => self.pure(inst, IntrinsicOp::Fma, 3),
            "lrint" | "llrint" => self.round_to_integer(inst, IntrinsicOp::Rint),
            "lround" | "llround" => self.round_to_integer(inst, IntrinsicOp::Round),
            other => match pure_op(other) {
                Some((op, operands)) => self.pure(inst, op, operands),
                None => Err(format!("intrinsic {other}")),
            },
        }
    }

    fn copy_argument(&mut self, inst: Value<'m>, arg: Value<'m>) -> Lowered<()> {
        let operands = self.pieces(arg)?;
        self.copy_pieces(inst, operands)
    }

    /// What is not known: the largest value for a maximum, 0 for a minimum.
    fn object_size(&mut self, inst: Value<'m>, minimum: Value<'m>) -> Lowered<()> {
        let bits = self.module.types.layout.bits(inst.ty());
        let unknown = if minimum.int_bits() == Some(1) { 0 } else { super::types::mask(bits as u32) };
        self.copy_pieces(inst, vec![Operand::Const(unknown)])
    }

    fn copy_bytes(&mut self, kind: MemKind, args: &[Value<'m>]) -> Lowered<()> {
        let [to, from, len, ..] = args[..] else { return Err("missing operand".to_owned()) };
        let extent = Extent::bytes(len.int_bits());
        let (dst_place, src_place) = (self.place_of(to, extent), self.place_of(from, extent));
        let (dst, src) = (self.scalar(to)?, self.scalar(from)?);
        let len = self.length(len)?;
        self.emit(Inst::MemCopy { kind, dst, src, len, dst_place, src_place });
        Ok(())
    }

    fn fill_bytes(&mut self, args: &[Value<'m>]) -> Lowered<()> {
        let [to, byte, len, ..] = args[..] else { return Err("missing operand".to_owned()) };
        let place = self.place_of(to, Extent::bytes(len.int_bits()));
        let (dst, byte) = (self.scalar(to)?, self.scalar(byte)?);
        let len = self.length(len)?;
        self.emit(Inst::MemSet { dst, byte, len, place });
        Ok(())
    }

    /// A length as wide as an address.
    fn length(&mut self, len: Value<'m>) -> Lowered<Operand> {
        let from = self.module.types.scalar(len.ty())?;
        let to = self.module.address_type();
        let len = self.scalar(len)?;
        if matches!(len, Operand::Const(_)) {
            return Ok(len);
        }
        let op = if from > to { CastOp::Trunc } else { CastOp::ZExt };
        Ok(self.convert(op, from, to, len))
    }

    fn thread_local(&mut self, inst: Value<'m>, variable: Value<'m>) -> Lowered<()> {
        let (GlobalRef::ThreadLocal(global), 0) = self.module.global_ref(variable)? else {
            return self.copy_argument(inst, variable);
        };
        let dst = self.slot(inst)?.first;
        self.emit(Inst::TlsAddr { dst, global });
        Ok(())
    }

    fn abort(&mut self) -> Lowered<()> {
        let callee = Callee::Direct(self.module.library_function("abort"));
        self.emit(Inst::Call { dsts: Vec::new(), callee, args: Vec::<CallArg>::new() });
        Ok(())
    }

    fn mask_pointer(&mut self, inst: Value<'m>, pointer: Value<'m>, mask: Value<'m>) -> Lowered<()> {
        let ty = self.module.address_type();
        let pointer = self.scalar(pointer)?;
        let mask = self.scalar(mask)?;
        let bits = self.convert(CastOp::PtrToInt, Ty::Ptr, ty, pointer);
        let masked = self.compute(raddle_ir::BinOp::And, ty, bits, mask);
        let back = self.convert(CastOp::IntToPtr, ty, Ty::Ptr, masked);
        self.copy_pieces(inst, vec![back])
    }

    fn round_to_integer(&mut self, inst: Value<'m>, op: IntrinsicOp) -> Lowered<()> {
        let arg = self.input(inst, 0)?;
        let from = self.module.types.scalar(arg.ty())?;
        let to = self.module.types.scalar(inst.ty())?;
        let value = self.scalar(arg)?;
        let rounded = self.temporary(from);
        self.emit(Inst::Intrinsic { dsts: vec![rounded], op, ty: from, args: vec![value] });
        let dst = self.slot(inst)?.first;
        self.emit(Inst::Cast { dst, op: CastOp::FpToSi, from, to, a: Operand::Reg(rounded) });
        Ok(())
    }

    /// An operation on scalars, lane by lane for vectors; further arguments (flags of the compiler) are dropped.
    fn pure(&mut self, inst: Value<'m>, op: IntrinsicOp, operands: usize) -> Lowered<()> {
        let args = inst.args();
        let first = *args.first().ok_or_else(|| "missing operand".to_owned())?;
        let types = self.module.types.pieces(first.ty())?;
        let slot = self.slot(inst)?;
        let results = slot.count as usize / types.len().max(1);
        let mut columns = Vec::new();
        for &arg in args.iter().take(operands) {
            columns.push(self.pieces(arg)?);
        }
        for (lane, piece) in types.iter().enumerate() {
            let args: Vec<Operand> = columns.iter().map(|c| c[if c.len() == 1 { 0 } else { lane }]).collect();
            // Results lie side by side: all values first, then all overflow bits.
            let dsts = (0..results).map(|result| slot.reg(result * types.len() + lane)).collect();
            self.emit(Inst::Intrinsic { dsts, op, ty: piece.ty, args });
        }
        Ok(())
    }
}

/// The name without the types that it was made for: `ctpop.i32`, `memcpy.p0.p0.i64`, `smax.v4i32`.
fn family(name: &str) -> &str {
    let mut end = name.len();
    while let Some(dot) = name[..end].rfind('.') {
        if !is_type_suffix(&name[dot + 1..end]) {
            break;
        }
        end = dot;
    }
    let name = &name[..end];
    for family in ["lifetime", "invariant", "dbg"] {
        if name.strip_prefix(family).is_some_and(|rest| rest.starts_with('.')) {
            return family;
        }
    }
    name
}

fn is_type_suffix(part: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if let Some(rest) = part.strip_prefix('v') {
        let lanes = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        return lanes.len() < rest.len() && is_type_suffix(lanes);
    }
    part == "bf16" || ["i", "f", "p"].iter().any(|kind| part.strip_prefix(kind).is_some_and(digits))
}

fn pure_op(name: &str) -> Option<(IntrinsicOp, usize)> {
    use IntrinsicOp as Op;
    Some(match name {
        "bswap" => (Op::Bswap, 1),
        "bitreverse" => (Op::BitReverse, 1),
        "ctpop" => (Op::CtPop, 1),
        "ctlz" => (Op::CtLz, 1),
        "cttz" => (Op::CtTz, 1),
        "fshl" => (Op::Fshl, 3),
        "fshr" => (Op::Fshr, 3),
        "abs" => (Op::Abs, 1),
        "smin" => (Op::SMin, 2),
        "smax" => (Op::SMax, 2),
        "umin" => (Op::UMin, 2),
        "umax" => (Op::UMax, 2),
        "sadd.with.overflow" => (Op::SAddOverflow, 2),
        "uadd.with.overflow" => (Op::UAddOverflow, 2),
        "ssub.with.overflow" => (Op::SSubOverflow, 2),
        "usub.with.overflow" => (Op::USubOverflow, 2),
        "smul.with.overflow" => (Op::SMulOverflow, 2),
        "umul.with.overflow" => (Op::UMulOverflow, 2),
        "sadd.sat" => (Op::SAddSat, 2),
        "uadd.sat" => (Op::UAddSat, 2),
        "ssub.sat" => (Op::SSubSat, 2),
        "usub.sat" => (Op::USubSat, 2),
        "fabs" => (Op::FAbs, 1),
        "sqrt" => (Op::Sqrt, 1),
        "floor" => (Op::Floor, 1),
        "ceil" => (Op::Ceil, 1),
        "trunc" => (Op::FTrunc, 1),
        "rint" | "nearbyint" => (Op::Rint, 1),
        "round" => (Op::Round, 1),
        "roundeven" => (Op::RoundEven, 1),
        "copysign" => (Op::CopySign, 2),
        "minnum" => (Op::FMin, 2),
        "maxnum" => (Op::FMax, 2),
        "fma" => (Op::Fma, 3),
        "pow" => (Op::Pow, 2),
        "powi" => (Op::Powi, 2),
        "exp" => (Op::Exp, 1),
        "exp2" => (Op::Exp2, 1),
        "log" => (Op::Log, 1),
        "log2" => (Op::Log2, 1),
        "log10" => (Op::Log10, 1),
        "sin" => (Op::Sin, 1),
        "cos" => (Op::Cos, 1),
        "is.fpclass" => (Op::IsFpClass, 2),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::family;

    #[test]
    fn families_lose_their_types_only() {
        for (name, expected) in [
            ("ctpop.i32", "ctpop"),
            ("memcpy.p0.p0.i64", "memcpy"),
            ("smax.v4i32", "smax"),
            ("sadd.with.overflow.i32", "sadd.with.overflow"),
            ("lifetime.start.p0", "lifetime"),
            ("fabs.f80", "fabs"),
            ("threadlocal.address.p0", "threadlocal.address"),
            ("va_start.p0", "va_start"),
            ("log10.f64", "log10"),
        ] {
            assert_eq!(family(name), expected);
        }
    }
}
