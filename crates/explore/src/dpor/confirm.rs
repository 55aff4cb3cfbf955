//! Races that a run of commuting sections stands for: found without the lock edges that not every run of the class has, and shown in
//! a run of the class that has them by the ordinary rules. See `sections`.

use super::optimal::Search;
use super::run::{Into, perform};
use super::sections::{Locks, weak_trace};
use super::tally::PassEnd;
use crate::enumerate::{RaceAccess, RaceKey, Recorder, Taken};
use raddle_event::{Event, ThreadId, Trace};
use raddle_machine::{IgnoreEvents, Machine};
use raddle_order::{Listing, RacePair, pairs};

impl<C> Search<'_, '_, '_, C> {
    /// Takes note of the races that the run which has ended stands for. Leaves the machine at the end of the run.
    pub(super) fn confirm<M: Machine<Checkpoint = C>>(&mut self, machine: &mut M) -> Result<(), PassEnd> {
        if self.grouping.locks == Locks::Ordered {
            return Ok(());
        }
        let threads = (0..machine.thread_count()).map(ThreadId);
        if let Some(lock) = threads.filter_map(|thread| self.grouping.looks_at(machine, thread)).next() {
            return Err(PassEnd::LockSeen(lock));
        }
        let (weak, origin) = weak_trace(&self.run, &|| self.tally.out_of_time().is_some())
            .map_err(|unclear| unclear.map_or_else(|| self.tally.given_up(), PassEnd::LockSeen))?;
        let mut moved = false;
        for RacePair { first, second } in pairs::list(&weak, Listing::OncePerSite) {
            let key = key(&weak.events[first], &weak.events[second]);
            if self.tally.knows(&key) {
                continue;
            }
            moved = true;
            self.tally.go_on()?;
            let (first, second) = (self.step_of(origin[first]), self.step_of(origin[second]));
            let mut shown = None;
            for steps in self.rearranged(first, second)? {
                shown = self.replayed(machine, &steps)?.filter(|(trace, _)| shows(trace, &key));
                if shown.is_some() {
                    break;
                }
            }
            let Some((trace, path)) = shown else { return Err(PassEnd::LocksMatter) };
            self.tally.shown(&trace, &path);
            self.tally.decide()?;
        }
        if moved {
            self.come_back(machine);
        }
        Ok(())
    }

    /// The step that an event of the trace belongs to.
    fn step_of(&self, event: usize) -> usize {
        self.run.steps.partition_point(|step| self.run.path[step.taken].events <= event) - 1
    }

    /// Runs of the class, up to both steps, in which as little as possible is between them.
    fn rearranged(&self, first: usize, second: usize) -> Result<Vec<Vec<usize>>, PassEnd> {
        let steps = &self.run.steps;
        let before = |a: usize, b: usize| a != b && steps[a].is_before(&steps[b]);
        let needed =
            |at: &usize| *at != first && *at != second && (before(*at, first) || before(*at, second));
        let needed: Vec<usize> = (0..steps.len()).filter(needed).collect();
        let (behind, ahead): (Vec<usize>, Vec<usize>) = needed.iter().partition(|at| before(first, **at));
        let of_others = |at: &&usize| steps[**at].thread() != steps[first].thread();
        let mut orders = vec![[ahead.clone(), vec![first], behind.clone(), vec![second]].concat()];
        if before(first, second) {
            // Others first, as far as the order of the class allows.
            let mut left = behind;
            let mut order = [ahead, vec![first]].concat();
            while !left.is_empty() {
                self.tally.go_on()?;
                let free = |at: &&usize| left.iter().all(|other| !before(*other, **at));
                let next = left.iter().filter(free).find(of_others).or_else(|| left.iter().find(free));
                let next = *next.expect("the first of them is free");
                left.retain(|at| *at != next);
                order.push(next);
            }
            order.push(second);
            orders.push(order);
        } else {
            orders.push([needed, vec![second, first]].concat());
        }
        Ok(orders)
    }

    /// Performs the steps from the start. `None` when one is not possible, the end of the pass when there is no time.
    fn replayed<M: Machine<Checkpoint = C>>(
        &mut self,
        machine: &mut M,
        steps: &[usize],
    ) -> Result<Option<(Trace, Vec<Taken>)>, PassEnd> {
        self.reach(machine, 0);
        let (mut recorder, mut path) = (Recorder::default(), Vec::new());
        let mut enabled = self.nodes[0].enabled.clone();
        let mut after = Vec::new();
        for at in steps {
            let choice = self.run.steps[*at].action.choice;
            self.tally.go_on()?;
            if !enabled.contains(&choice) {
                return Ok(None);
            }
            let mut into = Into { recorder: &mut recorder, path: &mut path, standpoints: None };
            perform(machine, choice, &enabled, &mut after, &mut into, &self.grouping);
            std::mem::swap(&mut enabled, &mut after);
        }
        Ok(Some((recorder.trace().clone(), path)))
    }

    /// To the end of the present run.
    fn come_back<M: Machine<Checkpoint = C>>(&mut self, machine: &mut M) {
        let last = self.run.steps.len() - 1;
        self.reach(machine, last);
        for taken in self.run.choices(last) {
            machine.step(taken.choice, &mut IgnoreEvents);
        }
    }
}

fn key(first: &Event, second: &Event) -> RaceKey {
    let access = |event: &Event| RaceAccess::of(event).expect("a race is between accesses").0;
    RaceKey::new(access(first), access(second))
}

fn shows(trace: &Trace, race: &RaceKey) -> bool {
    let same = |pair: &RacePair| key(&trace.events[pair.first], &trace.events[pair.second]) == *race;
    pairs::list(trace, Listing::OncePerSite).iter().any(same)
}
