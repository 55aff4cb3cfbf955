//! A hash of a script's state that does not depend on the order in which threads were created.
//!
//! A thread is named by its place in the tree of creations: its creator's name and the how-manieth child it is. What a thread sleeps
//! on is part of the state, because it decides which choices are open. The round of a barrier is not: only how many rounds ago a thread
//! arrived that has not left yet.

use super::machine::ScriptMachine;
use super::state::{At, State};
use super::syntax::Act;
use raddle_base::{Id, StableHasher};
use raddle_event::ThreadId;
use raddle_machine::{Canonical, Names, ObjectNames};
use std::hash::Hash;

pub(super) fn canonical(machine: &ScriptMachine) -> Canonical {
    let state = &machine.state;
    let names: Vec<Vec<u32>> =
        (0..state.threads.len() as u32).map(|thread| name(state, ThreadId(thread))).collect();
    let named = |thread: ThreadId| &names[thread.0 as usize];
    let mut hasher = StableHasher::new();
    state.memory.hash(&mut hasher);
    state.sems.hash(&mut hasher);
    state.onces.hash(&mut hasher);
    for barrier in &state.barriers {
        barrier.arrived.hash(&mut hasher);
    }
    for lock in &state.locks {
        (lock.owner.map(named), lock.depth).hash(&mut hasher);
        let mut readers: Vec<_> = lock.readers.iter().map(|reader| named(*reader)).collect();
        readers.sort();
        readers.hash(&mut hasher);
    }
    for waiters in &state.conds {
        // The order of waiters only numbers the variants of a signal.
        let mut waiters: Vec<_> =
            waiters.iter().map(|w| (named(w.thread), w.signalled == super::state::Signalled::Yes)).collect();
        waiters.sort();
        waiters.hash(&mut hasher);
    }
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|index| &names[*index]);
    for &index in &order {
        let thread = &state.threads[index];
        (&names[index], thread.function).hash(&mut hasher);
        place(machine, ThreadId::from_index(index)).hash(&mut hasher);
        if thread.local.at == At::Ended {
            continue;
        }
        (&thread.local.frames, &thread.local.held, thread.local.children.len()).hash(&mut hasher);
        for nap in &thread.naps {
            (nap.local.at, &nap.local.frames, &nap.local.held).hash(&mut hasher);
            (nap.variant, &nap.conditions).hash(&mut hasher);
        }
        for visit in &thread.history {
            (visit.local.at, &visit.local.frames, &visit.local.held).hash(&mut hasher);
            (visit.variant, &visit.conditions).hash(&mut hasher);
        }
    }
    let numbered = order.iter().enumerate();
    let threads =
        numbered.map(|(n, index)| (ThreadId::from_index(*index), ThreadId::from_index(n))).collect();
    Canonical { key: hasher.finish128(), names: Names::new(threads, ObjectNames::Same) }
}

/// Where the thread stands. A round is told by its distance from the present one.
fn place(machine: &ScriptMachine, thread: ThreadId) -> At {
    match machine.state.thread(thread).local.at {
        At::BarrierLeave { round } => {
            let (_, Act::Barrier { barrier }) = machine.act(thread) else {
                unreachable!("it is at a barrier")
            };
            At::BarrierLeave { round: machine.state.barriers[usize::from(barrier)].round - round }
        }
        at => at,
    }
}

fn name(state: &State, thread: ThreadId) -> Vec<u32> {
    let thread = state.thread(thread);
    let mut name = thread.created.map_or_else(Vec::new, |(creator, _)| name(state, creator));
    name.push(thread.ordinal);
    name
}
