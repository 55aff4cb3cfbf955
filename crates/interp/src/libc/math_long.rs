//! `math.h` for x87 `long double`: what can be computed exactly or with one rounding.

use super::errors::{EDOM, ERANGE};
use super::math::{read_payload, sign_if};
use super::values::int;
use super::{Family, Host, Outcome};
use rustc_apfloat::Float;
use rustc_apfloat::Round;
use rustc_apfloat::ieee::X87DoubleExtended as Extended;
use std::cmp::Ordering;

pub(super) const FUNCTIONS: Family = &[
    ("sqrtl", sqrtl),
    ("fabsl", |h| Ok(argument(h, 0).abs().to_bits())),
    ("floorl", |h| Ok(round(h, Round::TowardNegative))),
    ("ceill", |h| Ok(round(h, Round::TowardPositive))),
    ("truncl", |h| Ok(round(h, Round::TowardZero))),
    ("roundl", |h| Ok(round(h, Round::NearestTiesToAway))),
    ("rintl", |h| Ok(round(h, Round::NearestTiesToEven))),
    ("roundevenl", |h| Ok(round(h, Round::NearestTiesToEven))),
    ("fmodl", fmodl),
    ("fdiml", fdiml),
    ("fmaxl", |h| Ok(argument(h, 0).max(argument(h, 1)).to_bits())),
    ("fminl", |h| Ok(argument(h, 0).min(argument(h, 1)).to_bits())),
    ("copysignl", |h| Ok(argument(h, 0).copy_sign(argument(h, 1)).to_bits())),
    ("frexpl", frexpl),
    ("ldexpl", ldexpl),
    ("modfl", modfl),
    ("nanl", |h| {
        read_payload(h)?;
        Ok(Extended::NAN.to_bits())
    }),
    ("__fpclassifyl", |h| Ok(classify(argument(h, 0)))),
    ("__isnanl", |h| Ok(u128::from(argument(h, 0).is_nan()))),
    ("__isinfl", |h| Ok(sign_if(argument(h, 0).is_infinite(), argument(h, 0).is_negative()))),
    ("__finitel", |h| Ok(u128::from(argument(h, 0).is_finite()))),
    ("__signbitl", |h| Ok(u128::from(argument(h, 0).is_negative()))),
];

fn argument(host: &dyn Host, index: usize) -> Extended {
    Extended::from_bits(host.arg(index) & ((1 << 80) - 1))
}

fn round(host: &dyn Host, direction: Round) -> u128 {
    argument(host, 0).round_to_integral(direction).value.to_bits()
}

/// The integer square root of the mantissa, with enough bits to round.
fn sqrtl(host: &mut dyn Host) -> Outcome<u128> {
    let x = argument(host, 0);
    if x.is_nan() || x.is_zero() || (x.is_infinite() && !x.is_negative()) {
        return Ok(x.to_bits());
    }
    if x.is_negative() {
        host.set_errno(EDOM);
        return Ok((-Extended::NAN).to_bits());
    }
    let exponent = x.ilogb();
    // x = mantissa · 2^(exponent - 63), with bit 63 of the mantissa set; an even power of two is taken out.
    let mantissa = x.scalbn(63 - exponent).to_u128(128).value;
    let odd = exponent.rem_euclid(2);
    let scaled = mantissa << (63 + odd);
    let root = scaled.isqrt();
    // 64 bits and a remainder: rounds up when the rest is above a half; a tie cannot happen.
    let rounded = if scaled - root * root > root { root + 1 } else { root };
    let result = Extended::from_u128(rounded).value.scalbn((exponent - odd) / 2 - 63);
    Ok(result.to_bits())
}

fn fmodl(host: &mut dyn Host) -> Outcome<u128> {
    let (x, y) = (argument(host, 0), argument(host, 1));
    let result = x.c_fmod(y).value;
    if result.is_nan() && !x.is_nan() && !y.is_nan() {
        host.set_errno(EDOM);
    }
    Ok(result.to_bits())
}

fn fdiml(host: &mut dyn Host) -> Outcome<u128> {
    let (x, y) = (argument(host, 0), argument(host, 1));
    Ok(match x.partial_cmp(&y) {
        Some(Ordering::Greater) => (x - y).value.to_bits(),
        Some(_) => Extended::ZERO.to_bits(),
        None => (x + y).value.to_bits(),
    })
}

fn frexpl(host: &mut dyn Host) -> Outcome<u128> {
    let (x, target) = (argument(host, 0), host.pointer(1));
    let (fraction, exponent) =
        if x.is_finite_non_zero() { (x.scalbn(-x.ilogb() - 1), x.ilogb() + 1) } else { (x, 0) };
    host.write_int(target, exponent)?;
    Ok(fraction.to_bits())
}

fn ldexpl(host: &mut dyn Host) -> Outcome<u128> {
    let (x, power) = (argument(host, 0), host.int(1).clamp(-70_000, 70_000));
    let result = x.scalbn(power);
    if (result.is_infinite() && x.is_finite()) || (result.is_zero() && !x.is_zero()) {
        host.set_errno(ERANGE);
    }
    Ok(result.to_bits())
}

fn modfl(host: &mut dyn Host) -> Outcome<u128> {
    let (x, target) = (argument(host, 0), host.pointer(1));
    let whole = x.round_to_integral(Round::TowardZero).value;
    host.write(target, &whole.to_bits().to_le_bytes()[..10])?;
    let fraction = if x.is_infinite() { Extended::ZERO } else { (x - whole).value };
    Ok(fraction.copy_sign(x).to_bits())
}

fn classify(x: Extended) -> u128 {
    int(match x {
        _ if x.is_nan() => 0,
        _ if x.is_infinite() => 1,
        _ if x.is_zero() => 2,
        _ if x.is_denormal() => 3,
        _ => 4,
    })
}
