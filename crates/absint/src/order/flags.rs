//! Flags: variables that start at zero, are set by one thread and tested by others.
//!
//! Whoever read a non-zero value comes after the store that wrote it: because the store releases and the load acquires, or because both
//! were done under one lock. Every write that may put something else than zero there counts as an opening; if one of them neither releases nor
//! holds the lock, there is no gate.

use super::Input;
use super::gates::Gates;
use super::nonzero::shown_nonzero;
use crate::accesses::{Access, Kind};
use crate::terms::term_of;
use raddle_base::SiteId;
use raddle_facts::{GateKind, ObjectKind, Offsets, Root, Term};
use raddle_ir::{FunctionId, Inst, Operand, Reg, Terminator};
use std::collections::BTreeMap;

/// The locks held right before a site: term and whether exclusively. Only global terms.
pub type LockQuery<'a> = dyn Fn(FunctionId, SiteId) -> Vec<(Term, bool)> + 'a;

pub(super) fn find(input: Input<'_>, locks: Option<&LockQuery<'_>>, gates: &mut Gates) {
    // Edges that show a loaded value to be non-zero, by cell.
    let mut tests: BTreeMap<(Term, u64), Vec<Test>> = BTreeMap::new();
    let loads = loads(input);
    if loads.is_empty() {
        return;
    }
    for (id, function) in input.program.functions.iter() {
        for (block, code) in function.blocks.iter() {
            let Terminator::CondBr { cond, then, other } = &code.terminator else { continue };
            if !input.values.is_reachable(id, block) || then == other {
                continue;
            }
            for (to, taken) in [(*then, true), (*other, false)] {
                for reg in shown_nonzero(id, function, input.definitions, *cond, taken) {
                    if let Some(load) = loads.get(&(id, reg)) {
                        let cell = term_of(input.values, id, load.address.expect("loads have an address"));
                        let test = Test { load: (*load).clone(), edge: (id, block, to) };
                        tests.entry((cell, load.bytes)).or_default().push(test);
                    }
                }
            }
        }
    }
    for ((cell, bytes), tests) in tests {
        gate(input, locks, gates, cell, bytes, &tests);
    }
}

struct Test {
    load: Access,
    edge: (FunctionId, raddle_ir::BlockId, raddle_ir::BlockId),
}

/// Loads of whole globals' cells that start at zero, by their register.
fn loads(input: Input<'_>) -> BTreeMap<(FunctionId, Reg), &Access> {
    input
        .accesses
        .iter()
        .filter(|access| access.kind == Kind::Read)
        .filter_map(|access| {
            let inst = &input.program.functions[access.function].blocks[access.block].insts[access.index];
            let Inst::Load { dst, ptr, .. } = inst else { return None };
            let cell = term_of(input.values, access.function, *ptr);
            starts_at_zero(input, cell, access.bytes).then_some(((access.function, *dst), access))
        })
        .collect()
}

fn starts_at_zero(input: Input<'_>, cell: Term, bytes: u64) -> bool {
    let (Root::Global(global), None) = (cell.root, cell.index) else { return false };
    let global = &input.program.globals[global];
    let Ok(start) = u64::try_from(cell.offset) else { return false };
    let Some(init) = &global.init else { return false };
    let end = start.saturating_add(bytes);
    let covered = |at: u64| at >= start && at < end;
    !global.thread_local
        && end <= global.bytes
        && init.data.iter().enumerate().all(|(at, byte)| *byte == 0 || !covered(at as u64))
        && init.relocations.iter().all(|relocation| {
            let word = u64::from(input.program.data_model.pointer_bytes());
            relocation.offset >= end || relocation.offset + word <= start
        })
}

fn gate(
    input: Input<'_>,
    locks: Option<&LockQuery<'_>>,
    gates: &mut Gates,
    cell: Term,
    bytes: u64,
    tests: &[Test],
) {
    let Root::Global(global) = cell.root else { return };
    let Some(object) = gates.objects.of(ObjectKind::Global(global)) else { return };
    let at = Offsets::exact(cell.offset);
    let setters: Vec<&Access> = input
        .accesses
        .iter()
        .filter(|access| access.is_write() && access.may_touch(input.points_to, object, at, bytes))
        .filter(|access| !stores_zero(input, access))
        .collect();
    let openers: Vec<_> =
        setters.iter().flat_map(|s| input.threads.runs[s.function].iter().copied()).collect();
    let releases = setters.iter().all(|setter| setter.atomic.is_some_and(|atomic| atomic.release));
    let acquired: Vec<&Test> =
        tests.iter().filter(|test| test.load.atomic.is_some_and(|atomic| atomic.acquire)).collect();
    if releases && !acquired.is_empty() {
        let gate = gates.add(GateKind::AtomicFlag(cell), openers.clone());
        finish(gates, gate, &setters, &acquired);
    }
    let Some(locks) = locks else { return };
    let mut common: Option<Vec<Term>> = None;
    for setter in &setters {
        let held: Vec<Term> = locks(setter.function, setter.site)
            .into_iter()
            .filter(|(_, exclusive)| *exclusive)
            .map(|(lock, _)| lock)
            .collect();
        common = Some(match common {
            None => held,
            Some(before) => before.into_iter().filter(|lock| held.contains(lock)).collect(),
        });
    }
    for lock in common.unwrap_or_default() {
        let guarded: Vec<&Test> = tests
            .iter()
            .filter(|test| locks(test.load.function, test.load.site).iter().any(|(held, _)| *held == lock))
            .collect();
        if !guarded.is_empty() {
            let gate = gates.add(GateKind::LockedFlag(cell, lock), openers.clone());
            finish(gates, gate, &setters, &guarded);
        }
    }
}

fn stores_zero(input: Input<'_>, access: &Access) -> bool {
    match access.value {
        Some(Operand::Null) => true,
        Some(value) => term_of(input.values, access.function, value).as_constant() == Some(0),
        None => false,
    }
}

fn finish(gates: &mut Gates, gate: raddle_facts::GateId, setters: &[&Access], tests: &[&Test]) {
    for setter in setters {
        gates.opened_at(gate, (setter.function, setter.block, setter.index));
        gates.opened_by_access(setter.site, gate);
    }
    for test in tests {
        gates.on_edge.entry(test.edge).or_default().push(gate);
    }
}
