//! Flags: variables that start at zero, are set by one thread and tested by others.
//!
//! Tests are branches and `__VERIFIER_assume`; reads are loads, exchanges and compare-exchanges. Relaxed operations take part through
//! fences: then the opening is the release fence that dominates the store, and the passing an acquire fence after the test.
//!
//! Whoever read a non-zero value comes after the store that wrote it: because the store releases and the load acquires, or because both
//! were done under one lock, at least one of them exclusively: then the store's section was left before the load's was entered. Every write that may put something else than zero there counts as an opening; if one of them neither releases nor
//! holds the lock, there is no gate.

use super::Input;
use super::gates::Gates;
use super::nonzero::shown;
use crate::accesses::{Access, Targets};
use crate::calls::Way;
use crate::cfg::Cfg;
use crate::fast_hash::FastMap;
use crate::published::known_to_clients;
use crate::terms::term_of;
use crate::values;
use raddle_base::{FenceOrder, Id, SiteId};
use raddle_facts::{GateKind, ObjectId, ObjectKind, Offsets, Root, SetId, Term, ThreadId};
use raddle_ir::{BlockId, FunctionId, Inst, Operand, Reg, Terminator};
use raddle_libmodel::{Effect, VerifierOp};
use std::collections::{BTreeMap, HashMap, HashSet};

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
                for reg in shown(id, function, input.definitions, *cond, taken).nonzero {
                    if let Some(load) = loads.get(&(id, reg)).or_else(|| loads.get(&same_as(input, id, reg)?))
                    {
                        load.tested(At::Edge(id, block, to), &mut tests);
                    }
                }
            }
        }
    }
    for (id, list) in input.calls.from.iter() {
        for call in list {
            let (_, args) = call.parts(input.program, id);
            let [Effect::Verifier(VerifierOp::Assume { condition })] = call.effects.as_slice() else {
                continue;
            };
            let Some(arg) = args.get(usize::from(condition.0)) else { continue };
            let shown = shown(id, &input.program.functions[id], input.definitions, arg.value, true);
            for reg in shown.nonzero {
                if let Some(load) = loads.get(&(id, reg)).or_else(|| loads.get(&same_as(input, id, reg)?)) {
                    load.tested(At::Call(call.site), &mut tests);
                }
            }
        }
    }
    let writes = Writes::new(input, tests.keys().filter_map(|(cell, _)| object_of(input, *cell)).collect());
    for ((cell, bytes), tests) in tests {
        gate(input, locks, gates, &writes, (cell, bytes), &tests);
    }
}

fn object_of(input: Input<'_>, cell: Term) -> Option<ObjectId> {
    match cell.root {
        Root::Global(global) => input.holders.objects.of(ObjectKind::Global(global)),
        _ => None,
    }
}

/// Positions of the accesses that may write some objects.
struct Writes {
    by_object: HashMap<ObjectId, Vec<usize>>,
}

impl Writes {
    fn new(input: Input<'_>, wanted: HashSet<ObjectId>) -> Writes {
        let mut by_object: HashMap<ObjectId, Vec<usize>> = HashMap::new();
        // Of each set of pointers, the wanted objects: mostly none.
        let mut known: FastMap<SetId, Vec<ObjectId>> = FastMap::default();
        for (index, access) in input.accesses.iter().enumerate().filter(|(_, access)| access.is_write()) {
            let find = || -> Vec<ObjectId> {
                let objects = access.targets(input.points_to).iter().map(|(object, _)| *object);
                let mut objects: Vec<ObjectId> = objects.filter(|object| wanted.contains(object)).collect();
                objects.dedup();
                objects
            };
            let objects = match access.targets {
                Targets::Set(set) => known.entry(set).or_insert_with(find),
                Targets::List(_) => &find(),
            };
            for object in objects {
                by_object.entry(*object).or_default().push(index);
            }
        }
        Writes { by_object }
    }

    fn of(&self, object: ObjectId) -> &[usize] {
        self.by_object.get(&object).map_or(&[], Vec::as_slice)
    }
}

/// Another register that is known to hold the same value, as when it went through a temporary in memory.
fn same_as(input: Input<'_>, function: FunctionId, reg: Reg) -> Option<(FunctionId, Reg)> {
    let term = term_of(input.values, function, Operand::Reg(reg));
    match (term.root, term.index, term.offset) {
        (Root::Reg(owner, other), None, 0) if owner == function => Some((owner, other)),
        _ => None,
    }
}

