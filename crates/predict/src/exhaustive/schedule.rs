//! From a counterexample of the model to an order of events of the trace.
//!
//! The model has the order of the events that others notice. The others go where the trace has them, as far as that order lets them, so
//! that reads read as recorded where they can.

use super::model::Model;
use super::plan::Plan;
use crate::legality::{Index, State};
use raddle_csp::EventId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How far the counterexample leads each thread, and in which order.
pub(super) struct Schedule {
    /// Events of the trace that the model has.
    performed: VecDeque<usize>,
    /// Steps of the model that each thread has done.
    done: Vec<usize>,
    /// Wanted accesses before which threads stand.
    pub(super) standing: Vec<usize>,
}

impl Schedule {
    pub(super) fn of(model: &Model, underlying: &[EventId]) -> Self {
        let mut owners: BTreeMap<EventId, usize> = BTreeMap::new();
        for (slot, steps) in model.steps.iter().enumerate() {
            owners.extend(steps.iter().map(|step| (step.event, slot)));
        }
        let accesses: BTreeMap<EventId, usize> =
            model.nexts.iter().map(|(&at, &event)| (event, at)).collect();
        let mut schedule =
            Schedule { performed: VecDeque::new(), done: vec![0; model.steps.len()], standing: Vec::new() };
        for event in underlying {
            if let Some(&slot) = owners.get(event) {
                let step = model.steps[slot][schedule.done[slot]];
                debug_assert_eq!(step.event, *event);
                schedule.performed.extend(step.index);
                schedule.done[slot] += 1;
            }
            schedule.standing.extend(accesses.get(event));
        }
        schedule.standing.sort();
        schedule
    }

    /// The order up to which the two accesses of a race are next.
    pub(super) fn before_race(self, plan: &Plan) -> Vec<usize> {
        let mut upto = vec![0; plan.upto.len()];
        for &event in &self.performed {
            let last = plan.index.second_half(event).unwrap_or(event);
            let (slot, position) = plan.index.place[last];
            upto[slot] = upto[slot].max(position + 1);
        }
        for &access in &self.standing {
            let (slot, position) = plan.index.place[access];
            upto[slot] = position;
        }
        self.order(plan.index, upto)
    }

    /// The order after which no thread of the model can move: each stands before its next step.
    pub(super) fn until_rest(self, plan: &Plan, model: &Model) -> Vec<usize> {
        let mut upto = plan.upto.clone();
        for (slot, steps) in model.steps.iter().enumerate() {
            let ahead = steps[self.done[slot]..].iter().find_map(|step| step.index);
            if let Some(next) = ahead {
                upto[slot] = plan.index.place[next].1;
            }
        }
        self.order(plan.index, upto)
    }

    fn order(mut self, index: &Index, upto: Vec<usize>) -> Vec<usize> {
        let modelled: BTreeSet<usize> = self.performed.iter().copied().collect();
        let mut done = vec![0; upto.len()];
        let mut order = Vec::new();
        loop {
            let ahead = (0..upto.len()).filter(|&slot| done[slot] < upto[slot]);
            let nexts = ahead.map(|slot| index.threads[slot].1[done[slot]]);
            let may = |event: &usize| !modelled.contains(event) || self.performed.front() == Some(event);
            let Some(event) = nexts.filter(may).min() else { return order };
            if modelled.contains(&event) {
                self.performed.pop_front();
            }
            let slot = index.place[event].0;
            let step = [Some(event), index.second_half(event)];
            for event in step.into_iter().flatten().take(upto[slot] - done[slot]) {
                order.push(event);
                done[slot] += 1;
            }
        }
    }
}

/// A shorter order after which these events are deadlocked: without what other threads do at their ends, as long as all stays possible.
pub(super) fn without_bystanders(index: &Index, order: &[usize], blocked: &[usize]) -> Vec<usize> {
    let mut order = order.to_vec();
    let leads_there = |order: &[usize]| {
        let mut state = State::new(index);
        let possible = order.iter().all(|&event| {
            let possible = state.is_possible(event);
            if possible {
                state.take(event);
            }
            possible
        });
        possible && state.is_deadlock(blocked)
    };
    let mut at = order.len();
    while at > 0 {
        at -= 1;
        let mut shorter = order.clone();
        let event = shorter.remove(at);
        let is_last = shorter[at..].iter().all(|&later| index.place[later].0 != index.place[event].0);
        if is_last {
            if at > 0 && index.second_half(shorter[at - 1]) == Some(event) {
                at -= 1;
                shorter.remove(at);
            }
            if leads_there(&shorter) {
                order = shorter;
            }
        }
    }
    order
}
