//! The state of the analysis and its main loop: sets flow along edges until nothing changes, then loads, stores, copies and calls
//! look at what their pointers newly point to and add edges.

use super::calls::Invoke;
use super::clients::Clients;
use super::copies::Copies;
use super::foreign::{Foreign, Handover};
use super::graph::{Graph, Node};
use super::memory::{Memory, Region, Width};
use super::objects::Objects;
use super::parts::{Look, Parts};
use super::sets::{EMPTY, Entry, SAME, Set, Sets};
use super::types::Types;
use crate::Roots;
use crate::fast_hash::{FastMap, FastSet};
use raddle_facts::{ObjectKind, Offsets, Values};
use raddle_ir::{DebugTypeId, FunctionId, GlobalId, Program, SiteId};
use raddle_libmodel::Models;

pub(super) struct Solver<'p> {
    pub program: &'p Program,
    pub models: &'p Models,
    pub values: &'p Values,
    pub roots: &'p Roots,
    pub pointer_bytes: u32,
    pub sets: Sets,
    pub graph: Graph,
    pub objects: Objects,
    pub memory: Memory,
    pub types: Types,
    /// What functions that are analysed look like; the others are not called.
    pub functions: Vec<Option<FunctionNodes>>,
    pub pending_functions: Vec<FunctionId>,
    pub pending_globals: Vec<GlobalId>,
    pub constants: FastMap<(u32, Offsets), Node>,
    uses: Vec<Use>,
    uses_of: FastMap<Node, Vec<u32>>,
    new_uses: Vec<u32>,
    loads: FastMap<(Set, Width), Node>,
    stores: FastMap<(Set, Width), Node>,
    pub invokes: Vec<Invoke>,
    pub invoked: FastSet<(u32, FunctionId)>,
    pub shared: FastMap<Derived, Node>,
    pub retyped: FastMap<(Node, DebugTypeId), Node>,
    pub copies: Copies,
    pub parts: Parts,
    /// Copies that wait until all else has settled.
    late: Vec<u32>,
    pub targets: Vec<(SiteId, FunctionId)>,
    pub foreign: Option<Foreign>,
    pub handovers: Vec<Handover>,
    pub clients: Clients,
}

/// What nodes are computed from, so that equal computations share one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Derived {
    Shifted(Node, super::sets::Shift),
    Loaded(Node, Width),
}

#[derive(Clone, Default)]
pub(super) struct FunctionNodes {
    /// Per register; `None` until it is met, and where it never holds an address.
    pub regs: Vec<Option<Node>>,
    pub returns: Vec<Node>,
}

/// Something that looks through a pointer.
struct Use {
    pointer: Node,
    seen: Set,
    kind: UseKind,
}

/// In programs with more instructions than this, copies of memory wait until all else has settled: each look at a set of pointers
/// that still grows costs as much as the last. Patterns of offsets may then be widened in another order.
const LARGE: usize = 60_000;

#[derive(Clone, Copy)]
pub(super) enum UseKind {
    Load {
        dst: Node,
        width: Width,
    },
    Store {
        src: Node,
        width: Width,
    },
    /// Bytes from the pointer on go to a region that starts there.
    Gather {
        to: Region,
        len: u64,
    },
    /// Bytes of a region go to the pointer.
    Scatter {
        from: Region,
    },
    Invoke(u32),
    /// A function without body or model is given the pointer.
    HandOver(u32),
    /// Such functions have the pointer.
    HandedOut,
    /// What the pointer points to, seen as a structure of this type.
    Retype {
        dst: Node,
        to: DebugTypeId,
    },
    /// A client passes the pointer as one to this type.
    Fit {
        dst: Node,
        to: DebugTypeId,
    },
}

impl UseKind {
    fn is_copy(self) -> bool {
        matches!(self, UseKind::Gather { .. } | UseKind::Scatter { .. })
    }
}

