//! `math.h` for `double` and `float`.
//!
//! Results are glibc's to the last bit (`float` forms are computed as such), except that `cbrt` is rounded correctly and that
//! `asinh`, `acosh` and `atanh`, which are Rust's own, may differ in the last places. `errno` follows C11 7.12.1: a NaN from numbers
//! is a domain error, an infinity from finite numbers a range error, and so is an underflow to zero.

use super::errors::{EDOM, ERANGE};
use super::values::{double, float, int};
use super::{Family, Host, Outcome};
use rustc_apfloat::Float;
use rustc_apfloat::ieee::{Double, Single};

/// `name` and `namef` of functions from one or two numbers to one.
macro_rules! family {
    ($(one $name1:literal $namef1:literal $f1:expr, $g1:expr;)* $(two $name2:literal $namef2:literal $f2:expr, $g2:expr;)* $(other $name3:literal $f3:expr;)*) => {
        pub(super) const FUNCTIONS: Family = &[
            $(
                ($name1, |h| one(h, $f1)),
                ($namef1, |h| one_float(h, $g1)),
            )*
            $(
                ($name2, |h| two(h, $f2)),
                ($namef2, |h| two_float(h, $g2)),
            )*
            $(($name3, $f3),)*
        ];
    };
}

family! {
    one "acos" "acosf" f64::acos, f32::acos;
    one "asin" "asinf" f64::asin, f32::asin;
    one "atan" "atanf" f64::atan, f32::atan;
    one "cos" "cosf" f64::cos, f32::cos;
    one "sin" "sinf" f64::sin, f32::sin;
    one "tan" "tanf" f64::tan, f32::tan;
    one "acosh" "acoshf" f64::acosh, f32::acosh;
    one "asinh" "asinhf" f64::asinh, f32::asinh;
    one "atanh" "atanhf" f64::atanh, f32::atanh;
    one "cosh" "coshf" f64::cosh, f32::cosh;
    one "sinh" "sinhf" f64::sinh, f32::sinh;
    one "tanh" "tanhf" f64::tanh, f32::tanh;
    one "exp" "expf" f64::exp, f32::exp;
    one "exp2" "exp2f" f64::exp2, f32::exp2;
    one "expm1" "expm1f" f64::exp_m1, f32::exp_m1;
    one "log" "logf" f64::ln, f32::ln;
    one "log2" "log2f" f64::log2, f32::log2;
    one "log10" "log10f" f64::log10, f32::log10;
    one "log1p" "log1pf" f64::ln_1p, f32::ln_1p;
    one "cbrt" "cbrtf" f64::cbrt, f32::cbrt;
    one "sqrt" "sqrtf" f64::sqrt, f32::sqrt;
    one "fabs" "fabsf" f64::abs, f32::abs;
    one "floor" "floorf" f64::floor, f32::floor;
    one "ceil" "ceilf" f64::ceil, f32::ceil;
    one "trunc" "truncf" f64::trunc, f32::trunc;
    one "round" "roundf" f64::round, f32::round;
    one "rint" "rintf" f64::round_ties_even, f32::round_ties_even;
    one "roundeven" "roundevenf" f64::round_ties_even, f32::round_ties_even;
    two "hypot" "hypotf" f64::hypot, f32::hypot;
    two "fmod" "fmodf" |x, y| x % y, |x, y| x % y;
    two "remainder" "remainderf" remainder, |x, y| remainder(f64::from(x), f64::from(y)) as f32;
    two "fdim" "fdimf" |x, y| if x > y { x - y } else if x.is_nan() || y.is_nan() { x + y } else { 0.0 },
        |x, y| if x > y { x - y } else if x.is_nan() || y.is_nan() { x + y } else { 0.0 };
    two "fmax" "fmaxf" |x, y| if x > y || y.is_nan() { x } else { y }, |x, y| if x > y || y.is_nan() { x } else { y };
    two "fmin" "fminf" |x, y| if x < y || y.is_nan() { x } else { y }, |x, y| if x < y || y.is_nan() { x } else { y };
    two "copysign" "copysignf" f64::copysign, f32::copysign;
    other "pow" |h| two_underflowing(h, f64::powf, |_, _, result| result == 0.0);
    other "powf" |h| two_float_underflowing(h, f32::powf, |_, _, result| result == 0.0);
    other "atan2" |h| two_underflowing(h, f64::atan2, |_, _, result| result == 0.0);
    other "atan2f" |h| two_float_underflowing(h, f32::atan2, |_, _, result| result == 0.0);
    other "nextafter" |h| two_underflowing(h, next_after, |x, y, result| x != y && result.abs() < f64::MIN_POSITIVE);
    other "nextafterf" |h| two_float_underflowing(h, next_after_float, |x, y, result| x != y && result.abs() < f32::MIN_POSITIVE);
    other "lround" |h| { let x = h.double(0).round(); Ok(h.word(x as i64)) };
    other "lroundf" |h| { let x = h.float(0).round(); Ok(h.word(x as i64)) };
    other "lrint" |h| { let x = h.double(0).round_ties_even(); Ok(h.word(x as i64)) };
    other "lrintf" |h| { let x = h.float(0).round_ties_even(); Ok(h.word(x as i64)) };
    other "llround" |h| Ok(u128::from(h.double(0).round() as i64 as u64));
    other "llroundf" |h| Ok(u128::from(h.float(0).round() as i64 as u64));
    other "llrint" |h| Ok(u128::from(h.double(0).round_ties_even() as i64 as u64));
    other "llrintf" |h| Ok(u128::from(h.float(0).round_ties_even() as i64 as u64));
    other "fma" |h| Ok(double(h.double(0).mul_add(h.double(1), h.double(2))));
    other "fmaf" |h| Ok(float(h.float(0).mul_add(h.float(1), h.float(2))));
    other "exp10" |h| one(h, |x| 10f64.powf(x));
    other "logb" |h| Ok(double(logb(h.double(0))));
    other "logbf" |h| Ok(float(logb(f64::from(h.float(0))) as f32));
    other "frexp" frexp;
    other "frexpf" frexpf;
    other "ldexp" |h| { let power = i64::from(h.int(1)); scale(h, power) };
    other "ldexpf" |h| { let power = i64::from(h.int(1)); scale_float(h, power) };
    other "scalbln" |h| { let power = h.long(1); scale(h, power) };
    other "scalblnf" |h| { let power = h.long(1); scale_float(h, power) };
    other "modf" modf;
    other "modff" modff;
    other "ilogb" |h| Ok(int(ilogb(h.double(0))));
    other "ilogbf" |h| Ok(int(ilogb(f64::from(h.float(0)))));
    other "nan" |h| { read_payload(h)?; Ok(double(f64::NAN)) };
    other "nanf" |h| { read_payload(h)?; Ok(float(f32::NAN)) };
    other "__fpclassify" |h| Ok(class(h.double(0).classify()));
    other "__fpclassifyf" |h| Ok(class(h.float(0).classify()));
    other "__isnan" |h| Ok(u128::from(h.double(0).is_nan()));
    other "__isnanf" |h| Ok(u128::from(h.float(0).is_nan()));
    other "__isinf" |h| Ok(sign_if(h.double(0).is_infinite(), h.double(0) < 0.0));
    other "__isinff" |h| Ok(sign_if(h.float(0).is_infinite(), h.float(0) < 0.0));
    other "__finite" |h| Ok(u128::from(h.double(0).is_finite()));
    other "__finitef" |h| Ok(u128::from(h.float(0).is_finite()));
    other "__signbit" |h| Ok(u128::from(h.double(0).is_sign_negative()));
    other "__signbitf" |h| Ok(u128::from(h.float(0).is_sign_negative()));
}

