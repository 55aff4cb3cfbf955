//! The shape of one function: predecessors, order, dominators, natural loops.

use raddle_base::Id;
use raddle_ir::{BlockId, Function};

/// Blocks that control flow cannot reach from the entry are in no order and have no dominator.
#[derive(Clone, Debug)]
pub struct Cfg {
    pub predecessors: Vec<Vec<BlockId>>,
    pub successors: Vec<Vec<BlockId>>,
    /// Reverse postorder from the entry.
    pub order: Vec<BlockId>,
    /// Position in `order`; `usize::MAX` for blocks not in it.
    position: Vec<usize>,
    /// First and last number of the block's subtree in the tree of dominators.
    subtree: Vec<(usize, usize)>,
    /// Innermost natural loop that the block is in.
    innermost: Vec<Option<usize>>,
    pub loops: Vec<Loop>,
    /// Whether the block lies on a cycle, of whatever shape.
    cyclic: Vec<bool>,
}

/// A natural loop: all back edges to one header.
#[derive(Clone, Debug)]
pub struct Loop {
    pub header: BlockId,
    pub latches: Vec<BlockId>,
    /// Sorted.
    pub blocks: Vec<BlockId>,
    pub outer: Option<usize>,
}

impl Cfg {
    /// Follows only edges for which `open` holds.
    pub fn new(function: &Function, open: impl Fn(BlockId, BlockId) -> bool) -> Cfg {
        let count = function.blocks.len();
        let mut successors: Vec<Vec<BlockId>> = vec![Vec::new(); count];
        for (id, block) in function.blocks.iter() {
            let list = &mut successors[id.index()];
            block.terminator.each_target(|target| {
                if !list.contains(&target) && open(id, target) {
                    list.push(target);
                }
            });
        }
        let order = reverse_postorder(&successors);
        let mut position = vec![usize::MAX; count];
        for (at, block) in order.iter().enumerate() {
            position[block.index()] = at;
        }
        let mut predecessors: Vec<Vec<BlockId>> = vec![Vec::new(); count];
        for from in &order {
            for to in &successors[from.index()] {
                predecessors[to.index()].push(*from);
            }
        }
        let dominator = dominators(&order, &position, &predecessors);
        let mut cfg = Cfg {
            cyclic: cyclic(&successors),
            predecessors,
            successors,
            order,
            position,
            subtree: subtrees(&dominator),
            innermost: vec![None; count],
            loops: Vec::new(),
        };
        cfg.find_loops();
        cfg
    }

    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.position[block.index()] != usize::MAX
    }

    pub fn dominates(&self, above: BlockId, below: BlockId) -> bool {
        let ((first, last), (number, _)) = (self.subtree[above.index()], self.subtree[below.index()]);
        first <= number && number <= last && number != usize::MAX
    }

    pub fn innermost_loop(&self, block: BlockId) -> Option<usize> {
        self.innermost[block.index()]
    }

    pub fn is_cyclic(&self, block: BlockId) -> bool {
        self.cyclic[block.index()]
    }

    /// Whether every cycle is entered at the header of a natural loop.
    pub fn is_reducible(&self) -> bool {
        self.order.iter().all(|from| {
            self.successors[from.index()].iter().all(|to| {
                self.position[to.index()] > self.position[from.index()] || self.dominates(*to, *from)
            })
        })
    }

    /// The place of a block in `order`.
    pub fn position(&self, block: BlockId) -> Option<usize> {
        Some(self.position[block.index()]).filter(|position| *position != usize::MAX)
    }

    /// Whether there is a path of at least one edge.
    pub fn reaches(&self, from: BlockId, to: BlockId) -> bool {
        let mut seen = vec![false; self.successors.len()];
        let mut work = vec![from];
        while let Some(block) = work.pop() {
            for next in &self.successors[block.index()] {
                if *next == to {
                    return true;
                }
                if !std::mem::replace(&mut seen[next.index()], true) {
                    work.push(*next);
                }
            }
        }
        false
    }

    fn find_loops(&mut self) {
        let mut found: Vec<Loop> = Vec::new();
        let mut seen = vec![0; self.successors.len()];
        for header in &self.order {
            let latches: Vec<BlockId> = self.predecessors[header.index()]
                .iter()
                .copied()
                .filter(|from| self.dominates(*header, *from))
                .collect();
            if latches.is_empty() {
                continue;
            }
            let mut blocks = vec![*header];
            let mark = found.len() + 1;
            seen[header.index()] = mark;
            let mut work = latches.clone();
            while let Some(block) = work.pop() {
                if std::mem::replace(&mut seen[block.index()], mark) != mark {
                    blocks.push(block);
                    work.extend(&self.predecessors[block.index()]);
                }
            }
            blocks.sort();
            found.push(Loop { header: *header, latches, blocks, outer: None });
        }
        // An outer header comes before an inner one in the order, so later loops are the inner ones.
        for (index, one) in found.iter_mut().enumerate() {
            one.outer = self.innermost[one.header.index()];
            for block in &one.blocks {
                self.innermost[block.index()] = Some(index);
            }
        }
        self.loops = found;
    }
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

