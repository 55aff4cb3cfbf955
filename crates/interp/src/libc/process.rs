//! The process: exit handlers, locale, signal sets, messages that end it.

use super::errors::{constant, error_text};
use super::format::format;
use super::state::PipeSignal;
use super::values::{NULL, int};
use super::varargs::VarArgs;
use super::{Family, Host, Outcome, Stop};
use raddle_event::ProblemKind;
use raddle_ir::DataModel;
use std::sync::Arc;

pub(super) const FUNCTIONS: Family = &[
    ("atexit", atexit),
    ("setlocale", setlocale),
    ("gettext", gettext),
    ("signal", signal),
    ("sigaction", sigaction),
    ("sigprocmask", sigprocmask),
    ("sigemptyset", |h| fill_set(h, 0)),
    ("sigfillset", |h| fill_set(h, 0xff)),
    ("sigaddset", |h| change_set(h, |byte, bit| byte | bit)),
    ("sigdelset", |h| change_set(h, |byte, bit| byte & !bit)),
    ("sigismember", sigismember),
    ("err", |h| Err(error_exit(h, Errno::Shown))),
    ("errx", |h| Err(error_exit(h, Errno::Hidden))),
    ("warn", |h| warning(h, 0, Errno::Shown).map(|()| 0)),
    ("warnx", |h| warning(h, 0, Errno::Hidden).map(|()| 0)),
    ("error", error),
    ("syslog", syslog),
    ("__stack_chk_fail", |h| Err(h.fail(ProblemKind::OutOfBounds, "stack smashing detected".into()))),
    ("__chk_fail", |h| Err(h.fail(ProblemKind::OutOfBounds, "buffer overflow detected".into()))),
    ("__fortify_fail", |h| Err(h.fail(ProblemKind::OutOfBounds, "buffer overflow detected".into()))),
];

fn atexit(host: &mut dyn Host) -> Outcome<u128> {
    let function = host.pointer(0);
    host.at_exit(function);
    Ok(0)
}

/// There is the C locale and no other.
fn setlocale(host: &mut dyn Host) -> Outcome<u128> {
    let name = host.pointer(1);
    if name != 0 {
        let name = host.read_string(name)?;
        if !matches!(name.as_slice(), b"" | b"C" | b"POSIX") {
            return Ok(NULL);
        }
    }
    constant(host, "C")
}

fn gettext(host: &mut dyn Host) -> Outcome<u128> {
    let text = host.pointer(0);
    if text != 0 {
        host.read_string(text)?;
    }
    Ok(host.arg(0))
}

const SET_BYTES: u64 = 128;

fn sigaction(host: &mut dyn Host) -> Outcome<u128> {
    let (new, old) = (host.pointer(1), host.pointer(2));
    let bytes = match host.data_model() {
        DataModel::Lp64 => 152,
        DataModel::Ilp32 => 140,
    };
    let number = host.int(0);
    let before = host.state().handlers.get(&number).copied();
    if new != 0 {
        let handler = host.read_bytes(new, bytes)?;
        let word = host.word_bytes() as usize;
        let handler = handler[..word].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        handles(host, handler);
    }
    if old != 0 {
        host.fill(old, 0, bytes)?;
        if let Some(handler) = before.filter(|handler| *handler != 0) {
            host.write_pointer(old, handler)?;
        }
    }
    Ok(0)
}

/// Returns the handler before.
fn signal(host: &mut dyn Host) -> Outcome<u128> {
    let (number, handler) = (host.int(0), host.pointer(1));
    let before = host.state().handlers.get(&number).copied().unwrap_or(0);
    handles(host, handler);
    Ok(u128::from(before))
}

/// What the signal of the first argument does from now on. None but `SIGPIPE` comes.
fn handles(host: &mut dyn Host, handler: u64) {
    let signal = host.int(0);
    Arc::make_mut(&mut host.state().handlers).insert(signal, handler);
    if signal == SIGPIPE {
        host.state().pipe_signal = match handler {
            0 => PipeSignal::Ends,
            1 => PipeSignal::Ignored,
            _ => PipeSignal::Unknown,
        };
    }
}

