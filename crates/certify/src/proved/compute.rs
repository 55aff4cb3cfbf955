//! Instructions on registers alone (decision 23, "Instructions"). What has no term here gives any value.

use super::Model;
use super::state::State;
use crate::statics::Spot;
use raddle_ir::{BinOp, CastOp, FunctionId, Gep, IcmpPred, Inst, IntrinsicOp, Operand, Ty};
use raddle_logic::{Op, Term};

impl Model<'_, '_> {
    /// Runs an instruction that touches no shared memory and is no call.
    pub fn compute(&self, state: &mut State, at: Spot, inst: &Inst) {
        let function = at.function;
        let operand = |state: &State, operand: Operand, ty: Ty| self.operand(state, function, operand, ty);
        match inst {
            Inst::Bin { dst, op, ty, a, b } => {
                let value = match (operand(state, *a, *ty), operand(state, *b, *ty)) {
                    (Some(a), Some(b)) => {
                        if divides(*op) {
                            state.require(b.is_nonzero());
                        }
                        Some(Term::app(operator(*op), vec![a, b]))
                    }
                    _ => None,
                };
                self.assign(state, function, *dst, value);
            }
            Inst::Icmp { dst, pred, ty, a, b } => {
                let value = match (operand(state, *a, *ty), operand(state, *b, *ty)) {
                    (Some(a), Some(b)) => Some(compared(*pred, a, b).as_bit()),
                    _ => None,
                };
                self.assign(state, function, *dst, value);
            }
            Inst::Cast { dst, op, from, to, a } => {
                let value = match (operand(state, *a, *from), self.width(*to)) {
                    (Some(value), Some(bits)) => cast(*op, value, bits),
                    _ => None,
                };
                self.assign(state, function, *dst, value);
            }
            Inst::Select { dst, ty, cond, a, b } => {
                let parts =
                    (operand(state, *cond, Ty::Int(1)), operand(state, *a, *ty), operand(state, *b, *ty));
                let value = match parts {
                    (Some(cond), Some(a), Some(b)) => Some(Term::ite(&cond.is_nonzero(), &a, &b)),
                    _ => None,
                };
                self.assign(state, function, *dst, value);
            }
            Inst::Copy { dst, ty, a } => {
                let value = operand(state, *a, *ty);
                self.assign(state, function, *dst, value);
            }
            Inst::Gep(gep) => {
                let value = self.address(state, function, gep);
                self.assign(state, function, gep.dst, value);
            }
            Inst::Intrinsic { dsts, op, ty, args } => {
                let value = match (args.first(), args.get(1)) {
                    (Some(a), b) => {
                        let a = operand(state, *a, *ty);
                        let b = b.and_then(|b| operand(state, *b, *ty));
                        a.and_then(|a| intrinsic(*op, a, b))
                    }
                    (None, _) => None,
                };
                if let [dst] = dsts[..] {
                    self.assign(state, function, dst, value);
                } else {
                    self.forget(state, at, inst);
                }
            }
            // Memory of its own, floats, and what is not understood but for its results.
            Inst::FBin { .. }
            | Inst::FNeg { .. }
            | Inst::Fcmp { .. }
            | Inst::Alloca { .. }
            | Inst::TlsAddr { .. }
            | Inst::Load { .. }
            | Inst::Store { .. }
            | Inst::Rmw { .. }
            | Inst::CmpXchg(_)
            | Inst::Fence { .. }
            | Inst::SignalFence
            | Inst::MemCopy { .. }
            | Inst::MemSet { .. }
            | Inst::Call { .. }
            | Inst::VaStart { .. }
            | Inst::VaEnd { .. }
            | Inst::VaCopy { .. }
            | Inst::VaArg { .. }
            | Inst::StackSave { .. }
            | Inst::StackRestore { .. }
            | Inst::Asm { .. }
            | Inst::Unsupported { .. } => self.forget(state, at, inst),
        }
    }

    /// All results become any value.
    pub fn forget(&self, state: &mut State, at: Spot, inst: &Inst) {
        inst.each_dst(|dst| self.assign(state, at.function, dst, None));
    }

    fn address(&self, state: &State, function: FunctionId, gep: &Gep) -> Option<Term> {
        let bits = self.pointer_bits();
        let number = |number: i64| Term::bits(number as i128 as u128, bits);
        let mut address = self.operand(state, function, gep.base, Ty::Ptr)?;
        for (index, ty, scale) in &gep.indices {
            let index = self.operand(state, function, *index, *ty)?.sign_extended_to(bits);
            address = Term::app(Op::Add, vec![address, Term::app(Op::Mul, vec![index, number(*scale)])]);
        }
        Some(Term::app(Op::Add, vec![address, number(gep.offset)]))
    }
}

