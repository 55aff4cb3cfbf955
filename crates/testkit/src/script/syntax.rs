//! The syntax of scripts. Every statement does at most one thing that another thread could notice, so a site is a statement.
//!
//! Sites are numbered in pre-order: the once initialisers first, then the threads, each statement before its nested blocks. The
//! machine and the C text number in that same order.

use raddle_base::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};

/// A program. Thread 0 is `main`; each other thread body is a function that `Act::Create` starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Number of shared objects of eight bytes, zero at start.
    pub vars: u8,
    pub locks: Vec<LockKind>,
    pub conds: u8,
    /// Number of threads that each barrier waits for.
    pub barriers: Vec<u8>,
    /// Initial value of each semaphore.
    pub sems: Vec<u8>,
    /// Initialiser of each once object.
    pub onces: Vec<Block>,
    pub threads: Vec<Block>,
}

pub type Block = Vec<Stmt>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    Act(Act),
    If {
        cond: Cond,
        then: Block,
        otherwise: Block,
    },
    /// Runs the body this many times.
    Repeat {
        times: u8,
        body: Block,
    },
    /// Runs the body until a `BreakIf` directly inside of it (or inside of an `If` in it) leaves.
    Forever {
        body: Block,
    },
    BreakIf(Cond),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Read {
        to: Reg,
        place: Place,
    },
    Write {
        place: Place,
        value: Value,
    },
    AtomicLoad {
        to: Reg,
        place: Place,
        order: LoadOrder,
    },
    AtomicStore {
        place: Place,
        value: Value,
        order: StoreOrder,
    },
    /// `to` gets the old value.
    AtomicRmw {
        to: Reg,
        place: Place,
        kind: RmwKind,
        value: Value,
        order: RmwOrder,
    },
    /// `to` gets 1 if it was exchanged, else 0.
    AtomicCas {
        to: Reg,
        place: Place,
        expected: u8,
        desired: Value,
        success: RmwOrder,
        failure: LoadOrder,
    },
    Fence(FenceOrder),
    /// `result` gets 0 when the lock was taken, else 1; a blocking lock leaves it alone.
    Lock {
        lock: u8,
        mode: Mode,
        how: How,
        result: Reg,
    },
    Unlock {
        lock: u8,
    },
    AtomicBegin,
    AtomicEnd,
    Wait {
        cond: u8,
        lock: u8,
        how: How,
    },
    Signal {
        cond: u8,
    },
    Broadcast {
        cond: u8,
    },
    Barrier {
        barrier: u8,
    },
    Post {
        sem: u8,
    },
    /// `result` gets 0 when the semaphore was taken, else 1; a blocking wait leaves it alone.
    Down {
        sem: u8,
        how: How,
        result: Reg,
    },
    Once {
        once: u8,
    },
    Create {
        thread: u8,
    },
    /// Joins the thread that this thread's last `Create` of that body made.
    Join {
        thread: u8,
    },
    Detach {
        thread: u8,
    },
    Set {
        to: Reg,
        value: Value,
    },
    /// The environment picks 0 or 1.
    Choose {
        to: Reg,
    },
    Assume(Cond),
    Assert(Cond),
    /// Ends the process.
    Exit,
    /// Ends the thread (also `main` without ending the process).
    Return,
}

/// A register of the running function, zero when it is entered.
pub type Reg = u8;

pub const REGISTERS: usize = 4;

