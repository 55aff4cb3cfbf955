//! When two visible operations of different threads commute: the checker's own relation.
//!
//! Two steps are independent when, wherever both are possible, either may come first and the state after both, what each of them
//! does, and what happens before what are the same. Here an operation is a list of objects and what is done with each; two operations are
//! dependent unless everything they do to a common object is a pair that [`Use::commutes`] names. Errs towards dependent.

use raddle_event::{
    AccessKind, Addr, AtomicOp, Event, EventKind, Loc, LockMode, Problem, ProblemKind, ThreadId,
};
use raddle_machine::{LockHow, OpKind, Status};

/// What an operation reads and changes, as far as other threads can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Footprint {
    /// The thread's own business.
    Nothing,
    /// Cuts the others off, or is not understood.
    Everything,
    Memory {
        loc: Loc,
        write: bool,
    },
    Sync(Addr, Use),
    /// A wait for a condition variable and its mutex.
    Wait(Addr, Addr),
    /// A pipe, socket pair or eventfd, or parts of the library's state, which are bits of the offset; `None` concerns all of them.
    Channel(Option<Addr>),
    /// Threads are numbered in the order of their creation.
    Creation,
    /// End, join or detaching.
    Thread(ThreadId),
}

/// What is done with a synchronisation object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Exclusive,
    Shared,
    /// A try or timed lock that did not get it.
    Failed,
    Post,
    Take,
    /// A look at the value of a semaphore, or a wait that failed.
    Look,
    Signal,
    /// A signal that found nobody to wake.
    LostSignal,
    Broadcast,
    /// The round, and whether this was its last arrival.
    Arrive(u32, Last),
    Leave(u32),
    /// A once object whose initialiser had ended.
    Pass,
    /// Anything else.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    Yes,
    No,
}

/// Whether the order of two steps of different threads may matter.
pub(super) fn dependent(a: &Footprint, b: &Footprint) -> bool {
    use Footprint::{Channel, Creation, Everything, Memory, Nothing, Thread};
    match (a, b) {
        (Everything, _) | (_, Everything) => true,
        (Nothing, _) | (_, Nothing) => false,
        (Channel(None), Channel(_)) | (Channel(_), Channel(None)) => true,
        (Channel(Some(x)), Channel(Some(y))) => x.object == y.object && (x.offset & y.offset != 0 || x == y),
        (Memory { loc: x, write: v }, Memory { loc: y, write: w }) => (*v || *w) && x.overlaps(*y),
        (Memory { loc, write }, other) | (other, Memory { loc, write }) => {
            *write && other.uses().into_iter().flatten().any(|(object, _)| covers(*loc, object))
        }
        (Creation, Creation) => true,
        (Thread(x), Thread(y)) => x == y,
        _ => a
            .uses()
            .into_iter()
            .flatten()
            .any(|(x, one)| b.uses().into_iter().flatten().any(|(y, two)| x == y && !one.commutes(two))),
    }
}

/// Whether `done`, performed where `other` was possible too, keeps `other` from doing behind it what it would have done before it. Besides
/// dependent steps, the last arrival of a round of a barrier does: the other would be in the next round.
pub(super) fn excludes(done: &Footprint, other: &Footprint) -> bool {
    let fills = match (done, other) {
        (Footprint::Sync(x, Use::Arrive(_, Last::Yes)), Footprint::Sync(y, Use::Arrive(..))) => x == y,
        _ => false,
    };
    fills || dependent(done, other)
}

impl Footprint {
    fn uses(&self) -> [Option<(Addr, Use)>; 2] {
        match *self {
            Footprint::Sync(object, using) => [Some((object, using)), None],
            Footprint::Wait(cond, mutex) => [Some((cond, Use::Other)), Some((mutex, Use::Other))],
            _ => [None, None],
        }
    }

