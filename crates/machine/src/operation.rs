//! Visible operations: what a thread will do next, as far as other threads can tell.

use raddle_base::SiteId;
use raddle_event::{AccessKind, Addr, AtomicOp, Loc, LockMode, ThreadId};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    pub site: SiteId,
    pub kind: OpKind,
}

/// Variants of an operation are numbered: 0 is the plain outcome; the others are named here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpKind {
    /// The thread starts to run its function.
    Begin,
    /// The thread ends.
    End,
    Create,
    /// Timed: variant 1 is the timeout. Try: one variant, which depends on the state.
    Join {
        child: ThreadId,
        how: LockHow,
    },
    Detach {
        child: ThreadId,
    },
    /// Timed: variant 1 is the timeout. Try: one variant, which depends on the state.
    Lock {
        lock: Addr,
        mode: LockMode,
        how: LockHow,
    },
    Unlock {
        lock: Addr,
        mode: LockMode,
    },
    SyncInit {
        object: Addr,
    },
    SyncDestroy {
        object: Addr,
    },
    /// Releases the mutex and starts to wait. Variant 1 of a wait without a time limit wakes up for no reason: it does not wait, and
    /// takes the mutex again by an ordinary `Lock`.
    WaitBegin {
        cond: Addr,
        mutex: Addr,
    },
    /// Waits for a wake-up, then for the mutex. Variant 0: signalled; of a wait with a time limit also 1: spurious; 2: timeout.
    WaitEnd {
        cond: Addr,
        mutex: Addr,
    },
    /// Variant i wakes the i-th waiter in order of arrival.
    Signal {
        cond: Addr,
    },
    Broadcast {
        cond: Addr,
    },
    BarrierArrive {
        barrier: Addr,
    },
    BarrierLeave {
        barrier: Addr,
    },
    SemPost {
        sem: Addr,
    },
    /// Timed: variant 1 is the timeout. Try: one variant, which depends on the state.
    SemWait {
        sem: Addr,
        how: LockHow,
    },
    SemRead {
        sem: Addr,
    },
    Once {
        once: Addr,
    },
    OnceEnd {
        once: Addr,
    },
    /// A pipe, socket pair or eventfd is read, where it waits while it is empty, or written. Or parts of the library's state are used
    /// (positions of streams, files, random numbers, handlers): one object, each part a bit of the offset. Without a channel: which
    /// descriptors there are changes, which concerns all.
    Channel {
        channel: Option<Addr>,
    },
    Atomic {
        loc: Loc,
        op: AtomicOp,
    },
    Fence,
    /// A plain access, when visible.
    Access {
        loc: Loc,
        kind: AccessKind,
    },
    /// The environment picks one of `variants` values.
    Choose {
        variants: u32,
    },
    /// The process ends: `exit`, return from `main`, `abort`, a failed assertion or assumption, a crash.
    Exit,
    /// A long stretch without visible operations: another thread may run in between.
    Yield,
    /// The thread spins without effect; enabled again once another thread has moved.
    Spin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockHow {
    Block,
    Try,
    Timed,
}

impl OpKind {
    /// Commutes with every operation of other threads and cannot be disabled by them, so running it at once loses no behaviour.
    pub fn is_local(self) -> bool {
        matches!(self, OpKind::Begin | OpKind::Fence)
    }

    /// The lock or other object that it takes, gives up, initialises or destroys.
    pub fn lock(self) -> Option<Addr> {
        match self {
            OpKind::Lock { lock, .. } | OpKind::Unlock { lock, .. } => Some(lock),
            OpKind::WaitBegin { mutex, .. } | OpKind::WaitEnd { mutex, .. } => Some(mutex),
            OpKind::SyncInit { object } | OpKind::SyncDestroy { object } => Some(object),
            _ => None,
        }
    }

    /// What a thread that stands before it for good waits for; for reports of deadlocks.
    pub fn waited_for(self) -> Option<Addr> {
        match self {
            OpKind::Lock { lock, .. } => Some(lock),
            OpKind::WaitEnd { cond, .. } => Some(cond),
            OpKind::BarrierLeave { barrier } => Some(barrier),
            OpKind::SemWait { sem, .. } => Some(sem),
            OpKind::Once { once } => Some(once),
            OpKind::Channel { channel } => channel,
            OpKind::Atomic { loc, .. } | OpKind::Access { loc, .. } => Some(loc.start()),
            _ => None,
        }
    }
}