/// The bytes `offset .. offset + size` of a variable; `size` is 1, 2, 4 or 8 and `offset` a multiple of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub var: u8,
    pub offset: u8,
    pub size: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    Const(u8),
    Reg(Reg),
    /// A register plus one.
    Next(Reg),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cond {
    Is(Reg, u8),
    IsNot(Reg, u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockKind {
    Mutex,
    Recursive,
    ErrorCheck,
    Rwlock,
    Spin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    Exclusive,
    Shared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    Block,
    Try,
    /// Times out only while it would have to wait (POSIX: not if the lock "can be locked immediately").
    Timed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RmwKind {
    Add,
    Exchange,
}

impl Script {
    /// Every act of the script, in order of site.
    pub fn acts(&self) -> Vec<Act> {
        let mut acts = Vec::new();
        for block in self.onces.iter().chain(&self.threads) {
            collect(block, &mut acts);
        }
        acts
    }

    /// Number of statements.
    pub fn len(&self) -> usize {
        self.onces.iter().chain(&self.threads).map(|block| size(block)).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Number of statements in a block, nested ones included.
pub(super) fn size(block: &[Stmt]) -> usize {
    block
        .iter()
        .map(|stmt| match stmt {
            Stmt::If { then, otherwise, .. } => 1 + size(then) + size(otherwise),
            Stmt::Repeat { body, .. } | Stmt::Forever { body } => 1 + size(body),
            Stmt::Act(_) | Stmt::BreakIf(_) => 1,
        })
        .sum()
}

/// Whether the C text would be a program without undefined behaviour of its own making: a join or detach follows its creation in the
/// same block and happens once, a break stands in a loop, and every index is in range.
pub fn well_formed(script: &Script) -> bool {
    !script.threads.is_empty()
        && script.onces.iter().all(|block| block_is_well_formed(script, block, Loop::Outside))
        && script.threads.iter().all(|block| block_is_well_formed(script, block, Loop::Outside))
}

#[derive(Clone, Copy, PartialEq)]
enum Loop {
    Inside,
    Outside,
}

fn block_is_well_formed(script: &Script, block: &[Stmt], around: Loop) -> bool {
    let mut created: Vec<u8> = Vec::new();
    block.iter().all(|stmt| match stmt {
        Stmt::Act(Act::Create { thread }) => {
            created.push(*thread);
            (1..script.threads.len()).contains(&usize::from(*thread)) && around == Loop::Outside
        }
        Stmt::Act(Act::Join { thread } | Act::Detach { thread }) => {
            let position = created.iter().position(|made| made == thread);
            position.map(|position| created.remove(position)).is_some()
        }
        Stmt::Act(act) => act_is_well_formed(script, *act),
        Stmt::If { then, otherwise, .. } => {
            block_is_well_formed(script, then, around) && block_is_well_formed(script, otherwise, around)
        }
        Stmt::Repeat { body, .. } | Stmt::Forever { body } => {
            block_is_well_formed(script, body, Loop::Inside)
        }
        Stmt::BreakIf(_) => around == Loop::Inside,
    })
}

fn act_is_well_formed(script: &Script, act: Act) -> bool {
    let lock_kind = |lock: u8| script.locks.get(usize::from(lock)).copied();
    match act {
        Act::Lock { lock, mode, how, .. } => match lock_kind(lock) {
            None => false,
            Some(LockKind::Rwlock) => true,
            Some(LockKind::Spin) => mode == Mode::Exclusive && how != How::Timed,
            Some(_) => mode == Mode::Exclusive,
        },
        Act::Unlock { lock } => lock_kind(lock).is_some(),
        Act::Wait { cond, lock, how } => {
            cond < script.conds
                && how != How::Try
                && matches!(
                    lock_kind(lock),
                    Some(LockKind::Mutex | LockKind::Recursive | LockKind::ErrorCheck)
                )
        }
        Act::Signal { cond } | Act::Broadcast { cond } => cond < script.conds,
        Act::Barrier { barrier } => usize::from(barrier) < script.barriers.len(),
        Act::Post { sem } | Act::Down { sem, .. } => usize::from(sem) < script.sems.len(),
        Act::Once { once } => usize::from(once) < script.onces.len(),
        Act::Read { place, .. }
        | Act::Write { place, .. }
        | Act::AtomicLoad { place, .. }
        | Act::AtomicStore { place, .. }
        | Act::AtomicRmw { place, .. }
        | Act::AtomicCas { place, .. } => {
            place.var < script.vars
                && matches!(place.size, 1 | 2 | 4 | 8)
                && place.offset % place.size == 0
                && place.offset + place.size <= 8
        }
        _ => true,
    }
}

fn collect(block: &[Stmt], acts: &mut Vec<Act>) {
    for stmt in block {
        match stmt {
            Stmt::Act(act) => acts.push(*act),
            Stmt::If { then, otherwise, .. } => {
                collect(then, acts);
                collect(otherwise, acts);
            }
            Stmt::Repeat { body, .. } | Stmt::Forever { body } => collect(body, acts),
            Stmt::BreakIf(_) => {}
        }
    }
}
