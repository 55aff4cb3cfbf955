//! POSIX semaphores.

use super::model::{Model, Object, Readiness, ways};
use super::operation::{Fault, Happened, How, Operation, Outcome};
use libc::{EAGAIN, EINVAL, EOVERFLOW, ETIMEDOUT};

/// `SEM_VALUE_MAX`.
const MOST: u64 = i32::MAX as u64;

impl Model {
    pub(super) fn semaphore_variants(&self, operation: &Operation, open: &mut dyn FnMut(u32)) {
        let empty = match self.objects.get(&operation.object) {
            Some(Object::Semaphore { value }) => *value == 0,
            Some(_) => false,
            None => true,
        };
        ways(operation.how, if empty { Readiness::Blocked } else { Readiness::Ready }, open);
    }

    pub(super) fn post(&mut self, me: u32, operation: &Operation) -> Outcome {
        match self.object(me, operation) {
            Object::Semaphore { value } if value >= MOST => Outcome::error(EOVERFLOW),
            Object::Semaphore { value } => {
                self.happens(me, operation, Happened::SemPost);
                self.objects.insert(operation.object, Object::Semaphore { value: value + 1 });
                Outcome::DONE
            }
            _ => self.no_semaphore(me, operation),
        }
    }

    pub(super) fn take_semaphore(&mut self, me: u32, operation: &Operation, variant: u32) -> Outcome {
        match self.object(me, operation) {
            Object::Semaphore { value } if value > 0 && variant == 0 => {
                self.happens(me, operation, Happened::SemWait);
                self.objects.insert(operation.object, Object::Semaphore { value: value - 1 });
                Outcome::DONE
            }
            Object::Semaphore { .. } => {
                self.happens(me, operation, Happened::AcquireFailed);
                Outcome::error(if operation.how == How::Try { EAGAIN } else { ETIMEDOUT })
            }
            _ => self.no_semaphore(me, operation),
        }
    }

    pub(super) fn read_semaphore(&mut self, me: u32, operation: &Operation) -> Outcome {
        match self.object(me, operation) {
            Object::Semaphore { value } => Outcome::value(value),
            _ => self.no_semaphore(me, operation),
        }
    }

    fn no_semaphore(&mut self, me: u32, operation: &Operation) -> Outcome {
        self.fault(me, operation, Fault::DestroyedLockUse);
        Outcome::error(EINVAL)
    }
}
