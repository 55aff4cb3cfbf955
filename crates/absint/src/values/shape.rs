//! What the solver needs to know of one function's control flow: order, predecessors, dominating branches, who reads a register.

use super::interval::mirrored;
use super::terms::constant;
use raddle_base::Id;
use raddle_ir::{BlockId, Function, IcmpPred, Inst, Operand, Reg, Terminator};

#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Position in reverse postorder; `u32::MAX` for blocks that no path leads to.
    pub position: Vec<u32>,
    pub order: Vec<BlockId>,
    pub predecessors: Vec<Vec<BlockId>>,
    /// An edge from a block at the same or a later position leads here.
    pub heads_loop: Vec<bool>,
    dominator: Vec<Option<BlockId>>,
    /// The nearest dominator (the block itself included) that has one entering edge, and that from a branch.
    guarded_by: Vec<Option<BlockId>>,
    /// Blocks that read a register, in rows.
    first_reader: Vec<u32>,
    readers: Vec<BlockId>,
    /// Where a register is assigned; `None` for parameters and phis.
    definition: Vec<Option<(BlockId, u32)>>,
    /// Where a counter that is compared with a constant leaves its loop, sorted: there a growing interval may come to rest.
    pub thresholds: Vec<i64>,
}

/// A branch that was taken to come here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guard {
    pub from: BlockId,
    pub to: BlockId,
}

impl Shape {
    pub fn of(function: &Function) -> Shape {
        let count = function.blocks.len();
        let mut predecessors: Vec<Vec<BlockId>> = vec![Vec::new(); count];
        let order = reverse_postorder(function);
        let mut position = vec![u32::MAX; count];
        for (at, block) in order.iter().enumerate() {
            position[block.index()] = at as u32;
        }
        for from in &order {
            function.blocks[*from].terminator.each_target(|to| {
                let list = &mut predecessors[to.index()];
                if list.last() != Some(from) {
                    list.push(*from);
                }
            });
        }
        let heads_loop = (0..count)
            .map(|to| predecessors[to].iter().any(|from| position[from.index()] >= position[to]))
            .collect();
        let dominator = dominators(&order, &position, &predecessors);
        let mut shape = Shape {
            position,
            order,
            predecessors,
            heads_loop,
            dominator,
            guarded_by: vec![None; count],
            first_reader: Vec::new(),
            readers: Vec::new(),
            definition: vec![None; function.regs.len()],
            thresholds: Vec::new(),
        };
        shape.find_guards(function);
        shape.find_readers(function);
        shape.find_definitions(function);
        shape
    }

    pub fn readers(&self, reg: Reg) -> &[BlockId] {
        let (from, to) = (self.first_reader[reg.index()], self.first_reader[reg.index() + 1]);
        &self.readers[from as usize..to as usize]
    }

    pub fn definition<'f>(&self, function: &'f Function, reg: Reg) -> Option<&'f Inst> {
        let (block, index) = self.definition[reg.index()]?;
        function.blocks[block].insts.get(index as usize)
    }

    /// Branches that every path to the block takes, and after the last time does not come past again; the nearest first.
    pub fn guards(&self, block: BlockId) -> impl Iterator<Item = Guard> {
        let up = |to: BlockId| self.dominator[to.index()].filter(|d| *d != to);
        std::iter::successors(self.guarded_by[block.index()], move |to| {
            up(*to).and_then(|above| self.guarded_by[above.index()])
        })
        .map(|to| Guard { from: self.predecessors[to.index()][0], to })
    }

    fn find_guards(&mut self, function: &Function) {
        for block in &self.order {
            let own = match &self.predecessors[block.index()][..] {
                [from] if block.index() != 0 => one_way(&function.blocks[*from].terminator, *block),
                _ => false,
            };
            self.guarded_by[block.index()] = if own {
                Some(*block)
            } else {
                let above = self.dominator[block.index()].filter(|d| d != block);
                above.and_then(|above| self.guarded_by[above.index()])
            };
        }
    }

    fn find_readers(&mut self, function: &Function) {
        let mut pairs: Vec<(Reg, BlockId)> = Vec::new();
        for (id, block) in function.blocks.iter() {
            let mut read = |operand: Operand| {
                if let Operand::Reg(reg) = operand {
                    pairs.push((reg, id));
                }
            };
            for phi in &block.phis {
                phi.incoming.iter().for_each(|(_, operand)| read(*operand));
            }
            block.insts.iter().for_each(|inst| inst.each_operand(&mut read));
            block.terminator.each_operand(&mut read);
        }
        pairs.sort_unstable();
        pairs.dedup();
        self.first_reader = vec![0; function.regs.len() + 1];
        for (reg, _) in &pairs {
            self.first_reader[reg.index() + 1] += 1;
        }
        for at in 1..self.first_reader.len() {
            self.first_reader[at] += self.first_reader[at - 1];
        }
        self.readers = pairs.into_iter().map(|(_, block)| block).collect();
    }

    fn find_definitions(&mut self, function: &Function) {
        let mut thresholds = Vec::new();
        for (id, block) in function.blocks.iter() {
            for (index, inst) in block.insts.iter().enumerate() {
                inst.each_dst(|dst| self.definition[dst.index()] = Some((id, index as u32)));
                if let Inst::Icmp { pred, ty, a, b, .. } = inst {
                    let left = constant(*a, *ty).map(|value| (mirrored(*pred), value));
                    let right = constant(*b, *ty).map(|value| (*pred, value));
                    thresholds
                        .extend(left.into_iter().chain(right).map(|(pred, value)| leaves_at(pred, value)));
                }
            }
        }
        thresholds.sort_unstable();
        thresholds.dedup();
        self.thresholds = thresholds;
    }
}

