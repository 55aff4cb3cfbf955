//! Who names whom: direct calls and the start functions of threads, on the original program.

use crate::components::components;
use raddle_base::{Id, IdVec, SiteId};
use raddle_ir::expand::{Body, Slot};
use raddle_ir::{Callee, Function, FunctionId, Inst, Operand, Program, SymbolRef};
use raddle_libmodel::{Effect, Meaning, Models, ThreadOp};
use std::collections::BTreeSet;

pub(super) struct CallGraph {
    /// Instructions and terminators.
    pub size: IdVec<FunctionId, usize>,
    /// Functions with a body to run that each calls or starts.
    pub named: IdVec<FunctionId, BTreeSet<FunctionId>>,
    pub recursive: IdVec<FunctionId, bool>,
    /// Roots, then functions whose address is known elsewhere than to a thread creation: all keep their one original body.
    pub first: Vec<FunctionId>,
    /// Reached from `first`, nearest first.
    pub order: Vec<FunctionId>,
    /// Run by the main thread only, before and after it too.
    pub main_only: BTreeSet<FunctionId>,
}

/// A slot of a call site that names a function with a body to run.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub site: SiteId,
    pub path: Vec<u32>,
    pub slot: Slot,
    pub function: FunctionId,
}

impl CallGraph {
    pub fn new(program: &Program, models: &Models, roots: &[FunctionId]) -> CallGraph {
        let runs = |f: FunctionId| runs_body(program, models, f);
        let mut called: IdVec<FunctionId, BTreeSet<FunctionId>> = IdVec::new();
        let mut started: IdVec<FunctionId, BTreeSet<FunctionId>> = IdVec::new();
        for function in program.functions.values() {
            let (mut calls, mut starts) = (BTreeSet::new(), BTreeSet::new());
            each_named(program, models, function, |slot, target| match slot {
                Slot::Callee => calls.insert(target),
                Slot::Argument(_) => starts.insert(target),
            });
            called.push(calls);
            started.push(starts);
        }
        let mut first: Vec<FunctionId> = Vec::new();
        let elsewhere = addresses_elsewhere(program, models);
        for f in roots.iter().copied().chain(elsewhere.iter().copied()).filter(|f| runs(*f)) {
            if !first.contains(&f) {
                first.push(f);
            }
        }
        let successors = |f: usize| -> Vec<usize> {
            called[FunctionId::from_index(f)].iter().map(|target| target.index()).collect()
        };
        let mut recursive: IdVec<FunctionId, bool> = program.functions.ids().map(|_| false).collect();
        for component in components(program.functions.len(), successors) {
            let circle = component.len() > 1 || successors(component[0]).contains(&component[0]);
            component.iter().for_each(|f| recursive[FunctionId::from_index(*f)] = circle);
        }
        let main = program.function_by_symbol("main");
        let of_main = |f: &FunctionId| {
            Some(*f) == main || program.constructors.contains(f) || program.destructors.contains(f)
        };
        let (by_main, by_others): (Vec<FunctionId>, Vec<FunctionId>) =
            first.iter().copied().partition(|f| of_main(f) && !elsewhere.contains(f));
        let all_started = started.values().flatten().copied();
        let others = reach(by_others.into_iter().chain(all_started).collect(), &called);
        let main_only = reach(by_main, &called).into_iter().collect::<BTreeSet<_>>();
        let main_only = &main_only - &others.into_iter().collect();
        let named: IdVec<FunctionId, BTreeSet<FunctionId>> =
            called.values().zip(started.values()).map(|(a, b)| a | b).collect();
        CallGraph {
            size: program.functions.values().map(size).collect(),
            order: reach(first.clone(), &named),
            named,
            recursive,
            first,
            main_only,
        }
    }
}

fn size(function: &Function) -> usize {
    function.blocks.values().map(|block| block.insts.len() + 1).sum()
}

