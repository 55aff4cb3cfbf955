//! Races in prefixes of runs that need not end: of programs that create threads for ever, and of threads that work for ever.
//!
//! A machine with bounds on what each thread does by itself: how many threads it creates at one place, how often it comes to the same
//! visible operation, how many values it tries. A thread beyond its bound stands there for good. Such a run is the beginning of a run of
//! the program, in which this thread is not scheduled, so a race in it is a race of the program and its schedule needs no bounds; that
//! there is none says nothing. Therefore the answer is never complete and has no deadlocks or other problems.
//!
//! The bound of a thread depends on its own steps alone, so that independent operations stay independent and the searches lose nothing
//! within the bounds. Compare iterative deepening (Korf, *Depth-First Iterative-Deepening*, Artificial Intelligence 1985) and delay
//! bounding (Emmi, Qadeer and Rakamarić, POPL 2011), which bound runs instead of threads.

use crate::dpor;
use crate::enumerate::{Coverage, Exploration, Gap, Limits};
use crate::random::{self, Plan};
use raddle_base::SiteId;
use raddle_event::{Addr, Choice, Loc, ObjectId, Problem, ThreadId};
use raddle_finding::Deadlocks;
use raddle_machine::{
    Canonical, Machine, ObjectInfo, OpKind, Operation, Origin, Sink, Status, ThreadInfo, Visibility,
};
use std::collections::BTreeMap;

/// What each thread may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Threads created at one place.
    pub creations: u32,
    /// Times at any other visible operation.
    pub rounds: u32,
    /// Values and other outcomes tried of those that the environment chooses from, the first ones.
    pub variants: u32,
}

/// Which runs within the bounds are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// One of each equivalence class.
    All,
    Sample(Plan),
}

/// Searches a machine that stands at its start; leaves it there, with [`Visibility::SyncOnly`].
pub fn search<M: Machine>(machine: &mut M, limits: &Limits, bounds: Bounds, how: How) -> Exploration {
    let mut bounded = Bounded::new(machine, bounds);
    let mut exploration = match how {
        How::All => dpor::optimal(&mut bounded, limits, Visibility::SyncOnly).exploration,
        How::Sample(plan) => random::random(&mut bounded, limits, Visibility::SyncOnly, plan),
    };
    exploration.problems.clear();
    exploration.unknown_reasons.insert(Gap::LoopRounds);
    Exploration { coverage: Coverage::Partial, deadlocks: Deadlocks::Unknown, ..exploration }
}

/// A machine that stands at its start, with bounds.
pub struct Bounded<'a, M> {
    machine: &'a mut M,
    bounds: Bounds,
    /// How often the thread has performed the operation there.
    times: BTreeMap<(ThreadId, SiteId), u32>,
    moves: Vec<(ThreadId, SiteId)>,
}

impl<'a, M: Machine> Bounded<'a, M> {
    pub fn new(machine: &'a mut M, bounds: Bounds) -> Self {
        Self { machine, bounds, times: BTreeMap::new(), moves: Vec::new() }
    }

    fn may(&self, choice: Choice) -> bool {
        let Some(operation) = self.machine.pending(choice.thread) else { return true };
        let most = match operation.kind {
            OpKind::Create => self.bounds.creations,
            OpKind::Choose { .. } if choice.variant >= self.bounds.variants => return false,
            // At places of their own, and once.
            OpKind::Begin | OpKind::End | OpKind::Exit => return true,
            _ => self.bounds.rounds,
        };
        self.times.get(&(choice.thread, operation.site)).is_none_or(|times| *times < most)
    }
}

impl<M: Machine> Machine for Bounded<'_, M> {
    /// With the number of moves made.
    type Checkpoint = (M::Checkpoint, usize);

    fn thread_count(&self) -> u32 {
        self.machine.thread_count()
    }

    /// A deadlock, though of no problem, where every thread stands beyond its bound.
    fn status(&self) -> Status {
        let status = self.machine.status();
        let mut choices = Vec::new();
        if status == Status::Running {
            self.enabled(&mut choices);
        }
        if status == Status::Running && choices.is_empty() { Status::Deadlock } else { status }
    }

    fn pending(&self, thread: ThreadId) -> Option<Operation> {
        self.machine.pending(thread)
    }

    fn enabled(&self, choices: &mut Vec<Choice>) {
        self.machine.enabled(choices);
        choices.retain(|choice| self.may(*choice));
    }

    fn standpoint(&self, thread: ThreadId) -> u64 {
        self.machine.standpoint(thread)
    }

    fn step(&mut self, choice: Choice, sink: &mut dyn Sink) {
        let site = self.machine.pending(choice.thread).map_or(SiteId::NONE, |operation| operation.site);
        self.moves.push((choice.thread, site));
        *self.times.entry((choice.thread, site)).or_default() += 1;
        self.machine.step(choice, sink);
    }

    fn foresee(&mut self, choices: &[Choice]) {
        self.machine.foresee(choices);
    }

    fn checkpoint(&mut self) -> Self::Checkpoint {
        (self.machine.checkpoint(), self.moves.len())
    }

    fn restore(&mut self, (checkpoint, moves): &Self::Checkpoint) {
        self.machine.restore(checkpoint);
        for undone in self.moves.drain(moves..) {
            if let Some(times) = self.times.get_mut(&undone) {
                *times -= 1;
            }
        }
    }

    fn discard(&mut self, (checkpoint, _): Self::Checkpoint) {
        self.machine.discard(checkpoint);
    }

    fn canonical(&mut self) -> Canonical {
        self.machine.canonical()
    }

    fn problems(&self) -> &[Problem] {
        self.machine.problems()
    }

    fn assumptions(&self) -> Vec<&'static str> {
        self.machine.assumptions()
    }

    fn output(&self) -> &[u8] {
        self.machine.output()
    }

    fn set_visibility(&mut self, visibility: Visibility) {
        self.machine.set_visibility(visibility);
    }

    fn thread_info(&self, thread: ThreadId) -> ThreadInfo {
        self.machine.thread_info(thread)
    }

    fn origin(&self, thread: ThreadId) -> Option<Origin> {
        self.machine.origin(thread)
    }

    fn call_sites(&self, thread: ThreadId) -> Vec<SiteId> {
        self.machine.call_sites(thread)
    }

    fn object_info(&self, object: ObjectId) -> ObjectInfo {
        self.machine.object_info(object)
    }

    fn place_name(&self, loc: Loc) -> String {
        self.machine.place_name(loc)
    }

    fn held_locks(&self, thread: ThreadId) -> Vec<Addr> {
        self.machine.held_locks(thread)
    }
}
