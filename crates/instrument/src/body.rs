//! A function as it is read: its blocks and instructions by number, before anything is written into it.

use std::collections::HashMap;

use crate::llvm::{Block, Value};

pub(crate) struct Body {
    pub(crate) blocks: Vec<Block>,
    pub(crate) instructions: Vec<Vec<Value>>,
    pub(crate) successors: Vec<Vec<usize>>,
    pub(crate) predecessors: Vec<Vec<usize>>,
    numbers: HashMap<Block, usize>,
}

impl Body {
    pub(crate) fn read(function: Value) -> Body {
        let blocks = function.blocks();
        let numbers: HashMap<Block, usize> =
            blocks.iter().enumerate().map(|(index, block)| (*block, index)).collect();
        let mut successors = Vec::with_capacity(blocks.len());
        let mut predecessors = vec![Vec::new(); blocks.len()];
        for (index, block) in blocks.iter().enumerate() {
            let mut list: Vec<usize> =
                block.successors().iter().filter_map(|block| numbers.get(block).copied()).collect();
            list.sort_unstable();
            list.dedup();
            for &successor in &list {
                predecessors[successor].push(index);
            }
            successors.push(list);
        }
        let instructions = blocks.iter().map(|block| block.instructions()).collect();
        Body { blocks, instructions, successors, predecessors, numbers }
    }

    pub(crate) fn number(&self, block: Block) -> Option<usize> {
        self.numbers.get(&block).copied()
    }

    /// The block that an instruction is in; `None` for what is not an instruction of this function.
    pub(crate) fn block_of(&self, value: Value) -> Option<usize> {
        self.number(value.block()?)
    }
}
