//! Text to floating-point numbers, correctly rounded: the longest start of a text that C11 7.22.1.3 calls a number, as `float`,
//! `double` or x87 `long double`.

use super::ctype::is_space;
use super::text::Text;
use super::{Host, Outcome};
use rustc_apfloat::Float;
use rustc_apfloat::Round;
use rustc_apfloat::ieee::{Double, Single, X87DoubleExtended};

/// A number as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Literal {
    negative: bool,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Infinity,
    Nan,
    /// Digits, point and exponent, as Rust reads them.
    Decimal(String),
    /// `0x` digits, point and binary exponent, as APFloat reads them.
    Hexadecimal(String),
}

/// A value, and whether it is out of range (too large, or too small to be exact).
pub(super) struct Rounded<T> {
    pub(super) value: T,
    pub(super) out_of_range: bool,
}

/// The number that the text starts with after white space, and the index behind it; `None` if there is none.
pub(super) fn scan(host: &mut dyn Host, text: &mut Text) -> Outcome<Option<(Literal, usize)>> {
    let mut at = 0;
    while is_space(text.get(host, at)?) {
        at += 1;
    }
    let sign = text.get(host, at)?;
    if matches!(sign, b'+' | b'-') {
        at += 1;
    }
    let found = match text.get(host, at)?.to_ascii_lowercase() {
        b'i' => infinity(host, text, at)?.map(|end| (Kind::Infinity, end)),
        b'n' => nan(host, text, at)?.map(|end| (Kind::Nan, end)),
        _ => number(host, text, at)?,
    };
    Ok(found.map(|(kind, end)| (Literal { negative: sign == b'-', kind }, end)))
}

fn matches_word(host: &mut dyn Host, text: &mut Text, at: usize, word: &[u8]) -> Outcome<bool> {
    for (index, byte) in word.iter().enumerate() {
        if text.get(host, at + index)?.to_ascii_lowercase() != *byte {
            return Ok(false);
        }
    }
    Ok(true)
}

fn infinity(host: &mut dyn Host, text: &mut Text, at: usize) -> Outcome<Option<usize>> {
    if !matches_word(host, text, at, b"inf")? {
        return Ok(None);
    }
    let long = matches_word(host, text, at + 3, b"inity")?;
    Ok(Some(at + if long { 8 } else { 3 }))
}

/// `nan` or `nan(characters)`; the characters choose a payload, which is not kept.
fn nan(host: &mut dyn Host, text: &mut Text, at: usize) -> Outcome<Option<usize>> {
    if !matches_word(host, text, at, b"nan")? {
        return Ok(None);
    }
    let mut end = at + 3;
    if text.get(host, end)? != b'(' {
        return Ok(Some(end));
    }
    end += 1;
    loop {
        match text.get(host, end)? {
            b')' => return Ok(Some(end + 1)),
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => end += 1,
            _ => return Ok(Some(at + 3)),
        }
    }
}

fn number(host: &mut dyn Host, text: &mut Text, start: usize) -> Outcome<Option<(Kind, usize)>> {
    let prefixed = text.get(host, start)? == b'0' && matches!(text.get(host, start + 1)?, b'x' | b'X');
    if prefixed && let Some((digits, end)) = mantissa(host, text, start + 2, |byte| byte.is_ascii_hexdigit())?
    {
        let (exponent, end) = exponent(host, text, end, b'p')?;
        return Ok(Some((Kind::Hexadecimal(format!("0x{digits}p{exponent}")), end)));
    }
    let Some((digits, end)) = mantissa(host, text, start, |byte| byte.is_ascii_digit())? else {
        return Ok(None);
    };
    let (exponent, end) = exponent(host, text, end, b'e')?;
    Ok(Some((Kind::Decimal(format!("{digits}e{exponent}")), end)))
}

/// Digits with at most one point, at least one digit.
fn mantissa(
    host: &mut dyn Host,
    text: &mut Text,
    start: usize,
    is_digit: fn(&u8) -> bool,
) -> Outcome<Option<(String, usize)>> {
    let (mut end, mut digits, mut point) = (start, 0, false);
    let mut written = String::new();
    loop {
        match text.get(host, end)? {
            b'.' if !point => point = true,
            byte if is_digit(&byte) => digits += 1,
            _ => break,
        }
        written.push(char::from(text.get(host, end)?));
        end += 1;
    }
    if written.starts_with('.') {
        written.insert(0, '0');
    }
    Ok((digits > 0).then_some((written, end)))
}

