//! Which locks an address may mean: points-to sets of terms, and whether two may be the same.
//!
//! *May*: where points-to knows nothing (an empty set, a number used as an address), anything is meant.

use super::Locks;
use raddle_base::Id;
use raddle_facts::{ATOMIC_SECTION, Index, ObjectId, ObjectKind, Offsets, Released, Root, Term};
use raddle_ir::{FunctionId, Operand};

/// More places than this are taken for anything.
const MOST: usize = 64;
/// More patterns of one object than this are taken for all of it.
const MOST_OF_ONE: usize = 8;

impl Locks<'_> {
    /// What an operand may point to.
    pub(super) fn places_of(&self, function: FunctionId, operand: Operand) -> Released {
        if let Operand::Reg(reg) = operand
            && let Some(set) = self.points_to.regs.get(function).and_then(|regs| regs.get(reg.index()))
            && !self.points_to.targets_of(*set).is_empty()
        {
            return Released::These(self.points_to.targets_of(*set).to_vec());
        }
        self.places(self.term(function, operand))
    }

    /// What a term may point to. The atomic section is no place.
    pub(super) fn places(&self, term: Term) -> Released {
        if term == ATOMIC_SECTION {
            return Released::default();
        }
        match term.root {
            Root::Global(global) => match self.objects.get(&ObjectKind::Global(global)) {
                Some(object) => {
                    Released::These(vec![(*object, moved(Offsets::exact(0), term.offset, term.index))])
                }
                None => Released::Anything,
            },
            Root::Reg(function, reg) => {
                let set = self.points_to.regs.get(function).and_then(|regs| regs.get(reg.index()));
                let targets = set.map_or(&[][..], |set| self.points_to.targets_of(*set));
                if targets.is_empty() {
                    return Released::Anything;
                }
                let moved = targets.iter().map(|(o, at)| (*o, moved(*at, term.offset, term.index)));
                Released::These(moved.collect())
            }
            Root::Zero | Root::Function(_) => Released::Anything,
        }
    }

    /// Whether a lock may be among the places. `named`: the term by which they were named, if one.
    pub(super) fn may_be(&self, lock: Term, places: &Released, named: Option<Term>) -> bool {
        if named.and_then(|named| lock.distance(named)).is_some_and(|distance| distance != 0) {
            return false;
        }
        match places {
            Released::Anything => true,
            Released::These(list) if list.is_empty() => false,
            Released::These(_) => self.overlap(&self.places(lock), places),
        }
    }

    /// Both sorted by object.
    pub(super) fn overlap(&self, a: &Released, b: &Released) -> bool {
        let (Released::These(a), Released::These(b)) = (a, b) else { return true };
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            let (object, other) = (a[i].0, b[j].0);
            if object != other {
                *(if object < other { &mut i } else { &mut j }) += 1;
                continue;
            }
            let mine = a[i..].iter().take_while(|(o, _)| *o == object);
            let same = || b[j..].iter().take_while(|(o, _)| *o == object);
            if mine.clone().any(|(_, at)| same().any(|(_, other_at)| at.may_overlap(1, *other_at, 1))) {
                return true;
            }
            let (past, other_past) = (mine.count(), same().count());
            i += past;
            j += other_past;
        }
        self.meet_outside(a, b) || self.meet_outside(b, a)
    }

    /// Different abstract objects can stand for one: memory that comes from outside by two ways.
    fn meet_outside(&self, a: &[(ObjectId, Offsets)], b: &[(ObjectId, Offsets)]) -> bool {
        let kind = |object: &ObjectId| self.points_to.objects[*object].kind;
        let outside =
            |kind| matches!(kind, ObjectKind::Unknown | ObjectKind::Outside(_) | ObjectKind::Library);
        a.iter().any(|(object, _)| kind(object) == ObjectKind::Unknown)
            && b.iter().any(|(object, _)| outside(kind(object)))
    }
}

/// Adds what may be released.
pub(super) fn add(to: &mut Released, more: &Released) {
    let (Released::These(list), Released::These(more)) = (&mut *to, more) else {
        *to = Released::Anything;
        return;
    };
    if more.iter().all(|place| list.binary_search(place).is_ok()) {
        return;
    }
    list.extend(more);
    list.sort();
    list.dedup();
    let mut merged: Vec<(ObjectId, Offsets)> = Vec::new();
    for group in list.chunk_by(|a, b| a.0 == b.0) {
        if group.len() > MOST_OF_ONE || group.iter().any(|(_, at)| *at == Offsets::ANY) {
            merged.push((group[0].0, Offsets::ANY));
        } else {
            merged.extend(group);
        }
    }
    *to = if merged.len() > MOST { Released::Anything } else { Released::These(merged) };
}

fn moved(at: Offsets, by: i64, index: Option<Index>) -> Offsets {
    let anchor = at.anchor.wrapping_add(by);
    let Some(index) = index else {
        let (Some(low), Some(high)) = (shifted(at.low, by), shifted(at.high, by)) else {
            return Offsets::ANY;
        };
        return Offsets { anchor, stride: at.stride, low, high };
    };
    let stride = gcd(at.stride, index.scale.unsigned_abs());
    match stride {
        0 => Offsets::ANY,
        stride => Offsets { anchor, stride, low: i64::MIN, high: i64::MAX },
    }
}

/// Bounds at the ends mean no bound and stay.
fn shifted(bound: i64, by: i64) -> Option<i64> {
    if bound == i64::MIN || bound == i64::MAX { Some(bound) } else { bound.checked_add(by) }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
