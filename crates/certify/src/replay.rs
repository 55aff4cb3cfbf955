//! Runs a schedule on a machine, step by step, and listens.

use crate::Refusal;
use crate::detector::touched;
use raddle_base::SiteId;
use raddle_event::{Addr, Event, EventKind, LockMode, ObjectId, Schedule, ThreadId};
use raddle_machine::{ForeignCall, Machine, Sink, StackSource, Status, Visibility};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

/// A schedule, with the visible operations that it counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Witness {
    pub schedule: Schedule,
    pub visibility: Visibility,
}

/// Performs every choice of the witness; each must be open when its turn comes.
pub(crate) fn run<M: Machine>(
    machine: &mut M,
    witness: &Witness,
    sink: &mut dyn Sink,
    stop: &AtomicBool,
) -> Result<(), Refusal> {
    run_until(machine, witness, sink, stop, |_| false)
}

/// The same, as far as the machine has met what is looked for.
pub(crate) fn run_until<M: Machine>(
    machine: &mut M,
    witness: &Witness,
    sink: &mut dyn Sink,
    stop: &AtomicBool,
    met: impl Fn(&M) -> bool,
) -> Result<(), Refusal> {
    machine.set_visibility(witness.visibility.clone());
    let mut enabled = Vec::new();
    for (step, choice) in witness.schedule.choices.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            return Err(Refusal::Stopped);
        }
        if machine.status() != Status::Running {
            return Err(Refusal::EndedEarly { step });
        }
        enabled.clear();
        machine.enabled(&mut enabled);
        if !enabled.contains(choice) {
            return Err(Refusal::NotEnabled { step, choice: *choice });
        }
        machine.step(*choice, sink);
        if met(machine) {
            break;
        }
    }
    Ok(())
}

/// Keeps the events that matter to a race between two sites, with their positions in the whole run.
///
/// Left out: plain accesses elsewhere, unless they write what atomics touched before (that ends a release sequence); and an access
/// that repeats an earlier one of its thread with no other kept event of the thread in between: nothing tells the two apart.
pub(crate) struct Collector {
    sites: (SiteId, SiteId),
    next: u64,
    pub(crate) events: Vec<Event>,
    pub(crate) positions: Vec<u64>,
    /// Calls of functions without body or model, in order.
    pub(crate) calls: Vec<Noted>,
    atomics: HashSet<ObjectId>,
    recent: HashMap<ThreadId, HashSet<Event>>,
}

impl Collector {
    pub(crate) fn new(sites: (SiteId, SiteId)) -> Self {
        Self {
            sites,
            next: 0,
            events: Vec::new(),
            positions: Vec::new(),
            calls: Vec::new(),
            atomics: HashSet::new(),
            recent: HashMap::new(),
        }
    }

    fn matters(&mut self, event: &Event) -> bool {
        let EventKind::Access { loc, .. } = event.kind else {
            if let EventKind::Atomic { loc, .. } = event.kind {
                self.atomics.insert(loc.object);
            }
            if let Some(recent) = self.recent.get_mut(&event.thread) {
                recent.clear();
            }
            return true;
        };
        let ends_sequence =
            self.atomics.contains(&loc.object) && touched(event).is_some_and(|access| access.writes);
        let claimed = event.site == self.sites.0 || event.site == self.sites.1;
        ends_sequence || (claimed && self.recent.entry(event.thread).or_default().insert(*event))
    }
}

impl Sink for Collector {
    fn event(&mut self, event: Event, _stack: &dyn StackSource) {
        if self.matters(&event) {
            self.events.push(event);
            self.positions.push(self.next);
        }
        self.next += 1;
    }

    fn foreign_call(&mut self, call: ForeignCall) {
        let at = self.events.len();
        let again = self.calls.last().is_some_and(|last| last.at == at && last.call == call);
        if !again {
            self.calls.push(Noted { at, call });
        }
    }

    fn wants_foreign_calls(&self) -> bool {
        true
    }
}

/// A call, with the number of events that were kept before it.
#[derive(Clone, Debug)]
pub(crate) struct Noted {
    pub(crate) at: usize,
    pub(crate) call: ForeignCall,
}

/// A lock that a thread holds, and where it took it.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) lock: Addr,
    pub(crate) mode: LockMode,
    pub(crate) site: SiteId,
    pub(crate) stack: Vec<SiteId>,
}

/// What stood around one event.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) event: Event,
    pub(crate) stack: Vec<SiteId>,
    pub(crate) held: Vec<Held>,
}

/// Follows the locks of all threads and takes down the scene of the wanted events.
pub(crate) struct Witnessing {
    wanted: Vec<u64>,
    next: u64,
    held: HashMap<ThreadId, Vec<Held>>,
    pub(crate) scenes: Vec<Scene>,
}

impl Witnessing {
    /// `wanted` are positions in the whole run, ascending.
    pub(crate) fn new(wanted: Vec<u64>) -> Self {
        Self { wanted, next: 0, held: HashMap::new(), scenes: Vec::new() }
    }

    pub(crate) fn held(&self, thread: ThreadId) -> Vec<Held> {
        self.held.get(&thread).cloned().unwrap_or_default()
    }
}

impl Sink for Witnessing {
    fn event(&mut self, event: Event, stack: &dyn StackSource) {
        if self.wanted.contains(&self.next) {
            let held = self.held(event.thread);
            self.scenes.push(Scene { event, stack: stack.call_sites(), held });
        }
        self.next += 1;
        let held = self.held.entry(event.thread).or_default();
        match event.kind {
            EventKind::Acquire { lock, mode } => {
                held.push(Held { lock, mode, site: event.site, stack: stack.call_sites() });
            }
            EventKind::Release { lock, mode } => {
                if let Some(at) = held.iter().rposition(|held| held.lock == lock && held.mode == mode) {
                    held.remove(at);
                }
            }
            _ => {}
        }
    }
}