const SIGPIPE: i32 = 13;

fn sigprocmask(host: &mut dyn Host) -> Outcome<u128> {
    const UNBLOCK: i32 = 1;
    let (new, old) = (host.pointer(1), host.pointer(2));
    if new != 0 {
        let mut set = [0; 8];
        host.read(new, &mut set)?;
        if host.int(0) != UNBLOCK && u64::from_le_bytes(set) >> (SIGPIPE - 1) & 1 == 1 {
            host.state().pipe_signal = PipeSignal::Unknown;
        }
    }
    if old != 0 {
        host.fill(old, 0, SET_BYTES)?;
    }
    Ok(0)
}

fn fill_set(host: &mut dyn Host, byte: u8) -> Outcome<u128> {
    let set = host.pointer(0);
    host.fill(set, byte, SET_BYTES)?;
    Ok(0)
}

/// The byte of a set that has the signal of argument 1, and its bit there.
fn member(host: &dyn Host) -> Option<(u64, u8)> {
    let signal = host.int(1);
    let index = u64::try_from(signal - 1).ok().filter(|index| *index < 64)?;
    Some((host.offset(host.pointer(0), index / 8), 1 << (index % 8)))
}

fn change_set(host: &mut dyn Host, change: fn(u8, u8) -> u8) -> Outcome<u128> {
    let Some((at, bit)) = member(host) else { return Ok(host.error(super::errors::EINVAL)) };
    let byte = host.read_byte(at)?;
    host.write(at, &[change(byte, bit)])?;
    Ok(0)
}

fn sigismember(host: &mut dyn Host) -> Outcome<u128> {
    let Some((at, bit)) = member(host) else { return Ok(host.error(super::errors::EINVAL)) };
    Ok(u128::from(host.read_byte(at)? & bit != 0))
}

/// Whether the message ends with the text of `errno`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Errno {
    Shown,
    Hidden,
}

/// What the program is called in its own messages.
const PROGRAM: &str = "program";

fn warning(host: &mut dyn Host, format_at: usize, errno: Errno) -> Outcome<()> {
    let mut line = format!("{PROGRAM}: ").into_bytes();
    let format_address = host.pointer(format_at);
    if format_address != 0 {
        line.extend(format(host, format_address, &mut VarArgs::of_call(format_at + 1))?);
        if errno == Errno::Shown {
            line.extend_from_slice(b": ");
        }
    }
    if errno == Errno::Shown {
        let number = host.errno()?;
        line.extend_from_slice(error_text(number).as_bytes());
    }
    line.push(b'\n');
    host.output(2, &line);
    Ok(())
}

fn error_exit(host: &mut dyn Host, errno: Errno) -> Stop {
    let code = host.int(0);
    match warning(host, 1, errno) {
        Ok(()) => host.exit(code),
        Err(stop) => stop,
    }
}

/// glibc's `error(status, errnum, format, …)`.
fn error(host: &mut dyn Host) -> Outcome<u128> {
    let (status, errno, format_address) = (host.int(0), host.int(1), host.pointer(2));
    let mut line = format!("{PROGRAM}: ").into_bytes();
    line.extend(format(host, format_address, &mut VarArgs::of_call(3))?);
    if errno != 0 {
        line.extend_from_slice(format!(": {}", error_text(errno)).as_bytes());
    }
    line.push(b'\n');
    host.output(2, &line);
    if status != 0 {
        return Err(host.exit(status));
    }
    Ok(int(0))
}

/// The message is formatted, so that its arguments are read, and dropped.
fn syslog(host: &mut dyn Host) -> Outcome<u128> {
    let format_address = host.pointer(1);
    format(host, format_address, &mut VarArgs::of_call(2))?;
    Ok(0)
}
