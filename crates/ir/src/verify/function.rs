//! One function: registers, blocks, phis, dominance.

use super::Checker;
use crate::{BlockId, Function, FunctionId, Operand, Reg};
use raddle_base::{Id, IdVec};
use std::collections::BTreeSet;

/// Where a register gets its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Definition {
    None,
    Param,
    /// Before instruction `.1` of block `.0`; phis are at 0, the value of instruction i at i + 1.
    At(BlockId, usize),
}

impl Checker<'_> {
    pub(super) fn check_function(&mut self, id: FunctionId) {
        let function = &self.program.functions[id];
        self.span(function.span);
        for info in function.regs.values() {
            self.optional_type(info.debug_type);
        }
        for param in &function.params {
            self.exists(param.reg, &function.regs);
            self.optional_type(param.debug_type);
        }
        for (_, block) in function.blocks.iter() {
            for (index, inst) in block.insts.iter().enumerate() {
                self.site = Some(block.site_of(index));
                self.check_inst(function, inst);
            }
            self.site = Some(block.terminator_site());
            self.check_terminator(function, &block.terminator);
        }
        self.site = None;
        let before = self.errors.len();
        let definitions = self.definitions(function);
        self.check_targets(function);
        // What follows indexes by block and register.
        if self.errors.len() == before && function.is_defined() {
            self.check_phis(function);
            self.check_dominance(function, &definitions);
        }
    }

    fn definitions(&mut self, function: &Function) -> IdVec<Reg, Definition> {
        let mut found: IdVec<Reg, Definition> = function.regs.ids().map(|_| Definition::None).collect();
        for param in &function.params {
            self.define(&mut found, param.reg, Definition::Param);
        }
        for (id, block) in function.blocks.iter() {
            for phi in &block.phis {
                self.define(&mut found, phi.dst, Definition::At(id, 0));
            }
            for (index, inst) in block.insts.iter().enumerate() {
                inst.each_dst(|dst| self.define(&mut found, dst, Definition::At(id, index + 1)));
            }
        }
        found
    }

    fn define(&mut self, found: &mut IdVec<Reg, Definition>, reg: Reg, definition: Definition) {
        match found.get_mut(reg) {
            Some(slot @ Definition::None) => *slot = definition,
            Some(_) => self.fail(format!("{reg} is assigned in two places")),
            None => self.fail(format!("{reg} does not exist")),
        }
    }

    fn check_targets(&mut self, function: &Function) {
        for block in function.blocks.values() {
            let mut targets = Vec::new();
            block.terminator.each_target(|target| targets.push(target));
            targets.extend(block.phis.iter().flat_map(|phi| phi.incoming.iter().map(|(from, _)| *from)));
            for target in targets {
                self.exists(target, &function.blocks);
            }
        }
    }

    fn check_phis(&mut self, function: &Function) {
        let predecessors = predecessors(function);
        for (id, block) in function.blocks.iter() {
            if id.index() == 0 && !block.phis.is_empty() {
                self.fail("the entry block has phis".to_owned());
            }
            for phi in &block.phis {
                let named: BTreeSet<BlockId> = phi.incoming.iter().map(|(from, _)| *from).collect();
                if named.len() != phi.incoming.len() || named != predecessors[id] {
                    self.fail(format!("the phi of {} in {id} does not name each predecessor once", phi.dst));
                }
                for (_, value) in &phi.incoming {
                    self.operand(function, *value, function.regs[phi.dst].ty);
                }
            }
        }
    }

    fn check_dominance(&mut self, function: &Function, definitions: &IdVec<Reg, Definition>) {
        let dominators = Dominators::of(function);
        let mut bad = Vec::new();
        for (id, block) in function.blocks.iter().filter(|(id, _)| dominators.reachable(*id)) {
            let mut check = |operand: Operand, block: BlockId, index: usize| {
                if let Operand::Reg(reg) = operand {
                    let fine = match definitions.get(reg) {
                        Some(Definition::Param) => true,
                        Some(Definition::At(at, position)) if *at == block => *position <= index,
                        Some(Definition::At(at, _)) => dominators.dominates(*at, block),
                        Some(Definition::None) | None => false,
                    };
                    if !fine {
                        bad.push((reg, block));
                    }
                }
            };
            for phi in &block.phis {
                for (from, value) in &phi.incoming {
                    if dominators.reachable(*from) {
                        check(*value, *from, usize::MAX);
                    }
                }
            }
            for (index, inst) in block.insts.iter().enumerate() {
                inst.each_operand(|operand| check(operand, id, index));
            }
            block.terminator.each_operand(|operand| check(operand, id, usize::MAX));
        }
        for (reg, block) in bad {
            self.fail(format!("{reg} is used in {block} where it may have no value"));
        }
    }
}

