//! The effects that a row can have: few primitives with argument positions, shared by the interpreter and the static engines.

use raddle_ir::DataModel;

/// Position of an argument, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arg(pub u8);

/// What a call of a modelled function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Acquires the lock that `lock` points to.
    Lock {
        family: LockFamily,
        lock: Arg,
        mode: Mode,
        how: How,
        returns: Returns,
    },
    /// Releases it. `mode` is `None` where one function releases either mode (`pthread_rwlock_unlock`).
    Unlock {
        family: LockFamily,
        lock: Arg,
        mode: Option<Mode>,
        returns: Returns,
    },
    /// Makes a synchronisation object. `attribute` is the argument that carries its kind: for [`SyncKind::Mutex`] a pointer, null or
    /// to an `int` as glibc packs it (low two bits: 0 normal, 1 recursive, 2 errorcheck, 3 adaptive; bit 30: robust), for
    /// [`SyncKind::C11Mutex`] the `mtx_*` bits (1 recursive, 2 timed), for barriers and semaphores the count. `None`: a plain
    /// object, or a count of 0.
    SyncInit {
        kind: SyncKind,
        object: Arg,
        attribute: Option<Arg>,
        returns: Returns,
    },
    SyncDestroy {
        kind: SyncKind,
        object: Arg,
        returns: Returns,
    },
    /// `pthread_mutex_consistent`: a robust mutex whose owner died is usable again.
    MutexConsistent {
        mutex: Arg,
    },
    Thread(ThreadOp, Returns),
    Cond(CondOp, Returns),
    /// `pthread_barrier_wait`: returns -1 (the serial thread) to one of the threads of a round.
    BarrierWait {
        barrier: Arg,
    },
    Sem(SemOp, Returns),
    Once {
        once: Arg,
        function: Arg,
        style: OnceStyle,
    },
    /// Thread-specific data: `pthread_key_*`, `tss_*`.
    Tls(TlsOp, Returns),
    /// An atomic operation left as a library call (`__atomic_load_8`, generic `__atomic_load` with a size, kernel `atomic_inc`).
    Atomic(AtomicCall),
    Verifier(VerifierOp),
    /// The end of the process.
    Process(ProcessOp),
    /// Ordinary library function, run by the interpreter.
    Libc(LibcFn),
    /// Has no effect that matters to order, memory or control.
    Nothing {
        result: Answer,
    },
    /// Known, and known not to be supported (`fork`, `setjmp`, `signal` handlers, …).
    Unsupported {
        reason: &'static str,
    },
}

/// What a function returns that does nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// No result.
    Void,
    /// The standard leaves it open. The interpreter returns this, under an assumption that the row names; static analysis takes any
    /// value.
    Open(i64),
    /// The words of a standard fix it.
    Fixed { value: i64, because: &'static str },
}

impl Answer {
    /// What the interpreter returns.
    pub fn explored(self) -> i64 {
        match self {
            Answer::Void => 0,
            Answer::Open(value) | Answer::Fixed { value, .. } => value,
        }
    }
}

impl Effect {
    /// The one value that a call can return, where a standard fixes it.
    pub fn fixed_result(&self) -> Option<i64> {
        match *self {
            Effect::Nothing { result: Answer::Fixed { value, .. } } => Some(value),
            Effect::Libc(function) => FIXED.iter().find(|fixed| fixed.0 == function.0).map(|fixed| fixed.1),
            _ => None,
        }
    }
}

