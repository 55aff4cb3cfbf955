//! The `scanf` engine: input taken apart by a format of the program, as C11 7.21.6.2. Characters are
//! collected as long as they can still become a number, as in glibc: of `1e x` the first two are used. Allocating conversions (`%ms`),
//! positional arguments and wide characters are not modelled.

use super::convert::{Binary, Signed, scan_integer};
use super::ctype::is_space;
use super::format_spec::{Length, length};
use super::real;
use super::stream::{Stream, push_back, read_stream_byte};
use super::text::Text;
use super::varargs::VarArgs;
use super::{Host, Outcome};

/// Where the characters come from.
pub(super) enum Input {
    Stream(Stream),
    Text { text: Text, next: usize },
}

/// The number of values stored, or -1 when the input ended before the first.
pub(super) fn scan(host: &mut dyn Host, input: Input, format: u64, args: &mut VarArgs) -> Outcome<i32> {
    let format = host.read_string(format)?;
    let mut scanner = Scanner { input, taken: 0, stored: 0 };
    let mut at = 0;
    while at < format.len() {
        let byte = format[at];
        at += 1;
        let step = if is_space(byte) {
            scanner.skip_space(host)?;
            Step::Go
        } else if byte == b'%' {
            let (directive, used) = match directive(&format[at..]) {
                Some(parsed) => parsed,
                None => return Err(host.unsupported("this form of scanf conversion".into())),
            };
            at += used;
            scanner.convert(host, &directive, args)?
        } else {
            scanner.literal(host, byte)?
        };
        match step {
            Step::Go => {}
            Step::Mismatch => break,
            Step::InputEnded => return Ok(if scanner.stored == 0 { -1 } else { scanner.stored }),
        }
    }
    Ok(scanner.stored)
}

enum Step {
    Go,
    Mismatch,
    InputEnded,
}

struct Directive {
    store: bool,
    width: Option<usize>,
    length: Length,
    conversion: u8,
    /// For `%[`: the members.
    set: Vec<bool>,
}

/// Parses what follows a `%`; returns the bytes used.
fn directive(text: &[u8]) -> Option<(Directive, usize)> {
    let mut at = 0;
    let store = text.first() != Some(&b'*');
    if !store {
        at += 1;
    }
    let digits = text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let width = std::str::from_utf8(&text[at..at + digits]).ok()?.parse().ok().filter(|width| *width > 0);
    at += digits;
    let length = length(text, &mut at);
    let conversion = *text.get(at)?;
    at += 1;
    let mut set = Vec::new();
    match conversion {
        b'[' => {
            let (members, used) = character_set(&text[at..])?;
            set = members;
            at += used;
        }
        b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'c' | b's' | b'n' | b'p' | b'%' => {}
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {}
        _ => return None,
    }
    let wide = matches!(conversion, b'c' | b's' | b'[') && matches!(length, Length::Long | Length::LongLong);
    (!wide).then_some((Directive { store, width, length, conversion, set }, at))
}

/// The members of `[...]` by byte; returns the bytes used, the closing bracket included.
fn character_set(text: &[u8]) -> Option<(Vec<bool>, usize)> {
    let mut members = vec![false; 256];
    let negated = text.first() == Some(&b'^');
    let start = usize::from(negated);
    let mut at = start;
    while at == start || text.get(at)? != &b']' {
        let from = *text.get(at)?;
        match (text.get(at + 1), text.get(at + 2)) {
            (Some(b'-'), Some(&to)) if to != b']' && from <= to => {
                members[usize::from(from)..=usize::from(to)].fill(true);
                at += 3;
            }
            _ => {
                members[usize::from(from)] = true;
                at += 1;
            }
        }
    }
    if negated {
        members.iter_mut().for_each(|member| *member = !*member);
    }
    Some((members, at + 1))
}

struct Scanner {
    input: Input,
    taken: u64,
    stored: i32,
}

