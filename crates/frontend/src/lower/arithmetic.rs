//! Arithmetic, comparisons, selections and casts, piece by piece for vectors.

use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate};
use raddle_ir::{BinOp, CastOp, FBinOp, FcmpPred, IcmpPred, Inst, Operand, Ty};

use super::Lowered;
use super::function::FunctionLowerer;
use super::types::scalar_bits;
use crate::llvm::{TypeKind, Value};

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
        self.piecewise(inst, |dst, ty, a, b| Inst::Bin { dst, op, ty, a, b })
    }

    pub(super) fn float_binary(&mut self, inst: Value<'m>, opcode: LLVMOpcode) -> Lowered<()> {
        let op = match opcode {
            LLVMOpcode::LLVMFAdd => FBinOp::Add,
            LLVMOpcode::LLVMFSub => FBinOp::Sub,
            LLVMOpcode::LLVMFMul => FBinOp::Mul,
            LLVMOpcode::LLVMFDiv => FBinOp::Div,
            _ => FBinOp::Rem,
        };
        self.piecewise(inst, |dst, ty, a, b| Inst::FBin { dst, op, ty, a, b })
    }

    pub(super) fn float_negate(&mut self, inst: Value<'m>) -> Lowered<()> {
        let slot = self.slot(inst)?;
        let operand = self.input(inst, 0)?;
        let types = self.module.types.pieces(operand.ty())?;
        for (piece, a) in self.pieces(operand)?.into_iter().enumerate() {
            self.emit(Inst::FNeg { dst: slot.reg(piece), ty: types[piece].ty, a });
        }
        Ok(())
    }

    pub(super) fn compare_ints(&mut self, inst: Value<'m>) -> Lowered<()> {
        let pred = match inst.int_predicate() {
            Some(LLVMIntPredicate::LLVMIntEQ) => IcmpPred::Eq,
            Some(LLVMIntPredicate::LLVMIntNE) => IcmpPred::Ne,
            Some(LLVMIntPredicate::LLVMIntULT) => IcmpPred::Ult,
            Some(LLVMIntPredicate::LLVMIntULE) => IcmpPred::Ule,
            Some(LLVMIntPredicate::LLVMIntUGT) => IcmpPred::Ugt,
            Some(LLVMIntPredicate::LLVMIntUGE) => IcmpPred::Uge,
            Some(LLVMIntPredicate::LLVMIntSLT) => IcmpPred::Slt,
            Some(LLVMIntPredicate::LLVMIntSLE) => IcmpPred::Sle,
            Some(LLVMIntPredicate::LLVMIntSGT) => IcmpPred::Sgt,
            Some(LLVMIntPredicate::LLVMIntSGE) => IcmpPred::Sge,
            None => return Err("comparison of an unknown kind".to_owned()),
        };
        self.piecewise(inst, |dst, ty, a, b| Inst::Icmp { dst, pred, ty, a, b })
    }

    pub(super) fn compare_floats(&mut self, inst: Value<'m>) -> Lowered<()> {
        let pred = match inst.float_predicate() {
            Some(LLVMRealPredicate::LLVMRealPredicateFalse) => FcmpPred::False,
            Some(LLVMRealPredicate::LLVMRealOEQ) => FcmpPred::Oeq,
            Some(LLVMRealPredicate::LLVMRealOGT) => FcmpPred::Ogt,
            Some(LLVMRealPredicate::LLVMRealOGE) => FcmpPred::Oge,
            Some(LLVMRealPredicate::LLVMRealOLT) => FcmpPred::Olt,
            Some(LLVMRealPredicate::LLVMRealOLE) => FcmpPred::Ole,
            Some(LLVMRealPredicate::LLVMRealONE) => FcmpPred::One,
            Some(LLVMRealPredicate::LLVMRealORD) => FcmpPred::Ord,
            Some(LLVMRealPredicate::LLVMRealUNO) => FcmpPred::Uno,
            Some(LLVMRealPredicate::LLVMRealUEQ) => FcmpPred::Ueq,
            Some(LLVMRealPredicate::LLVMRealUGT) => FcmpPred::Ugt,
            Some(LLVMRealPredicate::LLVMRealUGE) => FcmpPred::Uge,
            Some(LLVMRealPredicate::LLVMRealULT) => FcmpPred::Ult,
            Some(LLVMRealPredicate::LLVMRealULE) => FcmpPred::Ule,
            Some(LLVMRealPredicate::LLVMRealUNE) => FcmpPred::Une,
            Some(LLVMRealPredicate::LLVMRealPredicateTrue) => FcmpPred::True,
            None => return Err("comparison of an unknown kind".to_owned()),
        };
        self.piecewise(inst, |dst, ty, a, b| Inst::Fcmp { dst, pred, ty, a, b })
    }

    /// `make` for each piece of the two operands; the type is the operands'.
    fn piecewise(
        &mut self,
        inst: Value<'m>,
        make: impl Fn(raddle_ir::Reg, Ty, Operand, Operand) -> Inst,
    ) -> Lowered<()> {
        let slot = self.slot(inst)?;
        let (left, right) = (self.input(inst, 0)?, self.input(inst, 1)?);
        let types = self.module.types.pieces(left.ty())?;
        let (a, b) = (self.pieces(left)?, self.pieces(right)?);
        for (piece, (a, b)) in a.into_iter().zip(b).enumerate() {
            self.emit(make(slot.reg(piece), types[piece].ty, a, b));
        }
        Ok(())
    }

    pub(super) fn select(&mut self, inst: Value<'m>) -> Lowered<()> {
        let slot = self.slot(inst)?;
        let conditions = self.input(inst, 0)?;
        let conditions = self.pieces(conditions)?;
        let (left, right) = (self.input(inst, 1)?, self.input(inst, 2)?);
        let types = self.module.types.pieces(left.ty())?;
        let (a, b) = (self.pieces(left)?, self.pieces(right)?);
        for (piece, (a, b)) in a.into_iter().zip(b).enumerate() {
            let cond = conditions[if conditions.len() == 1 { 0 } else { piece }];
            self.emit(Inst::Select { dst: slot.reg(piece), ty: types[piece].ty, cond, a, b });
        }
        Ok(())
    }

    pub(super) fn copy_operand(&mut self, inst: Value<'m>, index: u32) -> Lowered<()> {
        let operand = self.input(inst, index)?;
        let operands = self.pieces(operand)?;
        self.copy_pieces(inst, operands)
    }

    /// The result of `inst` is these scalars.
    pub(super) fn copy_pieces(&mut self, inst: Value<'m>, operands: Vec<Operand>) -> Lowered<()> {
        let slot = self.slot(inst)?;
        let types = self.module.types.pieces(inst.ty())?;
        if types.len() != operands.len() {
            return Err("value of another shape".to_owned());
        }
        for (piece, a) in operands.into_iter().enumerate() {
            self.emit(Inst::Copy { dst: slot.reg(piece), ty: types[piece].ty, a });
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
        let slot = self.slot(inst)?;
        let operand = self.input(inst, 0)?;
        let from = self.module.types.pieces(operand.ty())?;
        let to = self.module.types.pieces(inst.ty())?;
        for (piece, a) in self.pieces(operand)?.into_iter().enumerate() {
            self.emit(Inst::Cast { dst: slot.reg(piece), op, from: from[piece].ty, to: to[piece].ty, a });
        }
        Ok(())
    }

    /// Same bits, other type. Between vectors of different shapes the bits are put together and taken apart again, lowest lane
    /// first, as a little-endian machine does.
    pub(super) fn bitcast(&mut self, inst: Value<'m>) -> Lowered<()> {
        let operand = self.input(inst, 0)?;
        let from = self.module.types.pieces(operand.ty())?;
        let to = self.module.types.pieces(inst.ty())?;
        let slot = self.slot(inst)?;
        let values = self.pieces(operand)?;
        if from.len() == to.len() {
            for (piece, a) in values.into_iter().enumerate() {
                let (dst, from, to) = (slot.reg(piece), from[piece].ty, to[piece].ty);
                self.emit(if from == to {
                    Inst::Copy { dst, ty: to, a }
                } else {
                    Inst::Cast { dst, op: CastOp::Bitcast, from, to, a }
                });
            }
            return Ok(());
        }
        let total = self.module.types.layout.bits(inst.ty());
        if total > 128 || matches!(inst.ty().kind(), TypeKind::Struct | TypeKind::Array(_)) {
            return Err("bitcast of a wide vector".to_owned());
        }
        let whole = Ty::Int(total as u8);
        let joined = self.join_bits(&values, &from.iter().map(|p| p.ty).collect::<Vec<_>>(), whole);
        self.split_bits(joined, whole, &slot.regs(), &to.iter().map(|p| p.ty).collect::<Vec<_>>());
        Ok(())
    }

    /// The pieces as one integer, the first in the lowest bits.
    pub(super) fn join_bits(&mut self, values: &[Operand], types: &[Ty], whole: Ty) -> Operand {
        let mut joined = Operand::Const(0);
        let mut shift = 0;
        for (&value, &ty) in values.iter().zip(types) {
            let bits = scalar_bits(ty, self.module.pointer_bytes());
            let narrow = self.as_integer(value, ty);
            let wide = self.convert(CastOp::ZExt, Ty::Int(bits as u8), whole, narrow);
            let placed = self.compute(BinOp::Shl, whole, wide, Operand::Const(u128::from(shift)));
            joined = self.compute(BinOp::Or, whole, joined, placed);
            shift += bits;
        }
        joined
    }

    pub(super) fn split_bits(&mut self, value: Operand, whole: Ty, regs: &[raddle_ir::Reg], types: &[Ty]) {
        let mut shift = 0;
        for (&dst, &ty) in regs.iter().zip(types) {
            let bits = scalar_bits(ty, self.module.pointer_bytes());
            let narrow = Ty::Int(bits as u8);
            let placed = self.compute(BinOp::LShr, whole, value, Operand::Const(u128::from(shift)));
            let part = self.convert(CastOp::Trunc, whole, narrow, placed);
            self.emit(match ty {
                Ty::Int(_) => Inst::Copy { dst, ty, a: part },
                Ty::Ptr => Inst::Cast { dst, op: CastOp::IntToPtr, from: narrow, to: ty, a: part },
                Ty::Float(_) => Inst::Cast { dst, op: CastOp::Bitcast, from: narrow, to: ty, a: part },
            });
            shift += bits;
        }
    }

    fn as_integer(&mut self, value: Operand, ty: Ty) -> Operand {
        let to = Ty::Int(scalar_bits(ty, self.module.pointer_bytes()) as u8);
        match ty {
            Ty::Int(_) => value,
            Ty::Ptr => self.convert(CastOp::PtrToInt, ty, to, value),
            Ty::Float(_) => self.convert(CastOp::Bitcast, ty, to, value),
        }
    }

    pub(super) fn compute(&mut self, op: BinOp, ty: Ty, a: Operand, b: Operand) -> Operand {
        let dst = self.temporary(ty);
        self.emit(Inst::Bin { dst, op, ty, a, b });
        Operand::Reg(dst)
    }

    pub(super) fn convert(&mut self, op: CastOp, from: Ty, to: Ty, a: Operand) -> Operand {
        if from == to {
            return a;
        }
        let dst = self.temporary(to);
        self.emit(Inst::Cast { dst, op, from, to, a });
        Operand::Reg(dst)
    }
}
