//! Condition variables. A wait is two visible operations: giving up the mutex, and coming back with it.
//!
//! A signal wakes one waiter of the scheduler's choice. A wait without a time limit decides at its beginning whether it wakes up for no
//! reason. If so it is no waiter for anybody, which is a wake-up at once whose thread may be slow to take the mutex: a later spurious
//! wake-up differs from it only for signals, and one that would have reached the waiter is a wake-up by signal. If not, only a
//! signal ends the wait, so that a program which hangs unless a spurious wake-up happens is seen to hang. A wait with a time limit
//! cannot hang; there spurious wake-ups and timeouts may come whenever the mutex is free and no signal has come.

use super::birth::Expected;
use super::{Errno, SyncObject, SyncTable, Waiter};
use crate::exec::{Cx, Flow, Halt};
use crate::options::SpuriousWakeups;
use crate::thread::{Action, Until, Wait};
use raddle_event::{Addr, EventKind, LockMode, ProblemKind, ThreadId, WakeReason};
use raddle_libmodel::{CondOp, Effect, How, Returns};
use raddle_machine::{LockHow, OpKind};

/// Variants of [`OpKind::WaitEnd`]; `SPURIOUS` also of [`OpKind::WaitBegin`].
pub(crate) const SIGNALLED: u32 = 0;
pub(crate) const SPURIOUS: u32 = 1;
pub(crate) const TIMED_OUT: u32 = 2;

impl SyncTable {
    /// Whether a thread that waits may go on: it is not among those that a signal could wake. A condition may be destroyed, and its memory
    /// given to others, as soon as all are woken (POSIX, `pthread_cond_destroy`).
    pub fn is_woken(&self, cond: Addr, thread: ThreadId) -> bool {
        match self.get(cond) {
            Some(SyncObject::Cond(waiters)) => {
                !waiters.iter().any(|waiter| waiter.thread == thread && !waiter.signalled)
            }
            _ => true,
        }
    }
}

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
                if let Err(error) = self.release_for_wait(mutex, mutex_object) {
                    return Ok(Flow::Return(self.answer(returns, Err(error))));
                }
                if self.world.options.spurious_wakeups == SpuriousWakeups::Off {
                    self.assume("A-SPURIOUS");
                }
                let until = match how {
                    How::Timed { .. } => Until::TimedOut,
                    _ if variant == SPURIOUS => Until::Spurious,
                    _ => Until::Signalled,
                };
                let action = Action::WaitEnd(Wait { cond, mutex, until });
                if until == Until::Spurious {
                    let mode = LockMode::Exclusive;
                    return Err(self.stand(OpKind::Lock { lock: mutex, mode, how: LockHow::Block }, action));
                }
                waiters.push(Waiter { thread: self.thread.id, signalled: false });
                self.world.sync.set(cond, SyncObject::Cond(waiters));
                Err(self.stand(OpKind::WaitEnd { cond, mutex }, action))
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
        let reason = match (wait.until, variant) {
            (Until::Spurious, _) | (_, SPURIOUS) => WakeReason::Spurious,
            (_, SIGNALLED) => WakeReason::Signalled,
            _ => WakeReason::TimedOut,
        };
        if let Some(SyncObject::Cond(waiters)) = self.world.sync.get(wait.cond) {
            let mut waiters = waiters.clone();
            waiters.retain(|waiter| waiter.thread != self.thread.id);
            self.world.sync.set(wait.cond, SyncObject::Cond(waiters));
        }
        let (given, returns) = match self.present_effect() {
            Some((Effect::Cond(CondOp::Wait { mutex, .. }, returns), _)) => (Some(*mutex), *returns),
            _ => (None, Returns::Errno),
        };
        let mutex = given.map(|mutex| self.pointer_arg(mutex));
        if let Some(mutex) = mutex {
            let at = self.sync_addr(mutex)?;
            if self.world.sync.get(at) == Some(&SyncObject::Destroyed) {
                self.problem(ProblemKind::DestroyedLockUse, Some(at), "");
            }
        }
        self.event(EventKind::WaitEnd { cond: wait.cond, reason });
        let taken = self.acquire_after_wait(wait.mutex);
        // The mutex was taken again, as by a call of its own.
        if let Some(mutex) = mutex {
            self.report_use(mutex, Expected::Mutex);
        }
        let timed_out = reason == WakeReason::TimedOut;
        let result = taken.and(if timed_out { Err(Errno::TimedOut) } else { Ok(()) });
        let value = self.answer(returns, result);
        self.return_value(value);
        Ok(())
    }
}
