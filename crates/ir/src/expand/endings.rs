//! Calls that never come back (`die`, `usage`, a helper that ends the thread): what stands behind them is cut off.
//!
//! A recipe lists functions that never return. It is believed if every way from the entry of each of them to a return passes a direct
//! call of a listed function: the first of all returns of listed functions would need one before it, so there is none. The end of a
//! library function that does not return (`exit`) is an unreachable terminator here and no return. Whether a function's body is what is
//! run is for a reader with models to say.
//!
//! A block ends behind such a call. Blocks that nothing leads to any more stay, empty.

use super::{Body, ExpandError};
use crate::{Block, BlockId, Callee, Function, FunctionId, Inst, Program, Terminator};
use raddle_base::IdVec;
use std::collections::BTreeSet;

/// Functions that never return, among those that may be listed: as many as are seen callees first.
pub fn never_returning(program: &Program, may: impl Fn(FunctionId) -> bool) -> BTreeSet<FunctionId> {
    let mut listed = BTreeSet::new();
    loop {
        let more: Vec<FunctionId> = program
            .functions
            .iter()
            .filter(|(id, function)| {
                !listed.contains(id) && may(*id) && !may_return(function, |callee| listed.contains(&callee))
            })
            .map(|(id, _)| id)
            .collect();
        if more.is_empty() {
            return listed;
        }
        listed.extend(more);
    }
}

pub(super) fn check(program: &Program, listed: &BTreeSet<FunctionId>) -> Result<(), ExpandError> {
    for id in listed {
        let function = program.functions.get(*id).ok_or(ExpandError::NoFunction(*id))?;
        if may_return(function, |callee| listed.contains(&callee)) {
            return Err(ExpandError::Returns(program.text(function.symbol).to_owned()));
        }
    }
    Ok(())
}

/// Ends blocks behind calls that never come back.
pub(super) fn cut(body: &mut Body, ends: impl Fn(FunctionId) -> bool) {
    let function = &mut body.function;
    let mut changed = false;
    for (_, block) in function.blocks.iter_mut() {
        if let Some(at) = ending_call(block, &ends) {
            block.insts.truncate(at + 1);
            block.terminator = Terminator::Unreachable;
            changed = true;
        }
    }
    if !changed {
        return;
    }
    let reached = reached(function, |_| false);
    for (id, block) in function.blocks.iter_mut() {
        if !reached[id] {
            block.phis.clear();
            block.insts.clear();
            block.terminator = Terminator::Unreachable;
        }
    }
    let predecessors = crate::verify::predecessors(function);
    for (id, block) in function.blocks.iter_mut() {
        for phi in &mut block.phis {
            phi.incoming.retain(|(from, _)| predecessors[id].contains(from));
        }
    }
}

fn may_return(function: &Function, ends: impl Fn(FunctionId) -> bool) -> bool {
    if !function.is_defined() {
        return true;
    }
    let stops = |block: &Block| ending_call(block, &ends).is_some();
    let reached = reached(function, stops);
    function.blocks.iter().any(|(id, block)| {
        let goes_back = matches!(block.terminator, Terminator::Ret { .. } | Terminator::Unsupported { .. });
        goes_back && reached[id] && !stops(block)
    })
}

fn ending_call(block: &Block, ends: impl Fn(FunctionId) -> bool) -> Option<usize> {
    block
        .insts
        .iter()
        .position(|inst| matches!(inst, Inst::Call { callee: Callee::Direct(callee), .. } if ends(*callee)))
}

fn reached(function: &Function, stops: impl Fn(&Block) -> bool) -> IdVec<BlockId, bool> {
    let mut reached: IdVec<BlockId, bool> = function.blocks.ids().map(|_| false).collect();
    let mut open = vec![BlockId(0)];
    while let Some(id) = open.pop() {
        let block = &function.blocks[id];
        if !std::mem::replace(&mut reached[id], true) && !stops(block) {
            block.terminator.each_target(|target| open.push(target));
        }
    }
    reached
}