/// Library functions with one result, and the words that fix it.
const FIXED: &[(&str, i64, &str)] = &[
    // A second return needs `longjmp`, which is unsupported.
    ("setjmp", 0, "C11 7.13.1.1: a direct invocation returns zero"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockFamily {
    PthreadMutex,
    PthreadRwlock,
    PthreadSpin,
    C11Mutex,
    KernelSpin,
    KernelMutex,
    KernelRwlock,
    /// `struct rw_semaphore`; the counting `struct semaphore` is [`SemOp`].
    KernelRwSemaphore,
    /// Named by the user in `raddle.toml`.
    Custom,
}

impl LockFamily {
    /// What an object of this family is initialised as.
    pub fn kind(self) -> SyncKind {
        match self {
            LockFamily::PthreadMutex => SyncKind::Mutex,
            LockFamily::PthreadRwlock => SyncKind::Rwlock,
            LockFamily::PthreadSpin => SyncKind::Spin,
            LockFamily::C11Mutex => SyncKind::C11Mutex,
            LockFamily::KernelSpin
            | LockFamily::KernelMutex
            | LockFamily::KernelRwlock
            | LockFamily::KernelRwSemaphore
            | LockFamily::Custom => SyncKind::KernelLock,
        }
    }

    pub fn is_kernel(self) -> bool {
        match self {
            LockFamily::KernelSpin
            | LockFamily::KernelMutex
            | LockFamily::KernelRwlock
            | LockFamily::KernelRwSemaphore => true,
            LockFamily::PthreadMutex
            | LockFamily::PthreadRwlock
            | LockFamily::PthreadSpin
            | LockFamily::C11Mutex
            | LockFamily::Custom => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    Exclusive,
    Shared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    Block,
    Try,
    /// `deadline` points to the `struct timespec` that is read; `None` where the time is a number.
    Timed {
        deadline: Option<Arg>,
    },
}

/// What the caller gets back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Returns {
    Nothing,
    /// 0, or an error number (`EBUSY`, `ETIMEDOUT`, `EDEADLK`, `EPERM`, …).
    Errno,
    /// `thrd_success`, `thrd_busy`, `thrd_timedout`, `thrd_error`.
    Thrd,
    /// 0, or -1 with `errno` set.
    MinusOne,
    /// 1 on success, 0 on failure (kernel try-locks).
    OneOnSuccess,
    /// 0 on success, 1 on failure (kernel `down_trylock`).
    ZeroOnSuccess,
    /// A saved state that the caller hands back (kernel irq flags): always 0.
    Flags,
}

/// How a failing call is told apart, for readers of [`Returns`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fail {
    Busy,
    TimedOut,
    Deadlock,
    NotPermitted,
    Invalid,
    NoSuchThread,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SyncKind {
    Mutex,
    Rwlock,
    Spin,
    Cond,
    Barrier,
    Semaphore,
    C11Mutex,
    C11Cond,
    KernelLock,
    KernelSemaphore,
}

impl SyncKind {
    /// The size of an object in glibc; of one that is not glibc's, a word that it has at least.
    pub fn bytes(self, model: DataModel) -> u64 {
        let (lp64, ilp32) = match self {
            SyncKind::Mutex | SyncKind::C11Mutex => (40, 24),
            SyncKind::Rwlock => (56, 32),
            SyncKind::Cond | SyncKind::C11Cond => (48, 48),
            SyncKind::Barrier => (32, 20),
            SyncKind::Semaphore => (32, 16),
            SyncKind::Spin | SyncKind::KernelLock | SyncKind::KernelSemaphore => (4, 4),
        };
        match model {
            DataModel::Lp64 => lp64,
            DataModel::Ilp32 => ilp32,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadOp {
    /// Stores the new thread's id through `id`; `function` is called with `argument`. `attribute` points to null or to a
    /// `pthread_attr_t`, whose `int` at byte offset [`ATTR_FLAGS_OFFSET`] has bit 0 set for a detached thread.
    Create {
        id: Arg,
        attribute: Option<Arg>,
        function: Arg,
        argument: Arg,
    },
    /// Kernel style: `kthread_run(function, argument, …)` returns a handle.
    CreateReturning {
        function: Arg,
        argument: Arg,
    },
    /// The child's result is stored through `result` unless that is null: as an `int` with [`Returns::Thrd`], else as a pointer.
    Join {
        thread: Arg,
        result: Option<Arg>,
        how: How,
    },
    Detach {
        thread: Arg,
    },
    Exit {
        result: Option<Arg>,
    },
    SelfId,
    Equal {
        a: Arg,
        b: Arg,
    },
    Cancel {
        thread: Arg,
    },
    /// A cancellation point and nothing else.
    TestCancel,
    /// `pthread_setcancelstate`, `pthread_setcanceltype`: the old setting is stored through `old` unless that is null.
    SetCancel {
        setting: CancelSetting,
        value: Arg,
        old: Arg,
    },
    /// glibc's `pthread_cleanup_push`: `__sigsetjmp` (which returns 0), then this with the same buffer. The handler is reached by a second
    /// return of that `setjmp`, when the thread exits. Without a buffer it stands for a path for unwinding that is not lowered.
    CleanupRegister,
    CleanupUnregister,
    /// `sched_yield`: other threads may run; orders nothing.
    Yield,
    /// `sleep`: as [`ThreadOp::Yield`], and virtual time moves on.
    Sleep {
        amount: Arg,
        unit: SleepUnit,
    },
}

/// Where `pthread_attr_t` keeps its flags, in both data models: after `sched_priority` and the policy.
pub const ATTR_FLAGS_OFFSET: u64 = 8;

/// Bytes of a `pthread_attr_t`.
pub const fn attr_bytes(model: DataModel) -> u64 {
    match model {
        DataModel::Lp64 => 56,
        DataModel::Ilp32 => 36,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CancelSetting {
    /// 0 enabled, 1 disabled.
    State,
    /// 0 deferred, 1 asynchronous.
    Type,
}

/// What the argument of a sleeping function counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SleepUnit {
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
    /// The argument points to a `struct timespec`, which is read; what is left when a signal comes is written through `remainder`
    /// unless that is null.
    Timespec {
        remainder: Arg,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CondOp {
    Wait { cond: Arg, mutex: Arg, how: How },
    Signal { cond: Arg },
    Broadcast { cond: Arg },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SemOp {
    Post {
        sem: Arg,
    },
    Wait {
        sem: Arg,
        how: How,
    },
    GetValue {
        sem: Arg,
        out: Arg,
    },
    /// `sem_open(name, flags, mode, value)`: returns the semaphore of that name.
    Open {
        name: Arg,
        flags: Arg,
        value: Arg,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnceStyle {
    Pthread,
    C11,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsOp {
    KeyCreate { key: Arg, destructor: Arg },
    KeyDelete { key: Arg },
    Get { key: Arg },
    Set { key: Arg, value: Arg },
}

/// Library forms of atomic operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicCall {
    /// `__atomic_load(size, ptr, out, order)`.
    LoadGeneric,
    /// `__atomic_store(size, ptr, value pointer, order)`.
    StoreGeneric,
    /// `__atomic_exchange(size, ptr, value pointer, out, order)`.
    ExchangeGeneric,
    /// `__atomic_compare_exchange(size, ptr, expected pointer, desired pointer, success order, failure order)`.
    CompareExchangeGeneric,
    /// `__atomic_load_N(ptr, order)` and its family: `op` says the arguments between the pointer and the order.
    Sized { op: SizedAtomic, bytes: u8 },
    /// `__atomic_test_and_set(ptr, order)`, `atomic_flag_test_and_set[_explicit]`: one byte.
    TestAndSet { order: Option<Arg> },
    /// `__atomic_clear(ptr, order)`, `atomic_flag_clear[_explicit]`: one byte.
    Clear { order: Option<Arg> },
    /// `atomic_thread_fence(order)`, `__sync_synchronize()`, kernel `smp_mb()`; seq_cst without an argument.
    Fence { order: Option<Arg> },
    /// Linux `atomic_t` and its kin. As the kernel's `Documentation/atomic_t.txt` says: an operation that returns a value is
    /// fully ordered (seq_cst), one that returns nothing is relaxed, and so are read and set; `order` says which it is.
    Kernel { op: KernelAtomic, target: Arg, width: KernelWidth, order: KernelOrder },
}

/// Arguments after the pointer; the order (success, then failure for compare-exchange) comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SizedAtomic {
    Load,
    /// value
    Store,
    /// value
    Exchange,
    /// expected pointer, desired value
    CompareExchange,
    /// operand; returns the old value
    Fetch(FetchOp),
    /// operand; returns the new value
    FetchNew(FetchOp),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FetchOp {
    Add,
    Sub,
    And,
    Or,
    Xor,
    Nand,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelAtomic {
    Read,
    Set {
        value: Arg,
    },
    /// Adds `factor` times the argument, or `factor` itself.
    Add {
        value: Option<Arg>,
        factor: i8,
        result: KernelResult,
    },
    /// Returns the old value.
    Exchange {
        value: Arg,
    },
    /// Returns the old value.
    CompareExchange {
        expected: Arg,
        new: Arg,
    },
    /// Adds `value` (1 without an argument) unless the old value equals `unless` (0 without); returns whether it added.
    AddUnless {
        value: Option<Arg>,
        unless: Option<Arg>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KernelWidth {
    /// `atomic_t`: 4 bytes.
    Int,
    /// `atomic_long_t`: a pointer's width.
    Long,
    /// `atomic64_t`: 8 bytes.
    Quad,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KernelOrder {
    Relaxed,
    Acquire,
    Release,
    SeqCst,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KernelResult {
    Nothing,
    New,
    Old,
    /// Whether the new value is zero.
    NewIsZero,
    /// Whether the new value is negative.
    NewIsNegative,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifierOp {
    /// A failed assertion when the argument is 0.
    Assert {
        condition: Arg,
    },
    /// The run does not count when the argument is 0.
    Assume {
        condition: Arg,
    },
    /// `reach_error`, `__VERIFIER_error`: a failed assertion.
    Error,
    AtomicBegin,
    AtomicEnd,
    /// An arbitrary value; `bits` and sign tell its range, `boolean` restricts it to 0 and 1. A row of `long` has 64 bits; in
    /// [`crate::Models`] they are no more than the declared result has.
    Nondet {
        bits: u8,
        signed: bool,
        boolean: bool,
    },
    /// An arbitrary floating-point value.
    NondetFloat {
        bits: u8,
    },
    /// A pointer: null or a fresh object.
    NondetPointer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessOp {
    Exit {
        code: Arg,
        handlers: Handlers,
    },
    Abort,
    /// `__assert_fail`: `text` points to the condition as written.
    AssertFail {
        text: Arg,
    },
}

/// Whether `atexit` handlers run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Handlers {
    Run,
    Skip,
}

/// Library functions that the interpreter runs itself, by name: the family decides the file that implements it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LibcFn(pub &'static str);

impl LibcFn {
    /// Whether a pointer argument, or one derived from it, may be in the program's or the library's memory after the call, or be
    /// handed to a function of the program. A pointer that is only returned does not count.
    pub fn may_keep_pointers(self) -> bool {
        KEEP_POINTERS.contains(&self.0)
    }

    /// Whether it may be a visible operation, which waits for other threads, is ordered with them or gives them numbers of descriptors,
    /// and in which way. The rest of what takes descriptors asks about them or is unsupported for these.
    pub fn descriptor_use(self) -> Option<DescriptorUse> {
        let reads = |size, flags| DescriptorUse::Reads { size, flags };
        let asks = |about, limit| DescriptorUse::Asks { about, limit };
        Some(match self.0 {
            "pipe" | "pipe2" | "socketpair" | "eventfd" | "epoll_create" | "epoll_create1" => {
                DescriptorUse::Makes
            }
            "open" | "openat" | "creat" | "socket" | "fopen" | "freopen" | "tmpfile" => DescriptorUse::Opens,
            "fclose" => DescriptorUse::ClosesStream,
            "accept" => DescriptorUse::Accepts,
            "read" | "__read_chk" => reads(Some(Arg(2)), None),
            "recv" | "recvfrom" => reads(Some(Arg(2)), Some(Arg(3))),
            "recvmsg" => reads(None, Some(Arg(2))),
            "write" | "writev" | "send" | "sendto" | "sendmsg" => DescriptorUse::Writes,
            "close" => DescriptorUse::Closes,
            "dup" | "dup2" | "dup3" | "fcntl" | "shutdown" | "epoll_ctl" => DescriptorUse::Changes,
            "poll" => asks(DescriptorSet::Entries, TimeLimit::Milliseconds(Arg(2))),
            "ppoll" => asks(DescriptorSet::Entries, TimeLimit::Behind(Arg(2))),
            "select" | "pselect" => asks(DescriptorSet::Bits, TimeLimit::Behind(Arg(4))),
            "epoll_wait" => asks(DescriptorSet::Epoll, TimeLimit::Milliseconds(Arg(3))),
            _ => return None,
        })
    }
}

/// What a library function does with descriptors: the one that is its first argument, where that may be an end of a pipe, a socket pair or
/// an eventfd, or an epoll, if nothing else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptorUse {
    /// Makes new ones of these.
    Makes,
    /// Makes a descriptor of something else.
    Opens,
    /// The same, from the first argument.
    Accepts,
    /// Reads from it, up to `size` bytes if that is an argument: waits for some unless it is 0 or a flag forbids it.
    Reads {
        size: Option<Arg>,
        flags: Option<Arg>,
    },
    Writes,
    Closes,
    /// Closes what is behind a `FILE`.
    ClosesStream,
    /// Changes it, or makes another one like it.
    Changes,
    /// Waits until something can be done with one of several.
    Asks {
        about: DescriptorSet,
        limit: TimeLimit,
    },
}

/// Where descriptors are that a function asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptorSet {
    /// An array of `struct pollfd`.
    Entries,
    /// Three sets of bits.
    Bits,
    /// Those that an epoll watches.
    Epoll,
}

/// How long it waits at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeLimit {
    /// A number; without limit if it is negative.
    Milliseconds(Arg),
    /// A structure; without limit if there is none.
    Behind(Arg),
}

/// Names as in [`LibcFn`], sorted.
const KEEP_POINTERS: &[&str] = &[
    "__isoc23_strtol",
    "__isoc23_strtoll",
    "__isoc23_strtoul",
    "__isoc23_strtoull",
    "atexit",
    "bsearch",
    "getopt",
    "getopt_long",
    "openlog",
    "putenv",
    "qsort",
    "qsort_r",
    "strsep",
    "strtod",
    "strtof",
    "strtok",
    "strtok_r",
    "strtol",
    "strtold",
    "strtoll",
    "strtoul",
    "strtoull",
];

#[cfg(test)]
mod tests {
    use super::{Effect, KEEP_POINTERS};
    use crate::lookup;

    #[test]
    fn functions_that_keep_pointers_exist() {
        assert!(KEEP_POINTERS.is_sorted());
        for name in KEEP_POINTERS {
            match lookup(name).map(|row| row.effect) {
                Some(Effect::Libc(function)) => assert!(function.may_keep_pointers(), "{name}"),
                other => panic!("{name}: {other:?}"),
            }
        }
        match lookup("strlen").map(|row| row.effect) {
            Some(Effect::Libc(function)) => assert!(!function.may_keep_pointers()),
            other => panic!("strlen: {other:?}"),
        }
    }
}
