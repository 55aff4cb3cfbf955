//! One step of a script's thread: what each act does to the shared state, which events it gives, whether it had an effect.

use super::code::Code;
use super::machine::ScriptMachine;
use super::operations::lock_mode;
use super::state::{At, Frame, Held, Once, Signalled, Thread, Waiter, Weak, location};
use super::stutter::{Condition, Effect};
use super::syntax::{Act, How, LockKind, Mode, RmwKind};
use raddle_base::{LoadOrder, RmwOrder, SiteId, StoreOrder};
use raddle_event::{AccessKind, AtomicOp, EventKind, ProblemKind, ThreadId, WakeReason};
use raddle_machine::{Sink, Status};
use std::sync::Arc;

impl ScriptMachine {
    /// Performs the pending operation, up to the point behind it.
    pub(super) fn perform(&mut self, thread: ThreadId, variant: u32, sink: &mut dyn Sink) -> Effect {
        match self.state.thread(thread).local.at {
            At::Begin => {
                self.emit(thread, SiteId::NONE, EventKind::Begin, sink);
                self.state.local_mut(thread).at = At::Code;
                Effect::Some
            }
            At::Spin { .. } => {
                self.state.local_mut(thread).at = At::Code;
                Effect::None(Vec::new())
            }
            At::WaitEnd | At::Awake => self.wait_end(thread, variant, sink),
            At::BarrierLeave { round } => {
                let (site, act) = self.act(thread);
                let Act::Barrier { barrier } = act else { unreachable!("the thread is at a barrier") };
                let barrier = self.objects.barrier(barrier);
                self.emit(thread, site, EventKind::BarrierLeave { barrier, round }, sink);
                self.next(thread);
                Effect::Some
            }
            At::Code => match self.code(thread) {
                Code::End => self.function_end(thread, sink),
                _ => self.visible_act(thread, variant, sink),
            },
            At::Ended => unreachable!("an ended thread has no operation"),
        }
    }

    /// An act without a scheduling point before it.
    pub(super) fn silent_act(
        &mut self,
        thread: ThreadId,
        site: SiteId,
        act: Act,
        sink: &mut dyn Sink,
    ) -> Effect {
        match act {
            Act::Read { to, place } => {
                let kind = EventKind::Access { loc: location(place), kind: AccessKind::Read };
                self.emit(thread, site, kind, sink);
                let value = self.state.read(place);
                self.state.set_register(thread, to, value);
                Effect::None(vec![Condition::Bytes { place, value }])
            }
            Act::Write { place, value } => {
                let kind = EventKind::Access { loc: location(place), kind: AccessKind::Write };
                self.emit(thread, site, kind, sink);
                let value = self.state.value(thread, value);
                self.store(place, value)
            }
            Act::Set { to, value } => {
                let value = self.state.value(thread, value);
                self.state.set_register(thread, to, value);
                Effect::None(Vec::new())
            }
            // A condition that holds; one that fails is a visible operation.
            Act::Assume(_) | Act::Assert(_) => Effect::None(Vec::new()),
            other => unreachable!("{other:?} is a visible operation"),
        }
    }

