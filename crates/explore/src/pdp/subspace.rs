//! SubspaceRaceFree (Fig. 4): whether anything can race behind a state, whatever the order of what follows.
//!
//! Pairs that are looked at: two accesses of different threads behind the state, unless creation or join orders them; and an access
//! before the state with one behind it of a thread that was not ordered after it by then. A pair is harmless if it does not conflict, if the
//! oracle says so, or if a lock is held at both: then one critical section comes before the other. The order before the state is
//! that of all runs of the class, without the edges between independent sections.

use super::deadlocks::may_wait_in_a_circle;
use super::locksets::{Access, End, Known, Lockset, Outcome, Rest, exclude, hold};
use super::oracle::{Ahead, Oracle, SideOperations};
use super::{Counters, Property};
use crate::dpor::{Covers, Run, weak_trace};
use crate::enumerate::{Atomicity, RaceAccess};
use raddle_base::{Id, SiteId};
use raddle_event::{AccessKind, AtomicOp, Event, EventKind, Loc, ThreadId};
use raddle_machine::{LockHow, Machine, OpKind, Operation, Status};
use raddle_order::{Clocks, Epoch, VectorClock};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Where each thread stands in a state: the site of its next operation, then call sites outwards. Empty: it has ended.
pub(crate) type Stands = Vec<Rc<[SiteId]>>;

/// The part of a search that prunes.
pub(crate) struct Pruning<'a> {
    oracle: &'a dyn Oracle,
    property: Property,
    pub(crate) counters: &'a mut Counters,
}

/// What operations the part that is cut off may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Later {
    /// Those that the run has there.
    AsSeen,
    Anything,
}

/// A run that has ended, as far as the checks need it.
struct History<'r> {
    run: &'r Run,
    /// There is no more time.
    stop: &'r dyn Fn() -> bool,
    events: &'r [Event],
    /// Events that may turn out otherwise another time.
    perhaps: BTreeSet<usize>,
    past: Vec<Past>,
    /// Per step, right before it: what each thread is ordered after, and holds.
    before: Vec<(Vec<VectorClock>, Vec<Lockset>)>,
    threads: usize,
    /// Every branch that may go another way is among the events.
    tells_branches: bool,
}

/// An access that was made.
struct Past {
    event: usize,
    access: RaceAccess,
    loc: Loc,
    locks: Lockset,
    epoch: Epoch,
}

impl<'a> Pruning<'a> {
    pub(crate) fn new(oracle: &'a dyn Oracle, property: Property, counters: &'a mut Counters) -> Self {
        Self { oracle, property, counters }
    }

    /// What a search that prunes in this way covers.
    pub(crate) fn covers(&self) -> Covers {
        match self.property {
            Property::Races => Covers::RacesOnly,
            Property::RacesAndDeadlocks => Covers::RacesAndDeadlocks,
        }
    }

    pub(crate) fn stands<M: Machine>(&self, machine: &M) -> Stands {
        let stand = |thread| match machine.pending(thread) {
            // Handlers and destructors run before it.
            None | Some(Operation { kind: OpKind::End | OpKind::Exit, .. }) => Rc::from([]),
            Some(operation) => std::iter::once(operation.site).chain(machine.call_sites(thread)).collect(),
        };
        (0..machine.thread_count()).map(|thread| stand(ThreadId(thread))).collect()
    }

