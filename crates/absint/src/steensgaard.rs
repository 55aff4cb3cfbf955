//! Partitions of pointers by unification (Steensgaard, POPL 1996), near linear: the first step of the paper's alias analysis (section 3.1),
//! and the coarse fallback of [`crate::points_to`].
//!
//! Every object is one class of memory, whole objects at a time, and everything that an assignment may connect is merged. *May*: two
//! pointers that may point to the same object have the same class; a pointer that may point to an object has the object's class. All
//! functions are looked at, called or not, in reachable blocks. Differs from the paper's source in that calls through pointers merge
//! the signatures of all functions of the class.

mod classes;
mod library;
mod walk;

use crate::Roots;
use classes::{Class, Classes};
use raddle_base::Id;
use raddle_facts::{ObjectKind, Values};
use raddle_ir::{FunctionId, Program, Reg};
use raddle_libmodel::Models;
use std::collections::{BTreeMap, BTreeSet};

raddle_base::define_id! {
    /// A partition: the pointers that may point to the same objects.
    pub struct PartitionId, "P"
}

pub fn partitions(program: &Program, models: &Models, values: &Values, roots: &Roots) -> Partitions {
    let mut walk = walk::Walk::new(program, models, values, roots);
    walk.run();
    walk.finish()
}

#[derive(Clone, Debug, Default)]
pub struct Partitions {
    /// Per function, per register.
    registers: Vec<Vec<Option<PartitionId>>>,
    objects: BTreeMap<ObjectKind, PartitionId>,
    locks: BTreeSet<PartitionId>,
}

impl Partitions {
    /// The partition of a pointer in a register; `None` if it points to no object.
    pub fn of_register(&self, function: FunctionId, reg: Reg) -> Option<PartitionId> {
        self.registers[function.index()].get(reg.index()).copied().flatten()
    }

    /// The partition of pointers to this object; `None` if there are none. What the library and unknown functions own is in many
    /// partitions, and has none.
    pub fn of_object(&self, kind: ObjectKind) -> Option<PartitionId> {
        self.objects.get(&kind).copied()
    }

    /// Partitions of pointers that reach a lock operation.
    pub fn lock_partitions(&self) -> &BTreeSet<PartitionId> {
        &self.locks
    }

    /// Objects with their partition.
    pub fn objects(&self) -> impl Iterator<Item = (ObjectKind, PartitionId)> + '_ {
        self.objects.iter().map(|(kind, id)| (*kind, *id))
    }

    fn number(
        classes: &mut Classes,
        registers: &[Vec<Option<Class>>],
        objects: &[(ObjectKind, Class)],
        locks: &[Class],
    ) -> Partitions {
        let mut ids: BTreeMap<Class, PartitionId> = BTreeMap::new();
        let mut result = Partitions::default();
        for (kind, class) in objects {
            let root = classes.find(*class);
            let next = PartitionId::from_index(ids.len());
            let id = *ids.entry(root).or_insert(next);
            if !matches!(kind, ObjectKind::Library | ObjectKind::Unknown) {
                result.objects.insert(*kind, id);
            }
        }
        for function in registers {
            let row = function.iter().map(|register| {
                let pointee = classes.pointee_if_any((*register)?)?;
                ids.get(&pointee).copied()
            });
            result.registers.push(row.collect());
        }
        for class in locks {
            let root = classes.find(*class);
            result.locks.extend(ids.get(&root));
        }
        result
    }
}
