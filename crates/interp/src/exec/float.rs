//! Floats of every format, by bits. `float` and `double` run natively; the others by software floats (`rustc_apfloat`).
//!
//! NaN payloads and signs may differ from the machine's. Transcendental functions of the software formats go through
//! `double`: less exact than the C library's.

use raddle_ir::{FBinOp, FcmpPred, FloatTy};
use rustc_apfloat::ieee::{BFloat, Half, Quad, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, Round};
use std::cmp::Ordering;

pub(crate) fn bin(op: FBinOp, ty: FloatTy, a: u128, b: u128) -> u128 {
    match ty {
        FloatTy::F32 => {
            u128::from(super::arith::fbin32(op, f32::from_bits(a as u32), f32::from_bits(b as u32)).to_bits())
        }
        FloatTy::F64 => {
            u128::from(super::arith::fbin64(op, f64::from_bits(a as u64), f64::from_bits(b as u64)).to_bits())
        }
        FloatTy::F16 => soft_bin::<Half>(op, a, b),
        FloatTy::BF16 => soft_bin::<BFloat>(op, a, b),
        FloatTy::F80 => soft_bin::<X87DoubleExtended>(op, a, b),
        FloatTy::F128 => soft_bin::<Quad>(op, a, b),
    }
}

pub(crate) fn negate(ty: FloatTy, a: u128) -> u128 {
    a ^ sign_bit(ty)
}

pub(crate) fn sign_bit(ty: FloatTy) -> u128 {
    1 << (ty.access_bytes() * 8 - 1)
}

pub(crate) fn compare(pred: FcmpPred, ty: FloatTy, a: u128, b: u128) -> bool {
    let order = order(ty, a, b);
    let is = |wanted: &[Ordering]| order.is_some_and(|o| wanted.contains(&o));
    let unordered = order.is_none();
    match pred {
        FcmpPred::False => false,
        FcmpPred::Oeq => is(&[Ordering::Equal]),
        FcmpPred::Ogt => is(&[Ordering::Greater]),
        FcmpPred::Oge => is(&[Ordering::Greater, Ordering::Equal]),
        FcmpPred::Olt => is(&[Ordering::Less]),
        FcmpPred::Ole => is(&[Ordering::Less, Ordering::Equal]),
        FcmpPred::One => is(&[Ordering::Less, Ordering::Greater]),
        FcmpPred::Ord => !unordered,
        FcmpPred::Uno => unordered,
        FcmpPred::Ueq => unordered || is(&[Ordering::Equal]),
        FcmpPred::Ugt => unordered || is(&[Ordering::Greater]),
        FcmpPred::Uge => unordered || is(&[Ordering::Greater, Ordering::Equal]),
        FcmpPred::Ult => unordered || is(&[Ordering::Less]),
        FcmpPred::Ule => unordered || is(&[Ordering::Less, Ordering::Equal]),
        FcmpPred::Une => unordered || is(&[Ordering::Less, Ordering::Greater]),
        FcmpPred::True => true,
    }
}

/// `None` when one of them is not a number.
pub(crate) fn order(ty: FloatTy, a: u128, b: u128) -> Option<Ordering> {
    match ty {
        FloatTy::F32 => f32::from_bits(a as u32).partial_cmp(&f32::from_bits(b as u32)),
        FloatTy::F64 => f64::from_bits(a as u64).partial_cmp(&f64::from_bits(b as u64)),
        FloatTy::F16 => Half::from_bits(a).partial_cmp(&Half::from_bits(b)),
        FloatTy::BF16 => BFloat::from_bits(a).partial_cmp(&BFloat::from_bits(b)),
        FloatTy::F80 => X87DoubleExtended::from_bits(a).partial_cmp(&X87DoubleExtended::from_bits(b)),
        FloatTy::F128 => Quad::from_bits(a).partial_cmp(&Quad::from_bits(b)),
    }
}

