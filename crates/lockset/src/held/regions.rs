//! Pieces of a function from a branch on: where its sides meet again, and what each does to locks on the way.

use super::Locks;
use super::join::Path;
use super::shape::{Shape, dominators, reverse_postorder};
use super::sites::Solved;
use super::solver::{decide, said};
use raddle_base::Id;
use raddle_facts::{LocalLocks, LockFacts};
use raddle_ir::{BlockId, Function, FunctionId, Terminator};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The shape of one function, with what is asked about its branches.
pub(crate) struct Branching<'l> {
    locks: &'l Locks<'l>,
    facts: &'l LockFacts,
    id: FunctionId,
    shape: Cow<'l, Shape>,
    /// Nearest post-dominator, where there is one in the function.
    after: Vec<Option<BlockId>>,
}

/// A side of a branch: its blocks with the state at their starts, relative to the branch.
pub(crate) struct Region {
    pub blocks: BTreeMap<BlockId, LocalLocks>,
    /// At the merge, where it is reached.
    pub at_merge: Option<LocalLocks>,
    /// Some path does not come to the merge.
    pub leaves: bool,
}

impl<'l> Branching<'l> {
    pub fn new(locks: &'l Locks<'l>, facts: &'l LockFacts, id: FunctionId) -> Branching<'l> {
        let shape = match &locks.shapes[id] {
            Some(shape) => Cow::Borrowed(shape),
            None => Cow::Owned(Shape::new(locks, id)),
        };
        let after = post_dominators(&locks.program.functions[id], &shape);
        Branching { locks, facts, id, shape, after }
    }

    /// Live blocks with more than one way on, and those ways.
    pub fn branches(&self) -> Vec<(BlockId, Vec<BlockId>)> {
        let mut found: Vec<(BlockId, Vec<BlockId>)> = self
            .shape
            .order
            .iter()
            .map(|at| (*at, self.shape.successors[at.index()].clone()))
            .filter(|(_, ways)| ways.len() > 1)
            .collect();
        found.sort();
        found
    }

    pub fn merge(&self, branch: BlockId) -> Option<BlockId> {
        self.after[branch.index()]
    }

    /// Live blocks in order, for walks over the whole function.
    pub fn blocks(&self) -> Vec<BlockId> {
        let mut blocks = self.shape.order.clone();
        blocks.sort();
        blocks
    }

    /// The side of a branch that starts with an edge.
    pub fn side(&self, branch: BlockId, target: BlockId) -> Region {
        let merge = self.merge(branch);
        let mut inside = BTreeSet::new();
        let mut work = vec![target];
        while let Some(at) = work.pop() {
            if Some(at) != merge && inside.insert(self.shape.position[at.index()]) {
                work.extend(&self.shape.successors[at.index()]);
            }
        }
        let first = Path {
            from: branch,
            state: LocalLocks::default(),
            says: self.locks.edge_says(&self.shape, self.id, branch, target),
        };
        let (starts, ends) = self.solve(&inside, target, &first);
        let at_merge = merge.and_then(|merge| self.start(&inside, &ends, merge, target, &first));
        let leaves = inside.iter().any(|position| {
            let at = self.shape.order[*position];
            self.shape.successors[at.index()].is_empty() || !ends.contains_key(&at)
        });
        Region { blocks: starts, at_merge, leaves: leaves || merge.is_none() }
    }

    /// Runs the instructions of a block from a state and shows the state before each.
    pub fn walk(&self, at: BlockId, start: &LocalLocks, mut visit: impl FnMut(usize, &LocalLocks)) {
        let summaries = Solved { locks: self.locks, facts: self.facts };
        let mut state = start.clone();
        for index in 0..self.locks.program.functions[self.id].blocks[at].insts.len() {
            visit(index, &state);
            if !self.locks.step(&summaries, self.id, at, index, &mut state) {
                return;
            }
        }
    }

    #[allow(clippy::type_complexity)]
    fn solve(
        &self,
        inside: &BTreeSet<usize>,
        target: BlockId,
        first: &Path,
    ) -> (BTreeMap<BlockId, LocalLocks>, BTreeMap<BlockId, LocalLocks>) {
        let summaries = Solved { locks: self.locks, facts: self.facts };
        let mut starts: BTreeMap<BlockId, LocalLocks> = BTreeMap::new();
        let mut ends: BTreeMap<BlockId, LocalLocks> = BTreeMap::new();
        let mut waiting = inside.clone();
        while let Some(position) = waiting.pop_first() {
            let at = self.shape.order[position];
            let Some(mut state) = self.start(inside, &ends, at, target, first) else { continue };
            if let Some(before) = starts.get(&at) {
                state = super::join::meet(before, &state);
            }
            starts.insert(at, state.clone());
            let count = self.locks.program.functions[self.id].blocks[at].insts.len();
            let alive = (0..count).all(|index| self.locks.step(&summaries, self.id, at, index, &mut state));
            if alive && ends.get(&at) != Some(&state) {
                ends.insert(at, state);
                let next =
                    self.shape.successors[at.index()].iter().map(|next| self.shape.position[next.index()]);
                waiting.extend(next.filter(|position| inside.contains(position)));
            }
        }
        (starts, ends)
    }

    fn start(
        &self,
        inside: &BTreeSet<usize>,
        ends: &BTreeMap<BlockId, LocalLocks>,
        at: BlockId,
        target: BlockId,
        first: &Path,
    ) -> Option<LocalLocks> {
        let phis = &self.locks.program.functions[self.id].blocks[at].phis;
        let mut paths = Vec::new();
        if at == target {
            paths.push(Path { from: first.from, state: first.state.clone(), says: first.says.clone() });
        }
        for from in &self.shape.predecessors[at.index()] {
            if !inside.contains(&self.shape.position[from.index()]) {
                continue;
            }
            let Some(end) = ends.get(from) else { continue };
            let says = self.locks.edge_says(&self.shape, self.id, *from, at);
            let mut state = end.clone();
            decide(&mut state.held, |guard| said(&says, guard));
            phis.iter().for_each(|phi| self.locks.assign(self.id, phi.dst, &mut state));
            paths.push(Path { from: *from, state, says });
        }
        (!paths.is_empty()).then(|| self.locks.join(self.id, &self.shape, phis, paths))
    }
}

/// Dominators of the reversed graph from one exit behind all returns: a path that ends the thread or process comes to no merge, and says
/// nothing about where the others meet.
fn post_dominators(function: &Function, shape: &Shape) -> Vec<Option<BlockId>> {
    let count = function.blocks.len();
    let exit = BlockId::from_index(count);
    let mut backwards: Vec<Vec<BlockId>> = shape.predecessors.clone();
    let mut forwards: Vec<Vec<BlockId>> = shape.successors.clone();
    backwards.push(Vec::new());
    forwards.push(Vec::new());
    for at in &shape.order {
        let returns = matches!(function.blocks[*at].terminator, Terminator::Ret { .. });
        if returns && shape.is_whole(*at) {
            backwards[count].push(*at);
            forwards[at.index()].push(exit);
        }
    }
    let order = reverse_postorder(&backwards, exit);
    let mut position = vec![usize::MAX; count + 1];
    order.iter().enumerate().for_each(|(at, block)| position[block.index()] = at);
    // A block from which no return is reached has no place in the order; its edges say nothing.
    for list in &mut forwards {
        list.retain(|next| position[next.index()] != usize::MAX);
    }
    let mut after = dominators(&order, &position, &forwards);
    after.pop();
    after.into_iter().map(|block| block.filter(|block| *block != exit)).collect()
}
