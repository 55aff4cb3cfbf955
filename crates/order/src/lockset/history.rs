//! Why two accesses are ordered, or are not: the lockset of the first one as it grows until the second one comes.
//!
//! The rules of the 2006 paper applied to one set only. Each step that adds points to it is a passage: the access is ordered before what
//! follows these points from then on. A race is a set that never met what the second thread had.

use super::point::Point;
use super::table::LocksetTable;
use super::transfer::Transfer;
use raddle_event::Trace;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The set right after the first access: its thread, and the locks that it held.
    pub start: Vec<Point>,
    pub passages: Vec<Passage>,
    /// What the second access came with: its thread, and the locks that it held.
    pub held: Vec<Point>,
    /// The points that both have: none is a race.
    pub meets: Vec<Point>,
}

/// An event after which the first access is ordered before more than it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    pub event: usize,
    pub added: Vec<Point>,
}

/// What became of the lockset of event `first`, an access, until event `second`.
pub fn between(trace: &Trace, first: usize, second: usize) -> History {
    let mut transfer = Transfer::default();
    let mut table = LocksetTable::default();
    let mut history =
        History { start: Vec::new(), passages: Vec::new(), held: Vec::new(), meets: Vec::new() };
    let mut set = None;
    let mut points: Vec<Point> = Vec::new();
    for (index, event) in trace.events.iter().enumerate().take(second + 1) {
        transfer.arrive(event, &mut table);
        if index == first {
            points = transfer.held(event.thread).to_vec();
            set = Some(table.intern(&points));
            history.start = points.clone();
        }
        if index == second {
            history.held = transfer.held(event.thread).to_vec();
        } else {
            transfer.depart(event, &mut table);
        }
        if let Some(id) = set {
            let now = table.get(id);
            let added: Vec<Point> = now.iter().filter(|point| !points.contains(point)).copied().collect();
            points = now.to_vec();
            if !added.is_empty() {
                history.passages.push(Passage { event: index, added });
            }
        }
    }
    history.meets = history.held.iter().filter(|point| points.contains(point)).copied().collect();
    history
}
