//! Search over a [`Machine`](raddle_machine::Machine): the enumerator, the oracle of every later engine.

pub mod enumerate;
