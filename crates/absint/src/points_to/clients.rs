//! What clients of an open program can point to (assumption A-ENTRY): per type, one node with every pointer to it that a client can
//! have.
//!
//! A pointer to `T` leads to memory of clients of this type, to each `T` inside memory of theirs that the program sees as another
//! type, to each `T` inside a variable that other files can name, and to what the program gave away: what entries return, what it put
//! into memory of clients or into such variables, what functions without body or model got. Memory without a declared type (heap blocks)
//! fits unless it is too small; offsets are lost where it is larger. `void *`, and pointers to characters, lead to any byte of all that.
//! Once the program indexes memory of clients beyond one `T`, each pointer to `T` leads to any element: two clients may pass parts of
//! one array. *May*, but for memory before and behind an object of clients, which nothing is known of ([`super::outside`]).

use super::graph::Node;
use super::memory::{Class, Region, Width};
use super::sets::{Entry, LOSE, SAME, Set};
use super::solver::{Solver, UseKind};
use super::types::{is_character, pointer_fields, size_of};
use crate::fast_hash::{FastMap, FastSet};
use raddle_facts::{ObjectKind, Offsets};
use raddle_ir::{DebugType, DebugTypeId, GlobalId, Ty};

#[derive(Default)]
pub(super) struct Clients {
    /// Pointers to each type that clients know; in the order in which they were met.
    known: Vec<(DebugTypeId, Node)>,
    nodes: FastMap<DebugTypeId, Node>,
    /// What can be pointed to inside a type.
    parts: FastMap<DebugTypeId, Vec<(DebugTypeId, Offsets)>>,
    bytes: Option<Node>,
    published: Option<Node>,
    /// Types of which clients pass arrays.
    arrays: FastSet<DebugTypeId>,
}