pub(crate) fn convert(from: FloatTy, to: FloatTy, bits: u128) -> u128 {
    match (from, to) {
        _ if from == to => bits,
        (FloatTy::F32, FloatTy::F64) => u128::from(f64::from(f32::from_bits(bits as u32)).to_bits()),
        (FloatTy::F64, FloatTy::F32) => u128::from((f64::from_bits(bits as u64) as f32).to_bits()),
        _ => match from {
            FloatTy::F16 => narrow(Half::from_bits(bits), to),
            FloatTy::BF16 => narrow(BFloat::from_bits(bits), to),
            FloatTy::F32 => narrow(rustc_apfloat::ieee::Single::from_bits(bits), to),
            FloatTy::F64 => narrow(rustc_apfloat::ieee::Double::from_bits(bits), to),
            FloatTy::F80 => narrow(X87DoubleExtended::from_bits(bits), to),
            FloatTy::F128 => narrow(Quad::from_bits(bits), to),
        },
    }
}

/// Truncates towards zero; what does not fit gives the value that x86 gives (only the top bit set) for signed types.
pub(crate) fn to_int(ty: FloatTy, bits: u128, width: u8, signed: bool) -> u128 {
    let quad = Quad::from_bits(convert(ty, FloatTy::F128, bits));
    let fits;
    let value = if signed {
        let result = quad.to_i128_r(usize::from(width), Round::TowardZero, &mut false);
        fits = !result.status.contains(rustc_apfloat::Status::INVALID_OP);
        result.value as u128
    } else {
        let result = quad.to_u128_r(usize::from(width), Round::TowardZero, &mut false);
        fits = !result.status.contains(rustc_apfloat::Status::INVALID_OP);
        result.value
    };
    let value = if fits { value } else { 1 << (width - 1) };
    super::wide::keep(value, width)
}

pub(crate) fn from_int(ty: FloatTy, value: u128, width: u8, signed: bool) -> u128 {
    let signed_value = super::wide::sign_extend(value, width);
    match ty {
        FloatTy::F32 if signed => u128::from((signed_value as f32).to_bits()),
        FloatTy::F32 => u128::from((value as f32).to_bits()),
        FloatTy::F64 if signed => u128::from((signed_value as f64).to_bits()),
        FloatTy::F64 => u128::from((value as f64).to_bits()),
        FloatTy::F16 => soft_from_int::<Half>(value, signed_value, signed),
        FloatTy::BF16 => soft_from_int::<BFloat>(value, signed_value, signed),
        FloatTy::F80 => soft_from_int::<X87DoubleExtended>(value, signed_value, signed),
        FloatTy::F128 => soft_from_int::<Quad>(value, signed_value, signed),
    }
}

pub(crate) fn to_f64(ty: FloatTy, bits: u128) -> f64 {
    f64::from_bits(convert(ty, FloatTy::F64, bits) as u64)
}

pub(crate) fn from_f64(ty: FloatTy, value: f64) -> u128 {
    convert(FloatTy::F64, ty, u128::from(value.to_bits()))
}

pub(crate) fn round(ty: FloatTy, bits: u128, how: Round) -> u128 {
    match ty {
        FloatTy::F16 => Half::from_bits(bits).round_to_integral(how).value.to_bits(),
        FloatTy::BF16 => BFloat::from_bits(bits).round_to_integral(how).value.to_bits(),
        FloatTy::F32 => rustc_apfloat::ieee::Single::from_bits(bits).round_to_integral(how).value.to_bits(),
        FloatTy::F64 => rustc_apfloat::ieee::Double::from_bits(bits).round_to_integral(how).value.to_bits(),
        FloatTy::F80 => X87DoubleExtended::from_bits(bits).round_to_integral(how).value.to_bits(),
        FloatTy::F128 => Quad::from_bits(bits).round_to_integral(how).value.to_bits(),
    }
}

