//! The trait of a program under control: threads, the next visible operation of each, one step, checkpoint, fingerprint.
//!
//! A *visible operation* is where another thread may be scheduled in between: synchronisation, atomics, environment choices and,
//! at [`Visibility::EveryAccess`] or for watched objects, plain accesses. A thread always stands right before its next visible
//! operation; [`Machine::step`] performs it and runs the thread up to the next one. What the thread does in between is reported to
//! the [`Sink`] in order.
//!
//! A machine is deterministic: the same choices from the same start give the same events, states and problems.

mod canonical;
mod operation;
mod sink;
mod stutter;

pub use canonical::{Canonical, Names, ObjectNames};
pub use operation::{LockHow, OpKind, Operation};
pub use sink::{ForeignCall, IgnoreEvents, Sink, StackSource, TraceSink};
pub use stutter::{Detour, Place, Rest, Sleep, Stutter};

use raddle_base::SiteId;
use raddle_event::{Addr, Choice, Loc, ObjectId, Problem, ThreadId};

pub trait Machine {
    type Checkpoint;

    /// Number of threads created so far, ended ones included.
    fn thread_count(&self) -> u32;

    fn status(&self) -> Status;

    /// The visible operation before which the thread stands; `None` when it has ended.
    fn pending(&self, thread: ThreadId) -> Option<Operation>;

    /// All choices open in this state, in order of thread, then variant. Empty exactly when `status` is not `Running`.
    fn enabled(&self, choices: &mut Vec<Choice>);

    /// A hash of where the thread stands: the same whenever its own state is. A thread is only ever put to sleep where it has stood before.
    fn standpoint(&self, thread: ThreadId) -> u64;

    /// Performs one of the `enabled` choices. Panics on a choice that is not enabled: callers check.
    fn step(&mut self, choice: Choice, sink: &mut dyn Sink);

    /// After the next step these will probably be asked for, in this order: a machine may get ready for them.
    fn foresee(&mut self, _choices: &[Choice]) {}

    /// A state to come back to. Checkpoints are restored in stack order: restoring one invalidates all later ones, not itself.
    fn checkpoint(&mut self) -> Self::Checkpoint;

    fn restore(&mut self, checkpoint: &Self::Checkpoint);

    /// Tells that this checkpoint will not be restored again; the latest not yet discarded one only.
    fn discard(&mut self, checkpoint: Self::Checkpoint);

    /// A hash of the state that does not depend on the order of allocations or the numbering of threads.
    fn fingerprint(&mut self) -> u128 {
        self.canonical().key
    }

    /// The fingerprint with the names that it was computed with.
    fn canonical(&mut self) -> Canonical;

    /// Problems met on this run so far.
    fn problems(&self) -> &[Problem];

    /// Numbered assumptions that this run relied on so far (`A-MALLOC`, …), sorted.
    fn assumptions(&self) -> Vec<&'static str>;

    fn output(&self) -> &[u8];

    fn set_visibility(&mut self, visibility: Visibility);

    fn thread_info(&self, thread: ThreadId) -> ThreadInfo;

    /// The same for threads that one thread created to do the same, with equal arguments; `None` when that is not known, or when the
    /// program uses the ids of threads for anything but waiting for their ends.
    fn origin(&self, thread: ThreadId) -> Option<Origin>;

    /// Call sites from the innermost frame of the thread outwards; the site of its pending operation is not in it.
    fn call_sites(&self, thread: ThreadId) -> Vec<SiteId>;

    fn object_info(&self, object: ObjectId) -> ObjectInfo;

    /// The bytes as a programmer writes them, from the object's name and type: `queue.items[3].count`.
    fn place_name(&self, loc: Loc) -> String;

    /// Locks that the thread holds now, outermost first.
    fn held_locks(&self, thread: ThreadId) -> Vec<Addr>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    Running,
    /// The process has ended by itself: exit code.
    Exited(i32),
    /// A problem that a real process would not survive (or must not): the last of `problems`.
    Crashed,
    /// No thread can move and not all have ended; `problems` ends with one entry per blocked thread.
    Deadlock,
    /// Only threads that spin without effect are left.
    Livelock,
    /// `__VERIFIER_assume` was false, or a bounded model left the run undefined by intent: the run does not count.
    Infeasible,
    /// Something the machine does not understand was reached.
    Unsupported {
        site: SiteId,
        reason: String,
    },
    /// A resource limit of the machine was hit: steps, memory, threads, call depth.
    Limit {
        reason: String,
    },
}

/// Which plain accesses are visible operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Visibility {
    /// None: a segment without synchronisation runs in one step.
    #[default]
    SyncOnly,
    /// Those at these sites, sorted (racy variables, so that all races are listed).
    Sites(Vec<SiteId>),
    EveryAccess,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadInfo {
    /// The thread's start function as the programmer named it.
    pub entry: String,
    /// Where it was created: thread, site, and call sites outwards. `None` for the main thread.
    pub created: Option<(ThreadId, SiteId, Vec<SiteId>)>,
}

/// What a thread was created for, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    pub creator: ThreadId,
    /// The number of its start function.
    pub function: u32,
    pub argument: u64,
    pub detached: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectInfo {
    pub kind: ObjectKind,
    /// `counter`, `buf`; for heap blocks `malloc(40)`.
    pub name: String,
    pub size: u64,
    /// Where it was allocated: thread, site, and call sites outwards; `None` for globals.
    pub allocated: Option<(ThreadId, SiteId, Vec<SiteId>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    Global,
    ThreadLocal,
    Stack,
    Heap,
    Function,
    Library,
}
