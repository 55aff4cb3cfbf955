//! Where threads stand besides visible instructions, so that every path between places ends: one block of each loop without any.

use crate::ground::{Ground, Spot};
use raddle_base::Id;
use raddle_ir::{BlockId, Function, FunctionId, Terminator};
use std::collections::BTreeSet;

/// Blocks at whose start, after the phis, a thread stands.
pub(super) fn stops(ground: &dyn Ground) -> BTreeSet<(FunctionId, BlockId)> {
    let mut found = BTreeSet::new();
    for (function, body) in ground.program().functions.iter() {
        if !body.is_defined() || !ground.is_reachable(function, BlockId(0)) {
            continue;
        }
        let quiet: Vec<bool> = body
            .blocks
            .iter()
            .map(|(block, code)| {
                let visible = |index| super::walk::is_visible(ground, Spot { function, block, index });
                ground.is_reachable(function, block) && !(0..code.insts.len()).any(visible)
            })
            .collect();
        found.extend(heads(body, &quiet).into_iter().map(|block| (function, block)));
    }
    found
}

/// Targets of back edges of a depth-first walk over these blocks alone.
fn heads(body: &Function, among: &[bool]) -> BTreeSet<BlockId> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; body.blocks.len()];
    let mut heads = BTreeSet::new();
    for root in body.blocks.ids().filter(|block| among[block.index()]) {
        if marks[root.index()] != Mark::New {
            continue;
        }
        marks[root.index()] = Mark::Open;
        let mut stack = vec![(root, successors(&body.blocks[root].terminator))];
        while let Some((block, rest)) = stack.last_mut() {
            let Some(next) = rest.pop() else {
                marks[block.index()] = Mark::Done;
                stack.pop();
                continue;
            };
            if !among[next.index()] {
                continue;
            }
            match marks[next.index()] {
                Mark::New => {
                    marks[next.index()] = Mark::Open;
                    stack.push((next, successors(&body.blocks[next].terminator)));
                }
                Mark::Open => {
                    heads.insert(next);
                }
                Mark::Done => {}
            }
        }
    }
    heads
}

fn successors(terminator: &Terminator) -> Vec<BlockId> {
    match terminator {
        Terminator::Br(to) => vec![*to],
        Terminator::CondBr { then, other, .. } => vec![*then, *other],
        Terminator::Switch { cases, default, .. } => {
            cases.iter().map(|(_, to)| *to).chain([*default]).collect()
        }
        Terminator::IndirectBr { targets, .. } => targets.clone(),
        Terminator::Ret { .. } | Terminator::Unreachable | Terminator::Unsupported { .. } => Vec::new(),
    }
}