/// Where a value was seen not to be zero.
#[derive(Clone, Copy)]
enum At {
    Edge(FunctionId, BlockId, BlockId),
    Call(SiteId),
}

struct Test {
    read: Read,
    at: At,
}

/// An instruction that puts the flag's value into a register.
#[derive(Clone)]
struct Read {
    cell: Term,
    bytes: u64,
    function: FunctionId,
    site: SiteId,
    acquires: bool,
    atomic: bool,
}

impl Read {
    fn tested(&self, at: At, tests: &mut BTreeMap<(Term, u64), Vec<Test>>) {
        tests.entry((self.cell, self.bytes)).or_default().push(Test { read: self.clone(), at });
    }
}

/// Reads of globals' cells that start at zero, by the register that is non-zero if the cell was.
fn loads(input: Input<'_>) -> BTreeMap<(FunctionId, Reg), Read> {
    let mut found = BTreeMap::new();
    let clients = known_to_clients(input.program, input.threads, input.points_to);
    for access in input.accesses {
        let inst = &input.program.functions[access.function].blocks[access.block].insts[access.index];
        let Some(address) = access.address else { continue };
        let cell = term_of(input.values, access.function, address);
        let mut objects = access.targets(input.points_to).iter().map(|(object, _)| object);
        if !starts_at_zero(input, cell, access.bytes) || objects.any(|object| clients.contains(object)) {
            continue;
        }
        let mut read = |reg: Reg, acquires: bool, atomic: bool| {
            let (function, site, bytes) = (access.function, access.site, access.bytes);
            found.insert((function, reg), Read { cell, bytes, function, site, acquires, atomic });
        };
        match inst {
            Inst::Load { dst, atomic, .. } => {
                read(*dst, atomic.is_some_and(|order| order.acquires()), atomic.is_some());
            }
            Inst::Rmw { dst, order, .. } => read(*dst, order.acquires(), true),
            Inst::CmpXchg(x) => {
                read(x.old, x.on_success.acquires() && x.on_failure.acquires(), true);
                let expected = term_of(input.values, access.function, x.expected).as_constant();
                if expected.is_some_and(|value| value != 0) {
                    read(x.success, x.on_success.acquires(), true);
                }
            }
            _ => {}
        }
    }
    handed_back(input, &mut found);
    found
}

/// Results of functions that return what they read of a flag: the caller's test is a test of the flag.
fn handed_back(input: Input<'_>, found: &mut BTreeMap<(FunctionId, Reg), Read>) {
    for (function, list) in input.calls.from.iter() {
        for call in list {
            let (dsts, _) = call.parts(input.program, function);
            let ([(target, Way::Call)], [dst]) = (call.runs.as_slice(), dsts) else { continue };
            if !call.effects.is_empty() || !call.unknown.is_empty() {
                continue;
            }
            let returned: Vec<Option<Reg>> = input.program.functions[*target]
                .blocks
                .iter()
                .filter(|(block, _)| input.values.is_reachable(*target, *block))
                .filter_map(|(_, block)| match &block.terminator {
                    Terminator::Ret { values } => Some(values.first().and_then(|value| match value {
                        Operand::Reg(reg) => Some(*reg),
                        _ => None,
                    })),
                    _ => None,
                })
                .collect();
            if let [Some(reg)] = returned.as_slice()
                && let Some(read) = found.get(&(*target, *reg)).cloned()
            {
                found.insert((function, *dst), read);
            }
        }
    }
}

fn starts_at_zero(input: Input<'_>, cell: Term, bytes: u64) -> bool {
    match (cell.root, cell.index) {
        (Root::Global(global), None) => values::starts_at_zero(input.program, global, cell.offset, bytes),
        _ => false,
    }
}