    /// The depth from which on nothing can race, and what operations come there. `asked` are the depths at which something could be explored, ascending; `stands`
    /// gives the state before each step. Only those are answered. When there is no more time (`stop`), nothing counts as free of races.
    pub(crate) fn clean_from<'s>(
        &mut self,
        run: &Run,
        status: &Status,
        (asked, stop): (&[usize], &dyn Fn() -> bool),
        stands: impl Fn(usize) -> &'s Stands,
    ) -> Option<(usize, Later)> {
        let mut history = History::of(run, stop)?;
        // An assumption, assertion or crash that ended the run is a branch that no event tells of.
        history.tells_branches =
            self.oracle.reports_branches() && matches!(status, Status::Exited(_)) && !locks_again(run);
        let mut clean = None;
        // What holds of a state holds of those behind it, so the search goes back as long as it holds.
        for depth in asked.iter().rev() {
            self.counters.checks += 1;
            if !self.is_free(&history, *depth, stands(*depth)) {
                break;
            }
            self.counters.yes += 1;
            clean = Some(*depth);
        }
        // States before it that are free of races, too, need no expansion.
        let first = clean?;
        let earlier = (0..first).rev().take_while(|depth| self.is_free(&history, *depth, stands(*depth)));
        let from = earlier.last().unwrap_or(first);
        Some((from, self.later(&history, from)))
    }

    fn is_free(&self, history: &History, depth: usize, stands: &Stands) -> bool {
        if (history.stop)() {
            return false;
        }
        let races = !self.is_race_free_by_place(history, depth, stands)
            && !self.is_race_free_by_trace(history, depth);
        let deadlocks = match self.property {
            Property::Races => false,
            Property::RacesAndDeadlocks => !self.is_deadlock_free(history, depth),
        };
        !races && !deadlocks
    }

    /// Whether nobody can wait for ever behind the state, except that everybody waits for the process to go on.
    fn is_deadlock_free(&self, history: &History, depth: usize) -> bool {
        if !history.tells_branches {
            return false;
        }
        let rests = history.rests(depth, self.oracle);
        let (_, held) = &history.before[depth];
        let alive = |thread| rests.get(thread).is_some_and(Option::is_some);
        let left_behind = held.iter().enumerate().any(|(thread, locks)| !locks.is_empty() && !alive(thread));
        let known = rests.iter().flatten().all(|rest| rest.end == End::Known && !rest.sticks);
        known && !left_behind && !may_wait_in_a_circle(&rests)
    }

    fn later(&self, history: &History, depth: usize) -> Later {
        if !history.tells_branches {
            return Later::Anything;
        }
        let known = |rest: &Rest| rest.end == End::Known && rest.operations == SideOperations::None;
        let all = history.rests(depth, self.oracle).iter().flatten().all(known);
        if all { Later::AsSeen } else { Later::Anything }
    }

    /// The paper's way: what was seen of each thread behind the state, and what its branches might have done.
    fn is_race_free_by_trace(&self, history: &History, depth: usize) -> bool {
        if !history.tells_branches {
            return false;
        }
        let rests = history.rests(depth, self.oracle);
        let rests: Vec<(usize, &Rest)> =
            rests.iter().enumerate().filter_map(|(thread, rest)| Some((thread, rest.as_ref()?))).collect();
        if rests.iter().any(|(_, rest)| rest.end != End::Known) {
            return false;
        }
        rests.iter().enumerate().all(|(index, (thread, rest))| {
            let harmless = |(other, other_rest): &(usize, &Rest)| {
                let clash = |x: &Access, y: &Access| {
                    let ordered = y.known[*thread] > x.at || x.known[*other] > y.at;
                    !ordered && self.may_clash(x, y)
                };
                !rest
                    .accesses
                    .iter()
                    .any(|x| (history.stop)() || other_rest.accesses.iter().any(|y| clash(x, y)))
            };
            let later = |past: &Past| {
                if (history.stop)() {
                    return true;
                }
                let clash = |access: &Access| {
                    conflict(past.plainly(), access.plainly())
                        && self.oracle.may_race(past.access.site, access.site)
                        && access.locks.iter().any(|locks| !exclude(locks, &past.locks))
                };
                rest.accesses.iter().any(clash)
            };
            rests[index + 1..].iter().all(harmless)
                && !history.open_past(depth, ThreadId::from_index(*thread)).any(later)
        })
    }

    /// Without branches: what each thread can still come to, from where it stands.
    fn is_race_free_by_place(&self, history: &History, depth: usize, stands: &Stands) -> bool {
        let mut ahead = Vec::new();
        for (thread, stack) in stands.iter().enumerate().filter(|(_, stack)| !stack.is_empty()) {
            let Some(sites) = self.oracle.ahead(stack) else { return false };
            ahead.push((ThreadId::from_index(thread), sites));
        }
        ahead.iter().enumerate().all(|(index, (thread, own))| {
            let meets = |(_, other): &(ThreadId, Ahead)| self.some_may_race(&own.sites, &other.sites);
            let later = |past: &Past| self.some_may_race(&[past.access.site], &own.sites);
            let alone = own.creates_threads && self.some_may_race(&own.sites, &own.sites);
            let meeting =
                alone || ahead[index + 1..].iter().any(meets) || history.open_past(depth, *thread).any(later);
            !meeting
        })
    }

    fn may_clash(&self, a: &Access, b: &Access) -> bool {
        conflict(a.plainly(), b.plainly())
            && self.oracle.may_race(a.site, b.site)
            && a.locks.iter().any(|x| b.locks.iter().any(|y| !exclude(x, y)))
    }

    fn some_may_race(&self, a: &[SiteId], b: &[SiteId]) -> bool {
        a.iter().any(|x| b.iter().any(|y| self.oracle.may_race(*x, *y)))
    }
}

