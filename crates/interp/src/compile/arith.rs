//! Arithmetic, comparisons, casts and intrinsics: the common widths get code of their own.

use super::Compiler;
use crate::code::{CastDesc, Code, IntrinsicDesc};
use raddle_ir::{BinOp, CastOp, FloatTy, IcmpPred, Inst, IntrinsicOp, Operand, Reg, Ty};

impl Compiler<'_> {
    pub(super) fn arith(&mut self, inst: &Inst) {
        match *inst {
            Inst::Bin { dst, op, ty, a, b } => self.bin(dst, op, ty, a, b),
            Inst::FBin { dst, op, ty, a, b } => {
                let (d, a, b) = (self.slot(dst), self.any_operand(a, ty), self.any_operand(b, ty));
                self.emit(match float(ty) {
                    FloatTy::F32 => Code::FBin32 { op, d, a, b },
                    FloatTy::F64 => Code::FBin64 { op, d, a, b },
                    ty => Code::FBinOther { op, ty, d, a, b },
                });
            }
            Inst::FNeg { dst, ty, a } => {
                let (d, a) = (self.slot(dst), self.any_operand(a, ty));
                self.emit(Code::FNeg { ty: float(ty), d, a });
            }
            Inst::Icmp { dst, pred, ty, a, b } => self.icmp(dst, pred, ty, a, b),
            Inst::Fcmp { dst, pred, ty, a, b } => {
                let (d, a, b) = (self.slot(dst), self.any_operand(a, ty), self.any_operand(b, ty));
                self.emit(Code::Fcmp { pred, ty: float(ty), d, a, b });
            }
            Inst::Cast { dst, op, from, to, a } => self.cast(dst, op, from, to, a),
            Inst::Select { dst, ty, cond, a, b } => {
                let (d, cond) = (self.slot(dst), self.operand(cond, Ty::Int(1)));
                let (a, b) = (self.any_operand(a, ty), self.any_operand(b, ty));
                self.emit(if ty.is_wide() {
                    Code::SelectWide { d, cond, a, b }
                } else {
                    Code::Select { d, cond, a, b }
                });
            }
            Inst::Copy { dst, ty, a } => {
                let (d, a) = (self.slot(dst), self.any_operand(a, ty));
                self.emit(if ty.is_wide() { Code::Move2 { d, a } } else { Code::Move { d, a } });
            }
            Inst::Intrinsic { ref dsts, op, ty, ref args } => {
                let args = args
                    .iter()
                    .enumerate()
                    .map(|(index, &arg)| match (op, index) {
                        (IntrinsicOp::Powi | IntrinsicOp::IsFpClass, 1) => self.operand(arg, Ty::Int(32)),
                        _ => self.any_operand(arg, ty),
                    })
                    .collect();
                let dsts = self.result_slots(dsts);
                self.func.intrinsics.push(IntrinsicDesc { op, ty, dsts, args });
                self.emit(Code::Intrinsic { desc: self.func.intrinsics.len() as u32 - 1 });
            }
            _ => unreachable!("not arithmetic"),
        }
    }

    fn bin(&mut self, dst: Reg, op: BinOp, ty: Ty, a: Operand, b: Operand) {
        let is_difference = |operand| match operand {
            Operand::Reg(reg) => self.uses.only_subtracted[reg.0 as usize],
            _ => false,
        };
        let difference = op == BinOp::Sub && (is_difference(a) || is_difference(b));
        let (d, bits) = (self.slot(dst), self.bits(ty));
        let (a, b) = (self.any_operand(a, ty), self.any_operand(b, ty));
        self.emit(match (op, bits) {
            _ if ty.is_wide() => Code::BinWide { op, bits, d, a, b },
            (BinOp::Sub, _) if difference && bits == self.pointer_bits => Code::PtrDiff { d, a, b },
            (BinOp::Add, 64) => Code::Add64 { d, a, b },
            (BinOp::Add, 32) => Code::Add32 { d, a, b },
            (BinOp::Sub, 64) => Code::Sub64 { d, a, b },
            (BinOp::Sub, 32) => Code::Sub32 { d, a, b },
            (BinOp::Mul, 64) => Code::Mul64 { d, a, b },
            (BinOp::Mul, 32) => Code::Mul32 { d, a, b },
            (BinOp::And, _) => Code::And { d, a, b },
            (BinOp::Or, _) => Code::Or { d, a, b },
            (BinOp::Xor, _) => Code::Xor { d, a, b },
            _ => Code::Bin { op, bits, d, a, b },
        });
    }

    fn icmp(&mut self, dst: Reg, pred: IcmpPred, ty: Ty, a: Operand, b: Operand) {
        let (d, bits) = (self.slot(dst), self.bits(ty));
        let looks_at_layout = looks_at_layout(pred, ty, a, b);
        let (a, b) = (self.any_operand(a, ty), self.any_operand(b, ty));
        let shift = 64u8.saturating_sub(bits);
        self.emit(match pred {
            _ if ty.is_wide() => Code::IcmpWide { pred, bits, d, a, b },
            _ if looks_at_layout => Code::IcmpPtr { pred, d, a, b },
            IcmpPred::Eq => Code::Eq { d, a, b },
            IcmpPred::Ne => Code::Ne { d, a, b },
            IcmpPred::Ult => Code::Ult { d, a, b },
            IcmpPred::Ule => Code::Ule { d, a, b },
            IcmpPred::Ugt => Code::Ult { d, a: b, b: a },
            IcmpPred::Uge => Code::Ule { d, a: b, b: a },
            IcmpPred::Slt => Code::Slt { shift, d, a, b },
            IcmpPred::Sle => Code::Sle { shift, d, a, b },
            IcmpPred::Sgt => Code::Slt { shift, d, a: b, b: a },
            IcmpPred::Sge => Code::Sle { shift, d, a: b, b: a },
        });
    }

    fn cast(&mut self, dst: Reg, op: CastOp, from: Ty, to: Ty, a: Operand) {
        let (d, a) = (self.slot(dst), self.any_operand(a, from));
        let narrow = !from.is_wide() && !to.is_wide();
        let code = match op {
            CastOp::Trunc if narrow => Code::Trunc { bits: self.bits(to), d, a },
            CastOp::ZExt if narrow => Code::Move { d, a },
            CastOp::SExt if narrow => Code::Sext { from: self.bits(from), to: self.bits(to), d, a },
            CastOp::IntToPtr if narrow => Code::Trunc { bits: self.pointer_bits, d, a },
            CastOp::PtrToInt if narrow && self.uses.only_subtracted[dst.0 as usize] => Code::Move { d, a },
            CastOp::PtrToInt if narrow => Code::PtrToInt { bits: self.bits(to), d, a },
            CastOp::Bitcast if narrow && from == Ty::Ptr && to != Ty::Ptr => {
                Code::PtrToInt { bits: self.bits(to), d, a }
            }
            CastOp::Bitcast if narrow => Code::Move { d, a },
            _ => {
                self.func.casts.push(CastDesc { op, from, to });
                Code::Cast { desc: self.func.casts.len() as u32 - 1, d, a }
            }
        };
        self.emit(code);
    }
}

fn float(ty: Ty) -> FloatTy {
    match ty {
        Ty::Float(float) => float,
        Ty::Int(_) | Ty::Ptr => FloatTy::F64,
    }
}

/// Whether the result of a comparison may be up to the layout of memory.
pub(super) fn looks_at_layout(pred: IcmpPred, ty: Ty, a: Operand, b: Operand) -> bool {
    let ordered = !matches!(pred, IcmpPred::Eq | IcmpPred::Ne);
    ty == Ty::Ptr && (ordered || a != Operand::Null && b != Operand::Null)
}
