//! Casts that are not a mere move or truncation of 64 bits.

use super::{float, wide};
use crate::code::CastDesc;
use raddle_ir::{CastOp, FloatTy, Ty};

/// `bits` tells the width of a type.
pub(crate) fn cast(desc: &CastDesc, value: u128, bits: impl Fn(Ty) -> u8) -> u128 {
    let (from_bits, to_bits) = (bits(desc.from), bits(desc.to));
    match desc.op {
        CastOp::Trunc | CastOp::ZExt | CastOp::PtrToInt | CastOp::IntToPtr | CastOp::Bitcast => {
            wide::keep(value, to_bits)
        }
        CastOp::SExt => wide::keep(wide::sign_extend(value, from_bits) as u128, to_bits),
        CastOp::FpTrunc | CastOp::FpExt => float::convert(float_of(desc.from), float_of(desc.to), value),
        CastOp::FpToUi => float::to_int(float_of(desc.from), value, to_bits, false),
        CastOp::FpToSi => float::to_int(float_of(desc.from), value, to_bits, true),
        CastOp::UiToFp => float::from_int(float_of(desc.to), value, from_bits, false),
        CastOp::SiToFp => float::from_int(float_of(desc.to), value, from_bits, true),
    }
}

fn float_of(ty: Ty) -> FloatTy {
    match ty {
        Ty::Float(float) => float,
        Ty::Int(_) | Ty::Ptr => FloatTy::F64,
    }
}
