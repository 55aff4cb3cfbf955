//! Search over a Machine: the enumerator, the oracle of every later engine.
