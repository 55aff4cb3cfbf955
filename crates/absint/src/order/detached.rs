//! Threads that may have been detached: joining one is undefined, and orders nothing.
//!
//! *May*. A thread is detached by its attribute, by itself, or through its handle. A handle is traced to the cell that it is loaded from and
//! to the creations that write this cell; any other handle may be that of any thread.

use super::Input;
use super::places::Places;
use crate::accesses::Kind;
use crate::calls::Call;
use raddle_facts::{Start, ThreadId};
use raddle_ir::{FunctionId, Inst, Operand, SiteId};
use raddle_libmodel::{Arg, Effect, ThreadOp};
use std::collections::BTreeSet;

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
    detached
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
