//! Who calls whom: calls, thread creations, once functions, callbacks and later handlers of the reachable code, with all possible targets.
//!
//! *May*: every function that a site can run is among its targets, as far as points-to resolved it; what it did not is in
//! [`PointsTo::unresolved`].

use crate::components::components;
use raddle_base::{Id, IdVec, SiteId};
use raddle_facts::{ObjectId, ObjectKind, Offsets, PointsTo, Values};
use raddle_ir::{BlockId, CallArg, Callee, FunctionId, Inst, Operand, Program, Reg};
use raddle_libmodel::memory::When;
use raddle_libmodel::{Effect, Meaning, Models};
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
pub struct Calls {
    /// Per function, its calls in program order.
    pub from: IdVec<FunctionId, Vec<Call>>,
    /// Per function, who starts it: caller and position in its list.
    pub to: IdVec<FunctionId, Vec<(FunctionId, usize)>>,
    /// Components over calls that run in the caller's thread, callees first.
    pub bottom_up: Vec<Vec<FunctionId>>,
    pub recursive: IdVec<FunctionId, bool>,
}

/// One call instruction in a reachable block.
#[derive(Clone, Debug)]
pub struct Call {
    pub site: SiteId,
    pub block: BlockId,
    /// Position of the instruction in its block.
    pub index: usize,
    /// Functions of the program that it runs, and how.
    pub runs: Vec<(FunctionId, Way)>,
    /// Modelled functions among the callees; an indirect call can have several callees of both kinds.
    pub effects: Vec<Effect>,
    /// Their names, in the same order.
    pub modelled: Vec<FunctionId>,
    /// Functions without body or model among the callees.
    pub unknown: Vec<FunctionId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// In the calling thread, before the call returns.
    Call,
    /// The same inside the global atomic section.
    AtomicCall,
    /// In the calling thread, any number of times, by the library (`qsort`).
    Callback,
    Thread,
    Once,
    /// Later, on some thread (`atexit`, destructors of keys).
    Handler,
}

impl Way {
    /// Runs inside the caller's activation.
    pub fn is_nested(self) -> bool {
        matches!(self, Way::Call | Way::AtomicCall | Way::Callback)
    }
}

impl Call {
    /// The instruction's arguments and results.
    pub fn parts<'p>(&self, program: &'p Program, function: FunctionId) -> (&'p [Reg], &'p [CallArg]) {
        match &program.functions[function].blocks[self.block].insts[self.index] {
            Inst::Call { dsts, args, .. } => (dsts, args),
            other => unreachable!("a call site holds {other:?}"),
        }
    }
}

impl Calls {
    pub fn new(program: &Program, models: &Models, values: &Values, points_to: &PointsTo) -> Calls {
        let mut from: IdVec<FunctionId, Vec<Call>> = IdVec::new();
        for (id, function) in program.functions.iter() {
            let mut calls = Vec::new();
            for (block_id, block) in function.blocks.iter() {
                if !values.is_reachable(id, block_id) {
                    continue;
                }
                for (index, inst) in block.insts.iter().enumerate() {
                    if let Inst::Call { callee, args, .. } = inst {
                        let at = (block.site_of(index), block_id, index);
                        calls.push(call(models, points_to, id, at, *callee, args));
                    }
                }
            }
            from.push(calls);
        }
        let mut to: IdVec<FunctionId, Vec<(FunctionId, usize)>> =
            program.functions.ids().map(|_| Vec::new()).collect();
        for (caller, calls) in from.iter() {
            for (position, call) in calls.iter().enumerate() {
                for (target, _) in &call.runs {
                    to[*target].push((caller, position));
                }
            }
        }
        let nested = |function: FunctionId| -> Vec<usize> {
            let mut targets: Vec<usize> = from[function]
                .iter()
                .flat_map(|call| call.runs.iter().filter(|(_, way)| way.is_nested()))
                .map(|(target, _)| target.index())
                .collect();
            targets.sort_unstable();
            targets.dedup();
            targets
        };
        let found = components(program.functions.len(), |f| nested(FunctionId::from_index(f)));
        let mut recursive: IdVec<FunctionId, bool> = program.functions.ids().map(|_| false).collect();
        for component in &found {
            let circle =
                component.len() > 1 || nested(FunctionId::from_index(component[0])).contains(&component[0]);
            component.iter().for_each(|f| recursive[FunctionId::from_index(*f)] = circle);
        }
        let bottom_up =
            found.into_iter().map(|c| c.into_iter().map(FunctionId::from_index).collect()).collect();
        Calls { from, to, bottom_up, recursive }
    }

