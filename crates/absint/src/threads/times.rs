//! How often a block is executed: once in the run, once per thread, or any number of times.
//!
//! *May*, erring towards often. A function is entered once if one single start leads to it and that is executed once; a block of it
//! then is executed once unless it lies on a cycle.

use crate::Roots;
use crate::calls::Calls;
use crate::cfg::Cfg;
use raddle_base::{Id, IdVec};
use raddle_facts::{Start, ThreadFacts, Times, Values};
use raddle_ir::{FunctionId, Program};

pub(super) fn solve(
    program: &Program,
    roots: &Roots,
    calls: &Calls,
    values: &Values,
    facts: &ThreadFacts,
) -> IdVec<FunctionId, Vec<Times>> {
    let shapes: IdVec<FunctionId, Vec<bool>> = program
        .functions
        .iter()
        .map(|(id, function)| {
            let cfg = Cfg::new(function, |_, to| values.is_reachable(id, to));
            function.blocks.ids().map(|block| cfg.is_cyclic(block)).collect()
        })
        .collect();
    let mut entry: IdVec<FunctionId, Times> = program
        .functions
        .ids()
        .map(|function| if calls.recursive[function] { Times::Many } else { Times::Once })
        .collect();
    // Callers before callees, except for threads that are created by what they call: until nothing grows.
    let mut changed = true;
    while changed {
        changed = false;
        for function in calls.bottom_up.iter().rev().flatten() {
            if entry[*function] == Times::Many {
                continue;
            }
            let now = entry_times(roots, calls, facts, &entry, &shapes, *function).max(entry[*function]);
            if now != entry[*function] {
                entry[*function] = now;
                changed = true;
            }
        }
    }
    program
        .functions
        .ids()
        .map(|function| {
            shapes[function]
                .iter()
                .map(|cyclic| if *cyclic { Times::Many } else { entry[function] })
                .collect()
        })
        .collect()
}

fn entry_times(
    roots: &Roots,
    calls: &Calls,
    facts: &ThreadFacts,
    entry: &IdVec<FunctionId, Times>,
    shapes: &IdVec<FunctionId, Vec<bool>>,
    function: FunctionId,
) -> Times {
    // Constructors are entered by nobody's call, and by calls besides.
    let before_main = roots.constructors.iter().filter(|constructor| **constructor == function);
    let mut nested: Vec<Times> = before_main.map(|_| Times::Once).collect();
    for (caller, position) in &calls.to[function] {
        let call = &calls.from[*caller][*position];
        for (target, way) in &call.runs {
            // However many more there are.
            if nested.len() > 1 {
                return Times::Many;
            }
            if *target == function && way.is_nested() {
                let once = matches!(way, crate::calls::Way::Call | crate::calls::Way::AtomicCall);
                let cyclic = shapes[*caller][call.block.index()];
                nested.push(if once && !cyclic { entry[*caller] } else { Times::Many });
            }
        }
    }
    let started: Vec<bool> = facts
        .threads
        .values()
        .filter(|thread| thread.entry == function)
        .map(|thread| thread.many || matches!(thread.start, Start::Client | Start::Handler(_)))
        .collect();
    match (nested.as_slice(), started.as_slice()) {
        ([], []) => Times::Once,
        ([one], []) => *one,
        ([], [false]) => Times::Once,
        ([], _) => Times::OncePerThread,
        _ => Times::Many,
    }
}
