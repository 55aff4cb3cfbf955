//! What static analysis found out, as plain data: written by `absint` and `lockset`, read by every engine and re-checked by `certify`.
//!
//! All facts speak of the *expanded* program ([`raddle_ir::expand`]): functions are copied per calling context and small loops unrolled
//! there, so that every fact here is context-insensitive. "May" facts over-approximate what can happen in any execution, "must" facts
//! under-approximate what holds in all; the module docs say which is which, and give the closure rules by which a solution is checked
//! point by point without solving anything.
//!
//! Order of dependence: [`values`] and [`points_to`] need each other's coarser round; [`threads`] stands on both; [`order`] on threads;
//! [`locks`] on values and points-to.

pub mod branches;
pub mod certificate;
pub mod locks;
pub mod order;
pub mod points_to;
pub mod proof;
pub mod term;
pub mod threads;
pub mod values;

pub use branches::{Branch, BranchFacts, Side, SideAccess, SideFlags, SideLocks};
pub use certificate::{Facts, StaticProof};
pub use locks::{
    ATOMIC_SECTION, FunctionLocks, Guard, HeldLock, LocalLocks, LockFacts, LockMode, LockWord, Released,
};
pub use order::{Barrier, FunctionOrder, Gate, GateId, GateKind, LocalOrder, OrderFacts, Rounds};
pub use points_to::{Cell, Object, ObjectId, ObjectKind, Offsets, PointsTo, SetId};
pub use proof::{Invariant, Location, Phase, ThreadProof};
pub use term::{Index, Root, Term};
pub use threads::{BeforeStart, Distinct, MOST_APART, Spacing, Start, Thread, ThreadFacts, ThreadId, Times};
pub use values::{Interval, MemoryFact, Values};
