//! Operations on numbers as the IR defines them: integers of some width, kept sign-extended.

use super::terms::sign_extend;
use raddle_ir::{BinOp, IcmpPred};

/// As an unsigned number of that many bits.
pub(crate) fn unsigned(value: i64, bits: u32) -> u64 {
    if bits >= 64 { value as u64 } else { (value as u64) & ((1 << bits) - 1) }
}

/// `None` for a division that is a run-time problem.
pub(crate) fn folded(op: BinOp, bits: u32, a: i64, b: i64) -> Option<i64> {
    let (ua, ub) = (unsigned(a, bits), unsigned(b, bits));
    let in_width = ub < u64::from(bits);
    let value = match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::UDiv => ua.checked_div(ub)? as i64,
        BinOp::URem => ua.checked_rem(ub)? as i64,
        BinOp::SDiv if b == 0 => return None,
        BinOp::SDiv => a.wrapping_div(b),
        BinOp::SRem if b == 0 => return None,
        BinOp::SRem => a.wrapping_rem(b),
        BinOp::Shl if in_width => ((ua) << ub) as i64,
        BinOp::LShr if in_width => (ua >> ub) as i64,
        BinOp::Shl | BinOp::LShr => 0,
        BinOp::AShr => sign_extend(a, bits) >> ub.min(u64::from(bits) - 1),
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
    };
    Some(sign_extend(value, bits))
}

pub(crate) fn compared(pred: IcmpPred, bits: u32, a: i64, b: i64) -> bool {
    let (a, b) = (sign_extend(a, bits), sign_extend(b, bits));
    let (ua, ub) = (unsigned(a, bits), unsigned(b, bits));
    match pred {
        IcmpPred::Eq => a == b,
        IcmpPred::Ne => a != b,
        IcmpPred::Ult => ua < ub,
        IcmpPred::Ule => ua <= ub,
        IcmpPred::Ugt => ua > ub,
        IcmpPred::Uge => ua >= ub,
        IcmpPred::Slt => a < b,
        IcmpPred::Sle => a <= b,
        IcmpPred::Sgt => a > b,
        IcmpPred::Sge => a >= b,
    }
}
