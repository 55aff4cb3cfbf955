//! *May*: threads that are detached, by their attribute, by themselves or through their handle, and threads that join each other in a circle, so
//! that a join fails with `EDEADLK`. Joining one of them shows nothing.

use super::super::accesses::{Access, Kind};
use super::super::code::{At, Code};
use super::super::flow::Definition;
use super::gates::effects;
use raddle_facts::{Start, ThreadId};
use raddle_ir::{FunctionId, Inst, Operand, SiteId};
use raddle_libmodel::{Arg, Effect, ThreadOp};
use std::collections::BTreeSet;

/// Bytes of a handle.
const HANDLE: u64 = 8;

pub(super) fn find(code: &Code<'_>, accesses: &[Access<'_>]) -> BTreeSet<ThreadId> {
    let mut found = BTreeSet::new();
    let is_zero = |function: FunctionId, site: SiteId, arg: Arg| {
        let args = code.calls.at(function, site).map(|call| call.parts(code, function).1);
        let arg = args.and_then(|args| args.get(usize::from(arg.0)));
        arg.and_then(|arg| code.term(function, arg.value, arg.ty)?.as_constant()) == Some(0)
    };
    let detaches_by_attribute = effects(code).any(|(function, call, effect)| {
        matches!(effect, Effect::Libc(name) if name.0 == "pthread_attr_setdetachstate")
            && !is_zero(function, call.site, Arg(1))
    });
    for (function, call, effect) in effects(code) {
        match *effect {
            Effect::Thread(ThreadOp::Detach { thread }, _) => {
                let handle = call.parts(code, function).1.get(usize::from(thread.0));
                found.extend(meant(code, accesses, function, handle.map_or(Operand::Undef, |arg| arg.value)));
            }
            Effect::Thread(ThreadOp::Create { attribute: Some(attribute), .. }, _)
                if detaches_by_attribute && !is_zero(function, call.site, attribute) =>
            {
                found.extend(created_at(code, call.site));
            }
            _ => {}
        }
    }
    found.extend(circles(code, accesses));
    found
}

/// Threads for whose end threads may wait that they wait for.
fn circles(code: &Code<'_>, accesses: &[Access<'_>]) -> BTreeSet<ThreadId> {
    let threads = &code.facts.threads;
    let mut waits: BTreeSet<(ThreadId, ThreadId)> = BTreeSet::new();
    // Whose handles can be known without a creation that stores them.
    let mut own: BTreeSet<ThreadId> = BTreeSet::new();
    for (function, _, effect) in effects(code) {
        if let Effect::Thread(ThreadOp::SelfId, _) = effect {
            own.extend(&threads.runs[function]);
        }
    }
    for (function, call, effect) in effects(code) {
        let Effect::Thread(ThreadOp::Join { thread, .. }, _) = effect else { continue };
        let handle = call.parts(code, function).1.get(usize::from(thread.0));
        let handle = handle.map_or(Operand::Undef, |arg| arg.value);
        for target in meant(code, accesses, function, handle) {
            if threads.threads[target].start == Start::Main && !own.contains(&target) {
                continue;
            }
            for waiting in &threads.runs[function] {
                if *waiting != target || !is_kept(code, function, handle) {
                    waits.insert((*waiting, target));
                }
            }
        }
    }
    loop {
        let more: Vec<(ThreadId, ThreadId)> = waits
            .iter()
            .flat_map(|(a, b)| {
                waits.range((*b, ThreadId(0))..).take_while(move |(c, _)| c == b).map(|(_, d)| (*a, *d))
            })
            .filter(|pair| !waits.contains(pair))
            .collect();
        if more.is_empty() {
            break;
        }
        waits.extend(more);
    }
    waits.into_iter().filter(|(a, b)| a == b).map(|(a, _)| a).collect()
}

/// Whether the handle was loaded from memory that one thread alone can reach: of what that thread created.
fn is_kept(code: &Code<'_>, function: FunctionId, handle: Operand) -> bool {
    let Operand::Reg(reg) = handle else { return false };
    let Definition::Inst(block, index) = code.flows[function].definition(reg) else { return false };
    let Inst::Load { ptr, .. } = &code.program.functions[function].blocks[block].insts[index] else {
        return false;
    };
    let cells = code.pointees(function, *ptr);
    !cells.is_empty() && cells.iter().all(|(object, _)| !code.facts.threads.shared[*object])
}

/// The threads that a handle may be of: those whose creations are all that writes the cell that it comes from, or whoever asks for his own.
fn meant(
    code: &Code<'_>,
    accesses: &[Access<'_>],
    function: FunctionId,
    handle: Operand,
) -> BTreeSet<ThreadId> {
    let all = || code.facts.threads.threads.ids().collect();
    let Operand::Reg(reg) = handle else { return all() };
    let Definition::Inst(block, index) = code.flows[function].definition(reg) else { return all() };
    match &code.program.functions[function].blocks[block].insts[index] {
        Inst::Load { ptr, .. } => {
            let cell = code.pointees(function, *ptr);
            let writes = accesses.iter().filter(|access| access.is_write() && access.kind != Kind::Free);
            let mut found = BTreeSet::new();
            for access in writes {
                if cell.iter().any(|(object, at)| access.may_touch(*object, *at, HANDLE)) {
                    let threads: Vec<ThreadId> = created_at(code, access.site).collect();
                    if threads.is_empty() {
                        return all();
                    }
                    found.extend(threads);
                }
            }
            if cell.is_empty() { all() } else { found }
        }
        Inst::Call { .. } => {
            let site = code.site(At { function, block, index });
            match code.calls.at(function, site).map(|call| (&call.effects[..], &call.runs[..])) {
                Some(([(_, Effect::Thread(ThreadOp::SelfId, _))], [])) => {
                    code.facts.threads.runs[function].iter().copied().collect()
                }
                _ => all(),
            }
        }
        _ => all(),
    }
}

fn created_at<'c>(code: &'c Code<'_>, site: SiteId) -> impl Iterator<Item = ThreadId> + 'c {
    let threads = code.facts.threads.threads.iter();
    threads.filter(move |(_, thread)| thread.start == Start::Created(site)).map(|(id, _)| id)
}
