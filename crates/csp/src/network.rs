//! An implementation as a vector of leaf states below a fixed tree of operators.
//!
//! The processes that section 2.2 of the 2015 paper builds are parallel compositions of simple ones; FDR3 flattens them in the same way
//! (supercombinators). The steps are those of `step.rs`, computed without making a term for every state of the whole. A test compares
//! the two on random processes. Which way it errs: neither.
//!
//! Slots of a state hold process ids, or marks: [`WAITING`] for a process that starts later, [`DEAD`] for one that was interrupted or
//! succeeded, and `done(depth)` for one that terminated as a child of a parallel composition, with its depth in the tree: slots are
//! shared between a node and its children, and a node is done only by a mark of its own or of a node above.

use crate::event::{EventId, EventSet};
use crate::step::Label;
use crate::term::{Arena, ProcId, Term};
use std::ops::Range;
use std::sync::Arc;

const WAITING: u32 = u32::MAX;
const DEAD: u32 = u32::MAX - 1;
const DONE: u32 = u32::MAX - 200;
/// Operators deeper than this stay in leaves.
const MAX_DEPTH: u32 = 100;

/// The tree of operators, and the first state.
pub(crate) struct Network {
    root: Node,
    initial: Vec<u32>,
}

/// A step of the whole: which slots change to what. A tick changes nothing, because nothing comes after it.
pub(crate) struct Move {
    pub(crate) label: Label,
    pub(crate) underlying: Option<EventId>,
    changes: Vec<(usize, u32)>,
}

struct Node {
    slots: Range<usize>,
    depth: u32,
    operator: Operator,
}

enum Operator {
    Leaf,
    Hide(Arc<EventSet>, Box<Node>),
    Parallel(Arc<EventSet>, Vec<Node>),
    /// The last slot is [`WAITING`] until the first has terminated, then the second.
    Then(Box<Node>, ProcId),
    /// The last slot is the interrupting process; the others are [`DEAD`] once it has taken over.
    Interrupt(Box<Node>),
}

impl Network {
    /// The parallel structure at the top of the term becomes the tree.
    pub(crate) fn flat(arena: &Arena, process: ProcId) -> Self {
        let mut initial = Vec::new();
        let root = build(arena, process, 0, &mut initial);
        Self { root, initial }
    }

    /// One leaf.
    pub(crate) fn whole(process: ProcId) -> Self {
        Self { root: Node { slots: 0..1, depth: 0, operator: Operator::Leaf }, initial: vec![process.0] }
    }

    pub(crate) fn initial(&self) -> &[u32] {
        &self.initial
    }

    pub(crate) fn moves(&self, arena: &mut Arena, state: &[u32]) -> Vec<Move> {
        self.root.moves(arena, state)
    }
}

impl Move {
    pub(crate) fn apply(&self, state: &mut [u32]) {
        for &(slot, value) in &self.changes {
            state[slot] = value;
        }
    }
}

fn build(arena: &Arena, process: ProcId, depth: u32, initial: &mut Vec<u32>) -> Node {
    let start = initial.len();
    let operator = if depth < MAX_DEPTH && has_parallel(arena, process) {
        match arena.term(process) {
            Term::Call(name) => return build(arena, arena.body(*name).expect("checked"), depth, initial),
            Term::Hide(inner, set) => {
                Operator::Hide(set.clone(), Box::new(build(arena, *inner, depth + 1, initial)))
            }
            Term::Parallel(on, children) => {
                let children = children.iter().map(|&child| build(arena, child, depth + 1, initial));
                Operator::Parallel(on.clone(), children.collect())
            }
            Term::Then(first, second) => {
                let first = Box::new(build(arena, *first, depth + 1, initial));
                initial.push(WAITING);
                Operator::Then(first, *second)
            }
            Term::Interrupt(first, by) => {
                let first = Box::new(build(arena, *first, depth + 1, initial));
                initial.push(by.0);
                Operator::Interrupt(first)
            }
            _ => unreachable!("no other term is flattened"),
        }
    } else {
        initial.push(process.0);
        Operator::Leaf
    };
    Node { slots: start..initial.len(), depth, operator }
}

