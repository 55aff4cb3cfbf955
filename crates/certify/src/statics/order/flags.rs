//! Flags: cells of globals that start at zero. Whoever saw another value comes after a write that may put one there, if all such writes
//! release and the read acquires, or by fences, or because one lock is held at all these writes and at the read.

use super::super::accesses::{Access, Kind};
use super::super::calls::Way;
use super::super::code::{At, Code};
use super::super::conditions::{edge_says, nonzero_with};
use super::super::flow::Definition;
use super::super::initial::is_zero;
use super::super::locks::HeldAt;
use super::super::terms::constant_in;
use super::gates::{EdgeOf, Gates, effects};
use raddle_base::Id;
use raddle_facts::{GateId, GateKind, Guard, LockMode, ObjectKind, Offsets, Root, Term};
use raddle_ir::{BlockId, FunctionId, Inst, Operand, Reg, RmwOp, SiteId, Terminator, Ty};
use raddle_libmodel::{Effect, VerifierOp};
use std::collections::{BTreeMap, HashMap};

/// Phis followed from a test back to a read.
const STEPS: usize = 4;

/// An instruction that puts a cell's value into a register, or a register that is not zero if the cell was not.
#[derive(Clone, Copy)]
struct Read {
    at: At,
    cell: Term,
    bytes: u64,
    acquires: bool,
    atomic: bool,
}

/// Where a read was seen not to be zero.
#[derive(Clone, Copy)]
enum Seen {
    Edge(EdgeOf),
    Call(SiteId),
}

pub(super) fn find(code: &Code<'_>, accesses: &[Access<'_>], held: &HeldAt, gates: &mut Gates) {
    let mut flags: BTreeMap<Term, Vec<(GateId, GateKind)>> = BTreeMap::new();
    for (id, gate) in code.facts.order.gates.iter() {
        match gate.kind {
            GateKind::AtomicFlag(cell) | GateKind::FencedFlag(cell) | GateKind::LockedFlag(cell, _) => {
                flags.entry(cell).or_default().push((id, gate.kind));
            }
            GateKind::Started(_) | GateKind::Exited(_) | GateKind::Semaphore(_) => {}
        }
    }
    if flags.is_empty() {
        return;
    }
    let reads = reads(code, accesses, &flags);
    let seen = tests(code, &reads);
    for (cell, list) in &flags {
        let bytes =
            reads.values().filter(|read| read.cell == *cell).map(|read| read.bytes).max().unwrap_or(1);
        let tests: Vec<&(Read, Seen)> = seen.iter().filter(|(read, _)| read.cell == *cell).collect();
        flag(code, accesses, held, gates, *cell, bytes, &tests, list);
    }
}

