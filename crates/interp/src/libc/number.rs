//! Integers as `printf` writes them.

use super::format_spec::Flags;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Radix {
    Octal,
    Decimal,
    LowerHex,
    UpperHex,
}

/// Magnitude and sign to text, padded to `width`.
pub(super) fn format_integer(
    negative: Option<bool>,
    magnitude: u64,
    radix: Radix,
    flags: Flags,
    width: usize,
    precision: Option<usize>,
) -> Vec<u8> {
    let mut digits = match radix {
        Radix::Octal => format!("{magnitude:o}"),
        Radix::Decimal => magnitude.to_string(),
        Radix::LowerHex => format!("{magnitude:x}"),
        Radix::UpperHex => format!("{magnitude:X}"),
    };
    if magnitude == 0 && precision == Some(0) {
        digits.clear();
    }
    if let Some(missing) = precision.and_then(|precision| precision.checked_sub(digits.len())) {
        digits.insert_str(0, &"0".repeat(missing));
    }
    if flags.alternate && radix == Radix::Octal && !digits.starts_with('0') {
        digits.insert(0, '0');
    }
    let prefix = match (negative, radix) {
        (Some(negative), _) => sign(negative, flags),
        (None, Radix::LowerHex) if flags.alternate && magnitude != 0 => "0x",
        (None, Radix::UpperHex) if flags.alternate && magnitude != 0 => "0X",
        (None, _) => "",
    };
    let zeros = flags.zero && precision.is_none();
    pad(prefix, digits.as_bytes(), if zeros { Fill::Zeros } else { Fill::Spaces }, flags, width)
}

pub(super) fn sign(negative: bool, flags: Flags) -> &'static str {
    match (negative, flags.plus, flags.space) {
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

/// What may stand before the number to fill the width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    Spaces,
    Zeros,
}

/// Prefix and body, filled up to `width`: zeros go between the two.
pub(super) fn pad(prefix: &str, body: &[u8], fill: Fill, flags: Flags, width: usize) -> Vec<u8> {
    let missing = width.saturating_sub(prefix.len() + body.len());
    let mut out = Vec::with_capacity(prefix.len() + body.len() + missing);
    if flags.left {
        out.extend_from_slice(prefix.as_bytes());
        out.extend_from_slice(body);
        out.resize(out.len() + missing, b' ');
    } else if fill == Fill::Zeros {
        out.extend_from_slice(prefix.as_bytes());
        out.resize(out.len() + missing, b'0');
        out.extend_from_slice(body);
    } else {
        out.resize(missing, b' ');
        out.extend_from_slice(prefix.as_bytes());
        out.extend_from_slice(body);
    }
    out
}