impl<'p> Solver<'p> {
    pub(super) fn new(
        program: &'p Program,
        models: &'p Models,
        values: &'p Values,
        roots: &'p Roots,
    ) -> Solver<'p> {
        Solver {
            program,
            models,
            values,
            roots,
            pointer_bytes: program.data_model.pointer_bytes(),
            sets: Sets::new(),
            graph: Graph::default(),
            objects: Objects::default(),
            memory: Memory::default(),
            types: Types::new(program),
            functions: vec![None; program.functions.len()],
            pending_functions: Vec::new(),
            pending_globals: Vec::new(),
            constants: FastMap::default(),
            uses: Vec::new(),
            uses_of: FastMap::default(),
            new_uses: Vec::new(),
            loads: FastMap::default(),
            stores: FastMap::default(),
            invokes: Vec::new(),
            invoked: FastSet::default(),
            shared: FastMap::default(),
            retyped: FastMap::default(),
            copies: Copies::default(),
            parts: Parts::default(),
            late: Vec::new(),
            targets: Vec::new(),
            foreign: None,
            handovers: Vec::new(),
            clients: Clients::default(),
        }
    }

    pub(super) fn run(&mut self) {
        self.start();
        loop {
            loop {
                if let Some(function) = self.pending_functions.pop() {
                    self.analyse(function);
                } else if let Some(global) = self.pending_globals.pop() {
                    self.initialise(global);
                } else {
                    break;
                }
            }
            self.graph.collapse(&mut self.sets);
            self.graph.propagate(&mut self.sets);
            for (other, into) in self.graph.take_merged() {
                if let Some(uses) = self.uses_of.remove(&other) {
                    self.uses_of.entry(into).or_default().extend(uses);
                }
            }
            let mut work = std::mem::take(&mut self.new_uses);
            for node in self.graph.take_changed() {
                if let Some(uses) = self.uses_of.get(&node) {
                    work.extend_from_slice(uses);
                }
            }
            let is_idle = self.pending_functions.is_empty() && self.pending_globals.is_empty();
            if self.program.sites.len() > LARGE {
                let is_late = |index: &mut u32| self.uses[*index as usize].kind.is_copy();
                self.late.extend(work.extract_if(.., is_late));
                if work.is_empty() && is_idle {
                    work = std::mem::take(&mut self.late);
                }
            }
            if work.is_empty() && is_idle && !self.find_arrays() {
                break;
            }
            work.sort_unstable();
            work.dedup();
            for index in work {
                self.apply(index);
            }
        }
    }

    pub(super) fn look_through(&mut self, pointer: Node, kind: UseKind) {
        let pointer = self.graph.find(pointer);
        let index = self.uses.len() as u32;
        self.uses.push(Use { pointer, seen: EMPTY, kind });
        self.uses_of.entry(pointer).or_default().push(index);
        self.new_uses.push(index);
    }

    fn apply(&mut self, index: u32) {
        let Use { pointer, seen, kind } = self.uses[index as usize];
        let set = self.graph.set_of(pointer);
        if set == seen {
            return;
        }
        self.uses[index as usize].seen = set;
        match kind {
            UseKind::Load { dst, width } => {
                let from = self.load_node(set, seen, width);
                self.graph.edge(&mut self.sets, from, dst, SAME);
            }
            UseKind::Store { src, width } => {
                let to = self.store_node(set, seen, width);
                self.graph.edge(&mut self.sets, src, to, SAME);
            }
            UseKind::Gather { to, len } => self.gather(set, seen, to, len),
            UseKind::Scatter { from } => self.scatter(set, seen, from),
            UseKind::Retype { dst, to } => self.retype(dst, to, set, seen),
            UseKind::Fit { dst, to } => self.fit(dst, to, set, seen),
            UseKind::HandOver(index) => self.hand_over(index, set, seen),
            UseKind::HandedOut => self.handed_out(set, seen),
            UseKind::Invoke(invoke) => {
                for entry in self.sets.difference(set, seen) {
                    if let ObjectKind::Function(function) = self.objects.kind(entry.object()) {
                        self.invoke(invoke, function);
                    }
                }
            }
        }
    }

    pub(super) fn place(&mut self, entry: Entry) -> (Region, Offsets) {
        (self.memory.of_object(entry.object()), self.sets.offsets(entry.pattern()))
    }

    /// A node with everything that a load through these pointers reads. `before`: a part of the set.
    fn load_node(&mut self, set: Set, before: Set, width: Width) -> Node {
        if let Some(node) = self.loads.get(&(set, width)) {
            return *node;
        }
        if let Some(entry) = self.sets.only(set) {
            let (region, at) = self.place(entry);
            let node = self.view(region, at, width);
            self.loads.insert((set, width), node);
            return node;
        }
        let before = if self.loads.contains_key(&(before, width)) { before } else { EMPTY };
        let part = self.parts.of(&self.sets, Look::Load(width), set, before);
        let node = self.graph.node();
        self.loads.insert((set, width), node);
        if let Some(part) = self.loads.get(&(part, width)) {
            self.graph.edge(&mut self.sets, *part, node, SAME);
        }
        for entry in self.sets.difference(set, part) {
            let (region, at) = self.place(entry);
            let view = self.view(region, at, width);
            self.graph.edge(&mut self.sets, view, node, SAME);
        }
        node
    }

    /// A node whose set goes to everything that a store through these pointers writes.
    fn store_node(&mut self, set: Set, before: Set, width: Width) -> Node {
        if let Some(node) = self.stores.get(&(set, width)) {
            return *node;
        }
        if let Some(entry) = self.sets.only(set) {
            let (region, at) = self.place(entry);
            let node = self.cell(region, at, width);
            self.stores.insert((set, width), node);
            return node;
        }
        let before = if self.stores.contains_key(&(before, width)) { before } else { EMPTY };
        let part = self.parts.of(&self.sets, Look::Store(width), set, before);
        let node = self.graph.node();
        self.stores.insert((set, width), node);
        if let Some(part) = self.stores.get(&(part, width)) {
            self.graph.edge(&mut self.sets, node, *part, SAME);
        }
        for entry in self.sets.difference(set, part) {
            let (region, at) = self.place(entry);
            let cell = self.cell(region, at, width);
            self.graph.edge(&mut self.sets, node, cell, SAME);
        }
        node
    }
}
