//! Dominators, natural loops and reachability of a function's blocks.
//!
//! Dominators after Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001). Blocks that the entry does not reach are
//! dominated by nothing and lie in no loop.

use crate::body::Body;

pub(crate) struct Graph {
    /// Reachable blocks in reverse postorder.
    pub(crate) order: Vec<usize>,
    /// Intervals in a walk of the dominator tree: `a` dominates `b` if a's holds b's.
    intervals: Vec<Option<(u32, u32)>>,
    pub(crate) loops: Vec<Loop>,
    /// The innermost loop of each block.
    innermost: Vec<Option<usize>>,
}

pub(crate) struct Loop {
    pub(crate) header: usize,
    pub(crate) latches: Vec<usize>,
    /// By block.
    inside: Vec<bool>,
    pub(crate) blocks: Vec<usize>,
}

impl Graph {
    pub(crate) fn of(body: &Body) -> Graph {
        let order = reverse_postorder(body);
        let parents = dominators(body, &order);
        let intervals = intervals(body.blocks.len(), &order, &parents);
        let mut graph = Graph { order, intervals, loops: Vec::new(), innermost: Vec::new() };
        graph.find_loops(body);
        graph
    }

    pub(crate) fn dominates(&self, above: usize, below: usize) -> bool {
        match (self.intervals[above], self.intervals[below]) {
            (Some((first, last)), Some((inner, _))) => first <= inner && inner <= last,
            _ => false,
        }
    }

    pub(crate) fn innermost(&self, block: usize) -> Option<usize> {
        self.innermost[block]
    }

    /// How many loops a block lies in.
    pub(crate) fn depth(&self, block: usize) -> usize {
        self.loops.iter().filter(|area| area.contains(block)).count()
    }

    /// Whether a loop lies in another.
    pub(crate) fn is_nested(&self) -> bool {
        let within = |area: &Loop| {
            self.loops.iter().any(|other| other.header != area.header && other.contains(area.header))
        };
        self.loops.iter().any(within)
    }

    fn find_loops(&mut self, body: &Body) {
        let count = body.blocks.len();
        for &header in &self.order {
            let latches: Vec<usize> = body.predecessors[header]
                .iter()
                .copied()
                .filter(|latch| self.dominates(header, *latch))
                .collect();
            if latches.is_empty() {
                continue;
            }
            let mut inside = vec![false; count];
            inside[header] = true;
            let mut blocks = vec![header];
            let mut queue = latches.clone();
            while let Some(block) = queue.pop() {
                if !std::mem::replace(&mut inside[block], true) {
                    blocks.push(block);
                    let reachable = body.predecessors[block].iter();
                    queue.extend(reachable.copied().filter(|block| self.intervals[*block].is_some()));
                }
            }
            self.loops.push(Loop { header, latches, inside, blocks });
        }
        // Outer loops have more blocks than the loops in them.
        self.innermost = vec![None; count];
        let mut by_size: Vec<usize> = (0..self.loops.len()).collect();
        by_size.sort_by_key(|index| std::cmp::Reverse(self.loops[*index].blocks.len()));
        for index in by_size {
            for &block in &self.loops[index].blocks {
                self.innermost[block] = Some(index);
            }
        }
    }
}

impl Loop {
    pub(crate) fn contains(&self, block: usize) -> bool {
        self.inside[block]
    }

    /// Edges that leave the loop.
    pub(crate) fn exits(&self, body: &Body) -> Vec<(usize, usize)> {
        let mut exits = Vec::new();
        for &from in &self.blocks {
            for &to in body.successors[from].iter().filter(|to| !self.contains(**to)) {
                exits.push((from, to));
            }
        }
        exits.sort_unstable();
        exits
    }

    /// The one block before the loop, if it goes nowhere else.
    pub(crate) fn preheader(&self, body: &Body) -> Option<usize> {
        let mut outside = body.predecessors[self.header].iter().filter(|block| !self.contains(**block));
        let (first, rest) = (*outside.next()?, outside.next());
        (rest.is_none() && body.successors[first] == [self.header]).then_some(first)
    }

    /// Blocks that one iteration can come to from a block (itself not, unless an inner loop leads back).
    pub(crate) fn reachable_in_iteration(&self, body: &Body, from: usize) -> Vec<bool> {
        let mut reached = vec![false; self.inside.len()];
        let mut queue = vec![from];
        while let Some(block) = queue.pop() {
            for &next in &body.successors[block] {
                if self.contains(next) && next != self.header && !std::mem::replace(&mut reached[next], true)
                {
                    queue.push(next);
                }
            }
        }
        reached
    }
}

fn reverse_postorder(body: &Body) -> Vec<usize> {
    let mut seen = vec![false; body.blocks.len()];
    let mut order = Vec::with_capacity(body.blocks.len());
    let mut stack = vec![(0usize, 0usize)];
    if body.blocks.is_empty() {
        return order;
    }
    seen[0] = true;
    while let Some((block, next)) = stack.last_mut() {
        match body.successors[*block].get(*next) {
            Some(&successor) => {
                *next += 1;
                if !std::mem::replace(&mut seen[successor], true) {
                    stack.push((successor, 0));
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

/// Immediate dominators by position in `order`; the entry's is itself.
fn dominators(body: &Body, order: &[usize]) -> Vec<usize> {
    let mut position = vec![usize::MAX; body.blocks.len()];
    for (index, &block) in order.iter().enumerate() {
        position[block] = index;
    }
    const UNKNOWN: usize = usize::MAX;
    let mut parents = vec![UNKNOWN; order.len()];
    if order.is_empty() {
        return parents;
    }
    parents[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for index in 1..order.len() {
            let mut new = UNKNOWN;
            for &predecessor in &body.predecessors[order[index]] {
                let other = position[predecessor];
                if other == UNKNOWN || parents[other] == UNKNOWN {
                    continue;
                }
                new = if new == UNKNOWN { other } else { meet(&parents, new, other) };
            }
            if new != parents[index] {
                parents[index] = new;
                changed = true;
            }
        }
    }
    parents
}

fn meet(parents: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while a > b {
            a = parents[a];
        }
        while b > a {
            b = parents[b];
        }
    }
    a
}

fn intervals(count: usize, order: &[usize], parents: &[usize]) -> Vec<Option<(u32, u32)>> {
    let mut children = vec![Vec::new(); order.len()];
    for index in 1..order.len() {
        children[parents[index]].push(index);
    }
    let mut intervals = vec![None; count];
    let mut next = 0u32;
    let mut stack = if order.is_empty() { Vec::new() } else { vec![(0usize, 0usize, 0u32)] };
    while let Some((index, child, first)) = stack.last_mut() {
        if *child == 0 {
            *first = next;
            next += 1;
        }
        match children[*index].get(*child) {
            Some(&below) => {
                *child += 1;
                stack.push((below, 0, 0));
            }
            None => {
                intervals[order[*index]] = Some((*first, next - 1));
                stack.pop();
            }
        }
    }
    intervals
}
