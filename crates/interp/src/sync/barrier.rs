//! Barriers: arriving and leaving are separate visible operations.

use super::birth::Expected;
use super::{Errno, SyncObject};
use crate::exec::{Cx, Flow, Halt};
use crate::thread::Action;
use raddle_event::{Addr, EventKind, ProblemKind};
use raddle_libmodel::Arg;
use raddle_machine::OpKind;

/// `PTHREAD_BARRIER_SERIAL_THREAD`.
const SERIAL: i128 = -1;

impl Cx<'_> {
    pub(crate) fn pending_barrier(&mut self, barrier: Arg) -> Result<OpKind, Halt> {
        Ok(OpKind::BarrierArrive { barrier: self.sync_addr(self.pointer_arg(barrier))? })
    }

    pub(crate) fn perform_arrive(&mut self, barrier: Arg) -> Result<Flow, Halt> {
        let address = self.pointer_arg(barrier);
        let at = self.sync_addr(address)?;
        let SyncObject::Barrier(mut barrier) = self.sync_object(at, address, Expected::Barrier) else {
            self.problem(ProblemKind::DestroyedLockUse, Some(at), "");
            return Ok(Flow::Return(Errno::Invalid as u128));
        };
        let round = barrier.round;
        self.event(EventKind::BarrierArrive { barrier: at, round });
        barrier.arrived += 1;
        let serial = barrier.arrived >= barrier.count;
        if serial {
            barrier.leaving += barrier.arrived;
            barrier.arrived = 0;
            barrier.round += 1;
        }
        self.world.sync.set(at, SyncObject::Barrier(barrier));
        Err(self
            .stand(OpKind::BarrierLeave { barrier: at }, Action::BarrierLeave { barrier: at, round, serial }))
    }

    pub(crate) fn perform_leave(&mut self, at: Addr, round: u32, serial: bool) {
        self.event(EventKind::BarrierLeave { barrier: at, round });
        if let Some(SyncObject::Barrier(barrier)) = self.world.sync.get(at) {
            let mut barrier = barrier.clone();
            barrier.leaving = barrier.leaving.saturating_sub(1);
            self.world.sync.set(at, SyncObject::Barrier(barrier));
        }
        self.return_value(if serial { SERIAL as u128 } else { 0 });
    }
}
