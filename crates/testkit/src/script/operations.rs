//! What each thread would do next, in which variants, and which of them are open.

use super::code::Code;
use super::machine::{ScriptMachine, SpuriousWakeups};
use super::state::{At, Once, Signalled, location};
use super::stutter::Outcomes;
use super::syntax::{Act, Cond, How, Mode};
use raddle_base::SiteId;
use raddle_event::{AccessKind, AtomicOp, LockMode, ThreadId};
use raddle_machine::{LockHow, OpKind, Operation, Visibility};

/// Whether a thread that cannot move waits for others or goes round in circles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stuck {
    Blocked,
    Asleep,
}

impl ScriptMachine {
    pub(super) fn operation(&self, thread: ThreadId) -> Option<Operation> {
        let local = &self.state.thread(thread).local;
        let (site, kind) = match local.at {
            At::Ended => return None,
            At::Begin => (SiteId::NONE, OpKind::Begin),
            At::Spin { site } => (site, OpKind::Spin),
            At::WaitEnd => {
                let (site, act) = self.act(thread);
                let Act::Wait { cond, lock, .. } = act else { unreachable!("the thread waits") };
                let mutex = self.objects.lock(usize::from(lock));
                (site, OpKind::WaitEnd { cond: self.objects.cond(cond), mutex })
            }
            At::Awake => {
                let (site, act) = self.act(thread);
                let Act::Wait { lock, .. } = act else { unreachable!("the thread waits") };
                let (lock, mode) = (self.objects.lock(usize::from(lock)), LockMode::Exclusive);
                (site, OpKind::Lock { lock, mode, how: LockHow::Block })
            }
            At::BarrierLeave { .. } => {
                let (site, act) = self.act(thread);
                let Act::Barrier { barrier } = act else { unreachable!("the thread is at a barrier") };
                (site, OpKind::BarrierLeave { barrier: self.objects.barrier(barrier) })
            }
            At::Code => match self.code(thread) {
                Code::End => self.end_operation(thread),
                Code::Act { site, act } => {
                    (site, self.act_operation(thread, act).expect("a thread stands before a visible act"))
                }
                other => unreachable!("a thread stands before {other:?}"),
            },
        };
        Some(Operation { site, kind })
    }

    /// At the end of a function: of a once initialiser, of main, of a thread.
    fn end_operation(&self, thread: ThreadId) -> (SiteId, OpKind) {
        let frames = &self.state.thread(thread).local.frames;
        let function = frames.last().expect("a running thread has a frame").function;
        let site = self.program.functions[function].end;
        if frames.len() > 1 {
            return (site, OpKind::OnceEnd { once: self.objects.once(function as u8) });
        }
        let kind = if thread == ThreadId::MAIN { OpKind::Exit } else { OpKind::End };
        (site, kind)
    }

