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

use crate::address::{Address, Addresses, Root};
use crate::barriers::Barriers;
use crate::body::Body;
use crate::checks::{Check, Size};
use crate::graph::Graph;
use crate::llvm::{Module, Value};
use crate::marks::Role;

/// Checks that are needed, and calls of checks that others stand for.
pub(crate) fn reduce(
    module: &Module,
    body: &Body,
    graph: &Graph,
    barriers: &Barriers,
    checks: Vec<Check>,
) -> (Vec<Check>, Vec<Value>) {
    let mut addresses = Addresses::new(module);
    let keys = checks.iter().map(|check| key(&mut addresses, check)).collect::<Vec<_>>();
    let mut analysis = Analysis::new(body, barriers, &checks, &keys);
    let mut redundant = vec![false; checks.len()];
    analysis.backward(&mut redundant);
    analysis.forward(graph, &mut redundant);
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
        Self { body, barriers, by_block, positions, keys, bits, covered }
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

    fn intersect(&mut self, other: &Bits) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= other;
        }
    }
}
