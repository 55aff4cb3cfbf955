//! Threads in the model: born, joined, detached, ended.

use super::model::{Life, Model, Readiness, ways};
use super::operation::{Fault, Happened, Operation, Outcome};
use libc::{EBUSY, EDEADLK, EINVAL, ETIMEDOUT};

impl Model {
    /// The program knows the thread by this handle.
    pub fn named(&mut self, handle: u64, thread: u32) {
        self.handles.insert(handle, thread);
    }

    pub fn by_handle(&self, handle: u64) -> Option<u32> {
        self.handles.get(&handle).copied()
    }

    /// It was created after all.
    pub fn created(&mut self, me: u32, child: u32, detached: bool, site: u32) {
        let operation = Operation::new(super::Kind::Create, site);
        self.happens(me, &operation, Happened::Create { child });
        self.born(child, detached);
        if detached {
            self.happens(me, &operation, Happened::Detach { child });
        }
    }

    /// The system had no thread to spare.
    pub fn not_created(&mut self, child: u32) {
        self.lives[child as usize] = Life { ended: true, joined: true, ..Life::default() };
    }

    pub(super) fn join_variants(&self, me: u32, operation: &Operation, open: &mut dyn FnMut(u32)) {
        let child = operation.number as u32;
        let ready =
            child == me || self.life(child).is_none_or(|life| life.ended || life.detached || life.joined);
        ways(operation.how, if ready { Readiness::Ready } else { Readiness::Blocked }, open);
    }

    pub(super) fn join(&mut self, me: u32, operation: &Operation, variant: u32) -> Outcome {
        let child = operation.number as u32;
        let Some(&Life { ended, detached, joined, .. }) = self.life(child) else {
            return Outcome::error(EINVAL);
        };
        if child == me || detached || joined {
            self.fault(me, operation, Fault::InvalidJoin);
            return Outcome::error(if child == me { EDEADLK } else { EINVAL });
        }
        if !ended {
            return Outcome::error(if variant == 1 { ETIMEDOUT } else { EBUSY });
        }
        self.happens(me, operation, Happened::Join { child });
        self.lives[child as usize].joined = true;
        Outcome::DONE
    }

    pub(super) fn detach(&mut self, me: u32, operation: &Operation) -> Outcome {
        let child = operation.number as u32;
        match self.lives.get_mut(child as usize) {
            Some(life) if !life.detached && !life.joined => {
                life.detached = true;
                self.happens(me, operation, Happened::Detach { child });
                Outcome::DONE
            }
            _ => {
                self.fault(me, operation, Fault::InvalidJoin);
                Outcome::error(EINVAL)
            }
        }
    }

    pub(super) fn end(&mut self, me: u32, operation: &Operation) {
        self.abandon_locks(me, operation);
        self.happens(me, operation, Happened::End);
        self.lives[me as usize].ended = true;
    }
}
