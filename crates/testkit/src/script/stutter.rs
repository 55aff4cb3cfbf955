//! When a thread only goes round in circles: it is asleep until something that it looks at changes.
//!
//! A thread that comes back to the same operation with the same local state and has had no effect meanwhile has made a *round*.
//! With it are kept the conditions under which each of its steps went as it did: bytes read, locks found free or taken, semaphores
//! found empty. As long as all of them hold, the round repeated from here would lead back to here, so the choice that started it
//! is not offered. Locks taken and given back, failed tries, timeouts and spurious wake-ups that lead back are no effect.
//!
//! A round may be noticed by others while it lasts: a try fails on a lock that it holds. Then it must be offered again, for a second
//! such notice: every failed try makes the rounds that involve its lock forgotten. A signal that misses a waiter in the middle of
//! a round needs no such care: one that finds it waiting wakes it for one more round, with the same end. Going past an operation with several outcomes (other than the first one) makes no round: another outcome there
//! might lead out of it. This errs on the side of running on: a thread that sleeps too little costs runs, one that sleeps too
//! much would hide behaviour.

use super::state::{Local, State, Thread};
use super::syntax::{Mode, Place};
use raddle_event::ThreadId;
use std::sync::Arc;

/// One operation performed since the last effect.
#[derive(Clone, Debug)]
pub(super) struct Visit {
    pub(super) local: Arc<Local>,
    pub(super) variant: u32,
    outcomes: Outcomes,
    pub(super) conditions: Vec<Condition>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcomes {
    One,
    Several,
}

/// A round made since the last effect: this choice at this local state leads back to it while the conditions hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Nap {
    pub(super) local: Arc<Local>,
    pub(super) variant: u32,
    pub(super) conditions: Vec<Condition>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Condition {
    Bytes {
        place: Place,
        value: u64,
    },
    Free {
        lock: usize,
        mode: Mode,
    },
    /// A wait gave the lock up and took it again: always possible from where the wait begins.
    Regained {
        lock: usize,
    },
    Taken {
        lock: usize,
        mode: Mode,
    },
    Empty {
        sem: usize,
    },
}

/// Whether a step left a trace in the shared state.
#[derive(Clone, Debug)]
pub(super) enum Effect {
    Some,
    None(Vec<Condition>),
}

impl State {
    pub(super) fn asleep(&self, thread: ThreadId, variant: u32) -> bool {
        let Thread { naps, local, .. } = self.thread(thread);
        naps.iter().any(|nap| {
            nap.variant == variant
                && nap.local == *local
                && nap.conditions.iter().all(|condition| self.holds(thread, *condition))
        })
    }

    /// Before a step: remembers where the thread stands.
    pub(super) fn visit(&mut self, thread: ThreadId, variant: u32, outcomes: Outcomes) {
        let thread = self.thread_mut(thread);
        let local = Arc::clone(&thread.local);
        thread.history.push(Arc::new(Visit { local, variant, outcomes, conditions: Vec::new() }));
    }

    /// During a step, for each thing done.
    pub(super) fn note(&mut self, thread: ThreadId, effect: Effect) {
        let thread = self.thread_mut(thread);
        match effect {
            Effect::Some => {
                thread.history.clear();
                thread.naps.clear();
            }
            Effect::None(conditions) => {
                if let Some(visit) = thread.history.last_mut() {
                    Arc::make_mut(visit).conditions.extend(conditions);
                }
            }
        }
    }

    /// After a step, when the thread stands before its next operation.
    pub(super) fn arrive(&mut self, thread: ThreadId) {
        if self.thread(thread).history.is_empty() {
            return;
        }
        let thread = self.thread_mut(thread);
        for (index, visit) in thread.history.iter().enumerate() {
            let rest = &thread.history[index..];
            if visit.local != thread.local || rest[1..].iter().any(|v| v.outcomes == Outcomes::Several) {
                continue;
            }
            let mut conditions: Vec<Condition> = Vec::new();
            for condition in rest.iter().flat_map(|visit| &visit.conditions) {
                if !conditions.contains(condition) {
                    conditions.push(*condition);
                }
            }
            let nap = Nap { local: Arc::clone(&visit.local), variant: visit.variant, conditions };
            if !thread.naps.contains(&nap) {
                thread.naps.push(nap);
            }
        }
    }

    /// A try failed on this lock: rounds of other threads that held it were noticed.
    pub(super) fn notice_lock(&mut self, by: ThreadId, lock: usize) {
        self.forget(
            by,
            |condition| matches!(condition, Condition::Free { lock: l, .. } | Condition::Regained { lock: l } if *l == lock),
        );
    }

    fn forget(&mut self, by: ThreadId, concerned: impl Fn(&Condition) -> bool) {
        for (index, thread) in self.threads.iter_mut().enumerate() {
            if index != by.0 as usize
                && (thread.history.iter().any(|visit| visit.conditions.iter().any(&concerned))
                    || thread.naps.iter().any(|nap| nap.conditions.iter().any(&concerned)))
            {
                let thread = Arc::make_mut(thread);
                thread.history.clear();
                thread.naps.clear();
            }
        }
    }

    fn holds(&self, thread: ThreadId, condition: Condition) -> bool {
        match condition {
            Condition::Bytes { place, value } => self.read(place) == value,
            Condition::Free { lock, mode } => self.can_acquire(thread, lock, mode),
            Condition::Regained { .. } => true,
            Condition::Taken { lock, mode } => !self.can_acquire(thread, lock, mode),
            Condition::Empty { sem } => self.sems[sem] == 0,
        }
    }
}
