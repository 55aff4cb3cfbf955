//! Integers of up to 64 bits and native floats. Values are zero-extended before and after.

use raddle_ir::{BinOp, FBinOp};

#[inline(always)]
pub(crate) fn keep(value: u64, bits: u8) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

/// The value moved to the top, so that comparisons see its sign; `shift` is 64 minus its width.
#[inline(always)]
pub(crate) fn signed(value: u64, shift: u8) -> i64 {
    (value << shift) as i64
}

#[inline(always)]
pub(crate) fn sign_extend(value: u64, from: u8, to: u8) -> u64 {
    let shift = 64 - from;
    keep((signed(value, shift) >> shift) as u64, to)
}

/// `None`: division by zero. The one overflowing division wraps.
#[inline]
pub(crate) fn bin(op: BinOp, bits: u8, a: u64, b: u64) -> Option<u64> {
    let shift = 64 - bits;
    let sign = |value: u64| signed(value, shift) >> shift;
    let value = match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::UDiv => a.checked_div(b)?,
        BinOp::URem => a.checked_rem(b)?,
        BinOp::SDiv if b == 0 => return None,
        BinOp::SDiv => sign(a).wrapping_div(sign(b)) as u64,
        BinOp::SRem if b == 0 => return None,
        BinOp::SRem => sign(a).wrapping_rem(sign(b)) as u64,
        BinOp::Shl if b >= u64::from(bits) => 0,
        BinOp::Shl => a << b,
        BinOp::LShr if b >= u64::from(bits) => 0,
        BinOp::LShr => a >> b,
        BinOp::AShr => (sign(a) >> b.min(63)) as u64,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
    };
    Some(keep(value, bits))
}

pub(crate) fn fbin32(op: FBinOp, a: f32, b: f32) -> f32 {
    match op {
        FBinOp::Add => a + b,
        FBinOp::Sub => a - b,
        FBinOp::Mul => a * b,
        FBinOp::Div => a / b,
        FBinOp::Rem => a % b,
    }
}

pub(crate) fn fbin64(op: FBinOp, a: f64, b: f64) -> f64 {
    match op {
        FBinOp::Add => a + b,
        FBinOp::Sub => a - b,
        FBinOp::Mul => a * b,
        FBinOp::Div => a / b,
        FBinOp::Rem => a % b,
    }
}

#[cfg(test)]
mod tests {
    use super::{bin, keep, sign_extend};
    use raddle_ir::BinOp;

    #[test]
    fn narrow_arithmetic_agrees_with_the_machine_types() {
        let samples = [0u8, 1, 2, 7, 8, 100, 127, 128, 200, 255];
        for &a in &samples {
            for &b in &samples {
                let run = |op| bin(op, 8, u64::from(a), u64::from(b)).map(|v| v as u8);
                assert_eq!(run(BinOp::Add), Some(a.wrapping_add(b)));
                assert_eq!(run(BinOp::Sub), Some(a.wrapping_sub(b)));
                assert_eq!(run(BinOp::Mul), Some(a.wrapping_mul(b)));
                assert_eq!(run(BinOp::UDiv), a.checked_div(b));
                assert_eq!(run(BinOp::URem), a.checked_rem(b));
                let (x, y) = (a as i8, b as i8);
                assert_eq!(run(BinOp::SDiv), (y != 0).then(|| x.wrapping_div(y) as u8));
                assert_eq!(run(BinOp::SRem), (y != 0).then(|| x.wrapping_rem(y) as u8));
                assert_eq!(run(BinOp::Shl), Some(if b < 8 { a << b } else { 0 }));
                assert_eq!(run(BinOp::LShr), Some(if b < 8 { a >> b } else { 0 }));
                assert_eq!(run(BinOp::AShr), Some((x >> b.min(7)) as u8));
            }
        }
    }

    #[test]
    fn extension_keeps_the_target_width() {
        assert_eq!(sign_extend(0x80, 8, 32), 0xFFFF_FF80);
        assert_eq!(sign_extend(0x7F, 8, 64), 0x7F);
        assert_eq!(sign_extend(1, 1, 1), 1);
        assert_eq!(keep(u64::MAX, 64), u64::MAX);
    }
}
