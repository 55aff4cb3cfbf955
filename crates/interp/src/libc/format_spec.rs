//! One conversion of a `printf` format: `%[flags][width][.precision][length]conversion`.

/// A conversion as written; `*` is an argument yet to be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spec {
    pub(super) flags: Flags,
    pub(super) width: Option<Count>,
    pub(super) precision: Option<Count>,
    pub(super) length: Length,
    pub(super) conversion: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) left: bool,
    pub(super) plus: bool,
    pub(super) space: bool,
    pub(super) alternate: bool,
    pub(super) zero: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    Number(usize),
    Argument,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    None,
    /// `hh`
    Char,
    /// `h`
    Short,
    /// `l`
    Long,
    /// `ll`, `q`, and `L` on integers
    LongLong,
    /// `z`, `t`: a pointer's width.
    Word,
    /// `j`
    Max,
    /// `L`
    LongDouble,
}

pub(super) enum Parsed {
    Spec(Spec),
    /// `%2$d`: arguments by position.
    Positional,
    /// The format ends inside the conversion.
    Truncated,
}

/// Parses what follows a `%`; returns the bytes used.
pub(super) fn parse(text: &[u8]) -> (Parsed, usize) {
    let mut at = 0;
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits > 0 && text.get(digits) == Some(&b'$') {
        return (Parsed::Positional, digits);
    }
    let mut flags = Flags::default();
    while let Some(byte) = text.get(at) {
        match byte {
            b'-' => flags.left = true,
            b'+' => flags.plus = true,
            b' ' => flags.space = true,
            b'#' => flags.alternate = true,
            b'0' => flags.zero = true,
            // Grouping and other digits: nothing in the C locale.
            b'\'' | b'I' => {}
            _ => break,
        }
        at += 1;
    }
    let width = count(text, &mut at);
    let precision = if text.get(at) == Some(&b'.') {
        at += 1;
        // A negative precision as written counts as none; nothing behind the point counts as 0.
        if text.get(at) == Some(&b'-') {
            at += 1;
            count(text, &mut at);
            None
        } else {
            Some(count(text, &mut at).unwrap_or(Count::Number(0)))
        }
    } else {
        None
    };
    let length = length(text, &mut at);
    match text.get(at) {
        None => (Parsed::Truncated, at),
        Some(&conversion) => (Parsed::Spec(Spec { flags, width, precision, length, conversion }), at + 1),
    }
}

fn count(text: &[u8], at: &mut usize) -> Option<Count> {
    if text.get(*at) == Some(&b'*') {
        *at += 1;
        return Some(Count::Argument);
    }
    let start = *at;
    let mut number = 0usize;
    while let Some(byte) = text.get(*at).filter(|byte| byte.is_ascii_digit()) {
        number = number.saturating_mul(10).saturating_add(usize::from(byte - b'0'));
        *at += 1;
    }
    (*at > start).then_some(Count::Number(number))
}

pub(super) fn length(text: &[u8], at: &mut usize) -> Length {
    let (length, bytes) = match (text.get(*at), text.get(*at + 1)) {
        (Some(b'h'), Some(b'h')) => (Length::Char, 2),
        (Some(b'h'), _) => (Length::Short, 1),
        (Some(b'l'), Some(b'l')) => (Length::LongLong, 2),
        (Some(b'l'), _) => (Length::Long, 1),
        (Some(b'q'), _) => (Length::LongLong, 1),
        (Some(b'j'), _) => (Length::Max, 1),
        (Some(b'z' | b'Z' | b't'), _) => (Length::Word, 1),
        (Some(b'L'), _) => (Length::LongDouble, 1),
        _ => (Length::None, 0),
    };
    *at += bytes;
    length
}

impl Length {
    /// Bytes of an integer argument's value; arguments shorter than `int` are passed as `int` and cut.
    pub(super) fn value_bytes(self, word_bytes: u64) -> u64 {
        match self {
            Length::Char => 1,
            Length::Short => 2,
            Length::None => 4,
            Length::Long | Length::Word => word_bytes,
            Length::LongLong | Length::Max | Length::LongDouble => 8,
        }
    }
}
