//! Large sets that were looked through already, so that a larger one needs to look only at what it has besides.
//!
//! Pointers to nearly anything have nearly the same set, each at its own time; a set that just was looked through for one is
//! mostly a part of the next one's.

use super::memory::Width;
use super::sets::{EMPTY, Set, Sets};
use crate::fast_hash::FastMap;

/// What sets are looked through for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Look {
    Load(Width),
    Store(Width),
    /// So many bytes.
    Gather(u64),
    Scatter,
}

/// Fewer new entries than this are sooner looked at than looked up.
const FEW: usize = 32;
/// So many sets are remembered for each kind of look.
const MOST: usize = 12;

#[derive(Default)]
pub(super) struct Parts {
    last: FastMap<Look, Vec<Set>>,
}

impl Parts {
    /// The largest part of a set that was looked through before, and remembers the set. `before` is such a part, or empty.
    pub(super) fn of(&mut self, sets: &Sets, look: Look, set: Set, before: Set) -> Set {
        if sets.len(set) - sets.len(before).min(sets.len(set)) < FEW {
            return before;
        }
        let last = self.last.entry(look).or_default();
        let mut best = before;
        for other in last.iter() {
            if sets.len(*other) > sets.len(best) && sets.includes(set, *other) {
                best = *other;
            }
        }
        if last.len() == MOST {
            last.remove(0);
        }
        last.push(set);
        if best == set { EMPTY } else { best }
    }
}
