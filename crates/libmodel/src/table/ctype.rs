//! `ctype.h` in the C locale: functions, and the tables that glibc's macros look things up in.

use super::Row;
use super::row::{alias, libc, unsupported};

pub(super) static ROWS: &[Row] = &[
    libc("isalnum"),
    libc("isalpha"),
    libc("isblank"),
    libc("iscntrl"),
    libc("isdigit"),
    libc("isgraph"),
    libc("islower"),
    libc("isprint"),
    libc("ispunct"),
    libc("isspace"),
    libc("isupper"),
    libc("isxdigit"),
    libc("isascii"),
    libc("toascii"),
    libc("tolower"),
    libc("toupper"),
    alias("_tolower", "tolower"),
    alias("_toupper", "toupper"),
    libc("__ctype_b_loc"),
    libc("__ctype_tolower_loc"),
    libc("__ctype_toupper_loc"),
    libc("__ctype_get_mb_cur_max"),
    unsupported("iswalpha", "wide and multibyte characters"),
    unsupported("iswdigit", "wide and multibyte characters"),
    unsupported("iswspace", "wide and multibyte characters"),
    unsupported("iswupper", "wide and multibyte characters"),
    unsupported("iswlower", "wide and multibyte characters"),
    unsupported("iswalnum", "wide and multibyte characters"),
    unsupported("towupper", "wide and multibyte characters"),
    unsupported("towlower", "wide and multibyte characters"),
    unsupported("wctype", "wide and multibyte characters"),
    unsupported("iswctype", "wide and multibyte characters"),
];
