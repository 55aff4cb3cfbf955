//! Sync-preserving races are those of their definition, by brute force.
//!
//! On traces without semaphores, condition variables and acquisitions that fail: there the closure keeps more of the order of the trace
//! than the definition asks for. Of races with a read-modify-write, which the definition does not know, only that they are real: what it
//! reads has to come last before it, which the order of the trace does not always allow.

#[allow(dead_code)]
mod oracle;

use oracle::{Reorderings, search};
use raddle_base::SiteId;
use raddle_event::{Event, EventKind};
use raddle_predict::exhaustive::merged;
use raddle_predict::{Deciding, Error, Initial, Input, Method, Options, predict};
use raddle_testkit::soak::{cases_of_seeds, seeds};
use raddle_testkit::traces::{print, random};
use std::collections::BTreeSet;

fn is_left_out(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::SemPost { .. }
            | EventKind::SemWait { .. }
            | EventKind::Signal { .. }
            | EventKind::Broadcast { .. }
            | EventKind::WaitBegin { .. }
            | EventKind::WaitEnd { .. }
            | EventKind::AcquireFailed { .. }
    )
}

#[test]
fn sync_preserving_races_are_those_of_brute_force() {
    let (mut races, mut too_large) = (0, 0);
    let mut cases = cases_of_seeds("sync-preserving races = brute force", seeds(3_000, 100_000));
    for seed in cases.by_ref() {
        let mut trace = random(seed);
        trace.events.retain(|event| !is_left_out(event));
        trace.events.truncate(14 + seed as usize % 4 * 6);
        // A place of its own for each event.
        trace.events.iter_mut().enumerate().for_each(|(at, event)| event.site = SiteId(at as u32));
        let (initial, deciding) = (Initial::default(), Deciding::All);
        let input = Input { trace: &trace, initial: &initial, deciding: &deciding };
        let Some(known) = search(input, Reorderings::SyncPreserving, 20_000) else {
            too_large += 1;
            continue;
        };
        // Nothing but this method.
        let options = Options { reversals: 0, exhaustive_events: 0, window_events: 0, ..Options::default() };
        let candidates = predict(input, &options).candidates;
        let found: BTreeSet<(usize, usize)> = candidates
            .iter()
            .filter(|candidate| candidate.uncertain.is_empty() && candidate.method == Method::SyncPreserving)
            .filter_map(|candidate| match candidate.error {
                Error::Race { first, second } => Some((first, second)),
                Error::Deadlock { .. } => None,
            })
            .collect();
        let text = || format!("seed {seed}\n{}", print(&trace));
        assert!(found.is_subset(&known.races), "{found:?}, not {:?}, {}", known.races, text());
        let updates = |at: usize| matches!(trace.events[at].kind, EventKind::Atomic { op, .. } if op.reads() && op.writes());
        for race in known.races.iter().filter(|(first, second)| !updates(*first) && !updates(*second)) {
            // One access of a segment stands for those like it.
            let is_found = found.contains(race) || found.contains(&merged(input, *race));
            assert!(is_found, "{race:?} is not among {found:?}, {}", text());
        }
        races += found.len();
    }
    cases.too_large(too_large);
    assert!(too_large * 2 < cases.done(), "{too_large} are too large");
    assert!(races > 1_000, "{races}");
}
