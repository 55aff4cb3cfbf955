//! Condition variables. A wait is two visible operations: giving up the mutex, and coming back with it.
//!
//! A signal wakes one waiter of the scheduler's choice. Spurious wake-ups and timeouts may come whenever the mutex is free; a
//! waiter that has been signalled comes back by the signal.

use super::birth::Expected;
use super::{Errno, SyncObject, Waiter};
use crate::exec::{Cx, Flow, Halt};
use crate::options::SpuriousWakeups;
use crate::thread::{Action, Wait};
use raddle_event::{EventKind, ProblemKind, WakeReason};
use raddle_libmodel::{CondOp, Effect, How, Returns};
use raddle_machine::OpKind;

/// Variants of [`OpKind::WaitEnd`].
pub(crate) const SIGNALLED: u32 = 0;
pub(crate) const SPURIOUS: u32 = 1;
pub(crate) const TIMED_OUT: u32 = 2;

impl Cx<'_> {
    pub(crate) fn pending_cond(&mut self, op: CondOp) -> Result<OpKind, Halt> {
        Ok(match op {
            CondOp::Wait { cond, mutex, .. } => OpKind::WaitBegin {
                cond: self.sync_addr(self.pointer_arg(cond))?,
                mutex: self.sync_addr(self.pointer_arg(mutex))?,
            },
            CondOp::Signal { cond } => OpKind::Signal { cond: self.sync_addr(self.pointer_arg(cond))? },
            CondOp::Broadcast { cond } => OpKind::Broadcast { cond: self.sync_addr(self.pointer_arg(cond))? },
        })
    }

    pub(crate) fn perform_cond(&mut self, op: CondOp, returns: Returns, variant: u32) -> Result<Flow, Halt> {
        match op {
            CondOp::Wait { cond, mutex, how } => {
                let (cond_address, mutex_address) = (self.pointer_arg(cond), self.pointer_arg(mutex));
                let (cond, mutex) = (self.sync_addr(cond_address)?, self.sync_addr(mutex_address)?);
                let SyncObject::Cond(mut waiters) = self.sync_object(cond, cond_address, Expected::Cond)
                else {
                    self.problem(ProblemKind::DestroyedLockUse, Some(cond), "");
                    return Ok(Flow::Return(self.answer(returns, Err(Errno::Invalid))));
                };
                let mutex_object = self.sync_object(mutex, mutex_address, Expected::Mutex);
                let held = self.thread.held.iter().any(|held| held.lock == mutex);
                if held {
                    self.event(EventKind::WaitBegin { cond });
                }
                let depth = match self.release_for_wait(mutex, mutex_object) {
                    Ok(depth) => depth,
                    Err(error) => return Ok(Flow::Return(self.answer(returns, Err(error)))),
                };
                waiters.push(Waiter { thread: self.thread.id, signalled: false });
                self.world.sync.set(cond, SyncObject::Cond(waiters));
                if self.world.options.spurious_wakeups == SpuriousWakeups::Off {
                    self.assume("A-SPURIOUS");
                }
                let wait = Wait { cond, mutex, depth, timed: how == How::Timed };
                Err(self.stand(OpKind::WaitEnd { cond, mutex }, Action::WaitEnd(wait)))
            }
            CondOp::Signal { cond } => {
                let address = self.pointer_arg(cond);
                let cond = self.sync_addr(address)?;
                let SyncObject::Cond(mut waiters) = self.sync_object(cond, address, Expected::Cond) else {
                    self.problem(ProblemKind::DestroyedLockUse, Some(cond), "");
                    return Ok(Flow::Return(self.answer(returns, Err(Errno::Invalid))));
                };
                let woken = waiters.iter_mut().filter(|w| !w.signalled).nth(variant as usize).map(|waiter| {
                    waiter.signalled = true;
                    waiter.thread
                });
                self.event(EventKind::Signal { cond, woken });
                self.world.sync.set(cond, SyncObject::Cond(waiters));
                Ok(Flow::Return(self.answer(returns, Ok(()))))
            }
            CondOp::Broadcast { cond } => {
                let address = self.pointer_arg(cond);
                let cond = self.sync_addr(address)?;
                let SyncObject::Cond(mut waiters) = self.sync_object(cond, address, Expected::Cond) else {
                    self.problem(ProblemKind::DestroyedLockUse, Some(cond), "");
                    return Ok(Flow::Return(self.answer(returns, Err(Errno::Invalid))));
                };
                for waiter in &mut waiters {
                    waiter.signalled = true;
                }
                self.event(EventKind::Broadcast { cond });
                self.world.sync.set(cond, SyncObject::Cond(waiters));
                Ok(Flow::Return(self.answer(returns, Ok(()))))
            }
        }
    }

    /// The wait returns, with the mutex. The call at the present position gets its result.
    pub(crate) fn perform_wait_end(&mut self, wait: Wait, variant: u32) -> Result<(), Halt> {
        let reason = match variant {
            SIGNALLED => WakeReason::Signalled,
            SPURIOUS => WakeReason::Spurious,
            _ => WakeReason::TimedOut,
        };
        if let Some(SyncObject::Cond(waiters)) = self.world.sync.get(wait.cond) {
            let mut waiters = waiters.clone();
            waiters.retain(|waiter| waiter.thread != self.thread.id);
            self.world.sync.set(wait.cond, SyncObject::Cond(waiters));
        }
        self.event(EventKind::WaitEnd { cond: wait.cond, reason });
        self.acquire_after_wait(wait.mutex, wait.depth);
        let result = if variant == TIMED_OUT { Err(Errno::TimedOut) } else { Ok(()) };
        let returns = match self.present_effect() {
            Some((Effect::Cond(_, returns), _)) => *returns,
            _ => Returns::Errno,
        };
        let value = self.answer(returns, result);
        self.return_value(value);
        Ok(())
    }
}
