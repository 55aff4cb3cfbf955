//! What is in memory from the start: initialisers, the library's objects, and what callers of an open program pass in.
//!
//! Memory from outside is one object per pointee type (assumption A-ENTRY; [`super::clients`] tells where pointers to a type lead):
//! pointer fields hold the objects of their own pointee types, repeated upwards because the object may be an array; before the object
//! (`container_of`), behind it and in untyped memory pointers lead to untyped memory from outside. A function pointer from outside is unknown, unless the program's own initialisers
//! put functions into the same field of the same structure: then it is one of those.

use super::graph::Node;
use super::memory::Region;
use super::objects::LibraryPart;
use super::sets::SAME;
use super::solver::Solver;
use super::types::{by_type, pointer_fields, size_of};
use raddle_facts::{ObjectKind, Offsets};
use raddle_ir::{DebugType, DebugTypeId, FunctionId, GlobalId, SymbolRef, Ty};
use raddle_libmodel::memory::Library;
use raddle_libmodel::{Variable, variable};

/// Initialisers with more addresses than this are read by element, not by offset.
const MOST_SEPARATE: usize = 40;

impl Solver<'_> {
    /// The roots, with their parameters.
    pub(super) fn start(&mut self) {
        for root in self.roots.all() {
            self.need(root);
        }
        let inside = self.roots.constructors.iter().chain(&self.roots.main).chain(&self.roots.destructors);
        for root in inside.copied().collect::<Vec<_>>() {
            let arguments = self.library(LibraryPart::Arguments);
            for param in &self.program.functions[root].params {
                if self.program.functions[root].regs[param.reg].ty == Ty::Ptr {
                    let reg = self.reg(root, param.reg);
                    self.graph.edge(&mut self.sets, arguments, reg, SAME);
                }
            }
        }
        for entry in self.roots.entries.clone() {
            self.pass_from_outside(entry);
        }
        if self.is_open() {
            self.give_to_clients();
        }
    }

    fn pass_from_outside(&mut self, entry: FunctionId) {
        let function = &self.program.functions[entry];
        for (index, param) in function.params.iter().enumerate() {
            let reg = self.reg(entry, param.reg);
            let ty = param.debug_type.map(|ty| self.types.canonical(self.program, ty));
            if let Some((bytes, _)) = param.by_value {
                let object = self.object(ObjectKind::Parameter(entry, index as u32), Some(bytes));
                let region = self.memory.of_object(object);
                match ty {
                    Some(ty) => self.fill_typed(region, ty, Offsets::exact(0)),
                    None => self.fill_unknown(region),
                }
                continue;
            }
            let from = match ty.map(|ty| &self.program.debug_types[ty]) {
                Some(DebugType::Pointer { to }) => Some(self.pointee(*to)),
                _ if function.regs[param.reg].ty == Ty::Ptr || self.is_wide(function.regs[param.reg].ty) => {
                    Some(self.unknown())
                }
                _ => None,
            };
            if let Some(from) = from {
                self.graph.edge(&mut self.sets, from, reg, SAME);
            }
        }
    }

    pub(super) fn object(&mut self, kind: ObjectKind, bytes: Option<u64>) -> u32 {
        self.part(kind, 0, bytes)
    }

    pub(super) fn part(&mut self, kind: ObjectKind, part: u32, bytes: Option<u64>) -> u32 {
        let (object, new) = self.objects.of(kind, part, bytes);
        let region = self.memory.of_object(object);
        self.memory.regions[region.0 as usize].bytes = self.objects.bytes(object);
        if !new {
            return object;
        }
        match kind {
            ObjectKind::Outside(_) => {
                let region = self.memory.of_object(object);
                self.memory.regions[region.0 as usize].lazy = Some(object);
            }
            ObjectKind::Unknown => self.fill_with(object, object),
            ObjectKind::Library if part == LibraryPart::Arguments.index() => self.fill_with(object, object),
            ObjectKind::Library if part == LibraryPart::Static(Library::CharacterTablePointer).index() => {
                let table = LibraryPart::Static(Library::CharacterTable).index();
                let table = self.part(ObjectKind::Library, table, None);
                self.fill_with(object, table);
            }
            ObjectKind::Global(global) | ObjectKind::ThreadLocal(global) => self.pending_globals.push(global),
            ObjectKind::Library
            | ObjectKind::Stack(_)
            | ObjectKind::Parameter(..)
            | ObjectKind::Heap(_)
            | ObjectKind::Function(_) => {}
        }
        object
    }

    /// Every pointer in the object leads into the other.
    fn fill_with(&mut self, object: u32, held: u32) {
        let region = self.memory.of_object(object);
        let cell = self.cell(region, Offsets::ANY, self.word());
        let held = self.constant(held, Offsets::ANY);
        self.graph.edge(&mut self.sets, held, cell, SAME);
    }

    pub(super) fn unknown(&mut self) -> Node {
        let object = self.object(ObjectKind::Unknown, None);
        self.constant(object, Offsets::ANY)
    }

    /// What a function returns that is known to exist and not modelled: reaching it is a gap.
    pub(super) fn unknown_of(&mut self, function: FunctionId) -> Node {
        let object = self.part(ObjectKind::Unknown, 1 + function.0, None);
        self.constant(object, Offsets::exact(0))
    }

    /// The start of a part of the library's object.
    pub(super) fn library(&mut self, part: LibraryPart) -> Node {
        let object = self.part(ObjectKind::Library, part.index(), None);
        self.constant(object, Offsets::exact(0))
    }

    pub(super) fn library_anywhere(&mut self, part: LibraryPart) -> Node {
        let object = self.part(ObjectKind::Library, part.index(), None);
        self.constant(object, Offsets::ANY)
    }

    pub(super) fn global_object(&mut self, global: GlobalId) -> u32 {
        if self.program.globals[global].thread_local {
            return self.thread_local_object(global);
        }
        self.object(ObjectKind::Global(global), Some(self.program.globals[global].bytes))
    }

    pub(super) fn thread_local_object(&mut self, global: GlobalId) -> u32 {
        self.object(ObjectKind::ThreadLocal(global), Some(self.program.globals[global].bytes))
    }

    pub(super) fn initialise(&mut self, id: GlobalId) {
        let global = &self.program.globals[id];
        let object = self.global_object(id);
        let region = self.memory.of_object(object);
        let Some(init) = &global.init else {
            self.fill_extern(id, region);
            return;
        };
        let by_element = init.relocations.len() > MOST_SEPARATE;
        for relocation in &init.relocations {
            let object = match relocation.target {
                SymbolRef::Global(target) => self.global_object(target),
                SymbolRef::Function(target) => self.object(ObjectKind::Function(target), None),
                SymbolRef::Block(..) => continue,
            };
            let target = self.constant(object, Offsets::exact(relocation.addend));
            let at = match global.debug_type.filter(|_| by_element) {
                Some(ty) => by_type(self.program, ty, relocation.offset, 0),
                None => Offsets::exact(relocation.offset as i64),
            };
            let cell = self.cell(region, at, self.word());
            self.graph.edge(&mut self.sets, target, cell, SAME);
        }
        match global.debug_type.map(|ty| self.types.canonical(self.program, ty)) {
            _ if !self.is_named_by_clients(id) => {}
            Some(ty) => {
                self.exchange_typed(region, ty, Offsets::exact(0), global.constant);
                if !global.constant {
                    self.fill_numbers(region, ty);
                }
            }
            None if global.constant => {}
            None => self.fill_unknown(region),
        }
    }

    /// A variable that is declared only.
    fn fill_extern(&mut self, id: GlobalId, region: Region) {
        let global = &self.program.globals[id];
        let part = match variable(self.program.text(global.symbol)) {
            Some(Variable::Stream(_)) => LibraryPart::Static(Library::Stream),
            Some(Variable::Environment | Variable::ProgramName) => LibraryPart::Arguments,
            Some(Variable::Int(_) | Variable::Long(_) | Variable::NullPointer) => return,
            None => {
                match global.debug_type {
                    Some(ty) => {
                        let ty = self.types.canonical(self.program, ty);
                        self.exchange_typed(region, ty, Offsets::exact(0), global.constant);
                    }
                    None => self.fill_unknown(region),
                }
                return;
            }
        };
        let held = self.library_anywhere(part);
        let cell = self.cell(region, Offsets::exact(0), self.word());
        self.graph.edge(&mut self.sets, held, cell, SAME);
    }

    fn fill_unknown(&mut self, region: Region) {
        let unknown = self.unknown();
        let cell = self.cell(region, Offsets::ANY, self.word());
        self.graph.edge(&mut self.sets, unknown, cell, SAME);
    }

    /// The first look into memory from outside.
    pub(super) fn fill_from_outside(&mut self, region: Region, object: u32) {
        let ObjectKind::Outside(ty) = self.objects.kind(object) else { return };
        let bytes = size_of(self.program, ty, 0).filter(|bytes| *bytes > 0);
        match (&self.program.debug_types[ty], bytes.and_then(|bytes| i64::try_from(bytes).ok())) {
            (DebugType::Scalar { .. }, _) => {}
            (DebugType::Record { .. } | DebugType::Pointer { .. } | DebugType::Array { .. }, Some(bytes)) => {
                let repeated = Offsets { anchor: 0, stride: bytes as u64, low: 0, high: i64::MAX };
                self.exchange_typed(region, ty, repeated, false);
                let untyped = self.untyped();
                for (low, high) in [(i64::MIN, -i64::from(self.pointer_bytes)), (bytes, i64::MAX)] {
                    let at = Offsets { anchor: 0, stride: 1, low, high };
                    let cell = self.cell(region, at, self.word());
                    self.graph.edge(&mut self.sets, untyped, cell, SAME);
                }
            }
            _ => {
                let cell = self.cell(region, Offsets::ANY, self.word());
                let known = self.known_bytes();
                self.graph.edge(&mut self.sets, known, cell, SAME);
                let put = self.view(region, Offsets::ANY, self.word());
                let published = self.published();
                self.graph.edge(&mut self.sets, put, published, SAME);
            }
        }
    }

    /// A pointer to memory from outside of which nothing is known.
    pub(super) fn untyped(&mut self) -> Node {
        match self.types.untyped() {
            Some(void) => {
                let object = self.object(ObjectKind::Outside(void), None);
                self.constant(object, Offsets::ANY)
            }
            None => self.unknown(),
        }
    }

    /// A pointer of clients to this type.
    pub(super) fn pointee(&mut self, ty: DebugTypeId) -> Node {
        match self.types.outside(self.program, ty) {
            Some(ty) if Some(ty) != self.types.untyped() => self.known(ty),
            _ => self.known_bytes(),
        }
    }

    /// Pointers in a value of this type that comes from outside.
    pub(super) fn fill_typed(&mut self, region: Region, ty: DebugTypeId, at: Offsets) {
        let mut fields = Vec::new();
        pointer_fields(self.program, ty, None, at, 0, &mut fields);
        for field in fields {
            let cell = self.cell(region, field.at, self.word());
            let to = self.program.strip(field.to);
            if matches!(self.program.debug_types[to], DebugType::Function) {
                let known = match field.owner {
                    Some((record, offset)) => {
                        let record = self.types.canonical(self.program, record);
                        self.types.functions_in(record, offset).to_vec()
                    }
                    None => Vec::new(),
                };
                for function in &known {
                    let object = self.object(ObjectKind::Function(*function), None);
                    let held = self.constant(object, Offsets::exact(0));
                    self.graph.edge(&mut self.sets, held, cell, SAME);
                }
                if !known.is_empty() {
                    continue;
                }
            }
            let held = self.pointee(field.to);
            self.graph.edge(&mut self.sets, held, cell, SAME);
        }
    }
}
