//! The lockset table: one copy of each distinct set, shared by all bytes that have it (section 7 of the 2006 paper).
//!
//! A synchronisation event changes the sets in place, so that it costs time in proportion to the distinct sets and not to the
//! memory. Sets that become equal are merged: the id of the one then stands for the other. A copy of the table shares its sets.

use super::point::Point;
use raddle_base::IdVec;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

raddle_base::define_id! {
    /// A set in the table. Two ids may stand for one set, after a merge.
    pub struct LocksetId, "ls"
}

#[derive(Clone, Debug, Default)]
pub struct LocksetTable {
    slots: IdVec<LocksetId, Slot>,
    index: HashMap<Arc<[Point]>, LocksetId>,
    /// Number of slots at which to look for unused sets next.
    limit: usize,
}

#[derive(Clone, Debug)]
enum Slot {
    /// Sorted, without repetition.
    Set(Arc<[Point]>),
    Merged(LocksetId),
}

const FIRST_LIMIT: usize = 64;

impl LocksetTable {
    /// The id of a set that is given sorted.
    pub fn intern(&mut self, set: &[Point]) -> LocksetId {
        if let Some(&id) = self.index.get(set) {
            return id;
        }
        let set: Arc<[Point]> = set.into();
        let id = self.slots.push(Slot::Set(set.clone()));
        self.index.insert(set, id);
        id
    }

    pub fn get(&self, id: LocksetId) -> &[Point] {
        match &self.slots[self.canonical(id)] {
            Slot::Set(set) => set,
            Slot::Merged(_) => unreachable!("canonical ids have sets"),
        }
    }

    pub fn meets(&self, id: LocksetId, sorted: &[Point]) -> bool {
        meets(self.get(id), sorted)
    }

    /// The one id of a set that stands for itself.
    pub fn canonical(&self, mut id: LocksetId) -> LocksetId {
        while let Slot::Merged(other) = self.slots[id] {
            id = other;
        }
        id
    }

    pub fn distinct(&self) -> usize {
        self.index.len()
    }

    /// Adds the points `add` to every set that meets `trigger`; both are sorted.
    pub fn grow(&mut self, trigger: &[Point], add: &[Point]) {
        self.change(|set| {
            if !meets(set, trigger) || add.iter().all(|point| set.binary_search(point).is_ok()) {
                return None;
            }
            let mut grown = [set, add].concat();
            grown.sort_unstable();
            grown.dedup();
            Some(grown)
        });
    }

    /// Takes a point out of every set.
    pub fn retire(&mut self, point: Point) {
        self.change(|set| {
            let at = set.binary_search(&point).ok()?;
            let mut rest = set.to_vec();
            rest.remove(at);
            Some(rest)
        });
    }

    pub fn wants_garbage_collection(&self) -> bool {
        self.slots.len() >= self.limit.max(FIRST_LIMIT)
    }

    /// Keeps the sets in `live` only, which are canonical; gives the new id of every old one that stood for one of them.
    pub fn collect_garbage(&mut self, live: &HashSet<LocksetId>) -> HashMap<LocksetId, LocksetId> {
        let mut kept = LocksetTable::default();
        let mut moved = HashMap::new();
        for id in self.slots.ids() {
            let canonical = self.canonical(id);
            if live.contains(&canonical) {
                moved.insert(id, kept.intern(self.get(canonical)));
            }
        }
        kept.limit = 4 * kept.slots.len();
        *self = kept;
        moved
    }

    /// Changes sets; those for which there is no new value stay. Afterwards no two slots hold equal sets.
    fn change(&mut self, change: impl Fn(&[Point]) -> Option<Vec<Point>>) {
        let mut changed = Vec::new();
        for (id, slot) in self.slots.iter() {
            if let Slot::Set(set) = slot
                && let Some(new) = change(set)
            {
                changed.push((id, Arc::<[Point]>::from(new)));
            }
        }
        for (id, _) in &changed {
            if let Slot::Set(set) = &self.slots[*id] {
                self.index.remove(set);
            }
        }
        for (id, new) in changed {
            self.slots[id] = match self.index.get(&new) {
                Some(&equal) => Slot::Merged(equal),
                None => {
                    self.index.insert(new.clone(), id);
                    Slot::Set(new)
                }
            };
        }
    }
}

fn meets(a: &[Point], b: &[Point]) -> bool {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{LocksetId, LocksetTable, Point};
    use raddle_event::ThreadId;
    use std::collections::HashSet;

    fn points(threads: &[u32]) -> Vec<Point> {
        threads.iter().map(|&t| Point::Thread(ThreadId(t))).collect()
    }

    #[test]
    fn sets_that_become_equal_are_merged_and_stay_so() {
        let mut table = LocksetTable::default();
        let (a, b, c) =
            (table.intern(&points(&[1])), table.intern(&points(&[1, 2])), table.intern(&points(&[3])));
        table.grow(&points(&[1]), &points(&[2]));
        assert_eq!(table.distinct(), 2);
        assert_eq!(table.canonical(a), table.canonical(b));
        table.grow(&points(&[2]), &points(&[4]));
        assert_eq!(table.get(a), points(&[1, 2, 4]));
        assert_eq!(table.get(b), points(&[1, 2, 4]));
        assert_eq!(table.get(c), points(&[3]));
        table.retire(Point::Thread(ThreadId(4)));
        assert_eq!(table.get(a), points(&[1, 2]));
    }

    #[test]
    fn a_grown_set_takes_the_place_of_one_that_grows_away() {
        let mut table = LocksetTable::default();
        let (a, b) = (table.intern(&points(&[1])), table.intern(&points(&[1, 2])));
        table.retire(Point::Thread(ThreadId(1)));
        assert_eq!((table.get(a), table.get(b)), (&points(&[])[..], &points(&[2])[..]));
        assert_eq!(table.intern(&points(&[2])), b);
    }

    #[test]
    fn garbage_collection_keeps_what_is_used() {
        let mut table = LocksetTable::default();
        let ids: Vec<LocksetId> = (0..100).map(|t| table.intern(&points(&[t]))).collect();
        table.grow(&points(&[7]), &points(&[8]));
        table.grow(&points(&[8]), &points(&[7, 8]));
        assert!(table.wants_garbage_collection());
        let live = HashSet::from([table.canonical(ids[7]), table.canonical(ids[50])]);
        let moved = table.collect_garbage(&live);
        assert_eq!(table.distinct(), 2);
        assert_eq!(table.get(moved[&ids[7]]), points(&[7, 8]));
        assert_eq!(moved[&ids[7]], moved[&ids[8]]);
        assert_eq!(table.get(moved[&ids[50]]), points(&[50]));
        assert!(!moved.contains_key(&ids[3]));
    }
}
