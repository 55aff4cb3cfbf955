//! When two visible operations of different threads commute.
//!
//! Two steps are *independent* when, wherever both are possible, their order changes neither the state after both (up to the
//! numbering of objects), nor what either of them does, nor what happens before what for the race detector. Everything else is
//! *dependent*; so is every pair that is not listed here. What a step of one thread does to the set of choices that another
//! thread has is not known from the operations alone (a thread may sleep until some byte changes); searches compare the sets
//! themselves, see `dpor::run`.
//!
//! A [`Footprint`] is what counts of an operation. Before it is performed the worst is assumed ([`Footprint::pending`]); afterwards
//! its events tell more ([`Footprint::performed`]): a compare-exchange that failed has only read, a failed try has changed
//! nothing. Variants of one operation that leave different footprints are told apart the same way.
//!
//! | pair on the same object | | why |
//! |---|---|---|
//! | two reads, plain or atomic, failed compare-exchange included | independent | nothing changes; loads order nothing by themselves |
//! | a write and any access to a common byte | dependent | value, and which release an acquire reads from |
//! | shared lock or unlock, twice | independent | readers exclude and order only writers |
//! | two failed tries or timeouts | independent | nothing changes |
//! | a failed try and anything else on the lock | dependent | it might have succeeded; some machines let only a taken lock time out |
//! | exclusive lock or unlock and anything else on the lock | dependent | who gets it, and order |
//! | inner exclusive lock, inner unlock of a lock held already | independent of all | the lock stays with its owner |
//! | inner shared lock | as a shared one | a writer that waits may keep it out |
//! | two posts of a semaphore | independent | every later wait is ordered after both |
//! | two failed waits, or reads of its value | independent | nothing changes |
//! | any other two operations on a semaphore | dependent | value, and post before wait |
//! | two broadcasts; two signals that found no waiter | independent | all are woken already, or none is there |
//! | any other two operations on a condition variable | dependent | who is woken |
//! | two arrivals at a barrier in one round | independent | the round counts, not who came last in it |
//! | two arrivals in different rounds | dependent | who is in which round |
//! | arrival and departure of one round | dependent | order; of different rounds independent |
//! | two departures | independent | nothing changes |
//! | two passes of a once object that is done | independent | order comes from the initialiser alone |
//! | two operations on a common part of the library's state | dependent | what is read, found or drawn next |
//! | two operations on one pipe, socket pair or eventfd, or on descriptors of any | dependent | what is in it, who has which number |
//! | initialisation or destruction of an object and anything on it | dependent | a new life |
//! | a write over the bytes of a synchronisation object and anything on it | dependent | |
//! | two creations | dependent | threads are numbered in order of creation |
//! | end, join, detach of one thread | dependent | |
//! | end of a process, crash, failed assertion or assumption; end of a thread with locks | dependent on all | cuts the others off; a lock passes on |
//! | begin, fence, environment choice, yield, spin | independent of all | the thread's own business |

use raddle_event::{
    AccessKind, Addr, AtomicOp, Event, EventKind, Loc, LockMode, Problem, ProblemKind, ThreadId,
};
use raddle_machine::{LockHow, OpKind, Status};

