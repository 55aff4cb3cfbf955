//! One step of a run, as far as order and races are concerned.
//!
//! Values are not recorded: in a sequentially consistent trace a read reads from the last write before it.

use crate::{Addr, Loc, ObjectId, ThreadId};
use raddle_base::{FenceOrder, LoadOrder, RmwOrder, SiteId, StoreOrder};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    pub thread: ThreadId,
    pub site: SiteId,
    pub kind: EventKind,
}

/// What happened. Recursive re-locks and the matching inner unlocks give no event: only the outermost pair counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// First step of a thread.
    Begin,
    /// Last step of a thread.
    End,
    Create {
        child: ThreadId,
    },
    /// A join that succeeded; `child` has ended.
    Join {
        child: ThreadId,
    },
    Detach {
        child: ThreadId,
    },
    /// A non-atomic access. `free` is a write to the whole block.
    Access {
        loc: Loc,
        kind: AccessKind,
    },
    /// An atomic access that took effect; a failed compare-exchange is a `Load` with its failure order.
    Atomic {
        loc: Loc,
        op: AtomicOp,
    },
    Fence {
        order: FenceOrder,
    },
    Acquire {
        lock: Addr,
        mode: LockMode,
    },
    Release {
        lock: Addr,
        mode: LockMode,
    },
    /// A try or timed acquisition that failed; gives no order.
    AcquireFailed {
        lock: Addr,
    },
    /// A condition wait starts; the `Release` of its mutex follows at once.
    WaitBegin {
        cond: Addr,
    },
    /// The wait ends; the `Acquire` of its mutex follows at once.
    WaitEnd {
        cond: Addr,
        reason: WakeReason,
    },
    /// A signal, with the waiter that it woke if there was one. Gives no order by itself.
    Signal {
        cond: Addr,
        woken: Option<ThreadId>,
    },
    Broadcast {
        cond: Addr,
    },
    /// All arrivals of a round happen before all departures of that round.
    BarrierArrive {
        barrier: Addr,
        round: u32,
    },
    BarrierLeave {
        barrier: Addr,
        round: u32,
    },
    /// Every post happens before every later successful wait on the semaphore (both are read-modify-writes of its counter).
    SemPost {
        sem: Addr,
    },
    SemWait {
        sem: Addr,
    },
    /// This thread runs the initialiser of a once object.
    OnceBegin {
        once: Addr,
    },
    /// The initialiser has returned; happens before every later `OncePass`.
    OnceEnd {
        once: Addr,
    },
    /// A once call returns to its caller, whoever ran the initialiser.
    OncePass {
        once: Addr,
    },
    /// A synchronisation object is initialised or destroyed. Gives no order by itself, and begins a new life of the object: what
    /// was done with it before orders nothing that is done with it later.
    SyncInit {
        object: Addr,
    },
    SyncDestroy {
        object: Addr,
    },
    Alloc {
        object: ObjectId,
    },
    Free {
        object: ObjectId,
    },
    /// A branch whose untaken side matters to pruning; nested, closed in reverse order.
    BranchBegin {
        taken: u32,
    },
    BranchEnd,
    /// A value picked by the environment (`__VERIFIER_nondet_*`, input).
    Choose {
        value: u64,
    },
    /// The process ends here, in whatever way.
    Exit,
}

impl EventKind {
    /// The synchronisation object that the event is about.
    pub fn sync_object(&self) -> Option<Addr> {
        match *self {
            EventKind::Acquire { lock, .. }
            | EventKind::Release { lock, .. }
            | EventKind::AcquireFailed { lock } => Some(lock),
            EventKind::WaitBegin { cond }
            | EventKind::WaitEnd { cond, .. }
            | EventKind::Signal { cond, .. }
            | EventKind::Broadcast { cond } => Some(cond),
            EventKind::BarrierArrive { barrier, .. } | EventKind::BarrierLeave { barrier, .. } => {
                Some(barrier)
            }
            EventKind::SemPost { sem } | EventKind::SemWait { sem } => Some(sem),
            EventKind::OnceBegin { once } | EventKind::OnceEnd { once } | EventKind::OncePass { once } => {
                Some(once)
            }
            EventKind::SyncInit { object } | EventKind::SyncDestroy { object } => Some(object),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    Read,
    Write,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    Load(LoadOrder),
    Store(StoreOrder),
    Rmw(RmwOrder),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockMode {
    Exclusive,
    Shared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WakeReason {
    Signalled,
    Spurious,
    TimedOut,
}

impl AtomicOp {
    pub fn reads(self) -> bool {
        !matches!(self, AtomicOp::Store(_))
    }

    pub fn writes(self) -> bool {
        !matches!(self, AtomicOp::Load(_))
    }

    pub fn acquires(self) -> bool {
        match self {
            AtomicOp::Load(order) => order.acquires(),
            AtomicOp::Rmw(order) => order.acquires(),
            AtomicOp::Store(_) => false,
        }
    }

    pub fn releases(self) -> bool {
        match self {
            AtomicOp::Store(order) => order.releases(),
            AtomicOp::Rmw(order) => order.releases(),
            AtomicOp::Load(_) => false,
        }
    }
}
