//! What a detector remembers about the bytes of every memory object.
//!
//! Objects are shared between copies of a detector until one of them writes, so that a copy costs one pointer an object.

use crate::ranges::Ranges;
use raddle_event::{Loc, ObjectId};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Shadow<V> {
    objects: HashMap<ObjectId, Arc<Ranges<V>>, BuildHasherDefault<IdHasher>>,
}

impl<V> Default for Shadow<V> {
    fn default() -> Self {
        Self { objects: HashMap::default() }
    }
}

impl<V: Clone> Shadow<V> {
    pub fn get(&self, object: ObjectId) -> Option<&Ranges<V>> {
        self.objects.get(&object).map(|ranges| &**ranges)
    }

    pub fn get_mut(&mut self, object: ObjectId) -> &mut Ranges<V> {
        Arc::make_mut(self.objects.entry(object).or_default())
    }

    pub fn overlapping(&self, loc: Loc) -> impl Iterator<Item = (Range<u64>, &V)> {
        self.get(loc.object).into_iter().flat_map(move |ranges| ranges.overlapping(byte_range(loc)))
    }

    /// Every segment with its object.
    pub fn segments(&self) -> impl Iterator<Item = (ObjectId, Range<u64>, &V)> {
        let objects = self.objects.iter();
        objects
            .flat_map(|(id, ranges)| ranges.overlapping(0..u64::MAX).map(move |(at, value)| (*id, at, value)))
    }

    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.objects.values().flat_map(|ranges| ranges.values())
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.objects.values_mut().flat_map(|ranges| Arc::make_mut(ranges).values_mut())
    }
}

pub fn byte_range(loc: Loc) -> Range<u64> {
    u64::from(loc.offset)..u64::from(loc.offset) + u64::from(loc.len)
}

/// The part `range` of an object that was accessed at `loc`.
pub fn part(loc: Loc, range: &Range<u64>) -> Loc {
    Loc { object: loc.object, offset: range.start as u32, len: (range.end - range.start) as u32 }
}

/// Ids are dense numbers: one multiplication spreads them well enough.
#[derive(Clone, Copy, Debug, Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }

    fn write_u32(&mut self, id: u32) {
        self.0 = (self.0 ^ u64::from(id)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }
}
