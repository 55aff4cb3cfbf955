//! `ctype.h`: the tables behind glibc's macros. What digits are does not depend on the locale.

use super::Library;
use super::build::{Entries, each, nothing};

pub(super) fn entries() -> Entries {
    let mut all = each(
        &["__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc"],
        &nothing().in_locale().returns_into(Library::CharacterTablePointer),
    );
    all.extend(each(
        &[
            "isalnum",
            "isalpha",
            "isblank",
            "iscntrl",
            "isgraph",
            "islower",
            "isprint",
            "ispunct",
            "isspace",
            "isupper",
            "tolower",
            "toupper",
            "__ctype_get_mb_cur_max",
        ],
        &nothing().in_locale(),
    ));
    all.extend(each(&["isdigit", "isxdigit", "isascii", "toascii"], &nothing()));
    all
}
