//! Access paths: the expression that the programmer wrote for a memory access, `q->items[i].count`.
//!
//! Best effort, for names and for engines that compare paths: a path says how the address was computed at this place, never which
//! object it reaches at run time.

use crate::{GlobalId, Reg};
use raddle_base::Symbol;

raddle_base::define_id! {
    /// An access path of the program.
    pub struct PlaceId, "p"
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub base: PlaceBase,
    pub steps: Vec<PlaceStep>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PlaceBase {
    /// The global itself (its first byte); no steps: the variable as a whole.
    Global(GlobalId),
    /// A local that lives in memory, by name.
    Local(Symbol),
    /// A local or parameter that lives in a register and holds the address, by name: the path starts with a `Deref`.
    Value { name: Symbol, reg: Reg },
    /// An address without a name (the result of a call, a cast): the path starts with a `Deref`.
    Unnamed(Reg),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PlaceStep {
    /// The pointer stored here is followed.
    Deref,
    Field(Symbol),
    Index(u64),
    /// An index by a variable of this name.
    IndexBy(Symbol),
    /// An index by an expression without a name.
    IndexAny,
    /// A byte offset that no type explains.
    Offset(i64),
}
