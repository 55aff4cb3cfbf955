//! One ordinary execution on the interpreter: its events, the steps that they are of, and what semaphores held.

use raddle_base::SiteId;
use raddle_event::{Addr, Choice, Event, EventKind, ObjectId, ThreadId, Trace};
use raddle_explore::along::{Guide, Scheduler, before_the_end};
use raddle_interp::Interp;
use raddle_machine::{Machine, OpKind, Operation, Visibility};
use raddle_predict::Initial;
use raddle_predict::legality::Access;
use std::collections::{BTreeMap, BTreeSet};

/// Records what the scheduler lets happen.
pub(super) struct Recording {
    scheduler: Scheduler,
    pub(super) recorded: Recorded,
    /// More events are not recorded.
    limit: usize,
    pub(super) is_full: bool,
    next: Option<Operation>,
    /// Of an execution that is not one by chance.
    clocks: Option<Clocks>,
}

/// Who sleeps until when, in virtual time: whoever does not sleep goes first.
#[derive(Default)]
struct Clocks {
    now: u64,
    of: BTreeMap<ThreadId, u64>,
    /// Of the machine, before the step.
    before: u64,
}

/// What a long stretch of work counts for, in nanoseconds.
const LONG: u64 = 1_000_000;

impl Clocks {
    /// Those who wake up first, of those who can move.
    fn earliest(&mut self, machine: &Interp, open: &[Choice]) -> Vec<Choice> {
        self.before = machine.time();
        let now = self.now;
        let clock = |choice: &Choice| self.of.get(&choice.thread).copied().unwrap_or(now).max(now);
        let first = open.iter().map(clock).min().unwrap_or(now);
        let earliest = open.iter().copied().filter(|choice| clock(choice) == first).collect();
        self.now = first;
        earliest
    }

    fn stepped(&mut self, machine: &Interp, thread: ThreadId, worked: u64) {
        let slept = machine.time().saturating_sub(self.before).saturating_add(worked);
        self.of.insert(thread, self.now.saturating_add(slept));
    }
}

/// An execution.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorded {
    pub(super) trace: Trace,
    /// In the order of the execution.
    pub(super) steps: Vec<Step>,
    /// Of each event, its step.
    pub(super) of_event: Vec<u32>,
    pub(super) initial: Initial,
    known_semaphores: BTreeSet<Addr>,
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) choice: Choice,
    pub(super) operation: Operation,
    /// The event that the step is for: a lock that is taken is looked at before, and what a join returns is stored after it, in the same step.
    pub(super) main: Option<usize>,
}

impl Recording {
    pub(super) fn new(seed: Option<u64>, limit: usize) -> Self {
        Self {
            scheduler: Scheduler::new(seed),
            recorded: Recorded::default(),
            limit,
            is_full: false,
            next: None,
            clocks: seed.is_none().then(Clocks::default),
        }
    }
}

impl Guide<Interp> for Recording {
    fn choose(&mut self, machine: &Interp, open: &[Choice]) -> Choice {
        let choice = match &mut self.clocks {
            Some(clocks) => {
                let open = clocks.earliest(machine, &before_the_end(machine, open));
                self.scheduler.choose(machine, &open)
            }
            None => self.scheduler.choose(machine, open),
        };
        self.next = machine.pending(choice.thread);
        choice
    }

    fn stepped(&mut self, machine: &Interp, choice: Choice, events: &[Event]) {
        if let Some(clocks) = &mut self.clocks {
            let kind = self.next.map(|operation| operation.kind);
            let gives_way = kind == Some(OpKind::Yield) || self.scheduler.is_turn_over();
            clocks.stepped(machine, choice.thread, if gives_way { LONG } else { 0 });
        }
        let recorded = &mut self.recorded;
        self.is_full |= recorded.trace.events.len() + events.len() > self.limit;
        let Some(operation) = self.next.take().filter(|_| !self.is_full) else { return };
        let first = recorded.trace.events.len();
        for event in events {
            recorded.semaphore(machine, event);
            recorded.of_event.push(recorded.steps.len() as u32);
            recorded.trace.events.push(*event);
        }
        let main = main_event(operation, events).map(|at| first + at);
        recorded.steps.push(Step { choice, operation, main });
    }
}

fn main_event(operation: Operation, events: &[Event]) -> Option<usize> {
    let synchronises = |event: &Event| {
        !matches!(
            event.kind,
            EventKind::Access { .. }
                | EventKind::Atomic { .. }
                | EventKind::Alloc { .. }
                | EventKind::Free { .. }
                | EventKind::Fence { .. }
        )
    };
    let is_access = matches!(operation.kind, OpKind::Access { .. } | OpKind::Atomic { .. });
    let synchronisation = events.iter().position(synchronises).filter(|_| !is_access);
    synchronisation.or((!events.is_empty()).then_some(0))
}

impl Recorded {
    /// Values of semaphores: where they are initialised, and before the first use of others.
    fn semaphore(&mut self, machine: &Interp, event: &Event) {
        let (object, before): (Addr, fn(u32) -> u32) = match event.kind {
            EventKind::SyncInit { object } => (object, |value| value),
            EventKind::SemPost { sem } => (sem, |value| value.saturating_sub(1)),
            EventKind::SemWait { sem } => (sem, |value| value.saturating_add(1)),
            EventKind::AcquireFailed { lock } => (lock, |value| value),
            _ => return,
        };
        let Some(value) = machine.semaphore(object) else { return };
        if matches!(event.kind, EventKind::SyncInit { .. }) {
            self.initial.at.insert(self.trace.events.len(), value);
        } else if !self.known_semaphores.contains(&object) {
            self.initial.before.insert(object, before(value));
        }
        self.known_semaphores.insert(object);
    }

    /// Sites of accesses to bytes that two threads access, one of them writing. What the main thread does before it creates another is before
    /// everything.
    pub(super) fn shared_sites(&self) -> Visibility {
        let events = &self.trace.events;
        let first = events.iter().position(|event| matches!(event.kind, EventKind::Create { .. }));
        let events = &events[first.unwrap_or(events.len())..];
        let mut uses: BTreeMap<(ObjectId, u32), Uses> = BTreeMap::new();
        let accesses = || {
            events.iter().filter_map(|event| {
                let Access { loc, writes, .. } = Access::of(event)?;
                let granules = loc.offset / GRANULE..=(loc.offset + loc.len.max(1) - 1) / GRANULE;
                Some((event, granules.map(move |granule| (loc.object, granule)), writes))
            })
        };
        for (event, granules, writes) in accesses() {
            for granule in granules {
                let own = Uses { thread: event.thread, several: false, written: false };
                let uses = uses.entry(granule).or_insert(own);
                uses.several |= uses.thread != event.thread;
                uses.written |= writes;
            }
        }
        let is_shared = |granule| uses.get(&granule).is_some_and(|uses| uses.several && uses.written);
        let shared = accesses().filter(|(_, granules, _)| granules.clone().any(is_shared));
        let sites: BTreeSet<SiteId> = shared.map(|(event, ..)| event.site).collect();
        match sites.is_empty() {
            true => Visibility::SyncOnly,
            false => Visibility::Sites(sites.into_iter().collect()),
        }
    }
}

/// Bytes that count as one.
const GRANULE: u32 = 8;

/// Of a granule.
struct Uses {
    thread: ThreadId,
    several: bool,
    written: bool,
}
