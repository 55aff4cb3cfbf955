//! Which object an address belongs to at a moment of the run: regions come and go, and what comes again is another object.
//!
//! Offsets in objects have 32 bits, so large regions are several objects in a row. An address that nobody has accounted for gets an
//! object of its own neighbourhood; it errs towards one object where there were several lives.

use super::{Object, ObjectKind};
use raddle_base::SiteId;
use raddle_event::{Addr, Loc, ObjectId, ThreadId};
use std::collections::BTreeMap;

/// Bytes of a region that one object stands for.
const PART: u64 = 1 << 31;
/// No process has more memory.
const MOST: u64 = 1 << 47;
/// Memory that nobody accounts for is cut into pieces of this size.
const NEIGHBOURHOOD: u64 = 1 << 20;

pub(super) struct AddressSpace {
    pub(super) objects: Vec<Object>,
    /// Memory that nobody accounts for is not looked for beyond so many objects.
    most: usize,
    /// By start.
    regions: BTreeMap<u64, Region>,
}

#[derive(Clone, Copy)]
struct Region {
    end: u64,
    /// Where the first of its objects starts: a region may have lost its beginning.
    base: u64,
    first: u32,
    kind: ObjectKind,
}

impl AddressSpace {
    pub(super) fn new(most: usize) -> Self {
        Self { objects: Vec::new(), most, regions: BTreeMap::new() }
    }

    /// More objects than a file of this size can be about.
    pub(super) fn is_full(&self) -> bool {
        self.objects.len() > self.most
    }

    /// A new life of some memory. False where that is impossible.
    pub(super) fn add(&mut self, object: Object) -> bool {
        let end = object.address.checked_add(object.bytes.max(1)).filter(|_| object.bytes <= MOST);
        let Some(end) = end else { return false };
        let parts = (end - object.address).div_ceil(PART);
        if self.objects.len() as u64 + parts >= u64::from(u32::MAX) {
            return false;
        }
        self.remove(object.address, end);
        let region =
            Region { end, base: object.address, first: self.objects.len() as u32, kind: object.kind };
        for part in 0..parts {
            let address = object.address + part * PART;
            self.objects.push(Object { address, bytes: (end - address).min(PART), ..object });
        }
        if object.bytes == 0 {
            self.objects[region.first as usize].bytes = 0;
        }
        self.regions.insert(object.address, region);
        true
    }

    /// The memory belongs to nobody.
    pub(super) fn remove(&mut self, start: u64, end: u64) {
        let before = self.regions.range(..start).next_back().map(|(at, region)| (*at, *region));
        if let Some((at, region)) = before
            && region.end > start
        {
            self.regions.insert(at, Region { end: start, ..region });
            if region.end > end {
                self.regions.insert(end, region);
            }
        }
        let inside: Vec<u64> = self.regions.range(start..end).map(|(at, _)| *at).collect();
        for at in inside {
            let region = self.regions.remove(&at);
            if let Some(region) = region.filter(|region| region.end > end) {
                self.regions.insert(end, region);
            }
        }
    }

    /// The heap block that starts here.
    pub(super) fn block(&self, address: u64) -> Option<Vec<ObjectId>> {
        let region = self.regions.get(&address)?;
        let parts = (region.end - region.base).div_ceil(PART) as u32;
        (region.kind == ObjectKind::Heap && region.base == address)
            .then(|| (region.first..region.first + parts).map(ObjectId).collect())
    }

    pub(super) fn address(&mut self, address: u64) -> Addr {
        let (_, addr) = self.find(address);
        addr
    }

    /// The bytes from `start` to before `end`, object by object, `most` of these.
    pub(super) fn ranges(&mut self, start: u64, end: u64, most: usize, mut visit: impl FnMut(Loc)) {
        let mut at = start;
        for _ in 0..most {
            if at >= end || self.is_full() {
                break;
            }
            let (last, Addr { object, offset }) = self.find(at);
            let stop = last.min(end);
            visit(Loc { object, offset, len: (stop - at) as u32 });
            at = stop;
        }
    }

