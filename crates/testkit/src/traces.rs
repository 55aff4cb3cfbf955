//! Traces for tests: written by hand, made at random, checked for legality, shrunk when they fail.

mod generate;
mod legal;
mod notation;
mod shrink;

pub use generate::{SEMAPHORE_START, random};
pub use legal::{Illegal, check};
pub use notation::{Case, parse, parse_cases, print};
pub use shrink::shrink;
