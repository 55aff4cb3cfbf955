//! `ctype.h` in the C locale, as functions and as the tables behind glibc's macros (`__ctype_b_loc` and its kin), which cover the
//! indices -128 to 255.

use super::values::int;
use super::{Family, Host, Outcome};

pub(super) const FUNCTIONS: Family = &[
    ("isalnum", |h| Ok(test(h, |c| c.is_ascii_alphanumeric()))),
    ("isalpha", |h| Ok(test(h, |c| c.is_ascii_alphabetic()))),
    ("isblank", |h| Ok(test(h, is_blank))),
    ("iscntrl", |h| Ok(test(h, |c| c.is_ascii_control()))),
    ("isdigit", |h| Ok(test(h, |c| c.is_ascii_digit()))),
    ("isgraph", |h| Ok(test(h, |c| c.is_ascii_graphic()))),
    ("islower", |h| Ok(test(h, |c| c.is_ascii_lowercase()))),
    ("isprint", |h| Ok(test(h, is_print))),
    ("ispunct", |h| Ok(test(h, |c| c.is_ascii_punctuation()))),
    ("isspace", |h| Ok(test(h, is_space))),
    ("isupper", |h| Ok(test(h, |c| c.is_ascii_uppercase()))),
    ("isxdigit", |h| Ok(test(h, |c| c.is_ascii_hexdigit()))),
    ("isascii", |h| Ok(test(h, |c| c.is_ascii()))),
    ("toascii", |h| Ok(int(h.int(0) & 0x7f))),
    ("tolower", |h| Ok(map(h, |c| c.to_ascii_lowercase()))),
    ("toupper", |h| Ok(map(h, |c| c.to_ascii_uppercase()))),
    ("__ctype_b_loc", |h| table(h, "ctype classes", 2, |c| u32::from(class_bits(c)))),
    ("__ctype_tolower_loc", |h| table(h, "ctype lower", 4, |c| u32::from(c.to_ascii_lowercase()))),
    ("__ctype_toupper_loc", |h| table(h, "ctype upper", 4, |c| u32::from(c.to_ascii_uppercase()))),
    ("__ctype_get_mb_cur_max", |h| Ok(h.word(1))),
];

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn is_print(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

fn test(host: &dyn Host, predicate: fn(u8) -> bool) -> u128 {
    u128::from(u8::try_from(host.int(0)).is_ok_and(predicate))
}

fn map(host: &dyn Host, mapping: fn(u8) -> u8) -> u128 {
    let value = host.int(0);
    int(u8::try_from(value).map_or(value, |byte| i32::from(mapping(byte))))
}

/// glibc's class bits on a little-endian machine (`ctype.h`, `_ISbit`).
fn class_bits(byte: u8) -> u16 {
    let classes: [(bool, u16); 12] = [
        (byte.is_ascii_uppercase(), 0),
        (byte.is_ascii_lowercase(), 1),
        (byte.is_ascii_alphabetic(), 2),
        (byte.is_ascii_digit(), 3),
        (byte.is_ascii_hexdigit(), 4),
        (is_space(byte), 5),
        (is_print(byte), 6),
        (byte.is_ascii_graphic(), 7),
        (is_blank(byte), 8),
        (byte.is_ascii_control(), 9),
        (byte.is_ascii_punctuation(), 10),
        (byte.is_ascii_alphanumeric(), 11),
    ];
    classes
        .iter()
        .filter(|(member, _)| *member)
        .map(|(_, bit)| if *bit < 8 { 1 << (bit + 8) } else { 1 << (bit - 8) })
        .sum()
}

/// The address of a pointer to entry 0 of a table.
fn table(host: &mut dyn Host, key: &str, width: usize, entry: fn(u8) -> u32) -> Outcome<u128> {
    // Negative indices repeat the upper half, except -1 (EOF); outside of ASCII the C locale has no classes and maps to itself.
    let entries = (-128..256).map(|index: i32| match u8::try_from(index) {
        Ok(byte) => entry(byte),
        Err(_) if width == 4 => {
            if index == -1 {
                u32::MAX
            } else {
                (index + 256) as u32
            }
        }
        Err(_) => 0,
    });
    let bytes: Vec<u8> = entries.flat_map(|entry| entry.to_le_bytes()[..width].to_vec()).collect();
    let table = host.library_block(key, &bytes)?;
    let zero = host.offset(table, 128 * width as u64);
    let pointer = zero.to_le_bytes();
    let word = host.word_bytes() as usize;
    host.library_block(&format!("{key} pointer"), &pointer[..word]).map(u128::from)
}
