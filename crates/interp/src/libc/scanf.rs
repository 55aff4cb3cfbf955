//! The `scanf` family: where the characters, the format and the targets come from.

use super::scan::{Input, scan};
use super::stream::Stream;
use super::text::Text;
use super::values::int;
use super::varargs::VarArgs;
use super::{Family, Host, Outcome};

pub(super) const FUNCTIONS: Family = &[
    ("scanf", |h| from_stdin(h, Targets::InCall)),
    ("vscanf", |h| from_stdin(h, Targets::InList)),
    ("fscanf", |h| from_stream(h, Targets::InCall)),
    ("vfscanf", |h| from_stream(h, Targets::InList)),
    ("sscanf", |h| from_text(h, Targets::InCall)),
    ("vsscanf", |h| from_text(h, Targets::InList)),
];

/// Whether the targets are the arguments behind the format or in a `va_list` there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Targets {
    InCall,
    InList,
}

fn from_stdin(host: &mut dyn Host, targets: Targets) -> Outcome<u128> {
    run(host, Input::Stream(Stream(0)), 0, targets)
}

fn from_stream(host: &mut dyn Host, targets: Targets) -> Outcome<u128> {
    let stream = Stream::of_argument(host, 0)?;
    run(host, Input::Stream(stream), 1, targets)
}

fn from_text(host: &mut dyn Host, targets: Targets) -> Outcome<u128> {
    let text = Text::at(host.pointer(0));
    run(host, Input::Text { text, next: 0 }, 1, targets)
}

fn run(host: &mut dyn Host, input: Input, format_at: usize, targets: Targets) -> Outcome<u128> {
    let mut args = match targets {
        Targets::InCall => VarArgs::of_call(format_at + 1),
        Targets::InList => VarArgs::of_list(host, format_at + 1)?,
    };
    let format = host.pointer(format_at);
    scan(host, input, format, &mut args).map(int)
}
