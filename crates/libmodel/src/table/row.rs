//! Short constructors for rows, so that a table reads as a table.

use super::Row;
use crate::{Answer, Arg, Effect, How, LibcFn, LockFamily, Mode, Returns, SyncKind, ThreadOp};

pub(super) const A0: Arg = Arg(0);
pub(super) const A1: Arg = Arg(1);
pub(super) const A2: Arg = Arg(2);
pub(super) const A3: Arg = Arg(3);

/// Waits no longer than the time behind argument 1, 2, 3.
pub(super) const UNTIL_A1: How = How::Timed { deadline: Some(A1) };
pub(super) const UNTIL_A2: How = How::Timed { deadline: Some(A2) };
pub(super) const UNTIL_A3: How = How::Timed { deadline: Some(A3) };

pub(super) const fn row(name: &'static str, effect: Effect) -> Row {
    Row { name, effect, assumptions: &[] }
}

pub(super) const fn assuming(
    name: &'static str,
    effect: Effect,
    assumptions: &'static [&'static str],
) -> Row {
    Row { name, effect, assumptions }
}

/// A function run under its own name.
pub(super) const fn libc(name: &'static str) -> Row {
    row(name, Effect::Libc(LibcFn(name)))
}

/// Another name of a function with the same arguments.
pub(super) const fn alias(name: &'static str, of: &'static str) -> Row {
    row(name, Effect::Libc(LibcFn(of)))
}

pub(super) const fn libc_assuming(name: &'static str, assumptions: &'static [&'static str]) -> Row {
    assuming(name, Effect::Libc(LibcFn(name)), assumptions)
}

pub(super) const fn alias_assuming(
    name: &'static str,
    of: &'static str,
    assumptions: &'static [&'static str],
) -> Row {
    assuming(name, Effect::Libc(LibcFn(of)), assumptions)
}

/// Does nothing and returns nothing.
pub(super) const fn void(name: &'static str) -> Row {
    row(name, Effect::Nothing { result: Answer::Void })
}

/// Does nothing; the interpreter returns 0, which is one of the values that the standard allows.
pub(super) const fn answers(name: &'static str, assumptions: &'static [&'static str]) -> Row {
    assuming(name, Effect::Nothing { result: Answer::Open(0) }, assumptions)
}

pub(super) const fn unsupported(name: &'static str, reason: &'static str) -> Row {
    row(name, Effect::Unsupported { reason })
}

/// Acquires what argument 0 points to.
pub(super) const fn lock(
    name: &'static str,
    family: LockFamily,
    mode: Mode,
    how: How,
    returns: Returns,
) -> Row {
    row(name, Effect::Lock { family, lock: A0, mode, how, returns })
}

/// Releases what argument 0 points to.
pub(super) const fn unlock(
    name: &'static str,
    family: LockFamily,
    mode: Option<Mode>,
    returns: Returns,
) -> Row {
    row(name, Effect::Unlock { family, lock: A0, mode, returns })
}

/// Makes the object that argument 0 points to; that does not fail (A-THREAD).
pub(super) const fn init(
    name: &'static str,
    kind: SyncKind,
    attribute: Option<Arg>,
    returns: Returns,
) -> Row {
    assuming(name, Effect::SyncInit { kind, object: A0, attribute, returns }, &["A-THREAD"])
}

pub(super) const fn destroy(name: &'static str, kind: SyncKind, returns: Returns) -> Row {
    row(name, Effect::SyncDestroy { kind, object: A0, returns })
}

pub(super) const fn thread(name: &'static str, op: ThreadOp, returns: Returns) -> Row {
    row(name, Effect::Thread(op, returns))
}
