//! The static race analysis: locksets with acquisition histories (2007 paper), sound, on the facts of `absint`.

mod analyse;
pub mod branches;
pub mod deadlock;
mod describe;
pub mod events;
mod explain;
mod gaps;
pub mod held;
pub mod history;
mod pairs;
mod published;
mod ranking;
pub mod reduce;
mod relation;
mod renewed;
mod rules;
mod warnings;

pub use analyse::{Analysis, Counters, Options, analyse};
pub use describe::LockNames;
pub use explain::Explainer;
pub use gaps::Gap;
pub use pairs::{Pair, Pairs};
pub use rules::{LockKey, Reason};
pub use warnings::{Listing, Warning};