fn gate(
    input: Input<'_>,
    locks: Option<&LockQuery<'_>>,
    gates: &mut Gates,
    writes: &Writes,
    (cell, bytes): (Term, u64),
    tests: &[Test],
) {
    let Some(object) = object_of(input, cell) else { return };
    let at = Offsets::exact(cell.offset);
    let setters: Vec<&Access> = writes
        .of(object)
        .iter()
        .map(|index| &input.accesses[*index])
        .filter(|access| access.may_touch(input.points_to, object, at, bytes))
        .filter(|access| !stores_zero(input, access))
        .collect();
    let openers: Vec<_> =
        setters.iter().flat_map(|s| input.threads.runs[s.function].iter().copied()).collect();
    let releases = setters.iter().all(|setter| setter.atomic.is_some_and(|atomic| atomic.release));
    let acquired: Vec<&Test> = tests.iter().filter(|test| test.read.acquires).collect();
    if releases && !acquired.is_empty() {
        let gate = gates.add(GateKind::AtomicFlag(cell), openers.clone());
        finish(gates, gate, &setters, &acquired);
    }
    fenced(input, gates, cell, &setters, tests, &openers);
    let Some(locks) = locks else { return };
    // One of the two must hold it exclusively.
    let mut common: Option<Vec<(Term, bool)>> = None;
    for setter in &setters {
        let held = locks(setter.function, setter.site);
        common = Some(match common {
            None => held,
            Some(before) => before
                .into_iter()
                .filter_map(|(lock, exclusive)| {
                    let (_, too) = held.iter().find(|(other, _)| *other == lock)?;
                    Some((lock, exclusive && *too))
                })
                .collect(),
        });
    }
    for (lock, exclusive) in common.unwrap_or_default() {
        let guards = |(held, alone): &(Term, bool)| *held == lock && (exclusive || *alone);
        let guarded: Vec<&Test> = tests
            .iter()
            .filter(|test| locks(test.read.function, test.read.site).iter().any(guards))
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
        match test.at {
            At::Edge(function, from, to) => gates.on_edge.entry((function, from, to)).or_default().push(gate),
            At::Call(site) => gates.passed_at(site, gate),
        }
    }
}

/// Order by fences: every store releases or is dominated by a release fence; some acquire fence comes after a test.
fn fenced(
    input: Input<'_>,
    gates: &mut Gates,
    cell: Term,
    setters: &[&Access],
    tests: &[Test],
    openers: &[ThreadId],
) {
    let shape = |function: FunctionId| {
        Cfg::new(&input.program.functions[function], |_, to| input.values.is_reachable(function, to))
    };
    let mut openings: Vec<(FunctionId, BlockId, usize)> = Vec::new();
    for setter in setters {
        let Some(atomic) = setter.atomic else { return };
        openings.push((setter.function, setter.block, setter.index));
        if atomic.release {
            continue;
        }
        let cfg = shape(setter.function);
        let before = fences(input, setter.function).into_iter().any(|(block, index, order)| {
            order.releases()
                && if block == setter.block {
                    index < setter.index
                } else {
                    cfg.dominates(block, setter.block)
                }
        });
        if !before {
            return;
        }
    }
    let mut passes: Vec<SiteId> = Vec::new();
    let mut at_once: Vec<(FunctionId, BlockId, BlockId)> = Vec::new();
    for test in tests.iter().filter(|test| test.read.atomic) {
        let At::Edge(function, from, to) = test.at else { continue };
        if test.read.acquires {
            at_once.push((function, from, to));
        }
        let cfg = shape(function);
        if cfg.predecessors[to.index()].len() != 1 {
            continue;
        }
        for (block, index, order) in fences(input, function) {
            if order.acquires() && cfg.dominates(to, block) {
                passes.push(input.program.functions[function].blocks[block].site_of(index));
            }
        }
    }
    let relaxed = setters.iter().any(|setter| setter.atomic.is_some_and(|atomic| !atomic.release));
    if passes.is_empty() && (at_once.is_empty() || !relaxed) {
        return;
    }
    let gate = gates.add(GateKind::FencedFlag(cell), openers.to_vec());
    // Whatever comes before a store need not come before its fence: every release fence of the openers counts as an opening.
    for function in input.program.functions.ids() {
        if input.threads.runs[function].iter().any(|thread| openers.contains(thread)) {
            let releasing = fences(input, function).into_iter().filter(|(.., order)| order.releases());
            openings.extend(releasing.map(|(block, index, _)| (function, block, index)));
        }
    }
    for (function, block, index) in openings {
        gates.opened_at(gate, (function, block, index));
        gates.opened_by_access(input.program.functions[function].blocks[block].site_of(index), gate);
    }
    passes.into_iter().for_each(|site| gates.passed_at(site, gate));
    at_once.into_iter().for_each(|edge| gates.on_edge.entry(edge).or_default().push(gate));
}

/// Fences of a function's reachable blocks.
fn fences(input: Input<'_>, function: FunctionId) -> Vec<(BlockId, usize, FenceOrder)> {
    let mut found = Vec::new();
    for (id, block) in input.program.functions[function].blocks.iter() {
        if !input.values.is_reachable(function, id) {
            continue;
        }
        for (index, inst) in block.insts.iter().enumerate() {
            if let Inst::Fence { order } = inst {
                found.push((id, index, *order));
            }
        }
    }
    found
}
