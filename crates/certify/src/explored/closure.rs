//! The second half of the check: the tree is closed under reversal. For every step of a run, whatever else could have come in its place
//! begins, up to equivalence, a run of the tree. What is tried, and why that is enough, is in the documentation of the module above.

use super::footprint::{excludes, fills_up, may_block, may_vary};
use super::run::{Next, Run};
use super::step::{Action, Listener, perform, slept};
use super::walk::{Node, shown};
use super::{Refusal, Rule, SLEEP, go_on};
use raddle_event::{Choice, ThreadId};
use raddle_machine::Machine;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

/// Sets of steps that are looked at for one operation, at most.
const MOST_CUTS: usize = 4_096;

/// What was tried and found in the tree in the states of the run that was looked at last, in place of the same steps: the next run shares most
/// of them, and need not try it again.
#[derive(Default)]
pub(super) struct Found(Vec<(usize, Choice, Attempts)>);

/// What to try in place of a step: after each of these lists of choices, the next operation of these threads.
type Attempts = BTreeMap<Vec<Choice>, BTreeSet<ThreadId>>;

/// Tries everything from each state of the run that was not tried there. The machine stands at its start, and does so afterwards. How much was
/// tried. What that rests on is added to the assumptions.
pub(super) fn check<M: Machine>(
    machine: &mut M,
    nodes: &[Node],
    run: &Run,
    found: &mut Found,
    assumptions: &mut BTreeSet<&'static str>,
    stop: &AtomicBool,
) -> Result<u64, Refusal> {
    let start = machine.checkpoint();
    let mut tried = 0;
    let (mut enabled, mut after) = (Vec::new(), Vec::new());
    machine.enabled(&mut enabled);
    // Where the machine stands.
    let mut reached = 0;
    for at in 0..run.steps.len() {
        let known = found.at(run, at);
        let attempts = attempts(run, at, known)?;
        if attempts.is_empty() {
            continue;
        }
        for step in &run.steps[reached..at] {
            perform(machine, step.action.choice, &enabled, &mut after, &mut Listener::default());
            std::mem::swap(&mut enabled, &mut after);
        }
        reached = at;
        let here = machine.checkpoint();
        for (rest, threads) in attempts {
            go_on(stop)?;
            let mut trial =
                Trial { machine, nodes, run, at, here: &here, enabled: &enabled, slept: run.slept };
            match trial.go(&rest, &threads) {
                Ok(count) => {
                    tried += count;
                    known.entry(rest).or_default().extend(threads);
                }
                Err(Stop::Asleep) => {
                    assumptions.extend([SLEEP, "A-HASH"]);
                }
                Err(Stop::Refused(refusal)) => return Err(refusal),
            }
        }
        machine.restore(&here);
        machine.discard(here);
    }
    machine.restore(&start);
    machine.discard(start);
    Ok(tried)
}

impl Found {
    /// In place of the step at `at`, in the state before it.
    fn at(&mut self, run: &Run, at: usize) -> &mut Attempts {
        let step = &run.steps[at];
        let same = self
            .0
            .get(at)
            .is_some_and(|(node, choice, _)| (*node, *choice) == (step.node, step.action.choice));
        if !same {
            self.0.truncate(at);
            self.0.push((step.node, step.action.choice, Attempts::new()));
        }
        &mut self.0[at].2
    }
}

/// What is to be tried in place of the step at `at`, without what is known.
fn attempts(run: &Run, at: usize, known: &Attempts) -> Result<Attempts, Refusal> {
    let mut attempts = Attempts::new();
    let performed = run.steps.iter().enumerate().skip(at).map(|(index, other)| (&other.next, Some(index)));
    for (next, index) in performed.chain(run.pending.iter().map(|next| (next, None))) {
        if concerns(run, at, next, index) {
            for rest in rests(run, at, next, index)? {
                if !known.get(&rest).is_some_and(|threads| threads.contains(&next.thread)) {
                    attempts.entry(rest).or_default().insert(next.thread);
                }
            }
        }
    }
    Ok(attempts)
}

/// Whether the operation, performed at `index` or left over at the end, may be done without the step at `at`, and what it does may depend
/// on whether it is.
fn concerns(run: &Run, at: usize, next: &Next, index: Option<usize>) -> bool {
    let step = &run.steps[at];
    if index == Some(at) {
        return may_vary(next.kind);
    }
    if next.thread == step.action.thread()
        || next.previous.is_some_and(|own| own == at || own > at && run.is_before(at, own))
    {
        return false;
    }
    let done = index.map(|index| &run.steps[index].action);
    excludes(&step.action.footprint, &next.worst)
        || step.action.touches(next.thread)
        || done.is_some_and(|done| step.action.orders(done))
}

/// The steps behind the one at `at` that are not ordered after it: all of them that leave the operation possible as it was, and, where
/// they may change what it does, fewer.
fn rests(run: &Run, at: usize, next: &Next, index: Option<usize>) -> Result<Vec<Vec<Choice>>, Refusal> {
    let behind = |other: usize| {
        index.is_some_and(|index| {
            index != at && (other == index || other > index && run.is_before(index, other))
        })
    };
    let all: Vec<usize> =
        (at + 1..run.steps.len()).filter(|other| !run.is_before(at, *other) && !behind(*other)).collect();
    let needed = |other: usize| {
        next.previous.is_some_and(|own| own == other || own > other && run.is_before(other, own))
    };
    let ordered = |other: usize| index.is_some_and(|index| other < index && run.is_before(other, index));
    let changes = |other: &usize| {
        let action = &run.steps[*other].action;
        action.thread() != next.thread
            && !needed(*other)
            && (excludes(&action.footprint, &next.worst) || action.touches(next.thread))
    };
    let open: Vec<usize> = match (may_block(next.kind), index) {
        _ if index == Some(at) => all.iter().copied().filter(changes).collect(),
        (true, _) => all.iter().copied().filter(changes).collect(),
        (false, Some(_)) => all.iter().copied().filter(|other| changes(other) && !ordered(*other)).collect(),
        (false, None) => Vec::new(),
    };
    let mut cuts = Vec::new();
    if !cut(run, &open, &mut Vec::new(), &mut cuts) {
        let text = format!("what {} may do in step {at} depends on too many others", next.thread);
        return Err(Refusal { rule: Rule::Size, text });
    }
    let without = |left_out: &Vec<usize>| {
        let stays = |other: &usize| {
            left_out.iter().all(|out| out != other && (out > other || !run.is_before(*out, *other)))
        };
        all.iter().filter(|other| stays(other)).map(|other| run.steps[*other].action.choice).collect()
    };
    Ok(cuts.iter().map(without).collect())
}

