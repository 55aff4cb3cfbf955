//! A hash of the model, for a rule that asks whether anything has changed. Operations that threads stand before are not part of it, nor is time,
//! nor are objects that are as good as new: whether somebody has used one before changes nothing.

use super::model::{Health, Life, Model, MutexKind, Object, Once, Until};

impl Model {
    /// The same for equal states of all objects and threads.
    pub fn hash(&self) -> u64 {
        let mut sum = Sum(self.lives.len() as u64);
        for life in &self.lives {
            let Life { ended, detached, joined, wait, round, serial, .. } = life;
            let flags = [*ended, *detached, *joined, *serial, wait.is_some()];
            sum.add(flags.iter().fold(u64::from(*round), |sum, flag| sum << 1 | u64::from(*flag)));
            if let Some(wait) = wait {
                let until = match wait.until {
                    Until::Signalled => 0,
                    Until::TimedOut => 1,
                    Until::Spurious => 2,
                };
                sum.add(until);
            }
        }
        for (address, object) in self.objects.iter().filter(|(_, object)| !is_as_new(object)) {
            sum.add(*address as u64);
            sum.object(object);
        }
        sum.0
    }
}

/// What its bytes say is all there is to it. The kind of a free mutex is looked up there each time.
fn is_as_new(object: &Object) -> bool {
    match object {
        Object::Mutex(mutex) => mutex.owner.is_none() && mutex.health == Health::Consistent,
        Object::Rwlock(lock) => lock.writer.is_none() && lock.readers.is_empty() && lock.waiting.is_empty(),
        Object::Cond(waiters) => waiters.is_empty(),
        Object::Once(once) => *once == Once::Fresh,
        Object::Barrier(_) | Object::Semaphore { .. } | Object::Destroyed => false,
    }
}

struct Sum(u64);

impl Sum {
    fn add(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word.wrapping_add(0x9e37_79b9_7f4a_7c15)) * 0xd6e8_feb8_6659_fd93;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    fn owner(&mut self, owner: Option<u32>) {
        self.add(owner.map_or(0, |owner| u64::from(owner) + 1));
    }

    fn object(&mut self, object: &Object) {
        match object {
            Object::Mutex(mutex) => {
                let kind = match mutex.kind {
                    MutexKind::Normal => 0,
                    MutexKind::Recursive => 1,
                    MutexKind::ErrorCheck => 2,
                };
                let health = match mutex.health {
                    Health::Consistent => 0,
                    Health::OwnerDied => 1,
                    Health::NotRecoverable => 2,
                };
                self.owner(mutex.owner);
                self.add(u64::from(mutex.depth) << 8 | health << 4 | kind << 1 | u64::from(mutex.robust));
            }
            Object::Rwlock(lock) => {
                self.owner(lock.writer);
                lock.readers.iter().for_each(|reader| self.add(u64::from(*reader) + 2));
                lock.waiting.iter().for_each(|writer| self.add(!u64::from(*writer)));
            }
            Object::Cond(waiters) => {
                for waiter in waiters {
                    self.add(u64::from(waiter.thread) << 1 | u64::from(waiter.signalled));
                }
            }
            Object::Barrier(barrier) => {
                self.add(u64::from(barrier.count) << 32 | u64::from(barrier.arrived));
                self.add(u64::from(barrier.round) << 32 | u64::from(barrier.leaving));
            }
            Object::Semaphore { value } => self.add(*value),
            Object::Once(once) => self.add(match once {
                Once::Fresh => 1,
                Once::Running => 2,
                Once::Done => 3,
                Once::Abandoned => 4,
            }),
            Object::Destroyed => self.add(u64::MAX),
        }
    }
}
