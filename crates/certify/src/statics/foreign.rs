//! What calls of functions without body or model may use, by the points-to facts.
//!
//! *May*: all that the arguments lead to, and all that was handed out to any such call: what the last part of
//! [`ObjectKind::Unknown`], the memory of these functions, holds.

use super::code::Code;
use super::library::{Part, part_around, part_of_foreign};
use raddle_base::SiteId;
use raddle_facts::{ObjectId, ObjectKind, Offsets};
use raddle_ir::{CallArg, FunctionId, Inst, Ty};
use raddle_libmodel::memory::Library;
use std::collections::BTreeSet;

type Place = (ObjectId, Offsets);

/// What becomes of an object that such a function can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The calling thread: it stays with the call if all else that the call can reach does (A-EXTLOCAL).
    Caller,
    /// Nobody writes it.
    Constant,
    /// The library, or functions without body or model.
    Others,
    Program,
    /// It is a function, to be called.
    Code,
}

impl Code<'_> {
    pub(crate) fn owner(&self, object: ObjectId) -> Owner {
        match self.kind(object) {
            ObjectKind::Stack(_) | ObjectKind::Parameter(..) | ObjectKind::ThreadLocal(_) => Owner::Caller,
            ObjectKind::Global(global) if self.program.globals[global].constant => Owner::Constant,
            ObjectKind::Global(_) | ObjectKind::Heap(_) | ObjectKind::Outside(_) => Owner::Program,
            ObjectKind::Function(_) => Owner::Code,
            ObjectKind::Library | ObjectKind::Unknown => Owner::Others,
        }
    }

    /// The memory of functions without body or model, if the facts have it.
    pub(crate) fn foreign(&self) -> Option<Place> {
        self.object(ObjectKind::Unknown).map(|object| (object, part_of_foreign(self.program.functions.len())))
    }

    /// What was handed out; sorted.
    pub(crate) fn handed_out(&self) -> Vec<Place> {
        self.foreign().map_or_else(Vec::new, |own| self.behind(&[own], 1))
    }

    /// All pointers in the object, or in the part of it that a place is in.
    pub(crate) fn content(&self, (object, at): Place) -> Vec<Place> {
        match self.owner(object) {
            Owner::Others => self.behind(&[(object, part_around(at))], 1),
            _ => self.behind_any(&[(object, at)]),
        }
    }

    /// All that the arguments of a call lead to.
    pub(crate) fn reach(&self, function: FunctionId, args: &[CallArg]) -> BTreeSet<Place> {
        let mut found: BTreeSet<Place> = BTreeSet::new();
        let mut work: Vec<Place> = Vec::new();
        for arg in args {
            let given = self.pointees(function, arg.value);
            match arg.by_value {
                Some(_) => work.extend(given.into_iter().flat_map(|place| self.content(place))),
                None => work.extend(given),
            }
        }
        while let Some(place) = work.pop() {
            let place = self.lost(&[place])[0];
            if found.insert(place) {
                work.extend(self.content(place));
            }
        }
        found
    }

    /// Whether what a call can reach is handed out.
    pub(crate) fn hands_out(&self, reach: &BTreeSet<Place>) -> bool {
        reach.iter().any(|(object, _)| matches!(self.owner(*object), Owner::Program | Owner::Code))
    }

    /// All that a call of a function without body or model may use.
    pub(crate) fn used(&self, function: FunctionId, args: &[CallArg]) -> BTreeSet<Place> {
        let mut all = self.reach(function, args);
        all.extend(self.handed_out());
        all.extend(self.foreign());
        all
    }

    /// The memory among it that may be written.
    pub(crate) fn used_memory(&self, function: FunctionId, args: &[CallArg]) -> Vec<Place> {
        let streams = Part::Static(Library::Stream).offsets();
        let mut memory: Vec<Place> = self
            .used(function, args)
            .into_iter()
            .filter(|(object, at)| match self.owner(*object) {
                Owner::Constant | Owner::Code => false,
                // Streams have locks of their own.
                Owner::Others => self.kind(*object) != ObjectKind::Library || part_around(*at) != streams,
                Owner::Caller | Owner::Program => true,
            })
            .map(|place| self.lost(&[place])[0])
            .collect();
        memory.sort_unstable();
        memory.dedup();
        memory
    }

    pub(crate) fn is_foreign(&self, (object, at): Place) -> bool {
        self.foreign().is_some_and(|(own, part)| own == object && at.may_overlap(1, part, 1))
    }

    /// Whether the program itself may touch the memory of these functions; if not, what they do there is their own affair.
    pub(crate) fn uses_foreign_memory(&self) -> bool {
        *self.foreign_memory_is_used.get_or_init(|| {
            let found = self.each_instruction(|at, inst| {
                let mut touched = Vec::new();
                let call = self.calls.at(at.function, self.site(at)).filter(|call| !call.unknown.is_empty());
                let places: Vec<Place> = match (inst, call) {
                    (Inst::Call { args, .. }, Some(call)) if call.effects.is_empty() => {
                        let copied = args.iter().filter(|arg| arg.by_value.is_some());
                        copied.flat_map(|arg| self.pointees(at.function, arg.value)).collect()
                    }
                    (_, Some(call)) => {
                        return self.refuse(call.site, "foreign", "its effects are not looked at");
                    }
                    (_, None) => {
                        super::accesses::of_instruction(self, at, inst, &mut touched);
                        touched.iter().flat_map(|access| access.targets.iter().copied()).collect()
                    }
                };
                match places.into_iter().any(|place| self.is_foreign(place)) {
                    true => self.refuse_at(at, "foreign", "it touches memory of functions without a body"),
                    false => Ok(()),
                }
            });
            found.is_err()
        })
    }

    /// Every call of such a function in the reachable code.
    pub(crate) fn foreign_calls(&self) -> impl Iterator<Item = ForeignCall<'_>> {
        self.calls.from.iter().flat_map(move |(function, calls)| {
            calls.iter().filter(|call| !call.unknown.is_empty()).map(move |call| {
                let (dsts, args) = call.parts(self, function);
                let returns_pointer =
                    dsts.iter().any(|dst| self.program.functions[function].regs[*dst].ty == Ty::Ptr);
                ForeignCall { site: call.site, function, args, returns_pointer }
            })
        })
    }
}

#[derive(Clone, Copy)]
pub(crate) struct ForeignCall<'c> {
    pub site: SiteId,
    pub function: FunctionId,
    pub args: &'c [CallArg],
    pub returns_pointer: bool,
}
