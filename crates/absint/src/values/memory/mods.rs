//! *May*: which memory a function writes, with all that it calls, in its own thread.

use crate::accesses::{Access, Kind};
use crate::calls::{Calls, Way};
use raddle_base::IdVec;
use raddle_facts::{ObjectId, Offsets, PointsTo};
use raddle_ir::FunctionId;
use std::collections::BTreeMap;

/// Objects listed per function, and places per object; beyond, everything.
const MOST_OBJECTS: usize = 256;
const MOST_PLACES: usize = 12;

pub(crate) struct Mods {
    functions: IdVec<FunctionId, Writes>,
}

#[derive(Clone, Debug, PartialEq)]
enum Writes {
    These(BTreeMap<ObjectId, Vec<(Offsets, u64)>>),
    Anything,
}

impl Mods {
    pub fn of(calls: &Calls, points_to: &PointsTo, accesses: &[Access]) -> Mods {
        let mut functions: IdVec<FunctionId, Writes> =
            calls.from.ids().map(|_| Writes::These(BTreeMap::new())).collect();
        for access in accesses.iter().filter(|access| access.kind != Kind::Read) {
            for (object, at) in access.targets(points_to) {
                functions[access.function].add(*object, *at, access.bytes);
            }
        }
        let mut mods = Mods { functions };
        // Once functions are no nested calls in the order of components, so one pass need not be enough.
        while mods.pass(calls) {}
        mods
    }

    fn pass(&mut self, calls: &Calls) -> bool {
        let mut changed = false;
        for component in &calls.bottom_up {
            loop {
                let mut grown = false;
                for function in component {
                    let mut callees: Vec<FunctionId> = calls.from[*function]
                        .iter()
                        .flat_map(|call| &call.runs)
                        .filter(|(_, way)| way.is_nested() || *way == Way::Once)
                        .map(|(target, _)| *target)
                        .filter(|target| target != function)
                        .collect();
                    callees.sort_unstable();
                    callees.dedup();
                    for callee in callees {
                        let theirs = std::mem::replace(&mut self.functions[callee], Writes::Anything);
                        grown |= self.functions[*function].include(&theirs);
                        self.functions[callee] = theirs;
                    }
                }
                changed |= grown;
                if !grown || component.len() == 1 {
                    break;
                }
            }
        }
        changed
    }

    pub fn may_write(&self, function: FunctionId, places: &[(ObjectId, Offsets)], bytes: u8) -> bool {
        match &self.functions[function] {
            Writes::Anything => true,
            Writes::These(writes) => places.iter().any(|(object, at)| {
                let written = writes.get(object).map_or(&[][..], Vec::as_slice);
                written.iter().any(|(offsets, extent)| offsets.may_overlap(*extent, *at, u64::from(bytes)))
            }),
        }
    }
}

impl Writes {
    /// True if something was added.
    fn add(&mut self, object: ObjectId, at: Offsets, bytes: u64) -> bool {
        let Writes::These(writes) = self else { return false };
        let places = writes.entry(object).or_default();
        let known =
            |(other, extent): &(Offsets, u64)| (*other == at || *other == Offsets::ANY) && *extent >= bytes;
        if places.iter().any(known) {
            return false;
        }
        if places.len() == MOST_PLACES {
            *places = vec![(Offsets::ANY, u64::MAX)];
        } else {
            places.push((at, bytes));
        }
        if writes.len() > MOST_OBJECTS {
            *self = Writes::Anything;
        }
        true
    }

    fn include(&mut self, other: &Writes) -> bool {
        match (&*self, other) {
            (Writes::Anything, _) => false,
            (_, Writes::Anything) => {
                *self = Writes::Anything;
                true
            }
            (Writes::These(_), Writes::These(theirs)) => {
                let mut grown = false;
                for (object, places) in theirs {
                    for (at, bytes) in places {
                        grown |= self.add(*object, *at, *bytes);
                    }
                }
                grown
            }
        }
    }
}
