//! Mutexes of every kind, read-write locks and spin locks. Readers get in while writers wait, except where the lock prefers writers: there a
//! writer tries first, and if it cannot have the lock, begins to wait ([`BEGINS_TO_WAIT`]), which keeps new readers out.

use super::model::{Health, Model, Mutex, MutexKind, Object, Readiness, ways};
use super::operation::{Family, Fault, Happened, How, Mode, Operation, Outcome};
use libc::{EBUSY, EDEADLK, EINVAL, ENOTRECOVERABLE, EOWNERDEAD, EPERM, ETIMEDOUT};

/// `number` of a try to lock for writing: a writer that fails will wait.
pub(super) const BEGINS_TO_WAIT: u64 = 1;

/// How an acquisition went.
enum Acquired {
    Outermost,
    OutermostOfDead,
    Again,
    Failed(i32),
}

impl Model {
    pub(super) fn readiness(&self, at: usize, mode: Mode, me: u32) -> Readiness {
        let ready = match self.objects.get(&at) {
            Some(Object::Mutex(mutex)) => match mutex.owner {
                None => true,
                Some(owner) => owner == me && mutex.kind != MutexKind::Normal,
            },
            Some(Object::Rwlock(lock)) => match (mode, lock.writer) {
                (_, Some(owner)) => owner == me,
                (Mode::Shared, None) => lock.waiting.is_empty(),
                (Mode::Exclusive, None) => lock.readers.is_empty(),
            },
            _ => true,
        };
        if ready { Readiness::Ready } else { Readiness::Blocked }
    }

    pub(super) fn lock_variants(&self, me: u32, operation: &Operation, open: &mut dyn FnMut(u32)) {
        let own = operation.family == Family::Own;
        let readiness = match self.objects.get(&operation.object) {
            // Nobody knows that it would say no; it waits.
            Some(Object::Rwlock(lock)) if own && lock.writer == Some(me) => Readiness::Blocked,
            _ => self.readiness(operation.object, operation.mode, me),
        };
        ways(operation.how, readiness, open);
    }

    pub(super) fn lock(&mut self, me: u32, operation: &Operation, variant: u32) -> Outcome {
        // A wait that woke up for no reason takes its mutex again.
        if self.lives[me as usize].wait.is_some() {
            self.end_wait(me, operation, operation.second, super::model::SPURIOUS);
            return Outcome::DONE;
        }
        let object = self.object(me, operation);
        if variant == 1 {
            if let Object::Rwlock(mut lock) = object {
                lock.waiting.retain(|writer| *writer != me);
                self.objects.insert(operation.object, Object::Rwlock(lock));
            }
            self.happens(me, operation, Happened::AcquireFailed);
            return Outcome::error(ETIMEDOUT);
        }
        match self.acquire(me, operation, object) {
            Acquired::Again => Outcome::DONE,
            Acquired::Failed(error) => {
                if error != EINVAL {
                    self.happens(me, operation, Happened::AcquireFailed);
                }
                if error == EBUSY
                    && operation.number == BEGINS_TO_WAIT
                    && let Some(Object::Rwlock(lock)) = self.objects.get_mut(&operation.object)
                {
                    lock.waiting.push(me);
                }
                Outcome::error(error)
            }
            outermost => {
                self.happens(me, operation, Happened::Acquire { mode: operation.mode });
                match outermost {
                    Acquired::OutermostOfDead => Outcome::error(EOWNERDEAD),
                    _ => Outcome::DONE,
                }
            }
        }
    }

    fn acquire(&mut self, me: u32, operation: &Operation, object: Object) -> Acquired {
        let at = operation.object;
        match object {
            Object::Mutex(mutex) => self.acquire_mutex(me, at, mutex, operation.how),
            Object::Rwlock(mut lock) => {
                match operation.mode {
                    _ if lock.writer == Some(me) && operation.how != How::Try => {
                        return Acquired::Failed(EDEADLK);
                    }
                    _ if lock.writer.is_some() => return Acquired::Failed(EBUSY),
                    Mode::Exclusive if !lock.readers.is_empty() => return Acquired::Failed(EBUSY),
                    Mode::Exclusive => {
                        lock.writer = Some(me);
                        lock.waiting.retain(|writer| *writer != me);
                    }
                    Mode::Shared if !lock.waiting.is_empty() => return Acquired::Failed(EBUSY),
                    Mode::Shared => lock.readers.push(me),
                }
                let mine = lock.readers.iter().filter(|&&reader| reader == me).count();
                let again = operation.mode == Mode::Shared && mine > 1;
                self.objects.insert(at, Object::Rwlock(lock));
                if again { Acquired::Again } else { Acquired::Outermost }
            }
            _ => {
                self.fault(me, operation, Fault::DestroyedLockUse);
                Acquired::Failed(EINVAL)
            }
        }
    }

