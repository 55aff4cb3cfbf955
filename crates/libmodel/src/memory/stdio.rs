//! `stdio.h`. A `FILE` is never touched; what goes through files and pipes comes back as [`Value::Outside`].
//!
//! Which conversions a format has is not looked at: every variadic pointer may be a string that is read, and the target of `%n`.

use super::build::{A0, A1, A2, A3, Entries, WORD, behind, behind_any, by_model, bytes, each, nothing};
use super::{Access, Base, Extent, Fill, Library, Life, MemoryEffect, Region, Value};
use crate::Arg;
use Extent::{Arg as Bytes, CString, Product, ToEnd};

pub(super) fn entries() -> Entries {
    let mut all = vec![
        ("printf", nothing().prints(0, Values::InCall)),
        ("printk", nothing().prints(0, Values::InCall)),
        ("vprintf", nothing().prints(0, Values::InList)),
        ("__printf_chk", nothing().prints(1, Values::InCall)),
        ("__vprintf_chk", nothing().prints(1, Values::InList)),
        ("sprintf", to_memory(ToEnd, 1, Values::InCall)),
        ("vsprintf", to_memory(ToEnd, 1, Values::InList)),
        ("__sprintf_chk", to_memory(ToEnd, 3, Values::InCall)),
        ("__vsprintf_chk", to_memory(ToEnd, 3, Values::InList)),
        ("snprintf", to_memory(Bytes(A1), 2, Values::InCall)),
        ("vsnprintf", to_memory(Bytes(A1), 2, Values::InList)),
        ("__snprintf_chk", to_memory(Bytes(A1), 4, Values::InCall)),
        ("__vsnprintf_chk", to_memory(Bytes(A1), 4, Values::InList)),
        ("asprintf", to_new_memory(1, Values::InCall)),
        ("vasprintf", to_new_memory(1, Values::InList)),
        ("__asprintf_chk", to_new_memory(2, Values::InCall)),
        ("__vasprintf_chk", to_new_memory(2, Values::InList)),
        ("scanf", nothing().scans(0, Values::InCall)),
        ("vscanf", nothing().scans(0, Values::InList)),
        ("fscanf", nothing().scans(1, Values::InCall)),
        ("vfscanf", nothing().scans(1, Values::InList)),
        ("sscanf", nothing().reads(A0, CString).scans(1, Values::InCall)),
        ("vsscanf", nothing().reads(A0, CString).scans(1, Values::InList)),
        ("puts", nothing().reads(A0, CString)),
        ("fputs", nothing().reads(A0, CString)),
        ("perror", nothing().reads(A0, CString)),
        ("fwrite", nothing().reads(A0, Product(A1, A2))),
        ("gets", input(A0, ToEnd).returns(Value::Arg(A0))),
        ("fgets", input(A0, Bytes(A1)).returns(Value::Arg(A0))),
        ("__fgets_chk", input(A0, Bytes(A2)).returns(Value::Arg(A0))),
        ("fread", input(A0, Product(A1, A2))),
        ("__fread_chk", input(A0, Product(A2, A3))),
        ("getline", line()),
        ("getdelim", line()),
        ("fopen", nothing().reads(A0, CString).reads(A1, CString).returns_into(Library::Stream)),
        ("freopen", nothing().reads(A0, CString).reads(A1, CString).returns_into(Library::Stream)),
        ("fdopen", nothing().returns_into(Library::Stream)),
        ("tmpfile", nothing().returns_into(Library::Stream)),
        ("remove", nothing().reads(A0, CString)),
        ("rename", nothing().reads(A0, CString).reads(A1, CString)),
    ];
    // The stream or descriptor comes first.
    all.extend(each(&["fprintf", "dprintf"], &nothing().prints(1, Values::InCall)));
    all.extend(each(&["vfprintf", "vdprintf"], &nothing().prints(1, Values::InList)));
    all.extend(each(&["__fprintf_chk", "__dprintf_chk"], &nothing().prints(2, Values::InCall)));
    all.extend(each(&["__vfprintf_chk", "__vdprintf_chk"], &nothing().prints(2, Values::InList)));
    all.extend(each(
        &[
            "putchar", "putc", "fflush", "getchar", "getc", "ungetc", "fclose", "fseek", "fseeko64", "ftell",
            "ftello64", "rewind", "feof", "ferror", "clearerr", "fileno",
        ],
        &nothing(),
    ));
    all
}

/// Whether the values are the arguments behind the format or in a `va_list` there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    InCall,
    InList,
}

/// What pointers among the values point to.
fn pointees(format: u8, values: Values) -> Region {
    match values {
        Values::InCall => Base::VarArgs(Arg(format + 1)).into(),
        Values::InList => behind_any(Base::VaList(Arg(format + 1))),
    }
}

impl MemoryEffect {
    /// Reads the format at this position and what it names.
    pub(super) fn prints(self, format: u8, values: Values) -> Self {
        let places = pointees(format, values);
        // `%n` stores up to a `long long`.
        self.takes_values(format, values).reads(places, ToEnd).writes(places, bytes(8))
    }

    fn scans(self, format: u8, values: Values) -> Self {
        let places = pointees(format, values);
        self.takes_values(format, values).writes(places, ToEnd).stores(places, Value::Outside)
    }

    fn takes_values(self, format: u8, values: Values) -> Self {
        let effect = self.reads(Arg(format), CString);
        let list = Arg(format + 1);
        match values {
            Values::InCall => effect,
            // The structure of LP64 moves on with every value.
            Values::InList => effect
                .touches(list.into(), Access::Read, 8, by_model(8, 0))
                .touches(list.into(), Access::Write, 8, by_model(8, 0))
                .stores(list, Value::Into(Base::VaList(list).into()))
                .reads(Base::VaList(list), ToEnd),
        }
    }
}

fn to_memory(size: Extent, format: u8, values: Values) -> MemoryEffect {
    nothing()
        .prints(format, values)
        .writes(A0, size)
        .copies(Arg(format), A0)
        .copies(pointees(format, values), A0)
}

fn to_new_memory(format: u8, values: Values) -> MemoryEffect {
    nothing()
        .prints(format, values)
        .allocates(ToEnd, Fill::Uninitialised, Life::Handed)
        .writes(Base::Fresh, ToEnd)
        .copies(Arg(format), Base::Fresh)
        .copies(pointees(format, values), Base::Fresh)
        .writes(A0, WORD)
        .stores(A0, Value::Into(Base::Fresh.into()))
}

pub(super) fn input(target: Arg, size: Extent) -> MemoryEffect {
    nothing().writes(target, size).stores(target, Value::Outside)
}

/// `getline`: `*line` is filled, or freed and replaced by a larger block.
fn line() -> MemoryEffect {
    nothing()
        .changes(A0, WORD)
        .changes(A1, WORD)
        .writes(behind(A0), ToEnd)
        .stores(behind(A0), Value::Outside)
        .frees(behind(A0))
        .allocates(ToEnd, Fill::Uninitialised, Life::Handed)
        .writes(Base::Fresh, ToEnd)
        .stores(Base::Fresh, Value::Outside)
        .stores(A0, Value::Into(Base::Fresh.into()))
}
