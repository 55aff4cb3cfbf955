//! ComputeLocksets (Fig. 5): which locks a thread may hold at each access of the rest of its run, and at those of the sides that it did not
//! take. Sets of locksets: each lockset is a *must* set of one way through the branches.
//!
//! `open` is the paper's stack `update`. Branches that were open before the rest begins are decided; their ends are passed over.

use super::oracle::{Awaited, MayHold, Oracle, Released, SideOperations, SidePath};
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

/// A place at which the thread may have to wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) what: Wanted,
    pub(super) locks: Rc<BTreeSet<Lockset>>,
    pub(super) may_hold: Rc<MayHold>,
    /// Position in the run: of itself, or of the branch.
    pub(super) at: usize,
    /// By creation and join.
    pub(super) known: Known,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// `None`: any lock.
    Lock(Option<Addr>, LockMode),
    EndOf(ThreadId),
}

/// The rest of one thread.
pub(super) struct Rest {
    pub(super) accesses: Vec<Access>,
    pub(super) waits: Vec<Wait>,
    /// Whether it may get stuck in a way that is no question of locks: what it waits for need not come, or it ends with a lock.
    pub(super) sticks: bool,
    may_hold: Rc<MayHold>,
    pub(super) locks: Rc<BTreeSet<Lockset>>,
    pub(super) known: Known,
    pub(super) end: End,
    /// Visible ones that the run does not show: in sides not taken, or elsewhere another time.
    pub(super) operations: SideOperations,
    open: Vec<(BTreeSet<Lockset>, MayHold)>,
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
        let mut may_hold = MayHold::default();
        held.iter().for_each(|(lock, mode)| may_hold.acquire(Some(*lock), *mode));
        Self {
            accesses: Vec::new(),
            waits: Vec::new(),
            sticks: false,
            may_hold: Rc::new(may_hold),
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
        let cut = self.open.iter().any(|(ways, _)| !ways.is_empty());
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
        self.wait(at, event, outcome, fixed);
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
                if let Some((other, perhaps)) = self.open.pop() {
                    let both = self.locks.iter().cloned().chain(other).collect();
                    self.set(both);
                    Rc::make_mut(&mut self.may_hold).or(&perhaps);
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
        let both = |perhaps: &MayHold| {
            let mut both = MayHold::clone(&self.may_hold);
            both.then(perhaps);
            both
        };
        for wait in &untaken.waits {
            let may_hold = both(&wait.perhaps);
            match wait.what {
                Awaited::Lock(lock, mode) => self.waits.push(Wait {
                    what: Wanted::Lock(lock, mode),
                    locks: Rc::new(ways(&wait.path)),
                    may_hold: Rc::new(may_hold),
                    at,
                    known: self.known.clone(),
                }),
                Awaited::End => self.sticks |= !may_hold.is_nothing(),
            }
        }
        self.open.push((untaken.merges.iter().flat_map(ways).collect(), both(&untaken.perhaps)));
    }

    /// What the event says about waiting and about the locks that the thread may hold.
    fn wait(&mut self, at: usize, event: &Event, outcome: Outcome, fixed: bool) {
        let what = match event.kind {
            EventKind::Acquire { lock, mode } => Wanted::Lock(fixed.then_some(lock), mode),
            EventKind::Join { child } if fixed => Wanted::EndOf(child),
            EventKind::Release { lock, .. } => {
                if fixed {
                    Rc::make_mut(&mut self.may_hold).release(lock);
                }
                return;
            }
            // Another time it may succeed.
            EventKind::AcquireFailed { lock } => {
                Rc::make_mut(&mut self.may_hold).acquire(fixed.then_some(lock), LockMode::Exclusive);
                return;
            }
            EventKind::End => {
                self.sticks |= !self.may_hold.is_nothing();
                return;
            }
            EventKind::Join { .. }
            | EventKind::WaitBegin { .. }
            | EventKind::WaitEnd { .. }
            | EventKind::BarrierArrive { .. }
            | EventKind::BarrierLeave { .. }
            | EventKind::SemWait { .. }
            | EventKind::OnceBegin { .. }
            | EventKind::OnceEnd { .. }
            | EventKind::OncePass { .. } => {
                self.sticks = true;
                return;
            }
            EventKind::Begin
            | EventKind::Create { .. }
            | EventKind::Detach { .. }
            | EventKind::Access { .. }
            | EventKind::Atomic { .. }
            | EventKind::Fence { .. }
            | EventKind::Signal { .. }
            | EventKind::Broadcast { .. }
            | EventKind::SemPost { .. }
            | EventKind::SyncInit { .. }
            | EventKind::SyncDestroy { .. }
            | EventKind::Alloc { .. }
            | EventKind::Free { .. }
            | EventKind::BranchBegin { .. }
            | EventKind::BranchEnd
            | EventKind::Choose { .. }
            | EventKind::Exit => return,
        };
        // What may turn out otherwise does not wait for ever.
        if outcome == Outcome::Certain {
            let (locks, may_hold) = (self.locks.clone(), self.may_hold.clone());
            self.waits.push(Wait { what, locks, may_hold, at, known: self.known.clone() });
        }
        if let Wanted::Lock(lock, mode) = what {
            Rc::make_mut(&mut self.may_hold).acquire(lock, mode);
        }
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
