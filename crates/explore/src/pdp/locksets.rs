//! ComputeLocksets (Fig. 5): which locks a thread may hold at each access of the rest of its run, and at those of the sides that it did not
//! take. Sets of locksets: each lockset is a *must* set of one way through the branches.
//!
//! `open` is the paper's stack `update`. Branches that were open before the rest begins are decided; their ends are passed over.

use super::oracle::{Oracle, Released, SideOperations, SidePath};
use crate::enumerate::{Atomicity, RaceAccess};
use raddle_base::SiteId;
use raddle_event::{AccessKind, Addr, Event, EventKind, Loc, LockMode, ThreadId};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Locks held, sorted.
pub(super) type Lockset = Vec<(Addr, LockMode)>;

/// For each thread, the event up to which everything of it is ordered before.
pub(super) type Known = Rc<Vec<usize>>;

/// An access that the thread may make.
pub(super) struct Access {
    pub(super) site: SiteId,
    /// `None`: anywhere.
    pub(super) loc: Option<Loc>,
    pub(super) kind: AccessKind,
    pub(super) atomicity: Atomicity,
    pub(super) locks: Rc<BTreeSet<Lockset>>,
    /// Position in the run: of itself, or of the branch.
    pub(super) at: usize,
    /// By creation and join.
    pub(super) known: Known,
}

impl Access {
    pub(super) fn plainly(&self) -> (AccessKind, Atomicity, Option<Loc>) {
        (self.kind, self.atomicity, self.loc)
    }
}

/// The rest of one thread.
pub(super) struct Rest {
    pub(super) accesses: Vec<Access>,
    pub(super) locks: Rc<BTreeSet<Lockset>>,
    pub(super) known: Known,
    pub(super) end: End,
    /// Visible ones that the run does not show: in sides not taken, or elsewhere another time.
    pub(super) operations: SideOperations,
    open: Vec<BTreeSet<Lockset>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    NotYet,
    /// The thread came to its end, and all that it may do instead is known.
    Known,
    /// From some point on the thread may do anything.
    Unknown,
}

/// Whether an operation turns out the same another time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Certain,
    /// It may fail where it succeeded, or the other way round.
    Perhaps,
}

/// More locksets than these are not told apart: the thread may do anything.
const MOST_LOCKSETS: usize = 64;

impl Rest {
    pub(super) fn of(held: Lockset, known: Known) -> Self {
        Self {
            accesses: Vec::new(),
            locks: Rc::new(BTreeSet::from([held])),
            known,
            end: End::NotYet,
            operations: SideOperations::None,
            open: Vec::new(),
        }
    }

    /// Whether the thread is past all branches that it met in the rest.
    pub(super) fn is_straight(&self) -> bool {
        self.open.is_empty()
    }

    /// When the run is over.
    pub(super) fn finish(&mut self) {
        // What follows where the sides would have come together was not seen.
        let cut = self.open.iter().any(|ways| !ways.is_empty());
        if self.end != End::Known || cut {
            self.end = End::Unknown;
        }
    }

