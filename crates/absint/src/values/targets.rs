//! Which functions of the program a call may run, with what arguments, and which functions are recursive.
//!
//! *May*. Without points-to every function whose address is taken is a target of every call that is not direct; with it, those that
//! [`PointsTo::targets`] lists.

use crate::components::components;
use raddle_base::{Id, IdVec, SiteId};
use raddle_facts::{PointsTo, Root, Term};
use raddle_ir::{Callee, FunctionId, Inst, Operand, Program, SymbolRef};
use raddle_libmodel::memory::{Value, When};
use raddle_libmodel::{Meaning, MemoryEffect, Models};
use std::collections::BTreeSet;

pub(crate) struct Targets<'a> {
    program: &'a Program,
    models: &'a Models,
    points_to: Option<&'a PointsTo>,
    /// Functions whose address is taken, that have a body to run.
    pub address_taken: Vec<FunctionId>,
    unresolved: BTreeSet<SiteId>,
    /// Can be on the stack twice.
    pub recursive: IdVec<FunctionId, bool>,
    /// Callees before callers.
    pub rank: IdVec<FunctionId, u32>,
}

/// A function that a call runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    pub function: FunctionId,
    pub nested: Nested,
    /// Positions of the call's arguments that become the parameters, in order; `None`: anything. Parameters beyond: anything.
    pub passes: Vec<Option<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nested {
    /// Once per execution of the call, inside it.
    Inside,
    /// Elsewhere, later or several times.
    Apart,
}

