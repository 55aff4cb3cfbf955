//! Pure operations of the compiler on scalars.

use super::{arith, float, wide};
use raddle_ir::{FBinOp, FloatTy, IntrinsicOp, Ty};
use rustc_apfloat::Round;

/// The value, then the overflow bit for the operations that have one; for a product that is added, whether one rounding gives another
/// value than the two of this one.
pub(crate) fn run(op: IntrinsicOp, ty: Ty, bits: u8, args: &[u128]) -> (u128, bool) {
    let arg = |index: usize| args.get(index).copied().unwrap_or(0);
    match ty {
        _ if op == IntrinsicOp::Outside => (arg(0), false),
        Ty::Float(float) if op == IntrinsicOp::MulAdd => {
            let sum = float::bin(FBinOp::Add, float, float::bin(FBinOp::Mul, float, arg(0), arg(1)), arg(2));
            (sum, sum != float::fma(float, arg(0), arg(1), arg(2)))
        }
        Ty::Float(float) => (of_float(op, float, &arg), false),
        Ty::Int(_) | Ty::Ptr => of_int(op, bits, &arg),
    }
}

fn of_int(op: IntrinsicOp, bits: u8, arg: &dyn Fn(usize) -> u128) -> (u128, bool) {
    let (a, b) = (arg(0), arg(1));
    let width = u32::from(bits);
    let sign = |value| wide::sign_extend(value, bits);
    let keep = |value| wide::keep(value, bits);
    let (min, max) = (i128::MIN >> (128 - width), i128::MAX >> (128 - width));
    let all = keep(u128::MAX);
    // A result that is exact, or that wrapped even 128 bits; then whether it left the type.
    let signed =
        |(value, wrapped): (i128, bool)| (keep(value as u128), wrapped || value < min || value > max);
    let unsigned = |(value, wrapped): (u128, bool)| (keep(value), wrapped || value > all);
    let plain = |value: u128| (keep(value), false);
    let amount = (arg(2) % u128::from(width)) as u32;
    match op {
        IntrinsicOp::Bswap => plain(a.swap_bytes() >> (128 - width)),
        IntrinsicOp::BitReverse => plain(a.reverse_bits() >> (128 - width)),
        IntrinsicOp::CtPop => plain(u128::from(a.count_ones())),
        IntrinsicOp::CtLz => plain(u128::from(a.leading_zeros() - (128 - width))),
        IntrinsicOp::CtTz => plain(u128::from(a.trailing_zeros().min(width))),
        IntrinsicOp::Fshl if amount == 0 => plain(a),
        IntrinsicOp::Fshl => plain(a << amount | b >> (width - amount)),
        IntrinsicOp::Fshr if amount == 0 => plain(b),
        IntrinsicOp::Fshr => plain(a << (width - amount) | b >> amount),
        IntrinsicOp::Abs => plain(sign(a).wrapping_abs() as u128),
        IntrinsicOp::SMin => plain(sign(a).min(sign(b)) as u128),
        IntrinsicOp::SMax => plain(sign(a).max(sign(b)) as u128),
        IntrinsicOp::UMin => plain(a.min(b)),
        IntrinsicOp::UMax => plain(a.max(b)),
        IntrinsicOp::SAddOverflow => signed(sign(a).overflowing_add(sign(b))),
        IntrinsicOp::SSubOverflow => signed(sign(a).overflowing_sub(sign(b))),
        IntrinsicOp::SMulOverflow => signed(sign(a).overflowing_mul(sign(b))),
        IntrinsicOp::UAddOverflow => unsigned(a.overflowing_add(b)),
        IntrinsicOp::USubOverflow => unsigned(a.overflowing_sub(b)),
        IntrinsicOp::UMulOverflow => unsigned(a.overflowing_mul(b)),
        IntrinsicOp::SAddSat => plain(sign(a).saturating_add(sign(b)).clamp(min, max) as u128),
        IntrinsicOp::SSubSat => plain(sign(a).saturating_sub(sign(b)).clamp(min, max) as u128),
        IntrinsicOp::UAddSat => plain(a.saturating_add(b).min(all)),
        IntrinsicOp::USubSat => plain(a.saturating_sub(b)),
        _ => plain(0),
    }
}

