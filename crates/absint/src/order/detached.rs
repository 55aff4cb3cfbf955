//! Threads whose joins order nothing: those that may have been detached (joining one is undefined), and those that may join each other in
//! a circle, where a join fails (`EDEADLK`) instead of waiting.
//!
//! *May*. A thread is detached by its attribute, by itself, or through its handle. A handle is traced to the cell that it is loaded from and
//! to the creations that write this cell; any other handle may be that of any thread, of `main` only if `main` asks for its own.

use super::Input;
use super::places::Places;
use crate::accesses::Kind;
use crate::calls::Call;
use raddle_facts::{Start, ThreadId};
use raddle_ir::{FunctionId, Inst, Operand, SiteId};
use raddle_libmodel::{Arg, Effect, ThreadOp};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a handle.
const HANDLE: u64 = 8;

pub(super) fn find(input: Input<'_>) -> BTreeSet<ThreadId> {
    let mut detached = BTreeSet::new();
    let mut with_attribute: Vec<SiteId> = Vec::new();
    let mut sets_state = false;
    for (function, calls) in input.calls.from.iter() {
        for call in calls {
            let (_, args) = call.parts(input.program, function);
            let operand = |arg: Arg| args.get(usize::from(arg.0)).map_or(Operand::Undef, |arg| arg.value);
            let constant =
                |operand: Operand| crate::terms::term_of(input.values, function, operand).as_constant();
            for effect in &call.effects {
                match *effect {
                    Effect::Thread(ThreadOp::Detach { thread }, _) => {
                        detached.extend(named(input, function, operand(thread)));
                    }
                    Effect::Thread(ThreadOp::Create { attribute: Some(attribute), .. }, _)
                        if constant(operand(attribute)) != Some(0) =>
                    {
                        with_attribute.push(call.site);
                    }
                    Effect::Libc(name) if name.0 == "pthread_attr_setdetachstate" => {
                        sets_state |= constant(operand(Arg(1))) != Some(0);
                    }
                    _ => {}
                }
            }
        }
    }
    if sets_state {
        detached.extend(with_attribute.into_iter().flat_map(|site| created(input, site)));
    }
    detached.extend(in_circles(input));
    detached
}

/// Threads that may come to wait for their own end by joins.
fn in_circles(input: Input<'_>) -> BTreeSet<ThreadId> {
    let calls =
        || input.calls.from.iter().flat_map(|(function, calls)| calls.iter().map(move |c| (function, c)));
    let asks = |effect: &Effect| matches!(effect, Effect::Thread(ThreadOp::SelfId, _));
    let known = |id: ThreadId| {
        input.threads.threads[id].start != Start::Main
            || calls().any(|(function, call)| {
                call.effects.iter().any(asks) && input.threads.runs[function].contains(&id)
            })
    };
    let mut joins: BTreeMap<ThreadId, BTreeSet<ThreadId>> = BTreeMap::new();
    for (function, call) in calls() {
        for effect in &call.effects {
            let Effect::Thread(ThreadOp::Join { thread, .. }, _) = effect else { continue };
            let (_, args) = call.parts(input.program, function);
            let handle = args.get(usize::from(thread.0)).map_or(Operand::Undef, |arg| arg.value);
            let targets: BTreeSet<ThreadId> =
                named(input, function, handle).into_iter().filter(|id| known(*id)).collect();
            for joiner in &input.threads.runs[function] {
                // A thread that joins what it made itself is no circle.
                let own = |target: &&ThreadId| *target != joiner || !is_own(input, function, handle);
                joins.entry(*joiner).or_default().extend(targets.iter().filter(own));
            }
        }
    }
    let all: Vec<ThreadId> = joins.keys().copied().collect();
    all.into_iter().filter(|start| reaches(&joins, *start)).collect()
}

/// Whether the thread is behind itself.
fn reaches(joins: &BTreeMap<ThreadId, BTreeSet<ThreadId>>, start: ThreadId) -> bool {
    let mut seen = BTreeSet::new();
    let mut work = vec![start];
    while let Some(next) = work.pop() {
        for target in joins.get(&next).into_iter().flatten() {
            if *target == start {
                return true;
            }
            if seen.insert(*target) {
                work.push(*target);
            }
        }
    }
    false
}

/// Whether a handle comes from a cell that no other thread can reach.
fn is_own(input: Input<'_>, function: FunctionId, handle: Operand) -> bool {
    let Operand::Reg(reg) = handle else { return false };
    let block = &input.program.functions[function].blocks[input.definitions.block(function, reg)];
    block.insts.iter().any(|inst| match inst {
        Inst::Load { dst, ptr, .. } if *dst == reg => {
            let places = Places::of_operand(input, function, *ptr);
            let list = places.list(input.points_to);
            list.is_some_and(|list| {
                !list.is_empty() && list.iter().all(|(object, _)| !input.threads.shared[*object])
            })
        }
        _ => false,
    })
}

/// The threads whose handle an operand may be.
fn named(input: Input<'_>, function: FunctionId, handle: Operand) -> BTreeSet<ThreadId> {
    let every = || input.threads.threads.ids().collect();
    let Operand::Reg(reg) = handle else { return every() };
    let block = &input.program.functions[function].blocks[input.definitions.block(function, reg)];
    let maker = block.insts.iter().enumerate().find_map(|(index, inst)| {
        let mut makes = false;
        inst.each_dst(|dst| makes |= dst == reg);
        makes.then_some((index, inst))
    });
    match maker {
        Some((_, Inst::Load { ptr, .. })) => {
            let places = Places::of_operand(input, function, *ptr);
            let Some(list) = places.list(input.points_to) else { return every() };
            let mut found = BTreeSet::new();
            for write in input.accesses.iter().filter(|access| access.kind == Kind::Write) {
                if list.iter().any(|(object, at)| write.may_touch(input.points_to, *object, *at, HANDLE)) {
                    let threads = created(input, write.site);
                    if threads.is_empty() {
                        return every();
                    }
                    found.extend(threads);
                }
            }
            found
        }
        Some((index, Inst::Call { .. })) => {
            let is_self = |call: &Call| {
                matches!(call.effects[..], [Effect::Thread(ThreadOp::SelfId, _)]) && call.runs.is_empty()
            };
            match input.calls.at(function, block.site_of(index)) {
                Some(call) if is_self(call) => input.threads.runs[function].iter().copied().collect(),
                _ => every(),
            }
        }
        _ => every(),
    }
}

fn created(input: Input<'_>, site: SiteId) -> Vec<ThreadId> {
    let threads = input.threads.threads.iter();
    threads.filter(|(_, thread)| thread.start == Start::Created(site)).map(|(id, _)| id).collect()
}
