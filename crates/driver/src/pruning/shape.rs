//! Where the sides of a branch come together: post-dominators among the blocks from which the function can return.
//!
//! Ways that end the thread or the process, or never end, come to no merge and have no say in where it is.

use raddle_base::{Id, IdVec};
use raddle_interp::Merge;
use raddle_ir::{BlockId, Function, FunctionId, Program, Terminator};

/// The blocks of one function.
pub(super) struct Shape {
    pub(super) successors: Vec<Vec<BlockId>>,
    /// Post-dominators of each block, itself included, one bit each; empty: the function does not return from there.
    after: Vec<Vec<u64>>,
}

/// A function with more blocks is not looked at.
const MOST_BLOCKS: usize = 2_000;

/// `None`: some function is too large.
pub(super) fn shapes(program: &Program) -> Option<IdVec<FunctionId, Shape>> {
    let small = program.functions.values().all(|function| function.blocks.len() <= MOST_BLOCKS);
    small.then(|| program.functions.values().map(Shape::of).collect())
}

impl Shape {
    fn of(function: &Function) -> Shape {
        let count = function.blocks.len();
        let mut successors: Vec<Vec<BlockId>> = vec![Vec::new(); count];
        for (id, block) in function.blocks.iter() {
            block.terminator.each_target(|target| successors[id.index()].push(target));
            successors[id.index()].sort();
            successors[id.index()].dedup();
        }
        let words = count.div_ceil(64);
        let mut after: Vec<Vec<u64>> = vec![Vec::new(); count];
        let mut changed = true;
        while changed {
            changed = false;
            for (id, block) in function.blocks.iter().rev() {
                let at = id.index();
                let mut found = Vec::new();
                if matches!(block.terminator, Terminator::Ret { .. }) {
                    found = vec![0; words];
                }
                for next in successors[at].iter().filter(|next| !after[next.index()].is_empty()) {
                    match found.is_empty() {
                        true => found = after[next.index()].clone(),
                        false => found.iter_mut().zip(&after[next.index()]).for_each(|(a, b)| *a &= b),
                    }
                }
                if !found.is_empty() {
                    found[at / 64] |= 1 << (at % 64);
                }
                if found != after[at] {
                    after[at] = found;
                    changed = true;
                }
            }
        }
        Shape { successors, after }
    }

    pub(super) fn is_branch(&self, block: BlockId) -> bool {
        self.successors[block.index()].len() > 1
    }

    /// The nearest block that all ways from here to a return go through.
    pub(super) fn merge(&self, block: BlockId) -> Merge {
        let size = |at: usize| self.after[at].iter().map(|word| word.count_ones()).sum::<u32>();
        let own = &self.after[block.index()];
        let others = (0..self.after.len()).filter(|at| {
            *at != block.index() && own.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
        });
        others.max_by_key(|at| size(*at)).map_or(Merge::Return, |at| Merge::Block(BlockId::from_index(at)))
    }

    /// The blocks from this one on, up to the merge.
    pub(super) fn side(&self, target: BlockId, merge: Merge) -> Vec<BlockId> {
        let mut seen = vec![false; self.successors.len()];
        let mut found = Vec::new();
        let mut left = vec![target];
        while let Some(block) = left.pop() {
            if Merge::Block(block) != merge && !std::mem::replace(&mut seen[block.index()], true) {
                found.push(block);
                left.extend(&self.successors[block.index()]);
            }
        }
        found
    }
}
