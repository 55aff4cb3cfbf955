//! Control flow of one function as far as the facts leave it open: edges, dominators, cycles, and where registers are assigned.

use super::intervals::int_bits;
use raddle_base::Id;
use raddle_facts::Values;
use raddle_ir::{BlockId, Function, FunctionId, Operand, Reg, Terminator, Ty};

/// Blocks and edges that the facts exclude are not in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flow {
    /// Empty for blocks that are not reachable.
    pub successors: Vec<Vec<BlockId>>,
    pub predecessors: Vec<Vec<BlockId>>,
    pub definitions: Vec<Definition>,
    position: Vec<usize>,
    dominator: Vec<Option<BlockId>>,
    /// When a walk over the tree of dominators enters and leaves a block.
    visits: Vec<(usize, usize)>,
    /// The nearest dominator, the block itself included, that one edge leads to.
    guarded: Vec<Option<BlockId>>,
    cyclic: Vec<bool>,
}

/// Where a register is assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Definition {
    Parameter(usize),
    Phi(BlockId),
    Inst(BlockId, usize),
    /// Nowhere.
    None,
}

impl Flow {
    pub fn of(id: FunctionId, function: &Function, values: &Values) -> Flow {
        let count = function.blocks.len();
        let mut successors: Vec<Vec<BlockId>> = vec![Vec::new(); count];
        for (block, body) in function.blocks.iter() {
            if values.is_reachable(id, block) {
                successors[block.index()] = open_targets(id, &body.terminator, values);
            }
        }
        let mut predecessors: Vec<Vec<BlockId>> = vec![Vec::new(); count];
        for (from, list) in successors.iter().enumerate() {
            list.iter().for_each(|to| predecessors[to.index()].push(BlockId::from_index(from)));
        }
        let order = reverse_postorder(&successors);
        let mut position = vec![usize::MAX; count];
        order.iter().enumerate().for_each(|(at, block)| position[block.index()] = at);
        let dominator = dominators(&order, &position, &predecessors);
        let mut guarded: Vec<Option<BlockId>> = vec![None; count];
        for block in &order {
            let own = predecessors[block.index()].len() == 1 && *block != BlockId(0);
            let above = dominator[block.index()].filter(|up| up != block);
            guarded[block.index()] =
                if own { Some(*block) } else { above.and_then(|up| guarded[up.index()]) };
        }
        let cyclic = on_cycles(count, |at| successors[at].iter().map(|block| block.index()).collect());
        Flow {
            definitions: definitions(function),
            visits: visits(&order, &dominator),
            successors,
            predecessors,
            position,
            dominator,
            guarded,
            cyclic,
        }
    }

    pub fn definition(&self, reg: Reg) -> Definition {
        self.definitions[reg.index()]
    }

    /// The block that assigns a register; the entry for parameters and for registers that nothing assigns.
    pub fn block_of(&self, reg: Reg) -> BlockId {
        match self.definition(reg) {
            Definition::Phi(block) | Definition::Inst(block, _) => block,
            Definition::Parameter(_) | Definition::None => BlockId(0),
        }
    }

    /// Whether every path from the entry to `below` passes `above`; a block dominates itself.
    pub fn dominates(&self, above: BlockId, below: BlockId) -> bool {
        let is_reached = |block: BlockId| self.position[block.index()] != usize::MAX;
        let ((first, last), (at, _)) = (self.visits[above.index()], self.visits[below.index()]);
        is_reached(above) && is_reached(below) && first <= at && at <= last
    }

    /// The dominators of a block, itself first.
    pub fn dominators(&self, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        let first = (self.position[block.index()] != usize::MAX).then_some(block);
        std::iter::successors(first, |at| self.dominator[at.index()].filter(|up| up != at))
    }

    /// The edges that every path to a block takes last, each once: the nearest first.
    pub fn edges_above(&self, block: BlockId) -> impl Iterator<Item = (BlockId, BlockId)> + '_ {
        let up = |block: BlockId| self.dominator[block.index()].filter(|up| *up != block);
        std::iter::successors(self.guarded[block.index()], move |to| {
            up(*to).and_then(|above| self.guarded[above.index()])
        })
        .map(|to| (self.predecessors[to.index()][0], to))
    }

    /// Whether a path leads from the block back to itself.
    pub fn is_cyclic(&self, block: BlockId) -> bool {
        self.cyclic[block.index()]
    }
}