/// The first value for which a count towards the constant stops.
fn leaves_at(pred: IcmpPred, value: i64) -> i64 {
    match pred {
        IcmpPred::Ule | IcmpPred::Sle => value.saturating_add(1),
        IcmpPred::Uge | IcmpPred::Sge => value.saturating_sub(1),
        IcmpPred::Eq | IcmpPred::Ne | IcmpPred::Ult | IcmpPred::Ugt | IcmpPred::Slt | IcmpPred::Sgt => value,
    }
}

/// Whether exactly one case of the branch leads to `to`.
fn one_way(terminator: &Terminator, to: BlockId) -> bool {
    match terminator {
        Terminator::CondBr { then, other, .. } => then != other,
        Terminator::Switch { cases, default, .. } => {
            *default != to && cases.iter().filter(|(_, target)| *target == to).count() == 1
        }
        _ => false,
    }
}

fn reverse_postorder(function: &Function) -> Vec<BlockId> {
    let mut order = Vec::new();
    if function.blocks.is_empty() {
        return order;
    }
    let targets = |block: BlockId| {
        let mut all = Vec::new();
        function.blocks[block].terminator.each_target(|target| all.push(target));
        // The last one pushed is visited last and comes first in the order: the body of a loop before what follows it.
        all.reverse();
        all
    };
    let mut seen = vec![false; function.blocks.len()];
    seen[0] = true;
    let mut stack = vec![(BlockId(0), targets(BlockId(0)), 0)];
    while let Some((block, next, at)) = stack.last_mut() {
        match next.get(*at).copied() {
            Some(target) => {
                *at += 1;
                if !std::mem::replace(&mut seen[target.index()], true) {
                    stack.push((target, targets(target), 0));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Cooper, Harvey, Kennedy: a simple, fast dominance algorithm.
fn dominators(order: &[BlockId], position: &[u32], predecessors: &[Vec<BlockId>]) -> Vec<Option<BlockId>> {
    let mut dominator: Vec<Option<BlockId>> = vec![None; position.len()];
    let Some(entry) = order.first() else { return dominator };
    dominator[entry.index()] = Some(*entry);
    let mut changed = true;
    while changed {
        changed = false;
        for block in &order[1..] {
            let mut found: Option<BlockId> = None;
            for from in &predecessors[block.index()] {
                if dominator[from.index()].is_some() {
                    found = Some(found.map_or(*from, |other| nearest(*from, other, position, &dominator)));
                }
            }
            if dominator[block.index()] != found {
                dominator[block.index()] = found;
                changed = true;
            }
        }
    }
    dominator
}

fn nearest(mut a: BlockId, mut b: BlockId, position: &[u32], dominator: &[Option<BlockId>]) -> BlockId {
    let up = |block: BlockId| dominator[block.index()].expect("blocks met before have a dominator");
    while a != b {
        if position[a.index()] > position[b.index()] {
            a = up(a);
        } else {
            b = up(b);
        }
    }
    a
}
