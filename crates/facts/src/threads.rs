//! Abstract threads: who runs which function, how often a block is executed, which objects more than one thread can reach.
//!
//! An abstract thread is a start function at one creation site (of the expanded program); `main` and every entry of an open program
//! are threads too. `pthread_once` functions, `atexit` handlers and destructors of thread-specific data run on some thread at some time: they are
//! taken as threads of their own, which only adds behaviour.

use crate::ObjectId;
use raddle_base::{IdVec, SiteId};
use raddle_ir::{FunctionId, Reg};
use serde::{Deserialize, Serialize};

raddle_base::define_id! {
    /// An abstract thread; 0 is `main` where there is one.
    pub struct ThreadId, "t"
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadFacts {
    pub threads: IdVec<ThreadId, Thread>,
    /// *May*: per function, the threads on whose stack it can be. Sorted.
    pub runs: IdVec<FunctionId, Vec<ThreadId>>,
    /// Per function, per block: at most how often. A function that is a constructor is entered once for that, besides all calls.
    pub times: IdVec<FunctionId, Vec<Times>>,
    /// *May*: objects that a thread other than the one that made them can reach. What is not here is private.
    pub shared: IdVec<ObjectId, bool>,
    pub distinct: Vec<Distinct>,
    pub before_start: Vec<BeforeStart>,
}

/// *Must*: an access of the creator that, in the round that creates an instance of the thread, comes before the creation and touches
/// the instance's argument plus `offset`. With distinct arguments it meets no other instance's memory. Where a site has several accesses (a
/// copy), this speaks of the one whose address is at that distance from the argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BeforeStart {
    pub thread: ThreadId,
    pub site: SiteId,
    pub offset: i64,
}

/// *Must*: a register with one value in each instance of a thread, and different values in different instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distinct {
    pub thread: ThreadId,
    pub function: FunctionId,
    pub reg: Reg,
    /// Where the value comes from: `None`, the thread's argument itself; `i64::MIN` plus a width, the argument cut to that many bits;
    /// else the field at this offset of what it points to. Registers of one thread with the same source hold the same value. A field
    /// counts only if the arguments are distinct and further apart than it is wide: else a later round overwrites it.
    pub source: Option<i64>,
    pub spacing: Spacing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Spacing {
    /// Any two values, as signed numbers, differ by at least `least` and at most `most`, which is no more than [`MOST_APART`]: so they
    /// are as far apart modulo 2^64.
    Apart { least: u64, most: u64 },
    /// Addresses in different objects.
    Objects,
}

/// Half of all addresses: two numbers that differ by no more than this are as far apart modulo 2^64 as they are as numbers.
pub const MOST_APART: u64 = 1 << 63;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    pub entry: FunctionId,
    pub start: Start,
    /// More than one instance may exist in a run (created in a loop, by a thread that is many, by any number of clients).
    pub many: bool,
    /// Threads that may create it.
    pub creators: Vec<ThreadId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Start {
    Main,
    /// An entry of an open program: any number of clients, at any time.
    Client,
    /// A thread creation at this site.
    Created(SiteId),
    /// `pthread_once` at this site.
    Once(SiteId),
    /// Handlers that the library calls later (`atexit`, destructors), registered at this site.
    Handler(SiteId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Times {
    /// At most once in the whole run.
    Once,
    /// At most once in each instance of each thread that runs it.
    OncePerThread,
    Many,
}