/// The exponent, 0 without one; a marker without digits is not part of the number.
fn exponent(host: &mut dyn Host, text: &mut Text, at: usize, marker: u8) -> Outcome<(i64, usize)> {
    if text.get(host, at)?.to_ascii_lowercase() != marker {
        return Ok((0, at));
    }
    let sign = text.get(host, at + 1)?;
    let first = if matches!(sign, b'+' | b'-') { at + 2 } else { at + 1 };
    let (mut end, mut value) = (first, 0i64);
    loop {
        let byte = text.get(host, end)?;
        if !byte.is_ascii_digit() {
            break;
        }
        // Far beyond every format; more would only overflow the parsers.
        value = (value * 10 + i64::from(byte - b'0')).min(1_000_000);
        end += 1;
    }
    if end == first {
        return Ok((0, at));
    }
    Ok((if sign == b'-' { -value } else { value }, end))
}

impl Literal {
    pub(super) fn to_f64(&self) -> Rounded<f64> {
        let (value, exact) = match &self.kind {
            Kind::Infinity => return self.special(f64::INFINITY),
            Kind::Nan => return self.special(f64::NAN),
            Kind::Decimal(text) => (text.parse().unwrap_or(f64::NAN), false),
            Kind::Hexadecimal(text) => hexadecimal::<Double, _>(text, |value| f64::from_bits(value as u64)),
        };
        let tiny = value < f64::MIN_POSITIVE && !exact && self.has_nonzero_digit();
        let value = if self.negative { -value } else { value };
        Rounded { value, out_of_range: value.is_infinite() || tiny }
    }

    pub(super) fn to_f32(&self) -> Rounded<f32> {
        let (value, exact) = match &self.kind {
            Kind::Infinity | Kind::Nan => {
                let Rounded { value, out_of_range } = self.to_f64();
                return Rounded { value: value as f32, out_of_range };
            }
            Kind::Decimal(text) => (text.parse().unwrap_or(f32::NAN), false),
            Kind::Hexadecimal(text) => hexadecimal::<Single, _>(text, |value| f32::from_bits(value as u32)),
        };
        let tiny = value < f32::MIN_POSITIVE && !exact && self.has_nonzero_digit();
        let value = if self.negative { -value } else { value };
        Rounded { value, out_of_range: value.is_infinite() || tiny }
    }

    /// The 80 bits.
    pub(super) fn to_f80(&self) -> Rounded<u128> {
        let (value, exact) = match &self.kind {
            Kind::Infinity => (X87DoubleExtended::INFINITY, true),
            Kind::Nan => (X87DoubleExtended::NAN, true),
            Kind::Decimal(text) | Kind::Hexadecimal(text) => {
                match X87DoubleExtended::from_str_r(text, Round::NearestTiesToEven) {
                    Ok(parsed) => (parsed.value, parsed.status.is_empty()),
                    Err(_) => (X87DoubleExtended::NAN, true),
                }
            }
        };
        let overflow = value.is_infinite() && self.kind != Kind::Infinity;
        let tiny = (value.is_zero() || value.is_denormal()) && !exact;
        let value = if self.negative { -value } else { value };
        Rounded { value: value.to_bits(), out_of_range: overflow || tiny }
    }

    fn special(&self, value: f64) -> Rounded<f64> {
        Rounded { value: if self.negative { -value } else { value }, out_of_range: false }
    }

    fn has_nonzero_digit(&self) -> bool {
        match &self.kind {
            Kind::Decimal(text) => {
                text.split('e').next().unwrap_or("").bytes().any(|b| (b'1'..=b'9').contains(&b))
            }
            Kind::Hexadecimal(text) => {
                text[2..].split('p').next().unwrap_or("").bytes().any(|b| !matches!(b, b'0' | b'.'))
            }
            Kind::Infinity | Kind::Nan => false,
        }
    }
}

/// The value and whether it is exact.
fn hexadecimal<F: Float, T>(text: &str, convert: fn(u128) -> T) -> (T, bool) {
    match F::from_str_r(text, Round::NearestTiesToEven) {
        Ok(parsed) => (convert(parsed.value.to_bits()), parsed.status.is_empty()),
        Err(_) => (convert(F::NAN.to_bits()), true),
    }
}
