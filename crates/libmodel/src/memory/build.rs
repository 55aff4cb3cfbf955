//! Short constructors, so that the entries read as a table.

use super::STREAM;
use super::{
    Access, Atomicity, Base, Block, Callback, Doubt, Extent, Fill, Library, Life, MemoryEffect, Reach,
    Region, Store, Touch, Value, When,
};
use crate::Arg;

pub(super) type Entries = Vec<(&'static str, MemoryEffect)>;

pub(super) const A0: Arg = Arg(0);
pub(super) const A1: Arg = Arg(1);
pub(super) const A2: Arg = Arg(2);
pub(super) const A3: Arg = Arg(3);
pub(super) const A4: Arg = Arg(4);
pub(super) const A5: Arg = Arg(5);

/// A pointer's width.
pub(super) const WORD: Extent = words(1);

pub(super) const fn bytes(count: u32) -> Extent {
    Extent::Fixed { lp64: count, ilp32: count }
}

pub(super) const fn words(count: u32) -> Extent {
    Extent::Fixed { lp64: 8 * count, ilp32: 4 * count }
}

pub(super) const fn by_model(lp64: u32, ilp32: u32) -> Extent {
    Extent::Fixed { lp64, ilp32 }
}

/// What the pointer at the start of the region points to.
pub(super) fn behind(base: impl Into<Region>) -> Region {
    Region { reach: Reach::Behind, ..base.into() }
}

/// What any pointer in the region points to.
pub(super) fn behind_any(base: impl Into<Region>) -> Region {
    Region { reach: Reach::BehindAny, ..base.into() }
}

/// What any pointer in what any pointer in the region points to points to.
pub(super) fn behind_twice(base: impl Into<Region>) -> Region {
    Region { reach: Reach::BehindTwice, ..base.into() }
}

pub(super) fn nothing() -> MemoryEffect {
    MemoryEffect::default()
}

/// The same entry for several names.
pub(super) fn each(names: &[&'static str], effect: &MemoryEffect) -> Entries {
    names.iter().map(|name| (*name, effect.clone())).collect()
}

impl MemoryEffect {
    pub(super) fn touches(mut self, region: Region, access: Access, from: u32, extent: Extent) -> Self {
        self.touches.push(Touch { region, access, from, extent, atomicity: Atomicity::Plain });
        self
    }

    pub(super) fn reads(self, region: impl Into<Region>, extent: Extent) -> Self {
        self.touches(region.into(), Access::Read, 0, extent)
    }

    pub(super) fn writes(self, region: impl Into<Region>, extent: Extent) -> Self {
        self.touches(region.into(), Access::Write, 0, extent)
    }

    /// A read, and a write of the same bytes.
    pub(super) fn changes(self, region: impl Into<Region>, extent: Extent) -> Self {
        let region = region.into();
        self.reads(region, extent).writes(region, extent)
    }

    pub(super) fn frees(self, region: impl Into<Region>) -> Self {
        self.touches(region.into(), Access::Free, 0, Extent::ToEnd)
    }

    pub(super) fn atomic(mut self, region: impl Into<Region>, access: Access, extent: Extent) -> Self {
        let region = region.into();
        self.touches.push(Touch { region, access, from: 0, extent, atomicity: Atomicity::Atomic });
        self
    }

    /// Operates on a synchronisation object.
    pub(super) fn uses(mut self, object: Arg, extent: Extent) -> Self {
        let (region, access) = (object.into(), Access::Read);
        self.touches.push(Touch { region, access, from: 0, extent, atomicity: Atomicity::Operation });
        self
    }

    /// Initialises or destroys a synchronisation object.
    pub(super) fn renews(mut self, object: Arg, extent: Extent) -> Self {
        let (region, access) = (object.into(), Access::Write);
        self.touches.push(Touch { region, access, from: 0, extent, atomicity: Atomicity::Life });
        self
    }

    pub(super) fn stores(mut self, to: impl Into<Region>, value: Value) -> Self {
        self.stores.push(Store { to: to.into(), value });
        self
    }

    /// Bytes move from one region to the other.
    pub(super) fn copies(self, from: impl Into<Region>, to: impl Into<Region>) -> Self {
        self.stores(to, Value::ContentOf(from.into()))
    }

    /// The bytes of the region leave the memory.
    pub(super) fn publishes(self, from: impl Into<Region>) -> Self {
        self.atomic(Library::Written, Access::Write, Extent::ToEnd).copies(from, Library::Written)
    }

    /// Bytes from outside come into the region.
    pub(super) fn receives(self, to: impl Into<Region>) -> Self {
        self.atomic(Library::Written, Access::Read, Extent::ToEnd).stores(to, Value::Outside)
    }

    /// A byte leaves the memory, which may be part of an address.
    pub(super) fn publishes_byte(self, byte: Arg) -> Self {
        self.atomic(Library::Written, Access::Write, Extent::ToEnd).stores(Library::Written, Value::Arg(byte))
    }

    /// Returns a byte from outside.
    pub(super) fn returns_byte(self) -> Self {
        self.atomic(Library::Written, Access::Read, Extent::ToEnd).returns(Value::Outside)
    }

    /// Depends on the locale of the process.
    pub(super) fn in_locale(self) -> Self {
        self.reads(Library::Locale, Extent::ToEnd)
    }

    /// Reads a variable of the library that holds a pointer. Only an assignment of the program can race with that.
    pub(super) fn reads_variable(self, name: &'static str) -> Self {
        self.reads(Base::Variable(name), WORD)
    }

    /// Uses a stream and takes its lock.
    pub(super) fn locks(self, stream: impl Into<Region>) -> Self {
        self.reads(stream, STREAM)
    }

    /// Uses a stream without its lock.
    pub(super) fn races_on(self, stream: impl Into<Region>) -> Self {
        self.writes(stream, STREAM)
    }

    pub(super) fn gap(mut self, reason: &'static str) -> Self {
        self.gap = Some(reason);
        self
    }

    pub(super) fn gap_if(mut self, doubt: Doubt, reason: &'static str) -> Self {
        self.gap_if = Some((doubt, reason));
        self
    }

    /// A block, not returned by itself.
    pub(super) fn allocates(mut self, size: Extent, fill: Fill, life: Life) -> Self {
        self.allocates = Some(Block { size, fill, life });
        self
    }

    /// Returns a fresh block.
    pub(super) fn returns_block(self, size: Extent, fill: Fill) -> Self {
        self.allocates(size, fill, Life::Handed).returns_into(Base::Fresh)
    }

    pub(super) fn returns(mut self, value: Value) -> Self {
        self.returns.push(value);
        self
    }

    pub(super) fn returns_into(self, region: impl Into<Region>) -> Self {
        self.returns(Value::Into(region.into()))
    }

    pub(super) fn calls(mut self, function: Arg, passes: Vec<Value>, when: When) -> Self {
        self.calls.push(Callback { function, passes, when });
        self
    }
}
