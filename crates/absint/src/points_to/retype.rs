//! Memory from outside takes the type that it is used with (open programs only).
//!
//! A variable that is declared as a pointer to a structure points to *the* object from outside of that structure, where it was untyped
//! (`void *`, unknown functions, anywhere in memory of clients), lies before or behind an object of another type (`container_of`, private data), or is at the
//! start of an object whose type is the first member of the structure.

use super::graph::Node;
use super::sets::{Entry, SAME, Set};
use super::solver::{Solver, UseKind};
use super::types::is_character;
use raddle_facts::ObjectKind;
use raddle_facts::Offsets;
use raddle_ir::{DebugType, DebugTypeId, FunctionId, Reg};

impl Solver<'_> {
    /// What a variable is when this is assigned to it.
    pub(super) fn as_declared(&mut self, function: FunctionId, dst: Reg, node: Node) -> Node {
        if self.roots.entries.is_empty() {
            return node;
        }
        let Some(declared) = self.program.functions[function].regs[dst].debug_type else { return node };
        let DebugType::Pointer { to } = self.program.debug_types[self.program.strip(declared)] else {
            return node;
        };
        let to = self.types.canonical(self.program, to);
        if !matches!(self.program.debug_types[to], DebugType::Record { .. }) {
            return node;
        }
        if let Some(known) = self.retyped.get(&(node, to)) {
            return *known;
        }
        let result = self.graph.node();
        self.retyped.insert((node, to), result);
        self.look_through(node, UseKind::Retype { dst: result, to });
        result
    }

    pub(super) fn retype(&mut self, dst: Node, to: DebugTypeId, set: Set, seen: Set) {
        let mut kept: Vec<Entry> = Vec::new();
        let mut replaced = false;
        for entry in self.sets.difference(set, seen) {
            let is_lost = self.sets.offsets(entry.pattern()) == Offsets::ANY;
            if self.becomes(entry, to) {
                replaced = true;
            } else if is_lost && self.is_declared(entry.object()) {
                for at in self.fitting(entry, to) {
                    let place = self.constant(entry.object(), at);
                    self.graph.edge(&mut self.sets, place, dst, SAME);
                }
            } else {
                kept.push(entry);
            }
        }
        let kept = self.sets.of_entries(&kept);
        self.graph.add(&mut self.sets, dst, kept);
        if replaced {
            let from = self.known(to);
            self.graph.edge(&mut self.sets, from, dst, SAME);
        }
    }

    /// Whether the object has a declared type and no other one (C11 6.5, paragraph 6), and is not memory for anything.
    fn is_declared(&self, object: u32) -> bool {
        match self.objects.kind(object) {
            ObjectKind::Global(global) => {
                let ty = self.program.globals[global].debug_type;
                ty.is_some_and(|ty| {
                    let parts = self.types.parts(self.program, ty);
                    !parts.iter().any(|(part, _)| is_character(self.program, *part))
                })
            }
            _ => false,
        }
    }

    fn becomes(&mut self, entry: Entry, to: DebugTypeId) -> bool {
        let at = self.sets.offsets(entry.pattern());
        match self.objects.kind(entry.object()) {
            ObjectKind::Unknown => true,
            ObjectKind::Outside(_) if at == Offsets::ANY => true,
            ObjectKind::Outside(ty) if ty == to => false,
            ObjectKind::Outside(ty) => match &self.program.debug_types[ty] {
                DebugType::Record { bytes, .. } => {
                    let end = i64::try_from(*bytes).unwrap_or(i64::MAX);
                    at.high < 0 || at.low >= end || (at == Offsets::exact(0) && self.starts_with(to, ty))
                }
                DebugType::Void | DebugType::Unknown { .. } => true,
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether the first member of a structure, or the first member of that, has this type.
    fn starts_with(&mut self, whole: DebugTypeId, first: DebugTypeId) -> bool {
        let mut at = whole;
        for _ in 0..8 {
            let DebugType::Record { fields, .. } = &self.program.debug_types[at] else { return false };
            let Some(field) = fields.iter().find(|field| field.bit_offset == 0) else { return false };
            at = self.types.canonical(self.program, field.ty);
            if at == first {
                return true;
            }
        }
        false
    }
}
