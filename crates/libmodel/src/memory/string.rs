//! `string.h`, `strings.h`, `libgen.h`. Copies of strings are copies of bytes: a pointer could be among them.

use super::build::{A0, A1, A2, A3, Entries, WORD, behind, each, nothing};
use super::{Base, Extent, Fill, Library, MemoryEffect, Region, Value};
use Extent::{Arg as Bytes, CString, CStringUpTo, StringOf, ToEnd};

pub(super) fn entries() -> Entries {
    let both = nothing().reads(A0, CString).reads(A1, CString);
    let both_up_to = nothing().reads(A0, CStringUpTo(A2)).reads(A1, CStringUpTo(A2));
    let copy = nothing().reads(A1, Bytes(A2)).writes(A0, Bytes(A2)).copies(A1, A0);
    let string_copy = nothing().reads(A1, CString).writes(A0, StringOf(A1)).copies(A1, A0);
    let padded_copy = nothing().reads(A1, CStringUpTo(A2)).writes(A0, Bytes(A2)).copies(A1, A0);
    let found = nothing().reads(A0, CString).returns_into(A0);
    let mut all = vec![
        ("memcpy", copy.clone().returns(Value::Arg(A0))),
        ("memmove", copy.clone().returns(Value::Arg(A0))),
        ("mempcpy", copy.returns_into(A0)),
        ("bcopy", nothing().reads(A0, Bytes(A2)).writes(A1, Bytes(A2)).copies(A0, A1)),
        ("memccpy", nothing().reads(A1, Bytes(A3)).writes(A0, Bytes(A3)).copies(A1, A0).returns_into(A0)),
        ("memset", nothing().writes(A0, Bytes(A2)).returns(Value::Arg(A0))),
        ("bzero", nothing().writes(A0, Bytes(A1))),
        ("memcmp", nothing().reads(A0, Bytes(A2)).reads(A1, Bytes(A2))),
        ("memchr", nothing().reads(A0, Bytes(A2)).returns_into(A0)),
        ("memrchr", nothing().reads(A0, Bytes(A2)).returns_into(A0)),
        ("rawmemchr", nothing().reads(A0, ToEnd).returns_into(A0)),
        ("memmem", nothing().reads(A0, Bytes(A1)).reads(A2, Bytes(A3)).returns_into(A0)),
        ("strlen", nothing().reads(A0, CString)),
        ("strnlen", nothing().reads(A0, CStringUpTo(A1))),
        ("strcpy", string_copy.clone().returns(Value::Arg(A0))),
        ("stpcpy", string_copy.returns_into(A0)),
        ("strncpy", padded_copy.clone().returns(Value::Arg(A0))),
        ("stpncpy", padded_copy.returns_into(A0)),
        ("strcat", both.clone().writes(A0, ToEnd).copies(A1, A0).returns(Value::Arg(A0))),
        (
            "strncat",
            nothing()
                .reads(A0, CString)
                .reads(A1, CStringUpTo(A2))
                .writes(A0, ToEnd)
                .copies(A1, A0)
                .returns(Value::Arg(A0)),
        ),
        ("strlcpy", nothing().reads(A1, CString).writes(A0, Bytes(A2)).copies(A1, A0)),
        ("strxfrm", nothing().reads(A1, CString).writes(A0, Bytes(A2)).copies(A1, A0).in_locale()),
        ("strcoll", both.clone().in_locale()),
        (
            "strlcat",
            nothing().reads(A0, CStringUpTo(A2)).reads(A1, CString).writes(A0, Bytes(A2)).copies(A1, A0),
        ),
        ("strtok", tokens(Library::StrtokPlace.into())),
        ("strtok_r", tokens(A2.into())),
        (
            "strsep",
            nothing()
                .changes(A0, WORD)
                .reads(A1, CString)
                .changes(behind(A0), CString)
                .stores(A0, Value::Into(behind(A0)))
                .returns_into(behind(A0)),
        ),
        ("strdup", duplicate(CString, StringOf(A0))),
        // One byte more than the limit at most: the size is not an expression of the arguments.
        ("strndup", duplicate(CStringUpTo(A1), ToEnd)),
        ("strerror", nothing().in_locale().returns_into(Library::Text)),
        (
            "strerror_r",
            nothing().writes(A1, Bytes(A2)).in_locale().returns(Value::Arg(A1)).returns_into(Library::Text),
        ),
        ("__xpg_strerror_r", nothing().writes(A1, Bytes(A2)).in_locale()),
        ("strsignal", nothing().in_locale().returns_into(Library::Text)),
        ("basename", found.clone()),
        ("__xpg_basename", path_part()),
        ("dirname", path_part()),
    ];
    all.extend(each(&["strcmp", "strspn", "strcspn"], &both));
    all.push(("strcasecmp", both.clone().in_locale()));
    all.push(("strncmp", both_up_to.clone()));
    all.push(("strncasecmp", both_up_to.in_locale()));
    all.extend(each(&["strchr", "strrchr", "strchrnul"], &found));
    all.extend(each(&["strstr", "strcasestr", "strpbrk"], &both.returns_into(A0)));
    all.extend(each(&["ffs", "ffsl", "ffsll"], &nothing()));
    all
}

/// `strtok` with its memory at `place`.
fn tokens(place: Region) -> MemoryEffect {
    let left = behind(place);
    nothing()
        .changes(A0, CString)
        .reads(A1, CString)
        .changes(place, WORD)
        .changes(left, CString)
        .stores(place, Value::Into(A0.into()))
        .stores(place, Value::Into(left))
        .returns_into(A0)
        .returns_into(left)
}

fn duplicate(read: Extent, size: Extent) -> MemoryEffect {
    nothing()
        .reads(A0, read)
        .returns_block(size, Fill::Uninitialised)
        .writes(Base::Fresh, size)
        .copies(A0, Base::Fresh)
}

/// A terminator may be written into the path.
fn path_part() -> MemoryEffect {
    nothing().changes(A0, CString).returns_into(A0).returns_into(Library::Text)
}