    /// The worst that the operation may turn out to be in any state in which the thread holds these locks and stands before it.
    pub(super) fn worst(thread: ThreadId, kind: OpKind, held: &[Addr]) -> Footprint {
        use Footprint::{Channel, Creation, Everything, Memory, Nothing, Sync, Thread, Wait};
        match kind {
            OpKind::Begin | OpKind::Fence | OpKind::Choose { .. } | OpKind::Yield | OpKind::Spin => Nothing,
            OpKind::Exit => Everything,
            OpKind::End if held.is_empty() => Thread(thread),
            OpKind::End => Everything,
            OpKind::Create => Creation,
            OpKind::Join { child, .. } | OpKind::Detach { child } => Thread(child),
            OpKind::Atomic { loc, op } => Memory { loc, write: op.writes() },
            OpKind::Access { loc, kind } => Memory { loc, write: kind == AccessKind::Write },
            OpKind::Channel { channel } => Channel(channel),
            OpKind::WaitBegin { cond, mutex } | OpKind::WaitEnd { cond, mutex } => Wait(cond, mutex),
            OpKind::Lock { lock, mode, how: LockHow::Block } => Sync(lock, Use::of(mode)),
            OpKind::Unlock { lock, mode } if held.contains(&lock) => Sync(lock, Use::of(mode)),
            OpKind::SemPost { sem } => Sync(sem, Use::Post),
            OpKind::SemRead { sem } => Sync(sem, Use::Look),
            OpKind::Broadcast { cond } => Sync(cond, Use::Broadcast),
            OpKind::Lock { lock: object, .. }
            | OpKind::Unlock { lock: object, .. }
            | OpKind::SemWait { sem: object, .. }
            | OpKind::Signal { cond: object }
            | OpKind::BarrierArrive { barrier: object }
            | OpKind::BarrierLeave { barrier: object }
            | OpKind::SyncInit { object }
            | OpKind::SyncDestroy { object }
            | OpKind::Once { once: object }
            | OpKind::OnceEnd { once: object } => Sync(object, Use::Other),
        }
    }

    /// What a step turned out to be.
    pub(super) fn performed(step: &Performed) -> Footprint {
        let cut = matches!(
            step.status,
            Status::Crashed | Status::Infeasible | Status::Unsupported { .. } | Status::Limit { .. }
        );
        if cut {
            return Footprint::Everything;
        }
        let worst = Footprint::worst(step.thread, step.kind, step.held);
        let stuck = |kind| matches!(kind, ProblemKind::Deadlock | ProblemKind::Livelock);
        let misused = step.problems.iter().any(|problem| !stuck(problem.kind));
        match (worst, step.kind) {
            (Footprint::Sync(object, _), OpKind::Lock { .. } | OpKind::Unlock { .. }) if misused => {
                Footprint::Sync(object, Use::Other)
            }
            (_, OpKind::SemPost { .. } | OpKind::SemWait { .. } | OpKind::SemRead { .. }) if misused => worst,
            (Footprint::Sync(object, _), _) => match step.using(object) {
                Some(using) => Footprint::Sync(object, using),
                None => Footprint::Nothing,
            },
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
}

/// What is known of a step that was performed.
pub(super) struct Performed<'a> {
    pub(super) thread: ThreadId,
    pub(super) kind: OpKind,
    pub(super) events: &'a [Event],
    /// After the step.
    pub(super) status: &'a Status,
    /// Problems that the step added.
    pub(super) problems: &'a [Problem],
    /// Locks that the thread held before the step.
    pub(super) held: &'a [Addr],
    /// Whether the thread can move again at once.
    pub(super) goes_on: bool,
}

impl Performed<'_> {
    /// What the operation did with its object. `None`: nothing, because it is an inner lock or unlock of a lock held already; a writer that
    /// waits may keep out a reader, also one that is inside.
    fn using(&self, object: Addr) -> Option<Use> {
        let happened = |matches: &dyn Fn(&EventKind) -> bool| {
            self.events.iter().any(|event| event.thread == self.thread && matches(&event.kind))
        };
        let failed = happened(&|kind| matches!(kind, EventKind::AcquireFailed { lock } if *lock == object));
        Some(match self.kind {
            OpKind::Lock { mode: wanted, .. } => {
                let taken =
                    happened(&|kind| matches!(kind, EventKind::Acquire { lock, .. } if *lock == object));
                match (taken, failed, self.held.contains(&object)) {
                    (true, ..) => Use::of(wanted),
                    (false, true, _) => Use::Failed,
                    (false, false, true) if wanted == LockMode::Shared => Use::Shared,
                    (false, false, true) => return None,
                    (false, false, false) => Use::Other,
                }
            }
            OpKind::Unlock { mode: held, .. } => {
                let given =
                    happened(&|kind| matches!(kind, EventKind::Release { lock, .. } if *lock == object));
                match (given, self.held.contains(&object)) {
                    (true, _) => Use::of(held),
                    (false, true) => return None,
                    (false, false) => Use::Other,
                }
            }
            OpKind::SemPost { .. } => Use::Post,
            OpKind::SemRead { .. } => Use::Look,
            OpKind::SemWait { .. } if failed => Use::Look,
            OpKind::SemWait { .. } => Use::Take,
            OpKind::Signal { .. } => {
                let lost = |kind: &EventKind| matches!(kind, EventKind::Signal { cond, woken: None } if *cond == object);
                if happened(&lost) { Use::LostSignal } else { Use::Signal }
            }
            OpKind::Broadcast { .. } => Use::Broadcast,
            OpKind::Once { .. } => {
                let began =
                    happened(&|kind| matches!(kind, EventKind::OnceBegin { once } if *once == object));
                let passed =
                    happened(&|kind| matches!(kind, EventKind::OncePass { once } if *once == object));
                if passed && !began { Use::Pass } else { Use::Other }
            }
            OpKind::BarrierArrive { .. } | OpKind::BarrierLeave { .. } => {
                let last = if self.goes_on { Last::Yes } else { Last::No };
                let round = self.events.iter().find_map(|event| match event.kind {
                    EventKind::BarrierArrive { barrier, round } if barrier == object => {
                        Some(Use::Arrive(round, last))
                    }
                    EventKind::BarrierLeave { barrier, round } if barrier == object => {
                        Some(Use::Leave(round))
                    }
                    _ => None,
                });
                round.unwrap_or(Use::Other)
            }
            _ => Use::Other,
        })
    }
}