impl<'a> Targets<'a> {
    pub fn new(program: &'a Program, models: &'a Models, points_to: Option<&'a PointsTo>) -> Targets<'a> {
        let mut targets = Targets {
            program,
            models,
            points_to,
            address_taken: Vec::new(),
            unresolved: points_to.iter().flat_map(|p| &p.unresolved).map(|(site, _)| *site).collect(),
            recursive: program.functions.ids().map(|_| false).collect(),
            rank: program.functions.ids().map(|_| 0).collect(),
        };
        targets.address_taken = targets.find_address_taken();
        targets.find_recursion();
        targets
    }

    /// `term` is what is known of a callee or function argument: at this time and for good. `None`: any function whose address is
    /// taken, with any arguments.
    pub fn of_call(
        &self,
        site: SiteId,
        callee: Callee,
        arguments: usize,
        term: impl Fn(Operand) -> Option<Term>,
        argument: impl Fn(usize) -> Option<Operand>,
    ) -> Option<Vec<Run>> {
        let mut runs = Vec::new();
        let callees = match callee {
            Callee::Direct(function) => vec![function],
            Callee::Indirect(operand) => self.pointed(site, term(operand))?,
        };
        for function in callees {
            match &self.models.meanings[function] {
                Meaning::Body | Meaning::AtomicBody => {
                    if self.program.functions[function].is_defined() {
                        let passes = (0..arguments).map(Some).collect();
                        runs.push(Run { function, nested: Nested::Inside, passes });
                    }
                }
                Meaning::Effect(effect, _) => {
                    self.callbacks(&mut runs, site, &effect.memory(), &term, &argument)?;
                }
                Meaning::Unknown => {
                    let told = self.points_to.and_then(|p| p.targets.get(&site));
                    let named = (0..arguments).filter_map(&argument).filter_map(|operand| match operand {
                        Operand::Function(function) => Some(function),
                        _ => None,
                    });
                    let all = told.into_iter().flatten().copied().chain(named);
                    let apart = |function| Run { function, nested: Nested::Apart, passes: Vec::new() };
                    runs.extend(all.filter(|f| self.runs_body(*f)).map(apart));
                }
            }
        }
        Some(runs)
    }

    fn callbacks(
        &self,
        runs: &mut Vec<Run>,
        site: SiteId,
        memory: &MemoryEffect,
        term: impl Fn(Operand) -> Option<Term>,
        argument: impl Fn(usize) -> Option<Operand>,
    ) -> Option<()> {
        for callback in &memory.calls {
            let Some(operand) = argument(usize::from(callback.function.0)) else { continue };
            let passes: Vec<Option<usize>> = callback
                .passes
                .iter()
                .map(|value| match (value, callback.when) {
                    (Value::Arg(arg), When::NewThread) => Some(usize::from(arg.0)),
                    _ => None,
                })
                .collect();
            for function in self.pointed(site, term(operand))? {
                if self.runs_body(function) {
                    runs.push(Run { function, nested: Nested::Apart, passes: passes.clone() });
                }
            }
        }
        Some(())
    }

    /// Functions that a function pointer may point to; `None`: any.
    fn pointed(&self, site: SiteId, known: Option<Term>) -> Option<Vec<FunctionId>> {
        let known = known.and_then(|term| match (term.root, term.index, term.offset) {
            (Root::Function(function), None, 0) => Some(vec![function]),
            // Null: nothing is called.
            (Root::Zero, None, 0) => Some(Vec::new()),
            _ => None,
        });
        match self.points_to {
            Some(points_to) => {
                let mut all = points_to.targets.get(&site).cloned().unwrap_or_default();
                for function in known.into_iter().flatten() {
                    if !all.contains(&function) {
                        all.push(function);
                    }
                }
                Some(all)
            }
            None => known,
        }
    }

    /// Whether the call may run something that points-to does not know.
    pub fn is_unresolved(&self, site: SiteId) -> bool {
        self.unresolved.contains(&site)
    }

    pub fn runs_body(&self, function: FunctionId) -> bool {
        self.program.functions[function].is_defined()
            && matches!(self.models.meanings[function], Meaning::Body | Meaning::AtomicBody)
    }

    fn find_address_taken(&self) -> Vec<FunctionId> {
        let mut taken: IdVec<FunctionId, bool> =
            self.program.functions.values().map(|f| f.address_taken).collect();
        for function in self.program.functions.values() {
            for block in function.blocks.values() {
                let mut see = |operand: Operand| {
                    if let Operand::Function(target) = operand {
                        taken[target] = true;
                    }
                };
                block.phis.iter().flat_map(|phi| &phi.incoming).for_each(|(_, operand)| see(*operand));
                block.insts.iter().for_each(|inst| inst.each_operand(&mut see));
                block.terminator.each_operand(&mut see);
            }
        }
        for global in self.program.globals.values() {
            for relocation in global.init.iter().flat_map(|init| &init.relocations) {
                if let SymbolRef::Function(target) = relocation.target {
                    taken[target] = true;
                }
            }
        }
        taken.iter().filter(|(_, taken)| **taken).map(|(id, _)| id).collect()
    }

    /// Over all calls that run inside the caller, reachable or not. One more node stands for "any function whose address is taken".
    fn find_recursion(&mut self) {
        let any = self.program.functions.len();
        let mut edges: Vec<Vec<usize>> = vec![Vec::new(); any + 1];
        edges[any] = self.address_taken.iter().map(|f| f.index()).collect();
        for (id, function) in self.program.functions.iter() {
            let from = &mut edges[id.index()];
            for block in function.blocks.values() {
                for (index, inst) in block.insts.iter().enumerate() {
                    if let Inst::Call { callee, args, .. } = inst {
                        self.nested_edges(from, any, block.site_of(index), *callee, |i| {
                            args.get(i).map(|a| a.value)
                        });
                    }
                }
            }
            from.sort_unstable();
            from.dedup();
        }
        for (rank, component) in components(any + 1, |v| edges[v].clone()).into_iter().enumerate() {
            let circle = component.len() > 1 || edges[component[0]].contains(&component[0]);
            for v in component.into_iter().filter(|v| *v != any) {
                self.recursive[FunctionId::from_index(v)] = circle;
                self.rank[FunctionId::from_index(v)] = rank as u32;
            }
        }
    }

    fn nested_edges(
        &self,
        from: &mut Vec<usize>,
        any: usize,
        site: SiteId,
        callee: Callee,
        argument: impl Fn(usize) -> Option<Operand>,
    ) {
        let told = self.points_to.map(|p| p.targets.get(&site).map_or(&[][..], Vec::as_slice));
        let pointed = || match told {
            Some(functions) => functions.iter().map(|f| f.index()).collect(),
            None => vec![any],
        };
        match callee {
            Callee::Indirect(_) => from.extend(pointed()),
            Callee::Direct(function) => match &self.models.meanings[function] {
                Meaning::Body | Meaning::AtomicBody => from.push(function.index()),
                Meaning::Unknown => {
                    from.extend(told.into_iter().flatten().map(|f| f.index()));
                    let named = (0..).map_while(argument).filter_map(|operand| match operand {
                        Operand::Function(function) => Some(function.index()),
                        _ => None,
                    });
                    from.extend(named);
                }
                Meaning::Effect(effect, _) => {
                    for callback in &effect.memory().calls {
                        match argument(usize::from(callback.function.0)) {
                            _ if callback.when != When::Now => {}
                            Some(Operand::Function(function)) => from.push(function.index()),
                            Some(_) => from.extend(pointed()),
                            None => {}
                        }
                    }
                }
            },
        }
    }
}