/// Arguments and result as far as `errno` depends on them.
/// The text that `nan` is given; the bits that it stands for are not modelled.
pub(super) fn read_payload(host: &mut dyn Host) -> Outcome<()> {
    let text = host.pointer(0);
    host.read_string(text).map(|_| ())
}

fn report(host: &mut dyn Host, arguments: &[f64], result: f64, underflow: bool) {
    if result.is_nan() && !arguments.iter().any(|x| x.is_nan()) {
        host.set_errno(EDOM);
    } else if (result.is_infinite() && arguments.iter().all(|x| x.is_finite())) || underflow {
        host.set_errno(ERANGE);
    }
}

fn one(host: &mut dyn Host, function: fn(f64) -> f64) -> Outcome<u128> {
    let x = host.double(0);
    let result = function(x);
    // Of the functions here only exponentials reach zero from a large negative number.
    report(host, &[x], result, result == 0.0 && x < -700.0 && x.is_finite());
    Ok(double(result))
}

fn one_float(host: &mut dyn Host, function: fn(f32) -> f32) -> Outcome<u128> {
    let x = host.float(0);
    let result = function(x);
    report(host, &[f64::from(x)], f64::from(result), result == 0.0 && x < -100.0 && x.is_finite());
    Ok(float(result))
}

fn two(host: &mut dyn Host, function: fn(f64, f64) -> f64) -> Outcome<u128> {
    let (x, y) = (host.double(0), host.double(1));
    let result = function(x, y);
    report(host, &[x, y], result, false);
    Ok(double(result))
}

/// As `two`; a result that is too small from finite numbers other than zero is a range error.
fn two_underflowing(
    host: &mut dyn Host,
    function: fn(f64, f64) -> f64,
    too_small: fn(f64, f64, f64) -> bool,
) -> Outcome<u128> {
    let (x, y) = (host.double(0), host.double(1));
    let result = function(x, y);
    let underflow = too_small(x, y, result) && x != 0.0 && x.is_finite() && y.is_finite();
    report(host, &[x, y], result, underflow);
    Ok(double(result))
}

fn two_float_underflowing(
    host: &mut dyn Host,
    function: fn(f32, f32) -> f32,
    too_small: fn(f32, f32, f32) -> bool,
) -> Outcome<u128> {
    let (x, y) = (host.float(0), host.float(1));
    let result = function(x, y);
    let underflow = too_small(x, y, result) && x != 0.0 && x.is_finite() && y.is_finite();
    report(host, &[f64::from(x), f64::from(y)], f64::from(result), underflow);
    Ok(float(result))
}