    /// The object and offset of an address, and where the object ends.
    fn find(&mut self, address: u64) -> (u64, Addr) {
        // Ends are exclusive, so the last byte can be in no region.
        let address = address.min(u64::MAX - 1);
        let before = self.regions.range(..=address).next_back();
        let region = match before.filter(|(_, region)| region.end > address) {
            Some((_, region)) => *region,
            None => self.stranger(address),
        };
        let offset = address - region.base;
        let part = offset / PART;
        let end = region.end.min(region.base.saturating_add((part + 1) * PART));
        let object = ObjectId(region.first + part as u32);
        (end, Addr { object, offset: (offset % PART) as u32 })
    }

    fn stranger(&mut self, address: u64) -> Region {
        let before = self.regions.range(..=address).next_back().map_or(0, |(_, region)| region.end);
        let after = self.regions.range(address..).next().map_or(u64::MAX, |(at, _)| *at);
        let start = (address & !(NEIGHBOURHOOD - 1)).max(before);
        let end = (address & !(NEIGHBOURHOOD - 1))
            .saturating_add(NEIGHBOURHOOD)
            .min(after)
            .max(address.saturating_add(1));
        let kind = ObjectKind::Unknown;
        let object =
            Object { kind, address: start, bytes: end - start, site: SiteId(0), thread: ThreadId::MAIN };
        self.add(object);
        self.regions[&start]
    }
}

#[cfg(test)]
mod tests {
    use super::{AddressSpace, Object, ObjectKind, PART};
    use raddle_base::SiteId;
    use raddle_event::{Loc, ObjectId, ThreadId};

    fn object(kind: ObjectKind, address: u64, bytes: u64) -> Object {
        Object { kind, address, bytes, site: SiteId(0), thread: ThreadId::MAIN }
    }

    fn ranges(space: &mut AddressSpace, start: u64, end: u64) -> Vec<(u32, u32, u32)> {
        let mut found = Vec::new();
        space.ranges(start, end, 100, |Loc { object, offset, len }| found.push((object.0, offset, len)));
        found
    }

    #[test]
    fn memory_used_again_is_another_object() {
        let mut space = AddressSpace::new(1000);
        assert!(space.add(object(ObjectKind::Heap, 100, 50)));
        assert_eq!(ranges(&mut space, 110, 114), [(0, 10, 4)]);
        assert!(space.add(object(ObjectKind::Heap, 120, 10)));
        assert_eq!(ranges(&mut space, 110, 140), [(0, 10, 10), (1, 0, 10), (0, 30, 10)]);
        assert_eq!(space.block(120), Some(vec![ObjectId(1)]));
        assert_eq!(space.block(130), None);
        assert!(space.add(object(ObjectKind::Stack, 0, 1000)));
        assert_eq!(ranges(&mut space, 110, 140), [(2, 110, 30)]);
    }

    #[test]
    fn strangers_lie_between_what_is_known() {
        let mut space = AddressSpace::new(1000);
        assert!(space.add(object(ObjectKind::Heap, 4096, 4096)));
        assert_eq!(ranges(&mut space, 4000, 4100), [(1, 4000, 96), (0, 0, 4)]);
        assert_eq!(ranges(&mut space, 8192, 8200), [(2, 0, 8)]);
        assert_eq!(ranges(&mut space, u64::MAX - 8, u64::MAX).len(), 1);
        assert_eq!(space.address(u64::MAX), space.address(u64::MAX - 1));
    }

    #[test]
    fn large_regions_are_several_objects() {
        let mut space = AddressSpace::new(1000);
        assert!(space.add(object(ObjectKind::Mapped, 1 << 40, 3 * PART)));
        let at = (1 << 40) + PART;
        assert_eq!(ranges(&mut space, at - 4, at + 4), [(0, PART as u32 - 4, 4), (1, 0, 4)]);
        assert_eq!(space.objects.len(), 3);
        assert!(!space.add(object(ObjectKind::Heap, u64::MAX, 2)));
    }
}
