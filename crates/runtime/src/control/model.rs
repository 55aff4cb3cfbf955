//! The state of all threads and synchronisation objects of a controlled program: what is open to each thread, and what an operation
//! does. The same rules as the interpreter's (`interp::sync`, `interp::schedule`), family by family in the files beside this one.
//!
//! Objects are keyed by address and come to life at their first use, see `birth`. Nothing here touches the program's memory but to
//! look at static initialisers.

use super::operation::{Family, Fault, Happened, How, Kind, Operation, Outcome};
use std::collections::BTreeMap;

pub const SIGNALLED: u32 = 0;
pub const SPURIOUS: u32 = 1;
pub const TIMED_OUT: u32 = 2;

/// Whether a wait may end for no reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Spurious {
    #[default]
    On,
    Off,
}

#[derive(Default)]
pub struct Model {
    pub lives: Vec<Life>,
    pub(super) objects: BTreeMap<usize, Object>,
    /// Threads by the handle that the program has; of handles that were used again, the last one.
    pub(super) handles: BTreeMap<u64, u32>,
    /// Virtual time, in nanoseconds.
    pub time: u64,
    pub spurious: Spurious,
    /// What the operation now being performed did; whoever performs it takes them.
    happened: Vec<Note>,
}

/// Something that happened, or an error of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Note {
    pub thread: u32,
    pub site: u32,
    pub object: usize,
    pub what: Noted,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Noted {
    Happened(Happened),
    Fault(Fault),
}

/// A thread, by its number in order of creation.
#[derive(Default)]
pub struct Life {
    /// The operation before which it stands; none while it runs, and after its end.
    pub pending: Option<Operation>,
    /// Its operation was performed, and it may run on.
    pub outcome: Option<Outcome>,
    pub ended: bool,
    pub detached: bool,
    pub joined: bool,
    pub(super) wait: Option<Wait>,
    /// The round of the barrier that it has arrived at.
    pub(super) round: u32,
    pub(super) serial: bool,
}

/// A condition wait in progress.
#[derive(Clone, Copy)]
pub(super) struct Wait {
    pub until: Until,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    Signalled,
    /// A signal, the time limit or nothing at all.
    TimedOut,
    /// Nothing: it wakes up for no reason.
    Spurious,
}

#[derive(Clone)]
pub(super) enum Object {
    Mutex(Mutex),
    Rwlock(Rwlock),
    Cond(Vec<Waiter>),
    Barrier(Barrier),
    Semaphore { value: u64 },
    Once(Once),
    Destroyed,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Mutex {
    pub kind: MutexKind,
    pub robust: bool,
    pub owner: Option<u32>,
    pub depth: u32,
    pub health: Health,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum MutexKind {
    #[default]
    Normal,
    Recursive,
    ErrorCheck,
}

/// Robust mutexes only.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Health {
    #[default]
    Consistent,
    OwnerDied,
    NotRecoverable,
}

#[derive(Clone, Default)]
pub(super) struct Rwlock {
    pub writer: Option<u32>,
    pub readers: Vec<u32>,
    /// Writers that readers wait for; only where writers are preferred.
    pub waiting: Vec<u32>,
}

#[derive(Clone, Copy)]
pub(super) struct Waiter {
    pub thread: u32,
    pub signalled: bool,
}

#[derive(Clone, Copy)]
pub(super) struct Barrier {
    pub count: u32,
    pub arrived: u32,
    pub round: u32,
    /// Threads of the last full round that have not left yet.
    pub leaving: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Once {
    Fresh,
    Running,
    /// The initialiser was left by an exception, or the end of its thread: the next one runs it again.
    Abandoned,
    Done,
}

/// Whether a blocking acquisition could go on now.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Readiness {
    /// It would succeed, or fail at once with an error.
    Ready,
    Blocked,
}

impl Model {
    /// A thread that stands before its beginning. Numbers come in order of creation.
    pub fn born(&mut self, thread: u32, detached: bool) {
        while self.lives.len() <= thread as usize {
            self.lives.push(Life::default());
        }
        let life = &mut self.lives[thread as usize];
        *life = Life { pending: Some(Operation::new(Kind::Begin, 0)), detached, ..Life::default() };
    }

    pub fn life(&self, thread: u32) -> Option<&Life> {
        self.lives.get(thread as usize)
    }

    pub fn pending(&self, thread: u32) -> Option<&Operation> {
        self.life(thread)?.pending.as_ref()
    }

