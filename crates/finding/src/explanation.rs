//! The answer to "why is this not a race?": every access of one line, and what keeps it apart from the others.

use crate::{Frame, ThreadReport};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    pub file: String,
    pub line: u32,
    /// Empty: nothing is read or written there that threads could share; `nearby` has the closest lines with an access.
    pub accesses: Vec<ExplainedAccess>,
    pub nearby: Vec<u32>,
}

/// One access of the line, in all contexts that look the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedAccess {
    pub at: Frame,
    pub action: String,
    pub atomic: bool,
    pub expression: String,
    /// Copies of the code, one per way to get there, that this stands for.
    pub contexts: usize,
    /// What it may touch, as a person would call it.
    pub objects: Vec<String>,
    pub reach: Reach,
    pub threads: Vec<RunningThread>,
    pub locks: Vec<ExplainedLock>,
    /// What every execution of it comes after, besides the start of its own thread.
    pub after: Vec<OrderBy>,
    /// Accesses elsewhere (or here, by another thread) that touch the same and one of them writes.
    pub others: Vec<OtherAccess>,
    /// Further ones that are ruled out too and are not listed.
    pub more: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Another thread may reach it.
    Shared,
    /// No thread but its maker can reach it.
    Private,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningThread {
    pub thread: ThreadReport,
    /// More than one may run at once.
    pub many: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedLock {
    pub name: String,
    /// Held in shared mode: others may hold it so, too.
    pub shared: bool,
    /// Held only if a condition of the program holds.
    pub conditional: bool,
    /// Locks taken since it was taken: its acquisition history.
    pub since: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherAccess {
    pub at: Frame,
    pub action: String,
    pub atomic: bool,
    pub expression: String,
    pub threads: Vec<String>,
    pub standing: PairStanding,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PairStanding {
    MayRace,
    /// Each reason holds for some contexts, together they cover all.
    RuledOut(Vec<Why>),
}

/// Why two accesses cannot race.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    SameThread {
        thread: String,
    },
    /// By time.
    Ordered {
        by: OrderBy,
        this_is_earlier: bool,
    },
    /// Rounds of this barrier keep them apart.
    Rounds {
        barrier: String,
    },
    CommonLock {
        name: String,
    },
    /// Each holds a lock that the other has taken and given back since it took its own.
    Histories {
        held_here: String,
        held_there: String,
    },
    /// Instances of the thread touch cells of their own.
    OwnCell,
    /// Its maker touches it before anybody else can know it.
    Unpublished {
        this_is_earlier: bool,
    },
}

/// What makes one thread wait for another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OrderBy {
    Creation { thread: String },
    End { thread: String },
    Semaphore { name: String },
    Flag { name: String },
    LockedFlag { name: String, lock: String },
}
