//! C11 memory orders, one type per kind of operation so that an illegal order cannot be written.

/// Orders that a load may have. `consume` is read as `acquire`, as every compiler does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoadOrder {
    Relaxed,
    Acquire,
    SeqCst,
}

/// Orders that a store may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StoreOrder {
    Relaxed,
    Release,
    SeqCst,
}

/// Orders that a read-modify-write may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RmwOrder {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// Orders that a fence between threads may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FenceOrder {
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl LoadOrder {
    pub fn acquires(self) -> bool {
        self != LoadOrder::Relaxed
    }
}

impl StoreOrder {
    pub fn releases(self) -> bool {
        self != StoreOrder::Relaxed
    }
}

impl RmwOrder {
    pub fn acquires(self) -> bool {
        matches!(self, RmwOrder::Acquire | RmwOrder::AcqRel | RmwOrder::SeqCst)
    }

    pub fn releases(self) -> bool {
        matches!(self, RmwOrder::Release | RmwOrder::AcqRel | RmwOrder::SeqCst)
    }
}

impl FenceOrder {
    pub fn acquires(self) -> bool {
        self != FenceOrder::Release
    }

    pub fn releases(self) -> bool {
        self != FenceOrder::Acquire
    }
}
