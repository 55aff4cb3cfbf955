//! `errno`, locale, signals, messages that end the process, options of the command line.

use super::build::{A0, A1, A2, A3, A4, Entries, WORD, behind, behind_any, by_model, bytes, each, nothing};
use super::stdio::{Values, standard};
use super::{Access, Base, Ending, Extent, Library, MemoryEffect, Value};
use Extent::{CString, TimesWords, ToEnd};

/// `sigset_t`.
const SET: Extent = bytes(128);
const SIGACTION: Extent = by_model(152, 140);

pub(super) fn entries() -> Entries {
    let exits = |ending, effect: MemoryEffect| MemoryEffect { ending, ..effect };
    let mut all = vec![
        ("__errno_location", nothing().returns_into(Base::Errno)),
        // The string that is returned may change with the next call.
        (
            "setlocale",
            nothing()
                .reads(A1, CString)
                .changes(Library::Locale, ToEnd)
                .reads(Library::Environment, ToEnd)
                .returns_into(Library::Text)
                .returns_into(Library::Locale),
        ),
        (
            "gettext",
            nothing()
                .reads(A0, CString)
                .in_locale()
                .reads(Library::Environment, ToEnd)
                .returns(Value::Arg(A0))
                .returns_into(Library::Text),
        ),
        ("textdomain", nothing().reads(A0, CString).returns_into(Library::Text)),
        ("bindtextdomain", nothing().reads(A0, CString).reads(A1, CString).returns_into(Library::Text)),
        ("getopt", options()),
        (
            "getopt_long",
            options()
                .reads(A3, ToEnd)
                .reads(behind_any(A3), CString)
                // The flag of an option.
                .writes(behind_any(A3), bytes(4))
                .writes(A4, bytes(4)),
        ),
        ("signal", nothing()),
        ("sigaction", nothing().reads(A1, SIGACTION).writes(A2, SIGACTION)),
        ("sigprocmask", nothing().reads(A1, SET).writes(A2, SET)),
        ("sigemptyset", nothing().writes(A0, SET)),
        ("sigfillset", nothing().writes(A0, SET)),
        ("sigaddset", nothing().changes(A0, bytes(8))),
        ("sigdelset", nothing().changes(A0, bytes(8))),
        ("sigismember", nothing().reads(A0, bytes(8))),
        ("err", exits(Ending::Exits, standard("stderr").prints(1, Values::InCall))),
        ("errx", exits(Ending::Exits, standard("stderr").prints(1, Values::InCall))),
        ("warn", standard("stderr").prints(0, Values::InCall)),
        ("warnx", standard("stderr").prints(0, Values::InCall)),
        ("error", exits(Ending::MayExit, standard("stderr").prints(2, Values::InCall))),
        // The name is kept, and read with every message.
        (
            "openlog",
            nothing()
                .reads(A0, CString)
                .atomic(Library::LogName, Access::Write, WORD)
                .stores(Library::LogName, Value::Arg(A0)),
        ),
        (
            "syslog",
            nothing()
                .prints(1, Values::InCall)
                .atomic(Library::LogName, Access::Read, WORD)
                .reads(behind(Library::LogName), CString)
                .reads(Library::Environment, ToEnd),
        ),
        ("setjmp", nothing().writes(A0, by_model(200, 156))),
    ];
    all.extend(each(
        &["__stack_chk_fail", "__chk_fail", "__fortify_fail"],
        &exits(Ending::Aborts, nothing()),
    ));
    all
}

/// `getopt`: its public variables are memory of the program; arguments that are no options change places in `argv`.
fn options() -> MemoryEffect {
    let (index, argument) = (Base::Variable("optind"), Base::Variable("optarg"));
    let arguments = behind_any(A1);
    nothing()
        .changes(A1, TimesWords(A0, 1))
        .copies(A1, A1)
        .reads(arguments, CString)
        .reads(A2, CString)
        .reads(Base::Variable("opterr"), bytes(4))
        .changes(index, bytes(4))
        .writes(argument, WORD)
        .writes(Base::Variable("optopt"), bytes(4))
        .stores(argument, Value::Into(arguments))
}