    fn visible_act(&mut self, thread: ThreadId, variant: u32, sink: &mut dyn Sink) -> Effect {
        let (site, act) = self.act(thread);
        let effect = match act {
            Act::Read { .. } | Act::Write { .. } => self.silent_act(thread, site, act, sink),
            Act::AtomicLoad { .. }
            | Act::AtomicStore { .. }
            | Act::AtomicRmw { .. }
            | Act::AtomicCas { .. } => self.atomic(thread, site, act, sink),
            Act::Fence(order) => {
                self.state.weak_atomics = Weak::Met;
                self.emit(thread, site, EventKind::Fence { order }, sink);
                Effect::None(Vec::new())
            }
            Act::Lock { lock, mode, how, result } => {
                let lock = usize::from(lock);
                let took = variant == 0 && self.state.can_acquire(thread, lock, mode);
                if how != How::Block {
                    self.state.set_register(thread, result, u64::from(!took));
                }
                if took {
                    self.acquire(thread, site, lock, mode, sink)
                } else {
                    self.emit(thread, site, EventKind::AcquireFailed { lock: self.objects.lock(lock) }, sink);
                    self.state.notice_lock(thread, lock);
                    Effect::None(vec![Condition::Taken { lock, mode }])
                }
            }
            Act::Unlock { lock } => self.release(thread, site, usize::from(lock), sink),
            Act::AtomicBegin => self.acquire(thread, site, self.state.section(), Mode::Exclusive, sink),
            Act::AtomicEnd => self.release(thread, site, self.state.section(), sink),
            Act::Wait { cond, lock, .. } => {
                if self.state.thread(thread).local.holds(usize::from(lock)).is_none() {
                    let object = self.objects.lock(usize::from(lock));
                    self.problem(ProblemKind::UnlockNotHeld, thread, site, Some(object));
                    Effect::Some
                } else {
                    self.emit(thread, site, EventKind::WaitBegin { cond: self.objects.cond(cond) }, sink);
                    self.release(thread, site, usize::from(lock), sink);
                    if variant == 1 {
                        self.state.local_mut(thread).at = At::Awake;
                    } else {
                        let waiter = Waiter { thread, signalled: Signalled::No };
                        self.state.conds[usize::from(cond)].push(waiter);
                        self.state.local_mut(thread).at = At::WaitEnd;
                    }
                    return Effect::None(Vec::new());
                }
            }
            Act::Signal { .. } | Act::Broadcast { .. } => self.signal(thread, site, act, variant, sink),
            Act::Barrier { barrier } => {
                let state = &mut self.state.barriers[usize::from(barrier)];
                let round = state.round;
                state.arrived += 1;
                if state.arrived == state.needed {
                    state.arrived = 0;
                    state.round += 1;
                }
                let barrier = self.objects.barrier(barrier);
                self.emit(thread, site, EventKind::BarrierArrive { barrier, round }, sink);
                self.state.local_mut(thread).at = At::BarrierLeave { round };
                return Effect::Some;
            }
            Act::Post { sem } => {
                self.state.sems[usize::from(sem)] += 1;
                self.emit(thread, site, EventKind::SemPost { sem: self.objects.sem(sem) }, sink);
                Effect::Some
            }
            Act::Down { sem, how, result } => {
                let took = variant == 0 && self.state.sems[usize::from(sem)] > 0;
                if how != How::Block {
                    self.state.set_register(thread, result, u64::from(!took));
                }
                if took {
                    self.state.sems[usize::from(sem)] -= 1;
                    self.emit(thread, site, EventKind::SemWait { sem: self.objects.sem(sem) }, sink);
                    Effect::Some
                } else {
                    let lock = self.objects.sem(sem);
                    self.emit(thread, site, EventKind::AcquireFailed { lock }, sink);
                    let empty = Condition::Empty { sem: usize::from(sem) };
                    Effect::None(vec![empty])
                }
            }
            Act::Once { once } => {
                let object = self.objects.once(once);
                if self.state.onces[usize::from(once)] == Once::Fresh {
                    self.state.onces[usize::from(once)] = Once::Running;
                    self.emit(thread, site, EventKind::OnceBegin { once: object }, sink);
                    self.state.local_mut(thread).frames.push(Frame::new(usize::from(once)));
                    return Effect::Some;
                }
                self.emit(thread, site, EventKind::OncePass { once: object }, sink);
                Effect::Some
            }
            Act::Create { thread: body } => {
                let child = ThreadId(self.state.threads.len() as u32);
                let local = self.state.local_mut(thread);
                let ordinal = local.children.len() as u32;
                local.children.push((body, child));
                let function = self.program.once_count + usize::from(body);
                self.state.threads.push(Arc::new(Thread::new(function, Some((thread, site)), ordinal)));
                self.emit(thread, site, EventKind::Create { child }, sink);
                Effect::Some
            }
            Act::Join { thread: body } => {
                let child = self.state.thread(thread).local.child(body);
                self.emit(thread, site, EventKind::Join { child }, sink);
                Effect::Some
            }
            Act::Detach { thread: body } => {
                let child = self.state.thread(thread).local.child(body);
                self.emit(thread, site, EventKind::Detach { child }, sink);
                Effect::Some
            }
            Act::Choose { to } => {
                self.state.set_register(thread, to, u64::from(variant));
                self.emit(thread, site, EventKind::Choose { value: u64::from(variant) }, sink);
                Effect::Some
            }
            Act::Assume(_) => return self.stop(thread, site, Status::Infeasible, sink),
            Act::Assert(_) => {
                self.problem(ProblemKind::AssertionFailure, thread, site, None);
                return self.stop(thread, site, Status::Crashed, sink);
            }
            Act::Exit => return self.stop(thread, site, Status::Exited(0), sink),
            Act::Return => return self.thread_end(thread, site, sink),
            Act::Set { .. } => unreachable!("setting a register is not visible"),
        };
        self.next(thread);
        effect
    }