impl Definition {
    /// Whether the definition comes, in the same activation, before the point `index` of `block` on every path.
    pub fn precedes(self, flow: &Flow, block: BlockId, index: usize) -> bool {
        match self {
            Definition::Parameter(_) => true,
            Definition::Phi(at) => flow.dominates(at, block),
            Definition::Inst(at, position) => {
                if at == block {
                    position < index
                } else {
                    flow.dominates(at, block)
                }
            }
            Definition::None => false,
        }
    }
}

/// Where a terminator may go, each block once.
fn open_targets(function: FunctionId, terminator: &Terminator, values: &Values) -> Vec<BlockId> {
    let constant = |operand: Operand, ty: Ty| super::terms::constant_in(values, function, operand, ty);
    let mut open = Vec::new();
    match terminator {
        Terminator::CondBr { cond, then, other } => match constant(*cond, Ty::Int(1)) {
            Some(0) => open.push(*other),
            Some(_) => open.push(*then),
            None => open.extend([*then, *other]),
        },
        Terminator::Switch { value, ty, cases, default } => match constant(*value, *ty) {
            Some(value) if int_bits(*ty).is_some() => {
                let is = |case: u128| super::terms::number(Operand::Const(case), *ty) == Some(value);
                let case = cases.iter().find(|(case, _)| is(*case));
                open.push(case.map_or(*default, |(_, target)| *target));
            }
            _ => terminator.each_target(|target| open.push(target)),
        },
        Terminator::Br(_)
        | Terminator::IndirectBr { .. }
        | Terminator::Ret { .. }
        | Terminator::Unreachable
        | Terminator::Unsupported { .. } => terminator.each_target(|target| open.push(target)),
    }
    open.sort_unstable();
    open.dedup();
    open
}

fn definitions(function: &Function) -> Vec<Definition> {
    let mut all = vec![Definition::None; function.regs.len()];
    for (index, param) in function.params.iter().enumerate() {
        all[param.reg.index()] = Definition::Parameter(index);
    }
    for (id, block) in function.blocks.iter() {
        block.phis.iter().for_each(|phi| all[phi.dst.index()] = Definition::Phi(id));
        for (index, inst) in block.insts.iter().enumerate() {
            inst.each_dst(|dst| all[dst.index()] = Definition::Inst(id, index));
        }
    }
    all
}