    pub(super) fn event(&mut self, at: usize, event: &Event, outcome: Outcome, oracle: &dyn Oracle) {
        if self.end == End::Unknown {
            return;
        }
        let fixed = oracle.is_fixed(event.site);
        if !fixed && !matches!(event.kind, EventKind::Access { .. }) {
            self.operations = SideOperations::Some;
        }
        match event.kind {
            // Another lock another time: this one is not certainly taken, and any may be released.
            EventKind::Acquire { .. } if !fixed => {}
            EventKind::Release { .. } if !fixed => self.set(BTreeSet::from([Lockset::new()])),
            EventKind::Create { .. } if !fixed => self.end = End::Unknown,
            EventKind::Acquire { lock, mode } => {
                let mut with: BTreeSet<Lockset> =
                    self.locks.iter().map(|held| added(held, lock, mode)).collect();
                if outcome == Outcome::Perhaps {
                    with.extend(self.locks.iter().cloned());
                }
                self.set(with);
            }
            EventKind::Release { lock, .. } => {
                let without = self
                    .locks
                    .iter()
                    .map(|held| held.iter().copied().filter(|(other, _)| *other != lock).collect());
                let without: BTreeSet<Lockset> = without.collect();
                self.set(without);
            }
            EventKind::BranchBegin { taken } => self.branch(at, event.site, taken, oracle),
            EventKind::BranchEnd => {
                if let Some(other) = self.open.pop() {
                    let both = self.locks.iter().cloned().chain(other).collect();
                    self.set(both);
                }
            }
            // Another time this thread may run the initialiser, or another one.
            EventKind::OnceBegin { .. } | EventKind::OncePass { .. } => self.end = End::Unknown,
            EventKind::End | EventKind::Exit => self.end = End::Known,
            EventKind::Access { .. } | EventKind::Atomic { .. } if oracle.matters(event.site) => {
                let (access, loc) = RaceAccess::of(event).expect("it is an access");
                self.accesses.push(Access {
                    site: event.site,
                    loc: fixed.then_some(loc),
                    kind: if outcome == Outcome::Perhaps { AccessKind::Write } else { access.kind },
                    atomicity: access.atomicity,
                    locks: self.locks.clone(),
                    at,
                    known: self.known.clone(),
                });
            }
            _ => {}
        }
    }

    fn branch(&mut self, at: usize, site: SiteId, taken: u32, oracle: &dyn Oracle) {
        let Some(untaken) = oracle.untaken(site, taken) else {
            self.end = End::Unknown;
            return;
        };
        let ways =
            |path: &SidePath| self.locks.iter().map(|held| after(held, path)).collect::<BTreeSet<Lockset>>();
        for access in &untaken.accesses {
            self.accesses.push(Access {
                site: access.site,
                loc: access.loc,
                kind: access.kind,
                atomicity: access.atomicity,
                locks: Rc::new(ways(&access.path)),
                at,
                known: self.known.clone(),
            });
        }
        if untaken.operations == SideOperations::Some {
            self.operations = SideOperations::Some;
        }
        self.open.push(untaken.merges.iter().flat_map(ways).collect());
    }

    fn set(&mut self, locks: BTreeSet<Lockset>) {
        if locks.len() > MOST_LOCKSETS {
            self.end = End::Unknown;
        }
        self.locks = Rc::new(locks);
    }
}

/// What each thread holds, as events go by.
pub(super) fn hold(held: &mut [Lockset], event: &Event) {
    let own = &mut held[thread_index(event.thread)];
    match event.kind {
        EventKind::Acquire { lock, mode } => *own = added(own, lock, mode),
        EventKind::Release { lock, .. } => own.retain(|(other, _)| *other != lock),
        _ => {}
    }
}

fn thread_index(thread: ThreadId) -> usize {
    thread.0 as usize
}

fn added(held: &Lockset, lock: Addr, mode: LockMode) -> Lockset {
    let mut with = held.clone();
    if let Err(at) = with.binary_search_by_key(&lock, |(lock, _)| *lock) {
        with.insert(at, (lock, mode));
    }
    with
}

fn after(held: &Lockset, path: &SidePath) -> Lockset {
    let stays = |lock: &Addr| match &path.released {
        Released::These(released) => !released.contains(lock),
        Released::Any => false,
    };
    let kept: Lockset = held.iter().copied().filter(|(lock, _)| stays(lock)).collect();
    path.acquired.iter().fold(kept, |held, (lock, mode)| added(&held, *lock, *mode))
}

/// Whether a lock in common, held exclusively by one of them, keeps two accesses apart.
pub(super) fn exclude(a: &Lockset, b: &Lockset) -> bool {
    let exclusive = |a: LockMode, b: LockMode| a == LockMode::Exclusive || b == LockMode::Exclusive;
    a.iter().any(|(lock, mode)| {
        b.iter().any(|(other, other_mode)| lock == other && exclusive(*mode, *other_mode))
    })
}
