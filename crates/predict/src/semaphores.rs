//! What semaphores stand for: their value at the beginning of each life, and whether one is used as a lock.
//!
//! A semaphore that begins at 1 and in which every wait is followed by a post of the same thread before anything else is done with it by that
//! thread is a lock: the same reorderings are possible. The value at the beginning is given, or the least that the trace allows.

use crate::Input;
use raddle_base::fast_hash::FastMap;
use raddle_event::{Addr, EventKind, ThreadId};

/// Of each operation on a semaphore, which life it belongs to.
#[derive(Default)]
pub(crate) struct Uses {
    life_of: FastMap<usize, u32>,
    lives: Vec<Life>,
}

#[derive(Clone, Default)]
struct Life {
    initial: Option<u32>,
    /// Posts less waits so far, and the least that this ever was.
    balance: i64,
    least: i64,
    holders: Vec<ThreadId>,
    alternates: bool,
}

impl Uses {
    pub(crate) fn is_lock(&self, index: usize) -> bool {
        self.life(index).is_some_and(|life| life.alternates && life.initial() == 1)
    }

    pub(crate) fn initial(&self, index: usize) -> u32 {
        self.life(index).map_or(0, Life::initial)
    }

    fn life(&self, index: usize) -> Option<&Life> {
        self.life_of.get(&index).map(|life| &self.lives[*life as usize])
    }
}

impl Life {
    fn initial(&self) -> u32 {
        self.initial.unwrap_or_else(|| u32::try_from(-self.least).unwrap_or(0))
    }
}

pub(crate) fn uses(input: Input<'_>) -> Uses {
    let mut uses = Uses::default();
    let mut present: FastMap<Addr, u32> = FastMap::default();
    for (index, event) in input.trace.events.iter().enumerate() {
        match event.kind {
            EventKind::SyncInit { object } => {
                let life = Life {
                    initial: input.initial.at.get(&index).copied(),
                    alternates: true,
                    ..Life::default()
                };
                present.insert(object, uses.lives.len() as u32);
                uses.lives.push(life);
            }
            EventKind::SemPost { sem } | EventKind::SemWait { sem } => {
                let life = *present.entry(sem).or_insert_with(|| {
                    let initial = input.initial.before.get(&sem).copied();
                    uses.lives.push(Life { initial, alternates: true, ..Life::default() });
                    uses.lives.len() as u32 - 1
                });
                uses.life_of.insert(index, life);
                let life = &mut uses.lives[life as usize];
                let holds = life.holders.iter().position(|holder| *holder == event.thread);
                if matches!(event.kind, EventKind::SemPost { .. }) {
                    life.balance += 1;
                    match holds {
                        Some(place) => _ = life.holders.swap_remove(place),
                        None => life.alternates = false,
                    }
                } else {
                    life.balance -= 1;
                    life.least = life.least.min(life.balance);
                    life.alternates &= holds.is_none();
                    life.holders.push(event.thread);
                }
            }
            _ => {}
        }
    }
    uses
}