fn reverse_postorder(successors: &[Vec<BlockId>]) -> Vec<BlockId> {
    let mut order = Vec::new();
    if successors.is_empty() {
        return order;
    }
    let mut seen = vec![false; successors.len()];
    seen[0] = true;
    let mut stack = vec![(BlockId(0), 0)];
    while let Some((block, next)) = stack.last_mut() {
        match successors[block.index()].get(*next) {
            Some(target) => {
                *next += 1;
                if !std::mem::replace(&mut seen[target.index()], true) {
                    stack.push((*target, 0));
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

/// Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
fn dominators(order: &[BlockId], position: &[usize], predecessors: &[Vec<BlockId>]) -> Vec<Option<BlockId>> {
    let mut dominator: Vec<Option<BlockId>> = vec![None; position.len()];
    let Some(entry) = order.first() else { return dominator };
    dominator[entry.index()] = Some(*entry);
    let mut changed = true;
    while changed {
        changed = false;
        for block in &order[1..] {
            let mut meet: Option<BlockId> = None;
            for from in predecessors[block.index()].iter().filter(|from| dominator[from.index()].is_some()) {
                meet = Some(meet.map_or(*from, |other| common(*from, other, position, &dominator)));
            }
            if dominator[block.index()] != meet {
                dominator[block.index()] = meet;
                changed = true;
            }
        }
    }
    dominator
}

/// For each block, when a walk over the tree enters it and the last time that it enters one below.
fn visits(order: &[BlockId], dominator: &[Option<BlockId>]) -> Vec<(usize, usize)> {
    let mut below: Vec<Vec<BlockId>> = vec![Vec::new(); dominator.len()];
    for block in order {
        if let Some(up) = dominator[block.index()].filter(|up| up != block) {
            below[up.index()].push(*block);
        }
    }
    let mut visits = vec![(0, 0); dominator.len()];
    let mut time = 0;
    let mut path: Vec<(BlockId, usize)> = order.first().map(|entry| (*entry, 0)).into_iter().collect();
    while let Some((block, next)) = path.last_mut() {
        let block = *block;
        if *next == 0 {
            time += 1;
            visits[block.index()].0 = time;
        }
        match below[block.index()].get(*next) {
            Some(child) => {
                *next += 1;
                path.push((*child, 0));
            }
            None => {
                visits[block.index()].1 = time;
                path.pop();
            }
        }
    }
    visits
}

fn common(mut a: BlockId, mut b: BlockId, position: &[usize], dominator: &[Option<BlockId>]) -> BlockId {
    let up = |block: BlockId| dominator[block.index()].unwrap_or(BlockId(0));
    while a != b {
        if position[a.index()] > position[b.index()] {
            a = up(a);
        } else {
            b = up(b);
        }
    }
    a
}

/// Which nodes of a graph lie on a cycle: components of more than one node, or with an edge to itself (Tarjan, without recursion).
pub(crate) fn on_cycles(count: usize, successors: impl Fn(usize) -> Vec<usize>) -> Vec<bool> {
    const NEW: usize = usize::MAX;
    let mut number = vec![NEW; count];
    let mut low = vec![0; count];
    let mut open = vec![false; count];
    let mut result = vec![false; count];
    let (mut stack, mut next) = (Vec::new(), 0);
    for start in 0..count {
        if number[start] != NEW {
            continue;
        }
        let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut enter = Some(start);
        loop {
            if let Some(node) = enter.take() {
                (number[node], low[node], open[node]) = (next, next, true);
                next += 1;
                stack.push(node);
                path.push((node, successors(node)));
            }
            let Some((node, rest)) = path.last_mut() else { break };
            let node = *node;
            match rest.pop() {
                Some(to) if number[to] == NEW => enter = Some(to),
                Some(to) => {
                    result[node] |= to == node;
                    if open[to] {
                        low[node] = low[node].min(number[to]);
                    }
                }
                None => {
                    path.pop();
                    if let Some((parent, _)) = path.last() {
                        low[*parent] = low[*parent].min(low[node]);
                    }
                    if low[node] == number[node] {
                        let at = stack.iter().rposition(|other| *other == node).unwrap_or(0);
                        let component = stack.split_off(at);
                        for member in &component {
                            open[*member] = false;
                            result[*member] |= component.len() > 1;
                        }
                    }
                }
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::{dominators, on_cycles, reverse_postorder, visits};
    use raddle_base::Id;
    use raddle_ir::BlockId;

    #[test]
    fn cycles_are_those_that_paths_find() {
        let mut seed = 7_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..300 {
            let count = 1 + random(7) as usize;
            let edges: Vec<Vec<usize>> =
                (0..count).map(|_| (0..random(3)).map(|_| random(count as u64) as usize).collect()).collect();
            let reaches_itself = |start: usize| {
                let (mut seen, mut work) = (vec![false; count], edges[start].clone());
                while let Some(at) = work.pop() {
                    if !std::mem::replace(&mut seen[at], true) {
                        work.extend(&edges[at]);
                    }
                }
                seen[start]
            };
            let truth: Vec<bool> = (0..count).map(reaches_itself).collect();
            assert_eq!(on_cycles(count, |at| edges[at].clone()), truth, "{edges:?}");
        }
    }

    #[test]
    fn dominators_are_those_that_paths_show() {
        let mut seed = 11_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..300 {
            let count = 1 + random(8) as usize;
            let successors: Vec<Vec<BlockId>> = (0..count)
                .map(|_| (0..random(3)).map(|_| BlockId::from_index(random(count as u64) as usize)).collect())
                .collect();
            let mut predecessors = vec![Vec::new(); count];
            for (from, list) in successors.iter().enumerate() {
                list.iter().for_each(|to| predecessors[to.index()].push(BlockId::from_index(from)));
            }
            let order = reverse_postorder(&successors);
            let mut position = vec![usize::MAX; count];
            order.iter().enumerate().for_each(|(at, block)| position[block.index()] = at);
            let dominator = dominators(&order, &position, &predecessors);
            let visits = visits(&order, &dominator);
            let reached_without = |avoided: usize| {
                let (mut seen, mut work) = (vec![false; count], Vec::new());
                if avoided != 0 {
                    seen[0] = true;
                    work.push(0);
                }
                while let Some(at) = work.pop() {
                    for next in &successors[at] {
                        if next.index() != avoided && !std::mem::replace(&mut seen[next.index()], true) {
                            work.push(next.index());
                        }
                    }
                }
                seen
            };
            for above in &order {
                let seen = reached_without(above.index());
                for below in &order {
                    let ((first, last), (at, _)) = (visits[above.index()], visits[below.index()]);
                    let said = first <= at && at <= last;
                    assert_eq!(said, !seen[below.index()], "{above} {below} {successors:?}");
                }
            }
        }
    }
}
