//! A hash of a script's state that does not depend on the order in which threads were created.
//!
//! A thread is named by its place in the tree of creations: its creator's name and the how-manieth child it is. What a thread sleeps
//! on is part of the state, because it decides which choices are open.

use super::state::{At, State};
use raddle_base::StableHasher;
use raddle_event::ThreadId;
use std::hash::Hash;

pub(super) fn fingerprint(state: &State) -> u128 {
    let names: Vec<Vec<u32>> =
        (0..state.threads.len() as u32).map(|thread| name(state, ThreadId(thread))).collect();
    let named = |thread: ThreadId| &names[thread.0 as usize];
    let mut hasher = StableHasher::new();
    state.memory.hash(&mut hasher);
    state.sems.hash(&mut hasher);
    state.onces.hash(&mut hasher);
    for barrier in &state.barriers {
        (barrier.arrived, barrier.round).hash(&mut hasher);
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
    for index in order {
        let thread = &state.threads[index];
        (&names[index], thread.function, thread.local.at).hash(&mut hasher);
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
    hasher.finish128()
}

fn name(state: &State, thread: ThreadId) -> Vec<u32> {
    let thread = state.thread(thread);
    let mut name = thread.created.map_or_else(Vec::new, |(creator, _)| name(state, creator));
    name.push(thread.ordinal);
    name
}
