//! The whole state of a running script: memory, synchronisation objects, threads. A checkpoint is a clone of it; threads are
//! shared between clones until one of them moves.

use super::code::{COUNTERS, Program};
use super::stutter::{Nap, Visit};
use super::syntax::{LockKind, Mode, Place, REGISTERS, Reg, Script, Value};
use raddle_base::SiteId;
use raddle_event::{Addr, Loc, ObjectId, Problem, ThreadId};
use raddle_machine::Status;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) memory: Vec<[u8; 8]>,
    /// The script's locks, then the one lock of atomic sections.
    pub(super) locks: Vec<Lock>,
    /// Waiting threads of each condition variable, in order of arrival.
    pub(super) conds: Vec<Vec<Waiter>>,
    pub(super) barriers: Vec<Barrier>,
    pub(super) sems: Vec<u32>,
    pub(super) onces: Vec<Once>,
    pub(super) threads: Vec<Arc<Thread>>,
    pub(super) status: Status,
    pub(super) problems: Vec<Problem>,
    pub(super) weak_atomics: Weak,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weak {
    Met,
    NotMet,
}

#[derive(Clone, Debug)]
pub(super) struct Lock {
    pub(super) kind: LockKind,
    pub(super) owner: Option<ThreadId>,
    /// How often a recursive lock is held.
    pub(super) depth: u32,
    pub(super) readers: Vec<ThreadId>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    pub(super) thread: ThreadId,
    pub(super) signalled: Signalled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Signalled {
    Yes,
    No,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Barrier {
    pub(super) needed: u32,
    pub(super) arrived: u32,
    pub(super) round: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Once {
    Fresh,
    Running,
    Done,
}

#[derive(Clone, Debug)]
pub(super) struct Thread {
    /// Index of its body among the program's functions.
    pub(super) function: usize,
    pub(super) created: Option<(ThreadId, SiteId)>,
    /// The creator's how-manieth child this is.
    pub(super) ordinal: u32,
    pub(super) local: Arc<Local>,
    pub(super) history: Vec<Arc<Visit>>,
    pub(super) naps: Vec<Nap>,
}

/// All that decides what a thread does next apart from the shared state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Local {
    pub(super) at: At,
    /// Innermost last; a once initialiser runs on top of its caller.
    pub(super) frames: Vec<Frame>,
    /// Locks held, outermost first.
    pub(super) held: Vec<Held>,
    /// Last child made of each thread body, by body.
    pub(super) children: Vec<(u8, ThreadId)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum At {
    Begin,
    /// Before the code at the innermost frame's position.
    Code,
    WaitEnd,
    /// In a wait that ends for no reason, before its lock is taken again.
    Awake,
    BarrierLeave {
        round: u32,
    },
    Spin {
        site: SiteId,
    },
    Ended,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Frame {
    pub(super) function: usize,
    pub(super) position: usize,
    pub(super) registers: [u64; REGISTERS],
    pub(super) counters: [u8; COUNTERS],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Held {
    pub(super) lock: usize,
    pub(super) mode: Mode,
    pub(super) depth: u32,
}

impl State {
    pub(super) fn new(script: &Script, program: &Program) -> Self {
        let kinds = script.locks.iter().copied().chain([LockKind::Mutex]);
        Self {
            memory: vec![[0; 8]; usize::from(script.vars)],
            locks: kinds.map(Lock::new).collect(),
            conds: vec![Vec::new(); usize::from(script.conds)],
            barriers: script
                .barriers
                .iter()
                .map(|needed| Barrier { needed: u32::from(*needed), arrived: 0, round: 0 })
                .collect(),
            sems: script.sems.iter().map(|value| u32::from(*value)).collect(),
            onces: vec![Once::Fresh; script.onces.len()],
            threads: vec![Arc::new(Thread::new(program.once_count, None, 0))],
            status: Status::Running,
            problems: Vec::new(),
            weak_atomics: Weak::NotMet,
        }
    }

    pub(super) fn read(&self, place: Place) -> u64 {
        let bytes = &self.memory[usize::from(place.var)][range(place)];
        bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    pub(super) fn write(&mut self, place: Place, value: u64) {
        let bytes = &mut self.memory[usize::from(place.var)][range(place)];
        bytes.copy_from_slice(&value.to_le_bytes()[..usize::from(place.size)]);
    }

    /// The lock of atomic sections.
    pub(super) fn section(&self) -> usize {
        self.locks.len() - 1
    }

    /// Whether the thread could take the lock now.
    pub(super) fn can_acquire(&self, thread: ThreadId, lock: usize, mode: Mode) -> bool {
        let lock = &self.locks[lock];
        match (lock.owner, mode) {
            (Some(owner), _) => owner == thread && lock.kind == LockKind::Recursive,
            (None, Mode::Shared) => true,
            (None, Mode::Exclusive) => lock.readers.is_empty(),
        }
    }

    /// Whether a blocking lock would answer with an error at once.
    pub(super) fn refuses(&self, thread: ThreadId, lock: usize) -> bool {
        self.locks[lock].kind == LockKind::ErrorCheck && self.locks[lock].owner == Some(thread)
    }

    pub(super) fn waiter(&self, cond: u8, thread: ThreadId) -> Option<Waiter> {
        self.conds[usize::from(cond)].iter().copied().find(|waiter| waiter.thread == thread)
    }

    pub(super) fn thread(&self, thread: ThreadId) -> &Thread {
        &self.threads[thread.0 as usize]
    }

    pub(super) fn thread_mut(&mut self, thread: ThreadId) -> &mut Thread {
        Arc::make_mut(&mut self.threads[thread.0 as usize])
    }

    pub(super) fn local_mut(&mut self, thread: ThreadId) -> &mut Local {
        Arc::make_mut(&mut self.thread_mut(thread).local)
    }

    pub(super) fn register(&self, thread: ThreadId, register: Reg) -> u64 {
        self.thread(thread).local.frame().registers[usize::from(register)]
    }

    pub(super) fn set_register(&mut self, thread: ThreadId, register: Reg, value: u64) {
        self.local_mut(thread).frame_mut().registers[usize::from(register)] = value;
    }

    pub(super) fn value(&self, thread: ThreadId, value: Value) -> u64 {
        match value {
            Value::Const(constant) => u64::from(constant),
            Value::Reg(register) => self.register(thread, register),
            Value::Next(register) => self.register(thread, register).wrapping_add(1),
        }
    }
}

impl Lock {
    fn new(kind: LockKind) -> Self {
        Self { kind, owner: None, depth: 0, readers: Vec::new() }
    }
}

impl Thread {
    pub(super) fn new(function: usize, created: Option<(ThreadId, SiteId)>, ordinal: u32) -> Self {
        let local = Local {
            at: At::Begin,
            frames: vec![Frame::new(function)],
            held: Vec::new(),
            children: Vec::new(),
        };
        Self { function, created, ordinal, local: Arc::new(local), history: Vec::new(), naps: Vec::new() }
    }
}

impl Local {
    pub(super) fn frame(&self) -> &Frame {
        self.frames.last().expect("a running thread has a frame")
    }

    pub(super) fn frame_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a running thread has a frame")
    }

    pub(super) fn holds(&self, lock: usize) -> Option<Held> {
        self.held.iter().copied().find(|held| held.lock == lock)
    }

    pub(super) fn child(&self, thread: u8) -> ThreadId {
        let made = self.children.iter().rev().find(|(body, _)| *body == thread);
        made.expect("a join follows its creation").1
    }
}

impl Frame {
    pub(super) fn new(function: usize) -> Self {
        Self { function, position: 0, registers: [0; REGISTERS], counters: [0; COUNTERS] }
    }
}

/// Objects are numbered by kind in the order of the script's fields: variables, locks, conditions, barriers, semaphores, onces.
pub(super) struct Objects {
    locks: u32,
    conds: u32,
    barriers: u32,
    sems: u32,
    onces: u32,
}

impl Objects {
    pub(super) fn new(script: &Script) -> Self {
        let locks = u32::from(script.vars);
        let conds = locks + script.locks.len() as u32;
        let barriers = conds + u32::from(script.conds);
        let sems = barriers + script.barriers.len() as u32;
        let onces = sems + script.sems.len() as u32;
        Self { locks, conds, barriers, sems, onces }
    }

    /// The last lock of the state is the atomic section's.
    pub(super) fn lock(&self, lock: usize) -> Addr {
        let object = self.locks + lock as u32;
        if object == self.conds { Addr::ATOMIC_SECTION } else { address(object) }
    }

    pub(super) fn cond(&self, cond: u8) -> Addr {
        address(self.conds + u32::from(cond))
    }

    pub(super) fn barrier(&self, barrier: u8) -> Addr {
        address(self.barriers + u32::from(barrier))
    }

    pub(super) fn sem(&self, sem: u8) -> Addr {
        address(self.sems + u32::from(sem))
    }

    pub(super) fn once(&self, once: u8) -> Addr {
        address(self.onces + u32::from(once))
    }

    /// The name that the object has in the C text.
    pub(super) fn name(&self, object: ObjectId) -> String {
        let kinds = [
            ("o", self.onces),
            ("s", self.sems),
            ("b", self.barriers),
            ("c", self.conds),
            ("l", self.locks),
            ("v", 0),
        ];
        let (letter, first) =
            kinds.into_iter().find(|(_, first)| object.0 >= *first).expect("0 is the least");
        format!("{letter}{}", object.0 - first)
    }
}

fn address(object: u32) -> Addr {
    Addr { object: ObjectId(object), offset: 0 }
}

/// Where a place is in memory.
pub fn location(place: Place) -> Loc {
    Loc {
        object: ObjectId(u32::from(place.var)),
        offset: u32::from(place.offset),
        len: u32::from(place.size),
    }
}

fn range(place: Place) -> std::ops::Range<usize> {
    usize::from(place.offset)..usize::from(place.offset) + usize::from(place.size)
}