/// By the register that gets the value.
fn reads(
    code: &Code<'_>,
    accesses: &[Access<'_>],
    flags: &BTreeMap<Term, Vec<(GateId, GateKind)>>,
) -> HashMap<(FunctionId, Reg), Read> {
    let mut found = HashMap::new();
    for access in accesses {
        let function = access.at.function;
        let cell = access.address.and_then(|address| code.term(function, address, Ty::Ptr));
        let Some(cell) = cell.filter(|cell| flags.contains_key(cell)) else { continue };
        let mut read = |reg: Reg, acquires: bool, atomic: bool| {
            let read = Read { at: access.at, cell, bytes: access.bytes, acquires, atomic };
            found.insert((function, reg), read);
        };
        match &code.program.functions[function].blocks[access.at.block].insts[access.at.index] {
            Inst::Load { dst, atomic, .. } => {
                read(*dst, atomic.is_some_and(|order| order.acquires()), atomic.is_some());
            }
            Inst::Rmw { dst, order, .. } => read(*dst, order.acquires(), true),
            Inst::CmpXchg(x) => {
                read(x.old, x.on_success.acquires() && x.on_failure.acquires(), true);
                let expected = constant_in(&code.facts.values, function, x.expected, x.ty);
                if expected.is_some_and(|value| value != 0) {
                    read(x.success, x.on_success.acquires(), true);
                }
            }
            _ => {}
        }
    }
    handed_back(code, &mut found);
    found
}

/// Results of functions that return nothing but what one read gave.
fn handed_back(code: &Code<'_>, found: &mut HashMap<(FunctionId, Reg), Read>) {
    for (function, calls) in code.calls.from.iter() {
        for call in calls {
            let (dsts, _) = call.parts(code, function);
            let ([run], [dst]) = (&call.runs[..], dsts) else { continue };
            if run.way != Way::Call || !call.is_only_bodies() {
                continue;
            }
            let body = &code.program.functions[run.function];
            let mut returned = code.reachable_blocks(run.function).filter_map(|block| {
                match &body.blocks[block].terminator {
                    Terminator::Ret { values } => Some(values.first().copied()),
                    _ => None,
                }
            });
            if let (Some(Some(Operand::Reg(reg))), None) = (returned.next(), returned.next())
                && let Some(read) = found.get(&(run.function, reg)).copied()
            {
                found.insert((function, *dst), read);
            }
        }
    }
}

fn tests(code: &Code<'_>, reads: &HashMap<(FunctionId, Reg), Read>) -> Vec<(Read, Seen)> {
    let mut seen = Vec::new();
    // A register of another function may be of another thread.
    let mut note = |function: FunctionId, said: Vec<Guard>, place: Seen| {
        let mut open = said;
        for _ in 0..STEPS {
            open.retain(|guard| !guard.zero && guard.function == function);
            for guard in &open {
                seen.extend(reads.get(&(guard.function, guard.reg)).map(|read| (*read, place)));
            }
            let before = open.iter().filter_map(|guard| only_nonzero(code, function, guard.reg));
            open = before.flat_map(|value| nonzero_with(code, function, value)).collect();
        }
    };
    for function in code.program.functions.ids() {
        for block in code.reachable_blocks(function) {
            for to in &code.flows[function].successors[block.index()] {
                note(function, edge_says(code, function, block, *to), Seen::Edge((function, block, *to)));
            }
        }
    }
    for (function, call, effect) in effects(code) {
        let Effect::Verifier(VerifierOp::Assume { condition }) = effect else { continue };
        if let Some(arg) = call.parts(code, function).1.get(usize::from(condition.0))
            && super::gates::is_alone(call)
        {
            note(function, nonzero_with(code, function, arg.value), Seen::Call(call.site));
        }
    }
    seen
}

/// The only value of a phi that is not the number zero: it was read, perhaps in an earlier round of a loop, and not zero.
fn only_nonzero(code: &Code<'_>, function: FunctionId, reg: Reg) -> Option<Operand> {
    let Definition::Phi(block) = code.flows[function].definition(reg) else { return None };
    let phi = code.program.functions[function].blocks[block].phis.iter().find(|phi| phi.dst == reg)?;
    let zero = |value: &Operand| matches!(value, Operand::Const(0) | Operand::Null);
    let mut others = phi.incoming.iter().map(|(_, value)| *value).filter(|value| !zero(value));
    let only = others.next()?;
    others.all(|other| other == only).then_some(only)
}

#[allow(clippy::too_many_arguments)]
fn flag(
    code: &Code<'_>,
    accesses: &[Access<'_>],
    held: &HeldAt,
    gates: &mut Gates,
    cell: Term,
    bytes: u64,
    tests: &[&(Read, Seen)],
    list: &[(GateId, GateKind)],
) {
    let object = match cell.root {
        Root::Global(global) => code.object(ObjectKind::Global(global)),
        _ => None,
    };
    let Some(object) = object else { return };
    let setters: Vec<&Access<'_>> = accesses
        .iter()
        .filter(|access| access.is_write() && access.may_touch(object, Offsets::exact(cell.offset), bytes))
        .filter(|access| !stores_zero(code, access))
        .collect();
    let starts_closed = starts_at_zero(code, cell, bytes);
    for (id, kind) in list {
        setters.iter().for_each(|setter| gates.opened(code, *id, setter.at));
        match kind {
            GateKind::AtomicFlag(_) => {
                let released =
                    setters.iter().all(|setter| setter.atomic.is_some_and(|atomic| atomic.release));
                if released && starts_closed {
                    pass(gates, *id, tests.iter().filter(|(read, _)| read.acquires));
                }
            }
            GateKind::LockedFlag(_, lock) => {
                let holds = |at: At, exclusive: bool| {
                    held.get(&at).is_some_and(|held| {
                        held.iter().any(|held| {
                            held.lock == *lock && (!exclusive || held.mode == LockMode::Exclusive)
                        })
                    })
                };
                // Of the write and the read one must exclude the other.
                let guarded = setters.iter().all(|setter| holds(setter.at, false));
                let alone = setters.iter().all(|setter| holds(setter.at, true));
                if guarded && starts_closed && code.is_global(*lock) {
                    pass(gates, *id, tests.iter().filter(|(read, _)| holds(read.at, !alone)));
                }
            }
            _ => fenced(code, gates, *id, &setters, tests, starts_closed),
        }
    }
}

fn pass<'t>(gates: &mut Gates, gate: GateId, tests: impl Iterator<Item = &'t &'t (Read, Seen)>) {
    for (_, seen) in tests {
        match seen {
            Seen::Edge(edge) => gates.on_edge.entry(*edge).or_default().push(gate),
            Seen::Call(site) => gates.passes.entry(*site).or_default().push(gate),
        }
    }
}

/// Every write releases or is dominated by a release fence; whoever is before all of a thread's release fences is before the one that
/// counts. Passed by an acquiring read, or by an acquire fence behind the edge that tests.
fn fenced(
    code: &Code<'_>,
    gates: &mut Gates,
    gate: GateId,
    setters: &[&Access<'_>],
    tests: &[&(Read, Seen)],
    starts_closed: bool,
) {
    let mut fences: Vec<(At, bool, bool)> = Vec::new();
    for (function, body) in code.program.functions.iter() {
        for block in code.reachable_blocks(function) {
            for (index, inst) in body.blocks[block].insts.iter().enumerate() {
                if let Inst::Fence { order } = inst {
                    fences.push((At { function, block, index }, order.releases(), order.acquires()));
                }
            }
        }
    }
    let openers = &code.facts.order.gates[gate].openers;
    for (at, releases, _) in &fences {
        let own = code.facts.threads.runs[at.function].iter().any(|thread| openers.contains(thread));
        if *releases && own {
            gates.opened(code, gate, *at);
        }
    }
    let released = setters.iter().all(|setter| {
        let fence_before = fences.iter().any(|(at, releases, _)| {
            *releases && at.function == setter.at.function && comes_first(code, *at, setter.at)
        });
        setter.atomic.is_some_and(|atomic| atomic.release || fence_before)
    });
    if !released || !starts_closed {
        return;
    }
    for (read, seen) in tests.iter().filter(|(read, _)| read.atomic) {
        let Seen::Edge((function, from, to)) = *seen else { continue };
        if read.acquires {
            gates.on_edge.entry((function, from, to)).or_default().push(gate);
        }
        let flow = &code.flows[function];
        if flow.predecessors[to.index()][..] != [from] || to == BlockId(0) {
            continue;
        }
        for (at, _, acquires) in &fences {
            if *acquires && at.function == function && flow.dominates(to, at.block) {
                gates.passes.entry(code.site(*at)).or_default().push(gate);
            }
        }
    }
}

fn comes_first(code: &Code<'_>, first: At, second: At) -> bool {
    if first.block == second.block {
        return first.index < second.index;
    }
    code.flows[first.function].dominates(first.block, second.block)
}

/// Whether it writes zero, or nothing.
fn stores_zero(code: &Code<'_>, access: &Access<'_>) -> bool {
    let At { function, block, index } = access.at;
    let stored = match (access.kind, &code.program.functions[function].blocks[block].insts[index]) {
        (Kind::Write, _) => access.value,
        (Kind::Update, Inst::Rmw { op: RmwOp::Xchg, value, ty, .. }) => Some((*value, *ty)),
        (Kind::Update, Inst::CmpXchg(x)) => Some((x.new, x.ty)),
        _ => None,
    };
    stored.is_some_and(|(value, ty)| constant_in(&code.facts.values, function, value, ty) == Some(0))
}

fn starts_at_zero(code: &Code<'_>, cell: Term, bytes: u64) -> bool {
    match (cell.root, cell.index) {
        (Root::Global(global), None) => {
            !code.is_set_by_clients(global) && is_zero(code, global, cell.offset, bytes)
        }
        _ => false,
    }
}
