//! One thread of the program: its frames and registers, where it stands, what it holds.

use crate::branches::OpenBranch;
use crate::channels::Use;
use crate::code::Pc;
use crate::journal::Journal;
use crate::memory::{Piece, Slot};
use raddle_base::SiteId;
use raddle_event::{Addr, LockMode, Problem, ThreadId};
use raddle_ir::{FunctionId, GlobalId, Ty};
use raddle_machine::{Operation, Stutter};
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Thread {
    pub id: ThreadId,
    /// Frames one after the other.
    pub regs: Vec<u64>,
    pub frames: Vec<Frame>,
    /// Locals in memory, oldest first.
    pub allocas: Vec<Slot>,
    pub stand: Stand,
    /// How far the instruction at the present position has come.
    pub phase: Phase,
    /// This thread's copies of thread-local globals.
    pub tls: Vec<(GlobalId, u64)>,
    pub errno: u64,
    /// Thread-specific data by key.
    pub specific: Vec<(u32, u64)>,
    pub held: Vec<Held>,
    pub leaving: Leaving,
    pub stutter: Stutter,
    /// Cleanup handlers registered and not yet run, the last one last.
    pub cleanups: Vec<Cleanup>,
    /// The result of a thread that runs its cleanup handlers.
    pub exiting: Option<u64>,
    /// Nested library callbacks.
    pub nesting: u32,
    /// Failures without a reason since the last success of an operation that may fail so.
    pub spurious: u32,
    /// Calls that went another way than they would here and now.
    pub failures: u32,
    /// Reported branches, the innermost last.
    pub open: Vec<OpenBranch>,
}

/// A cleanup handler of glibc's headers: the frame that runs it, and the `setjmp` that returns a second time then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cleanup {
    /// Frames up to and including its own.
    pub depth: u32,
    pub function: FunctionId,
    /// `None`: a path for unwinding, which is not lowered.
    pub jump: Option<Pc>,
}

#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub function: FunctionId,
    /// The next instruction; in a frame that has called, the call.
    pub pc: Pc,
    pub base: u32,
    /// Locals below this belong to callers.
    pub allocas: u32,
    pub on_return: OnReturn,
    pub varargs: Option<Arc<Varargs>>,
    /// Hash of this and all outer frames, while it is not the innermost; 0 when not known.
    pub hash: u64,
}

/// What happens when a frame returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OnReturn {
    /// Results go to the call in the frame below.
    Caller,
    /// The same, after leaving the atomic section.
    AtomicSection,
    /// The initialiser of this once object has run.
    Once(Addr),
    /// The thread has run its function.
    ThreadEnd,
    /// `main` has returned.
    MainEnd,
    /// The constructor of this number has run.
    Constructor(u32),
    /// A handler of the exit sequence, or a destructor of thread-specific data, has run.
    Leaving,
    /// Back to a library function that runs inside this step.
    Nested,
    /// Back to a library function that is run again with what it did so far.
    Journal(Arc<Journal>),
}

/// Variadic arguments, as the caller gave them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Varargs {
    pub values: Vec<(u128, Ty)>,
    /// Structs passed by value: index in `values`, their bytes.
    pub pieces: Vec<(usize, Piece, u32)>,
}

#[derive(Clone, Debug)]
pub(crate) enum Stand {
    Before { operation: Operation, action: Action },
    Ended,
}

/// How a step performs the pending operation.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Begin,
    End,
    /// Goes on with the instruction: an access was let through, a long segment or a spin continues.
    Resume,
    Atomic,
    Fence,
    /// The effect of the call at the present position.
    Effect,
    WaitEnd(Wait),
    BarrierLeave {
        barrier: Addr,
        round: u32,
        serial: bool,
    },
    OnceEnd(Addr),
    /// The library call at the present position, which concerns a channel.
    Channel(Use),
    AtomicEnter,
    AtomicLeave,
    Exit(Arc<Ending>),
    /// The environment decides how the instruction at the present position will go.
    Decide,
}

/// A condition wait in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    pub cond: Addr,
    pub mutex: Addr,
    pub until: Until,
}

