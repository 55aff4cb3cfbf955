//! Copies of memory: bytes are gathered from all that one pointer points to into a region of their own, and scattered from there.
//!
//! Large programs have thousands of copies through the same large sets of pointers. So all copies from equal sets gather in one region,
//! and all copies to equal sets scatter from one; sets that grow keep what their smaller selves have gathered.

use super::graph::Node;
use super::memory::{Link, Region};
use super::parts::Look;
use super::pattern;
use super::sets::{EMPTY, Set};
use super::solver::{Solver, UseKind};
use crate::fast_hash::FastMap;
use raddle_facts::Offsets;

#[derive(Default)]
pub(super) struct Copies {
    /// Where bytes from a pointer on are.
    of_pointer: FastMap<(Node, u64), Region>,
    gathered: FastMap<(Set, u64), Region>,
    /// However long: only bytes of the copy are in a region that it scatters from.
    scattered: FastMap<Set, Region>,
}

impl Solver<'_> {
    /// `len` bytes (`u64::MAX`: unknown) from one pointer to the other, offsets kept.
    pub(super) fn copy_bytes(&mut self, to: Node, from: Node, len: u64) {
        if len == 0 {
            return;
        }
        let region = match self.copies.of_pointer.get(&(from, len)) {
            Some(region) => *region,
            None => {
                let region = self.memory.region();
                self.copies.of_pointer.insert((from, len), region);
                self.look_through(from, UseKind::Gather { to: region, len });
                region
            }
        };
        self.look_through(to, UseKind::Scatter { from: region });
    }

    /// Bytes from pointers on go to a region. `before`: the part of the set whose bytes are there already.
    pub(super) fn gather(&mut self, set: Set, before: Set, to: Region, len: u64) {
        if self.sets.len(set) == 1 {
            return self.gather_entries(set, before, to, len);
        }
        let all = match self.copies.gathered.get(&(set, len)) {
            Some(region) => *region,
            None => {
                let before = if self.copies.gathered.contains_key(&(before, len)) { before } else { EMPTY };
                let part = self.parts.of(&self.sets, Look::Gather(len), set, before);
                let region = self.memory.region();
                self.copies.gathered.insert((set, len), region);
                if let Some(known) = self.copies.gathered.get(&(part, len)) {
                    self.link(*known, whole(len, region));
                }
                self.gather_entries(set, part, region, len);
                region
            }
        };
        self.link(all, whole(len, to));
    }

    fn gather_entries(&mut self, set: Set, before: Set, to: Region, len: u64) {
        for entry in self.sets.difference(set, before) {
            let (region, at) = self.place(entry);
            let by = pattern::negated(at);
            self.link(region, Link { from: at, by, ..whole(len, to) });
        }
    }

    /// Bytes of a region go to the pointers of a set.
    pub(super) fn scatter(&mut self, set: Set, before: Set, from: Region) {
        if self.sets.len(set) == 1 {
            return self.scatter_entries(set, before, from);
        }
        let all = match self.copies.scattered.get(&set) {
            Some(region) => *region,
            None => {
                let before = if self.copies.scattered.contains_key(&before) { before } else { EMPTY };
                let part = self.parts.of(&self.sets, Look::Scatter, set, before);
                let region = self.memory.exact_region();
                self.copies.scattered.insert(set, region);
                if let Some(known) = self.copies.scattered.get(&part) {
                    self.link(region, everything(*known));
                }
                self.scatter_entries(set, part, region);
                region
            }
        };
        self.link(from, everything(all));
    }

    fn scatter_entries(&mut self, set: Set, before: Set, from: Region) {
        for entry in self.sets.difference(set, before) {
            let (to, by) = self.place(entry);
            self.link(from, Link { by, ..everything(to) });
        }
    }
}

/// The first bytes of a region, to the same place in another.
fn whole(len: u64, to: Region) -> Link {
    let last = i64::try_from(len).map_or(i64::MAX, |len| len.saturating_sub(1));
    Link { from: Offsets::exact(0), len, within: Some((0, last)), ..everything(to) }
}

fn everything(to: Region) -> Link {
    Link { from: Offsets::ANY, len: u64::MAX, by: Offsets::exact(0), to, within: None }
}
