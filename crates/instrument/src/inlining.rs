//! Which checks are inlined: all of them in ordinary functions; in large ones those in the deepest loops, up to a budget.
//!
//! An inlined check is some forty bytes. A function with thousands of accesses would grow to several times its size, and the time of
//! code generation with it, for code that mostly runs once in a while.

use std::collections::HashSet;

use crate::body::Body;
use crate::graph::Graph;
use crate::llvm::{Module, Value};

/// Inlined checks of one function at most.
const BUDGET: usize = 48;

/// Marks the calls of functions that are to be inlined and are not.
pub(crate) fn limit<'a>(module: &Module, inlined: impl Iterator<Item = &'a String>) {
    let inlined: HashSet<Value> = inlined.filter_map(|name| module.function(name)).collect();
    for function in module.functions() {
        if function.is_declaration() {
            continue;
        }
        let body = Body::read(function);
        let mut calls: Vec<(usize, Value)> = Vec::new();
        for (block, instructions) in body.instructions.iter().enumerate() {
            let checks = instructions
                .iter()
                .filter(|inst| inst.direct_callee().is_some_and(|callee| inlined.contains(&callee)));
            calls.extend(checks.map(|call| (block, *call)));
        }
        if calls.len() <= BUDGET {
            continue;
        }
        let graph = Graph::of(&body);
        calls.sort_by_cached_key(|(block, _)| std::cmp::Reverse(graph.depth(*block)));
        for (_, call) in &calls[BUDGET..] {
            module.set_call_attribute(*call, "noinline");
        }
    }
}
