//! From the words of the channel to operations and events, with the names that all engines use.
//!
//! Memory has no objects here: an [`ObjectId`] is a window of [`WINDOW`] bytes of the address space, the same in every execution, because
//! the program is always loaded to the same place and its heap never hands out a block twice.

use super::table::Table;
use raddle_base::{FenceOrder, LoadOrder, RmwOrder, SiteId, StoreOrder};
use raddle_event::{AccessKind, Addr, AtomicOp, EventKind, Loc, LockMode, ObjectId, ThreadId, WakeReason};
use raddle_machine::{LockHow, OpKind, Operation};
use raddle_runtime::control::Kind;
use raddle_runtime::explore::channel::{Event, Pending};
use raddle_runtime::explore::kind;

const WINDOW_BITS: u32 = 28;
const WINDOW: u64 = 1 << WINDOW_BITS;

pub(super) fn addr(address: u64) -> Addr {
    Addr { object: ObjectId((address >> WINDOW_BITS) as u32), offset: (address % WINDOW) as u32 }
}

/// The bytes, window by window.
pub(super) fn locs(address: u64, length: u64) -> impl Iterator<Item = Loc> {
    let end = address.saturating_add(length);
    let mut at = address;
    std::iter::from_fn(move || {
        let stop = end.min((at / WINDOW + 1) * WINDOW);
        let Addr { object, offset } = addr(at);
        let loc = Loc { object, offset, len: stop.saturating_sub(at) as u32 };
        at = stop;
        (loc.len > 0).then_some(loc)
    })
}

fn loc(address: u64, length: u64) -> Loc {
    let Addr { object, offset } = addr(address);
    Loc { object, offset, len: length.min(WINDOW - u64::from(offset)) as u32 }
}

/// `Ok(None)`: the thread has ended. `Err`: not a word that the runtime writes.
pub(super) fn operation(pending: &Pending, table: &Table) -> Result<Option<Operation>, ()> {
    let Some(index) = (pending.kind as usize).checked_sub(1) else { return Ok(None) };
    let kind = Kind::ALL.get(index).ok_or(())?;
    let how = match pending.how & 0xff {
        0 => LockHow::Block,
        1 => LockHow::Try,
        _ => LockHow::Timed,
    };
    let mode = if pending.how >> 8 & 0xff == 0 { LockMode::Exclusive } else { LockMode::Shared };
    let object = addr(pending.address);
    let other = ThreadId(pending.extra);
    let kind = match kind {
        Kind::Begin => OpKind::Begin,
        Kind::End => OpKind::End,
        Kind::Create => OpKind::Create,
        Kind::Join => OpKind::Join { child: other, how },
        Kind::Detach => OpKind::Detach { child: other },
        Kind::Lock => OpKind::Lock { lock: object, mode, how },
        Kind::Unlock => OpKind::Unlock { lock: object, mode },
        Kind::SyncInit => OpKind::SyncInit { object },
        Kind::SyncDestroy => OpKind::SyncDestroy { object },
        Kind::WaitBegin => OpKind::WaitBegin { cond: object, mutex: addr(pending.second) },
        Kind::WaitEnd => OpKind::WaitEnd { cond: object, mutex: addr(pending.second) },
        Kind::Signal => OpKind::Signal { cond: object },
        Kind::Broadcast => OpKind::Broadcast { cond: object },
        Kind::BarrierArrive => OpKind::BarrierArrive { barrier: object },
        Kind::BarrierLeave => OpKind::BarrierLeave { barrier: object },
        Kind::SemPost => OpKind::SemPost { sem: object },
        Kind::SemWait => OpKind::SemWait { sem: object, how },
        Kind::SemRead => OpKind::SemRead { sem: object },
        Kind::Once => OpKind::Once { once: object },
        Kind::OnceEnd => OpKind::OnceEnd { once: object },
        Kind::Atomic => {
            OpKind::Atomic { loc: loc(pending.address, pending.second), op: atomic(pending.extra) }
        }
        Kind::Fence => OpKind::Fence,
        Kind::Access => {
            let kind = if pending.extra == 0 { AccessKind::Read } else { AccessKind::Write };
            OpKind::Access { loc: loc(pending.address, pending.second), kind }
        }
        Kind::Choose => OpKind::Choose { variants: pending.extra },
        Kind::Exit => OpKind::Exit,
        Kind::Yield => OpKind::Yield,
        Kind::Spin => OpKind::Spin,
    };
    // Where nobody called anything, the runtime says 0, which may be a site.
    let nowhere = matches!(kind, OpKind::Begin | OpKind::End) || kind == OpKind::Exit && pending.site == 0;
    let site = if nowhere { SiteId::NONE } else { table.original(pending.site) };
    Ok(Some(Operation { site, kind }))
}