impl Solver<'_> {
    pub(super) fn is_open(&self) -> bool {
        !self.roots.entries.is_empty()
    }

    /// What the entries return, and the variables that clients can name.
    pub(super) fn give_to_clients(&mut self) {
        let published = self.published();
        for entry in self.roots.entries.clone() {
            for index in 0..self.program.functions[entry].returns.len() {
                let returned = self.returned(entry, index);
                self.graph.edge(&mut self.sets, returned, published, SAME);
            }
        }
        for global in self.named_by_clients() {
            self.global_object(global);
        }
    }

    /// Variables that clients can use by their names.
    pub(super) fn is_named_by_clients(&self, id: GlobalId) -> bool {
        let global = &self.program.globals[id];
        let is_library = raddle_libmodel::variable(self.program.text(global.symbol)).is_some();
        self.is_open() && global.exported && !is_library
    }

    fn named_by_clients(&self) -> Vec<GlobalId> {
        self.program.globals.ids().filter(|id| self.is_named_by_clients(*id)).collect()
    }

    /// Variables of which clients can pass the address to others.
    fn shared_by_clients(&self) -> Vec<GlobalId> {
        self.named_by_clients().into_iter().filter(|id| !self.program.globals[*id].thread_local).collect()
    }

    /// Pointers that the program gave to clients.
    pub(super) fn published(&mut self) -> Node {
        if let Some(node) = self.clients.published {
            return node;
        }
        let node = self.graph.node();
        self.clients.published = Some(node);
        for (ty, known) in self.clients.known.clone() {
            self.look_through(node, UseKind::Fit { dst: known, to: ty });
        }
        if let Some(bytes) = self.clients.bytes {
            self.graph.edge(&mut self.sets, node, bytes, LOSE);
        }
        node
    }

    /// A pointer of clients to this type, which is canonical.
    pub(super) fn known(&mut self, ty: DebugTypeId) -> Node {
        if let Some(node) = self.clients.nodes.get(&ty) {
            return *node;
        }
        let node = self.graph.node();
        self.clients.nodes.insert(ty, node);
        let object = self.object(ObjectKind::Outside(ty), None);
        let own = self.constant(object, Offsets::exact(0));
        self.graph.edge(&mut self.sets, own, node, SAME);
        let others = std::mem::take(&mut self.clients.known);
        for (other, pointer) in &others {
            self.lead(*other, *pointer, ty, node);
            self.lead(ty, node, *other, *pointer);
        }
        self.clients.known = others;
        self.clients.known.push((ty, node));
        if let Some(bytes) = self.clients.bytes {
            self.graph.edge(&mut self.sets, node, bytes, LOSE);
        }
        for global in self.shared_by_clients() {
            for at in self.places_in(global, ty) {
                let object = self.global_object(global);
                let place = self.constant(object, at);
                self.graph.edge(&mut self.sets, place, node, SAME);
            }
        }
        let published = self.published();
        self.look_through(published, UseKind::Fit { dst: node, to: ty });
        node
    }

    /// From a pointer to the whole to pointers to its parts of a type.
    fn lead(&mut self, whole: DebugTypeId, from: Node, part: DebugTypeId, to: Node) {
        if is_character(self.program, part) {
            self.graph.edge(&mut self.sets, from, to, LOSE);
            return;
        }
        for at in self.parts_of(whole, part) {
            let shift = self.sets.shift(at);
            self.graph.edge(&mut self.sets, from, to, shift);
        }
    }

    fn parts_of(&mut self, whole: DebugTypeId, part: DebugTypeId) -> Vec<Offsets> {
        let (types, program) = (&self.types, self.program);
        let parts = self.clients.parts.entry(whole).or_insert_with(|| types.parts(program, whole));
        let from = parts.partition_point(|(ty, _)| *ty < part);
        parts[from..].iter().take_while(|(ty, _)| *ty == part).map(|(_, at)| *at).collect()
    }

    /// Where a variable holds this type.
    fn places_in(&mut self, global: GlobalId, ty: DebugTypeId) -> Vec<Offsets> {
        let Some(whole) = self.program.globals[global].debug_type else { return vec![Offsets::ANY] };
        if is_character(self.program, ty) {
            return vec![Offsets::ANY];
        }
        let whole = self.types.canonical(self.program, whole);
        let mut places = self.parts_of(whole, ty);
        if whole == ty {
            places.push(Offsets::exact(0));
        }
        places
    }

    /// A pointer of clients without a type.
    pub(super) fn known_bytes(&mut self) -> Node {
        if let Some(node) = self.clients.bytes {
            return node;
        }
        let node = self.graph.node();
        self.clients.bytes = Some(node);
        let own = self.untyped();
        self.graph.edge(&mut self.sets, own, node, SAME);
        for (_, known) in self.clients.known.clone() {
            self.graph.edge(&mut self.sets, known, node, LOSE);
        }
        for global in self.shared_by_clients() {
            let object = self.global_object(global);
            let place = self.constant(object, Offsets::ANY);
            self.graph.edge(&mut self.sets, place, node, SAME);
        }
        let published = self.published();
        self.graph.edge(&mut self.sets, published, node, LOSE);
        node
    }

    /// Pointers that were given away, as pointers to this type.
    pub(super) fn fit(&mut self, dst: Node, to: DebugTypeId, set: Set, seen: Set) {
        for entry in self.sets.difference(set, seen) {
            for at in self.fitting(entry, to) {
                let place = self.constant(entry.object(), at);
                self.graph.edge(&mut self.sets, place, dst, SAME);
            }
        }
    }

    /// Where in the object of a pointer whose offset says nothing, or which was given away, this type can be.
    pub(super) fn fitting(&mut self, entry: Entry, to: DebugTypeId) -> Vec<Offsets> {
        let at = self.sets.offsets(entry.pattern());
        match self.objects.kind(entry.object()) {
            ObjectKind::Global(global) | ObjectKind::ThreadLocal(global) => self.places_in(global, to),
            ObjectKind::Stack(_) | ObjectKind::Parameter(..) | ObjectKind::Heap(_) => {
                let wanted = size_of(self.program, to, 0).and_then(|bytes| i64::try_from(bytes).ok());
                match (self.objects.bytes(entry.object()), wanted) {
                    (Some(bytes), Some(wanted)) if bytes < wanted => Vec::new(),
                    (Some(bytes), Some(wanted)) if bytes == wanted => vec![Offsets::exact(0)],
                    _ => vec![Offsets::ANY],
                }
            }
            ObjectKind::Function(_) => match self.program.debug_types[to] {
                DebugType::Function => vec![at],
                _ => Vec::new(),
            },
            // It is there already, as what it is; so is what clients passed as a number.
            ObjectKind::Outside(_) => Vec::new(),
            ObjectKind::Unknown if entry.object() == self.object(ObjectKind::Unknown, None) => Vec::new(),
            ObjectKind::Library | ObjectKind::Unknown => vec![at],
        }
    }

    /// Pointers in memory that clients use too: they put theirs there, unless it is constant, and find what the program puts there.
    pub(super) fn exchange_typed(&mut self, region: Region, ty: DebugTypeId, at: Offsets, constant: bool) {
        if !constant {
            self.fill_typed(region, ty, at);
        }
        let mut fields = Vec::new();
        pointer_fields(self.program, ty, None, at, 0, &mut fields);
        for field in fields {
            let to = self.program.strip(field.to);
            if matches!(self.program.debug_types[to], DebugType::Function) {
                continue;
            }
            let put = self.view(region, field.at, self.word());
            match self.types.outside(self.program, to) {
                Some(to) if Some(to) != self.types.untyped() => {
                    let known = self.known(to);
                    self.look_through(put, UseKind::Fit { dst: known, to });
                }
                _ => {
                    let published = self.published();
                    self.graph.edge(&mut self.sets, put, published, SAME);
                }
            }
        }
    }

    /// A number of a client that is wide enough for an address.
    pub(super) fn is_wide(&self, ty: Ty) -> bool {
        matches!(ty, Ty::Int(_)) && ty.access_bytes(self.pointer_bytes) >= self.pointer_bytes
    }

    /// Numbers in a variable that clients can set may be addresses, too.
    pub(super) fn fill_numbers(&mut self, region: Region, ty: DebugTypeId) {
        let mut places = self.types.parts(self.program, ty);
        places.push((ty, Offsets::exact(0)));
        let width = Width { bytes: self.pointer_bytes, class: Class::Raw };
        for (part, at) in places {
            if let DebugType::Scalar { bytes, .. } = self.program.debug_types[part]
                && bytes >= u64::from(self.pointer_bytes)
            {
                let cell = self.cell(region, at, width);
                self.add_unknown(cell);
            }
        }
    }

    /// Types that are newly found to be indexed: true if there are any. When nothing else is left to do.
    pub(super) fn find_arrays(&mut self) -> bool {
        if self.clients.known.is_empty() {
            return false;
        }
        let mut sets: FastSet<Set> = FastSet::default();
        for function in self.functions.iter().flatten() {
            for node in function.regs.iter().flatten() {
                sets.insert(self.graph.set_of(*node));
            }
        }
        let mut found: Vec<DebugTypeId> = Vec::new();
        for set in sets {
            for entry in self.sets.entries(set) {
                let ObjectKind::Outside(ty) = self.objects.kind(entry.object()) else { continue };
                let at = self.sets.offsets(entry.pattern());
                if self.clients.arrays.contains(&ty) || !self.clients.nodes.contains_key(&ty) {
                    continue;
                }
                let bytes = size_of(self.program, ty, 0).and_then(|bytes| i64::try_from(bytes).ok());
                let is_number = matches!(self.program.debug_types[ty], DebugType::Scalar { .. });
                // Before a structure are those that contain it.
                if bytes.is_some_and(|bytes| bytes > 0 && at.high >= bytes) || is_number && at.low < 0 {
                    found.push(ty);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        for ty in &found {
            self.clients.arrays.insert(*ty);
            let stride = size_of(self.program, *ty, 0).unwrap_or(1).max(1);
            let object = self.object(ObjectKind::Outside(*ty), None);
            let elements = Offsets { anchor: 0, stride, low: 0, high: i64::MAX };
            let place = self.constant(object, elements);
            let known = self.known(*ty);
            self.graph.edge(&mut self.sets, place, known, SAME);
        }
        !found.is_empty()
    }
}
