//! What static analysis tells the pruning, as plain data. Everything errs towards more accesses and fewer locks.

use crate::enumerate::Atomicity;
use raddle_base::SiteId;
use raddle_event::{AccessKind, Addr, Loc, LockMode};
use std::collections::BTreeMap;
use std::rc::Rc;

pub trait Oracle {
    /// Whether accesses at these sites may race in some run of the program.
    fn may_race(&self, a: SiteId, b: SiteId) -> bool;

    /// Whether accesses at this site may race with any.
    fn matters(&self, site: SiteId) -> bool;

    /// What the sides that were not taken of this branch may do, up to where the sides meet again; `None`: anything.
    fn untaken(&self, branch: SiteId, taken: u32) -> Option<Rc<Untaken>>;

    /// Whether what happens at this site happens to the same memory, locks and threads in every run from a state before it, as
    /// long as the reported branches go the same way or have come together again.
    fn is_fixed(&self, site: SiteId) -> bool;

    /// What a thread can still come to, from its place and the calls around it, the innermost first; `None`: not known.
    fn ahead(&self, stack: &[SiteId]) -> Option<Ahead>;

    /// Whether the machine reports every branch that may go another way in another run from the same state.
    fn reports_branches(&self) -> bool;
}

/// Accesses that a thread may still make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ahead {
    /// Sorted; those that may race with nothing can be left out.
    pub sites: Vec<SiteId>,
    /// Some of them in threads that do not exist yet.
    pub creates_threads: bool,
}

/// Sides of a branch that were not taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Untaken {
    pub accesses: Vec<SideAccess>,
    /// One for each way to where the sides meet; a way that ends the thread is not among them.
    pub merges: Vec<SidePath>,
    pub operations: SideOperations,
    pub waits: Vec<SideWait>,
    /// Where the sides meet, whichever way.
    pub perhaps: MayHold,
}

/// Whether the sides have visible operations, locks included: their order with those of other threads may then matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SideOperations {
    #[default]
    None,
    Some,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideAccess {
    pub site: SiteId,
    /// `None`: anywhere.
    pub loc: Option<Loc>,
    pub kind: AccessKind,
    pub atomicity: Atomicity,
    /// From the branch to right before it.
    pub path: SidePath,
}

/// Where a side may wait, or end with a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideWait {
    pub what: Awaited,
    /// From the branch to right before it.
    pub path: SidePath,
    pub perhaps: MayHold,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Awaited {
    /// `None`: any lock.
    Lock(Option<Addr>, LockMode),
    /// Nothing: the thread ends here.
    End,
}

/// Locks that are possibly acquired and not certainly released since.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MayHold {
    These(BTreeMap<Addr, Taken>),
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Taken {
    pub mode: LockMode,
    /// A lock that may be taken twice is not certainly free after one release.
    pub twice: bool,
}

impl Default for MayHold {
    fn default() -> Self {
        MayHold::These(BTreeMap::new())
    }
}

impl MayHold {
    /// `None`: any lock.
    pub fn acquire(&mut self, lock: Option<Addr>, mode: LockMode) {
        let (MayHold::These(locks), Some(lock)) = (&mut *self, lock) else {
            *self = MayHold::Any;
            return;
        };
        let taken = locks.entry(lock).and_modify(|taken| taken.twice = true);
        let taken = taken.or_insert(Taken { mode, twice: false });
        taken.mode = stronger(taken.mode, mode);
    }

    pub fn release(&mut self, lock: Addr) {
        if let MayHold::These(locks) = self
            && locks.get(&lock).is_some_and(|taken| !taken.twice)
        {
            locks.remove(&lock);
        }
    }

    /// One way or the other.
    pub fn or(&mut self, other: &MayHold) {
        self.add(other, |a, b| a.twice || b.twice);
    }

    /// First this, then what the other acquires.
    pub fn then(&mut self, other: &MayHold) {
        self.add(other, |_, _| true);
    }

    pub fn is_nothing(&self) -> bool {
        matches!(self, MayHold::These(locks) if locks.is_empty())
    }

    /// Whether somebody who wants the lock in this mode may have to wait.
    pub(super) fn keeps_from(&self, lock: Option<Addr>, mode: LockMode) -> bool {
        let exclusive = |taken: &Taken| stronger(taken.mode, mode) == LockMode::Exclusive;
        match (self, lock) {
            (MayHold::Any, _) => true,
            (MayHold::These(locks), None) => locks.values().any(exclusive),
            (MayHold::These(locks), Some(lock)) => locks.get(&lock).is_some_and(exclusive),
        }
    }

    fn add(&mut self, other: &MayHold, twice: impl Fn(Taken, Taken) -> bool) {
        let (MayHold::These(locks), MayHold::These(more)) = (&mut *self, other) else {
            *self = MayHold::Any;
            return;
        };
        for (lock, taken) in more {
            let known = locks.entry(*lock).and_modify(|known| known.twice = twice(*known, *taken));
            let known = known.or_insert(*taken);
            known.mode = stronger(known.mode, taken.mode);
        }
    }
}

fn stronger(a: LockMode, b: LockMode) -> LockMode {
    if a == LockMode::Exclusive { a } else { b }
}

/// What a way does to the locks held.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SidePath {
    /// Certainly acquired and not released since.
    pub acquired: Vec<(Addr, LockMode)>,
    /// Possibly released, of those held at the branch.
    pub released: Released,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Released {
    These(Vec<Addr>),
    /// Any of them.
    Any,
}

impl Default for Released {
    fn default() -> Self {
        Released::These(Vec::new())
    }
}

/// The oracle that knows nothing.
pub struct Anything;

impl Oracle for Anything {
    fn may_race(&self, _: SiteId, _: SiteId) -> bool {
        true
    }

    fn matters(&self, _: SiteId) -> bool {
        true
    }

    fn untaken(&self, _: SiteId, _: u32) -> Option<Rc<Untaken>> {
        None
    }

    fn is_fixed(&self, _: SiteId) -> bool {
        false
    }

    fn ahead(&self, _: &[SiteId]) -> Option<Ahead> {
        None
    }

    fn reports_branches(&self) -> bool {
        false
    }
}
