//! *May*: which memory a term or an argument means, for synchronisation objects, and whether two may be one.

use super::code::Code;
use super::patterns::{contains, scaled, shifted, sum};
use raddle_base::Id;
use raddle_facts::{ATOMIC_SECTION, ObjectId, ObjectKind, Offsets, Released, Root, Term};
use raddle_ir::{CallArg, FunctionId};
use raddle_libmodel::Arg;

/// An argument of a call that is the address of a synchronisation object.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub term: Term,
    pub places: Released,
}

impl Code<'_> {
    /// Where a term may point. The atomic section is no place.
    pub fn places(&self, term: Term) -> Released {
        if term == ATOMIC_SECTION {
            return Released::default();
        }
        let base = match term.root {
            Root::Global(global) => match self.object(self.global_kind(global)) {
                Some(object) => vec![(object, Offsets::exact(0))],
                None => return Released::Anything,
            },
            Root::Reg(function, reg) => self.set(function, reg).to_vec(),
            Root::Zero | Root::Function(_) => return Released::Anything,
        };
        if base.is_empty() {
            return Released::Anything;
        }
        let moved = |at: Offsets| {
            let at = shifted(at, term.offset);
            match term.index {
                Some(index) => {
                    let known = self.facts.values.intervals[index.function][index.reg.index()];
                    sum(at, scaled(known.low, known.high, index.scale))
                }
                None => at,
            }
        };
        Released::These(base.into_iter().map(|(object, at)| (object, moved(at))).collect())
    }

    /// The object that an argument points to; `None`: it is not passed, or no term says it.
    pub fn named(&self, function: FunctionId, args: &[CallArg], arg: Arg) -> Option<Named> {
        let arg = args.get(usize::from(arg.0))?;
        let term = self.term(function, arg.value, arg.ty)?;
        let set = self.pointees(function, arg.value);
        let places = if set.is_empty() { self.places(term) } else { Released::These(set) };
        Some(Named { term, places })
    }

    /// Whether an object at some of these places may be one at some of those.
    pub fn may_be_same(&self, a: &Released, b: &Released) -> bool {
        let (Released::These(a), Released::These(b)) = (a, b) else { return true };
        a.iter().any(|(object, at)| {
            b.iter().any(|(other, offsets)| {
                if object == other {
                    at.may_overlap(1, *offsets, 1)
                } else {
                    self.one_memory(*object, *other)
                }
            })
        })
    }

    /// Memory that comes from outside by two ways.
    fn one_memory(&self, a: ObjectId, b: ObjectId) -> bool {
        let outside =
            |kind| matches!(kind, ObjectKind::Outside(_) | ObjectKind::Library | ObjectKind::Unknown);
        let (a, b) = (self.kind(a), self.kind(b));
        outside(a) && outside(b) && (a == ObjectKind::Unknown || b == ObjectKind::Unknown)
    }

    /// Whether a lock may be the one at `places`, which were named by `named`, if by a term.
    pub fn may_mean(&self, lock: Term, places: &Released, named: Option<Term>) -> bool {
        if named.and_then(|named| lock.distance(named)).is_some_and(|distance| distance != 0) {
            return false;
        }
        match places {
            Released::These(list) if list.is_empty() => false,
            Released::Anything => true,
            Released::These(_) => self.may_be_same(&self.places(lock), places),
        }
    }
}

/// Whether all of `some` is said by `all`.
pub(crate) fn covers(all: &Released, some: &Released) -> bool {
    match (all, some) {
        (Released::Anything, _) => true,
        (_, Released::Anything) => false,
        (Released::These(all), Released::These(some)) => some.iter().all(|(object, at)| {
            all.iter().any(|(other, offsets)| other == object && contains(*offsets, *at))
        }),
    }
}

pub(crate) fn add(to: &mut Released, more: &Released) {
    match (&mut *to, more) {
        (Released::Anything, _) => {}
        (_, Released::Anything) => *to = Released::Anything,
        (Released::These(list), Released::These(more)) => {
            for place in more {
                if !list.contains(place) {
                    list.push(*place);
                }
            }
        }
    }
}
