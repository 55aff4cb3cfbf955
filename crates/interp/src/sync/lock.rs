//! Mutexes of every kind, read-write locks and spin locks: lock, try, timed lock, unlock.
//!
//! Readers get in while writers wait, as in glibc (A-RWLOCK), except where the lock prefers writers: there a writer tries first, and if it
//! cannot have the lock, begins to wait, which keeps new readers out until it has come in or timed out. A timed lock times out only
//! while the lock is taken.

use super::birth::{Expected, fresh_mutex};
use super::{Errno, Health, Mutex, MutexKind, RwlockKind, SyncObject, SyncTable};
use crate::exec::{Cx, Halt};
use crate::thread::{Action, Held};
use raddle_event::{Addr, EventKind, LockMode, ProblemKind, ThreadId};
use raddle_libmodel::{Arg, How, LockFamily, Mode, Returns};
use raddle_machine::{LockHow, OpKind};

/// Whether a blocking acquisition could go on now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// It would succeed, or fail at once with an error.
    Ready,
    Blocked,
}

impl SyncTable {
    pub fn lock_readiness(&self, at: Addr, mode: LockMode, thread: ThreadId) -> Readiness {
        let ready = match self.get(at) {
            Some(SyncObject::Mutex(mutex)) => match mutex.owner {
                None => true,
                Some(owner) => owner == thread && mutex.kind != MutexKind::Normal,
            },
            Some(SyncObject::Rwlock(lock)) => match (mode, lock.writer) {
                (_, Some(owner)) => owner == thread,
                (LockMode::Shared, None) => lock.waiting.is_empty(),
                (LockMode::Exclusive, None) => lock.readers.is_empty(),
            },
            _ => true,
        };
        if ready { Readiness::Ready } else { Readiness::Blocked }
    }
}

pub(crate) fn lock_mode(mode: Mode) -> LockMode {
    match mode {
        Mode::Exclusive => LockMode::Exclusive,
        Mode::Shared => LockMode::Shared,
    }
}

pub(crate) fn lock_how(how: How) -> LockHow {
    match how {
        How::Block => LockHow::Block,
        How::Try => LockHow::Try,
        How::Timed { .. } => LockHow::Timed,
    }
}

/// How an acquisition went.
enum Acquired {
    Outermost,
    Again,
    Failed(Errno),
    OutermostOfDead,
}