fn divides(op: BinOp) -> bool {
    matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem)
}

fn operator(op: BinOp) -> Op {
    match op {
        BinOp::Add => Op::Add,
        BinOp::Sub => Op::Sub,
        BinOp::Mul => Op::Mul,
        BinOp::UDiv => Op::UDiv,
        BinOp::SDiv => Op::SDiv,
        BinOp::URem => Op::URem,
        BinOp::SRem => Op::SRem,
        BinOp::Shl => Op::Shl,
        BinOp::LShr => Op::LShr,
        BinOp::AShr => Op::AShr,
        BinOp::And => Op::BvAnd,
        BinOp::Or => Op::BvOr,
        BinOp::Xor => Op::BvXor,
    }
}

pub(super) fn compared(pred: IcmpPred, a: Term, b: Term) -> Term {
    match pred {
        IcmpPred::Eq => a.equals(&b),
        IcmpPred::Ne => a.differs(&b),
        IcmpPred::Ult => Term::app(Op::Ult, vec![a, b]),
        IcmpPred::Ule => Term::app(Op::Ule, vec![a, b]),
        IcmpPred::Ugt => Term::app(Op::Ult, vec![b, a]),
        IcmpPred::Uge => Term::app(Op::Ule, vec![b, a]),
        IcmpPred::Slt => Term::app(Op::Slt, vec![a, b]),
        IcmpPred::Sle => Term::app(Op::Sle, vec![a, b]),
        IcmpPred::Sgt => Term::app(Op::Slt, vec![b, a]),
        IcmpPred::Sge => Term::app(Op::Sle, vec![b, a]),
    }
}

fn cast(op: CastOp, value: Term, bits: u32) -> Option<Term> {
    match op {
        CastOp::Trunc | CastOp::ZExt | CastOp::PtrToInt | CastOp::IntToPtr => {
            Some(value.zero_extended_to(bits))
        }
        CastOp::SExt => Some(value.sign_extended_to(bits)),
        CastOp::Bitcast => (value.width() == bits).then_some(value),
        CastOp::FpTrunc
        | CastOp::FpExt
        | CastOp::FpToUi
        | CastOp::FpToSi
        | CastOp::UiToFp
        | CastOp::SiToFp => None,
    }
}

fn intrinsic(op: IntrinsicOp, a: Term, b: Option<Term>) -> Option<Term> {
    let zero = || Term::bits(0, a.width());
    let smaller = |b: &Term, op: Op| Term::app(op, vec![a.clone(), b.clone()]);
    match op {
        IntrinsicOp::Abs => {
            let negative = Term::app(Op::Slt, vec![a.clone(), zero()]);
            Some(Term::ite(&negative, &Term::app(Op::Neg, vec![a.clone()]), &a))
        }
        IntrinsicOp::SMin => b.map(|b| Term::ite(&smaller(&b, Op::Slt), &a, &b)),
        IntrinsicOp::SMax => b.map(|b| Term::ite(&smaller(&b, Op::Slt), &b, &a)),
        IntrinsicOp::UMin => b.map(|b| Term::ite(&smaller(&b, Op::Ult), &a, &b)),
        IntrinsicOp::UMax => b.map(|b| Term::ite(&smaller(&b, Op::Ult), &b, &a)),
        // Any value: fewer rules here is less to trust.
        IntrinsicOp::Bswap
        | IntrinsicOp::BitReverse
        | IntrinsicOp::CtPop
        | IntrinsicOp::CtLz
        | IntrinsicOp::CtTz
        | IntrinsicOp::Fshl
        | IntrinsicOp::Fshr
        | IntrinsicOp::SAddOverflow
        | IntrinsicOp::UAddOverflow
        | IntrinsicOp::SSubOverflow
        | IntrinsicOp::USubOverflow
        | IntrinsicOp::SMulOverflow
        | IntrinsicOp::UMulOverflow
        | IntrinsicOp::SAddSat
        | IntrinsicOp::UAddSat
        | IntrinsicOp::SSubSat
        | IntrinsicOp::USubSat
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
        | IntrinsicOp::IsFpClass
        | IntrinsicOp::Outside => None,
    }
}
