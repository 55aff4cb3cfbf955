//! Condition variables. A wait is two visible operations, giving up the mutex and coming back with it; which wake-ups there are is
//! written in `interp::sync::cond`.

use super::model::{
    Model, Mutex, Object, Readiness, SIGNALLED, SPURIOUS, Spurious, TIMED_OUT, Until, Wait, Waiter,
};
use super::operation::{Family, Fault, Happened, How, Mode, Operation, Outcome};
use libc::{EINVAL, EPERM, ETIMEDOUT};

impl Model {
    pub(super) fn waiting(&self, cond: usize) -> u32 {
        match self.objects.get(&cond) {
            Some(Object::Cond(waiters)) => waiters.iter().filter(|waiter| !waiter.signalled).count() as u32,
            _ => 0,
        }
    }

    pub(super) fn wait_variants(&self, me: u32, operation: &Operation, open: &mut dyn FnMut(u32)) {
        open(SIGNALLED);
        let held = matches!(self.objects.get(&operation.second), Some(Object::Mutex(mutex)) if mutex.owner == Some(me));
        if self.spurious == Spurious::On && held && operation.how != How::Timed {
            open(SPURIOUS);
        }
    }

    pub(super) fn wake_variants(&self, me: u32, operation: &Operation, open: &mut dyn FnMut(u32)) {
        if self.readiness(operation.second, Mode::Exclusive, me) != Readiness::Ready {
            return;
        }
        // A condition may be destroyed, and its memory given to others, as soon as all are woken.
        let waits = match self.objects.get(&operation.object) {
            Some(Object::Cond(waiters)) => {
                waiters.iter().any(|waiter| waiter.thread == me && !waiter.signalled)
            }
            _ => false,
        };
        if !waits {
            return open(SIGNALLED);
        }
        if self.lives[me as usize].wait.is_some_and(|wait| wait.until == Until::TimedOut) {
            if self.spurious == Spurious::On {
                open(SPURIOUS);
            }
            open(TIMED_OUT);
        }
    }

    /// The value of the outcome says whether the wait wakes up for no reason: then it takes its mutex by an ordinary lock.
    pub(super) fn wait(&mut self, me: u32, operation: &Operation, variant: u32) -> Outcome {
        let Object::Cond(mut waiters) = self.object(me, operation) else {
            self.fault(me, operation, Fault::DestroyedLockUse);
            return Outcome::error(EINVAL);
        };
        let mut mutex = match self.object_at(me, operation, operation.second, Family::Mutex) {
            Object::Mutex(mutex) if mutex.owner == Some(me) => mutex,
            Object::Mutex(_) => {
                self.fault(me, operation, Fault::UnlockNotHeld);
                return Outcome::error(EPERM);
            }
            _ => {
                self.fault(me, operation, Fault::DestroyedLockUse);
                return Outcome::error(EINVAL);
            }
        };
        self.happens(me, operation, Happened::WaitBegin);
        // One that was locked several times stays with the thread, as in glibc.
        mutex.depth -= 1;
        if mutex.depth == 0 {
            mutex.owner = None;
            let lock = Operation { object: operation.second, ..*operation };
            self.happens(me, &lock, Happened::Release { mode: Mode::Exclusive });
        }
        self.objects.insert(operation.second, Object::Mutex(mutex));
        let until = match operation.how {
            How::Timed => Until::TimedOut,
            _ if variant == SPURIOUS => Until::Spurious,
            _ => Until::Signalled,
        };
        self.lives[me as usize].wait = Some(Wait { until });
        if until == Until::Spurious {
            return Outcome::value(1);
        }
        waiters.push(Waiter { thread: me, signalled: false });
        self.objects.insert(operation.object, Object::Cond(waiters));
        Outcome::DONE
    }

    pub(super) fn wake(&mut self, me: u32, operation: &Operation, variant: u32) -> Outcome {
        let lock = Operation { object: operation.second, ..*operation };
        self.end_wait(me, &lock, operation.object, variant);
        if variant == TIMED_OUT { Outcome::error(ETIMEDOUT) } else { Outcome::DONE }
    }

    /// The wait returns, with the mutex, of which `operation` is about.
    pub(super) fn end_wait(&mut self, me: u32, operation: &Operation, cond: usize, reason: u32) {
        if let Some(Object::Cond(waiters)) = self.objects.get_mut(&cond) {
            waiters.retain(|waiter| waiter.thread != me);
        }
        self.lives[me as usize].wait = None;
        self.happens(me, &Operation { object: cond, ..*operation }, Happened::WaitEnd { reason });
        let mut mutex = match self.objects.get(&operation.object) {
            Some(Object::Mutex(mutex)) => *mutex,
            Some(Object::Destroyed) => {
                self.fault(me, operation, Fault::DestroyedLockUse);
                Mutex::default()
            }
            _ => Mutex::default(),
        };
        let outermost = mutex.owner != Some(me);
        mutex.owner = Some(me);
        mutex.depth += 1;
        self.objects.insert(operation.object, Object::Mutex(mutex));
        if outermost {
            self.happens(me, operation, Happened::Acquire { mode: Mode::Exclusive });
        }
    }

    pub(super) fn signal(&mut self, me: u32, operation: &Operation, variant: u32) -> Outcome {
        let Object::Cond(mut waiters) = self.object(me, operation) else {
            self.fault(me, operation, Fault::DestroyedLockUse);
            return Outcome::error(EINVAL);
        };
        let woken =
            waiters.iter_mut().filter(|waiter| !waiter.signalled).nth(variant as usize).map(|waiter| {
                waiter.signalled = true;
                waiter.thread
            });
        self.happens(me, operation, Happened::Signal { woken });
        self.objects.insert(operation.object, Object::Cond(waiters));
        Outcome::DONE
    }

    pub(super) fn broadcast(&mut self, me: u32, operation: &Operation) -> Outcome {
        let Object::Cond(mut waiters) = self.object(me, operation) else {
            self.fault(me, operation, Fault::DestroyedLockUse);
            return Outcome::error(EINVAL);
        };
        for waiter in &mut waiters {
            waiter.signalled = true;
        }
        self.happens(me, operation, Happened::Broadcast);
        self.objects.insert(operation.object, Object::Cond(waiters));
        Outcome::DONE
    }
}
