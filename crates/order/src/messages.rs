//! What an atomic read gets to know with the value that it reads: one clock per byte.
//!
//! A byte carries the clock of the release sequence that its last write belongs to (C23 7.17.3, C++20 [intro.races]: only
//! read-modify-writes continue a release sequence; every other store starts anew). Bytes are followed one by one, so that atomics of
//! different sizes on the same memory need no rule of their own. A plain write carries nothing.

use crate::shadow::{Shadow, byte_range, part};
use crate::vector_clock::VectorClock;
use raddle_event::Loc;
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub struct Messages {
    bytes: Shadow<Arc<VectorClock>>,
}

impl Messages {
    /// Joins what the bytes carry into `clock`.
    pub fn read(&self, loc: Loc, clock: &mut VectorClock) {
        for (_, message) in self.bytes.overlapping(loc) {
            clock.join(message);
        }
    }

    /// Whether any of the bytes carries something.
    pub fn any(&self, loc: Loc) -> bool {
        self.bytes.overlapping(loc).next().is_some()
    }

    /// What the bytes carry, part by part.
    pub fn each(&self, loc: Loc, mut tell: impl FnMut(Loc, &Arc<VectorClock>)) {
        for (range, message) in self.bytes.overlapping(loc) {
            tell(part(loc, &range), message);
        }
    }

    /// An atomic store, or a plain write when there is no message.
    pub fn write(&mut self, loc: Loc, message: Option<Arc<VectorClock>>) {
        match message {
            Some(message) => self.bytes.get_mut(loc.object).set(byte_range(loc), message),
            None if self.any(loc) => {
                self.bytes.get_mut(loc.object).clear(byte_range(loc));
            }
            None => {}
        }
    }

    /// A read-modify-write: what the bytes carried stays, and its own message comes to it.
    pub fn modify(&mut self, loc: Loc, message: Option<Arc<VectorClock>>) {
        let Some(message) = message else { return };
        self.bytes.get_mut(loc.object).replace(byte_range(loc), |old| match old {
            Some(old) if !message.includes(old) => {
                let mut both = VectorClock::clone(old);
                both.join(&message);
                Some(Arc::new(both))
            }
            _ => Some(message.clone()),
        });
    }
}
