//! What a cell of memory must hold at a point: Algorithm 2 of the 2007 paper (section 3.3), backwards from the question.
//!
//! A *tuple* of the paper is a node here: a cell, at the start or end of a block. It is made when somebody asks for it, and asks in
//! turn for what it rests on: the statement before that sets the cell (`t = r` replaces `t` by `r`: the stored value, or another cell for a
//! copy), the predecessors of the block, the exits of a callee that may write the cell, at the entry of the function its callers, or, for
//! summaries, nobody: then the answer is "what this cell held at the entry". `Sum(f, p, l)` is [`Engine::at`] in that form; nodes are kept,
//! so a summary is computed once and used in every context.
//!
//! *Must*: an answer [`Held::Value`] holds on every path. Nodes start at [`Held::Never`] (no path known yet) and only fall, as an
//! optimistic fixpoint: a node is evaluated with what its predecessors have, those on a back edge still being `Never`, and again whenever one of
//! them falls. That is the paper's ready tuples on a spanning tree and then the back edges one by one, in any order: the greatest
//! fixpoint is the same.
//!
//! Where the paper is wrong or silent:
//! * Lines 21 to 23 intersect a new tuple only with one that still waits in `W`. One that comes by a back edge to a location already
//!   processed is put beside it: for `while (c) p = g1;` both `(p, {p})` and `(p, {g1})` reach the entry, line 10 adds both, and `p` must
//!   equal two things of which neither holds on all paths. Here a node is met with all that ever arrives.
//! * "Ready" is not defined for strongly connected components. Ignoring back edges and then refining is right only from above: if a
//!   tuple not yet seen counted as the empty set, no loop would keep anything. For `p = g; while (c) u = 1; use(p);` the answer is `{g}`.
//! * Line 13 takes the *union* of the callee's summaries over all of `A'`, in an analysis that intersects. It is right if all of `A'` equal
//!   `p`, but then one of them says it all; and a pointer of `A'` whose summary is empty vanishes silently instead of making the tuple
//!   void. `A` starts with one pointer and every replacement is one for one, so a node here holds one value, and an empty summary is
//!   [`Held::Unknown`].
//! * Meeting at the branch, backwards, `p = g1; if (c) p = g1; use(p);` is `{p} ∩ {g1} = {}`. Meeting values forwards over the same
//!   tuples, as here, gives `{g1}`.
//! * A recursive callee whose summary is being computed: the paper waits for it. Here it is [`Held::Never`] meanwhile, as is the exit
//!   of a function that does not return.
//! * A pointer that another thread may write: the paper is silent; [`View::quiet`] makes such a tuple void.
//!
//! The engine knows nothing of programs: a [`View`] says what statements do. `values` has the one for real programs; tests have others.

use raddle_facts::Term;
use raddle_ir::{BlockId, FunctionId};
use std::collections::HashMap;
use std::hash::Hash;

/// What the engine has to know of a program.
pub trait View {
    /// An address with a width; names registers that its function can name.
    type Cell: Copy + Eq + Hash;

    /// Blocks from which control may come, reachable ones only.
    fn predecessors(&self, function: FunctionId, block: BlockId) -> Vec<BlockId>;
    /// Statements of a block.
    fn length(&self, function: FunctionId, block: BlockId) -> usize;
    /// The last statement before `before` that may change the cell or its name, and what it does to it.
    fn last_effect(
        &self,
        function: FunctionId,
        block: BlockId,
        before: usize,
        cell: Self::Cell,
    ) -> Option<(usize, Effect<Self::Cell>)>;
    /// What the cell holds when the function is entered.
    fn entry(&self, function: FunctionId, cell: Self::Cell) -> Entry<Self::Cell>;
    /// A value at a call, said inside the function that it enters.
    fn inward(&self, call: At, function: FunctionId, value: Term) -> Option<Term>;
    /// A value where a function called at `call` returns from `block`, said by the caller.
    fn outward(&self, call: At, function: FunctionId, block: BlockId, value: Term) -> Option<Term>;
    /// A cell at the entry of a function called at `call`, named by the caller.
    fn outward_cell(&self, call: At, function: FunctionId, cell: Self::Cell) -> Option<Self::Cell>;
    /// Whether the cell can be named at the start of the block, that is, names no register that is assigned there.
    fn stands(&self, function: FunctionId, block: BlockId, cell: Self::Cell) -> bool;
    /// Whether a value names no register assigned after `after` (`None`: from the start of the block on) and before `before`.
    fn lasts(
        &self,
        function: FunctionId,
        block: BlockId,
        after: Option<usize>,
        before: usize,
        value: Term,
    ) -> bool;
    /// Whether no other thread may write the cell while this one is in the block, up to `before`.
    fn quiet(&self, function: FunctionId, block: BlockId, before: usize, cell: Self::Cell) -> bool;
}