/// What one entry of the channel stands for: mostly one event.
pub(super) fn each_event(event: &Event, mut tell: impl FnMut(EventKind)) {
    let object = addr(event.address);
    let other = ThreadId(event.extra);
    let mode = if event.extra == 0 { LockMode::Exclusive } else { LockMode::Shared };
    tell(match event.kind {
        kind::READ | kind::WRITE | kind::FREE => {
            let kind = if event.kind == kind::READ { AccessKind::Read } else { AccessKind::Write };
            locs(event.address, event.length).for_each(|loc| tell(EventKind::Access { loc, kind }));
            return;
        }
        kind::ATOMIC => EventKind::Atomic { loc: loc(event.address, event.length), op: atomic(event.extra) },
        kind::FENCE => match fence(event.extra) {
            Some(order) => EventKind::Fence { order },
            None => return,
        },
        kind::BEGIN => EventKind::Begin,
        kind::END => EventKind::End,
        kind::CREATE => EventKind::Create { child: other },
        kind::JOIN => EventKind::Join { child: other },
        kind::DETACH => EventKind::Detach { child: other },
        kind::ACQUIRE => EventKind::Acquire { lock: object, mode },
        kind::RELEASE => EventKind::Release { lock: object, mode },
        kind::ACQUIRE_FAILED => EventKind::AcquireFailed { lock: object },
        kind::WAIT_BEGIN => EventKind::WaitBegin { cond: object },
        kind::WAIT_END => {
            let reason = match event.extra {
                0 => WakeReason::Signalled,
                1 => WakeReason::Spurious,
                _ => WakeReason::TimedOut,
            };
            EventKind::WaitEnd { cond: object, reason }
        }
        kind::SIGNAL => EventKind::Signal { cond: object, woken: event.extra.checked_sub(1).map(ThreadId) },
        kind::BROADCAST => EventKind::Broadcast { cond: object },
        kind::BARRIER_ARRIVE => EventKind::BarrierArrive { barrier: object, round: event.extra },
        kind::BARRIER_LEAVE => EventKind::BarrierLeave { barrier: object, round: event.extra },
        kind::SEM_POST => EventKind::SemPost { sem: object },
        kind::SEM_WAIT => EventKind::SemWait { sem: object },
        kind::ONCE_BEGIN => EventKind::OnceBegin { once: object },
        kind::ONCE_END => EventKind::OnceEnd { once: object },
        kind::ONCE_PASS => EventKind::OncePass { once: object },
        kind::SYNC_INIT => EventKind::SyncInit { object },
        kind::SYNC_DESTROY => EventKind::SyncDestroy { object },
        kind::CHOOSE => EventKind::Choose { value: event.length },
        kind::EXIT => EventKind::Exit,
        // A block that nobody has seen yet tells nobody anything.
        _ => return,
    });
}

/// C11 numbers of orders: relaxed, consume, acquire, release, both, sequentially consistent.
fn atomic(words: u32) -> AtomicOp {
    let order = words >> 8 & 0xff;
    match words & 0xff {
        0 => AtomicOp::Load(match order {
            0 => LoadOrder::Relaxed,
            5 => LoadOrder::SeqCst,
            _ => LoadOrder::Acquire,
        }),
        1 => AtomicOp::Store(match order {
            0 => StoreOrder::Relaxed,
            5 => StoreOrder::SeqCst,
            _ => StoreOrder::Release,
        }),
        _ => AtomicOp::Rmw(match order {
            0 => RmwOrder::Relaxed,
            1 | 2 => RmwOrder::Acquire,
            3 => RmwOrder::Release,
            4 => RmwOrder::AcqRel,
            _ => RmwOrder::SeqCst,
        }),
    }
}

fn fence(order: u32) -> Option<FenceOrder> {
    match order {
        0 => None,
        1 | 2 => Some(FenceOrder::Acquire),
        3 => Some(FenceOrder::Release),
        4 => Some(FenceOrder::AcqRel),
        _ => Some(FenceOrder::SeqCst),
    }
}
