//! Races in reorderings that keep the order of the critical sections of each lock.
//!
//! Mathur, Pavlogiannis and Viswanathan, *Optimal Prediction of Synchronization-Preserving Races* (POPL 2021): two accesses race in such a
//! reordering exactly when neither is in the closure of what comes before them ([`Closure`]). A series of accesses of one
//! thread against one of another costs one walk, because the closure only grows from one pair to the next.
//!
//! Which way it errs: what is found is a reordering. Where all deciding reads are concrete, so is the race; else the candidate says which
//! are not.

use crate::closure::{Closure, Locks, Values};
use crate::pairs::Series;
use crate::prepared::Prepared;

/// Two accesses, and how many events of each thread come before them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) first: usize,
    pub(crate) second: usize,
    pub(crate) cut: Vec<u32>,
}

/// The first pair of the two series that races.
pub(crate) fn race(prepared: &Prepared<'_>, values: Values, a: &Series, b: &Series) -> Option<Found> {
    let mut closure = Closure::new(prepared, values, Locks::KeepOrder);
    let place = |index: u32| prepared.position[index as usize];
    let mut ones = a.events.iter().copied().peekable();
    for &other in &b.events {
        if closure.contains(b.thread, place(other)) {
            continue;
        }
        if !closure.require_before(b.thread, place(other)) {
            return None;
        }
        loop {
            while ones.next_if(|one| closure.contains(a.thread, place(*one))).is_some() {}
            let one = *ones.peek()?;
            if !closure.require_before(a.thread, place(one)) {
                return None;
            }
            if closure.contains(b.thread, place(other)) {
                break;
            }
            if !closure.contains(a.thread, place(one)) {
                let (first, second) = (one.min(other) as usize, one.max(other) as usize);
                return Some(Found { first, second, cut: closure.cut().to_vec() });
            }
        }
    }
    None
}
