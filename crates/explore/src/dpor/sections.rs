//! Steps that take their releases along, and critical sections that commute.
//!
//! In a search for races alone a step may be longer than one visible operation: `operation; plain*; (unlock; plain*)*`. An unlock
//! never blocks, and in any run it may come earlier, right behind what its thread did before it, without changing what anybody sees or what
//! happens before what; except where others can see that the lock is held: a try, a timed lock, an unlock by somebody else, an
//! initialisation or destruction that nothing orders with the section. Locks on which that is met, or is pending, are kept
//! *apart*, and the pass starts again.
//!
//! A section is *closed* when its lock and unlock are in one step; then there is no visible operation inside. Two closed sections of
//! one lock are dependent only if accesses inside them conflict. Otherwise the steps commute: between steps closed sections hold
//! no lock, so either order is possible, and as long as no race is known, accesses outside of them do not conflict either.
//!
//! The race detector must know nothing that only the order of independent sections tells (Listing 1 of the 2015 paper): in
//! [`weak_trace`] a lock orders a section after another only if their steps are ordered in every run of the class. What is ordered there
//! is ordered in every run of the class, so no race is lost. A race seen there is real in some run of the class: when the two steps
//! are unordered, all that comes before either, and then the one right before the other. Nothing is then between the
//! accesses but the sections that they are in; were both in sections of one lock, these would conflict and be ordered. For steps that are
//! ordered by operations that give no happens-before (relaxed atomics, failed tries) this argument is not enough. So every
//! such race is replayed in the rearranged run with the ordinary detector (`confirm`); when one is not seen again, the search is repeated
//! with all lock orders.

use super::deeds::Action;
use super::run::Run;
use crate::dependence::{Footprint, dependent, excludes};
use raddle_event::{AccessKind, Addr, Choice, Event, EventKind, Loc, LockMode, ObjectId, ThreadId, Trace};
use raddle_machine::{LockHow, Machine, OpKind, Operation, Status};
use raddle_order::{Clocks, Epoch};
use std::collections::{BTreeSet, HashMap};

/// How a search looks at critical sections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Locks {
    /// All orders of the sections of one lock are explored: also deadlocks and final states are covered.
    #[default]
    Ordered,
    /// Closed sections commute unless they conflict: for races alone.
    Commute,
}

/// Which releases a step takes along.
#[derive(Clone, Debug, Default)]
pub(super) struct Grouping {
    pub(super) locks: Locks,
    /// Locks whose state is looked at by others.
    apart: BTreeSet<Addr>,
}

/// Locks kept apart, at most; with more of them there is little to gain.
const MOST_APART: usize = 64;

impl Grouping {
    pub(super) fn new(locks: Locks) -> Self {
        Self { locks, apart: BTreeSet::new() }
    }

    pub(super) fn keep_apart(&mut self, lock: Addr) {
        self.apart.insert(lock);
        if self.apart.len() > MOST_APART {
            self.locks = Locks::Ordered;
        }
    }

    /// Whether the thread goes on at once, with the release that it stands before.
    pub(super) fn goes_on<M: Machine>(&self, machine: &M, thread: ThreadId, enabled: &[Choice]) -> bool {
        if self.locks == Locks::Ordered || machine.status() != Status::Running {
            return false;
        }
        let Some(Operation { kind: OpKind::Unlock { lock, .. }, .. }) = machine.pending(thread) else {
            return false;
        };
        !self.apart.contains(&lock)
            && enabled.contains(&Choice { thread, variant: 0 })
            && machine.held_locks(thread).contains(&lock)
    }

    /// The lock whose state the operation looks at, if it is not known yet.
    pub(super) fn looks_at<M: Machine>(&self, machine: &M, thread: ThreadId) -> Option<Addr> {
        if self.locks == Locks::Ordered {
            return None;
        }
        let seen = match machine.pending(thread)?.kind {
            OpKind::Lock { lock, how: LockHow::Try | LockHow::Timed, .. } => lock,
            OpKind::Unlock { lock, .. } | OpKind::WaitBegin { mutex: lock, .. }
                if !machine.held_locks(thread).contains(&lock) =>
            {
                lock
            }
            _ => return None,
        };
        (!self.apart.contains(&seen)).then_some(seen)
    }
}

/// What a step did with locks behind its operation.
#[derive(Debug, Default)]
pub(super) struct Along {
    section: Option<Section>,
    /// Releases of locks that earlier steps took.
    releases: Vec<Footprint>,
}

