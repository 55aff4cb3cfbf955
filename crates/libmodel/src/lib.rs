//! What pthread, C11 threads and atomics, semaphores, kernel locks, verifier and libc calls mean, as data: a function is added by
//! adding a row.
//!
//! A row speaks of a function *name*. A definition in the program wins over a row, except for lock functions that the user
//! names in `raddle.toml` (A-LOCKFN), kernel lock functions that a header defines inline (A-KLOCK) and `__VERIFIER_atomic_*`
//! functions, whose bodies run inside the global atomic section.

mod effect;
mod resolve;
mod table;

pub use effect::{
    Arg, AtomicCall, CondOp, Effect, Fail, How, KernelResult, LibcFn, LockFamily, Mode, OnceStyle, Returns,
    SemOp, SyncKind, ThreadOp, TlsOp, VerifierOp,
};
pub use resolve::{Meaning, Models};
pub use table::{Row, lookup};