impl Use {
    fn of(mode: LockMode) -> Use {
        match mode {
            LockMode::Exclusive => Use::Exclusive,
            LockMode::Shared => Use::Shared,
        }
    }

    /// Each with its reason: readers exclude and order writers only; failures, looks and passes change nothing; a later wait is ordered after
    /// all posts; all waiters are woken already, or none is there; a round counts and not who came when in it; departures order nothing.
    fn commutes(self, other: Use) -> bool {
        match (self, other) {
            (Use::Arrive(x, _), Use::Arrive(y, _)) => x == y,
            (Use::Arrive(x, _), Use::Leave(y)) | (Use::Leave(y), Use::Arrive(x, _)) => x != y,
            (Use::Leave(_), Use::Leave(_)) => true,
            _ => {
                self == other
                    && matches!(
                        self,
                        Use::Shared
                            | Use::Failed
                            | Use::Post
                            | Use::Look
                            | Use::LostSignal
                            | Use::Broadcast
                            | Use::Pass
                    )
            }
        }
    }
}

/// Whether the first, coming before the second, may make the second the last arrival of a round though it was not.
pub(super) fn fills_up(first: &Footprint, second: &Footprint) -> bool {
    match (first, second) {
        (Footprint::Sync(x, Use::Arrive(..)), Footprint::Sync(y, Use::Arrive(..))) => x == y,
        _ => false,
    }
}

/// Whether the operation may be impossible where its thread stands before it.
pub(super) fn may_block(kind: OpKind) -> bool {
    match kind {
        OpKind::Lock { how, .. } | OpKind::SemWait { how, .. } => how != LockHow::Try,
        OpKind::Join { .. }
        | OpKind::WaitEnd { .. }
        | OpKind::BarrierLeave { .. }
        | OpKind::SyncDestroy { .. }
        | OpKind::Channel { .. }
        | OpKind::Once { .. } => true,
        _ => false,
    }
}

/// Whether the operation may have several outcomes to choose from, or another one elsewhere.
pub(super) fn may_vary(kind: OpKind) -> bool {
    match kind {
        OpKind::Lock { how, .. } | OpKind::SemWait { how, .. } => how == LockHow::Timed,
        OpKind::Begin
        | OpKind::End
        | OpKind::Create
        | OpKind::Detach { .. }
        | OpKind::Unlock { .. }
        | OpKind::SyncInit { .. }
        | OpKind::SyncDestroy { .. }
        | OpKind::Broadcast { .. }
        | OpKind::BarrierArrive { .. }
        | OpKind::BarrierLeave { .. }
        | OpKind::SemPost { .. }
        | OpKind::SemRead { .. }
        | OpKind::Once { .. }
        | OpKind::OnceEnd { .. }
        | OpKind::Channel { .. }
        | OpKind::Atomic { .. }
        | OpKind::Fence
        | OpKind::Access { .. }
        | OpKind::Exit
        | OpKind::Yield
        | OpKind::Spin => false,
        OpKind::Join { .. }
        | OpKind::WaitBegin { .. }
        | OpKind::WaitEnd { .. }
        | OpKind::Signal { .. }
        | OpKind::Choose { .. } => true,
    }
}

/// Whether the bytes hold the start of the object.
fn covers(loc: Loc, object: Addr) -> bool {
    loc.object == object.object
        && loc.offset <= object.offset
        && u64::from(object.offset) < u64::from(loc.offset) + u64::from(loc.len)
}
