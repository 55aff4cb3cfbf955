//! How synchronisation objects come to be: by an initialising call, or from the bytes of a static initialiser, as glibc writes them.

use super::model::{Barrier, Health, Model, Mutex, MutexKind, Object, Once, Rwlock, fits};
use super::operation::{Family, Fault, Happened, Kind, Operation, Outcome};
use libc::{EBUSY, EINVAL};

/// Where glibc keeps the kind of a `pthread_mutex_t`.
const KIND: usize = 16;
const ROBUST: u32 = 16;

/// Where it keeps the number of waiters of a `pthread_cond_t`, and that it was destroyed.
const WAITERS: usize = 36;
const DESTROYED: u32 = 4;

impl Model {
    /// The object that the operation is about, brought to life if need be.
    pub(super) fn object(&mut self, me: u32, operation: &Operation) -> Object {
        self.object_at(me, operation, operation.object, operation.family)
    }

    pub(super) fn object_at(&mut self, me: u32, operation: &Operation, at: usize, family: Family) -> Object {
        match self.objects.get(&at) {
            Some(Object::Destroyed) if !is_new(family, at) => Object::Destroyed,
            // What the program wrote into a free mutex is its kind from now on.
            Some(Object::Mutex(mutex)) if family == Family::Mutex && mutex.owner.is_none() && at >= 4096 => {
                let Mutex { kind, robust, .. } = mutex_of(mutex_word(at));
                Object::Mutex(Mutex { kind, robust, ..*mutex })
            }
            Some(object) if fits(object, family) => object.clone(),
            _ => {
                let object = self.awaken(me, operation, at, family);
                self.objects.insert(at, object.clone());
                object
            }
        }
    }

    fn awaken(&mut self, me: u32, operation: &Operation, at: usize, family: Family) -> Object {
        let zero = |bytes: usize, but: std::ops::Range<usize>| {
            (0..bytes).all(|i| but.contains(&i) || unsafe { *((at + i) as *const u8) } == 0)
        };
        let valid = match family {
            // The atomic section of the verifiers has no bytes.
            Family::Mutex if at < 4096 => true,
            Family::Mutex => zero(40, KIND..KIND + 4) && mutex_word(at) & !ROBUST <= 3,
            Family::Rwlock => zero(24, 0..0),
            Family::Spin => zero(4, 0..0),
            Family::Cond => zero(48, 0..0),
            Family::Semaphore => zero(32, 0..0),
            Family::Barrier => false,
            Family::Once | Family::Own => true,
        };
        if !valid {
            self.fault(me, operation, Fault::UninitialisedLock);
        }
        match family {
            Family::Mutex if at < 4096 => {
                Object::Mutex(Mutex { kind: MutexKind::Recursive, ..Mutex::default() })
            }
            Family::Mutex if valid => Object::Mutex(mutex_of(mutex_word(at))),
            Family::Mutex | Family::Spin => Object::Mutex(Mutex::default()),
            Family::Rwlock | Family::Own => Object::Rwlock(Rwlock::default()),
            Family::Cond => Object::Cond(Vec::new()),
            Family::Barrier => Object::Barrier(barrier_of(1)),
            Family::Semaphore => Object::Semaphore { value: 0 },
            Family::Once => Object::Once(Once::Fresh),
        }
    }

    /// `number` of a mutex is glibc's word for its kind, or [`CONSISTENT`].
    pub(super) fn initialise(&mut self, me: u32, operation: &Operation) -> Outcome {
        let Operation { family, number, object: at, .. } = *operation;
        if family == Family::Mutex && number == CONSISTENT {
            return self.make_consistent(me, at);
        }
        let object = match family {
            Family::Mutex => Object::Mutex(mutex_of(number as u32)),
            Family::Spin => Object::Mutex(Mutex::default()),
            Family::Rwlock | Family::Own => Object::Rwlock(Rwlock::default()),
            Family::Cond => Object::Cond(Vec::new()),
            Family::Barrier if number == 0 => {
                self.fault(me, operation, Fault::InvalidArgument);
                return Outcome::error(EINVAL);
            }
            Family::Barrier => Object::Barrier(barrier_of(number as u32)),
            Family::Semaphore if number > i32::MAX as u64 => return Outcome::error(EINVAL),
            Family::Semaphore => Object::Semaphore { value: number },
            Family::Once => Object::Once(Once::Fresh),
        };
        self.happens(me, operation, Happened::SyncInit);
        self.objects.insert(at, object);
        Outcome::DONE
    }

    fn make_consistent(&mut self, me: u32, at: usize) -> Outcome {
        match self.objects.get_mut(&at) {
            Some(Object::Mutex(mutex)) if mutex.owner == Some(me) && mutex.health == Health::OwnerDied => {
                mutex.health = Health::Consistent;
                Outcome::DONE
            }
            _ => Outcome::error(EINVAL),
        }
    }

    pub(super) fn destroy(&mut self, me: u32, operation: &Operation) -> Outcome {
        let busy = match self.object(me, operation) {
            Object::Destroyed => {
                self.fault(me, operation, Fault::DestroyedLockUse);
                return Outcome::error(EINVAL);
            }
            Object::Mutex(mutex) => mutex.owner.is_some(),
            Object::Rwlock(lock) => lock.writer.is_some() || !lock.readers.is_empty(),
            Object::Cond(waiters) => waiters.iter().any(|waiter| !waiter.signalled),
            Object::Barrier(barrier) => barrier.arrived > 0,
            Object::Semaphore { .. } | Object::Once(_) => false,
        };
        if busy {
            self.fault(me, operation, Fault::DestroyLocked);
            return Outcome::error(EBUSY);
        }
        debug_assert_eq!(operation.kind, Kind::SyncDestroy);
        self.happens(me, operation, Happened::SyncDestroy);
        self.objects.insert(operation.object, Object::Destroyed);
        Outcome::DONE
    }
}

/// The number of an initialisation that stands for `pthread_mutex_consistent`.
pub const CONSISTENT: u64 = u64::MAX;

/// Whether what glibc writes into an object that is destroyed is gone: the program has initialised it again without a call.
fn is_new(family: Family, at: usize) -> bool {
    match family {
        Family::Mutex => mutex_word(at) != u32::MAX,
        Family::Cond => {
            let waiters = unsafe { ((at + WAITERS) as *const u32).read_unaligned() };
            waiters & DESTROYED == 0
        }
        _ => false,
    }
}

fn mutex_word(at: usize) -> u32 {
    unsafe { ((at + KIND) as *const u32).read_unaligned() }
}

fn mutex_of(word: u32) -> Mutex {
    let kind = match word & 3 {
        1 => MutexKind::Recursive,
        2 => MutexKind::ErrorCheck,
        _ => MutexKind::Normal,
    };
    Mutex { kind, robust: word & ROBUST != 0, ..Mutex::default() }
}

fn barrier_of(count: u32) -> Barrier {
    Barrier { count, arrived: 0, round: 0, leaving: 0 }
}
