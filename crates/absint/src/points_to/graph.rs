//! Nodes with sets, edges along which sets flow, and the propagation: nodes in topological order, only what is new along each
//! edge, cycles of plain copies collapsed.
//!
//! Wave propagation after Pereira and Berlin (CGO 2009); cycles whose edges shift offsets settle by the widening of patterns.

use super::sets::{EMPTY, SAME, Set, Sets, Shift};
use crate::fast_hash::FastSet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Node(pub u32);

/// So many edges are looked through for one that is there already.
const FEW: usize = 8;

#[derive(Default)]
pub(super) struct Graph {
    parent: Vec<Node>,
    set: Vec<Option<Set>>,
    /// What all edges but the newest have carried.
    sent: Vec<Option<Set>>,
    /// Long lists may have an edge twice, until so many are there that it pays to look.
    out: Vec<Vec<(Node, Shift)>>,
    look_at: Vec<u32>,
    /// Position in the topological order of the last collapse.
    order: Vec<u32>,
    heap: BinaryHeap<Reverse<(u32, Node)>>,
    waiting: Vec<bool>,
    /// Nodes whose set changed since they were last asked for.
    changed: Vec<Node>,
    is_changed: Vec<bool>,
    /// Nodes merged into others since the last time this was asked for.
    merged: Vec<(Node, Node)>,
}

impl Graph {
    pub(super) fn node(&mut self) -> Node {
        let node = Node(u32::try_from(self.parent.len()).expect("fewer than 2^32 nodes"));
        self.parent.push(node);
        self.set.push(None);
        self.sent.push(None);
        self.out.push(Vec::new());
        self.look_at.push(4 * FEW as u32);
        self.order.push(u32::MAX);
        self.waiting.push(false);
        self.is_changed.push(false);
        node
    }

    pub(super) fn find(&mut self, node: Node) -> Node {
        let mut root = node;
        while self.parent[root.0 as usize] != root {
            root = self.parent[root.0 as usize];
        }
        let mut at = node;
        while at != root {
            at = std::mem::replace(&mut self.parent[at.0 as usize], root);
        }
        root
    }

    pub(super) fn set_of(&mut self, node: Node) -> Set {
        let node = self.find(node);
        self.set[node.0 as usize].unwrap_or(EMPTY)
    }

    pub(super) fn add(&mut self, sets: &mut Sets, node: Node, set: Set) {
        let node = self.find(node);
        self.grow(sets, node, set);
    }

    fn grow(&mut self, sets: &mut Sets, node: Node, set: Set) {
        let index = node.0 as usize;
        let old = self.set[index].unwrap_or(EMPTY);
        let new = sets.union(old, set);
        if new == old {
            return;
        }
        self.set[index] = Some(new);
        if !self.is_changed[index] {
            self.is_changed[index] = true;
            self.changed.push(node);
        }
        self.wait(node);
    }

    fn wait(&mut self, node: Node) {
        let index = node.0 as usize;
        if !self.waiting[index] && !self.out[index].is_empty() {
            self.waiting[index] = true;
            self.heap.push(Reverse((self.order[index], node)));
        }
    }

    pub(super) fn edge(&mut self, sets: &mut Sets, from: Node, to: Node, shift: Shift) {
        let (from, to) = (self.find(from), self.find(to));
        let edges = &mut self.out[from.0 as usize];
        if (from == to && shift == SAME) || edges.len() <= FEW && edges.contains(&(to, shift)) {
            return;
        }
        edges.push((to, shift));
        if edges.len() >= self.look_at[from.0 as usize] as usize {
            self.once_each(from);
        }
        if let Some(set) = self.set[from.0 as usize] {
            let carried = sets.shifted(set, shift);
            self.grow(sets, to, carried);
            if self.sent[from.0 as usize] != Some(set) {
                self.wait(from);
            }
        }
    }

    /// Until no edge carries anything new.
    pub(super) fn propagate(&mut self, sets: &mut Sets) {
        while let Some(Reverse((_, node))) = self.heap.pop() {
            let index = node.0 as usize;
            self.waiting[index] = false;
            if self.parent[index] != node {
                continue;
            }
            let (set, sent) = (self.set[index].unwrap_or(EMPTY), self.sent[index].unwrap_or(EMPTY));
            if set == sent {
                continue;
            }
            let carried = sets.new_part(set, sent);
            self.sent[index] = Some(set);
            for k in 0..self.out[index].len() {
                let (to, shift) = self.out[index][k];
                let to = self.find(to);
                if to == node && shift == SAME {
                    continue;
                }
                let carried = sets.shifted(carried, shift);
                self.grow(sets, to, carried);
            }
        }
    }

    pub(super) fn take_changed(&mut self) -> Vec<Node> {
        let changed = std::mem::take(&mut self.changed);
        for node in &changed {
            self.is_changed[node.0 as usize] = false;
        }
        changed
    }

    pub(super) fn take_merged(&mut self) -> Vec<(Node, Node)> {
        std::mem::take(&mut self.merged)
    }

