//! Functions without body or model: what they are given, keep, write and return.
//!
//! Their own memory is the last part of [`ObjectKind::Unknown`]. What it holds was *handed out*: every such call may read it, write it and
//! return it. To that belong variables that are declared only; what a call is given, as soon as something in it is neither a local
//! variable nor a constant; and then, and when a call returns a pointer, every variable that other files can name. A local of the caller
//! that is given alone, or with other locals, stays with the call (A-EXTLOCAL).

use super::calls::{Invoke, Passed};
use super::graph::Node;
use super::memory::{Class, Width};
use super::objects::{FOREIGN, foreign_part};
use super::sets::{LOSE, SAME, Set};
use super::solver::{Solver, UseKind};
use raddle_facts::{ObjectKind, Offsets};
use raddle_ir::{GlobalId, Ty};

/// The memory of all functions without body or model.
#[derive(Clone, Copy)]
pub(super) struct Foreign {
    /// A pointer there.
    pointer: Node,
    /// What was handed out: every pointer that it holds.
    kept: Node,
    exports: Exports,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Exports {
    Own,
    HandedOut,
}

/// What one call is given.
#[derive(Clone, Copy)]
pub(super) struct Handover {
    /// All that it can reach.
    reach: Node,
    stays: Stays,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stays {
    WithTheCall,
    HandedOut,
}

/// How far what a pointer points to is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ownership {
    /// Of the calling thread.
    Local,
    /// Nobody writes it.
    Constant,
    /// Memory of the library or of unknown functions.
    Elsewhere,
    Shared,
    Code,
}

impl Solver<'_> {
    pub(super) fn foreign_call(&mut self, invoke: &Invoke) -> Node {
        let foreign = self.foreign();
        let reach = self.graph.node();
        for arg in &invoke.args {
            let Passed { node: Some(node), by_value, .. } = *arg else { continue };
            let given = match by_value {
                Some(_) => {
                    let anywhere = self.shifted(node, LOSE);
                    self.loaded(anywhere, self.word())
                }
                None => node,
            };
            self.graph.edge(&mut self.sets, given, reach, LOSE);
        }
        let index = self.handovers.len() as u32;
        self.handovers.push(Handover { reach, stays: Stays::WithTheCall });
        self.look_through(reach, UseKind::HandOver(index));
        let anything = self.graph.node();
        for from in [foreign.pointer, foreign.kept, reach] {
            self.graph.edge(&mut self.sets, from, anything, SAME);
        }
        for result in &invoke.results {
            if self.is_wide_enough(result.ty) {
                self.graph.edge(&mut self.sets, anything, result.node, SAME);
            }
            if result.ty == Ty::Ptr {
                self.hand_out_exports();
            }
        }
        anything
    }

    fn foreign(&mut self) -> Foreign {
        if let Some(foreign) = self.foreign {
            return foreign;
        }
        let object = self.part(FOREIGN, foreign_part(self.program), None);
        let region = self.memory.of_object(object);
        let kept = self.cell(region, Offsets::ANY, self.word());
        let pointer = self.constant(object, Offsets::ANY);
        let foreign = Foreign { pointer, kept, exports: Exports::Own };
        self.foreign = Some(foreign);
        let declared = |id: &GlobalId| {
            let global = &self.program.globals[*id];
            global.init.is_none() && raddle_libmodel::variable(self.program.text(global.symbol)).is_none()
        };
        let globals: Vec<GlobalId> = self.program.globals.ids().filter(declared).collect();
        globals.into_iter().for_each(|id| self.hand_out(id));
        self.look_through(kept, UseKind::HandedOut);
        if self.is_open() {
            let published = self.published();
            self.graph.edge(&mut self.sets, kept, published, SAME);
        }
        foreign
    }

    fn hand_out_exports(&mut self) {
        let Some(foreign) = &mut self.foreign else { return };
        if foreign.exports == Exports::HandedOut {
            return;
        }
        foreign.exports = Exports::HandedOut;
        let exported = self.program.globals.iter().filter(|(_, global)| global.exported);
        let globals: Vec<GlobalId> = exported.map(|(id, _)| id).collect();
        globals.into_iter().for_each(|id| self.hand_out(id));
    }

    /// The variable can be used by its name.
    fn hand_out(&mut self, id: GlobalId) {
        let Some(Foreign { kept, .. }) = self.foreign else { return };
        if raddle_libmodel::variable(self.program.text(self.program.globals[id].symbol)).is_some() {
            return;
        }
        let object = self.global_object(id);
        if self.program.globals[id].thread_local {
            // Each thread has its own.
            self.exchange(object, kept, kept);
        } else {
            let pointer = self.constant(object, Offsets::ANY);
            self.graph.edge(&mut self.sets, pointer, kept, SAME);
        }
    }

    /// A call can reach more.
    pub(super) fn hand_over(&mut self, index: u32, set: Set, seen: Set) {
        let foreign = self.foreign();
        let Handover { reach, .. } = self.handovers[index as usize];
        for entry in self.sets.difference(set, seen) {
            let object = entry.object();
            self.exchange(object, reach, reach);
            self.exchange(object, foreign.kept, reach);
            let stays = matches!(self.ownership(object), Ownership::Shared | Ownership::Code);
            if stays && self.handovers[index as usize].stays == Stays::WithTheCall {
                self.handovers[index as usize].stays = Stays::HandedOut;
                self.graph.edge(&mut self.sets, reach, foreign.kept, LOSE);
                self.hand_out_exports();
            }
        }
    }

    /// More was handed out.
    pub(super) fn handed_out(&mut self, set: Set, seen: Set) {
        let Foreign { kept, .. } = self.foreign();
        for entry in self.sets.difference(set, seen) {
            self.exchange(entry.object(), kept, kept);
        }
    }

    /// Pointers go into the object, where it can be written, and what it holds can be reached.
    fn exchange(&mut self, object: u32, put: Node, reached: Node) {
        let region = self.memory.of_object(object);
        let held = self.view(region, Offsets::ANY, self.word());
        self.graph.edge(&mut self.sets, held, reached, LOSE);
        match self.ownership(object) {
            // No address fits into less.
            Ownership::Local | Ownership::Shared
                if self.objects.bytes(object).is_none_or(|bytes| bytes >= i64::from(self.pointer_bytes)) =>
            {
                let width = Width { bytes: self.pointer_bytes, class: Class::Raw };
                let cell = self.cell(region, Offsets::ANY, width);
                self.graph.edge(&mut self.sets, put, cell, LOSE);
            }
            _ => {}
        }
    }

    fn ownership(&self, object: u32) -> Ownership {
        match self.objects.kind(object) {
            ObjectKind::Stack(_) | ObjectKind::Parameter(..) | ObjectKind::ThreadLocal(_) => Ownership::Local,
            ObjectKind::Global(global) if self.program.globals[global].constant => Ownership::Constant,
            ObjectKind::Global(_) | ObjectKind::Heap(_) | ObjectKind::Outside(_) => Ownership::Shared,
            ObjectKind::Function(_) => Ownership::Code,
            ObjectKind::Library | ObjectKind::Unknown => Ownership::Elsewhere,
        }
    }
}