    /// The visible operation that an act is; `None` when it is not visible.
    pub(super) fn act_operation(&self, thread: ThreadId, act: Act) -> Option<OpKind> {
        let objects = &self.objects;
        Some(match act {
            Act::Read { place, .. } if self.is_visible(thread) => {
                OpKind::Access { loc: location(place), kind: AccessKind::Read }
            }
            Act::Write { place, .. } if self.is_visible(thread) => {
                OpKind::Access { loc: location(place), kind: AccessKind::Write }
            }
            Act::Read { .. } | Act::Write { .. } | Act::Set { .. } => return None,
            Act::AtomicLoad { place, order, .. } => {
                OpKind::Atomic { loc: location(place), op: AtomicOp::Load(order) }
            }
            Act::AtomicStore { place, order, .. } => {
                OpKind::Atomic { loc: location(place), op: AtomicOp::Store(order) }
            }
            Act::AtomicRmw { place, order, .. } | Act::AtomicCas { place, success: order, .. } => {
                OpKind::Atomic { loc: location(place), op: AtomicOp::Rmw(order) }
            }
            Act::Fence(_) => OpKind::Fence,
            Act::Lock { lock, mode, how, .. } => OpKind::Lock {
                lock: objects.lock(usize::from(lock)),
                mode: lock_mode(mode),
                how: lock_how(how),
            },
            Act::Unlock { lock } => {
                let lock = usize::from(lock);
                let held = self.state.thread(thread).local.holds(lock);
                let mode = lock_mode(held.map_or(Mode::Exclusive, |held| held.mode));
                OpKind::Unlock { lock: objects.lock(lock), mode }
            }
            Act::AtomicBegin => OpKind::Lock {
                lock: objects.lock(self.state.section()),
                mode: LockMode::Exclusive,
                how: LockHow::Block,
            },
            Act::AtomicEnd => {
                OpKind::Unlock { lock: objects.lock(self.state.section()), mode: LockMode::Exclusive }
            }
            Act::Wait { cond, lock, .. } => {
                OpKind::WaitBegin { cond: objects.cond(cond), mutex: objects.lock(usize::from(lock)) }
            }
            Act::Signal { cond } => OpKind::Signal { cond: objects.cond(cond) },
            Act::Broadcast { cond } => OpKind::Broadcast { cond: objects.cond(cond) },
            Act::Barrier { barrier } => OpKind::BarrierArrive { barrier: objects.barrier(barrier) },
            Act::Post { sem } => OpKind::SemPost { sem: objects.sem(sem) },
            Act::Down { sem, how, .. } => OpKind::SemWait { sem: objects.sem(sem), how: lock_how(how) },
            Act::Once { once } => OpKind::Once { once: objects.once(once) },
            Act::Create { .. } => OpKind::Create,
            Act::Join { thread: body } => {
                OpKind::Join { child: self.state.thread(thread).local.child(body), how: LockHow::Block }
            }
            Act::Detach { thread: body } => {
                OpKind::Detach { child: self.state.thread(thread).local.child(body) }
            }
            Act::Choose { .. } => OpKind::Choose { variants: 2 },
            Act::Assume(cond) | Act::Assert(cond) => {
                if self.truth(thread, cond) {
                    return None;
                }
                OpKind::Exit
            }
            Act::Exit => OpKind::Exit,
            Act::Return => OpKind::End,
        })
    }

    /// Variants open to the thread, those asleep included.
    fn open_variants(&self, thread: ThreadId) -> Vec<u32> {
        let state = &self.state;
        let when = |open: bool| if open { vec![0] } else { Vec::new() };
        match state.thread(thread).local.at {
            At::Ended => Vec::new(),
            At::Begin | At::Spin { .. } => vec![0],
            At::WaitEnd => {
                let Act::Wait { cond, lock, how } = self.act(thread).1 else { unreachable!("it waits") };
                if !state.can_acquire(thread, usize::from(lock), Mode::Exclusive) {
                    return Vec::new();
                }
                if state.waiter(cond, thread).expect("it waits").signalled == Signalled::Yes {
                    return vec![0];
                }
                match (how, self.spurious_wakeups) {
                    (How::Timed, SpuriousWakeups::On) => vec![1, 2],
                    (How::Timed, SpuriousWakeups::Off) => vec![2],
                    _ => Vec::new(),
                }
            }
            At::Awake => {
                let Act::Wait { lock, .. } = self.act(thread).1 else { unreachable!("it waits") };
                when(state.can_acquire(thread, usize::from(lock), Mode::Exclusive))
            }
            At::BarrierLeave { round } => {
                let Act::Barrier { barrier } = self.act(thread).1 else { unreachable!("it is at a barrier") };
                when(state.barriers[usize::from(barrier)].round > round)
            }
            At::Code => {
                let Code::Act { act, .. } = self.code(thread) else { return vec![0] };
                match act {
                    Act::Lock { lock, mode, how, .. } => {
                        let lock = usize::from(lock);
                        let free = state.can_acquire(thread, lock, mode);
                        match how {
                            How::Block => when(free || state.refuses(thread, lock)),
                            How::Timed if !free => vec![1],
                            How::Try | How::Timed => vec![0],
                        }
                    }
                    Act::AtomicBegin => when(state.can_acquire(thread, state.section(), Mode::Exclusive)),
                    Act::Signal { cond } => {
                        let waiters = &state.conds[usize::from(cond)];
                        let waiting = waiters.iter().filter(|w| w.signalled == Signalled::No).count();
                        (0..waiting.max(1) as u32).collect()
                    }
                    Act::Down { sem, how, .. } => {
                        let full = state.sems[usize::from(sem)] > 0;
                        match how {
                            How::Block => when(full),
                            How::Timed if !full => vec![1],
                            How::Try | How::Timed => vec![0],
                        }
                    }
                    Act::Once { once } => when(state.onces[usize::from(once)] != Once::Running),
                    Act::Join { thread: body } => {
                        let child = state.thread(thread).local.child(body);
                        when(state.thread(child).local.at == At::Ended)
                    }
                    Act::Wait { lock, .. }
                        if self.spurious_wakeups == SpuriousWakeups::On && decides(act) =>
                    {
                        let held = state.thread(thread).local.holds(usize::from(lock)).is_some();
                        if held { vec![0, 1] } else { vec![0] }
                    }
                    Act::Choose { .. } => vec![0, 1],
                    _ => vec![0],
                }
            }
        }
    }

