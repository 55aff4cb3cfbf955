//! Loops that wait for a condition, told to the runtime where they begin and where they end (2015 paper, section 3).
//!
//! `while (!ready) pthread_cond_wait(&c, &m);` waits for a signal also when `ready` was set before and the wait is never reached. So the
//! loop itself is marked: the innermost loop around each call that waits. The condition variable and the mutex are told where they can be
//! computed before the loop. A function that waits outside of a loop counts as a wait where it is called; calls through pointers do
//! not. A loop that is entered by an edge among others is not marked. Errs to marks that are missing; they order nothing.

use std::collections::HashSet;

use inkwell::llvm_sys::LLVMOpcode;

use crate::body::Body;
use crate::emit::Emitter;
use crate::graph::{Graph, Loop};
use crate::hooks::library_name;
use crate::llvm::{Module, Value};
use crate::marks::{Marks, Role};

/// The condition variable is the first argument of each.
const WAITS: [&str; 6] = [
    "pthread_cond_wait",
    "pthread_cond_timedwait",
    "pthread_cond_clockwait",
    "cnd_wait",
    "cnd_timedwait",
    // std::condition_variable::wait(std::unique_lock<std::mutex> &)
    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE",
];

/// Functions that wait once, and not in a loop of their own.
pub(crate) struct Waits(HashSet<Value>);

impl Waits {
    pub(crate) fn find(module: &Module, functions: &[Value]) -> Waits {
        let mut waits = Waits(HashSet::new());
        if !module.functions().into_iter().any(is_wait) {
            return waits;
        }
        let callers: Vec<(Value, Body)> = functions
            .iter()
            .map(|function| (*function, Body::read(*function)))
            .filter(|(_, body)| body.instructions.iter().flatten().any(|inst| inst.direct_callee().is_some()))
            .collect();
        loop {
            let known = waits.0.len();
            for (function, body) in &callers {
                if waits.0.contains(function) || waits.calls(body).next().is_none() {
                    continue;
                }
                let graph = Graph::of(body);
                if waits.calls(body).any(|(block, _)| graph.innermost(block).is_none()) {
                    waits.0.insert(*function);
                }
            }
            if waits.0.len() == known {
                return waits;
            }
        }
    }

    /// Calls that wait, with their blocks.
    fn calls<'a>(&'a self, body: &'a Body) -> impl Iterator<Item = (usize, Value)> + 'a {
        let all = body.instructions.iter().enumerate();
        all.flat_map(|(block, list)| list.iter().map(move |inst| (block, *inst))).filter(|(_, inst)| {
            inst.direct_callee()
                .is_some_and(|callee| is_wait(callee) || (callee.is_exact() && self.0.contains(&callee)))
        })
    }
}

pub(crate) fn instrument(emitter: &Emitter<'_>, body: &Body, waits: &Waits, marks: &mut Marks) {
    let calls: Vec<(usize, Value)> = waits.calls(body).collect();
    if calls.is_empty() {
        return;
    }
    let graph = Graph::of(body);
    let mut done = HashSet::new();
    for (block, call) in calls {
        let Some(index) = graph.innermost(block).filter(|index| done.insert(*index)) else { continue };
        mark(emitter, body, &graph.loops[index], call, marks);
    }
}

fn mark(emitter: &Emitter<'_>, body: &Body, area: &Loop, call: Value, marks: &mut Marks) {
    let before: Vec<usize> =
        body.predecessors[area.header].iter().copied().filter(|block| !area.contains(*block)).collect();
    if before.iter().any(|block| body.successors[*block] != [area.header]) {
        return;
    }
    let builder = &emitter.builder;
    let site = marks.site(emitter.module, call, Role::Call);
    let named = call.direct_callee().is_some_and(is_wait);
    for block in before {
        let Some(end) = body.instructions[block].last() else { continue };
        builder.before_at(*end, call.location());
        let argument = |index: u32| {
            let value = call.operand(index).filter(|value| named && value.ty().is_plain_pointer());
            let early = value.and_then(|value| early(emitter, body, area, value));
            early.unwrap_or_else(|| builder.null())
        };
        // `std::condition_variable` takes something that knows the mutex.
        let is_c =
            call.argument_count() > 1 && call.direct_callee().is_none_or(|callee| callee.name() != WAITS[5]);
        let cond = argument(0);
        let mutex = if is_c { argument(1) } else { builder.null() };
        builder.call(emitter.hooks.loop_begin, &[cond, mutex, emitter.site(site)]);
    }
    let mut targets: Vec<usize> = area.exits(body).into_iter().map(|(_, to)| to).collect();
    targets.sort_unstable();
    targets.dedup();
    for target in targets {
        if let Some(point) = body.blocks[target].first_insertion_point() {
            builder.before_at(point, call.location());
            builder.call(emitter.hooks.loop_end, &[emitter.site(site)]);
        }
    }
}

/// An address as it is before the loop, if that can be told: known there, or a part of something that is.
fn early(emitter: &Emitter<'_>, body: &Body, area: &Loop, value: Value) -> Option<Value> {
    let Some(block) = body.block_of(value) else { return Some(value) };
    if !area.contains(block) {
        return Some(value);
    }
    if !value.is(LLVMOpcode::LLVMGetElementPtr) {
        return None;
    }
    let operands = (0..value.operand_count()).map(|index| early(emitter, body, area, value.operand(index)?));
    let operands: Option<Vec<Value>> = operands.collect();
    Some(emitter.builder.copy_with(value, &operands?))
}

fn is_wait(callee: Value) -> bool {
    callee.is_declaration() && WAITS.contains(&library_name(&callee.name()))
}