    /// Merges the nodes of every cycle of plain copies and numbers the rest in topological order.
    pub(super) fn collapse(&mut self, sets: &mut Sets) {
        let (members, ends) = self.components();
        let mut position = ends.len() as u32;
        let mut start = 0;
        for end in ends {
            position -= 1;
            let component = &members[start..end];
            start = end;
            let root = component[0];
            for other in &component[1..] {
                self.merge(sets, root, *other);
            }
            self.order[root.0 as usize] = position;
            if component.len() > 1 {
                self.tidy(root);
            }
        }
        let heap = std::mem::take(&mut self.heap);
        for Reverse((_, node)) in heap {
            self.waiting[node.0 as usize] = false;
            let node = self.find(node);
            self.wait(node);
        }
    }

    pub(super) fn merge(&mut self, sets: &mut Sets, into: Node, other: Node) {
        let (into, other) = (self.find(into), self.find(other));
        if into == other {
            return;
        }
        let (a, b) = (into.0 as usize, other.0 as usize);
        self.parent[b] = into;
        self.merged.push((other, into));
        let edges = std::mem::take(&mut self.out[b]);
        self.out[a].extend(edges);
        let (x, y) = (self.set[a].unwrap_or(EMPTY), self.set[b].unwrap_or(EMPTY));
        if self.sent[a] != self.sent[b] {
            self.sent[a] = None;
        }
        let both = sets.union(x, y);
        if both != EMPTY {
            self.set[a] = Some(both);
        }
        if (both != x || both != y) && !self.is_changed[a] {
            self.is_changed[a] = true;
            self.changed.push(into);
        }
        if self.is_changed[b] && !self.is_changed[a] {
            self.is_changed[a] = true;
            self.changed.push(into);
        }
        if self.sent[a] != self.set[a] {
            self.wait(into);
        }
    }

    /// Takes out edges that are there twice, and leaves the first.
    fn once_each(&mut self, node: Node) {
        let mut edges = std::mem::take(&mut self.out[node.0 as usize]);
        let mut known: FastSet<(Node, Shift)> = FastSet::default();
        edges.retain_mut(|(to, shift)| {
            *to = self.find(*to);
            known.insert((*to, *shift))
        });
        self.look_at[node.0 as usize] = 2 * edges.len().max(2 * FEW) as u32;
        self.out[node.0 as usize] = edges;
    }

    /// Edges of a merged node, each once.
    fn tidy(&mut self, node: Node) {
        let mut edges = std::mem::take(&mut self.out[node.0 as usize]);
        for (to, _) in &mut edges {
            *to = self.find(*to);
        }
        edges.sort_unstable();
        edges.dedup();
        edges.retain(|(to, shift)| *to != node || *shift != SAME);
        self.look_at[node.0 as usize] = 2 * edges.len().max(2 * FEW) as u32;
        self.out[node.0 as usize] = edges;
    }

    /// Strongly connected components over plain copies, sinks first (Tarjan; other edges count for the order only where they are
    /// met on the way down): the members of all, one component after the other, and where each ends.
    fn components(&mut self) -> (Vec<Node>, Vec<usize>) {
        const NEW: u32 = u32::MAX;
        const DONE: u32 = u32::MAX - 1;
        let len = self.parent.len();
        let mut number = vec![NEW; len];
        let mut low = vec![0u32; len];
        let mut stack: Vec<Node> = Vec::new();
        let mut path: Vec<(Node, usize)> = Vec::new();
        let mut next = 0;
        let (mut members, mut ends) = (Vec::new(), Vec::new());
        for start in 0..len {
            let start_node = Node(start as u32);
            if number[start] != NEW || self.parent[start] != start_node || self.set[start].is_none() {
                continue;
            }
            path.push((start_node, 0));
            while let Some((node, edge)) = path.last_mut() {
                let (node, index) = (*node, node.0 as usize);
                if *edge == 0 && number[index] == NEW {
                    number[index] = next;
                    low[index] = next;
                    next += 1;
                    stack.push(node);
                }
                let mut down = None;
                while *edge < self.out[index].len() {
                    let (to, shift) = self.out[index][*edge];
                    *edge += 1;
                    let to = {
                        let mut root = to;
                        while self.parent[root.0 as usize] != root {
                            root = self.parent[root.0 as usize];
                        }
                        root
                    };
                    self.out[index][*edge - 1].0 = to;
                    let target = to.0 as usize;
                    if shift != SAME {
                        continue;
                    }
                    if number[target] == NEW {
                        down = Some(to);
                        break;
                    }
                    if number[target] != DONE {
                        low[index] = low[index].min(number[target]);
                    }
                }
                if let Some(to) = down {
                    path.push((to, 0));
                    continue;
                }
                path.pop();
                if let Some((parent, _)) = path.last() {
                    let parent = parent.0 as usize;
                    low[parent] = low[parent].min(low[index]);
                }
                if low[index] == number[index] {
                    let first = members.len();
                    while let Some(member) = stack.pop() {
                        number[member.0 as usize] = DONE;
                        members.push(member);
                        if member == node {
                            break;
                        }
                    }
                    members[first..].sort_unstable();
                    ends.push(members.len());
                }
            }
        }
        (members, ends)
    }
}