fn two_float(host: &mut dyn Host, function: fn(f32, f32) -> f32) -> Outcome<u128> {
    let (x, y) = (host.float(0), host.float(1));
    let result = function(x, y);
    report(host, &[f64::from(x), f64::from(y)], f64::from(result), false);
    Ok(float(result))
}

/// Fraction in [0.5, 1) and exponent; zero, infinity and NaN stay with exponent 0.
pub(super) fn split(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let bits = x.to_bits();
    let exponent = (bits >> 52) as i32 & 0x7ff;
    if exponent == 0 {
        let (fraction, exponent) = split(x * (1u64 << 54) as f64);
        return (fraction, exponent - 54);
    }
    (f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52), exponent - 1022)
}

fn frexp(host: &mut dyn Host) -> Outcome<u128> {
    let (fraction, exponent) = split(host.double(0));
    let target = host.pointer(1);
    host.write_int(target, exponent)?;
    Ok(double(fraction))
}

fn frexpf(host: &mut dyn Host) -> Outcome<u128> {
    let (fraction, exponent) = split(f64::from(host.float(0)));
    let target = host.pointer(1);
    host.write_int(target, exponent)?;
    Ok(float(fraction as f32))
}

/// x · 2^power with one rounding.
fn ldexp(x: f64, power: i64) -> f64 {
    let value = Double::from_bits(u128::from(x.to_bits()));
    let power = power.clamp(-5000, 5000) as i32;
    f64::from_bits(value.scalbn(power).to_bits() as u64)
}

fn scale(host: &mut dyn Host, power: i64) -> Outcome<u128> {
    let x = host.double(0);
    let result = ldexp(x, power);
    report(host, &[x], result, result == 0.0 && x != 0.0);
    Ok(double(result))
}

fn scale_float(host: &mut dyn Host, power: i64) -> Outcome<u128> {
    let x = host.float(0);
    let value = Single::from_bits(u128::from(x.to_bits()));
    let result = f32::from_bits(value.scalbn(power.clamp(-5000, 5000) as i32).to_bits() as u32);
    report(host, &[f64::from(x)], f64::from(result), result == 0.0 && x != 0.0);
    Ok(float(result))
}

fn modf(host: &mut dyn Host) -> Outcome<u128> {
    let (x, target) = (host.double(0), host.pointer(1));
    host.write(target, &x.trunc().to_le_bytes())?;
    let fraction = if x.is_infinite() { 0.0 } else { x - x.trunc() };
    Ok(double(fraction.copysign(x)))
}

fn modff(host: &mut dyn Host) -> Outcome<u128> {
    let (x, target) = (host.float(0), host.pointer(1));
    host.write(target, &x.trunc().to_le_bytes())?;
    let fraction = if x.is_infinite() { 0.0 } else { x - x.trunc() };
    Ok(float(fraction.copysign(x)))
}

fn ilogb(x: f64) -> i32 {
    match x {
        _ if x == 0.0 || x.is_nan() => i32::MIN,
        _ if x.is_infinite() => i32::MAX,
        _ => split(x).1 - 1,
    }
}

fn logb(x: f64) -> f64 {
    match x {
        _ if x == 0.0 => f64::NEG_INFINITY,
        _ if x.is_nan() => x,
        _ if x.is_infinite() => f64::INFINITY,
        _ => f64::from(split(x).1 - 1),
    }
}

/// x - n·y with n nearest to x/y, ties to even; exact.
fn remainder(x: f64, y: f64) -> f64 {
    let value = |x: f64| Double::from_bits(u128::from(x.to_bits()));
    f64::from_bits(value(x).ieee_rem(value(y)).value.to_bits() as u64)
}

fn next_after(x: f64, y: f64) -> f64 {
    match x {
        _ if x.is_nan() || y.is_nan() => x + y,
        _ if x == y => y,
        _ if x < y => x.next_up(),
        _ => x.next_down(),
    }
}

fn next_after_float(x: f32, y: f32) -> f32 {
    match x {
        _ if x.is_nan() || y.is_nan() => x + y,
        _ if x == y => y,
        _ if x < y => x.next_up(),
        _ => x.next_down(),
    }
}

/// `FP_NAN` 0, `FP_INFINITE` 1, `FP_ZERO` 2, `FP_SUBNORMAL` 3, `FP_NORMAL` 4.
pub(super) fn class(category: std::num::FpCategory) -> u128 {
    match category {
        std::num::FpCategory::Nan => 0,
        std::num::FpCategory::Infinite => 1,
        std::num::FpCategory::Zero => 2,
        std::num::FpCategory::Subnormal => 3,
        std::num::FpCategory::Normal => 4,
    }
}

/// glibc's `isinf`: 1, -1 or 0.
pub(super) fn sign_if(holds: bool, negative: bool) -> u128 {
    match (holds, negative) {
        (false, _) => 0,
        (true, false) => 1,
        (true, true) => int(-1),
    }
}
