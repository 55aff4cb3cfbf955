//! The effects that a row can have: few primitives with argument positions, shared by the interpreter and the static engines.

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
    /// Makes a synchronisation object. `attribute` is the argument that carries its kind (mutex type, barrier count, …).
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
    /// Ordinary library function, run by the interpreter.
    Libc(LibcFn),
    /// Has no effect that matters to order, memory or control and returns this value.
    Nothing {
        result: i64,
    },
    /// Known, and known not to be supported (`fork`, `setjmp`, `signal` handlers, …).
    Unsupported {
        reason: &'static str,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LockFamily {
    PthreadMutex,
    PthreadRwlock,
    PthreadSpin,
    C11Mutex,
    KernelSpin,
    KernelMutex,
    KernelRwlock,
    KernelSemaphore,
    /// Named by the user in `raddle.toml`.
    Custom,
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
    Timed,
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
    MutexAttr,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadOp {
    /// Stores the new thread's id through `id`; `function` is called with `argument`.
    Create {
        id: Arg,
        function: Arg,
        argument: Arg,
    },
    /// Kernel style: `kthread_run(function, argument, …)` returns a handle.
    CreateReturning {
        function: Arg,
        argument: Arg,
    },
    /// The child's result is stored through `result` unless that is null.
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
    /// `sched_yield`, `sleep`: other threads may run; orders nothing.
    Yield,
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

/// Library forms of atomic operations. Memory orders are arguments, seq_cst where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicCall {
    /// `__atomic_load(size, ptr, out, order)`.
    LoadGeneric,
    StoreGeneric,
    ExchangeGeneric,
    CompareExchangeGeneric,
    /// Kernel `atomic_t`: 4 bytes at argument `target`; `value` is the operand, `returns_new` the kernel's `_return` forms.
    KernelRead {
        target: Arg,
    },
    KernelSet {
        target: Arg,
        value: Arg,
    },
    KernelAdd {
        target: Arg,
        value: Option<Arg>,
        delta: i64,
        result: KernelResult,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KernelResult {
    Nothing,
    New,
    Old,
    /// Whether the new value is zero.
    NewIsZero,
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
    /// An arbitrary value of the return type; `bits` and sign tell its range, `boolean` restricts it to 0 and 1.
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

/// Library functions that the interpreter runs itself, by name: the family decides the file that implements it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LibcFn(pub &'static str);
