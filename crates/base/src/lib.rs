//! Typed ids, index maps, interning and source spans: what every other crate speaks in.
//!
//! Nothing here knows about programs, threads or races.

// The macro [`define_id!`] names this crate from outside and from inside.
extern crate self as raddle_base;

pub mod fast_hash;
mod hash;
mod id;
mod intern;
mod memory_order;
mod site;
mod span;

pub use hash::StableHasher;
pub use id::{Id, IdVec};
pub use intern::{Interner, Symbol};
pub use memory_order::{FenceOrder, LoadOrder, RmwOrder, StoreOrder};
pub use serde;
pub use site::SiteId;
pub use span::{FileId, Span};
