//! Floating-point numbers as `printf` writes them: `%f`, `%e`, `%g`, `%a`, for `double` and x87 `long double`, digit for digit as
//! glibc.

use super::decimal::Decimal;
use super::format_spec::Flags;
use super::number::{Fill, pad, sign};
use super::varargs::Real;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `%f`
    Fixed,
    /// `%e`
    Scientific,
    /// `%g`
    Shorter,
    /// `%a`
    Hexadecimal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    Lower,
    Upper,
}

pub(super) fn format_real(
    value: Real,
    style: Style,
    case: Case,
    flags: Flags,
    width: usize,
    precision: Option<usize>,
) -> Vec<u8> {
    let Number { negative, class } = Number::of(value);
    let (prefix, body, fill) = match class {
        Class::Infinite => (String::new(), "inf".to_owned(), Fill::Spaces),
        Class::Nan => (String::new(), "nan".to_owned(), Fill::Spaces),
        Class::Finite { mantissa, power } => {
            let fill = if flags.zero { Fill::Zeros } else { Fill::Spaces };
            if style == Style::Hexadecimal {
                ("0x".to_owned(), hexadecimal(value, mantissa, power, flags, precision), fill)
            } else {
                (String::new(), decimal(mantissa, power, style, flags, precision.unwrap_or(6)), fill)
            }
        }
    };
    let mut text = pad(&format!("{}{prefix}", sign(negative, flags)), body.as_bytes(), fill, flags, width);
    if case == Case::Upper {
        text.make_ascii_uppercase();
    }
    text
}

/// A floating-point number taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) negative: bool,
    pub(super) class: Class,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Infinite,
    Nan,
    /// `mantissa × 2^power`.
    Finite {
        mantissa: u64,
        power: i32,
    },
}

impl Number {
    pub(super) fn of(value: Real) -> Number {
        match value {
            Real::Double(value) => {
                let bits = value.to_bits();
                let exponent = (bits >> 52) as i32 & 0x7ff;
                let fraction = bits & ((1 << 52) - 1);
                let class = match (exponent, fraction) {
                    (0x7ff, 0) => Class::Infinite,
                    (0x7ff, _) => Class::Nan,
                    (0, _) => Class::Finite { mantissa: fraction, power: -1074 },
                    _ => Class::Finite { mantissa: fraction | 1 << 52, power: exponent - 1075 },
                };
                Number { negative: value.is_sign_negative(), class }
            }
            Real::Extended(bits) => {
                let exponent = (bits >> 64) as i32 & 0x7fff;
                let mantissa = bits as u64;
                let class = match (exponent, mantissa << 1) {
                    (0x7fff, 0) => Class::Infinite,
                    (0x7fff, _) => Class::Nan,
                    _ => Class::Finite { mantissa, power: exponent.max(1) - 16446 },
                };
                Number { negative: bits >> 79 & 1 == 1, class }
            }
        }
    }
}

fn decimal(mantissa: u64, power: i32, style: Style, flags: Flags, precision: usize) -> String {
    let exact = Decimal::from_binary(mantissa, power);
    match style {
        Style::Fixed => fixed(exact, precision, flags),
        Style::Scientific => scientific(exact, precision, flags),
        Style::Shorter | Style::Hexadecimal => shorter(exact, precision.max(1), flags),
    }
}

fn fixed(exact: Decimal, places: usize, flags: Flags) -> String {
    let rounded = exact.rounded_behind_point(places);
    join(&rounded.integer_part(), &rounded.fraction_part(places), flags)
}

fn scientific(exact: Decimal, places: usize, flags: Flags) -> String {
    let rounded = exact.rounded_to_digits(places + 1);
    let digits = rounded.leading_digits(places + 1);
    let (first, rest) = digits.split_at(1);
    let exponent = rounded.magnitude();
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", join(first, rest, flags), exponent.abs())
}

fn shorter(exact: Decimal, digits: usize, flags: Flags) -> String {
    let rounded = exact.rounded_to_digits(digits);
    let magnitude = rounded.magnitude();
    // Trailing zeros go, unless `#` keeps them.
    let kept = if flags.alternate { digits } else { rounded.len().max(1) };
    if magnitude >= -4 && magnitude < digits as i64 {
        let places = (kept as i64 - 1 - magnitude).max(0) as usize;
        fixed(rounded, places, flags)
    } else {
        scientific(rounded, kept - 1, flags)
    }
}

fn join(integer: &str, fraction: &str, flags: Flags) -> String {
    if fraction.is_empty() && !flags.alternate { integer.to_owned() } else { format!("{integer}.{fraction}") }
}

/// What follows `0x`. A `double` has its leading 1 alone before the point, a `long double` the top four bits of its mantissa.
fn hexadecimal(value: Real, mantissa: u64, power: i32, flags: Flags, precision: Option<usize>) -> String {
    let (fraction_bits, smallest) = match value {
        Real::Double(_) => (52, -1022),
        Real::Extended(_) => (60, -16385),
    };
    let mut exponent = if mantissa == 0 { 0 } else { (power + fraction_bits).max(smallest) };
    let mut mantissa = u128::from(mantissa);
    let all_digits = fraction_bits as usize / 4;
    let mut places = all_digits;
    match precision {
        Some(precision) if precision < all_digits => {
            let cut = 4 * (all_digits - precision) as u32;
            let (rest, half) = (mantissa & ((1 << cut) - 1), 1u128 << (cut - 1));
            mantissa >>= cut;
            if rest > half || (rest == half && mantissa & 1 == 1) {
                mantissa += 1;
            }
            places = precision;
        }
        Some(_) => {}
        None => {
            while places > 0 && mantissa & 0xf == 0 {
                mantissa >>= 4;
                places -= 1;
            }
        }
    }
    // Rounding up to a fifth bit: glibc starts over with 1 and a larger exponent.
    if matches!(value, Real::Extended(_)) && mantissa >> (4 * places) > 0xf {
        mantissa >>= 4;
        exponent += 4;
    }
    let first = mantissa >> (4 * places);
    let rest = mantissa & ((1u128 << (4 * places)) - 1);
    let mut fraction = if places == 0 { String::new() } else { format!("{rest:0places$x}") };
    if let Some(precision) = precision {
        fraction.push_str(&"0".repeat(precision.saturating_sub(places)));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}p{sign}{}", join(&format!("{first:x}"), &fraction, flags), exponent.abs())
}