fn of_float(op: IntrinsicOp, ty: FloatTy, arg: &dyn Fn(usize) -> u128) -> u128 {
    let (a, b) = (arg(0), arg(1));
    let sign = float::sign_bit(ty);
    let nan = |bits| float::order(ty, bits, bits).is_none();
    let less = |x, y| float::order(ty, x, y) == Some(std::cmp::Ordering::Less);
    let through_f64 = |f: fn(f64) -> f64| float::from_f64(ty, f(float::to_f64(ty, a)));
    match op {
        IntrinsicOp::FAbs => a & !sign,
        IntrinsicOp::CopySign => (a & !sign) | (b & sign),
        IntrinsicOp::Sqrt => match ty {
            FloatTy::F32 => u128::from(f32::from_bits(a as u32).sqrt().to_bits()),
            FloatTy::F80 | FloatTy::F128 => sqrt(ty, a),
            _ => through_f64(f64::sqrt),
        },
        IntrinsicOp::Floor => float::round(ty, a, Round::TowardNegative),
        IntrinsicOp::Ceil => float::round(ty, a, Round::TowardPositive),
        IntrinsicOp::FTrunc => float::round(ty, a, Round::TowardZero),
        IntrinsicOp::Rint | IntrinsicOp::RoundEven => float::round(ty, a, Round::NearestTiesToEven),
        IntrinsicOp::Round => float::round(ty, a, Round::NearestTiesToAway),
        IntrinsicOp::FMin if nan(a) => b,
        IntrinsicOp::FMin => {
            if nan(b) || less(a, b) {
                a
            } else {
                b
            }
        }
        IntrinsicOp::FMax if nan(a) => b,
        IntrinsicOp::FMax => {
            if nan(b) || less(b, a) {
                a
            } else {
                b
            }
        }
        IntrinsicOp::Fma => float::fma(ty, a, b, arg(2)),
        IntrinsicOp::Pow => float::from_f64(ty, float::to_f64(ty, a).powf(float::to_f64(ty, b))),
        IntrinsicOp::Powi => float::from_f64(ty, float::to_f64(ty, a).powi(b as u32 as i32)),
        IntrinsicOp::Exp => through_f64(f64::exp),
        IntrinsicOp::Exp2 => through_f64(f64::exp2),
        IntrinsicOp::Log => through_f64(f64::ln),
        IntrinsicOp::Log2 => through_f64(f64::log2),
        IntrinsicOp::Log10 => through_f64(f64::log10),
        IntrinsicOp::Sin => through_f64(f64::sin),
        IntrinsicOp::Cos => through_f64(f64::cos),
        IntrinsicOp::IsFpClass => u128::from(float::class(ty, a) & b as u32 != 0),
        _ => arith::keep(a as u64, 64).into(),
    }
}

/// Newton's steps from the root in double precision: enough digits for both formats.
fn sqrt(ty: FloatTy, a: u128) -> u128 {
    use raddle_ir::FBinOp;
    let start = float::to_f64(ty, a).sqrt();
    if !start.is_finite() || start == 0.0 {
        return float::from_f64(ty, start);
    }
    let half = float::from_f64(ty, 0.5);
    let mut root = float::from_f64(ty, start);
    for _ in 0..3 {
        let quotient = float::bin(FBinOp::Div, ty, a, root);
        let sum = float::bin(FBinOp::Add, ty, root, quotient);
        root = float::bin(FBinOp::Mul, ty, sum, half);
    }
    root
}

#[cfg(test)]
mod tests {
    use super::run;
    use raddle_ir::{IntrinsicOp, Ty};

    #[test]
    fn integer_intrinsics_agree_with_the_machine_types() {
        let samples = [0u8, 1, 2, 100, 127, 128, 200, 255];
        for &a in &samples {
            for &b in &samples {
                let call = |op| {
                    let (value, flag) = run(op, Ty::Int(8), 8, &[u128::from(a), u128::from(b)]);
                    (value as u8, flag)
                };
                let (x, y) = (a as i8, b as i8);
                let signed = |(v, f): (i8, bool)| (v as u8, f);
                assert_eq!(call(IntrinsicOp::SAddOverflow), signed(x.overflowing_add(y)));
                assert_eq!(call(IntrinsicOp::SSubOverflow), signed(x.overflowing_sub(y)));
                assert_eq!(call(IntrinsicOp::SMulOverflow), signed(x.overflowing_mul(y)));
                assert_eq!(call(IntrinsicOp::UAddOverflow), a.overflowing_add(b));
                assert_eq!(call(IntrinsicOp::USubOverflow), a.overflowing_sub(b));
                assert_eq!(call(IntrinsicOp::UMulOverflow), a.overflowing_mul(b));
                assert_eq!(call(IntrinsicOp::SAddSat).0, x.saturating_add(y) as u8);
                assert_eq!(call(IntrinsicOp::USubSat).0, a.saturating_sub(b));
                assert_eq!(call(IntrinsicOp::SMin).0, x.min(y) as u8);
                assert_eq!(call(IntrinsicOp::CtLz).0, a.leading_zeros() as u8);
                assert_eq!(call(IntrinsicOp::CtTz).0, a.trailing_zeros() as u8);
                assert_eq!(call(IntrinsicOp::BitReverse).0, a.reverse_bits());
            }
        }
        let swapped = run(IntrinsicOp::Bswap, Ty::Int(32), 32, &[0x0102_0304]).0;
        assert_eq!(swapped, 0x0403_0201);
        let rotated = run(IntrinsicOp::Fshl, Ty::Int(32), 32, &[0x8000_0001, 0x8000_0001, 1]).0;
        assert_eq!(rotated, 3);
    }
}
