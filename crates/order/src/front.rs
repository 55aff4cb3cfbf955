//! The latest accesses of one kind to some bytes, as epochs.

use crate::vector_clock::{Epoch, VectorClock};

/// The latest of some accesses: those that do not happen before another of them.
#[derive(Clone, Debug, Default)]
pub(crate) enum Front {
    #[default]
    Empty,
    One(Epoch),
    Many(Box<VectorClock>),
}

impl Front {
    pub(crate) fn covered_by(&self, clock: &VectorClock) -> bool {
        match self {
            Front::Empty => true,
            Front::One(epoch) => clock.covers(*epoch),
            Front::Many(epochs) => clock.includes(epochs),
        }
    }

    /// Adds an access at `epoch`; `clock` is what happens before it.
    pub(crate) fn advance(&mut self, epoch: Epoch, clock: &VectorClock) {
        match self {
            Front::Many(epochs) if !clock.includes(epochs) => epochs.set(epoch),
            Front::One(last) if !clock.covers(*last) => {
                let mut epochs = VectorClock::default();
                epochs.set(*last);
                epochs.set(epoch);
                *self = Front::Many(Box::new(epochs));
            }
            _ => *self = Front::One(epoch),
        }
    }
}
