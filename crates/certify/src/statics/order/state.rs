//! What a thread has done to order, relative to the entry of the function it is in.

use super::super::code::Code;
use super::super::patterns::contains;
use raddle_facts::{GateId, LocalOrder, ObjectId, Offsets, Released, Rounds, Term, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// As [`LocalOrder`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct State {
    pub passed: BTreeSet<GateId>,
    pub opened: BTreeSet<GateId>,
    /// Missing ones are none.
    pub rounds: Vec<Rounds>,
    pub handles: BTreeMap<Term, ThreadId>,
    pub overwritten: Vec<(ObjectId, Offsets)>,
}

/// Bytes of a handle, at most.
pub(super) const HANDLE: u64 = 8;

impl State {
    pub fn of(facts: &LocalOrder) -> State {
        State {
            passed: facts.passed.iter().copied().collect(),
            opened: facts.opened.iter().copied().collect(),
            rounds: facts.rounds.clone(),
            handles: facts.handles.iter().copied().collect(),
            overwritten: facts.overwritten.clone(),
        }
    }

    /// What the first says and the second does not give.
    pub fn first_difference(&self, given: &State) -> Option<String> {
        if let Some(gate) = self.passed.iter().find(|gate| !given.passed.contains(gate)) {
            return Some(format!("{gate} is said to be passed and need not be"));
        }
        if let Some(gate) = given.opened.iter().find(|gate| !self.opened.contains(gate)) {
            return Some(format!("{gate} may be opened and is said not to be"));
        }
        for index in 0..self.rounds.len().max(given.rounds.len()) {
            let (said, given) = (self.count(index), given.count(index));
            if said.at_least > given.at_least || said.at_most < given.at_most {
                return Some(format!("rounds of a barrier are said to be {said:?} and are {given:?}"));
            }
        }
        let held = |(cell, thread): &(&Term, &ThreadId)| given.handles.get(cell) == Some(thread);
        if let Some((cell, thread)) = self.handles.iter().find(|entry| !held(entry)) {
            return Some(format!("{cell:?} is said to hold the handle of {thread} and need not"));
        }
        let known = |(object, at): &(ObjectId, Offsets)| {
            self.overwritten.iter().any(|(other, offsets)| other == object && contains(*offsets, *at))
        };
        given.overwritten.iter().any(|place| !known(place)).then(|| "a handle may be overwritten".to_owned())
    }

    pub fn count(&self, barrier: usize) -> Rounds {
        self.rounds.get(barrier).copied().unwrap_or_default()
    }

    pub fn one_more(&mut self, barrier: usize) {
        if self.rounds.len() <= barrier {
            self.rounds.resize(barrier + 1, Rounds::default());
        }
        let round = &mut self.rounds[barrier];
        round.at_least = round.at_least.saturating_add(1);
        round.at_most = round.at_most.saturating_add(1);
    }

    /// Any number of times what was done once.
    pub fn lose_count(&mut self) {
        for round in self.rounds.iter_mut().filter(|round| round.at_most > 0) {
            *round = Rounds { at_least: 0, at_most: u32::MAX };
        }
    }

    /// This state was reached from `below`, relative to it.
    pub fn put_on(&mut self, code: &Code<'_>, below: &State) {
        self.passed.extend(&below.passed);
        self.opened.extend(&below.opened);
        let count = self.rounds.len().max(below.rounds.len());
        self.rounds = (0..count)
            .map(|index| {
                let (a, b) = (self.count(index), below.count(index));
                Rounds {
                    at_least: a.at_least.saturating_add(b.at_least),
                    at_most: a.at_most.saturating_add(b.at_most),
                }
            })
            .collect();
        for (cell, thread) in &below.handles {
            let written = self.overwritten.iter().any(|place| may_touch(code, *cell, *place, HANDLE));
            if !written && !self.handles.contains_key(cell) {
                self.handles.insert(*cell, *thread);
            }
        }
        for place in &below.overwritten {
            if !self.overwritten.contains(place) {
                self.overwritten.push(*place);
            }
        }
    }

    /// What both say.
    pub fn met(&self, other: &State) -> State {
        let count = self.rounds.len().max(other.rounds.len());
        let mut overwritten = self.overwritten.clone();
        overwritten.extend(other.overwritten.iter().filter(|place| !self.overwritten.contains(place)));
        State {
            passed: self.passed.intersection(&other.passed).copied().collect(),
            opened: self.opened.union(&other.opened).copied().collect(),
            rounds: (0..count)
                .map(|index| {
                    let (a, b) = (self.count(index), other.count(index));
                    Rounds { at_least: a.at_least.min(b.at_least), at_most: a.at_most.max(b.at_most) }
                })
                .collect(),
            handles: self
                .handles
                .iter()
                .filter(|(cell, thread)| other.handles.get(cell) == Some(thread))
                .map(|(cell, thread)| (*cell, *thread))
                .collect(),
            overwritten,
        }
    }
}

/// Whether a write of so many bytes at the place may touch the handle in the cell.
pub(super) fn may_touch(code: &Code<'_>, cell: Term, (object, at): (ObjectId, Offsets), bytes: u64) -> bool {
    match code.places(cell) {
        Released::Anything => true,
        Released::These(list) => {
            list.iter().any(|(other, offsets)| *other == object && offsets.may_overlap(HANDLE, at, bytes))
        }
    }
}