/// Whether a parallel composition is met through operators that the tree has. Ends, because names are guarded.
fn has_parallel(arena: &Arena, process: ProcId) -> bool {
    match arena.term(process) {
        Term::Parallel(..) => true,
        Term::Hide(inner, _) | Term::Then(inner, _) | Term::Interrupt(inner, _) => {
            has_parallel(arena, *inner)
        }
        Term::Call(name) => has_parallel(arena, arena.body(*name).expect("checked")),
        _ => false,
    }
}

impl Node {
    fn is_done(&self, state: &[u32]) -> bool {
        (DONE..=DONE + self.depth).contains(&state[self.slots.end - 1])
    }

    /// All slots get the value.
    fn fill(&self, value: u32) -> Vec<(usize, u32)> {
        self.slots.clone().map(|slot| (slot, value)).collect()
    }

    fn moves(&self, arena: &mut Arena, state: &[u32]) -> Vec<Move> {
        let last = self.slots.end - 1;
        match &self.operator {
            Operator::Leaf => leaf_moves(arena, state, last),
            Operator::Hide(set, inner) => {
                let mut moves = inner.moves(arena, state);
                for step in &mut moves {
                    step.label = step.label.hidden(set);
                }
                moves
            }
            Operator::Parallel(on, children) => parallel_moves(on, children, arena, state),
            Operator::Then(first, second) => {
                if state[last] != WAITING {
                    return leaf_moves(arena, state, last);
                }
                let mut moves = first.moves(arena, state);
                for step in &mut moves {
                    if step.label == Label::Tick {
                        step.label = Label::Tau;
                        step.changes = first.fill(DEAD);
                        step.changes.push((last, second.0));
                    }
                }
                moves
            }
            Operator::Interrupt(first) => {
                let mut by = leaf_moves(arena, state, last);
                if state[first.slots.end - 1] == DEAD {
                    return by;
                }
                let mut moves = first.moves(arena, state);
                for step in &mut by {
                    if matches!(step.label, Label::Event(_)) {
                        step.changes.extend(first.fill(DEAD));
                    }
                }
                moves.append(&mut by);
                moves
            }
        }
    }
}

fn leaf_moves(arena: &mut Arena, state: &[u32], slot: usize) -> Vec<Move> {
    if state[slot] >= DONE {
        return Vec::new();
    }
    let steps = arena.steps(ProcId(state[slot]));
    let change =
        |next: ProcId, label: Label| if label == Label::Tick { vec![] } else { vec![(slot, next.0)] };
    steps
        .iter()
        .map(|step| Move {
            label: step.label,
            underlying: step.underlying,
            changes: change(step.next, step.label),
        })
        .collect()
}

fn parallel_moves(on: &EventSet, children: &[Node], arena: &mut Arena, state: &[u32]) -> Vec<Move> {
    if children.iter().all(|child| child.is_done(state)) {
        return vec![Move { label: Label::Tick, underlying: None, changes: Vec::new() }];
    }
    let mut moves = Vec::new();
    // Steps on shared events so far: what the children up to here do together.
    let mut together: Vec<Move> = Vec::new();
    for (index, child) in children.iter().enumerate() {
        let own = if child.is_done(state) { Vec::new() } else { child.moves(arena, state) };
        let mut shared = Vec::new();
        for mut step in own {
            match step.label {
                Label::Event(event) if on.contains(event) => shared.push(step),
                Label::Tick => {
                    step.label = Label::Tau;
                    step.changes = child.fill(DONE + child.depth);
                    moves.push(step);
                }
                _ => moves.push(step),
            }
        }
        together = if index == 0 { shared } else { join(&together, &shared) };
    }
    moves.append(&mut together);
    moves
}

fn join(left: &[Move], right: &[Move]) -> Vec<Move> {
    let mut joined = Vec::new();
    for a in left {
        for b in right.iter().filter(|b| b.label == a.label) {
            let changes = a.changes.iter().chain(&b.changes).copied().collect();
            joined.push(Move { label: a.label, underlying: a.underlying, changes });
        }
    }
    joined
}
