//! Makes a failing trace as short as dropping events can make it.

use super::legal::check;
use raddle_event::{Event, ThreadId, Trace};

/// A legal trace that still fails and from which no thread, no event and no two events can be dropped.
pub fn shrink(trace: &Trace, fails: impl Fn(&Trace) -> bool) -> Trace {
    let still = |trace: &Trace| check(trace).is_ok() && fails(trace);
    let mut smallest = trace.clone();
    loop {
        let Some(candidate) = smaller(&smallest.events).find(still) else { return smallest };
        smallest = candidate;
    }
}

/// Candidates, the boldest first: without the end, without a thread, without an event, without two.
fn smaller(events: &[Event]) -> impl Iterator<Item = Trace> {
    let without = |drop: Vec<usize>| Trace {
        events: events.iter().enumerate().filter(|(i, _)| !drop.contains(i)).map(|(_, e)| *e).collect(),
    };
    let count = events.len();
    let prefixes = [count / 2, count * 3 / 4].into_iter().filter(move |keep| *keep < count);
    let prefixes = prefixes.map(|keep| Trace { events: events[..keep].to_vec() });
    let last = events.iter().map(|event| event.thread).max().unwrap_or(ThreadId::MAIN);
    let threads = (1..=last.0).map(|id| Trace {
        events: events.iter().filter(|event| !concerns(event, ThreadId(id))).copied().collect(),
    });
    let threads = threads.filter(move |trace| trace.events.len() < count);
    let singles = (0..count).rev().map(move |i| without(vec![i]));
    let pairs = (0..count).flat_map(move |i| (i + 1..count).map(move |j| without(vec![i, j])));
    prefixes.chain(threads).chain(singles).chain(pairs)
}

fn concerns(event: &Event, thread: ThreadId) -> bool {
    use raddle_event::EventKind::{Create, Detach, Join};
    let named = matches!(event.kind, Create { child } | Join { child } | Detach { child } if child == thread);
    named || event.thread == thread
}
