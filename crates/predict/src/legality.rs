//! The definition of [`reordering`](crate::reordering), step by step, and the check that a candidate keeps to it.
//!
//! Simple and slow on purpose, with no method of prediction behind it: this is what every method is tested against.
//!
//! Which way it errs: neither, given that the trace, with [`Input::initial`], happened. What the definition leaves open about the
//! program, its documentation says.

mod deadlock;
mod index;
mod reads;
mod sync_state;
mod waits;

use crate::candidate::{Candidate, Error};
use crate::reordering::Input;
pub use index::Index;
use raddle_event::{AccessKind, Event, EventKind, Loc, LockMode, ThreadId, WakeReason};
pub(crate) use reads::sources;
pub use reads::uncertain;
pub(crate) use sync_state::{Failure, ObjectLife, SyncState, is_border, lives, signalled};
pub(crate) use waits::Waits;

/// Whether the order of the candidate is a reordering, its error holds after it, and its uncertain reads are those of the definition.
pub fn check(input: Input, candidate: &Candidate) -> Result<(), Wrong> {
    let index = Index::new(input);
    let mut state = State::new(&index);
    for (at, &event) in candidate.order.iter().enumerate() {
        if !state.is_possible(event) {
            return Err(Wrong::Impossible { at, event });
        }
        state.take(event);
    }
    if let Some(event) = state.facts.rest_of_step {
        return Err(Wrong::HalfAStep { event });
    }
    match &candidate.error {
        Error::Race { first, second } => {
            if first >= second || !state.is_race(*first, *second) {
                return Err(Wrong::NoRace);
            }
        }
        Error::Deadlock { blocked } => {
            let sorted = blocked.windows(2).all(|pair| pair[0] < pair[1]);
            if !sorted || !state.is_deadlock(blocked) {
                return Err(Wrong::NoDeadlock);
            }
        }
    }
    let uncertain = uncertain(input, &candidate.order, &candidate.error);
    if candidate.uncertain != uncertain {
        return Err(Wrong::Uncertain { expected: uncertain });
    }
    Ok(())
}

/// What is wrong with a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// The event at this place of the order cannot come there.
    Impossible {
        at: usize,
        event: usize,
    },
    /// The order ends inside of a step: this event has to follow.
    HalfAStep {
        event: usize,
    },
    NoRace,
    NoDeadlock,
    /// The uncertain reads are others.
    Uncertain {
        expected: Vec<usize>,
    },
}

/// Where all threads are after some events.
#[derive(Clone, Debug)]
pub struct State<'a> {
    index: &'a Index<'a>,
    facts: Facts,
}

/// What tells two states apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Facts {
    /// How many events of each thread were taken.
    done: Vec<usize>,
    pub(crate) objects: SyncState,
    /// The second half of the step that was begun.
    rest_of_step: Option<usize>,
    ended: Process,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Process {
    #[default]
    Running,
    Ended,
}

impl<'a> State<'a> {
    pub fn new(index: &'a Index<'a>) -> Self {
        Self { index, facts: index.start.clone() }
    }

    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The next event of the thread.
    pub fn next(&self, thread: ThreadId) -> Option<usize> {
        let slot = self.index.slot(thread)?;
        self.index.threads[slot].1.get(self.facts.done[slot]).copied()
    }

    /// The next events of all threads that have one.
    pub fn nexts(&self) -> Vec<usize> {
        self.index.threads.iter().filter_map(|(thread, _)| self.next(*thread)).collect()
    }

    /// Whether the order may end here: no step is half done.
    pub fn is_between_steps(&self) -> bool {
        self.facts.rest_of_step.is_none()
    }

    /// Whether the event may come now.
    pub fn is_possible(&self, event: usize) -> bool {
        if let Some(rest) = self.facts.rest_of_step {
            return event == rest;
        }
        let Some(thread) = self.index.event(event).map(|event| event.thread) else { return false };
        let step = [Some(event), self.index.second_half(event)];
        self.facts.ended == Process::Running
            && self.next(thread) == Some(event)
            && step.into_iter().flatten().all(|half| self.allows(half))
    }

    /// Takes an event that is possible.
    pub fn take(&mut self, event: usize) {
        let taken = &self.index.input.trace.events[event];
        self.facts.done[self.index.place[event].0] += 1;
        self.facts.rest_of_step = self.index.second_half(event);
        self.facts.objects.take(taken, self.index.life[event], self.index.is_signalled(event));
        if taken.kind == EventKind::Exit {
            self.facts.ended = Process::Ended;
        }
    }

    /// Whether both accesses are the next of their threads, may come now, and conflict.
    pub fn is_race(&self, first: usize, second: usize) -> bool {
        let conflict = match (self.index.event(first), self.index.event(second)) {
            (Some(a), Some(b)) => conflicts(a, b),
            _ => false,
        };
        conflict && self.is_between_steps() && self.is_possible(first) && self.is_possible(second)
    }

    pub(crate) fn was_taken(&self, event: usize) -> bool {
        let (slot, position) = self.index.place[event];
        position < self.facts.done[slot]
    }

    /// Whether the rules on this event hold, its place in its thread apart.
    fn allows(&self, event: usize) -> bool {
        let life = self.index.life[event];
        let thread = self.index.input.trace.events[event].thread;
        let own = match self.index.input.trace.events[event].kind {
            EventKind::Acquire { lock, mode } => self.opponents((lock, life), mode).is_empty(),
            EventKind::AcquireFailed { lock } => match self.index.failures[&event] {
                Failure::HeldExclusively => self
                    .facts
                    .objects
                    .holders((lock, life))
                    .iter()
                    .any(|(_, mode)| *mode == LockMode::Exclusive),
                Failure::Held => !self.facts.objects.holders((lock, life)).is_empty(),
                Failure::AtZero => self.facts.objects.count((lock, life)) == 0,
                Failure::ForNoReason => true,
            },
            EventKind::WaitEnd { cond, reason: WakeReason::Signalled } => {
                self.facts.objects.is_woken(cond, thread)
            }
            EventKind::SemWait { sem } => self.facts.objects.count((sem, life)) > 0,
            _ => true,
        };
        own && self.index.after[event].iter().all(|&before| self.was_taken(before))
    }

    /// Those who keep a thread from acquiring the lock, itself included.
    fn opponents(&self, lock: ObjectLife, mode: LockMode) -> Vec<ThreadId> {
        let conflicting = |held: LockMode| mode == LockMode::Exclusive || held == LockMode::Exclusive;
        let holders = self.facts.objects.holders(lock).iter();
        holders.filter(|(_, held)| conflicting(*held)).map(|(thread, _)| *thread).collect()
    }
}

/// Whether the two are accesses of different threads to a common byte, at least one a write, and not both atomic.
pub fn conflicts(a: &Event, b: &Event) -> bool {
    let (Some(x), Some(y)) = (Access::of(a), Access::of(b)) else { return false };
    a.thread != b.thread && x.loc.overlaps(y.loc) && (x.writes || y.writes) && !(x.atomic && y.atomic)
}

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    pub loc: Loc,
    pub reads: bool,
    pub writes: bool,
    pub atomic: bool,
}

impl Access {
    /// `None` for an event that is none.
    pub fn of(event: &Event) -> Option<Access> {
        match event.kind {
            EventKind::Access { loc, kind } => {
                let writes = kind == AccessKind::Write;
                Some(Access { loc, reads: !writes, writes, atomic: false })
            }
            EventKind::Atomic { loc, op } => {
                Some(Access { loc, reads: op.reads(), writes: op.writes(), atomic: true })
            }
            _ => None,
        }
    }
}
