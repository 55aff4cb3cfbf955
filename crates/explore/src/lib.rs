//! Search over a [`Machine`](raddle_machine::Machine): the enumerator, the oracle of every later engine.

pub mod dependence;
pub mod dpor;
pub mod enumerate;