impl Scanner {
    fn next(&mut self, host: &mut dyn Host) -> Outcome<Option<u8>> {
        let byte = match &mut self.input {
            Input::Stream(stream) => read_stream_byte(host, *stream)?,
            Input::Text { text, next } => {
                let byte = text.get(host, *next)?;
                *next += usize::from(byte != 0);
                (byte != 0).then_some(byte)
            }
        };
        self.taken += u64::from(byte.is_some());
        Ok(byte)
    }

    fn give_back(&mut self, host: &mut dyn Host, byte: u8) {
        self.taken -= 1;
        match &mut self.input {
            Input::Stream(stream) => push_back(host, *stream, byte),
            Input::Text { next, .. } => *next -= 1,
        }
    }

    fn skip_space(&mut self, host: &mut dyn Host) -> Outcome<()> {
        while let Some(byte) = self.next(host)? {
            if !is_space(byte) {
                self.give_back(host, byte);
                break;
            }
        }
        Ok(())
    }

    fn literal(&mut self, host: &mut dyn Host, wanted: u8) -> Outcome<Step> {
        Ok(match self.next(host)? {
            None => Step::InputEnded,
            Some(byte) if byte == wanted => Step::Go,
            Some(byte) => {
                self.give_back(host, byte);
                Step::Mismatch
            }
        })
    }

    fn convert(&mut self, host: &mut dyn Host, directive: &Directive, args: &mut VarArgs) -> Outcome<Step> {
        if directive.conversion == b'n' {
            if directive.store {
                let target = args.pointer(host)?;
                let bytes = directive.length.value_bytes(host.word_bytes()) as usize;
                host.write(target, &self.taken.to_le_bytes()[..bytes])?;
            }
            return Ok(Step::Go);
        }
        if !matches!(directive.conversion, b'c' | b'[') {
            self.skip_space(host)?;
        }
        if directive.conversion == b'%' {
            return self.literal(host, b'%');
        }
        match self.next(host)? {
            None => return Ok(Step::InputEnded),
            Some(byte) => self.give_back(host, byte),
        }
        let stored = match directive.conversion {
            b'c' | b's' | b'[' => self.characters(host, directive, args)?,
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => self.real(host, directive, args)?,
            _ => self.integer(host, directive, args)?,
        };
        self.stored += i32::from(stored && directive.store);
        Ok(if stored { Step::Go } else { Step::Mismatch })
    }

    /// The longest run of bytes, at most `width`, whose every start the predicate accepts.
    fn collect(
        &mut self,
        host: &mut dyn Host,
        width: usize,
        accepts: &dyn Fn(&[u8]) -> bool,
    ) -> Outcome<Vec<u8>> {
        let mut bytes = Vec::new();
        while bytes.len() < width {
            let Some(byte) = self.next(host)? else { break };
            bytes.push(byte);
            if !accepts(&bytes) {
                bytes.pop();
                self.give_back(host, byte);
                break;
            }
        }
        Ok(bytes)
    }

    fn characters(
        &mut self,
        host: &mut dyn Host,
        directive: &Directive,
        args: &mut VarArgs,
    ) -> Outcome<bool> {
        let last = |bytes: &[u8]| bytes[bytes.len() - 1];
        let bytes = match directive.conversion {
            b'c' => self.collect(host, directive.width.unwrap_or(1), &|_| true)?,
            b's' => {
                self.collect(host, directive.width.unwrap_or(usize::MAX), &|bytes| !is_space(last(bytes)))?
            }
            _ => self.collect(host, directive.width.unwrap_or(usize::MAX), &|bytes| {
                directive.set[usize::from(last(bytes))]
            })?,
        };
        if bytes.is_empty() {
            return Ok(false);
        }
        if directive.store {
            let target = args.pointer(host)?;
            match directive.conversion {
                b'c' => host.write(target, &bytes)?,
                _ => host.write_string(target, &bytes)?,
            }
        }
        Ok(true)
    }

