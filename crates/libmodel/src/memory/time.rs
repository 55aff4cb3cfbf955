//! Clocks and calendars. `gmtime`, `localtime`, `asctime` and `ctime` write memory that all threads share; `ctime` is `asctime` of
//! `localtime`. What knows the time zone reads the environment and sets the variables of `tzset`, under a lock of the library: these touches
//! are atomic, so that only accesses of the program conflict with them.

use super::build::{A0, A1, A2, A3, Entries, WORD, by_model, bytes, each, nothing, words};
use super::{Access, Base, Extent, Library, MemoryEffect, Value};
use Extent::{Arg as Bytes, CString};

/// `struct tm` as it is written.
const TM: Extent = by_model(56, 44);
/// `struct tm` as it is read: the nine numbers.
const TM_READ: Extent = bytes(36);
/// The buffer of `asctime` in C11 has 26; years of more digits make it longer.
const TEXT: Extent = bytes(64);

pub(super) fn entries() -> Entries {
    let mut all = vec![
        ("time", nothing().writes(A0, WORD)),
        ("gettimeofday", nothing().writes(A0, words(2)).writes(A1, bytes(8))),
        ("clock_gettime", nothing().writes(A1, words(2))),
        ("clock_getres", nothing().writes(A1, words(2))),
        ("timespec_get", nothing().writes(A0, words(2))),
        ("times", nothing().writes(A0, words(4))),
        ("ftime", nothing().gap("ftime")),
        ("gmtime", broken_down(nothing())),
        ("localtime", broken_down(zone())),
        ("gmtime_r", nothing().reads(A0, WORD).writes(A1, TM).returns(Value::Arg(A1))),
        ("localtime_r", zone().reads(A0, WORD).writes(A1, TM).returns(Value::Arg(A1))),
        ("mktime", zone().reads(A0, TM_READ).writes(A0, TM)),
        ("timegm", nothing().reads(A0, TM_READ).writes(A0, TM)),
        ("tzset", zone()),
        ("setitimer", nothing().reads(A1, words(4)).writes(A2, words(4))),
        (
            "asctime",
            nothing().reads(A0, TM_READ).writes(Library::TimeText, TEXT).returns_into(Library::TimeText),
        ),
        ("asctime_r", nothing().reads(A0, TM_READ).writes(A1, TEXT).returns(Value::Arg(A1))),
        (
            "ctime",
            zone()
                .reads(A0, WORD)
                .writes(Library::BrokenDownTime, TM)
                .writes(Library::TimeText, TEXT)
                .returns_into(Library::TimeText),
        ),
        ("ctime_r", zone().reads(A0, WORD).writes(A1, TEXT).returns(Value::Arg(A1))),
        (
            "strftime",
            zone().in_locale().writes(A0, Bytes(A1)).copies(A2, A0).reads(A2, CString).reads(A3, TM_READ),
        ),
    ];
    all.extend(each(&["clock", "difftime"], &nothing()));
    all
}

fn broken_down(effect: MemoryEffect) -> MemoryEffect {
    effect.reads(A0, WORD).writes(Library::BrokenDownTime, TM).returns_into(Library::BrokenDownTime)
}

fn zone() -> MemoryEffect {
    nothing()
        .reads(Library::Environment, Extent::ToEnd)
        .atomic(Base::Variable("timezone"), Access::Write, WORD)
        .atomic(Base::Variable("daylight"), Access::Write, bytes(4))
        .atomic(Base::Variable("tzname"), Access::Write, words(2))
}