/// A closed section.
#[derive(Debug)]
struct Section {
    lock: Addr,
    mode: LockMode,
    accesses: Vec<(Loc, AccessKind)>,
}

impl Along {
    /// From the events of a step that began with this operation. `None` when it released nothing.
    pub(super) fn of(kind: OpKind, events: &[Event]) -> Option<Along> {
        let mut along = Along::default();
        let own = match kind {
            OpKind::Lock { lock, how: LockHow::Block, .. } => Some(lock),
            _ => None,
        };
        for (at, event) in events.iter().enumerate() {
            let EventKind::Release { lock, mode } = event.kind else { continue };
            let acquire =
                |event: &Event| matches!(event.kind, EventKind::Acquire { lock: l, .. } if l == lock);
            match events[..at].iter().position(acquire) {
                Some(taken) if Some(lock) == own => {
                    let mut accesses: Vec<(Loc, AccessKind)> =
                        events[taken..at].iter().filter_map(access).collect();
                    accesses.sort_unstable();
                    accesses.dedup();
                    along.section = Some(Section { lock, mode, accesses });
                }
                // The operation took it: a wait that ended, which depends on everything with that lock.
                Some(_) => {}
                None => along.releases.push(Footprint::release(lock, mode)),
            }
        }
        (along.section.is_some() || !along.releases.is_empty()).then_some(along)
    }

    /// Releases of locks that earlier steps took.
    pub(super) fn given_up(&self) -> &[Footprint] {
        &self.releases
    }

    /// Whether the lock was released that an earlier step took.
    pub(super) fn releases(&self, lock: Addr) -> bool {
        self.releases.contains(&Footprint::release(lock, LockMode::Exclusive))
    }
}

fn access(event: &Event) -> Option<(Loc, AccessKind)> {
    match event.kind {
        EventKind::Access { loc, kind } => Some((loc, kind)),
        _ => None,
    }
}

impl Section {
    fn conflicts(&self, other: &Section) -> bool {
        let exclusive = self.mode == LockMode::Exclusive || other.mode == LockMode::Exclusive;
        let clash = |a: &(Loc, AccessKind), b: &(Loc, AccessKind)| {
            (a.1 == AccessKind::Write || b.1 == AccessKind::Write) && a.0.overlaps(b.0)
        };
        exclusive && self.accesses.iter().any(|a| other.accesses.iter().any(|b| clash(a, b)))
    }
}

impl Action {
    /// Whether the order of the two, of different threads, may matter.
    #[inline]
    pub(super) fn depends(&self, other: &Action) -> bool {
        self.marks & other.marks != 0 && self.clash(other, dependent)
    }

    /// See [`excludes`].
    #[inline]
    pub(super) fn excludes(&self, other: &Action) -> bool {
        self.marks & other.marks != 0 && self.clash(other, excludes)
    }

    fn clash(&self, other: &Action, clash: impl Fn(&Footprint, &Footprint) -> bool) -> bool {
        let (Some(a), Some(b)) = (&self.along, &other.along) else {
            let releases = [(self, other), (other, self)].into_iter().any(|(one, two)| {
                one.along
                    .iter()
                    .flat_map(|along| &along.releases)
                    .any(|release| dependent(release, &two.footprint))
            });
            return releases || clash(&self.footprint, &other.footprint);
        };
        let heads = match (&a.section, &b.section) {
            (Some(one), Some(two)) if one.lock == two.lock => one.conflicts(two),
            _ => clash(&self.footprint, &other.footprint),
        };
        heads
            || a.releases.iter().any(|release| dependent(release, &other.footprint))
            || b.releases.iter().any(|release| dependent(&self.footprint, release))
            || a.releases.iter().any(|one| b.releases.iter().any(|two| dependent(one, two)))
    }
}

