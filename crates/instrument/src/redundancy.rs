//! Checks that others stand for.
//!
//! Within a region without barriers a check says nothing new if the same bytes were checked on every way there, for a write or for
//! the same kind of access. And a read says nothing that a write of the same bytes does not say, if the write surely follows. Forward:
//! available expressions over keys (root, bytes, kind), which die at barriers. Backward: within a block.
//!
//! A key need not die where an instruction that its address is computed from runs again, in a loop: that instruction dominates all
//! checks of the key. On a way that passes it and then comes to a check, some other check of the key lies after the last pass, or else
//! the way that starts with it would have none.

use std::collections::HashMap;

use raddle_runtime::sites::Reads;

use crate::address::{Address, Addresses, Root};
use crate::barriers::Barriers;
use crate::body::Body;
use crate::checks::{Check, Size};
use crate::graph::Graph;
use crate::llvm::{Module, Value};
use crate::marks::{Marks, Role};

/// Checks that are needed, and calls of checks that others stand for.
pub(crate) fn reduce(
    module: &Module,
    body: &Body,
    graph: &Graph,
    barriers: &Barriers,
    checks: Vec<Check>,
    marks: &mut Marks,
) -> (Vec<Check>, Vec<Value>) {
    let mut addresses = Addresses::new(module);
    let keys = checks.iter().map(|check| key(&mut addresses, check)).collect::<Vec<_>>();
    let mut analysis = Analysis::new(body, barriers, &checks, &keys);
    let mut redundant = vec![false; checks.len()];
    analysis.backward(&mut redundant);
    analysis.forward(graph, &mut redundant);
    analysis.pass_on(graph, &checks, &redundant, marks);
    let (mut needed, mut dead) = (Vec::new(), Vec::new());
    for (check, redundant) in checks.into_iter().zip(redundant) {
        if redundant {
            dead.push(check.call);
        } else {
            needed.push(check);
        }
    }
    (needed, dead)
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    root: Root,
    first: i64,
    end: i64,
    write: bool,
}

fn key(addresses: &mut Addresses<'_>, check: &Check) -> Option<Key> {
    let Size::Bytes(bytes) = check.size else { return None };
    let Address { root, offset } = addresses.of(check.address);
    let end = offset.checked_add(i64::try_from(bytes).ok()?)?;
    Some(Key { root, first: offset, end, write: check.role == Role::Write })
}

impl Key {
    fn covers(&self, other: &Key) -> bool {
        self.root == other.root
            && self.first <= other.first
            && self.end >= other.end
            && (self.write || !other.write)
    }

    fn overlaps(&self, other: &Key) -> bool {
        self.root == other.root && self.first < other.end && other.first < self.end
    }
}

struct Analysis<'a> {
    body: &'a Body,
    barriers: &'a Barriers,
    /// Checks by block, in order.
    by_block: Vec<Vec<usize>>,
    positions: Vec<usize>,
    keys: &'a [Option<Key>],
    /// The bit of each check's key.
    bits: Vec<Option<usize>>,
    /// All bits that a key covers, by bit.
    covered: Vec<Vec<usize>>,
    /// Checks by the root of their addresses.
    by_root: HashMap<Root, Vec<usize>>,
}

/// Beyond so many bits in all blocks together, only what is in the same block is looked at.
const MOST_BITS: usize = 1 << 30;

impl<'a> Analysis<'a> {
    fn new(body: &'a Body, barriers: &'a Barriers, checks: &[Check], keys: &'a [Option<Key>]) -> Self {
        let mut by_block = vec![Vec::new(); body.blocks.len()];
        for (index, check) in checks.iter().enumerate() {
            by_block[check.block].push(index);
        }
        let mut distinct: Vec<Key> = Vec::new();
        let mut known: HashMap<Key, usize> = HashMap::new();
        let mut bits = Vec::with_capacity(keys.len());
        for key in keys {
            bits.push(key.map(|key| {
                *known.entry(key).or_insert_with(|| {
                    distinct.push(key);
                    distinct.len() - 1
                })
            }));
        }
        let mut by_root: HashMap<Root, Vec<usize>> = HashMap::new();
        for (bit, key) in distinct.iter().enumerate() {
            by_root.entry(key.root).or_default().push(bit);
        }
        let covered = distinct
            .iter()
            .map(|key| by_root[&key.root].iter().copied().filter(|bit| key.covers(&distinct[*bit])).collect())
            .collect();
        let positions = checks.iter().map(|check| check.position).collect();
        let mut checks_by_root: HashMap<Root, Vec<usize>> = HashMap::new();
        for (check, key) in keys.iter().enumerate() {
            if let Some(key) = key {
                checks_by_root.entry(key.root).or_default().push(check);
            }
        }
        Self { body, barriers, by_block, positions, keys, bits, covered, by_root: checks_by_root }
    }

    /// A read is left out if a write of its bytes follows in its block before any barrier.
    fn backward(&mut self, redundant: &mut [bool]) {
        for (block, list) in self.by_block.iter().enumerate() {
            let instructions = &self.body.instructions[block];
            let mut writes: Vec<Key> = Vec::new();
            let mut above = instructions.len();
            for &check in list.iter().rev() {
                let position = self.positions[check];
                if instructions[position..above].iter().any(|inst| self.barriers.is(*inst)) {
                    writes.clear();
                }
                above = position;
                let Some(key) = self.keys[check] else { continue };
                if key.write {
                    writes.push(key);
                } else if writes.iter().any(|write| write.covers(&key)) {
                    redundant[check] = true;
                }
            }
        }
    }

