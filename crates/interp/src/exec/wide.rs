//! Integers of up to 128 bits, zero-extended before and after.

use raddle_ir::{BinOp, IcmpPred};

pub(crate) fn keep(value: u128, bits: u8) -> u128 {
    if bits >= 128 { value } else { value & ((1 << bits) - 1) }
}

pub(crate) fn sign_extend(value: u128, bits: u8) -> i128 {
    let shift = 128 - u32::from(bits);
    if shift >= 128 { 0 } else { ((value << shift) as i128) >> shift }
}

/// `None`: division by zero.
pub(crate) fn bin(op: BinOp, bits: u8, a: u128, b: u128) -> Option<u128> {
    let sign = |value| sign_extend(value, bits);
    let value = match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::UDiv => a.checked_div(b)?,
        BinOp::URem => a.checked_rem(b)?,
        BinOp::SDiv if b == 0 => return None,
        BinOp::SDiv => sign(a).wrapping_div(sign(b)) as u128,
        BinOp::SRem if b == 0 => return None,
        BinOp::SRem => sign(a).wrapping_rem(sign(b)) as u128,
        BinOp::Shl if b >= u128::from(bits) => 0,
        BinOp::Shl => a << b,
        BinOp::LShr if b >= u128::from(bits) => 0,
        BinOp::LShr => a >> b,
        BinOp::AShr => (sign(a) >> b.min(127)) as u128,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
    };
    Some(keep(value, bits))
}

pub(crate) fn icmp(pred: IcmpPred, bits: u8, a: u128, b: u128) -> bool {
    let (x, y) = (sign_extend(a, bits), sign_extend(b, bits));
    match pred {
        IcmpPred::Eq => a == b,
        IcmpPred::Ne => a != b,
        IcmpPred::Ult => a < b,
        IcmpPred::Ule => a <= b,
        IcmpPred::Ugt => a > b,
        IcmpPred::Uge => a >= b,
        IcmpPred::Slt => x < y,
        IcmpPred::Sle => x <= y,
        IcmpPred::Sgt => x > y,
        IcmpPred::Sge => x >= y,
    }
}
