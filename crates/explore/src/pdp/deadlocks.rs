//! Whether threads can come to wait for each other: the 2008 paper's future work, by the same look at the rest of a run.
//!
//! In a deadlock every thread that is left waits, hence some in a circle: each for a lock that the next one holds, or for its end. (A
//! thread that waits for anything else, or ends with a lock, is not looked at here: it may stick. One that goes round in a loop does not
//! wait; then it is no deadlock, but perhaps a livelock, of which this search says nothing.) All of them stand at their waits at once, so of two neighbours neither is
//! ordered after the other by creation or join, and no lock is certainly held at both. Circles are looked for in the graph of all pairs for
//! which that is so. Errs towards a deadlock: the same is not asked of two that are not neighbours, and a thread may be in
//! the circle twice.

use super::locksets::{Rest, Wait, Wanted, exclude};
use raddle_base::Id;
use raddle_event::ThreadId;

/// More places to wait than these are not looked at one by one.
const MOST_WAITS: usize = 256;

pub(super) fn may_wait_in_a_circle(rests: &[Option<Rest>]) -> bool {
    let mut waits: Vec<(ThreadId, &Wait)> = Vec::new();
    for (thread, rest) in rests.iter().enumerate() {
        let thread = ThreadId::from_index(thread);
        for wait in rest.iter().flat_map(|rest| &rest.waits) {
            if holds_itself_up(wait) {
                return true;
            }
            // The later one is ordered before less.
            match waits.iter_mut().find(|(other, known)| *other == thread && alike(known, wait)) {
                Some((_, known)) => *known = wait,
                None => waits.push((thread, wait)),
            }
        }
        if waits.len() > MOST_WAITS {
            return true;
        }
    }
    let edges = waits.iter().map(|from| {
        let to = waits.iter().enumerate().filter(|(_, to)| waits_for(*from, **to));
        to.map(|(at, _)| at).collect()
    });
    has_circle(edges.collect())
}

/// Whether the thread may wait for what it has.
fn holds_itself_up(wait: &Wait) -> bool {
    match wait.what {
        Wanted::Lock(lock, mode) => wait.may_hold.keeps_from(lock, mode),
        Wanted::EndOf(_) => false,
    }
}

fn waits_for((thread, wait): (ThreadId, &Wait), (other, there): (ThreadId, &Wait)) -> bool {
    let wanted = match wait.what {
        Wanted::Lock(lock, mode) => thread != other && there.may_hold.keeps_from(lock, mode),
        Wanted::EndOf(child) => child == other,
    };
    let ordered = there.known[thread.index()] > wait.at || wait.known[other.index()] > there.at;
    let together = || wait.locks.iter().any(|a| there.locks.iter().any(|b| !exclude(a, b)));
    wanted && !ordered && together()
}

/// Whether nothing but the position differs.
fn alike(a: &Wait, b: &Wait) -> bool {
    a.what == b.what && a.locks == b.locks && a.may_hold == b.may_hold && a.known == b.known
}

fn has_circle(edges: Vec<Vec<usize>>) -> bool {
    // What waits for nothing that is left is in no circle.
    let mut left = vec![true; edges.len()];
    loop {
        let ends = |at: &usize| left[*at] && !edges[*at].iter().any(|to| left[*to]);
        let Some(end) = (0..edges.len()).find(ends) else { return left.contains(&true) };
        left[end] = false;
    }
}
