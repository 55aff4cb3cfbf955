//! The state of a thread's locks, relative to the entry of the function it is in.

use raddle_facts::{Guard, HeldLock, LocalLocks, LockMode, Released, Term};
use raddle_ir::{FunctionId, Reg};
use std::collections::{BTreeMap, BTreeSet};

/// As [`LocalLocks`], by lock.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct State {
    pub held: BTreeMap<Term, HeldLock>,
    pub released: Released,
    pub renewed: Released,
    pub acquired: BTreeSet<Term>,
}

impl State {
    pub fn of(facts: &LocalLocks) -> State {
        State {
            held: facts.held.iter().map(|held| (held.lock, held.clone())).collect(),
            released: facts.released.clone(),
            renewed: facts.renewed.clone(),
            acquired: facts.acquired.iter().copied().collect(),
        }
    }

    /// The register gets a new value: what names it means something else from here.
    pub fn assign(&mut self, function: FunctionId, reg: Reg) {
        self.held.retain(|lock, held| {
            !lock.registers().any(|named| named == (function, reg))
                && held.guard.is_none_or(|guard| (guard.function, guard.reg) != (function, reg))
        });
    }

    /// Resolves guards that are decided, and drops what is not held then.
    pub fn decide(&mut self, said: &[Guard]) {
        self.held.retain(|_, held| match held.guard {
            Some(guard) if said.contains(&Guard { zero: !guard.zero, ..guard }) => false,
            Some(guard) if said.contains(&guard) => {
                held.guard = None;
                true
            }
            _ => true,
        });
    }

    /// One more lock with its own acquisitions.
    pub fn add(&mut self, new: HeldLock) {
        let Some(held) = self.held.get_mut(&new.lock) else {
            self.held.insert(new.lock, new);
            return;
        };
        match (held.guard, new.guard) {
            (None, None) => {
                held.depth = held.depth.saturating_add(new.depth).min(HeldLock::DEEPEST);
                if new.mode < held.mode {
                    held.mode = new.mode;
                    held.history = new.history;
                } else if new.mode == held.mode {
                    let both: BTreeSet<Term> = held.history.iter().copied().chain(new.history).collect();
                    held.history = both.into_iter().collect();
                }
            }
            (None, Some(_)) => {}
            (Some(_), _) => *held = new,
        }
    }

    /// What both say.
    pub fn met(&self, other: &State) -> State {
        let mut result = State::default();
        for (lock, held) in &self.held {
            let Some(too) = other.held.get(lock) else { continue };
            let guard = match (held.guard, too.guard) {
                (None, guard) | (guard, None) => guard,
                (Some(one), Some(two)) if one == two => Some(one),
                _ => continue,
            };
            let mode = held.mode.max(too.mode);
            let common = held.history.iter().copied().filter(|term| too.history.contains(term));
            let history = if mode == LockMode::Shared { Vec::new() } else { common.collect() };
            let met = HeldLock { lock: *lock, mode, depth: held.depth.min(too.depth), guard, history };
            result.held.insert(*lock, met);
        }
        for state in [self, other] {
            super::super::places::add(&mut result.released, &state.released);
            super::super::places::add(&mut result.renewed, &state.renewed);
        }
        result.acquired = self.acquired.intersection(&other.acquired).copied().collect();
        result
    }

    /// After something that may have done anything. What was acquired before it, was.
    pub fn forget(&mut self) {
        self.held.clear();
        self.released = Released::Anything;
        self.renewed = Released::Anything;
    }

    /// One level less.
    pub fn take_one(&mut self, lock: Term) {
        if let Some(held) = self.held.get_mut(&lock) {
            held.depth = held.depth.saturating_sub(1);
            if held.depth == 0 {
                self.held.remove(&lock);
            }
        }
    }
}