impl Cx<'_> {
    pub(crate) fn pending_lock(
        &mut self,
        family: LockFamily,
        lock: Arg,
        mode: Mode,
        how: How,
    ) -> Result<OpKind, Halt> {
        let address = self.pointer_arg(lock);
        let at = self.sync_addr(address)?;
        let writes = family == LockFamily::PthreadRwlock && mode == Mode::Exclusive && how != How::Try;
        let how = if writes && self.prefers_writers(at, address) { How::Try } else { how };
        Ok(OpKind::Lock { lock: at, mode: lock_mode(mode), how: lock_how(how) })
    }

    pub(crate) fn pending_unlock(&mut self, lock: Arg, mode: Option<Mode>) -> Result<OpKind, Halt> {
        let at = self.sync_addr(self.pointer_arg(lock))?;
        let mode = match mode {
            Some(mode) => lock_mode(mode),
            None => self.held_mode(at).unwrap_or(LockMode::Exclusive),
        };
        Ok(OpKind::Unlock { lock: at, mode })
    }

    fn held_mode(&self, at: Addr) -> Option<LockMode> {
        self.thread.held.iter().rev().find(|held| held.lock == at).map(|held| held.mode)
    }

    /// `variant` 1 is the timeout of a timed lock.
    pub(crate) fn perform_lock(
        &mut self,
        family: LockFamily,
        lock: Arg,
        mode: Mode,
        how: How,
        returns: Returns,
        variant: u32,
    ) -> Result<u128, Halt> {
        let address = self.pointer_arg(lock);
        let at = self.sync_addr(address)?;
        let mode = lock_mode(mode);
        let object = self.sync_object(at, address, Expected::of_family(family));
        if variant == 1 {
            if let SyncObject::Rwlock(mut lock) = object {
                lock.waiting.retain(|waiting| *waiting != self.thread.id);
                self.world.sync.set(at, SyncObject::Rwlock(lock));
            }
            self.event(EventKind::AcquireFailed { lock: at });
            return Ok(self.answer(returns, Err(Errno::TimedOut)));
        }
        let outcome = self.acquire(at, object, mode, how);
        if matches!(outcome, Acquired::Failed(Errno::Busy)) && how != How::Try {
            self.event(EventKind::AcquireFailed { lock: at });
            self.begin_to_wait(at);
            return Err(self.stand(OpKind::Lock { lock: at, mode, how: lock_how(how) }, Action::Effect));
        }
        let result = match outcome {
            Acquired::Outermost | Acquired::OutermostOfDead => {
                self.event(EventKind::Acquire { lock: at, mode });
                self.thread.held.push(Held { lock: at, mode });
                self.thread.spurious = 0;
                if matches!(outcome, Acquired::OutermostOfDead) { Err(Errno::OwnerDied) } else { Ok(()) }
            }
            Acquired::Again => Ok(()),
            Acquired::Failed(error) => {
                if error != Errno::Invalid {
                    self.event(EventKind::AcquireFailed { lock: at });
                }
                Err(error)
            }
        };
        Ok(self.answer(returns, result))
    }

    fn acquire(&mut self, at: Addr, object: SyncObject, mode: LockMode, how: How) -> Acquired {
        let me = self.thread.id;
        match object {
            SyncObject::Mutex(mutex) => self.acquire_mutex(at, mutex, how),
            SyncObject::Rwlock(mut lock) => {
                match mode {
                    _ if lock.writer == Some(me) && how != How::Try => {
                        return Acquired::Failed(Errno::Deadlock);
                    }
                    _ if lock.writer.is_some() => return Acquired::Failed(Errno::Busy),
                    LockMode::Exclusive if !lock.readers.is_empty() => return Acquired::Failed(Errno::Busy),
                    LockMode::Exclusive => {
                        lock.writer = Some(me);
                        lock.waiting.retain(|waiting| *waiting != me);
                    }
                    LockMode::Shared if !lock.waiting.is_empty() => return Acquired::Failed(Errno::Busy),
                    LockMode::Shared => {
                        // With nobody inside no writer waits.
                        if lock.kind == RwlockKind::Readers && !lock.readers.is_empty() {
                            self.assume("A-RWLOCK");
                        }
                        lock.readers.push(me);
                    }
                }
                let again = mode == LockMode::Shared && lock.readers.iter().filter(|&&t| t == me).count() > 1;
                self.world.sync.set(at, SyncObject::Rwlock(lock));
                if again { Acquired::Again } else { Acquired::Outermost }
            }
            _ => {
                self.problem(ProblemKind::DestroyedLockUse, Some(at), "");
                Acquired::Failed(Errno::Invalid)
            }
        }
    }

    /// The thread cannot have the lock, which prefers writers, for writing now: readers wait for it.
    fn begin_to_wait(&mut self, at: Addr) {
        if let Some(SyncObject::Rwlock(lock)) = self.world.sync.get(at) {
            let mut lock = lock.clone();
            lock.waiting.push(self.thread.id);
            self.world.sync.set(at, SyncObject::Rwlock(lock));
        }
    }

    fn acquire_mutex(&mut self, at: Addr, mut mutex: Mutex, how: How) -> Acquired {
        let me = self.thread.id;
        match (mutex.owner, mutex.kind) {
            (Some(owner), MutexKind::Recursive) if owner == me => {
                mutex.depth += 1;
                self.world.sync.set(at, SyncObject::Mutex(mutex));
                Acquired::Again
            }
            (Some(owner), MutexKind::ErrorCheck) if owner == me && how != How::Try => {
                Acquired::Failed(Errno::Deadlock)
            }
            (Some(_), _) => Acquired::Failed(Errno::Busy),
            (None, _) if mutex.health == Health::NotRecoverable => Acquired::Failed(Errno::NotRecoverable),
            (None, _) => {
                mutex.owner = Some(me);
                mutex.depth = 1;
                let dead = mutex.health == Health::OwnerDied;
                self.world.sync.set(at, SyncObject::Mutex(mutex));
                if dead { Acquired::OutermostOfDead } else { Acquired::Outermost }
            }
        }
    }

    pub(crate) fn perform_unlock(
        &mut self,
        family: LockFamily,
        lock: Arg,
        mode: Option<Mode>,
        returns: Returns,
    ) -> Result<u128, Halt> {
        let address = self.pointer_arg(lock);
        let at = self.sync_addr(address)?;
        let object = self.sync_object(at, address, Expected::of_family(family));
        let result = self.release(at, object, mode.map(lock_mode))?;
        Ok(self.answer(returns, result))
    }

    fn release(
        &mut self,
        at: Addr,
        object: SyncObject,
        mode: Option<LockMode>,
    ) -> Result<Result<(), Errno>, Halt> {
        let me = self.thread.id;
        match object {
            SyncObject::Mutex(mut mutex) => match mutex.owner {
                Some(owner) if owner == me => {
                    mutex.depth -= 1;
                    if mutex.depth == 0 {
                        mutex.owner = None;
                        if mutex.health == Health::OwnerDied {
                            mutex.health = Health::NotRecoverable;
                        }
                        self.released(at, LockMode::Exclusive);
                    }
                    self.world.sync.set(at, SyncObject::Mutex(mutex));
                    Ok(Ok(()))
                }
                None => {
                    self.problem(ProblemKind::UnlockNotHeld, Some(at), "nobody holds it");
                    Ok(Err(Errno::NotPermitted))
                }
                Some(_) if mutex.kind != MutexKind::Normal || mutex.robust => {
                    self.problem(ProblemKind::UnlockNotHeld, Some(at), "another thread holds it");
                    Ok(Err(Errno::NotPermitted))
                }
                // Undefined: the other thread would go on without its lock.
                Some(_) => {
                    let detail = "another thread holds it".to_owned();
                    Err(self.crash(ProblemKind::UnlockNotHeld, Some(at), detail))
                }
            },
            SyncObject::Rwlock(mut lock) => {
                let writes = lock.writer == Some(me);
                let reads = lock.readers.iter().rposition(|&t| t == me);
                match (writes, reads) {
                    (true, _) if mode != Some(LockMode::Shared) => {
                        lock.writer = None;
                        self.released(at, LockMode::Exclusive);
                    }
                    (_, Some(index)) if mode != Some(LockMode::Exclusive) => {
                        lock.readers.remove(index);
                        if !lock.readers.contains(&me) {
                            self.released(at, LockMode::Shared);
                        }
                    }
                    _ => {
                        self.problem(ProblemKind::UnlockNotHeld, Some(at), "this thread does not hold it");
                        return Ok(Err(Errno::NotPermitted));
                    }
                }
                self.world.sync.set(at, SyncObject::Rwlock(lock));
                Ok(Ok(()))
            }
            _ => {
                self.problem(ProblemKind::DestroyedLockUse, Some(at), "");
                Ok(Err(Errno::Invalid))
            }
        }
    }

    fn released(&mut self, at: Addr, mode: LockMode) {
        self.event(EventKind::Release { lock: at, mode });
        if let Some(index) = self.thread.held.iter().rposition(|held| held.lock == at) {
            self.thread.held.remove(index);
        }
    }

    /// Unlocks a mutex once for a condition wait. One that was locked several times stays with the thread, as in glibc.
    pub(super) fn release_for_wait(&mut self, at: Addr, object: SyncObject) -> Result<(), Errno> {
        match object {
            SyncObject::Mutex(mut mutex) if mutex.owner == Some(self.thread.id) => {
                mutex.depth -= 1;
                if mutex.depth == 0 {
                    mutex.owner = None;
                    self.released(at, LockMode::Exclusive);
                }
                self.world.sync.set(at, SyncObject::Mutex(mutex));
                Ok(())
            }
            SyncObject::Mutex(_) => {
                self.problem(
                    ProblemKind::UnlockNotHeld,
                    Some(at),
                    "condition wait without holding the mutex",
                );
                Err(Errno::NotPermitted)
            }
            _ => {
                self.problem(ProblemKind::DestroyedLockUse, Some(at), "");
                Err(Errno::Invalid)
            }
        }
    }

    /// Takes the mutex back after a condition wait; it is free, or the thread has it still.
    /// A robust mutex may come back with its owner dead, or not at all.
    pub(super) fn acquire_after_wait(&mut self, at: Addr) -> Result<(), Errno> {
        let mut mutex = match self.world.sync.get(at) {
            Some(SyncObject::Mutex(mutex)) => mutex.clone(),
            _ => fresh_mutex(),
        };
        if mutex.owner.is_none() && mutex.health == Health::NotRecoverable {
            return Err(Errno::NotRecoverable);
        }
        let outermost = mutex.owner != Some(self.thread.id);
        let dead = outermost && mutex.health == Health::OwnerDied;
        mutex.owner = Some(self.thread.id);
        mutex.depth += 1;
        self.world.sync.set(at, SyncObject::Mutex(mutex));
        if outermost {
            self.event(EventKind::Acquire { lock: at, mode: LockMode::Exclusive });
            self.thread.held.push(Held { lock: at, mode: LockMode::Exclusive });
        }
        if dead { Err(Errno::OwnerDied) } else { Ok(()) }
    }

    /// `pthread_mutex_consistent`.
    pub(crate) fn make_consistent(&mut self, mutex: Arg) -> Result<u128, Halt> {
        let at = self.sync_addr(self.pointer_arg(mutex))?;
        let result = self.mark_consistent(at);
        Ok(self.answer(Returns::Errno, result))
    }

    fn mark_consistent(&mut self, at: Addr) -> Result<(), Errno> {
        match self.world.sync.get(at).cloned() {
            Some(SyncObject::Mutex(mut mutex))
                if mutex.owner == Some(self.thread.id) && mutex.health == Health::OwnerDied =>
            {
                mutex.health = Health::Consistent;
                self.world.sync.set(at, SyncObject::Mutex(mutex));
                Ok(())
            }
            _ => Err(Errno::Invalid),
        }
    }

    /// The thread ends: locks still held are a problem, except robust ones, which pass to the next owner as inconsistent.
    pub(crate) fn abandon_locks(&mut self) {
        for held in std::mem::take(&mut self.thread.held) {
            match self.world.sync.get(held.lock).cloned() {
                Some(SyncObject::Mutex(mut mutex)) if mutex.robust => {
                    mutex.owner = None;
                    mutex.depth = 0;
                    mutex.health = Health::OwnerDied;
                    self.world.sync.set(held.lock, SyncObject::Mutex(mutex));
                    self.event(EventKind::Release { lock: held.lock, mode: held.mode });
                }
                // It was made anew meanwhile.
                Some(SyncObject::Mutex(mutex)) if mutex.owner != Some(self.thread.id) => {}
                Some(SyncObject::Rwlock(lock))
                    if lock.writer != Some(self.thread.id) && !lock.readers.contains(&self.thread.id) => {}
                _ => self.problem(ProblemKind::LockHeldAtExit, Some(held.lock), ""),
            }
        }
    }
}
