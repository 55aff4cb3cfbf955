//! Arithmetic, comparisons, selections and casts, lane by lane: a scalar is a vector of one lane.

use std::rc::Rc;

use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate};
use raddle_ir::{BinOp, CastOp, FBinOp, FcmpPred, IcmpPred, Inst, Operand, Ty};

use super::Lowered;
use super::function::{FunctionLowerer, Slot};
use super::types::Piece;
use crate::llvm::Value;

impl<'m> FunctionLowerer<'_, 'm> {
    pub(super) fn binary(&mut self, inst: Value<'m>, opcode: LLVMOpcode) -> Lowered<()> {
        let op = match opcode {
            LLVMOpcode::LLVMAdd => BinOp::Add,
            LLVMOpcode::LLVMSub => BinOp::Sub,
            LLVMOpcode::LLVMMul => BinOp::Mul,
            LLVMOpcode::LLVMUDiv => BinOp::UDiv,
            LLVMOpcode::LLVMSDiv => BinOp::SDiv,
            LLVMOpcode::LLVMURem => BinOp::URem,
            LLVMOpcode::LLVMSRem => BinOp::SRem,
            LLVMOpcode::LLVMShl => BinOp::Shl,
            LLVMOpcode::LLVMLShr => BinOp::LShr,
            LLVMOpcode::LLVMAShr => BinOp::AShr,
            LLVMOpcode::LLVMAnd => BinOp::And,
            LLVMOpcode::LLVMOr => BinOp::Or,
            LLVMOpcode::LLVMXor => BinOp::Xor,
            other => return Err(format!("instruction {other:?}")),
        };
        let (slot, a, b, types) = self.two_operands(inst)?;
        for (lane, piece) in types.iter().enumerate() {
            self.emit(Inst::Bin { dst: slot.reg(lane), op, ty: piece.ty, a: a[lane], b: b[lane] });
        }
        Ok(())
    }

    pub(super) fn float_binary(&mut self, inst: Value<'m>, opcode: LLVMOpcode) -> Lowered<()> {
        let op = match opcode {
            LLVMOpcode::LLVMFAdd => FBinOp::Add,
            LLVMOpcode::LLVMFSub => FBinOp::Sub,
            LLVMOpcode::LLVMFMul => FBinOp::Mul,
            LLVMOpcode::LLVMFDiv => FBinOp::Div,
            LLVMOpcode::LLVMFRem => FBinOp::Rem,
            other => return Err(format!("instruction {other:?}")),
        };
        let (slot, a, b, types) = self.two_operands(inst)?;
        for (lane, piece) in types.iter().enumerate() {
            self.emit(Inst::FBin { dst: slot.reg(lane), op, ty: piece.ty, a: a[lane], b: b[lane] });
        }
        Ok(())
    }

    pub(super) fn float_negate(&mut self, inst: Value<'m>) -> Lowered<()> {
        let input = self.input(inst, 0)?;
        let (slot, types) = (self.slot(inst)?, self.module.types.pieces(inst.ty())?);
        let a = self.pieces(input)?;
        for (lane, piece) in types.iter().enumerate() {
            self.emit(Inst::FNeg { dst: slot.reg(lane), ty: piece.ty, a: a[lane] });
        }
        Ok(())
    }

    pub(super) fn compare_ints(&mut self, inst: Value<'m>) -> Lowered<()> {
        let pred = match inst.int_predicate().ok_or_else(|| "comparison without a predicate".to_owned())? {
            LLVMIntPredicate::LLVMIntEQ => IcmpPred::Eq,
            LLVMIntPredicate::LLVMIntNE => IcmpPred::Ne,
            LLVMIntPredicate::LLVMIntUGT => IcmpPred::Ugt,
            LLVMIntPredicate::LLVMIntUGE => IcmpPred::Uge,
            LLVMIntPredicate::LLVMIntULT => IcmpPred::Ult,
            LLVMIntPredicate::LLVMIntULE => IcmpPred::Ule,
            LLVMIntPredicate::LLVMIntSGT => IcmpPred::Sgt,
            LLVMIntPredicate::LLVMIntSGE => IcmpPred::Sge,
            LLVMIntPredicate::LLVMIntSLT => IcmpPred::Slt,
            LLVMIntPredicate::LLVMIntSLE => IcmpPred::Sle,
        };
        let (slot, a, b, types) = self.two_operands(inst)?;
        for (lane, piece) in types.iter().enumerate() {
            self.emit(Inst::Icmp { dst: slot.reg(lane), pred, ty: piece.ty, a: a[lane], b: b[lane] });
        }
        Ok(())
    }

    pub(super) fn compare_floats(&mut self, inst: Value<'m>) -> Lowered<()> {
        let pred = match inst.float_predicate().ok_or_else(|| "comparison without a predicate".to_owned())? {
            LLVMRealPredicate::LLVMRealPredicateFalse => FcmpPred::False,
            LLVMRealPredicate::LLVMRealOEQ => FcmpPred::Oeq,
            LLVMRealPredicate::LLVMRealOGT => FcmpPred::Ogt,
            LLVMRealPredicate::LLVMRealOGE => FcmpPred::Oge,
            LLVMRealPredicate::LLVMRealOLT => FcmpPred::Olt,
            LLVMRealPredicate::LLVMRealOLE => FcmpPred::Ole,
            LLVMRealPredicate::LLVMRealONE => FcmpPred::One,
            LLVMRealPredicate::LLVMRealORD => FcmpPred::Ord,
            LLVMRealPredicate::LLVMRealUNO => FcmpPred::Uno,
            LLVMRealPredicate::LLVMRealUEQ => FcmpPred::Ueq,
            LLVMRealPredicate::LLVMRealUGT => FcmpPred::Ugt,
            LLVMRealPredicate::LLVMRealUGE => FcmpPred::Uge,
            LLVMRealPredicate::LLVMRealULT => FcmpPred::Ult,
            LLVMRealPredicate::LLVMRealULE => FcmpPred::Ule,
            LLVMRealPredicate::LLVMRealUNE => FcmpPred::Une,
            LLVMRealPredicate::LLVMRealPredicateTrue => FcmpPred::True,
        };
        let (slot, a, b, types) = self.two_operands(inst)?;
        for (lane, piece) in types.iter().enumerate() {
            self.emit(Inst::Fcmp { dst: slot.reg(lane), pred, ty: piece.ty, a: a[lane], b: b[lane] });
        }
        Ok(())
    }

    /// One condition for all pieces, or one for each lane.
    pub(super) fn select(&mut self, inst: Value<'m>) -> Lowered<()> {
        let (slot, types) = (self.slot(inst)?, self.module.types.pieces(inst.ty())?);
        let (cond, a, b) = (self.input(inst, 0)?, self.input(inst, 1)?, self.input(inst, 2)?);
        let (conds, a, b) = (self.pieces(cond)?, self.pieces(a)?, self.pieces(b)?);
        if conds.len() != 1 && conds.len() != types.len() {
            return Err("select of an unknown form".to_owned());
        }
        for (lane, piece) in types.iter().enumerate() {
            let cond = if conds.len() == 1 { conds[0] } else { conds[lane] };
            self.emit(Inst::Select { dst: slot.reg(lane), ty: piece.ty, cond, a: a[lane], b: b[lane] });
        }
        Ok(())
    }

    pub(super) fn cast(&mut self, inst: Value<'m>, opcode: LLVMOpcode) -> Lowered<()> {
        let op = match opcode {
            LLVMOpcode::LLVMTrunc => CastOp::Trunc,
            LLVMOpcode::LLVMZExt => CastOp::ZExt,
            LLVMOpcode::LLVMSExt => CastOp::SExt,
            LLVMOpcode::LLVMFPToUI => CastOp::FpToUi,
            LLVMOpcode::LLVMFPToSI => CastOp::FpToSi,
            LLVMOpcode::LLVMUIToFP => CastOp::UiToFp,
            LLVMOpcode::LLVMSIToFP => CastOp::SiToFp,
            LLVMOpcode::LLVMFPTrunc => CastOp::FpTrunc,
            LLVMOpcode::LLVMFPExt => CastOp::FpExt,
            LLVMOpcode::LLVMPtrToInt => CastOp::PtrToInt,
            LLVMOpcode::LLVMIntToPtr => CastOp::IntToPtr,
            other => return Err(format!("instruction {other:?}")),
        };
        let input = self.input(inst, 0)?;
        let slot = self.slot(inst)?;
        let (from, to) = (self.module.types.pieces(input.ty())?, self.module.types.pieces(inst.ty())?);
        let a = self.pieces(input)?;
        for (lane, (from, to)) in from.iter().zip(to.iter()).enumerate() {
            self.emit(Inst::Cast { dst: slot.reg(lane), op, from: from.ty, to: to.ty, a: a[lane] });
        }
        Ok(())
    }

    /// The result is an operand unchanged.
    pub(super) fn copy_operand(&mut self, inst: Value<'m>, index: u32) -> Lowered<()> {
        let input = self.input(inst, index)?;
        let operands = self.pieces(input)?;
        self.copy_pieces(inst, &operands)
    }

    pub(super) fn copy_pieces(&mut self, inst: Value<'m>, operands: &[Operand]) -> Lowered<()> {
        let (slot, types) = (self.slot(inst)?, self.module.types.pieces(inst.ty())?);
        if operands.len() != types.len() {
            return Err("value of an unknown form".to_owned());
        }
        for (lane, (piece, a)) in types.iter().zip(operands).enumerate() {
            self.emit(Inst::Copy { dst: slot.reg(lane), ty: piece.ty, a: *a });
        }
        Ok(())
    }

    /// A value of another type with the same bits as far as both have them: calls whose types do not match the callee's.
    pub(super) fn convert(&mut self, a: Operand, from: Ty, to: Ty) -> Operand {
        if from == to {
            return a;
        }
        let address = self.module.address_type();
        let pointer_bytes = self.module.pointer_bytes();
        let bits = |ty| super::types::scalar_bits(ty, pointer_bytes) as u8;
        // By way of integers: float and pointer to bits, change of width, bits to float and pointer.
        let (mut a, mut at) = match from {
            Ty::Int(_) => (a, from),
            Ty::Ptr => (self.cast_to(a, CastOp::PtrToInt, from, address), address),
            Ty::Float(_) => {
                (self.cast_to(a, CastOp::Bitcast, from, Ty::Int(bits(from))), Ty::Int(bits(from)))
            }
        };
        let wanted = Ty::Int(bits(to));
        if bits(at) != bits(wanted) {
            let op = if bits(at) > bits(wanted) { CastOp::Trunc } else { CastOp::ZExt };
            (a, at) = (self.cast_to(a, op, at, wanted), wanted);
        }
        match to {
            Ty::Int(_) => a,
            Ty::Ptr => self.cast_to(a, CastOp::IntToPtr, at, to),
            Ty::Float(_) => self.cast_to(a, CastOp::Bitcast, at, to),
        }
    }

    pub(super) fn cast_to(&mut self, a: Operand, op: CastOp, from: Ty, to: Ty) -> Operand {
        let dst = self.temporary(to);
        self.emit(Inst::Cast { dst, op, from, to, a });
        Operand::Reg(dst)
    }

    #[allow(clippy::type_complexity)]
    fn two_operands(&mut self, inst: Value<'m>) -> Lowered<(Slot, Vec<Operand>, Vec<Operand>, Rc<[Piece]>)> {
        let (a, b) = (self.input(inst, 0)?, self.input(inst, 1)?);
        let slot = self.slot(inst)?;
        let types = self.module.types.pieces(a.ty())?;
        let (a, b) = (self.pieces(a)?, self.pieces(b)?);
        if a.len() != types.len() || b.len() != types.len() || slot.count as usize != types.len() {
            return Err("operands of different shapes".to_owned());
        }
        Ok((slot, a, b, types))
    }
}