fn conflict(a: (AccessKind, Atomicity, Option<Loc>), b: (AccessKind, Atomicity, Option<Loc>)) -> bool {
    let meet = a.2.zip(b.2).is_none_or(|(a, b)| a.overlaps(b));
    let writes = a.0 == AccessKind::Write || b.0 == AccessKind::Write;
    let plain = a.1 == Atomicity::Plain || b.1 == Atomicity::Plain;
    writes && plain && meet
}

impl Past {
    fn plainly(&self) -> (AccessKind, Atomicity, Option<Loc>) {
        (self.access.kind, self.access.atomicity, Some(self.loc))
    }
}

impl<'r> History<'r> {
    /// `None` when the order of the run cannot be told, or there is no time.
    fn of(run: &'r Run, stop: &'r dyn Fn() -> bool) -> Option<History<'r>> {
        let (weak, origin) = weak_trace(run, stop).ok()?;
        let events = &run.recorder.trace().events[..];
        let threads =
            events.iter().map(|event| event.thread.index() + 1).chain(created(events)).max().unwrap_or(1);
        let mut history = History {
            run,
            stop,
            events,
            perhaps: perhaps(run),
            past: Vec::new(),
            before: Vec::new(),
            threads,
            tells_branches: false,
        };
        let mut clocks = Clocks::new();
        let mut known: usize = 1;
        let mut held = vec![Lockset::new(); threads];
        let (mut step, mut next) = (0, 0);
        for (at, event) in events.iter().enumerate() {
            while step < run.steps.len() && history.start(step) <= at {
                history.snapshot(&clocks, known, &held);
                step += 1;
            }
            // An acquisition may be several events there, or none.
            while origin.get(next) == Some(&at) {
                clocks.arrive(&weak.events[next]);
                known = known.max(event.thread.index() + 1);
                if let Some((access, loc)) = RaceAccess::of(event) {
                    let locks = held[event.thread.index()].clone();
                    let epoch = clocks.epoch(event.thread);
                    history.past.push(Past { event: at, access, loc, locks, epoch });
                }
                clocks.depart(&weak.events[next]);
                next += 1;
            }
            if let EventKind::Create { child } = event.kind {
                known = known.max(child.index() + 1);
            }
            hold(&mut held, event);
        }
        while step < run.steps.len() {
            history.snapshot(&clocks, known, &held);
            step += 1;
        }
        Some(history)
    }

    fn snapshot(&mut self, clocks: &Clocks, known: usize, held: &[Lockset]) {
        let threads = (0..known).map(|thread| clocks.clock(ThreadId::from_index(thread)).clone()).collect();
        self.before.push((threads, held.to_vec()));
    }

    /// The first event of the step.
    fn start(&self, depth: usize) -> usize {
        self.run.events(depth).start
    }

    /// Accesses before the state that the thread is not ordered after there.
    fn open_past(&self, depth: usize, thread: ThreadId) -> impl Iterator<Item = &Past> {
        let start = self.start(depth);
        let clock = self.clock_of(thread, depth, &self.before[depth].0);
        self.past.iter().take_while(move |past| past.event < start).filter(move |past| {
            past.epoch.thread != thread && clock.is_none_or(|clock| !clock.covers(past.epoch))
        })
    }

    /// What the thread, or the one that will create it, is ordered after.
    fn clock_of<'c>(
        &self,
        thread: ThreadId,
        depth: usize,
        clocks: &'c [VectorClock],
    ) -> Option<&'c VectorClock> {
        let start = self.start(depth);
        let mut thread = thread;
        loop {
            let creation = self.events.iter().enumerate().find_map(|(at, event)| match event.kind {
                EventKind::Create { child } if child == thread => Some((at, event.thread)),
                _ => None,
            });
            match creation {
                Some((at, creator)) if at >= start => thread = creator,
                _ => return clocks.get(thread.index()),
            }
        }
    }

    /// What each thread does behind the state, and might do instead. `None`: it had ended, or never is.
    fn rests(&self, depth: usize, oracle: &dyn Oracle) -> Vec<Option<Rest>> {
        let start = self.start(depth);
        let (_, held) = &self.before[depth];
        let nothing: Known = Rc::new(vec![0; self.threads]);
        let mut rests: Vec<Option<Rest>> = (0..self.threads).map(|_| None).collect();
        for (thread, locks) in held.iter().enumerate() {
            if self.is_alive(ThreadId::from_index(thread), start) {
                rests[thread] = Some(Rest::of(locks.clone(), nothing.clone()));
            }
        }
        for (at, event) in self.events.iter().enumerate().skip(start) {
            let outcome = if self.perhaps.contains(&at) { Outcome::Perhaps } else { Outcome::Certain };
            let own = event.thread.index();
            // First the event: a thread that waits for another's end is not ordered after it yet.
            if let Some(rest) = &mut rests[own] {
                rest.event(at, event, outcome, oracle);
            }
            match event.kind {
                EventKind::Create { child } => {
                    if let Some(rest) = &rests[own] {
                        let mut known = (*rest.known).clone();
                        known[own] = at + 1;
                        rests[child.index()] = Some(Rest::of(Lockset::new(), Rc::new(known)));
                    }
                }
                EventKind::Join { child } => {
                    let all = rests[child.index()].as_ref().map(|rest| rest.known.clone());
                    let fixed = oracle.is_fixed(event.site);
                    if let Some(rest) = rests[own].as_mut().filter(|rest| fixed && rest.is_straight()) {
                        let mut known = (*rest.known).clone();
                        if let Some(all) = all {
                            known.iter_mut().zip(all.iter()).for_each(|(a, b)| *a = (*a).max(*b));
                        }
                        known[child.index()] = usize::MAX;
                        rest.known = Rc::new(known);
                    }
                }
                _ => {}
            }
        }
        for step in &self.run.steps[depth..] {
            if let (OpKind::Channel { .. }, Some(rest)) =
                (step.operation.kind, rests[step.thread().index()].as_mut())
            {
                rest.sticks = true;
            }
        }
        rests.iter_mut().flatten().for_each(Rest::finish);
        rests
    }

    fn is_alive(&self, thread: ThreadId, start: usize) -> bool {
        let created = thread == ThreadId::MAIN
            || self.events[..start]
                .iter()
                .any(|e| matches!(e.kind, EventKind::Create { child } if child == thread));
        let ended = |event: &Event| event.thread == thread && event.kind == EventKind::End;
        created && !self.events[..start].iter().any(ended)
    }
}

