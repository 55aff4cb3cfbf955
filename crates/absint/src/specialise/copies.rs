//! Which function each call site runs: the first to name a function takes the original, later ones get a copy while there is room.
//!
//! A thread that creates threads of its own kind would be copied until there is no room. On one chain of calls and creations a function
//! is therefore copied [`LEVELS`] times; what the last level names is this last level, which then stands for all that follow.

use super::graph::{CallGraph, effect_of};
use super::{Budget, Plan, Scope};
use raddle_base::{Id, IdVec};
use raddle_ir::expand::{FunctionCopy, Retarget, copyable};
use raddle_ir::{FunctionId, Program};
use raddle_libmodel::{Effect, Models};
use std::collections::{BTreeSet, VecDeque};

/// How often a function is laid out on one chain of calls and creations.
const LEVELS: usize = 3;

pub(super) fn assign(
    program: &Program,
    models: &Models,
    graph: &CallGraph,
    plans: &IdVec<FunctionId, Plan>,
    scope: Scope,
    limit: usize,
    budget: Budget,
) -> Vec<FunctionCopy> {
    let mut may_copy: IdVec<FunctionId, bool> = copyable(program);
    let wrappers = lock_wrappers(program, models, graph, budget);
    for id in program.functions.ids() {
        may_copy[id] &= !graph.recursive[id] && (scope == Scope::All || wrappers.contains(&id));
    }
    let mut functions: Vec<FunctionCopy> = plans.values().map(|plan| plan.copy.clone()).collect();
    let mut total: usize = plans.values().map(|plan| plan.size).sum();
    let mut taken: BTreeSet<FunctionId> = graph.first.iter().copied().collect();
    let mut open: VecDeque<FunctionId> = graph.first.iter().copied().collect();
    let mut chains = Chains { parent: vec![None; functions.len()] };
    while let Some(caller) = open.pop_front() {
        let origin = functions[caller.index()].origin;
        for named in &plans[origin].slots {
            let (target, size) = (named.function, plans[named.function].size);
            if taken.insert(target) {
                open.push_back(target);
                chains.parent[target.index()] = Some(caller);
                continue;
            }
            if !may_copy[target] {
                continue;
            }
            let to = match chains.last_level(&functions, caller, target) {
                Some(last) => last,
                None if total + size <= limit => {
                    total += size;
                    let to = FunctionId::from_index(functions.len());
                    functions.push(plans[target].copy.clone());
                    chains.parent.push(Some(caller));
                    open.push_back(to);
                    to
                }
                None => continue,
            };
            let retarget = Retarget { site: named.site, path: named.path.clone(), slot: named.slot, to };
            functions[caller.index()].retarget.push(retarget);
        }
    }
    functions
}

/// Who named a function first: a tree of which the functions that keep their original body are roots.
struct Chains {
    parent: Vec<Option<FunctionId>>,
}

impl Chains {
    /// The nearest body of `target` on the chain to `caller`, if the chain has enough of them.
    fn last_level(
        &self,
        functions: &[FunctionCopy],
        caller: FunctionId,
        target: FunctionId,
    ) -> Option<FunctionId> {
        let chain = std::iter::successors(Some(caller), |at| self.parent[at.index()]);
        let mut levels = chain.filter(|at| functions[at.index()].origin == target);
        let nearest = levels.next()?;
        (levels.count() + 1 >= LEVELS).then_some(nearest)
    }
}

/// Small functions that lock or unlock, themselves or through other such functions.
fn lock_wrappers(
    program: &Program,
    models: &Models,
    graph: &CallGraph,
    budget: Budget,
) -> BTreeSet<FunctionId> {
    let mut found = BTreeSet::new();
    let small = |id: &FunctionId| graph.size[*id] <= budget.wrapper;
    for (id, function) in program.functions.iter().filter(|(id, _)| small(id)) {
        let insts = || function.blocks.values().flat_map(|block| &block.insts);
        let locks = |effect| matches!(effect, Effect::Lock { .. } | Effect::Unlock { .. });
        if insts().filter_map(|inst| effect_of(models, inst)).any(locks) {
            found.insert(id);
        }
    }
    for _ in 1..budget.wrapper_depth {
        let outer: Vec<FunctionId> = graph
            .named
            .iter()
            .filter(|(id, named)| small(id) && named.iter().any(|f| found.contains(f)))
            .map(|(id, _)| id)
            .collect();
        found.extend(outer);
    }
    found
}
