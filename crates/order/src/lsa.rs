//! `lsa` of section 2 of the 2006 paper: the locks of the last access protect the byte. Wrong on purpose.
//!
//! An access that shares no lock with the set is reported; after an access the set is the locks held at it. Unlike
//! [`crate::lockset`] a set changes only at accesses, so a lock that takes over without one (the boxes of the paper are swapped) goes
//! unnoticed. As in the paper reads and writes are alike, sets start with all locks, and thread identities are not in them. Atomics
//! are not looked at.

use raddle_event::{Addr, EventKind, ThreadId, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// The first access reported for every byte.
pub fn warnings(trace: &Trace) -> BTreeMap<Addr, usize> {
    let mut held: BTreeMap<ThreadId, BTreeSet<Addr>> = BTreeMap::new();
    let mut protecting: BTreeMap<Addr, BTreeSet<Addr>> = BTreeMap::new();
    let mut warnings = BTreeMap::new();
    for (index, event) in trace.events.iter().enumerate() {
        let locks = held.entry(event.thread).or_default();
        match event.kind {
            EventKind::Acquire { lock, .. } => {
                locks.insert(lock);
            }
            EventKind::Release { lock, .. } => {
                locks.remove(&lock);
            }
            EventKind::Access { loc, .. } => {
                for offset in loc.offset..loc.offset + loc.len {
                    let byte = Addr { object: loc.object, offset };
                    let before = protecting.insert(byte, locks.clone());
                    if locks.is_empty() || before.is_some_and(|before| before.is_disjoint(locks)) {
                        warnings.entry(byte).or_insert(index);
                    }
                }
            }
            _ => {}
        }
    }
    warnings
}