/// What ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    Signalled,
    /// A signal, the time limit or nothing at all.
    TimedOut,
    /// Nothing: it wakes up spuriously.
    Spurious,
}

/// How the process (or this run of it) ends.
#[derive(Clone, Debug)]
pub(crate) enum Ending {
    Exit(i32),
    Problem(Problem),
    Infeasible,
    Unsupported { site: SiteId, reason: String },
    Limit { reason: String },
}

#[derive(Clone, Debug)]
pub(crate) enum Phase {
    Start,
    /// The scheduler has let the next access of this instruction happen.
    Granted,
    /// A copy has read its source.
    Copied(Arc<Piece>),
    CopiedGranted(Arc<Piece>),
    /// Structs passed by value that have been read.
    ByValue(Arc<Vec<Piece>>),
    ByValueGranted(Arc<Vec<Piece>>),
    /// The environment has decided: whether it fails for no reason.
    Decided(Spurious),
    /// The environment has made these choices for a library function.
    Chosen(Arc<Vec<u32>>),
    /// A library function stopped in the middle.
    Library(Arc<Journal>),
    LibraryGranted(Arc<Journal>),
}

/// Whether an operation that may fail for no reason does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spurious {
    No,
    Fails,
}

/// Ends of the thread or process that take several calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    No,
    /// Handlers still to run, last first.
    Process {
        code: i32,
        handlers: Vec<u64>,
    },
    /// Destructors of thread-specific data: rounds left.
    Thread {
        result: u64,
        rounds: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub lock: Addr,
    pub mode: LockMode,
}

impl Clone for Thread {
    fn clone(&self) -> Self {
        let mut copy = Thread::new(self.id);
        copy.clone_from(self);
        copy
    }

    /// Uses what was allocated before.
    fn clone_from(&mut self, from: &Self) {
        let Thread {
            id,
            regs,
            frames,
            allocas,
            stand,
            phase,
            tls,
            errno,
            specific,
            held,
            leaving,
            stutter,
            cleanups,
            exiting,
            nesting,
            spurious,
            failures,
            open,
        } = from;
        self.id = *id;
        if self.regs.capacity() < regs.len() {
            // Calls need more, sooner or later.
            self.regs = Vec::with_capacity(regs.capacity());
        }
        self.regs.clone_from(regs);
        self.frames.clone_from(frames);
        self.allocas.clone_from(allocas);
        self.stand.clone_from(stand);
        self.phase.clone_from(phase);
        self.tls.clone_from(tls);
        self.errno = *errno;
        self.specific.clone_from(specific);
        self.held.clone_from(held);
        self.leaving.clone_from(leaving);
        self.stutter.clone_from(stutter);
        self.cleanups.clone_from(cleanups);
        self.exiting = *exiting;
        self.nesting = *nesting;
        self.spurious = *spurious;
        self.failures = *failures;
        self.open.clone_from(open);
    }
}

impl Thread {
    pub fn new(id: ThreadId) -> Self {
        Self {
            id,
            regs: Vec::new(),
            frames: Vec::new(),
            allocas: Vec::new(),
            stand: Stand::Ended,
            phase: Phase::Start,
            tls: Vec::new(),
            errno: 0,
            specific: Vec::new(),
            held: Vec::new(),
            leaving: Leaving::No,
            stutter: Stutter::default(),
            cleanups: Vec::new(),
            exiting: None,
            nesting: 0,
            spurious: 0,
            failures: 0,
            open: Vec::new(),
        }
    }

    /// Where the frame at this index goes on when a cleanup handler runs, besides where it stands.
    pub fn jumps(&self, frame: usize) -> impl Iterator<Item = Pc> + '_ {
        let own = self.cleanups.iter().filter(move |cleanup| cleanup.depth as usize == frame + 1);
        own.filter_map(|cleanup| cleanup.jump)
    }

    pub fn top(&self) -> &Frame {
        self.frames.last().expect("a running thread has a frame")
    }

    pub fn top_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a running thread has a frame")
    }
}