/// All ways to leave out steps of `open`, which are in the order of the run, such that nothing ordered after one that is left out stays.
fn cut(run: &Run, open: &[usize], left_out: &mut Vec<usize>, cuts: &mut Vec<Vec<usize>>) -> bool {
    let Some((first, rest)) = open.split_first() else {
        cuts.push(left_out.clone());
        return cuts.len() <= MOST_CUTS;
    };
    let goes = left_out.iter().any(|out| run.is_before(*out, *first));
    if !goes && !cut(run, rest, left_out, cuts) {
        return false;
    }
    left_out.push(*first);
    let fits = cut(run, rest, left_out, cuts);
    left_out.pop();
    fits
}

/// Something else in place of one step of a run.
struct Trial<'a, M: Machine> {
    machine: &'a mut M,
    nodes: &'a [Node],
    run: &'a Run,
    /// The step, and the state before it.
    at: usize,
    here: &'a M::Checkpoint,
    enabled: &'a [Choice],
    /// A thread was put to sleep, in the run or in what is tried.
    slept: bool,
}

/// Why a trial ended early.
enum Stop {
    /// A step is not possible where a thread may be asleep because nothing has changed for it.
    Asleep,
    Refused(Refusal),
}

impl<M: Machine> Trial<'_, M> {
    /// Takes the steps in `rest` from the state before the one left out, and then each choice of these threads. How many were tried.
    fn go(&mut self, rest: &[Choice], threads: &BTreeSet<ThreadId>) -> Result<u64, Stop> {
        let (mut sequence, enabled) = self.perform(rest)?;
        let behind = self.machine.checkpoint();
        let (mut after, mut listener) = (Vec::new(), Listener::default());
        let mut sequences = Vec::new();
        for choice in enabled.iter().filter(|choice| threads.contains(&choice.thread)) {
            sequence.push(perform(self.machine, *choice, &enabled, &mut after, &mut listener));
            self.slept |= slept(self.machine);
            self.machine.restore(&behind);
            if !self.run.steps[self.at].action.may_come_first(&sequence) {
                sequences.push(sequence.clone());
            }
            sequence.pop();
        }
        self.machine.discard(behind);
        sequences.iter().try_for_each(|sequence| self.follow(sequence))?;
        Ok(sequences.len() as u64)
    }

    /// Takes these choices from the state before the step that is left out: what they do, and what is open behind them.
    fn perform(&mut self, choices: &[Choice]) -> Result<(Vec<Action>, Vec<Choice>), Stop> {
        self.machine.restore(self.here);
        let (mut enabled, mut after, mut listener) = (self.enabled.to_vec(), Vec::new(), Listener::default());
        let mut done = Vec::new();
        for choice in choices {
            if !enabled.contains(choice) {
                if self.slept || slept(self.machine) {
                    return Err(Stop::Asleep);
                }
                return Err(self.refuse(format!("{} is not open, and does not depend on it", shown(*choice))));
            }
            done.push(perform(self.machine, *choice, &enabled, &mut after, &mut listener));
            std::mem::swap(&mut enabled, &mut after);
            self.slept |= slept(self.machine);
        }
        Ok((done, enabled))
    }

    /// Whether some run of the tree goes on from the state like the sequence, up to equivalence.
    fn follow(&mut self, sequence: &[Action]) -> Result<(), Stop> {
        let mut left = sequence.to_vec();
        let mut path: Vec<Choice> = Vec::new();
        let mut node = self.run.steps[self.at].node;
        while !left.is_empty() {
            let Node { asleep, explored } = &self.nodes[node];
            if asleep.iter().any(|action| action.may_come_first(&left)) {
                return Ok(());
            }
            let Some((first, below)) = explored.iter().find(|(action, _)| action.may_come_first(&left))
            else {
                let words: Vec<String> = sequence.iter().map(|action| shown(action.choice)).collect();
                return Err(self.refuse(format!("no run of the tree begins like {}", words.join(" "))));
            };
            if let Some(own) = left.iter().position(|action| action.choice == first.choice) {
                left.remove(own);
            }
            path.push(first.choice);
            node = *below;
            if left.iter().any(|action| fills_up(&first.footprint, &action.footprint)) {
                let choices: Vec<Choice> =
                    path.iter().copied().chain(left.iter().map(|action| action.choice)).collect();
                left = self.perform(&choices)?.0.split_off(path.len());
            }
        }
        Ok(())
    }

    fn refuse(&self, text: String) -> Stop {
        let step = &self.run.steps[self.at];
        let text = format!("state {}, without {}: {text}", step.node, shown(step.action.choice));
        Stop::Refused(Refusal { rule: if self.slept { Rule::Loops } else { Rule::Closure }, text })
    }
}
