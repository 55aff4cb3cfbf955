//! The `printf` engine: a format of the program and its arguments to bytes, as glibc in the C locale.
//!
//! Strings are read through the host, so a racing argument is a race. Positional arguments and wide characters are not modelled.

use super::errors::error_text;
use super::float_text::{Case, Style, format_real};
use super::format_spec::{Count, Flags, Length, Parsed, Spec, parse};
use super::number::{Fill, Radix, format_integer, pad};
use super::varargs::VarArgs;
use super::{Host, Outcome};

/// The formatted bytes. `format` is the address of the format string.
pub(super) fn format(host: &mut dyn Host, format: u64, args: &mut VarArgs) -> Outcome<Vec<u8>> {
    let format = host.read_string(format)?;
    let mut out = Vec::new();
    let mut rest = format.as_slice();
    while let Some(percent) = rest.iter().position(|byte| *byte == b'%') {
        out.extend_from_slice(&rest[..percent]);
        let after = &rest[percent + 1..];
        let (parsed, used) = parse(after);
        match parsed {
            Parsed::Spec(spec) => {
                if !convert(host, &spec, args, &mut out)? {
                    // glibc writes a conversion that it does not know as it stands.
                    out.extend_from_slice(&rest[percent..=percent + used]);
                }
            }
            Parsed::Positional => return Err(host.unsupported("printf arguments by position".into())),
            Parsed::Truncated => {}
        }
        rest = &after[used..];
    }
    out.extend_from_slice(rest);
    Ok(out)
}

/// Widest field and precision that are carried out; a program that asks for more is refused rather than given gigabytes.
const MOST_COLUMNS: usize = 1 << 20;

/// Appends one conversion; `false` for an unknown one.
fn convert(host: &mut dyn Host, spec: &Spec, args: &mut VarArgs, out: &mut Vec<u8>) -> Outcome<bool> {
    let mut flags = spec.flags;
    let width = match spec.width {
        None => 0,
        Some(Count::Number(width)) => width,
        Some(Count::Argument) => {
            let width = args.int(host)?;
            flags.left |= width < 0;
            width.unsigned_abs() as usize
        }
    };
    let precision = match spec.precision {
        None => None,
        Some(Count::Number(precision)) => Some(precision),
        Some(Count::Argument) => usize::try_from(args.int(host)?).ok(),
    };
    if width > MOST_COLUMNS || (precision > Some(MOST_COLUMNS) && spec.conversion != b's') {
        return Err(host.unsupported("a printf field of more than a million columns".into()));
    }
    let long = matches!(spec.length, Length::Long | Length::LongLong);
    match spec.conversion {
        b'%' => out.push(b'%'),
        b'd' | b'i' => {
            let value = signed(args, host, spec.length)?;
            let text = format_integer(
                Some(value < 0),
                value.unsigned_abs(),
                Radix::Decimal,
                flags,
                width,
                precision,
            );
            out.extend(text);
        }
        b'u' | b'o' | b'x' | b'X' => {
            let radix = match spec.conversion {
                b'u' => Radix::Decimal,
                b'o' => Radix::Octal,
                b'x' => Radix::LowerHex,
                _ => Radix::UpperHex,
            };
            let value = unsigned(args, host, spec.length)?;
            out.extend(format_integer(None, value, radix, flags, width, precision));
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let value = match spec.length {
                Length::LongDouble => args.long_double(host)?,
                _ => args.double(host)?,
            };
            let case = if spec.conversion.is_ascii_uppercase() { Case::Upper } else { Case::Lower };
            let style = match spec.conversion.to_ascii_lowercase() {
                b'f' => Style::Fixed,
                b'e' => Style::Scientific,
                b'g' => Style::Shorter,
                _ => Style::Hexadecimal,
            };
            out.extend(format_real(value, style, case, flags, width, precision));
        }
        b'c' if !long => {
            let byte = args.int(host)? as u8;
            out.extend(pad("", &[byte], Fill::Spaces, flags, width));
        }
        b's' if !long => {
            let text = string(host, args, precision)?;
            out.extend(pad("", &text, Fill::Spaces, flags, width));
        }
        b'p' => out.extend(pointer(host, args, flags, width, precision)?),
        b'm' => {
            let errno = host.errno()?;
            out.extend(pad("", error_text(errno).as_bytes(), Fill::Spaces, flags, width));
        }
        b'n' => {
            let target = args.pointer(host)?;
            let bytes = spec.length.value_bytes(host.word_bytes()) as usize;
            host.write(target, &(out.len() as u64).to_le_bytes()[..bytes])?;
        }
        b's' | b'c' | b'S' | b'C' => return Err(host.unsupported("wide characters in printf".into())),
        _ => return Ok(false),
    }
    Ok(true)
}

fn unsigned(args: &mut VarArgs, host: &mut dyn Host, length: Length) -> Outcome<u64> {
    let bytes = length.value_bytes(host.word_bytes());
    let value = args.integer(host, bytes.max(4))?;
    Ok(if bytes < 4 { value & ((1 << (8 * bytes)) - 1) } else { value })
}

fn signed(args: &mut VarArgs, host: &mut dyn Host, length: Length) -> Outcome<i64> {
    let unused = 64 - 8 * length.value_bytes(host.word_bytes());
    Ok(((unsigned(args, host, length)? << unused) as i64) >> unused)
}

fn string(host: &mut dyn Host, args: &mut VarArgs, precision: Option<usize>) -> Outcome<Vec<u8>> {
    let address = args.pointer(host)?;
    if address == 0 {
        let shown = precision.is_none_or(|precision| precision >= 6);
        return Ok(if shown { b"(null)".to_vec() } else { Vec::new() });
    }
    match precision {
        None => host.read_string(address),
        Some(limit) => {
            let len = host.string_length(address, limit as u64)?;
            host.read_bytes(address, len)
        }
    }
}

fn pointer(
    host: &mut dyn Host,
    args: &mut VarArgs,
    flags: Flags,
    width: usize,
    precision: Option<usize>,
) -> Outcome<Vec<u8>> {
    let address = args.pointer(host)?;
    if address == 0 {
        return Ok(pad("", b"(nil)", Fill::Spaces, flags, width));
    }
    host.expose(address);
    let digits = format!("{address:x}");
    let zeros = precision.unwrap_or(0).saturating_sub(digits.len());
    let body = format!("{}{digits}", "0".repeat(zeros));
    let fill = if flags.zero && precision.is_none() { Fill::Zeros } else { Fill::Spaces };
    let sign = super::number::sign(false, flags);
    Ok(pad(&format!("{sign}0x"), body.as_bytes(), fill, flags, width))
}
