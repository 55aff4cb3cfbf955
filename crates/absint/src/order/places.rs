//! Where a synchronisation object may be. *May*. Sets of pointers are named and not copied: large programs have thousands of calls
//! with the same ten thousand objects.

use super::{Input, handles};
use crate::terms::term_of;
use raddle_facts::{ObjectId, ObjectKind, Offsets, PointsTo, SetId, Term};
use raddle_ir::{FunctionId, Operand};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Places {
    Anywhere,
    Set(SetId),
    List(Arc<[(ObjectId, Offsets)]>),
}

impl Places {
    /// Where an operand may point to.
    pub fn of_operand(input: Input<'_>, function: FunctionId, operand: Operand) -> Places {
        match operand {
            Operand::Reg(reg) => match input.points_to.regs[function][reg.0 as usize] {
                SetId(0) => Places::Anywhere,
                set => Places::Set(set),
            },
            _ => Places::of_term(input, term_of(input.values, function, operand)),
        }
    }

    /// Where what a term names may be.
    pub fn of_term(input: Input<'_>, term: Term) -> Places {
        let list = handles::places(input, term);
        if list.is_empty() { Places::Anywhere } else { Places::List(list.into()) }
    }

    /// By object, ascending; `None`: anywhere.
    pub fn list<'a>(&'a self, points_to: &'a PointsTo) -> Option<&'a [(ObjectId, Offsets)]> {
        match self {
            Places::Anywhere => None,
            Places::Set(set) => Some(points_to.targets_of(*set)),
            Places::List(list) => Some(list),
        }
    }

    /// Whether two objects may be one.
    pub fn overlap(&self, input: Input<'_>, other: &Places) -> bool {
        let points_to = input.points_to;
        let (Some(a), Some(b)) = (self.list(points_to), other.list(points_to)) else { return true };
        let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
        let meets = |(object, at): &(ObjectId, Offsets)| {
            of_object(many, *object).iter().any(|(_, offsets)| at.may_overlap(1, *offsets, 1))
        };
        few.iter().any(meets) || from_outside(input, a, b) || from_outside(input, b, a)
    }
}

/// What is said of one object in a list that is sorted by objects.
fn of_object(list: &[(ObjectId, Offsets)], object: ObjectId) -> &[(ObjectId, Offsets)] {
    let start = list.partition_point(|(other, _)| *other < object);
    let len = list[start..].iter().take_while(|(other, _)| *other == object).count();
    &list[start..start + len]
}

/// Unknown memory may be any memory that the program did not make.
fn from_outside(input: Input<'_>, unknown: &[(ObjectId, Offsets)], other: &[(ObjectId, Offsets)]) -> bool {
    let Some(object) = input.holders.objects.of(ObjectKind::Unknown) else { return false };
    let is_outside = |object: ObjectId| {
        let kind = input.points_to.objects[object].kind;
        matches!(kind, ObjectKind::Unknown | ObjectKind::Outside(_) | ObjectKind::Library)
    };
    !of_object(unknown, object).is_empty() && other.iter().any(|(object, _)| is_outside(*object))
}