/// A place between statements: before the one at `index`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct At {
    pub function: FunctionId,
    pub block: BlockId,
    pub index: usize,
}

/// What a statement does to a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect<C> {
    Sets(Term),
    /// It gets what another cell held before the statement.
    Copies(C),
    /// The callee may write it: what it holds at each return, in the callee's names.
    Call {
        function: FunctionId,
        returns: Vec<(BlockId, C)>,
    },
    Loses,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry<C> {
    /// The answer is relative to the entry.
    Symbolic,
    Value(Term),
    /// All ways in, with the cell in the caller's names.
    Callers(Vec<(At, C)>),
    Unknown,
}

/// What a cell holds at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held<C> {
    /// No path leads here, as far as was seen.
    Never,
    Value(Term),
    /// What the cell held when the function was entered.
    Entry(C),
    Unknown,
}

/// Nodes that one question may make.
pub const MOST_NODES: usize = 300;

pub struct Engine<'v, V: View> {
    view: &'v V,
    /// Cells of other partitions are not followed.
    relevant: &'v dyn Fn(V::Cell) -> bool,
    nodes: Vec<Node<V::Cell>>,
    index: HashMap<Key<V::Cell>, usize>,
    work: Vec<usize>,
    queued: Vec<bool>,
    /// Nodes that may still be made for this question.
    left: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key<C> {
    Start(FunctionId, BlockId, C),
    End(FunctionId, BlockId, C),
}

struct Node<C> {
    key: Key<C>,
    held: Held<C>,
    readers: Vec<usize>,
}

impl<'v, V: View> Engine<'v, V> {
    pub fn new(view: &'v V, relevant: &'v dyn Fn(V::Cell) -> bool) -> Self {
        Engine {
            view,
            relevant,
            nodes: Vec::new(),
            index: HashMap::new(),
            work: Vec::new(),
            queued: Vec::new(),
            left: 0,
        }
    }

    /// What the cell holds right before a statement: `Sum(f, p, l)`.
    pub fn at(&mut self, at: At, cell: V::Cell) -> Held<V::Cell> {
        self.at_most(at, cell, MOST_NODES)
    }

    /// The same with a bound on the nodes made for it; what is beyond counts as unknown, for good.
    pub fn at_most(&mut self, at: At, cell: V::Cell, nodes: usize) -> Held<V::Cell> {
        if !(self.relevant)(cell) {
            return Held::Unknown;
        }
        self.left = nodes;
        loop {
            let known = self.nodes.len();
            let held = self.before(at, cell, None);
            self.settle();
            if self.nodes.len() == known {
                return held;
            }
        }
    }

    /// Everything known at starts of blocks.
    pub fn at_starts(&self) -> impl Iterator<Item = (FunctionId, BlockId, V::Cell, Held<V::Cell>)> {
        self.nodes.iter().filter_map(|node| match node.key {
            Key::Start(function, block, cell) => Some((function, block, cell, node.held)),
            Key::End(..) => None,
        })
    }

    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    fn settle(&mut self) {
        while let Some(id) = self.work.pop() {
            self.queued[id] = false;
            let new = match self.nodes[id].key {
                Key::Start(function, block, cell) => self.start(function, block, cell, id),
                Key::End(function, block, cell) => {
                    let index = self.view.length(function, block);
                    self.before(At { function, block, index }, cell, Some(id))
                }
            };
            let old = self.nodes[id].held;
            let new = met(old, new);
            if new != old {
                self.nodes[id].held = new;
                for reader in self.nodes[id].readers.clone() {
                    self.queue(reader);
                }
            }
        }
    }

