//! `stdio.h`. A call that takes the lock of its stream counts as a read of the `FILE`, one that does not as a write. Bytes that go
//! through files and pipes are in [`Library::Written`]; text is no address.
//!
//! Which conversions a format has is not looked at, `%p` of input excepted: every variadic pointer may be a string that is read, and
//! the target of `%n`.

use super::build::{A0, A1, A2, A3, A4, Entries, WORD, behind, behind_any, by_model, bytes, each, nothing};
use super::{Access, Base, Doubt, Extent, Fill, Library, Life, MemoryEffect, Region, Value};
use crate::Arg;
use Extent::{Arg as Bytes, CString, Product, ToEnd};

pub(super) fn entries() -> Entries {
    let (input_stream, output_stream) = (|| standard("stdin"), || standard("stdout"));
    let mut all = vec![
        ("printf", output_stream().prints(0, Values::InCall)),
        ("printk", nothing().prints(0, Values::InCall)),
        ("vprintf", output_stream().prints(0, Values::InList)),
        ("__printf_chk", output_stream().prints(1, Values::InCall)),
        ("__vprintf_chk", output_stream().prints(1, Values::InList)),
        ("fprintf", nothing().locks(A0).prints(1, Values::InCall)),
        ("vfprintf", nothing().locks(A0).prints(1, Values::InList)),
        ("__fprintf_chk", nothing().locks(A0).prints(2, Values::InCall)),
        ("__vfprintf_chk", nothing().locks(A0).prints(2, Values::InList)),
        ("dprintf", nothing().prints(1, Values::InCall)),
        ("vdprintf", nothing().prints(1, Values::InList)),
        ("__dprintf_chk", nothing().prints(2, Values::InCall)),
        ("__vdprintf_chk", nothing().prints(2, Values::InList)),
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
        ("scanf", input_stream().scans(0, Values::InCall)),
        ("vscanf", input_stream().scans(0, Values::InList)),
        ("fscanf", nothing().locks(A0).scans(1, Values::InCall)),
        ("vfscanf", nothing().locks(A0).scans(1, Values::InList)),
        ("sscanf", nothing().reads(A0, CString).scans(1, Values::InCall)),
        ("vsscanf", nothing().reads(A0, CString).scans(1, Values::InList)),
        ("puts", output_stream().reads(A0, CString)),
        ("putchar", output_stream().publishes_byte(A0)),
        ("putchar_unlocked", nothing().reads_variable("stdout").races_on(Library::Stream).publishes_byte(A0)),
        ("putc", nothing().locks(A1).publishes_byte(A0)),
        ("putc_unlocked", nothing().races_on(A1).publishes_byte(A0)),
        ("fputs", nothing().reads(A0, CString).locks(A1)),
        ("fputs_unlocked", nothing().reads(A0, CString).races_on(A1)),
        ("perror", standard("stderr").reads(A0, CString).in_locale()),
        ("fwrite", nothing().reads(A0, Product(A1, A2)).publishes(A0).locks(A3)),
        ("fwrite_unlocked", nothing().reads(A0, Product(A1, A2)).publishes(A0).races_on(A3)),
        ("getchar", input_stream().returns_byte()),
        ("getchar_unlocked", nothing().reads_variable("stdin").races_on(Library::Stream).returns_byte()),
        ("getc", nothing().locks(A0).returns_byte()),
        ("getc_unlocked", nothing().races_on(A0).returns_byte()),
        ("ungetc", nothing().locks(A1).publishes_byte(A0)),
        ("gets", input(A0, ToEnd).reads_variable("stdin").locks(Library::Stream).returns(Value::Arg(A0))),
        ("fgets", input(A0, Bytes(A1)).locks(A2).returns(Value::Arg(A0))),
        ("fgets_unlocked", input(A0, Bytes(A1)).races_on(A2).returns(Value::Arg(A0))),
        ("__fgets_chk", input(A0, Bytes(A2)).locks(A3).returns(Value::Arg(A0))),
        ("fread", input(A0, Product(A1, A2)).locks(A3)),
        ("fread_unlocked", input(A0, Product(A1, A2)).races_on(A3)),
        ("__fread_chk", input(A0, Product(A2, A3)).locks(A4)),
        ("getline", line(A2)),
        ("getdelim", line(A3)),
        ("fopen", nothing().reads(A0, CString).reads(A1, CString).returns_into(Library::Stream)),
        // The stream is closed and opened again.
        ("freopen", nothing().reads(A0, CString).reads(A1, CString).locks(A2).returns_into(Library::Stream)),
        ("fdopen", nothing().reads(A1, CString).returns_into(Library::Stream)),
        ("tmpfile", nothing().returns_into(Library::Stream)),
        // Later calls on the stream use the buffer.
        ("setvbuf", nothing().locks(A0).gap_if(Doubt::NotNull(A1), BUFFER)),
        ("setbuf", nothing().locks(A0).gap_if(Doubt::NotNull(A1), BUFFER)),
        ("setbuffer", nothing().locks(A0).gap_if(Doubt::NotNull(A1), BUFFER)),
        ("setlinebuf", nothing().locks(A0)),
        // All streams, where the argument is null (C11 7.21.5.2).
        ("fflush", nothing().locks(A0).locks(Library::Stream)),
        ("remove", nothing().reads(A0, CString)),
        ("rename", nothing().reads(A0, CString).reads(A1, CString)),
    ];
    all.extend(each(
        &[
            "fclose", "fseek", "fseeko64", "ftell", "ftello64", "rewind", "feof", "ferror", "clearerr",
            "fileno",
        ],
        &nothing().locks(A0),
    ));
    all.extend(each(
        &["fflush_unlocked", "feof_unlocked", "ferror_unlocked", "clearerr_unlocked", "fileno_unlocked"],
        &nothing().races_on(A0),
    ));
    all
}

/// Uses standard input, output or error, which the variable of that name points to: glibc lets a program assign it.
pub(super) fn standard(name: &'static str) -> MemoryEffect {
    nothing().reads_variable(name).locks(Library::Stream)
}

const BUFFER: &str = "a buffer of the program that a stream goes on to use";

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
        self.takes_values(format, values).in_locale().reads(places, ToEnd).writes(places, bytes(8))
    }

    fn scans(self, format: u8, values: Values) -> Self {
        let places = pointees(format, values);
        self.takes_values(format, values)
            .in_locale()
            .writes(places, ToEnd)
            .receives(places)
            .gap_if(Doubt::HasPointerConversion(Arg(format)), "a pointer that is read as text")
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
    nothing().writes(target, size).receives(target)
}

/// `getline`: `*line` is filled, or freed and replaced by a larger block.
fn line(stream: Arg) -> MemoryEffect {
    nothing()
        .locks(stream)
        .changes(A0, WORD)
        .changes(A1, WORD)
        .writes(behind(A0), ToEnd)
        .receives(behind(A0))
        .frees(behind(A0))
        .allocates(ToEnd, Fill::Uninitialised, Life::Handed)
        .writes(Base::Fresh, ToEnd)
        .stores(Base::Fresh, Value::Outside)
        .stores(A0, Value::Into(Base::Fresh.into()))
}