    /// The members of a component and all that they call in their thread.
    pub fn of_component(&self, component: &[FunctionId]) -> Vec<FunctionId> {
        let mut all = component.to_vec();
        for function in component {
            let callees = self.from[*function].iter().flat_map(|call| &call.runs);
            all.extend(callees.filter(|(_, way)| way.is_nested()).map(|(target, _)| *target));
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    pub fn at(&self, function: FunctionId, site: SiteId) -> Option<&Call> {
        let calls = &self.from[function];
        calls.binary_search_by_key(&site, |call| call.site).ok().map(|at| &calls[at])
    }
}

fn call(
    models: &Models,
    points_to: &PointsTo,
    function: FunctionId,
    (site, block, index): (SiteId, BlockId, usize),
    callee: Callee,
    args: &[CallArg],
) -> Call {
    let resolved = points_to.targets.get(&site).map_or(&[][..], Vec::as_slice);
    let direct = match callee {
        Callee::Direct(target) => vec![target],
        Callee::Indirect(operand) => named(points_to, function, operand, resolved),
    };
    let mut call = Call {
        site,
        block,
        index,
        runs: Vec::new(),
        effects: Vec::new(),
        modelled: Vec::new(),
        unknown: Vec::new(),
    };
    for target in direct {
        match &models.meanings[target] {
            Meaning::Body => call.runs.push((target, Way::Call)),
            Meaning::AtomicBody => call.runs.push((target, Way::AtomicCall)),
            Meaning::Unknown => call.unknown.push(target),
            Meaning::Effect(effect, _) => {
                call.effects.push(*effect);
                call.modelled.push(target);
                let memory = effect.memory();
                for callback in &memory.calls {
                    let way = way(effect, callback.when);
                    let argument = args.get(usize::from(callback.function.0)).map(|arg| arg.value);
                    let targets = argument
                        .map_or_else(Vec::new, |operand| named(points_to, function, operand, resolved));
                    let bodies = targets.into_iter().filter(|target| models.meanings[*target].is_body());
                    call.runs.extend(bodies.map(|target| (target, way)));
                }
            }
        }
    }
    call.runs.sort();
    call.runs.dedup();
    call
}

/// Of all functions that a site can run, as callees or called back, those that this operand may be.
fn named(
    points_to: &PointsTo,
    function: FunctionId,
    operand: Operand,
    resolved: &[FunctionId],
) -> Vec<FunctionId> {
    match operand {
        Operand::Reg(_) if resolved.is_empty() => Vec::new(),
        Operand::Reg(reg) => {
            let targets = points_to.targets_of(points_to.regs[function][reg.index()]);
            let of_object = |(object, _): &(ObjectId, Offsets)| match points_to.objects[*object].kind {
                ObjectKind::Function(function) => Some(function),
                _ => None,
            };
            let pointed: BTreeSet<FunctionId> = targets.iter().filter_map(of_object).collect();
            resolved.iter().copied().filter(|target| pointed.contains(target)).collect()
        }
        Operand::Function(named) => resolved.iter().copied().filter(|target| *target == named).collect(),
        Operand::Const(_) | Operand::Global(..) | Operand::Block(_) | Operand::Null | Operand::Undef => {
            Vec::new()
        }
    }
}

fn way(effect: &Effect, when: When) -> Way {
    match (effect, when) {
        (Effect::Once { .. }, _) => Way::Once,
        (_, When::Now) => Way::Callback,
        (_, When::NewThread) => Way::Thread,
        (_, When::ProcessExit | When::ThreadExit) => Way::Handler,
    }
}