    fn acquire_mutex(&mut self, me: u32, at: usize, mut mutex: Mutex, how: How) -> Acquired {
        let acquired = match (mutex.owner, mutex.kind) {
            (Some(owner), MutexKind::Recursive) if owner == me => {
                mutex.depth += 1;
                Acquired::Again
            }
            (Some(owner), MutexKind::ErrorCheck) if owner == me && how != How::Try => {
                return Acquired::Failed(EDEADLK);
            }
            (Some(_), _) => return Acquired::Failed(EBUSY),
            (None, _) if mutex.health == Health::NotRecoverable => {
                return Acquired::Failed(ENOTRECOVERABLE);
            }
            (None, _) => {
                mutex.owner = Some(me);
                mutex.depth = 1;
                match mutex.health {
                    Health::OwnerDied => Acquired::OutermostOfDead,
                    _ => Acquired::Outermost,
                }
            }
        };
        self.objects.insert(at, Object::Mutex(mutex));
        acquired
    }

    pub(super) fn unlock(&mut self, me: u32, operation: &Operation) -> Outcome {
        match self.object(me, operation) {
            Object::Mutex(mutex) => self.unlock_mutex(me, operation, mutex),
            Object::Rwlock(mut lock) => {
                let only = (operation.family == Family::Own).then_some(operation.mode);
                if lock.writer == Some(me) && only != Some(Mode::Shared) {
                    lock.writer = None;
                    self.happens(me, operation, Happened::Release { mode: Mode::Exclusive });
                } else if let Some(index) = lock.readers.iter().rposition(|&reader| reader == me)
                    && only != Some(Mode::Exclusive)
                {
                    lock.readers.remove(index);
                    if !lock.readers.contains(&me) {
                        self.happens(me, operation, Happened::Release { mode: Mode::Shared });
                    }
                } else {
                    self.fault(me, operation, Fault::UnlockNotHeld);
                    return Outcome::error(EPERM);
                }
                self.objects.insert(operation.object, Object::Rwlock(lock));
                Outcome::DONE
            }
            _ => {
                self.fault(me, operation, Fault::DestroyedLockUse);
                Outcome::error(EINVAL)
            }
        }
    }

    fn unlock_mutex(&mut self, me: u32, operation: &Operation, mut mutex: Mutex) -> Outcome {
        match mutex.owner {
            Some(owner) if owner == me => {
                mutex.depth -= 1;
                if mutex.depth == 0 {
                    mutex.owner = None;
                    if mutex.health == Health::OwnerDied {
                        mutex.health = Health::NotRecoverable;
                    }
                    self.happens(me, operation, Happened::Release { mode: Mode::Exclusive });
                }
                self.objects.insert(operation.object, Object::Mutex(mutex));
                Outcome::DONE
            }
            None => {
                self.fault(me, operation, Fault::UnlockNotHeld);
                Outcome::error(EPERM)
            }
            Some(_) if mutex.kind != MutexKind::Normal || mutex.robust => {
                self.fault(me, operation, Fault::UnlockNotHeld);
                Outcome::error(EPERM)
            }
            // Undefined; glibc lets it pass, and the other thread goes on without its lock.
            Some(_) => {
                self.fault(me, operation, Fault::UnlockNotHeld);
                mutex.owner = None;
                mutex.depth = 0;
                self.objects.insert(operation.object, Object::Mutex(mutex));
                Outcome::DONE
            }
        }
    }

    /// The thread ends: robust mutexes pass to the next owner as inconsistent.
    pub(super) fn abandon_locks(&mut self, me: u32, operation: &Operation) {
        let held: Vec<usize> =
            self.objects.iter().filter(|(_, object)| is_held(object, me)).map(|(at, _)| *at).collect();
        for at in held {
            let operation = Operation { object: at, ..*operation };
            match self.objects.get_mut(&at) {
                Some(Object::Mutex(mutex)) if mutex.robust => {
                    *mutex = Mutex { owner: None, depth: 0, health: Health::OwnerDied, ..*mutex };
                    self.happens(me, &operation, Happened::Release { mode: Mode::Exclusive });
                }
                _ => self.fault(me, &operation, Fault::LockHeldAtExit),
            }
        }
    }
}

fn is_held(object: &Object, by: u32) -> bool {
    match object {
        Object::Mutex(mutex) => mutex.owner == Some(by),
        Object::Rwlock(lock) => lock.writer == Some(by) || lock.readers.contains(&by),
        _ => false,
    }
}
