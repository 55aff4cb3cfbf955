//! What programs do under the interpreter, over all schedules: C in, the set of possible ends out.

mod checkpoints;
mod ends;
mod explore;
mod fingerprints;
mod limits;
mod load;
mod names;
mod problems;
mod stutter;
mod sync;
mod threads;
mod traces;
mod visibility;