fn created(events: &[Event]) -> impl Iterator<Item = usize> {
    events.iter().filter_map(|event| match event.kind {
        EventKind::Create { child } => Some(child.index() + 1),
        _ => None,
    })
}

/// Whether some lock was taken that the thread had already: its inner unlocks are no events, and another time they may be.
fn locks_again(run: &Run) -> bool {
    let events = &run.recorder.trace().events;
    run.steps.iter().enumerate().any(|(depth, step)| {
        let OpKind::Lock { lock, .. } = step.operation.kind else { return false };
        let took = |event: &Event| match event.kind {
            EventKind::Acquire { lock: l, .. } | EventKind::AcquireFailed { lock: l } => l == lock,
            _ => false,
        };
        !events[run.events(depth)].iter().any(took)
    })
}

/// Events of operations that may turn out either way: tries, timed locks, compare-exchanges.
fn perhaps(run: &Run) -> BTreeSet<usize> {
    let events = &run.recorder.trace().events;
    let mut found = BTreeSet::new();
    for (depth, step) in run.steps.iter().enumerate() {
        let own = |event: &Event| match (step.operation.kind, event.kind) {
            (
                OpKind::Lock { lock, how: LockHow::Try | LockHow::Timed, .. },
                EventKind::Acquire { lock: l, .. },
            ) => l == lock,
            (OpKind::Atomic { loc, op: AtomicOp::Rmw(_) }, EventKind::Atomic { loc: l, .. }) => l == loc,
            _ => false,
        };
        let range = run.events(depth);
        found.extend(events[range.clone()].iter().position(own).map(|at| range.start + at));
    }
    found
}
