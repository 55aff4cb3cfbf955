//! Sets of places: what it takes for one to be in another.

use super::super::code::Code;
use super::super::library::part_around;
use super::super::patterns::{clipped, covered, sum};
use raddle_facts::{ObjectId, ObjectKind, Offsets};

/// A list of places, any order.
pub(crate) type Places = Vec<(ObjectId, Offsets)>;

impl Code<'_> {
    /// Whether every place is in a set that is sorted by object.
    pub fn includes(&self, set: &[(ObjectId, Offsets)], places: &[(ObjectId, Offsets)]) -> bool {
        places.iter().all(|place| set.contains(place) || self.includes_one(set, *place))
    }

    fn includes_one(&self, set: &[(ObjectId, Offsets)], (object, at): (ObjectId, Offsets)) -> bool {
        let first = set.partition_point(|(other, _)| *other < object);
        let own: Vec<Offsets> =
            set[first..].iter().take_while(|(other, _)| *other == object).map(|(_, at)| *at).collect();
        !own.is_empty() && covered(&own, at)
    }

    /// Places moved by a distance. A pointer into one part of the library's or an unknown object does not leave it.
    pub fn moved(&self, places: &[(ObjectId, Offsets)], by: Offsets) -> Places {
        places
            .iter()
            .map(|(object, at)| {
                let moved = if by == Offsets::ANY { Offsets::ANY } else { sum(*at, by) };
                (*object, self.kept_in_part(*object, *at, moved))
            })
            .collect()
    }

    fn kept_in_part(&self, object: ObjectId, from: Offsets, to: Offsets) -> Offsets {
        match self.kind(object) {
            ObjectKind::Library | ObjectKind::Unknown => {
                let part = part_around(from);
                clipped(to, part.low, part.high).unwrap_or(part)
            }
            _ => to,
        }
    }

    /// The same objects, offsets lost.
    pub fn lost(&self, places: &[(ObjectId, Offsets)]) -> Places {
        self.moved(places, Offsets::ANY)
    }

    /// What a load of `bytes` from these places may find, by the facts about contents.
    pub fn loaded(&self, from: &[(ObjectId, Offsets)], bytes: u32) -> Places {
        let mut found = Vec::new();
        for (object, at) in from {
            for cell in &self.facts.points_to.contents[*object] {
                if !cell.at.may_overlap(u64::from(cell.bytes), *at, u64::from(bytes)) {
                    continue;
                }
                let held = self.targets(cell.holds);
                if cell.bytes == bytes && same_starts(cell.at, *at) {
                    found.extend_from_slice(held);
                } else {
                    found.extend(self.lost(held));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether the contents of these places hold the values, each in `bytes`.
    pub fn holds(&self, places: &[(ObjectId, Offsets)], bytes: u32, values: &[(ObjectId, Offsets)]) -> bool {
        values.is_empty()
            || places.iter().all(|(object, at)| {
                let cells: Vec<&raddle_facts::Cell> = self.facts.points_to.contents[*object]
                    .iter()
                    .filter(|cell| cell.bytes >= bytes && covered(&[cell.at], *at))
                    .collect();
                values.iter().all(|value| {
                    cells
                        .iter()
                        .any(|cell| self.includes(self.targets(cell.holds), std::slice::from_ref(value)))
                })
            })
    }

    /// Whether `bytes` bytes copied from one place to another leave all addresses where the facts have them.
    pub fn holds_copy(&self, to: &[(ObjectId, Offsets)], from: &[(ObjectId, Offsets)], bytes: u64) -> bool {
        let last = i64::try_from(bytes).map_or(i64::MAX, |bytes| bytes.saturating_sub(1));
        from.iter().all(|(source, start)| {
            self.facts.points_to.contents[*source].iter().all(|cell| {
                let held = self.targets(cell.holds);
                if held.is_empty() || !cell.at.may_overlap(u64::from(cell.bytes), *start, bytes) {
                    return true;
                }
                let distance = sum(cell.at, super::super::patterns::negated(*start));
                let first = 1 - i64::from(cell.bytes);
                let Some(distance) = clipped(distance, first, last) else { return true };
                let moved = self.moved(to, distance).into_iter();
                let places: Places =
                    moved.filter_map(|place| self.kept_inside(place, i64::from(cell.bytes))).collect();
                self.holds(&places, cell.bytes, held)
            })
        })
    }

    /// By A-BOUNDS a copy ends with the object that it goes to, where the size of that is one constant.
    fn kept_inside(&self, (object, at): (ObjectId, Offsets), bytes: i64) -> Option<(ObjectId, Offsets)> {
        let known = match self.kind(object) {
            ObjectKind::Global(global) | ObjectKind::ThreadLocal(global) => {
                self.program.globals[global].init.is_some()
            }
            ObjectKind::Stack(_) | ObjectKind::Heap(_) => true,
            _ => false,
        };
        let size = self.facts.points_to.objects[object].bytes.filter(|_| known);
        match size.and_then(|size| i64::try_from(size).ok()) {
            Some(size) => clipped(at, 1 - bytes, size - 1).map(|at| (object, at)),
            None => Some((object, at)),
        }
    }
}

/// Whether starts that can be equal are: a value that is read where it was written is read whole.
fn same_starts(a: Offsets, b: Offsets) -> bool {
    let common = super::super::patterns::gcd(a.stride, b.stride);
    let distance = i128::from(a.anchor) - i128::from(b.anchor);
    if common == 0 { distance == 0 } else { super::super::patterns::multiple(distance, common) }
}
