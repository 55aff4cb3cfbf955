//! Text to numbers: `atoi`, `strtol`, `strtod` and their kin, and `abs`.

use super::ctype::is_space;
use super::errors::{EINVAL, ERANGE};
use super::real;
use super::text::Text;
use super::values::{double, float, int};
use super::{Family, Host, Outcome};
use raddle_event::ProblemKind;
use raddle_ir::DataModel;

pub(super) const FUNCTIONS: Family = &[
    ("atoi", |h| ato(h, Width::Word).map(|value| int(value as i32))),
    ("atol", |h| ato(h, Width::Word).map(|value| h.word(value))),
    ("atoll", |h| ato(h, Width::Quad).map(|value| u128::from(value as u64))),
    ("atof", atof),
    ("strtol", |h| strto(h, Width::Word, Signed::Yes, Binary::No)),
    ("strtoul", |h| strto(h, Width::Word, Signed::No, Binary::No)),
    ("strtoll", |h| strto(h, Width::Quad, Signed::Yes, Binary::No)),
    ("strtoull", |h| strto(h, Width::Quad, Signed::No, Binary::No)),
    ("__isoc23_strtol", |h| strto(h, Width::Word, Signed::Yes, Binary::Yes)),
    ("__isoc23_strtoul", |h| strto(h, Width::Word, Signed::No, Binary::Yes)),
    ("__isoc23_strtoll", |h| strto(h, Width::Quad, Signed::Yes, Binary::Yes)),
    ("__isoc23_strtoull", |h| strto(h, Width::Quad, Signed::No, Binary::Yes)),
    ("strtof", |h| {
        real(h, |literal| {
            let r = literal.to_f32();
            (float(r.value), r.out_of_range)
        })
    }),
    ("strtod", |h| {
        real(h, |literal| {
            let r = literal.to_f64();
            (double(r.value), r.out_of_range)
        })
    }),
    ("strtold", |h| {
        real(h, |literal| {
            let r = literal.to_f80();
            (r.value, r.out_of_range)
        })
    }),
    ("div", div),
    ("abs", |h| Ok(int(h.int(0).wrapping_abs()))),
    ("labs", |h| Ok(h.word(h.long(0).wrapping_abs()))),
    ("llabs", |h| Ok(u128::from(h.long_long(0).wrapping_abs() as u64))),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    /// `long`
    Word,
    /// `long long`
    Quad,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signed {
    Yes,
    No,
}

/// Whether `0b` is a prefix, as in C23.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Yes,
    No,
}

/// An integer as written.
pub(super) struct Integer {
    negative: bool,
    /// Saturates far above 64 bits.
    magnitude: u128,
    /// Index behind the last digit; `None` if there is no digit.
    pub(super) end: Option<usize>,
}

/// The integer that the text starts with after white space. `base` is 0 or from 2 to 36.
pub(super) fn scan_integer(
    host: &mut dyn Host,
    text: &mut Text,
    base: u32,
    binary: Binary,
) -> Outcome<Integer> {
    let mut at = 0;
    while is_space(text.get(host, at)?) {
        at += 1;
    }
    let sign = text.get(host, at)?;
    if matches!(sign, b'+' | b'-') {
        at += 1;
    }
    let mut base = base;
    if text.get(host, at)? == b'0' && matches!(base, 0 | 2 | 16) {
        let prefix = match text.get(host, at + 1)?.to_ascii_lowercase() {
            b'x' if base != 2 => Some(16),
            b'b' if base != 16 && binary == Binary::Yes => Some(2),
            _ => None,
        };
        match prefix {
            Some(prefix) if digit(text.get(host, at + 2)?, prefix).is_some() => {
                base = prefix;
                at += 2;
            }
            _ if base == 0 => base = 8,
            _ => {}
        }
    }
    let base = if base == 0 { 10 } else { base };
    let mut number = Integer { negative: sign == b'-', magnitude: 0, end: None };
    while let Some(digit) = digit(text.get(host, at)?, base) {
        number.magnitude = (number.magnitude * u128::from(base) + u128::from(digit)).min(1 << 100);
        at += 1;
        number.end = Some(at);
    }
    Ok(number)
}

