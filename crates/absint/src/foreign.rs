//! What calls of functions without body or model may use: see [`raddle_facts::points_to`] for what the facts say of them.
//!
//! *May*: all that such a call can reach, and all that was ever handed out to one.

use crate::accesses::Objects;
use crate::points_to::{FOREIGN, LibraryPart, foreign_offsets, part_around};
use raddle_facts::{ObjectId, ObjectKind, Offsets, PointsTo};
use raddle_ir::{CallArg, FunctionId, Operand, Program};
use raddle_libmodel::memory::Library;
use std::collections::BTreeSet;

pub struct Foreign<'a> {
    program: &'a Program,
    points_to: &'a PointsTo,
    objects: Objects,
    /// Handed out.
    kept: BTreeSet<(ObjectId, Offsets)>,
}

/// What one call may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// Memory that it may read and write; sorted.
    pub memory: Vec<(ObjectId, Offsets)>,
    /// A function that it may call.
    pub function: Option<FunctionId>,
    /// It was given a local variable, and nothing that others can see.
    pub keeps_locals_apart: bool,
}

impl<'a> Foreign<'a> {
    pub fn new(program: &'a Program, points_to: &'a PointsTo) -> Foreign<'a> {
        let objects = Objects::new(points_to);
        let mut kept = BTreeSet::new();
        if let Some(unknown) = objects.of(FOREIGN) {
            let own = foreign_offsets(program);
            for cell in &points_to.contents[unknown] {
                if cell.at.may_overlap(u64::from(cell.bytes), own, 1) {
                    kept.extend(points_to.targets_of(cell.holds));
                }
            }
            kept.insert((unknown, own));
        }
        Foreign { program, points_to, objects, kept }
    }

    /// Whether anything but numbers, constants and locals of the caller was handed out.
    pub fn is_open(&self) -> bool {
        self.kept.iter().any(|(object, _)| self.kind(*object) != FOREIGN)
    }

    /// Whether a place may be in the memory of these functions.
    pub fn is_own(&self, object: ObjectId, at: Offsets) -> bool {
        self.kind(object) == FOREIGN && at.may_overlap(1, foreign_offsets(self.program), 1)
    }

    /// Whether a place is in memory of which nothing at all is known.
    pub fn is_unknown(&self, object: ObjectId, at: Offsets) -> bool {
        let own = foreign_offsets(self.program);
        self.kind(object) == ObjectKind::Unknown && (at.low < own.low || at.high > own.high)
    }

    pub fn of_call(&self, function: FunctionId, args: &[CallArg]) -> Use {
        let reach = self.reach(function, args);
        let is_local = |object: ObjectId| {
            matches!(
                self.kind(object),
                ObjectKind::Stack(_) | ObjectKind::Parameter(..) | ObjectKind::ThreadLocal(_)
            )
        };
        let keeps_locals_apart = reach
            .iter()
            .any(|(object, _)| is_local(*object) && !self.kept.iter().any(|(kept, _)| kept == object));
        let all: BTreeSet<(ObjectId, Offsets)> = reach.union(&self.kept).copied().collect();
        let function = all.iter().find_map(|(object, _)| match self.kind(*object) {
            ObjectKind::Function(function) => Some(function),
            _ => None,
        });
        let memory: BTreeSet<(ObjectId, Offsets)> =
            all.into_iter().filter_map(|place| self.touched(place)).collect();
        Use { memory: memory.into_iter().collect(), function, keeps_locals_apart }
    }

    fn kind(&self, object: ObjectId) -> ObjectKind {
        self.points_to.objects[object].kind
    }

    /// What it may write of an object.
    fn touched(&self, (object, at): (ObjectId, Offsets)) -> Option<(ObjectId, Offsets)> {
        match self.kind(object) {
            ObjectKind::Function(_) => None,
            ObjectKind::Global(global) if self.program.globals[global].constant => None,
            // Streams have locks of their own.
            ObjectKind::Library => {
                let streams = LibraryPart::Static(Library::Stream).offsets();
                (at.low < streams.low || at.high > streams.high).then_some((object, at))
            }
            ObjectKind::Unknown => Some((object, at)),
            _ => Some((object, Offsets::ANY)),
        }
    }

    /// All that the arguments lead to.
    fn reach(&self, function: FunctionId, args: &[CallArg]) -> BTreeSet<(ObjectId, Offsets)> {
        let mut found = BTreeSet::new();
        let mut looked: BTreeSet<(ObjectId, Offsets)> = BTreeSet::new();
        let mut work: Vec<(ObjectId, Offsets)> = Vec::new();
        for arg in args {
            let targets = self.objects.targets(self.points_to, function, arg.value);
            let mut targets = targets.of(self.points_to).to_vec();
            if let Operand::Function(target) = arg.value {
                let object = self.objects.of(ObjectKind::Function(target));
                targets.extend(object.map(|object| (object, Offsets::exact(0))));
            }
            if arg.by_value.is_none() {
                found.extend(targets.iter().copied());
            }
            work.extend(targets);
        }
        while let Some((object, at)) = work.pop() {
            let at = match self.kind(object) {
                ObjectKind::Library | ObjectKind::Unknown => part_around(at),
                _ => Offsets::ANY,
            };
            if !looked.insert((object, at)) {
                continue;
            }
            for cell in &self.points_to.contents[object] {
                if cell.at.may_overlap(u64::from(cell.bytes), at, 1) {
                    let held = self.points_to.targets_of(cell.holds);
                    found.extend(held);
                    work.extend(held);
                }
            }
        }
        found
    }
}