/// The trace of a run in which locks order only what is ordered in every run of the class, and where each of its events comes from.
/// Or a lock whose initialisation or destruction is not ordered with the sections of that lock; or `None`, when it was stopped.
///
/// A release orders an acquisition only through one later section, where that orders it too: otherwise the events of one lock
/// would grow with the square of its sections.
pub(crate) fn weak_trace(run: &Run, stop: &dyn Fn() -> bool) -> Result<(Trace, Vec<usize>), Option<Addr>> {
    let events = &run.recorder.trace().events;
    let mut weak = Weak::default();
    let mut step = 0;
    for (at, event) in events.iter().enumerate() {
        while run.steps.get(step + 1).is_some_and(|next| run.path[next.taken].events <= at) {
            step += 1;
        }
        if at.is_multiple_of(LOOK) && stop() {
            return Err(None);
        }
        match event.kind {
            EventKind::Acquire { lock, mode } => {
                let before = weak.before(run, lock, mode, step);
                weak.taken.insert((event.thread, lock), step);
                for name in before {
                    weak.push(
                        at,
                        Event {
                            kind: EventKind::Acquire { lock: name, mode: LockMode::Exclusive },
                            ..*event
                        },
                    );
                }
                weak.is_ordered_after_births(lock, event.thread).map_err(Some)?;
            }
            EventKind::Release { lock, mode } => {
                let name = Addr { object: RENAMED, offset: at as u32 };
                let epoch = weak.clocks.arrived(event);
                weak.push(
                    at,
                    Event { kind: EventKind::Release { lock: name, mode: LockMode::Exclusive }, ..*event },
                );
                let taken = weak.taken.remove(&(event.thread, lock));
                weak.releases.entry(lock).or_default().push(Release { step, taken, mode, name, epoch });
            }
            EventKind::SyncInit { object } | EventKind::SyncDestroy { object } => {
                let epoch = weak.clocks.arrived(event);
                let releases = weak.releases.remove(&object).unwrap_or_default();
                if releases.iter().any(|release| !weak.clocks.knows(event.thread, release.epoch)) {
                    return Err(Some(object));
                }
                weak.births.entry(object).or_default().push(epoch);
                weak.push(at, *event);
            }
            _ => weak.push(at, *event),
        }
    }
    Ok((weak.trace, weak.origin))
}

/// Events between two looks at the clock.
const LOOK: usize = 256;

/// No object of a program.
const RENAMED: ObjectId = ObjectId(u32::MAX - 1);

#[derive(Default)]
struct Weak {
    trace: Trace,
    origin: Vec<usize>,
    clocks: Known,
    releases: HashMap<Addr, Vec<Release>>,
    /// Steps in which locks were taken that are held.
    taken: HashMap<(ThreadId, Addr), usize>,
    /// Initialisations and destructions.
    births: HashMap<Addr, Vec<Epoch>>,
}

struct Release {
    step: usize,
    /// The step that took the lock, where that is known.
    taken: Option<usize>,
    mode: LockMode,
    /// A lock that nothing else releases.
    name: Addr,
    epoch: Epoch,
}

#[derive(Default)]
struct Known(Clocks);

impl Weak {
    /// Names of the releases that an acquisition in this step is ordered after in every run of the class, the last ones alone.
    fn before(&self, run: &Run, lock: Addr, mode: LockMode, step: usize) -> Vec<Addr> {
        let is_before = |one: usize, two: usize| one == two || run.steps[one].is_before(&run.steps[two]);
        let mut last: Vec<&Release> = Vec::new();
        for release in self.releases.get(&lock).into_iter().flatten().rev() {
            let excludes = release.mode == LockMode::Exclusive || mode == LockMode::Exclusive;
            // What took the lock exclusively after it is ordered after it, too.
            let through = |later: &&Release| {
                later.mode == LockMode::Exclusive
                    && later.taken.is_some_and(|taken| is_before(release.step, taken))
            };
            if excludes && is_before(release.step, step) && !last.iter().any(through) {
                last.push(release);
            }
        }
        last.iter().rev().map(|release| release.name).collect()
    }

    fn push(&mut self, origin: usize, event: Event) {
        self.clocks.0.arrive(&event);
        self.clocks.0.depart(&event);
        self.trace.events.push(event);
        self.origin.push(origin);
    }

    fn is_ordered_after_births(&self, lock: Addr, thread: ThreadId) -> Result<(), Addr> {
        let known = |epoch: &Epoch| self.clocks.knows(thread, *epoch);
        if self.births.get(&lock).into_iter().flatten().all(known) { Ok(()) } else { Err(lock) }
    }
}

impl Known {
    /// The point of the thread at which its event happens.
    fn arrived(&mut self, event: &Event) -> Epoch {
        // An event that orders nothing makes the thread known.
        self.0.arrive(&Event { kind: EventKind::BranchEnd, ..*event });
        self.0.epoch(event.thread)
    }

    fn knows(&self, thread: ThreadId, epoch: Epoch) -> bool {
        epoch.thread == thread || self.0.clock(thread).covers(epoch)
    }
}