    fn atomic(&mut self, thread: ThreadId, site: SiteId, act: Act, sink: &mut dyn Sink) -> Effect {
        let (place, op, effect) = match act {
            Act::AtomicLoad { to, place, order } => {
                let value = self.state.read(place);
                self.state.set_register(thread, to, value);
                (place, AtomicOp::Load(order), Effect::None(vec![Condition::Bytes { place, value }]))
            }
            Act::AtomicStore { place, value, order } => {
                let value = self.state.value(thread, value);
                (place, AtomicOp::Store(order), self.store(place, value))
            }
            Act::AtomicRmw { to, place, kind, value, order } => {
                let old = self.state.read(place);
                let operand = self.state.value(thread, value);
                let new = match kind {
                    RmwKind::Add => old.wrapping_add(operand),
                    RmwKind::Exchange => operand,
                };
                self.state.write(place, new);
                self.state.set_register(thread, to, old);
                (place, AtomicOp::Rmw(order), Effect::Some)
            }
            Act::AtomicCas { to, place, expected, desired, success, failure } => {
                let old = self.state.read(place);
                let equal = old == u64::from(expected);
                let desired = self.state.value(thread, desired);
                self.state.set_register(thread, to, u64::from(equal));
                if equal {
                    self.state.write(place, desired);
                    (place, AtomicOp::Rmw(success), Effect::Some)
                } else {
                    let read = Condition::Bytes { place, value: old };
                    (place, AtomicOp::Load(failure), Effect::None(vec![read]))
                }
            }
            other => unreachable!("{other:?} is not atomic"),
        };
        let strong = matches!(
            op,
            AtomicOp::Load(LoadOrder::SeqCst)
                | AtomicOp::Store(StoreOrder::SeqCst)
                | AtomicOp::Rmw(RmwOrder::SeqCst)
        );
        if !strong {
            self.state.weak_atomics = Weak::Met;
        }
        self.emit(thread, site, EventKind::Atomic { loc: location(place), op }, sink);
        effect
    }

    /// A store of what is there already changes nothing.
    fn store(&mut self, place: super::syntax::Place, value: u64) -> Effect {
        let before = self.state.read(place);
        self.state.write(place, value);
        let after = self.state.read(place);
        if before == after {
            Effect::None(vec![Condition::Bytes { place, value: after }])
        } else {
            Effect::Some
        }
    }

    fn acquire(
        &mut self,
        thread: ThreadId,
        site: SiteId,
        index: usize,
        mode: Mode,
        sink: &mut dyn Sink,
    ) -> Effect {
        assert!(self.state.can_acquire(thread, index, mode), "{thread} cannot take lock {index}");
        let lock = &mut self.state.locks[index];
        if lock.owner == Some(thread) {
            lock.depth += 1;
            let held = &mut self.state.local_mut(thread).held;
            held.iter_mut().find(|held| held.lock == index).expect("the owner holds it").depth += 1;
        } else {
            match mode {
                Mode::Exclusive => {
                    lock.owner = Some(thread);
                    lock.depth = 1;
                }
                Mode::Shared => lock.readers.push(thread),
            }
            self.state.local_mut(thread).held.push(Held { lock: index, mode, depth: 1 });
            let lock = self.objects.lock(index);
            self.emit(thread, site, EventKind::Acquire { lock, mode: lock_mode(mode) }, sink);
        }
        Effect::None(vec![Condition::Free { lock: index, mode }])
    }

    fn release(&mut self, thread: ThreadId, site: SiteId, index: usize, sink: &mut dyn Sink) -> Effect {
        let object = self.objects.lock(index);
        let held = &mut self.state.local_mut(thread).held;
        let Some(position) = held.iter().position(|held| held.lock == index) else {
            self.problem(ProblemKind::UnlockNotHeld, thread, site, Some(object));
            return Effect::Some;
        };
        held[position].depth -= 1;
        if held[position].depth > 0 {
            self.state.locks[index].depth -= 1;
            return Effect::None(Vec::new());
        }
        let Held { mode, .. } = held.remove(position);
        let lock = &mut self.state.locks[index];
        match mode {
            Mode::Exclusive => {
                lock.owner = None;
                lock.depth = 0;
            }
            Mode::Shared => {
                let reader = lock.readers.iter().position(|reader| *reader == thread);
                lock.readers.remove(reader.expect("a holder is among the readers"));
            }
        }
        self.emit(thread, site, EventKind::Release { lock: object, mode: lock_mode(mode) }, sink);
        Effect::None(Vec::new())
    }