/// Whether the order of two steps of different threads may matter.
pub fn dependent(a: &Footprint, b: &Footprint) -> bool {
    use Footprint::{
        Barrier, Channel, Condition, Creation, Everything, Lock, Memory, Nothing, Object, Once, Semaphore,
        Thread,
    };
    match (a, b) {
        (Everything, _) | (_, Everything) => true,
        (Nothing, _) | (_, Nothing) => false,
        (Memory { loc, write }, Memory { loc: other_loc, write: other }) => {
            (*write || *other) && loc.overlaps(*other_loc)
        }
        (Memory { loc, write }, sync) | (sync, Memory { loc, write }) => {
            *write && sync.objects().into_iter().flatten().any(|object| covers(*loc, object))
        }
        (Channel(Some(channel)), Channel(Some(other))) => {
            channel == other || (channel.object == other.object && channel.offset & other.offset != 0)
        }
        (Channel(_), Channel(_)) => true,
        (Creation, Creation) => true,
        (Thread(thread), Thread(other)) => thread == other,
        (Lock { lock, using }, Lock { lock: other_lock, using: other }) => {
            lock == other_lock && !using.commutes(*other)
        }
        (Semaphore { sem, using }, Semaphore { sem: other_sem, using: other }) => {
            sem == other_sem && !using.commutes(*other)
        }
        (Barrier { barrier, using }, Barrier { barrier: other_barrier, using: other }) => {
            barrier == other_barrier && !using.commutes(*other)
        }
        (Once { once, using }, Once { once: other_once, using: other }) => {
            once == other_once && !(*using == OnceUse::Pass && *other == OnceUse::Pass)
        }
        (
            Condition { cond, mutex: None, using },
            Condition { cond: other_cond, mutex: None, using: other },
        ) => cond == other_cond && !using.commutes(*other),
        (
            Lock { .. } | Semaphore { .. } | Barrier { .. } | Once { .. } | Condition { .. } | Object(_),
            Lock { .. } | Semaphore { .. } | Barrier { .. } | Once { .. } | Condition { .. } | Object(_),
        ) => a.objects().into_iter().flatten().any(|object| b.objects().contains(&Some(object))),
        (Channel(_) | Creation | Thread(_), _) | (_, Channel(_) | Creation | Thread(_)) => false,
    }
}

/// Whether `done`, performed while `other` was possible, keeps `other` from coming after it as if it had come before. Dependent
/// operations do; so does the arrival that fills the round of a barrier in place of another, although two arrivals of one
/// round commute.
pub fn excludes(done: &Footprint, other: &Footprint) -> bool {
    let fills = match (done, other) {
        (
            Footprint::Barrier { barrier: a, using: BarrierUse::Arrive(Some(done)) },
            Footprint::Barrier { barrier: b, using: BarrierUse::Arrive(_) },
        ) => a == b && done.fills,
        _ => false,
    };
    fills || dependent(done, other)
}

/// Whether an operation of another thread, which is dependent on a step of this one, is certainly impossible without it: the thread held
/// the lock, was alive, had not arrived, had not ended the initialiser.
pub fn is_needed_by(thread: ThreadId, done: OpKind, outcome: &Footprint, operation: OpKind) -> bool {
    let held = |lock| *outcome == Footprint::Lock { lock, using: LockUse::Exclusive };
    match (operation, done) {
        (OpKind::Lock { lock, how: LockHow::Block, .. }, OpKind::Unlock { .. }) => held(lock),
        (OpKind::WaitEnd { mutex, .. }, OpKind::Unlock { .. }) => held(mutex),
        (OpKind::Join { child, how: LockHow::Block }, OpKind::End) => child == thread,
        (OpKind::BarrierLeave { .. }, OpKind::BarrierArrive { .. }) => true,
        (OpKind::Once { .. }, OpKind::OnceEnd { .. }) => true,
        _ => false,
    }
}

/// Whether the two would compete, in some state, for what only so many can have, though they may be independent here.
pub fn compete(a: &Footprint, b: &Footprint) -> bool {
    match (a, b) {
        (
            Footprint::Barrier { barrier: a, using: BarrierUse::Arrive(_) },
            Footprint::Barrier { barrier: b, using: BarrierUse::Arrive(_) },
        ) => a == b,
        _ => false,
    }
}