    fn integer(&mut self, host: &mut dyn Host, directive: &Directive, args: &mut VarArgs) -> Outcome<bool> {
        let base = match directive.conversion {
            b'i' => 0,
            b'o' => 8,
            b'x' | b'X' | b'p' => 16,
            _ => 10,
        };
        let width = directive.width.unwrap_or(usize::MAX);
        let bytes = self.collect(host, width, &|bytes| starts_integer(bytes, base))?;
        // `0x` without a digit behind it counts as 0, and both characters are used.
        let number = scan_integer(host, &mut Text::of(bytes), base, Binary::No)?;
        if number.end.is_none() {
            return Ok(false);
        }
        if directive.store {
            let target = args.pointer(host)?;
            let word_bits = 8 * host.data_model().pointer_bytes();
            if directive.conversion == b'p' {
                host.write_pointer(target, number.value(word_bits, Signed::No).0 as u64)?;
                return Ok(true);
            }
            // glibc converts as `long` or `long long` and then cuts to the size of the target.
            let bytes = directive.length.value_bytes(host.word_bytes());
            let bits = if bytes == 8 { 64 } else { word_bits };
            let signed = if matches!(directive.conversion, b'd' | b'i') { Signed::Yes } else { Signed::No };
            let (value, _) = number.value(bits, signed);
            host.write(target, &value.to_le_bytes()[..bytes as usize])?;
        }
        Ok(true)
    }

    fn real(&mut self, host: &mut dyn Host, directive: &Directive, args: &mut VarArgs) -> Outcome<bool> {
        let bytes = self.collect(host, directive.width.unwrap_or(usize::MAX), &starts_real)?;
        let len = bytes.len();
        // A word must be whole; of a number, an exponent that was begun and has no digits is dropped.
        let whole = without_sign(&bytes).first().is_some_and(u8::is_ascii_alphabetic);
        let scanned = real::scan(host, &mut Text::of(bytes))?;
        let Some((literal, _)) = scanned.filter(|(_, used)| !whole || *used == len) else {
            return Ok(false);
        };
        if directive.store {
            let target = args.pointer(host)?;
            match directive.length {
                Length::LongDouble => host.write(target, &literal.to_f80().value.to_le_bytes()[..10])?,
                Length::Long => host.write(target, &literal.to_f64().value.to_le_bytes())?,
                _ => host.write(target, &literal.to_f32().value.to_le_bytes())?,
            }
        }
        Ok(true)
    }
}

fn without_sign(bytes: &[u8]) -> &[u8] {
    match bytes {
        [b'+' | b'-', rest @ ..] => rest,
        _ => bytes,
    }
}

/// Whether more digits could make this an integer.
fn starts_integer(bytes: &[u8], base: u32) -> bool {
    let digits = without_sign(bytes);
    let is_digit = |byte: &u8, base| char::from(*byte).is_digit(base);
    match (base, digits) {
        (0 | 16, [b'0', b'x' | b'X', rest @ ..]) => rest.iter().all(|byte| is_digit(byte, 16)),
        (0, [b'0', rest @ ..]) => rest.iter().all(|byte| is_digit(byte, 8)),
        (0, _) => digits.iter().all(|byte| is_digit(byte, 10)),
        _ => digits.iter().all(|byte| is_digit(byte, base)),
    }
}

/// Whether more characters could make this a floating-point number.
fn starts_real(bytes: &[u8]) -> bool {
    let text = without_sign(bytes).to_ascii_lowercase();
    if b"infinity".starts_with(&text) || b"nan".starts_with(&text) {
        return true;
    }
    let (digits, marker, is_digit): (&[u8], u8, fn(&u8) -> bool) = match text.strip_prefix(b"0x") {
        Some(rest) => (rest, b'p', u8::is_ascii_hexdigit),
        None => (&text, b'e', u8::is_ascii_digit),
    };
    let (mantissa, exponent) = match digits.iter().position(|byte| *byte == marker) {
        Some(at) => (&digits[..at], Some(&digits[at + 1..])),
        None => (digits, None),
    };
    let points = mantissa.iter().filter(|byte| **byte == b'.').count();
    let digits = mantissa.iter().filter(|byte| is_digit(byte)).count();
    let exponent_fits = match exponent {
        None => true,
        Some(exponent) => digits > 0 && without_sign(exponent).iter().all(u8::is_ascii_digit),
    };
    points <= 1 && points + digits == mantissa.len() && exponent_fits
}
