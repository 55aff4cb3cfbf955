//! Reading a solution: what is held before each instruction.

use super::Locks;
use super::apply::Summaries;
use super::solver::decide;
use raddle_facts::{HeldLock, LocalLocks, LockFacts};
use raddle_ir::{BlockId, FunctionId, Inst};

impl Locks<'_> {
    /// Visits the instructions of a function in its live blocks, each with what must be held right before it, in any case. What is not
    /// visited is never executed.
    pub fn for_each_site(
        &self,
        facts: &LockFacts,
        function: FunctionId,
        mut visit: impl FnMut(BlockId, usize, &[HeldLock]),
    ) {
        let mut certain: Vec<HeldLock> = Vec::new();
        let mut same_as: Option<Vec<HeldLock>> = None;
        self.for_each_state(facts, function, |block, index, held| {
            if same_as.as_deref() != Some(held) {
                certain = held.iter().filter(|held| held.guard.is_none()).cloned().collect();
                same_as = Some(held.to_vec());
            }
            visit(block, index, &certain);
        });
    }

    /// The same with locks that are held only under a guard.
    pub(super) fn for_each_state(
        &self,
        facts: &LockFacts,
        id: FunctionId,
        mut visit: impl FnMut(BlockId, usize, &[HeldLock]),
    ) {
        let function = &self.program.functions[id];
        let locks = &facts.functions[id];
        let Some(shape) = &self.shapes[id] else {
            for (at, block) in function.blocks.iter().filter(|(at, _)| self.values.is_reachable(id, *at)) {
                (0..block.insts.len()).for_each(|index| visit(at, index, &locks.entry));
            }
            return;
        };
        let summaries = Solved { locks: self, facts };
        let mut blocks: Vec<BlockId> = shape.order.clone();
        blocks.sort();
        for at in blocks {
            let mut state = locks.blocks.get(at.0 as usize).cloned().unwrap_or_default();
            let mut held = self.together(&locks.entry, &state, id, at);
            for (index, inst) in function.blocks[at].insts.iter().enumerate() {
                visit(at, index, &held);
                let before = state.held.len();
                let updates = !self.words.is_empty() && matches!(inst, Inst::Rmw { .. } | Inst::CmpXchg(_));
                if !self.step(&summaries, id, at, index, &mut state) {
                    break;
                }
                if updates || matches!(inst, Inst::Call { .. }) || state.held.len() != before {
                    held = self.together(&locks.entry, &state, id, at);
                }
            }
        }
    }

    /// What was held at the entry and cannot have been released, and what was acquired since.
    fn together(
        &self,
        entry: &[HeldLock],
        local: &LocalLocks,
        function: FunctionId,
        block: BlockId,
    ) -> Vec<HeldLock> {
        if entry.is_empty() {
            return local.held.clone();
        }
        let mut inherited: Vec<HeldLock> =
            entry.iter().filter(|held| !self.may_be(held.lock, &local.released, None)).cloned().collect();
        if let Some(shape) = &self.shapes[function] {
            decide(&mut inherited, |guard| shape.decides(block, guard));
        }
        let mut all = LocalLocks { held: local.held.clone(), ..Default::default() };
        for mut held in inherited {
            if self.may_be(held.lock, &local.renewed, None) {
                held.history.clear();
            } else if self.has_history(&held) {
                held.history.extend(local.acquired.iter().filter(|term| **term != held.lock));
                held.history.sort();
                held.history.dedup();
            }
            self.add(&mut all, held);
        }
        all.held
    }
}

/// A solution read back: functions that return have their summary.
pub(super) struct Solved<'a> {
    pub locks: &'a Locks<'a>,
    pub facts: &'a LockFacts,
}

impl Summaries for Solved<'_> {
    fn at_exit(&self, function: FunctionId) -> Option<&LocalLocks> {
        self.locks.returns[function].then(|| &self.facts.functions[function].at_exit)
    }
}
