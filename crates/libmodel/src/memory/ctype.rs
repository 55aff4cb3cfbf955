//! `ctype.h`: the tables behind glibc's macros.

use super::Library;
use super::build::{Entries, each, nothing};

pub(super) fn entries() -> Entries {
    let mut all = each(
        &["__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc"],
        &nothing().returns_into(Library::CharacterTablePointer),
    );
    all.extend(each(
        &[
            "isalnum",
            "isalpha",
            "isblank",
            "iscntrl",
            "isdigit",
            "isgraph",
            "islower",
            "isprint",
            "ispunct",
            "isspace",
            "isupper",
            "isxdigit",
            "isascii",
            "toascii",
            "tolower",
            "toupper",
            "__ctype_get_mb_cur_max",
        ],
        &nothing(),
    ));
    all
}