/// Cooper, Harvey, Kennedy: intersect along the order until nothing changes.
fn dominators(order: &[BlockId], position: &[usize], predecessors: &[Vec<BlockId>]) -> Vec<Option<BlockId>> {
    let mut dominator: Vec<Option<BlockId>> = vec![None; position.len()];
    let Some(entry) = order.first() else { return dominator };
    dominator[entry.index()] = Some(*entry);
    let mut changed = true;
    while changed {
        changed = false;
        for block in &order[1..] {
            let mut meet: Option<BlockId> = None;
            for from in &predecessors[block.index()] {
                if dominator[from.index()].is_none() {
                    continue;
                }
                meet = Some(match meet {
                    None => *from,
                    Some(other) => intersect(*from, other, position, &dominator),
                });
            }
            if dominator[block.index()] != meet {
                dominator[block.index()] = meet;
                changed = true;
            }
        }
    }
    dominator
}

/// Numbers the tree of dominators in depth-first order; blocks outside it have no number.
fn subtrees(dominator: &[Option<BlockId>]) -> Vec<(usize, usize)> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); dominator.len()];
    let mut root = None;
    for (block, above) in dominator.iter().enumerate() {
        match above {
            Some(above) if above.index() == block => root = Some(block),
            Some(above) => children[above.index()].push(block),
            None => {}
        }
    }
    let mut range = vec![(usize::MAX, 0); dominator.len()];
    let mut number = 0;
    let mut stack: Vec<(usize, usize)> = root.map(|root| (root, 0)).into_iter().collect();
    while let Some((block, next)) = stack.last_mut() {
        let block = *block;
        if *next == 0 {
            range[block].0 = number;
            number += 1;
        }
        match children[block].get(*next) {
            Some(child) => {
                *next += 1;
                stack.push((*child, 0));
            }
            None => {
                range[block].1 = number - 1;
                stack.pop();
            }
        }
    }
    range
}

fn intersect(mut a: BlockId, mut b: BlockId, position: &[usize], dominator: &[Option<BlockId>]) -> BlockId {
    let up = |block: BlockId| dominator[block.index()].expect("processed blocks have a dominator");
    while a != b {
        while position[a.index()] > position[b.index()] {
            a = up(a);
        }
        while position[b.index()] > position[a.index()] {
            b = up(b);
        }
    }
    a
}

/// Tarjan's components, without recursion.
fn cyclic(successors: &[Vec<BlockId>]) -> Vec<bool> {
    let mut result = vec![false; successors.len()];
    for component in crate::components::components(successors.len(), |v| {
        successors[v].iter().map(|block| block.index()).collect()
    }) {
        let single = component.len() == 1;
        for v in component {
            if !single || successors[v].iter().any(|next| next.index() == v) {
                result[v] = true;
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::subtrees;
    use raddle_ir::BlockId;

    #[test]
    fn subtrees_nest() {
        let tree = [Some(0), Some(0), Some(1), Some(1), None].map(|above| above.map(BlockId));
        let range = subtrees(&tree);
        let within = |a: usize, b: usize| range[a].0 <= range[b].0 && range[b].0 <= range[a].1;
        assert!(within(0, 3) && within(1, 2) && within(1, 3));
        assert!(!within(2, 3) && !within(3, 1));
        assert_eq!(range[4].0, usize::MAX);
    }
}