    pub(super) fn enabled_variants(&self, thread: ThreadId) -> Vec<u32> {
        let mut variants = self.open_variants(thread);
        variants.retain(|variant| !self.state.asleep(thread, *variant));
        variants
    }

    /// Why a thread without enabled variants cannot move.
    pub(super) fn stuck(&self, thread: ThreadId) -> Stuck {
        if self.open_variants(thread).is_empty() { Stuck::Blocked } else { Stuck::Asleep }
    }

    /// Whether the operation could ever go another way, in this state or in another one with the same local state.
    pub(super) fn outcomes(&self, thread: ThreadId) -> Outcomes {
        let several = match self.state.thread(thread).local.at {
            At::WaitEnd => true,
            At::Code => match self.code(thread) {
                Code::Act { act: Act::Lock { how, .. } | Act::Down { how, .. }, .. } => how == How::Timed,
                Code::Act { act: Act::Signal { .. } | Act::Choose { .. }, .. } => true,
                Code::Act { act, .. } => decides(act),
                _ => false,
            },
            _ => false,
        };
        if several { Outcomes::Several } else { Outcomes::One }
    }

    fn is_visible(&self, thread: ThreadId) -> bool {
        match &self.visibility {
            Visibility::SyncOnly => false,
            Visibility::EveryAccess => true,
            Visibility::Sites(sites) => sites.binary_search(&self.act(thread).0).is_ok(),
        }
    }

    pub(super) fn code(&self, thread: ThreadId) -> Code {
        let frame = self.state.thread(thread).local.frame();
        self.program.functions[frame.function].code[frame.position]
    }

    /// The act at which the thread stands.
    pub(super) fn act(&self, thread: ThreadId) -> (SiteId, Act) {
        match self.code(thread) {
            Code::Act { site, act } => (site, act),
            other => unreachable!("the thread stands before {other:?}"),
        }
    }

    pub(super) fn truth(&self, thread: ThreadId, cond: Cond) -> bool {
        match cond {
            Cond::Is(register, value) => self.state.register(thread, register) == u64::from(value),
            Cond::IsNot(register, value) => self.state.register(thread, register) != u64::from(value),
        }
    }
}

pub(super) fn lock_mode(mode: Mode) -> LockMode {
    match mode {
        Mode::Exclusive => LockMode::Exclusive,
        Mode::Shared => LockMode::Shared,
    }
}

fn lock_how(how: How) -> LockHow {
    match how {
        How::Block => LockHow::Block,
        How::Try => LockHow::Try,
        How::Timed => LockHow::Timed,
    }
}

/// Whether the act is a wait that decides at its beginning whether it ends for no reason. One with a time limit does so at its end.
fn decides(act: Act) -> bool {
    matches!(act, Act::Wait { how, .. } if how != How::Timed)
}