    /// Calls `open` with the variants by which the thread could go on now, in ascending order.
    pub fn variants(&self, thread: u32, mut open: impl FnMut(u32)) {
        let Some(operation) = self.pending(thread) else { return };
        match operation.kind {
            Kind::Lock => self.lock_variants(thread, operation, &mut open),
            Kind::SemWait => self.semaphore_variants(operation, &mut open),
            Kind::Join => self.join_variants(thread, operation, &mut open),
            Kind::WaitBegin => self.wait_variants(thread, operation, &mut open),
            Kind::WaitEnd => self.wake_variants(thread, operation, &mut open),
            Kind::Signal => (0..self.waiting(operation.object).max(1)).for_each(open),
            Kind::BarrierLeave if self.is_in_round(thread, operation.object) => {}
            Kind::Once
                if matches!(self.objects.get(&operation.object), Some(Object::Once(Once::Running))) => {}
            // Destroying a barrier waits, as glibc's does, until all threads of its last round have left.
            Kind::SyncDestroy if matches!(self.objects.get(&operation.object), Some(Object::Barrier(barrier)) if barrier.leaving > 0) =>
                {}
            Kind::Choose => (0..operation.number as u32).for_each(open),
            _ => open(0),
        }
    }

    /// All that is open, in order of thread, then variant.
    pub fn enabled(&self, mut open: impl FnMut(u32, u32)) {
        for thread in 0..self.lives.len() as u32 {
            self.variants(thread, |variant| open(thread, variant));
        }
    }

    pub fn is_enabled(&self, thread: u32, variant: u32) -> bool {
        let mut found = false;
        self.variants(thread, |open| found |= open == variant);
        found
    }

    /// Performs the pending operation of the thread by this variant, which is open: the thread may run on.
    pub fn perform(&mut self, thread: u32, variant: u32, value: Option<u64>) -> Outcome {
        let Some(operation) = self.lives[thread as usize].pending.take() else {
            crate::start::give_up("a thread was let go that stands nowhere");
        };
        self.time += 1000;
        let outcome = self.act(thread, &operation, variant, value);
        self.lives[thread as usize].outcome = Some(outcome);
        outcome
    }

    fn act(&mut self, me: u32, operation: &Operation, variant: u32, value: Option<u64>) -> Outcome {
        match operation.kind {
            Kind::Begin => self.happens(me, operation, Happened::Begin),
            Kind::End => self.end(me, operation),
            Kind::Exit => self.happens(me, operation, Happened::Exit),
            Kind::Create | Kind::Atomic | Kind::Fence | Kind::Access | Kind::Yield | Kind::Spin => {}
            Kind::Join => return self.join(me, operation, variant),
            Kind::Detach => return self.detach(me, operation),
            Kind::Lock => return self.lock(me, operation, variant),
            Kind::Unlock => return self.unlock(me, operation),
            Kind::SyncInit => return self.initialise(me, operation),
            Kind::SyncDestroy => return self.destroy(me, operation),
            Kind::WaitBegin => return self.wait(me, operation, variant),
            Kind::WaitEnd => return self.wake(me, operation, variant),
            Kind::Signal => return self.signal(me, operation, variant),
            Kind::Broadcast => return self.broadcast(me, operation),
            Kind::BarrierArrive => return self.arrive(me, operation),
            Kind::BarrierLeave => return self.leave(me, operation),
            Kind::SemPost => return self.post(me, operation),
            Kind::SemWait => return self.take_semaphore(me, operation, variant),
            Kind::SemRead => return self.read_semaphore(me, operation),
            Kind::Once => return self.once(me, operation),
            Kind::OnceEnd => return self.once_end(me, operation),
            Kind::Choose => {
                let value = value.unwrap_or(u64::from(variant));
                self.happens(me, operation, Happened::Choose { value });
                return Outcome::value(value);
            }
        }
        Outcome::DONE
    }

    pub(super) fn happens(&mut self, thread: u32, operation: &Operation, what: Happened) {
        self.note(thread, operation, Noted::Happened(what));
    }

    pub(super) fn fault(&mut self, thread: u32, operation: &Operation, fault: Fault) {
        self.note(thread, operation, Noted::Fault(fault));
    }

    pub(super) fn note(&mut self, thread: u32, operation: &Operation, what: Noted) {
        self.happened.push(Note { thread, site: operation.site, object: operation.object, what });
    }

    /// What was done since the last time.
    pub fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.happened)
    }

    /// The memory is somebody else's from now on.
    pub fn forget_range(&mut self, start: usize, end: usize) {
        while let Some((&address, _)) = self.objects.range(start..end).next() {
            self.objects.remove(&address);
        }
    }
}

/// The variants of something that can be waited for in three ways.
pub(super) fn ways(how: How, readiness: Readiness, open: &mut dyn FnMut(u32)) {
    match (how, readiness) {
        (How::Try, _) | (_, Readiness::Ready) => open(0),
        (How::Timed, Readiness::Blocked) => open(1),
        (How::Block, Readiness::Blocked) => {}
    }
}

pub(super) fn fits(object: &Object, family: Family) -> bool {
    match object {
        Object::Mutex(_) => matches!(family, Family::Mutex | Family::Spin),
        Object::Rwlock(_) => matches!(family, Family::Rwlock | Family::Own),
        Object::Cond(_) => family == Family::Cond,
        Object::Barrier(_) => family == Family::Barrier,
        Object::Semaphore { .. } => family == Family::Semaphore,
        Object::Once(_) => family == Family::Once,
        Object::Destroyed => false,
    }
}