pub(crate) fn predecessors(function: &Function) -> IdVec<BlockId, BTreeSet<BlockId>> {
    let mut found: IdVec<BlockId, BTreeSet<BlockId>> =
        function.blocks.ids().map(|_| BTreeSet::new()).collect();
    for (id, block) in function.blocks.iter() {
        block.terminator.each_target(|target| {
            found[target].insert(id);
        });
    }
    found
}

/// Immediate dominators by iteration in reverse postorder (Cooper, Harvey and Kennedy, 2001).
pub(crate) struct Dominators {
    /// Position in reverse postorder; `None` when not reachable.
    position: IdVec<BlockId, Option<usize>>,
    /// Immediate dominator by position; the entry's is itself.
    immediate: Vec<usize>,
    order: Vec<BlockId>,
}

impl Dominators {
    pub(crate) fn of(function: &Function) -> Dominators {
        let order = reverse_postorder(function);
        let mut position: IdVec<BlockId, Option<usize>> = function.blocks.ids().map(|_| None).collect();
        for (index, block) in order.iter().enumerate() {
            position[*block] = Some(index);
        }
        let predecessors = predecessors(function);
        let mut immediate = vec![usize::MAX; order.len()];
        immediate[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for (index, block) in order.iter().enumerate().skip(1) {
                let mut best = usize::MAX;
                for from in predecessors[*block].iter().filter_map(|p| position[*p]) {
                    if immediate[from] != usize::MAX {
                        best = if best == usize::MAX { from } else { meet(&immediate, best, from) };
                    }
                }
                if immediate[index] != best {
                    immediate[index] = best;
                    changed = true;
                }
            }
        }
        Dominators { position, immediate, order }
    }

    pub(crate) fn reachable(&self, block: BlockId) -> bool {
        self.position[block].is_some()
    }

    /// The nearest of the other blocks that every way to this one passes.
    pub(crate) fn immediate(&self, block: BlockId) -> Option<BlockId> {
        let position = self.position[block].filter(|position| *position > 0)?;
        Some(self.order[self.immediate[position]])
    }

    pub(crate) fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        let (Some(a), Some(mut b)) = (self.position[a], self.position[b]) else { return false };
        while b > a {
            b = self.immediate[b];
        }
        a == b
    }
}

fn meet(immediate: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        if a > b {
            a = immediate[a];
        } else {
            b = immediate[b];
        }
    }
    a
}

fn reverse_postorder(function: &Function) -> Vec<BlockId> {
    let successors = |block: BlockId| {
        let mut list = Vec::new();
        function.blocks[block].terminator.each_target(|target| list.push(target));
        list
    };
    let mut seen: IdVec<BlockId, bool> = function.blocks.ids().map(|_| false).collect();
    let mut order = Vec::new();
    seen[BlockId(0)] = true;
    let mut stack = vec![(BlockId(0), successors(BlockId(0)))];
    while let Some((block, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(next) if !seen[next] => {
                seen[next] = true;
                stack.push((next, successors(next)));
            }
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