/// The slots of a body that name functions with a body to run, in layout order.
pub(super) fn slots(program: &Program, models: &Models, body: &Body, original: &Function) -> Vec<Named> {
    let mut found = Vec::new();
    for (id, block) in body.function().blocks.iter() {
        let origin = body.origin(id);
        let first = &original.blocks[origin.block];
        for (index, inst) in block.insts.iter().enumerate() {
            each_slot(program, models, inst, |slot, function| {
                let (site, path) = (first.site_of(index), origin.iterations.clone());
                found.push(Named { site, path, slot, function });
            });
        }
    }
    found
}

/// What a direct call does when it does not run a body.
pub(super) fn effect_of(models: &Models, inst: &Inst) -> Option<Effect> {
    let Inst::Call { callee: Callee::Direct(callee), .. } = inst else { return None };
    match models.meanings[*callee] {
        Meaning::Effect(effect, _) => Some(effect),
        Meaning::Body | Meaning::AtomicBody | Meaning::Unknown => None,
    }
}

fn runs_body(program: &Program, models: &Models, function: FunctionId) -> bool {
    program.functions[function].is_defined()
        && matches!(models.meanings[function], Meaning::Body | Meaning::AtomicBody)
}

fn each_named<T>(
    program: &Program,
    models: &Models,
    function: &Function,
    mut visit: impl FnMut(Slot, FunctionId) -> T,
) {
    for inst in function.blocks.values().flat_map(|block| &block.insts) {
        each_slot(program, models, inst, |slot, target| {
            visit(slot, target);
        });
    }
}

fn each_slot(program: &Program, models: &Models, inst: &Inst, mut visit: impl FnMut(Slot, FunctionId)) {
    let Inst::Call { callee: Callee::Direct(callee), args, .. } = inst else { return };
    if runs_body(program, models, *callee) {
        visit(Slot::Callee, *callee);
    }
    let Some(start) = start_argument(models, inst) else { return };
    if let Some(Operand::Function(function)) = args.get(start).map(|arg| arg.value)
        && runs_body(program, models, function)
    {
        visit(Slot::Argument(start as u32), function);
    }
}

/// The argument that is the start function of a new thread.
fn start_argument(models: &Models, inst: &Inst) -> Option<usize> {
    match effect_of(models, inst)? {
        Effect::Thread(ThreadOp::Create { function, .. } | ThreadOp::CreateReturning { function, .. }, _) => {
            Some(usize::from(function.0))
        }
        _ => None,
    }
}

/// Functions whose address is in an initialiser or an operand other than the start function of a new thread.
fn addresses_elsewhere(program: &Program, models: &Models) -> BTreeSet<FunctionId> {
    let mut found = BTreeSet::new();
    for global in program.globals.values() {
        for relocation in global.init.iter().flat_map(|init| &init.relocations) {
            if let SymbolRef::Function(function) = relocation.target {
                found.insert(function);
            }
        }
    }
    let mut see = |operand: Operand| {
        if let Operand::Function(function) = operand {
            found.insert(function);
        }
    };
    for block in program.functions.values().flat_map(|function| function.blocks.values()) {
        block.phis.iter().flat_map(|phi| &phi.incoming).for_each(|(_, value)| see(*value));
        block.terminator.each_operand(&mut see);
        for inst in &block.insts {
            match (inst, start_argument(models, inst)) {
                (Inst::Call { args, .. }, Some(start)) => args
                    .iter()
                    .enumerate()
                    .filter(|(index, _)| *index != start)
                    .for_each(|(_, arg)| see(arg.value)),
                _ => inst.each_operand(&mut see),
            }
        }
    }
    found
}

/// The functions and all that they name, nearest first.
fn reach(mut order: Vec<FunctionId>, named: &IdVec<FunctionId, BTreeSet<FunctionId>>) -> Vec<FunctionId> {
    let mut seen = BTreeSet::new();
    order.retain(|f| seen.insert(*f));
    let mut next = 0;
    while let Some(f) = order.get(next).copied() {
        next += 1;
        order.extend(named[f].iter().copied().filter(|target| seen.insert(*target)));
    }
    order
}
