//! What went wrong in a run besides races: errors of the program, met on the way.

use crate::{Addr, ThreadId};
use raddle_base::SiteId;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    pub kind: ProblemKind,
    pub thread: ThreadId,
    pub site: SiteId,
    /// The object concerned, where there is one.
    pub object: Option<Addr>,
    /// Call sites from the innermost frame outwards; `site` itself is not in it.
    pub stack: Vec<SiteId>,
    /// What exactly, in words (`index 12 of a block of 10 bytes`). Empty when the kind says it all.
    pub detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProblemKind {
    Deadlock,
    Livelock,
    AssertionFailure,
    Abort,
    UseAfterFree,
    DoubleFree,
    InvalidFree,
    OutOfBounds,
    NullDereference,
    InvalidPointer,
    UninitialisedLock,
    UnlockNotHeld,
    DestroyedLockUse,
    DestroyLocked,
    LockHeldAtExit,
    InvalidJoin,
    DivisionByZero,
    StackOverflow,
    Unreachable,
    InvalidArgument,
}

impl ProblemKind {
    pub const ALL: [ProblemKind; 20] = [
        ProblemKind::Deadlock,
        ProblemKind::Livelock,
        ProblemKind::AssertionFailure,
        ProblemKind::Abort,
        ProblemKind::UseAfterFree,
        ProblemKind::DoubleFree,
        ProblemKind::InvalidFree,
        ProblemKind::OutOfBounds,
        ProblemKind::NullDereference,
        ProblemKind::InvalidPointer,
        ProblemKind::UninitialisedLock,
        ProblemKind::UnlockNotHeld,
        ProblemKind::DestroyedLockUse,
        ProblemKind::DestroyLocked,
        ProblemKind::LockHeldAtExit,
        ProblemKind::InvalidJoin,
        ProblemKind::DivisionByZero,
        ProblemKind::StackOverflow,
        ProblemKind::Unreachable,
        ProblemKind::InvalidArgument,
    ];

    /// Whether a process in which this happens goes no further: it ends by the program's own call, or by a signal that the processor
    /// raises. After the others the real program may go on, in a way that C does not define.
    pub fn ends_the_process(self) -> bool {
        match self {
            ProblemKind::AssertionFailure
            | ProblemKind::Abort
            | ProblemKind::NullDereference
            | ProblemKind::DivisionByZero => true,
            ProblemKind::Deadlock
            | ProblemKind::Livelock
            | ProblemKind::UseAfterFree
            | ProblemKind::DoubleFree
            | ProblemKind::InvalidFree
            | ProblemKind::OutOfBounds
            | ProblemKind::InvalidPointer
            | ProblemKind::UninitialisedLock
            | ProblemKind::UnlockNotHeld
            | ProblemKind::DestroyedLockUse
            | ProblemKind::DestroyLocked
            | ProblemKind::LockHeldAtExit
            | ProblemKind::InvalidJoin
            | ProblemKind::StackOverflow
            | ProblemKind::Unreachable
            | ProblemKind::InvalidArgument => false,
        }
    }

    /// The kind of that name.
    pub fn named(name: &str) -> Option<ProblemKind> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The `kind` of a finding, as printed and as annotated in fixtures.
    pub fn name(self) -> &'static str {
        match self {
            ProblemKind::Deadlock => "deadlock",
            ProblemKind::Livelock => "livelock",
            ProblemKind::AssertionFailure => "assertion-failure",
            ProblemKind::Abort => "abort",
            ProblemKind::UseAfterFree => "use-after-free",
            ProblemKind::DoubleFree => "double-free",
            ProblemKind::InvalidFree => "invalid-free",
            ProblemKind::OutOfBounds => "out-of-bounds",
            ProblemKind::NullDereference => "null-dereference",
            ProblemKind::InvalidPointer => "invalid-pointer",
            ProblemKind::UninitialisedLock => "uninitialised-lock",
            ProblemKind::UnlockNotHeld => "unlock-not-held",
            ProblemKind::DestroyedLockUse => "destroyed-lock-use",
            ProblemKind::DestroyLocked => "destroy-locked",
            ProblemKind::LockHeldAtExit => "lock-held-at-exit",
            ProblemKind::InvalidJoin => "invalid-join",
            ProblemKind::DivisionByZero => "division-by-zero",
            ProblemKind::StackOverflow => "stack-overflow",
            ProblemKind::Unreachable => "unreachable",
            ProblemKind::InvalidArgument => "invalid-argument",
        }
    }
}