    fn wait_end(&mut self, thread: ThreadId, variant: u32, sink: &mut dyn Sink) -> Effect {
        let (site, act) = self.act(thread);
        let Act::Wait { cond, lock, .. } = act else { unreachable!("the thread waits") };
        self.state.conds[usize::from(cond)].retain(|waiter| waiter.thread != thread);
        let reason = match (self.state.thread(thread).local.at, variant) {
            (At::Awake, _) | (_, 1) => WakeReason::Spurious,
            (_, 0) => WakeReason::Signalled,
            _ => WakeReason::TimedOut,
        };
        self.emit(thread, site, EventKind::WaitEnd { cond: self.objects.cond(cond), reason }, sink);
        let lock = usize::from(lock);
        let taken = self.acquire(thread, site, lock, Mode::Exclusive, sink);
        let effect = match reason {
            WakeReason::Signalled => Effect::Some,
            _ if self.state.thread(thread).local.at == At::Awake => {
                Effect::None(vec![Condition::Regained { lock }])
            }
            _ => taken,
        };
        self.next(thread);
        effect
    }

    fn signal(
        &mut self,
        thread: ThreadId,
        site: SiteId,
        act: Act,
        variant: u32,
        sink: &mut dyn Sink,
    ) -> Effect {
        let kind = match act {
            Act::Signal { cond } => {
                let waiters = &mut self.state.conds[usize::from(cond)];
                let mut waiting = waiters.iter_mut().filter(|waiter| waiter.signalled == Signalled::No);
                let woken = waiting.nth(variant as usize).map(|waiter| {
                    waiter.signalled = Signalled::Yes;
                    waiter.thread
                });
                EventKind::Signal { cond: self.objects.cond(cond), woken }
            }
            Act::Broadcast { cond } => {
                for waiter in &mut self.state.conds[usize::from(cond)] {
                    waiter.signalled = Signalled::Yes;
                }
                EventKind::Broadcast { cond: self.objects.cond(cond) }
            }
            other => unreachable!("{other:?} is no signal"),
        };
        self.emit(thread, site, kind, sink);
        Effect::Some
    }

    fn function_end(&mut self, thread: ThreadId, sink: &mut dyn Sink) -> Effect {
        let local = self.state.local_mut(thread);
        let function = local.frame().function;
        let site = self.program.functions[function].end;
        if local.frames.len() == 1 {
            return if thread == ThreadId::MAIN {
                self.stop(thread, site, Status::Exited(0), sink)
            } else {
                self.thread_end(thread, site, sink)
            };
        }
        let once = self.objects.once(function as u8);
        self.emit(thread, site, EventKind::OnceEnd { once }, sink);
        self.state.onces[function] = Once::Done;
        self.state.local_mut(thread).frames.pop();
        let (call, _) = self.act(thread);
        self.emit(thread, call, EventKind::OncePass { once }, sink);
        self.next(thread);
        Effect::Some
    }

    fn thread_end(&mut self, thread: ThreadId, site: SiteId, sink: &mut dyn Sink) -> Effect {
        let held: Vec<Held> = self.state.thread(thread).local.held.clone();
        for Held { lock, .. } in held {
            if matches!(
                self.state.locks[lock].kind,
                LockKind::Mutex | LockKind::Recursive | LockKind::ErrorCheck
            ) {
                let object = self.objects.lock(lock);
                self.problem(ProblemKind::LockHeldAtExit, thread, site, Some(object));
            }
        }
        self.emit(thread, site, EventKind::End, sink);
        self.state.local_mut(thread).at = At::Ended;
        Effect::Some
    }

    fn stop(&mut self, thread: ThreadId, site: SiteId, status: Status, sink: &mut dyn Sink) -> Effect {
        self.emit(thread, site, EventKind::Exit, sink);
        self.state.status = status;
        Effect::Some
    }
}
