//! The fixpoints: callees first what functions do, then callers first what they are entered with.
//!
//! States only ever get weaker: a block's new state is met with its old one, so the iteration ends and what it ends with is closed under the
//! transfer functions, whatever guard a join picked in between.

use super::apply::Summaries;
use super::join::{Path, meet, weakest};
use super::shape::Shape;
use super::translate::Crossing;
use super::{Locks, in_activation, places};
use raddle_absint::calls::{Call, Way};
use raddle_base::{Id, IdVec};
use raddle_facts::{FunctionLocks, Guard, HeldLock, LocalLocks, LockFacts, ObjectKind, Released, Start};
use raddle_ir::{BlockId, FunctionId, Terminator};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Solution {
    pub facts: LockFacts,
    /// Whether `at_exit` has been computed.
    done: IdVec<FunctionId, bool>,
}

impl Summaries for Solution {
    fn at_exit(&self, function: FunctionId) -> Option<&LocalLocks> {
        self.done[function].then(|| &self.facts.functions[function].at_exit)
    }
}

/// A function while it is being solved.
struct Work {
    starts: Vec<Option<LocalLocks>>,
    ends: Vec<Option<LocalLocks>>,
    /// Released on any path, also one that does not return.
    released: Released,
}

impl Locks<'_> {
    /// Solves the program. The solution can be read with the same value afterwards.
    pub fn solve(&mut self) -> LockFacts {
        self.semaphores = self.semaphore_candidates();
        loop {
            let facts = self.solve_once();
            let violated = self.violated_semaphores(&facts);
            let words = self.violated_words(&facts);
            if violated.is_empty() && words.is_empty() {
                return facts;
            }
            self.semaphores.retain(|semaphore| !violated.contains(semaphore));
            if !words.is_empty() {
                self.words.retain(|word| !words.contains(word));
                self.listen();
            }
        }
    }

    fn solve_once(&self) -> LockFacts {
        let functions = self.program.functions.ids().map(|_| FunctionLocks::default()).collect();
        let facts = LockFacts {
            functions,
            semaphores: self.semaphores.iter().copied().collect(),
            words: self.words.iter().copied().collect(),
        };
        let done = self.program.functions.ids().map(|id| !self.relevant[id]).collect();
        let mut solution = Solution { facts, done };
        for component in &self.components {
            if self.relevant[component[0]] {
                self.solve_component(&mut solution, component);
            }
        }
        self.solve_entries(&mut solution.facts);
        solution.facts
    }

    fn solve_component(&self, solution: &mut Solution, component: &[FunctionId]) {
        let mut works: Vec<Work> = component
            .iter()
            .map(|id| {
                let blocks = self.program.functions[*id].blocks.len();
                Work { starts: vec![None; blocks], ends: vec![None; blocks], released: Released::default() }
            })
            .collect();
        let index: BTreeMap<FunctionId, usize> =
            component.iter().enumerate().map(|(at, id)| (*id, at)).collect();
        let mut waiting: BTreeSet<usize> = (0..component.len()).collect();
        while let Some(at) = waiting.pop_first() {
            let id = component[at];
            if self.solve_function(solution, id, &mut works[at]) {
                waiting.extend(self.calls.to[id].iter().filter_map(|(caller, _)| index.get(caller)));
            }
        }
        for (id, work) in component.iter().zip(works) {
            let function = &mut solution.facts.functions[*id];
            function.blocks = work.starts.into_iter().map(Option::unwrap_or_default).collect();
            places::add(&mut function.at_exit.released, &work.released);
        }
    }

    /// Whether what it does at its exit has changed.
    fn solve_function(&self, solution: &mut Solution, id: FunctionId, work: &mut Work) -> bool {
        let Some(shape) = &self.shapes[id] else { return false };
        let blocks = &self.program.functions[id].blocks;
        let mut waiting: BTreeSet<usize> = (0..shape.order.len()).collect();
        while let Some(position) = waiting.pop_first() {
            let at = shape.order[position];
            let Some(start) = self.start(id, shape, work, at) else { continue };
            let mut state = start.clone();
            work.starts[at.index()] = Some(start);
            let alive =
                (0..blocks[at].insts.len()).all(|index| self.step(solution, id, at, index, &mut state));
            places::add(&mut work.released, &state.released);
            let end = alive.then_some(state);
            if work.ends[at.index()] != end {
                work.ends[at.index()] = end;
                waiting.extend(shape.successors[at.index()].iter().map(|next| shape.position[next.index()]));
            }
        }
        let returning: Vec<Path> = shape
            .order
            .iter()
            .filter(|at| matches!(blocks[**at].terminator, Terminator::Ret { .. }))
            .filter_map(|at| {
                let state = work.ends[at.index()].clone()?;
                Some(Path { from: *at, state, says: Vec::new() })
            })
            .collect();
        if returning.is_empty() {
            return false;
        }
        let mut exit = self.join(id, shape, &[], returning);
        places::add(&mut exit.released, &work.released);
        let known = &mut solution.facts.functions[id].at_exit;
        if solution.done[id] {
            exit = meet(known, &exit);
        }
        let changed = !solution.done[id] || *known != exit;
        *known = exit;
        solution.done[id] = true;
        changed
    }

    /// The state at the start of a block, from the ends of its predecessors and what it was before.
    fn start(&self, id: FunctionId, shape: &Shape, work: &Work, at: BlockId) -> Option<LocalLocks> {
        let block = &self.program.functions[id].blocks[at];
        let mut paths = Vec::new();
        if at == BlockId(0) {
            paths.push(Path { from: at, state: LocalLocks::default(), says: Vec::new() });
        }
        for from in &shape.predecessors[at.index()] {
            let Some(end) = &work.ends[from.index()] else { continue };
            let says = self.edge_says(shape, id, *from, at);
            let mut state = end.clone();
            decide(&mut state.held, |guard| said(&says, guard));
            if !state.held.is_empty() {
                block.phis.iter().for_each(|phi| self.assign(id, phi.dst, &mut state));
            }
            paths.push(Path { from: *from, state, says });
        }
        if paths.is_empty() {
            return None;
        }
        let joined = self.join(id, shape, &block.phis, paths);
        Some(match &work.starts[at.index()] {
            Some(before) => meet(before, &joined),
            None => joined,
        })
    }

    fn solve_entries(&self, facts: &mut LockFacts) {
        let free = self.started_from_outside();
        let mut entries: IdVec<FunctionId, Option<Vec<HeldLock>>> =
            free.values().map(|free| free.then(Vec::new)).collect();
        for component in self.components.iter().rev() {
            let members: BTreeSet<FunctionId> = component.iter().copied().collect();
            let mut waiting: BTreeSet<FunctionId> =
                component.iter().copied().filter(|id| entries[*id].is_some()).collect();
            let mut missed: Vec<FunctionId> = component
                .iter()
                .copied()
                .filter(|id| entries[*id].is_none() && self.values.is_reachable(*id, BlockId(0)))
                .collect();
            loop {
                let Some(id) = waiting.pop_first() else {
                    // Reachable, and nobody known calls it: nothing is held.
                    missed.retain(|id| entries[*id].is_none());
                    let Some(next) = missed.pop() else { break };
                    entries[next] = Some(Vec::new());
                    waiting.insert(next);
                    continue;
                };
                let entry = entries[id].clone().unwrap_or_default();
                facts.functions[id].entry = entry;
                self.for_each_call(facts, id, |call, held| {
                    for (target, way) in &call.runs {
                        if free[*target] || !way.is_nested() {
                            continue;
                        }
                        let new = self.entry_of(facts, id, call, *target, *way, held);
                        let met = match &entries[*target] {
                            Some(old) => meet_entries(old, &new),
                            None => new,
                        };
                        if entries[*target].as_ref() != Some(&met) {
                            entries[*target] = Some(met);
                            if members.contains(target) {
                                waiting.insert(*target);
                            }
                        }
                    }
                });
            }
        }
    }

    /// Functions that start with nothing held, whoever else calls them.
    fn started_from_outside(&self) -> IdVec<FunctionId, bool> {
        let mut free = self.called_from_outside();
        self.threads.threads.values().for_each(|thread| free[thread.entry] = true);
        for call in self.calls.from.values().flatten() {
            for (target, way) in &call.runs {
                if !way.is_nested() {
                    free[*target] = true;
                }
            }
        }
        free
    }

    /// Functions that something else than calls and creations of the program runs.
    pub(super) fn called_from_outside(&self) -> IdVec<FunctionId, bool> {
        let mut free: IdVec<FunctionId, bool> = self.program.functions.ids().map(|_| false).collect();
        let program = self.program;
        let roots = program.constructors.iter().chain(&program.destructors).copied();
        for id in roots.chain(program.function_by_symbol("main")) {
            free[id] = true;
        }
        for thread in self.threads.threads.values() {
            free[thread.entry] |= !matches!(thread.start, Start::Created(_) | Start::Once(_));
        }
        if let Some(unknown) = self.objects.get(&ObjectKind::Unknown) {
            for cell in self.points_to.contents.get(*unknown).into_iter().flatten() {
                for (object, _) in self.points_to.targets_of(cell.holds) {
                    if let ObjectKind::Function(id) = self.points_to.objects[*object].kind {
                        free[id] = true;
                    }
                }
            }
        }
        free
    }

    fn for_each_call(&self, facts: &LockFacts, id: FunctionId, mut visit: impl FnMut(&Call, &[HeldLock])) {
        let calls = &self.calls.from[id];
        if !calls.iter().any(|call| call.runs.iter().any(|(_, way)| in_activation(*way))) {
            return;
        }
        let mut next = 0;
        self.for_each_state(facts, id, |block, index, held| {
            let site = self.program.functions[id].blocks[block].site_of(index);
            if calls.get(next).is_none_or(|call| call.site != site) {
                next = calls.partition_point(|call| call.site < site);
            }
            if let Some(call) = calls.get(next)
                && call.site == site
            {
                visit(call, held);
                next += 1;
            }
        });
    }

    /// What the callee is entered with from this call.
    fn entry_of(
        &self,
        facts: &LockFacts,
        caller: FunctionId,
        call: &Call,
        target: FunctionId,
        way: Way,
        held: &[HeldLock],
    ) -> Vec<HeldLock> {
        let (_, args) = call.parts(self.program, caller);
        let mut held = held.to_vec();
        let args = match way {
            Way::AtomicCall => {
                let mut state = LocalLocks { held, ..Default::default() };
                self.enter_section(&mut state);
                held = state.held;
                Some(args)
            }
            Way::Callback => {
                // An earlier run of it may have released some, or given some up for a while.
                let mut state = LocalLocks { held, ..Default::default() };
                self.lose(&facts.functions[target].at_exit, &mut state);
                held = state.held;
                None
            }
            _ => Some(args),
        };
        let crossing = Crossing { caller, callee: target, args, result: None };
        let mut down = Vec::new();
        held.iter().for_each(|held| self.locks_down(&crossing, held, &mut down));
        down.sort();
        // `None` comes first: the name without a condition stays.
        down.sort_by_key(|held| (held.lock, held.guard));
        down.dedup_by_key(|held| held.lock);
        down
    }
}

/// Resolves guards that are decided, and drops what is not held then.
pub(super) fn decide(held: &mut Vec<HeldLock>, decided: impl Fn(Guard) -> Option<bool>) {
    held.retain_mut(|held| match held.guard.and_then(&decided) {
        Some(true) => {
            held.guard = None;
            true
        }
        Some(false) => false,
        None => true,
    });
}

pub(super) fn said(says: &[Guard], guard: Guard) -> Option<bool> {
    let same = says.iter().find(|said| (said.function, said.reg) == (guard.function, guard.reg))?;
    Some(same.zero == guard.zero)
}

fn meet_entries(a: &[HeldLock], b: &[HeldLock]) -> Vec<HeldLock> {
    a.iter()
        .filter_map(|held| {
            let other = &b[b.binary_search_by_key(&held.lock, |other| other.lock).ok()?];
            let guard = match (held.guard, other.guard) {
                (None, guard) | (guard, None) => guard,
                (Some(one), Some(two)) if one == two => Some(one),
                _ => return None,
            };
            Some(weakest([held, other].into_iter(), guard))
        })
        .collect()
}
