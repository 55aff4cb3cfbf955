//! Search over a [`Machine`](raddle_machine::Machine): the enumerator, the oracle of every later engine; partial-order reduction; search that
//! remembers states; runs by chance; single runs along choices that are given.

pub mod along;
mod bounds;
pub mod dependence;
pub mod dpor;
pub mod enumerate;
pub mod minimise;
pub mod pdp;
pub mod prefixes;
pub mod random;
pub mod stateful;