/// What an operation reads and changes, as far as other threads can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Footprint {
    Nothing,
    Everything,
    Memory {
        loc: Loc,
        write: bool,
    },
    Lock {
        lock: Addr,
        using: LockUse,
    },
    Semaphore {
        sem: Addr,
        using: SemaphoreUse,
    },
    Condition {
        cond: Addr,
        /// Of a wait.
        mutex: Option<Addr>,
        using: ConditionUse,
    },
    Barrier {
        barrier: Addr,
        using: BarrierUse,
    },
    Once {
        once: Addr,
        using: OnceUse,
    },
    /// A pipe, socket pair or eventfd, or parts of the library's state, which are bits of the offset; `None` concerns all of them.
    Channel(Option<Addr>),
    /// Initialisation or destruction.
    Object(Addr),
    Creation,
    /// End, join or detaching of this thread.
    Thread(ThreadId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockUse {
    Exclusive,
    Shared,
    /// A try or timed lock that did not get it.
    Failed,
    /// Not known yet, or misuse.
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SemaphoreUse {
    Post,
    Wait,
    /// A failed wait, or a look at the value.
    Look,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConditionUse {
    Wait,
    Signal,
    /// A signal that found nobody to wake.
    LostSignal,
    Broadcast,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierUse {
    /// Known once it has happened.
    Arrive(Option<Arrival>),
    Leave(Option<u32>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arrival {
    pub round: u32,
    /// It was the last of its round.
    pub fills: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnceUse {
    /// Starts or ends the initialiser, or not known yet.
    Run,
    Pass,
}

/// What is known of a step that was performed.
pub struct Performed<'a> {
    pub thread: ThreadId,
    pub kind: OpKind,
    pub events: &'a [Event],
    /// After the step.
    pub status: &'a Status,
    /// Problems that the step added.
    pub problems: &'a [Problem],
    /// Locks that the thread held before the step.
    pub held: &'a [Addr],
    /// Whether the thread can move again at once.
    pub next: NextMove,
}

impl Performed<'_> {
    /// Whether something was wrong with the step itself. That nobody can move behind it is no fault of it.
    fn is_misuse(&self) -> bool {
        let stuck = |kind| matches!(kind, ProblemKind::Deadlock | ProblemKind::Livelock);
        self.problems.iter().any(|problem| !stuck(problem.kind))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextMove {
    Possible,
    NotPossible,
}

impl Footprint {
    /// The worst that the operation may turn out to be, provided that it does not crash. `held` are the locks of the thread.
    pub fn pending(thread: ThreadId, kind: OpKind, held: &[Addr]) -> Footprint {
        match kind {
            OpKind::Begin | OpKind::Fence | OpKind::Choose { .. } | OpKind::Yield | OpKind::Spin => {
                Footprint::Nothing
            }
            OpKind::Exit => Footprint::Everything,
            OpKind::End if !held.is_empty() => Footprint::Everything,
            OpKind::End => Footprint::Thread(thread),
            OpKind::Create => Footprint::Creation,
            OpKind::Join { child, .. } | OpKind::Detach { child } => Footprint::Thread(child),
            OpKind::Lock { lock, mode, how } => {
                let using = match (how, mode) {
                    (LockHow::Block, LockMode::Exclusive) => LockUse::Exclusive,
                    (LockHow::Block, LockMode::Shared) => LockUse::Shared,
                    (LockHow::Try | LockHow::Timed, _) => LockUse::Any,
                };
                Footprint::Lock { lock, using }
            }
            OpKind::Unlock { lock, mode } => Footprint::release(lock, mode),
            OpKind::SyncInit { object } | OpKind::SyncDestroy { object } => Footprint::Object(object),
            OpKind::WaitBegin { cond, mutex } | OpKind::WaitEnd { cond, mutex } => {
                Footprint::Condition { cond, mutex: Some(mutex), using: ConditionUse::Wait }
            }
            OpKind::Signal { cond } => {
                Footprint::Condition { cond, mutex: None, using: ConditionUse::Signal }
            }
            OpKind::Broadcast { cond } => {
                Footprint::Condition { cond, mutex: None, using: ConditionUse::Broadcast }
            }
            OpKind::BarrierArrive { barrier } => {
                Footprint::Barrier { barrier, using: BarrierUse::Arrive(None) }
            }
            OpKind::BarrierLeave { barrier } => {
                Footprint::Barrier { barrier, using: BarrierUse::Leave(None) }
            }
            OpKind::SemPost { sem } => Footprint::Semaphore { sem, using: SemaphoreUse::Post },
            OpKind::SemWait { sem, .. } => Footprint::Semaphore { sem, using: SemaphoreUse::Wait },
            OpKind::SemRead { sem } => Footprint::Semaphore { sem, using: SemaphoreUse::Look },
            OpKind::Once { once } | OpKind::OnceEnd { once } => Footprint::Once { once, using: OnceUse::Run },
            OpKind::Channel { channel } => Footprint::Channel(channel),
            OpKind::Atomic { loc, op } => Footprint::Memory { loc, write: op.writes() },
            OpKind::Access { loc, kind } => Footprint::Memory { loc, write: kind == AccessKind::Write },
        }
    }

    /// What a step turned out to be.
    pub fn performed(step: &Performed) -> Footprint {
        let cut = matches!(
            step.status,
            Status::Crashed | Status::Infeasible | Status::Unsupported { .. } | Status::Limit { .. }
        );
        if cut {
            return Footprint::Everything;
        }
        let worst = Footprint::pending(step.thread, step.kind, step.held);
        let happened =
            |matches: &dyn Fn(&EventKind) -> bool| step.events.iter().any(|event| matches(&event.kind));
        match (worst, step.kind) {
            (Footprint::Lock { lock, .. }, _) if step.is_misuse() => {
                Footprint::Lock { lock, using: LockUse::Any }
            }
            (Footprint::Semaphore { .. }, _) if step.is_misuse() => worst,
            (Footprint::Lock { lock, .. }, OpKind::Lock { mode, .. }) => {
                let using =
                    if happened(&|kind| matches!(kind, EventKind::Acquire { lock: l, .. } if *l == lock)) {
                        match mode {
                            LockMode::Exclusive => LockUse::Exclusive,
                            LockMode::Shared => LockUse::Shared,
                        }
                    } else if happened(
                        &|kind| matches!(kind, EventKind::AcquireFailed { lock: l } if *l == lock),
                    ) {
                        LockUse::Failed
                    } else if step.held.contains(&lock) && mode == LockMode::Exclusive {
                        return Footprint::Nothing;
                    } else if step.held.contains(&lock) {
                        LockUse::Shared
                    } else {
                        LockUse::Any
                    };
                Footprint::Lock { lock, using }
            }
            (Footprint::Lock { lock, .. }, OpKind::Unlock { .. }) => {
                if happened(&|kind| matches!(kind, EventKind::Release { lock: l, .. } if *l == lock)) {
                    worst
                } else if step.held.contains(&lock) {
                    Footprint::Nothing
                } else {
                    Footprint::Lock { lock, using: LockUse::Any }
                }
            }
            (Footprint::Semaphore { sem, .. }, OpKind::SemWait { .. }) => {
                let failed =
                    happened(&|kind| matches!(kind, EventKind::AcquireFailed { lock } if *lock == sem));
                let using = if failed { SemaphoreUse::Look } else { SemaphoreUse::Wait };
                Footprint::Semaphore { sem, using }
            }
            (Footprint::Condition { cond, mutex, using: ConditionUse::Signal }, _) => {
                let lost = |kind: &EventKind| matches!(kind, EventKind::Signal { cond: c, woken: None } if *c == cond);
                let using = if happened(&lost) { ConditionUse::LostSignal } else { ConditionUse::Signal };
                Footprint::Condition { cond, mutex, using }
            }
            (Footprint::Barrier { barrier, .. }, _) => {
                let using = step.events.iter().find_map(|event| match event.kind {
                    EventKind::BarrierArrive { barrier: b, round } if b == barrier => {
                        Some(BarrierUse::Arrive(Some(Arrival {
                            round,
                            fills: step.next == NextMove::Possible,
                        })))
                    }
                    EventKind::BarrierLeave { barrier: b, round } if b == barrier => {
                        Some(BarrierUse::Leave(Some(round)))
                    }
                    _ => None,
                });
                using.map_or(worst, |using| Footprint::Barrier { barrier, using })
            }
            (Footprint::Once { once, .. }, OpKind::Once { .. }) => {
                let began = happened(&|kind| matches!(kind, EventKind::OnceBegin { once: o } if *o == once));
                let passed = happened(&|kind| matches!(kind, EventKind::OncePass { once: o } if *o == once));
                let using = if passed && !began { OnceUse::Pass } else { OnceUse::Run };
                Footprint::Once { once, using }
            }
            (Footprint::Memory { loc, .. }, OpKind::Atomic { op: AtomicOp::Rmw(_), .. }) => {
                let own = step.events.iter().find_map(|event| match event.kind {
                    EventKind::Atomic { loc: l, op } if l == loc => Some(op),
                    _ => None,
                });
                Footprint::Memory { loc, write: own.is_none_or(AtomicOp::writes) }
            }
            _ => worst,
        }
    }

    /// Giving back a lock.
    pub fn release(lock: Addr, mode: LockMode) -> Footprint {
        let using = match mode {
            LockMode::Exclusive => LockUse::Exclusive,
            LockMode::Shared => LockUse::Shared,
        };
        Footprint::Lock { lock, using }
    }

    /// Bits for the objects and threads concerned: footprints that are dependent have one in common.
    pub fn marks(&self) -> u64 {
        /// Of [`Footprint::Nothing`] and [`Footprint::Everything`] alone.
        const ALWAYS: u64 = 1 << 63;
        const CREATION: u64 = 1 << 62;
        const WORD: u32 = 8;
        let bit = |object: u32, word: u32| {
            let mixed = u64::from(object) << 32 | u64::from(word);
            1 << ((mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) % 62)
        };
        match *self {
            Footprint::Nothing => ALWAYS,
            Footprint::Everything => u64::MAX,
            Footprint::Memory { loc, .. } if loc.len > 64 * WORD => !(ALWAYS | CREATION),
            Footprint::Memory { loc, .. } => {
                let last = u64::from(loc.offset) + u64::from(loc.len.max(1)) - 1;
                let words = loc.offset / WORD..=(last / u64::from(WORD)) as u32;
                words.fold(0, |marks, word| marks | bit(loc.object.0, word))
            }
            Footprint::Creation => CREATION,
            Footprint::Channel(_) => bit(u32::MAX, u32::MAX),
            Footprint::Thread(thread) => bit(u32::MAX, thread.0),
            _ => {
                let objects = self.objects().into_iter().flatten();
                objects.fold(0, |marks, at| marks | bit(at.object.0, at.offset / WORD))
            }
        }
    }

    /// Of an arrival at a barrier.
    pub fn round(&self) -> Option<u32> {
        match self {
            Footprint::Barrier { using: BarrierUse::Arrive(arrival), .. } => {
                arrival.map(|arrival| arrival.round)
            }
            _ => None,
        }
    }

    fn objects(&self) -> [Option<Addr>; 2] {
        match *self {
            Footprint::Lock { lock, .. } => [Some(lock), None],
            Footprint::Semaphore { sem, .. } => [Some(sem), None],
            Footprint::Condition { cond, mutex, .. } => [Some(cond), mutex],
            Footprint::Barrier { barrier, .. } => [Some(barrier), None],
            Footprint::Once { once, .. } => [Some(once), None],
            Footprint::Object(object) => [Some(object), None],
            Footprint::Nothing
            | Footprint::Everything
            | Footprint::Memory { .. }
            | Footprint::Channel(_)
            | Footprint::Creation
            | Footprint::Thread(_) => [None, None],
        }
    }
}

impl LockUse {
    fn commutes(self, other: LockUse) -> bool {
        matches!((self, other), (LockUse::Shared, LockUse::Shared) | (LockUse::Failed, LockUse::Failed))
    }
}

impl SemaphoreUse {
    fn commutes(self, other: SemaphoreUse) -> bool {
        self == other && self != SemaphoreUse::Wait
    }
}

impl ConditionUse {
    fn commutes(self, other: ConditionUse) -> bool {
        self == other && matches!(self, ConditionUse::LostSignal | ConditionUse::Broadcast)
    }
}

impl BarrierUse {
    fn commutes(self, other: BarrierUse) -> bool {
        match (self, other) {
            (BarrierUse::Leave(_), BarrierUse::Leave(_)) => true,
            (BarrierUse::Arrive(Some(a)), BarrierUse::Arrive(Some(b))) => a.round == b.round,
            (BarrierUse::Arrive(Some(a)), BarrierUse::Leave(Some(b)))
            | (BarrierUse::Leave(Some(b)), BarrierUse::Arrive(Some(a))) => a.round != b,
            _ => false,
        }
    }
}

/// Whether the bytes hold the start of the object.
fn covers(loc: Loc, object: Addr) -> bool {
    loc.object == object.object
        && loc.offset <= object.offset
        && u64::from(object.offset) < u64::from(loc.offset) + u64::from(loc.len)
}
