//! Natural loops: a header that dominates the sources of its back edges, and all blocks from which one of these is reached without
//! passing the header (Aho, Lam, Sethi and Ullman, 9.6).

use crate::verify::{Dominators, predecessors};
use crate::{BlockId, Function};
use raddle_base::IdVec;
use std::collections::BTreeSet;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    pub header: BlockId,
    /// The header and all that can be reached, and comes back.
    pub blocks: BTreeSet<BlockId>,
    /// Sources of the edges back to the header.
    pub latches: BTreeSet<BlockId>,
}

/// Edges and dominators of one function.
pub(super) struct Graph {
    pub predecessors: IdVec<BlockId, BTreeSet<BlockId>>,
    pub dominators: Dominators,
}

impl Graph {
    pub fn of(function: &Function) -> Graph {
        Graph { predecessors: predecessors(function), dominators: Dominators::of(function) }
    }

    /// The loop with this header, if there is one.
    pub fn loop_at(&self, header: BlockId) -> Option<Loop> {
        let latches: BTreeSet<BlockId> = self.predecessors[header]
            .iter()
            .copied()
            .filter(|from| self.dominators.dominates(header, *from))
            .collect();
        if latches.is_empty() {
            return None;
        }
        let mut blocks = BTreeSet::from([header]);
        let mut open: Vec<BlockId> = latches.iter().copied().collect();
        while let Some(block) = open.pop() {
            if blocks.insert(block) {
                open.extend(self.predecessors[block].iter().filter(|p| self.dominators.reachable(**p)));
            }
        }
        Some(Loop { header, blocks, latches })
    }
}
