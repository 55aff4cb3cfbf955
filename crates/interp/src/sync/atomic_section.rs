//! `__VERIFIER_atomic` sections: one global lock, which nests.

use super::birth::fresh_mutex;
use super::{MutexKind, SyncObject};
use crate::exec::Cx;
use crate::thread::Held;
use raddle_event::{Addr, EventKind, LockMode, ProblemKind};

const SECTION: Addr = Addr::ATOMIC_SECTION;

impl Cx<'_> {
    pub(crate) fn enter_section(&mut self) {
        let mut mutex = match self.world.sync.get(SECTION) {
            Some(SyncObject::Mutex(mutex)) => mutex.clone(),
            _ => fresh_mutex(),
        };
        mutex.kind = MutexKind::Recursive;
        mutex.depth += 1;
        if mutex.owner.is_none() {
            mutex.owner = Some(self.thread.id);
            self.event(EventKind::Acquire { lock: SECTION, mode: LockMode::Exclusive });
            self.thread.held.push(Held { lock: SECTION, mode: LockMode::Exclusive });
        }
        self.world.sync.set(SECTION, SyncObject::Mutex(mutex));
    }

    pub(crate) fn leave_section(&mut self) {
        let Some(SyncObject::Mutex(mutex)) = self.world.sync.get(SECTION) else {
            return self.problem(ProblemKind::UnlockNotHeld, Some(SECTION), "no atomic section was begun");
        };
        let mut mutex = mutex.clone();
        if mutex.owner != Some(self.thread.id) {
            return self.problem(ProblemKind::UnlockNotHeld, Some(SECTION), "no atomic section was begun");
        }
        mutex.depth -= 1;
        if mutex.depth == 0 {
            mutex.owner = None;
            self.event(EventKind::Release { lock: SECTION, mode: LockMode::Exclusive });
            self.thread.held.retain(|held| held.lock != SECTION);
        }
        self.world.sync.set(SECTION, SyncObject::Mutex(mutex));
    }
}