    fn forward(&mut self, graph: &Graph, redundant: &mut [bool]) {
        let count = self.covered.len();
        let whole = count.saturating_mul(self.body.blocks.len()) <= MOST_BITS;
        let mut out: Vec<Option<Bits>> = vec![None; self.body.blocks.len()];
        let mut changed = whole;
        while changed {
            changed = false;
            for &block in &graph.order {
                let mut bits = self.entering(block, &out, count);
                self.pass(block, &mut bits, redundant, None);
                if out[block].as_ref() != Some(&bits) {
                    out[block] = Some(bits);
                    changed = true;
                }
            }
        }
        let mut found = Vec::new();
        for &block in &graph.order {
            let mut bits = if whole { self.entering(block, &out, count) } else { Bits::empty(count) };
            self.pass(block, &mut bits, redundant, Some(&mut found));
        }
        for check in found {
            redundant[check] = true;
        }
    }

    /// What is read at a check counts at those that may be recorded for it: reads of the same bytes that some way has passed since the last
    /// barrier, and the write that a read was left to.
    fn pass_on(&self, graph: &Graph, checks: &[Check], redundant: &[bool], marks: &mut Marks) {
        let is_read = |check: usize| self.keys[check].is_some_and(|key| !key.write);
        let all = || 0..checks.len();
        let decides: Vec<bool> =
            checks.iter().map(|check| marks.reads_of(check.site) == Reads::Decides).collect();
        let mut pairs = Vec::new();
        for check in all().filter(|check| is_read(*check) && decides[*check]) {
            let Some(key) = self.keys[check] else { continue };
            let same = self.by_root.get(&key.root).into_iter().flatten().copied();
            let same = same.filter(|other| is_read(*other) && !decides[*other]);
            let overlaps = |other: &usize| self.keys[*other].is_some_and(|other| other.overlaps(&key));
            pairs.extend(same.filter(overlaps).map(|other| (check, other)));
        }
        if !pairs.is_empty() {
            let before = self.reads_before(graph, checks.len());
            pairs.retain(|(check, other)| before.as_ref().is_none_or(|before| before[*check].has(*other)));
        }
        for (_, other) in pairs {
            marks.reads(checks[other].site, Reads::Decides);
        }
        let reads: Vec<Reads> = checks.iter().map(|check| marks.reads_of(check.site)).collect();
        for check in all().filter(|check| redundant[*check] && is_read(*check)) {
            let Some(key) = self.keys[check] else { continue };
            for &other in self.by_block[checks[check].block].iter().filter(|other| **other > check) {
                if self.keys[other].is_some_and(|other| other.write && other.covers(&key)) {
                    marks.reads(checks[other].site, reads[check]);
                }
            }
        }
    }

    /// For each check, the reads that some way to it has passed since the last barrier. `None` where that would be too much: any may be.
    fn reads_before(&self, graph: &Graph, count: usize) -> Option<Vec<Bits>> {
        if count.saturating_mul(self.body.blocks.len() + count) > MOST_BITS {
            return None;
        }
        let mut out = vec![Bits::empty(count); self.body.blocks.len()];
        let mut before = vec![Bits::empty(count); count];
        let mut changed = true;
        while changed {
            changed = false;
            for &block in &graph.order {
                let mut bits = Bits::empty(count);
                self.body.predecessors[block].iter().for_each(|from| bits.unite(&out[*from]));
                let mut checks = self.by_block[block].iter().copied().peekable();
                for (position, inst) in self.body.instructions[block].iter().enumerate() {
                    while let Some(check) = checks.next_if(|check| self.positions[*check] == position) {
                        before[check].clone_from(&bits);
                        bits.set(check);
                    }
                    if self.barriers.is(*inst) {
                        bits.clear();
                    }
                }
                if out[block] != bits {
                    out[block] = bits;
                    changed = true;
                }
            }
        }
        Some(before)
    }

    /// What is known at the beginning of a block: what all ways agree on. Ways not yet looked at agree with everything.
    fn entering(&self, block: usize, out: &[Option<Bits>], count: usize) -> Bits {
        if block == 0 {
            return Bits::empty(count);
        }
        let mut known = self.body.predecessors[block].iter().filter_map(|block| out[*block].as_ref());
        let Some(first) = known.next() else { return Bits::empty(count) };
        let mut bits = first.clone();
        for other in known {
            bits.intersect(other);
        }
        bits
    }

    fn pass(&self, block: usize, bits: &mut Bits, dropped: &[bool], mut found: Option<&mut Vec<usize>>) {
        let mut checks = self.by_block[block].iter().copied().peekable();
        for (position, inst) in self.body.instructions[block].iter().enumerate() {
            while let Some(check) = checks.next_if(|check| self.positions[*check] == position) {
                let Some(bit) = self.bits[check] else { continue };
                // A read left to a later write is not checked here.
                if dropped[check] {
                    continue;
                }
                if bits.has(bit)
                    && let Some(found) = &mut found
                {
                    found.push(check);
                }
                for &bit in &self.covered[bit] {
                    bits.set(bit);
                }
            }
            if self.barriers.is(*inst) {
                bits.clear();
            }
        }
    }
}

#[derive(Clone, PartialEq, Eq)]
struct Bits(Vec<u64>);

impl Bits {
    fn empty(count: usize) -> Bits {
        Bits(vec![0; count.div_ceil(64)])
    }

    fn has(&self, bit: usize) -> bool {
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn set(&mut self, bit: usize) {
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    fn clear(&mut self) {
        self.0.fill(0);
    }

    fn unite(&mut self, other: &Bits) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    fn intersect(&mut self, other: &Bits) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= other;
        }
    }
}
