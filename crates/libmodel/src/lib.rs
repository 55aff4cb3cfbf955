//! What pthread, C11 threads and atomics, semaphores, kernel locks, verifier and libc calls mean, as data: a function is added by
//! adding a row.
//!
//! A row speaks of a function *name*. A definition in the program wins over a row, except for lock functions that the user
//! names in `raddle.toml` (A-LOCKFN), kernel lock functions that a header defines inline (A-KLOCK) and `__VERIFIER_atomic_*`
//! functions, whose bodies run inside the global atomic section.

mod effect;
pub mod memory;
mod resolve;
mod results;
mod shared;
mod table;
mod variable;

pub use effect::{
    ATTR_FLAGS_OFFSET, Answer, Arg, AtomicCall, CancelSetting, CondOp, DescriptorSet, DescriptorUse, Effect,
    Fail, FetchOp, Handlers, How, KernelAtomic, KernelOrder, KernelResult, KernelWidth, LibcFn, LockFamily,
    Mode, OnceStyle, ProcessOp, Returns, SemOp, SizedAtomic, SleepUnit, SyncKind, ThreadOp, TimeLimit, TlsOp,
    VerifierOp, attr_bytes,
};
pub use memory::{MemoryEffect, memory};
pub use resolve::{Meaning, Models};
pub use results::Detail;
pub use shared::SharedUse;
pub use table::{Row, lookup, rows};
pub use variable::{Variable, uses_environ, variable};
