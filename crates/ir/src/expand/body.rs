//! The body of one function on its way to the expanded program: where each block comes from, and its loops one after the other
//! laid out in a line.

use super::loops::{Graph, Loop};
use super::places::Places;
use super::{ExpandError, Unroll, trips, unroll};
use crate::{BlockId, Function, Program};
use raddle_base::IdVec;
use serde::{Deserialize, Serialize};

/// Iterations beyond this are not counted out.
const MOST_ITERATIONS: u32 = 4096;

pub struct Body {
    pub(super) function: Function,
    pub(super) origin: IdVec<BlockId, BlockOrigin>,
}

/// The original block of an expanded one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BlockOrigin {
    pub block: BlockId,
    /// The iteration of each unrolled loop around it, outermost first; the header of a loop that stays n times has iterations 0 to n.
    pub iterations: Vec<u32>,
}

impl Body {
    pub fn of(function: &Function) -> Body {
        let origin =
            function.blocks.ids().map(|block| BlockOrigin { block, iterations: Vec::new() }).collect();
        Body { function: function.clone(), origin }
    }

    pub fn function(&self) -> &Function {
        &self.function
    }

    pub fn origin(&self, block: BlockId) -> &BlockOrigin {
        &self.origin[block]
    }

    /// Instructions and terminators.
    pub fn instructions(&self) -> usize {
        self.function.blocks.values().map(|block| block.insts.len() + 1).sum()
    }

    /// The loops that are left, in the order of their headers.
    pub fn loops(&self) -> Vec<Loop> {
        if !self.function.is_defined() {
            return Vec::new();
        }
        let graph = Graph::of(&self.function);
        self.function.blocks.ids().filter_map(|header| graph.loop_at(header)).collect()
    }

    /// How often the loop stays, if its test is constant and leaves after at most `limit` iterations.
    pub fn iterations(&self, program: &Program, shape: &Loop, limit: u32) -> Option<u32> {
        let graph = Graph::of(&self.function);
        trips::test(program, &self.function, &graph, shape, limit).map(|test| test.stays)
    }

    /// Lays one loop out in a line. Nothing is changed when it is refused.
    pub fn unroll(
        &mut self,
        step: &Unroll,
        program: &Program,
        places: &mut Places,
    ) -> Result<(), ExpandError> {
        let refused = |why| ExpandError::Loop {
            function: program.text(self.function.symbol).to_owned(),
            header: step.header,
            why,
        };
        let header = self
            .origin
            .iter()
            .find(|(_, origin)| origin.block == step.header && origin.iterations == step.path)
            .map(|(block, _)| block)
            .ok_or_else(|| refused("there is no such block"))?;
        let graph = Graph::of(&self.function);
        let shape = graph.loop_at(header).ok_or_else(|| refused("it is not the header of a loop"))?;
        if shape.blocks.iter().any(|block| self.origin[*block].iterations != step.path) {
            return Err(refused("a loop inside it was unrolled before it"));
        }
        if step.iterations > MOST_ITERATIONS {
            return Err(refused("too many iterations"));
        }
        let test = trips::test(program, &self.function, &graph, &shape, step.iterations)
            .filter(|test| test.stays == step.iterations)
            .ok_or_else(|| refused("its test is not known to stay so often"))?;
        let unrolled = unroll::unroll(self, &graph, &shape, test, program, places).map_err(refused)?;
        *self = unrolled;
        Ok(())
    }
}
