//! Barriers: arriving and leaving are separate visible operations.

use super::model::{Model, Object};
use super::operation::{Fault, Happened, Operation, Outcome};
use libc::EINVAL;

impl Model {
    /// The thread has arrived in a round that is not over.
    pub(super) fn is_in_round(&self, me: u32, barrier: usize) -> bool {
        match self.objects.get(&barrier) {
            Some(Object::Barrier(barrier)) => barrier.round <= self.lives[me as usize].round,
            _ => false,
        }
    }

    pub(super) fn arrive(&mut self, me: u32, operation: &Operation) -> Outcome {
        let Object::Barrier(mut barrier) = self.object(me, operation) else {
            self.fault(me, operation, Fault::DestroyedLockUse);
            return Outcome::error(EINVAL);
        };
        let round = barrier.round;
        self.happens(me, operation, Happened::BarrierArrive { round });
        barrier.arrived += 1;
        let serial = barrier.arrived >= barrier.count;
        if serial {
            barrier.leaving += barrier.arrived;
            barrier.arrived = 0;
            barrier.round += 1;
        }
        self.objects.insert(operation.object, Object::Barrier(barrier));
        let life = &mut self.lives[me as usize];
        life.round = round;
        life.serial = serial;
        Outcome::value(u64::from(round))
    }

    /// The value says whether the thread is the one that completed the round.
    pub(super) fn leave(&mut self, me: u32, operation: &Operation) -> Outcome {
        let life = &self.lives[me as usize];
        let (round, serial) = (life.round, life.serial);
        self.happens(me, operation, Happened::BarrierLeave { round });
        if let Some(Object::Barrier(barrier)) = self.objects.get_mut(&operation.object) {
            barrier.leaving = barrier.leaving.saturating_sub(1);
        }
        Outcome::value(u64::from(serial))
    }
}