pub(crate) fn fma(ty: FloatTy, a: u128, b: u128, c: u128) -> u128 {
    fn soft<F: Float>(a: u128, b: u128, c: u128) -> u128 {
        F::from_bits(a).mul_add(F::from_bits(b), F::from_bits(c)).value.to_bits()
    }
    match ty {
        FloatTy::F16 => soft::<Half>(a, b, c),
        FloatTy::BF16 => soft::<BFloat>(a, b, c),
        FloatTy::F32 => {
            let [a, b, c] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
            u128::from(a.mul_add(b, c).to_bits())
        }
        FloatTy::F64 => {
            let [a, b, c] = [a, b, c].map(|bits| f64::from_bits(bits as u64));
            u128::from(a.mul_add(b, c).to_bits())
        }
        FloatTy::F80 => soft::<X87DoubleExtended>(a, b, c),
        FloatTy::F128 => soft::<Quad>(a, b, c),
    }
}

/// Bits of LLVM's class mask that apply to the value.
pub(crate) fn class(ty: FloatTy, bits: u128) -> u32 {
    fn of<F: Float>(bits: u128) -> u32 {
        use rustc_apfloat::Category;
        let value = F::from_bits(bits);
        let negative = value.is_negative();
        match value.category() {
            Category::NaN if value.is_signaling() => 1,
            Category::NaN => 2,
            Category::Infinity => {
                if negative {
                    4
                } else {
                    512
                }
            }
            Category::Zero => {
                if negative {
                    32
                } else {
                    64
                }
            }
            Category::Normal if value.is_denormal() => {
                if negative {
                    16
                } else {
                    128
                }
            }
            Category::Normal => {
                if negative {
                    8
                } else {
                    256
                }
            }
        }
    }
    match ty {
        FloatTy::F16 => of::<Half>(bits),
        FloatTy::BF16 => of::<BFloat>(bits),
        FloatTy::F32 => of::<rustc_apfloat::ieee::Single>(bits),
        FloatTy::F64 => of::<rustc_apfloat::ieee::Double>(bits),
        FloatTy::F80 => of::<X87DoubleExtended>(bits),
        FloatTy::F128 => of::<Quad>(bits),
    }
}

fn soft_bin<F: Float>(op: FBinOp, a: u128, b: u128) -> u128 {
    let (a, b) = (F::from_bits(a), F::from_bits(b));
    match op {
        FBinOp::Add => (a + b).value,
        FBinOp::Sub => (a - b).value,
        FBinOp::Mul => (a * b).value,
        FBinOp::Div => (a / b).value,
        FBinOp::Rem => a.c_fmod(b).value,
    }
    .to_bits()
}

fn soft_from_int<F: Float>(value: u128, signed_value: i128, signed: bool) -> u128 {
    if signed { F::from_i128(signed_value).value } else { F::from_u128(value).value }.to_bits()
}

fn narrow<F>(value: F, to: FloatTy) -> u128
where
    F: FloatConvert<Half>
        + FloatConvert<BFloat>
        + FloatConvert<rustc_apfloat::ieee::Single>
        + FloatConvert<rustc_apfloat::ieee::Double>
        + FloatConvert<X87DoubleExtended>
        + FloatConvert<Quad>,
{
    let mut lost = false;
    match to {
        FloatTy::F16 => FloatConvert::<Half>::convert(value, &mut lost).value.to_bits(),
        FloatTy::BF16 => FloatConvert::<BFloat>::convert(value, &mut lost).value.to_bits(),
        FloatTy::F32 => {
            FloatConvert::<rustc_apfloat::ieee::Single>::convert(value, &mut lost).value.to_bits()
        }
        FloatTy::F64 => {
            FloatConvert::<rustc_apfloat::ieee::Double>::convert(value, &mut lost).value.to_bits()
        }
        FloatTy::F80 => FloatConvert::<X87DoubleExtended>::convert(value, &mut lost).value.to_bits(),
        FloatTy::F128 => FloatConvert::<Quad>::convert(value, &mut lost).value.to_bits(),
    }
}
