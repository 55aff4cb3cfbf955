//! The static race analysis: locksets with acquisition histories (2007 paper), sound, on the facts of `absint`.

mod analyse;
mod describe;
mod gaps;
pub mod held;
mod pairs;
mod published;
mod rules;
mod warnings;

pub use analyse::{Analysis, Counters, Options, analyse};
pub use describe::{Context, LockNames};
pub use gaps::Gap;
pub use pairs::{Pair, Pairs};
pub use rules::{LockKey, Reason};
pub use warnings::Warning;
