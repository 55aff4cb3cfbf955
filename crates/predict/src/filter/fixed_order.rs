//! Order that no reordering changes: creation, join, barriers, once.

use raddle_base::fast_hash::FastMap;
use raddle_event::{Addr, Event, EventKind, ThreadId};
use raddle_order::{Epoch, VectorClock};
use std::collections::BTreeMap;

/// Order that no reordering changes, by vector clocks.
#[derive(Default)]
pub(super) struct FixedOrder {
    clocks: Vec<VectorClock>,
    created: BTreeMap<ThreadId, VectorClock>,
    barriers: FastMap<Addr, BTreeMap<u32, Round>>,
    onces: FastMap<Addr, VectorClock>,
}

/// Of a barrier: what all arrivals together know.
#[derive(Default)]
struct Round {
    clock: VectorClock,
    arrived: u32,
    left: u32,
}

impl FixedOrder {
    pub(super) fn clock(&mut self, thread: ThreadId) -> &mut VectorClock {
        let index = thread.0 as usize;
        while self.clocks.len() <= index {
            let new = ThreadId(self.clocks.len() as u32);
            let mut clock = self.created.get(&new).cloned().unwrap_or_default();
            clock.set(Epoch { thread: new, count: 1 });
            self.clocks.push(clock);
        }
        &mut self.clocks[index]
    }

    /// The clock as it is given on; what follows is later.
    fn give(&mut self, thread: ThreadId) -> VectorClock {
        let clock = self.clock(thread);
        let given = clock.clone();
        clock.increment(thread);
        given
    }

    pub(super) fn take(&mut self, event: &Event) {
        let me = event.thread;
        match event.kind {
            EventKind::Create { child } => {
                let given = self.give(me);
                match self.clocks.get_mut(child.0 as usize) {
                    Some(clock) => clock.join(&given),
                    None => _ = self.created.insert(child, given),
                }
            }
            EventKind::Join { child } => {
                let end = self.clock(child).clone();
                self.clock(me).join(&end);
            }
            EventKind::BarrierArrive { barrier, round } => {
                let given = self.give(me);
                let rounds = self.barriers.entry(barrier).or_default();
                rounds.retain(|number, earlier| *number >= round || earlier.left < earlier.arrived);
                let present = rounds.entry(round).or_default();
                present.clock.join(&given);
                present.arrived += 1;
            }
            EventKind::BarrierLeave { barrier, round } => {
                let present = self.barriers.get_mut(&barrier).and_then(|rounds| rounds.get_mut(&round));
                if let Some(present) = present {
                    present.left += 1;
                    let arrived = present.clock.clone();
                    self.clock(me).join(&arrived);
                }
            }
            EventKind::OnceEnd { once } => {
                let given = self.give(me);
                self.onces.insert(once, given);
            }
            EventKind::OncePass { once } => {
                if let Some(end) = self.onces.get(&once).cloned() {
                    self.clock(me).join(&end);
                }
            }
            EventKind::SyncInit { object } => {
                self.onces.remove(&object);
                self.barriers.remove(&object);
            }
            _ => {}
        }
    }
}
