//! Search over a [`Machine`](raddle_machine::Machine): the enumerator, the oracle of every later engine, and partial-order reduction.

pub mod dependence;
pub mod dpor;
pub mod enumerate;
pub mod pdp;
pub mod minimise;
pub mod stateful;
