//! Which runs are equivalent, the slow way.

use raddle_event::{Choice, ThreadId};
use raddle_explore::dependence::{Footprint, NextMove, Performed, dependent};
use raddle_machine::{Machine, OpKind, TraceSink};
use std::collections::BTreeSet;

/// A run up to the order of independent steps: its steps by thread, each with the steps that come before it.
pub type Class = Vec<(u32, usize, u32, Vec<(u32, usize)>)>;

#[derive(Clone)]
pub struct Done {
    pub choice: Choice,
    /// Which one of its thread's steps.
    index: usize,
    pub footprint: Footprint,
    pub touched: BTreeSet<ThreadId>,
    /// Indices of steps before it.
    before: BTreeSet<usize>,
}

/// Performs a step behind those that are done.
pub fn step<M: Machine>(machine: &mut M, choice: Choice, before: &[Choice], done: &[Done]) -> Done {
    let kind = machine.pending(choice.thread).expect("it is enabled").kind;
    let held = machine.held_locks(choice.thread);
    let problems = machine.problems().len();
    let threads = machine.thread_count();
    let mut sink = TraceSink::default();
    machine.step(choice, &mut sink);
    let mut after = Vec::new();
    machine.enabled(&mut after);
    let footprint = Footprint::performed(&Performed {
        thread: choice.thread,
        kind,
        events: &sink.trace.events,
        status: &machine.status(),
        problems: &machine.problems()[problems..],
        held: &held,
        next: if after.iter().any(|next| next.thread == choice.thread) {
            NextMove::Possible
        } else {
            NextMove::NotPossible
        },
    });
    let variants = |choices: &[Choice], thread: ThreadId| -> Vec<u32> {
        choices.iter().filter(|c| c.thread == thread).map(|c| c.variant).collect()
    };
    let mut touched: BTreeSet<ThreadId> = (0..machine.thread_count())
        .map(ThreadId)
        .filter(|thread| *thread != choice.thread && variants(before, *thread) != variants(&after, *thread))
        .collect();
    if kind == OpKind::Create {
        touched.extend((threads..machine.thread_count()).map(ThreadId));
    }
    let mut all_before = BTreeSet::new();
    for (at, earlier) in done.iter().enumerate() {
        if earlier.choice.thread == choice.thread
            || earlier.touched.contains(&choice.thread)
            || dependent(&earlier.footprint, &footprint)
        {
            all_before.insert(at);
            all_before.extend(&earlier.before);
        }
    }
    let index = done.iter().filter(|earlier| earlier.choice.thread == choice.thread).count();
    Done { choice, index, footprint, touched, before: all_before }
}

pub fn class(done: &[Done]) -> Class {
    let name = |step: &Done| (step.choice.thread.0, step.index);
    let mut class: Class = done
        .iter()
        .map(|step| {
            let mut before: Vec<_> = step.before.iter().map(|at| name(&done[*at])).collect();
            before.sort();
            (step.choice.thread.0, step.index, step.choice.variant, before)
        })
        .collect();
    class.sort();
    class
}