    fn queue(&mut self, id: usize) {
        if !std::mem::replace(&mut self.queued[id], true) {
            self.work.push(id);
        }
    }

    fn ask(&mut self, key: Key<V::Cell>, reader: Option<usize>) -> Held<V::Cell> {
        let id = match self.index.get(&key) {
            Some(id) => *id,
            None if self.left == 0 => return Held::Unknown,
            None => {
                self.left -= 1;
                let id = self.nodes.len();
                self.nodes.push(Node { key, held: Held::Never, readers: Vec::new() });
                self.queued.push(false);
                self.index.insert(key, id);
                self.queue(id);
                id
            }
        };
        if let Some(reader) = reader
            && !self.nodes[id].readers.contains(&reader)
        {
            self.nodes[id].readers.push(reader);
        }
        self.nodes[id].held
    }

    fn start(&mut self, function: FunctionId, block: BlockId, cell: V::Cell, reader: usize) -> Held<V::Cell> {
        let reader = Some(reader);
        if !self.view.stands(function, block, cell) || !self.view.quiet(function, block, 0, cell) {
            return Held::Unknown;
        }
        let mut all = Held::Never;
        if block == BlockId(0) {
            all = match self.view.entry(function, cell) {
                Entry::Symbolic => Held::Entry(cell),
                Entry::Value(value) => Held::Value(value),
                Entry::Unknown => Held::Unknown,
                Entry::Callers(callers) => {
                    let mut all = Held::Never;
                    for (call, cell) in callers {
                        let here = match self.before(call, cell, reader) {
                            Held::Value(value) => said(self.view.inward(call, function, value)),
                            other => other,
                        };
                        all = met(all, here);
                        if all == Held::Unknown {
                            break;
                        }
                    }
                    all
                }
            };
        }
        for from in self.view.predecessors(function, block) {
            if all == Held::Unknown {
                break;
            }
            all = met(all, self.ask(Key::End(function, from, cell), reader));
        }
        match all {
            Held::Value(value) if !self.view.lasts(function, block, None, 0, value) => Held::Unknown,
            other => other,
        }
    }

    /// Backwards through one block.
    fn before(&mut self, at: At, cell: V::Cell, reader: Option<usize>) -> Held<V::Cell> {
        let At { function, block, index } = at;
        if !self.view.quiet(function, block, index, cell) {
            return Held::Unknown;
        }
        let (after, held) = match self.view.last_effect(function, block, index, cell) {
            None => (None, self.ask(Key::Start(function, block, cell), reader)),
            Some((here, effect)) => {
                let call = At { function, block, index: here };
                let held = match effect {
                    Effect::Sets(value) => Held::Value(value),
                    Effect::Copies(source) => self.before(call, source, reader),
                    Effect::Loses => Held::Unknown,
                    Effect::Call { function: callee, returns } => {
                        self.returned(call, callee, &returns, reader)
                    }
                };
                (Some(here), held)
            }
        };
        match held {
            Held::Value(value) if !self.view.lasts(function, block, after, index, value) => Held::Unknown,
            other => other,
        }
    }

    fn returned(
        &mut self,
        call: At,
        callee: FunctionId,
        returns: &[(BlockId, V::Cell)],
        reader: Option<usize>,
    ) -> Held<V::Cell> {
        let mut all = Held::Never;
        for (block, cell) in returns {
            let here = match self.ask(Key::End(callee, *block, *cell), reader) {
                Held::Value(value) => said(self.view.outward(call, callee, *block, value)),
                Held::Entry(cell) => match self.view.outward_cell(call, callee, cell) {
                    Some(cell) => self.before(call, cell, reader),
                    None => Held::Unknown,
                },
                other => other,
            };
            all = met(all, here);
            if all == Held::Unknown {
                break;
            }
        }
        all
    }
}

fn said<C>(value: Option<Term>) -> Held<C> {
    value.map_or(Held::Unknown, Held::Value)
}

/// What holds on both of two paths.
fn met<C: PartialEq>(a: Held<C>, b: Held<C>) -> Held<C> {
    match (a, b) {
        (Held::Never, other) | (other, Held::Never) => other,
        (a, b) if a == b => a,
        _ => Held::Unknown,
    }
}
