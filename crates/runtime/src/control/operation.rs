//! Visible operations of a controlled program, as plain words. The kinds, their order and the numbering of variants are those of
//! `raddle_machine::OpKind`; so is where they stand in the program.

pub use crate::thread::Mode;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Kind {
    Begin,
    End,
    Create,
    Join,
    Detach,
    Lock,
    Unlock,
    SyncInit,
    SyncDestroy,
    WaitBegin,
    WaitEnd,
    Signal,
    Broadcast,
    BarrierArrive,
    BarrierLeave,
    SemPost,
    SemWait,
    SemRead,
    Once,
    OnceEnd,
    Atomic,
    Fence,
    Access,
    Choose,
    Exit,
    Yield,
    Spin,
}

impl Kind {
    pub const ALL: [Kind; 27] = [
        Kind::Begin,
        Kind::End,
        Kind::Create,
        Kind::Join,
        Kind::Detach,
        Kind::Lock,
        Kind::Unlock,
        Kind::SyncInit,
        Kind::SyncDestroy,
        Kind::WaitBegin,
        Kind::WaitEnd,
        Kind::Signal,
        Kind::Broadcast,
        Kind::BarrierArrive,
        Kind::BarrierLeave,
        Kind::SemPost,
        Kind::SemWait,
        Kind::SemRead,
        Kind::Once,
        Kind::OnceEnd,
        Kind::Atomic,
        Kind::Fence,
        Kind::Access,
        Kind::Choose,
        Kind::Exit,
        Kind::Yield,
        Kind::Spin,
    ];

    /// As in files of native schedules.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Begin => "begin",
            Kind::End => "end",
            Kind::Create => "create",
            Kind::Join => "join",
            Kind::Detach => "detach",
            Kind::Lock => "lock",
            Kind::Unlock => "unlock",
            Kind::SyncInit => "init",
            Kind::SyncDestroy => "destroy",
            Kind::WaitBegin => "wait",
            Kind::WaitEnd => "wake",
            Kind::Signal => "signal",
            Kind::Broadcast => "broadcast",
            Kind::BarrierArrive => "arrive",
            Kind::BarrierLeave => "leave",
            Kind::SemPost => "post",
            Kind::SemWait => "down",
            Kind::SemRead => "value",
            Kind::Once => "once",
            Kind::OnceEnd => "once-end",
            Kind::Atomic => "atomic",
            Kind::Fence => "fence",
            Kind::Access => "access",
            Kind::Choose => "choose",
            Kind::Exit => "exit",
            Kind::Yield => "yield",
            Kind::Spin => "spin",
        }
    }

    pub fn named(name: &str) -> Option<Kind> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// How a thread waits for what is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum How {
    #[default]
    Block,
    Try,
    Timed,
}

/// What is expected at the address of a synchronisation object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Family {
    #[default]
    Mutex,
    Rwlock,
    Spin,
    Cond,
    Barrier,
    Semaphore,
    Once,
    /// A lock of the program's own (`raddle.toml`), whatever its bytes.
    Own,
}

/// The object of atomic sections, in the place of an address: nothing of the program's can be there.
pub const SECTION: usize = 8;

/// What a thread does next, as far as others can tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    pub kind: Kind,
    pub how: How,
    pub mode: Mode,
    pub family: Family,
    /// The call or access in the program; 0 where it is not known.
    pub site: u32,
    /// The object; of accesses and atomics, the first byte.
    pub object: usize,
    /// The mutex of a wait; of accesses and atomics, the number of bytes.
    pub second: usize,
    /// Join, Detach: the other thread. SyncInit: a mutex's kind, a barrier's parties, a semaphore's value. Choose: how many variants.
    /// Access, Atomic: what kind of access, as the caller counts them.
    pub number: u64,
}

impl Operation {
    pub const fn new(kind: Kind, site: u32) -> Self {
        Self {
            kind,
            how: How::Block,
            mode: Mode::Exclusive,
            family: Family::Mutex,
            site,
            object: 0,
            second: 0,
            number: 0,
        }
    }

    pub const fn on(kind: Kind, family: Family, object: usize, site: u32) -> Self {
        Self { family, object, ..Self::new(kind, site) }
    }
}

/// What an operation came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// 0 or an error number, whatever the function makes of it.
    pub result: i32,
    /// Choose: the value. Once: whether the thread runs the initialiser. BarrierArrive and BarrierLeave: the round, and whether the
    /// thread is the serial one. SemRead: the value. WaitBegin: whether the wait wakes up for no reason.
    pub value: u64,
}

impl Outcome {
    pub const DONE: Outcome = Outcome { result: 0, value: 0 };

    pub const fn error(result: i32) -> Self {
        Self { result, value: 0 }
    }

    pub const fn value(value: u64) -> Self {
        Self { result: 0, value }
    }
}

/// Errors of the program that the model meets; the names are those of `raddle_event::ProblemKind`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    UninitialisedLock,
    UnlockNotHeld,
    DestroyedLockUse,
    DestroyLocked,
    LockHeldAtExit,
    InvalidJoin,
    InvalidArgument,
}

impl Fault {
    pub fn name(self) -> &'static str {
        match self {
            Fault::UninitialisedLock => "uninitialised-lock",
            Fault::UnlockNotHeld => "unlock-not-held",
            Fault::DestroyedLockUse => "destroyed-lock-use",
            Fault::DestroyLocked => "destroy-locked",
            Fault::LockHeldAtExit => "lock-held-at-exit",
            Fault::InvalidJoin => "invalid-join",
            Fault::InvalidArgument => "invalid-argument",
        }
    }
}

/// What has happened to an object or thread: `raddle_event::EventKind`, for the synchronisation that the model performs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Happened {
    Begin,
    End,
    Exit,
    Create {
        child: u32,
    },
    Join {
        child: u32,
    },
    Detach {
        child: u32,
    },
    Acquire {
        mode: Mode,
    },
    Release {
        mode: Mode,
    },
    AcquireFailed,
    SyncInit,
    SyncDestroy,
    WaitBegin,
    /// The variant of `WaitEnd` by which it ends.
    WaitEnd {
        reason: u32,
    },
    Signal {
        woken: Option<u32>,
    },
    Broadcast,
    BarrierArrive {
        round: u32,
    },
    BarrierLeave {
        round: u32,
    },
    SemPost,
    SemWait,
    OnceBegin,
    OnceEnd,
    OncePass,
    Choose {
        value: u64,
    },
}
