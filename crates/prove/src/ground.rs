//! What the engine asks about the program besides its code: static facts that were checked, as plain data (decision 23).
//!
//! The driver answers; nothing here knows who found the facts out.

use raddle_facts::{Facts, LockMode, ObjectId, Offsets, ThreadId};
use raddle_ir::{BlockId, FunctionId, Operand, Program, Reg, SiteId};
use raddle_libmodel::Effect;

/// Right before an instruction of the expanded program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spot {
    pub function: FunctionId,
    pub block: BlockId,
    pub index: usize,
}

pub trait Ground {
    /// Expanded.
    fn program(&self) -> &Program;
    fn facts(&self) -> &Facts;
    /// *May*: whether two threads can be there at one time; with `locks_count`, in view of what they hold.
    fn may_meet(&self, a: (Spot, ThreadId), b: (Spot, ThreadId), locks_count: bool) -> bool;
    /// *Must*: what is held right after a call that acquires the lock at one place of one object.
    fn taken(&self, call: Spot) -> Option<Taken>;
    /// *May*.
    fn may_release(&self, call: Spot, lock: (ObjectId, i64)) -> bool;
    /// *Must*: whether who acquired the lock holds it until it is released.
    fn has_lasting_owner(&self, lock: (ObjectId, i64)) -> bool;
    /// *May*: what the instruction does to memory.
    fn touches(&self, spot: Spot) -> Vec<Touch>;
    /// `None`: no call that can be reached.
    fn call(&self, spot: Spot) -> Option<Called>;
    /// *Must*: one concrete object in each execution.
    fn is_one_object(&self, object: ObjectId) -> bool;
    /// *May*.
    fn is_reachable(&self, function: FunctionId, block: BlockId) -> bool;
    /// Pairs of accesses that no static rule excludes.
    fn open(&self) -> Vec<OpenPair>;
}

/// A lock that a call acquires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    pub lock: (ObjectId, i64),
    pub held: Held,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    No,
    Always(LockMode),
    /// The register is one of the function that calls.
    IfZero(Reg, LockMode),
    IfNonZero(Reg, LockMode),
}

#[derive(Clone, Debug)]
pub struct Touch {
    pub write: bool,
    pub address: Option<Operand>,
    pub targets: Vec<(ObjectId, Offsets)>,
    /// From each target on; `u64::MAX`: to the end of the object.
    pub bytes: u64,
    /// Of an operation on a synchronisation object, to the object: no value of memory changes.
    pub operates: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Called {
    /// Functions with bodies that run inside the call.
    pub bodies: Vec<FunctionId>,
    pub effects: Vec<Effect>,
    /// Functions that start threads.
    pub threads: Vec<FunctionId>,
    /// What is not followed: functions without body or model, callbacks, handlers.
    pub not_followed: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub struct OpenPair {
    pub first: End,
    pub second: End,
    /// In the original program.
    pub origins: (SiteId, SiteId),
}

#[derive(Clone, Debug)]
pub struct End {
    pub spot: Spot,
    pub address: Option<Operand>,
    pub bytes: u64,
}