fn digit(byte: u8, base: u32) -> Option<u32> {
    char::from(byte).to_digit(36).filter(|digit| *digit < base)
}

impl Integer {
    /// The value in `bits` bits, and whether it was out of range and therefore the nearest one.
    pub(super) fn value(&self, bits: u32, signed: Signed) -> (i64, bool) {
        let limit = match (signed, self.negative) {
            (Signed::Yes, true) => 1u128 << (bits - 1),
            (Signed::Yes, false) => (1 << (bits - 1)) - 1,
            (Signed::No, _) => (1 << bits) - 1,
        };
        let out_of_range = self.magnitude > limit;
        let magnitude = self.magnitude.min(limit) as i64;
        let keeps_sign = self.negative && !(out_of_range && signed == Signed::No);
        (if keeps_sign { magnitude.wrapping_neg() } else { magnitude }, out_of_range)
    }
}

fn bits(host: &dyn Host, width: Width) -> u32 {
    match width {
        Width::Word => 8 * host.data_model().pointer_bytes(),
        Width::Quad => 64,
    }
}

fn ato(host: &mut dyn Host, width: Width) -> Outcome<i64> {
    let mut text = Text::at(host.pointer(0));
    let number = scan_integer(host, &mut text, 10, Binary::No)?;
    Ok(number.value(bits(host, width), Signed::Yes).0)
}

fn strto(host: &mut dyn Host, width: Width, signed: Signed, binary: Binary) -> Outcome<u128> {
    let (start, end, base) = (host.pointer(0), host.pointer(1), host.int(2));
    let Some(base) = u32::try_from(base).ok().filter(|base| *base <= 36 && *base != 1) else {
        host.set_errno(EINVAL);
        return Ok(0);
    };
    let number = scan_integer(host, &mut Text::at(start), base, binary)?;
    if end != 0 {
        let behind = host.offset(start, number.end.unwrap_or(0) as u64);
        host.write_pointer(end, behind)?;
    }
    let bits = bits(host, width);
    let (value, out_of_range) = number.value(bits, signed);
    if out_of_range {
        host.set_errno(ERANGE);
    }
    Ok(u128::from(value as u64) & ((1 << bits) - 1))
}

fn atof(host: &mut dyn Host) -> Outcome<u128> {
    let mut text = Text::at(host.pointer(0));
    let literal = real::scan(host, &mut text)?;
    Ok(double(literal.map_or(0.0, |(literal, _)| literal.to_f64().value)))
}

fn real(host: &mut dyn Host, round: fn(&real::Literal) -> (u128, bool)) -> Outcome<u128> {
    let (start, end) = (host.pointer(0), host.pointer(1));
    let scanned = real::scan(host, &mut Text::at(start))?;
    let used = scanned.as_ref().map_or(0, |(_, used)| *used);
    if end != 0 {
        let behind = host.offset(start, used as u64);
        host.write_pointer(end, behind)?;
    }
    let Some((literal, _)) = scanned else { return Ok(0) };
    let (value, out_of_range) = round(&literal);
    if out_of_range {
        host.set_errno(ERANGE);
    }
    Ok(value)
}

/// Quotient and remainder in one register on LP64; elsewhere the result is a structure in memory.
fn div(host: &mut dyn Host) -> Outcome<u128> {
    let (dividend, divisor) = (host.int(0), host.int(1));
    if divisor == 0 {
        return Err(host.fail(ProblemKind::DivisionByZero, "div".into()));
    }
    if host.data_model() == DataModel::Ilp32 {
        return Err(host.unsupported("div in a 32-bit program".into()));
    }
    let (quotient, rest) = (dividend.wrapping_div(divisor), dividend.wrapping_rem(divisor));
    Ok(int(quotient) | int(rest) << 32)
}
