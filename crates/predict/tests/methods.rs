//! Every candidate of every method keeps to the definition, on random traces of all primitives.
//!
//! And all methods together miss nothing that the oracle finds in small ones.

#[allow(dead_code)]
mod oracle;

use oracle::{Reorderings, search};
use raddle_base::SiteId;
use raddle_event::Trace;
use raddle_predict::exhaustive::merged;
use raddle_predict::legality::check;
use raddle_predict::{Deciding, Error, Initial, Input, Method, Options, Prediction, predict};
use raddle_testkit::soak::{cases_of_seeds, seeds};
use raddle_testkit::traces::{print, random};
use std::collections::BTreeSet;

#[test]
fn candidates_keep_to_the_definition() {
    let (mut certain, mut uncertain, mut deadlocks) = (0, 0, 0);
    for seed in cases_of_seeds("predicted candidates are reorderings", seeds(20_000, 200_000)) {
        let trace = random(seed);
        let initial = Initial::default();
        // Every second event; sites are numbered by their places in the text.
        let some = trace.events.iter().enumerate().filter(|(index, _)| index % 2 == 0);
        let some = Deciding::Sites(some.map(|(_, event)| event.site).collect());
        for deciding in [Deciding::All, some] {
            let input = Input { trace: &trace, initial: &initial, deciding: &deciding };
            for candidate in predict(input, &Options::default()).candidates {
                if let Err(wrong) = check(input, &candidate) {
                    panic!("seed {seed}: {wrong:?}\n{candidate:?}\n{}", print(&trace));
                }
                match candidate.error {
                    Error::Deadlock { .. } => deadlocks += 1,
                    Error::Race { .. } if candidate.uncertain.is_empty() => certain += 1,
                    Error::Race { .. } => uncertain += 1,
                }
            }
        }
    }
    println!("{certain} certain races, {uncertain} uncertain ones, {deadlocks} deadlocks");
    assert!(certain > 1000 && uncertain > 100, "{certain} {uncertain} {deadlocks}");
}

/// Reorderings inside of a part of the trace are reorderings of the trace; a part that is all of it misses nothing.
#[test]
fn windows_keep_to_the_definition() {
    let (mut races, mut later, mut lost) = (0, 0, 0);
    for seed in cases_of_seeds("races in windows are those of the trace", seeds(6_000, 100_000)) {
        let trace = random(seed);
        let (initial, deciding) = (Initial::default(), Deciding::All);
        let input = Input { trace: &trace, initial: &initial, deciding: &deciding };
        let whole = trace.events.len();
        let options = Options { reversal_events: 0, reversals: 48, candidates: 500, ..Options::default() };
        for size in [4 + seed as usize % 24, whole] {
            let in_windows = Options { exhaustive_events: 0, window_events: size, ..options };
            let prediction = predict(input, &in_windows);
            for candidate in &prediction.candidates {
                if let Err(wrong) = check(input, candidate) {
                    panic!("seed {seed}, window of {size}: {wrong:?}\n{candidate:?}\n{}", print(&trace));
                }
                if size < whole && candidate.method == Method::Exhaustive {
                    races += 1;
                    later += usize::from(candidate.order.len() > size);
                }
            }
            if size < whole {
                lost += prediction.counts.across_windows;
                continue;
            }
            assert_eq!(prediction.counts.across_windows, 0);
            let known = predict(input, &options);
            let (own, known) = (places(&trace, &prediction), places(&trace, &known));
            assert!(own.is_superset(&known), "seed {seed}: {own:?}, not {known:?}\n{}", print(&trace));
        }
    }
    println!("{races} races in windows, {later} of them with much before them, {lost} pairs of places lost");
    assert!(races > 100 && later > 50 && lost > 100, "{races} {later} {lost}");
}

fn places(trace: &Trace, prediction: &Prediction) -> BTreeSet<(SiteId, SiteId)> {
    let of_race = |error: &Error| match *error {
        Error::Race { first, second } => {
            let sites = [first, second].map(|event| trace.events[event].site);
            Some((sites[0].min(sites[1]), sites[0].max(sites[1])))
        }
        Error::Deadlock { .. } => None,
    };
    prediction.candidates.iter().filter_map(|candidate| of_race(&candidate.error)).collect()
}

/// Nothing is lost by the filter, the series, or the choice of a method: what the oracle finds in a small trace has a candidate at its places.
#[test]
fn all_methods_together_find_what_the_oracle_finds() {
    let (mut races, mut deadlocks, mut too_large) = (0, 0, 0);
    let mut cases = cases_of_seeds("prediction finds what the oracle finds", seeds(3_000, 100_000));
    for seed in cases.by_ref() {
        let mut trace = random(seed);
        trace.events.truncate(14 + seed as usize % 4 * 6);
        // A place of its own for each event.
        trace.events.iter_mut().enumerate().for_each(|(at, event)| event.site = SiteId(at as u32));
        let (initial, deciding) = (Initial::default(), Deciding::All);
        let input = Input { trace: &trace, initial: &initial, deciding: &deciding };
        let Some(known) = search(input, Reorderings::All, 20_000) else {
            too_large += 1;
            continue;
        };
        let prediction = predict(input, &Options::default());
        if prediction.counts.not_exhaustive > 0 {
            too_large += 1;
            continue;
        }
        let places = |first: usize, second: usize| {
            let sites = [first, second].map(|event| trace.events[event].site);
            (sites[0].min(sites[1]), sites[0].max(sites[1]))
        };
        let mut found = BTreeSet::new();
        let mut deadlocked = false;
        for candidate in &prediction.candidates {
            match candidate.error {
                Error::Race { first, second } => _ = found.insert(places(first, second)),
                Error::Deadlock { .. } => deadlocked = true,
            }
        }
        for &(first, second) in &known.races {
            races += 1;
            // One access of a segment stands for those like it.
            let (one, other) = merged(input, (first, second));
            assert!(
                found.contains(&places(first, second)) || found.contains(&places(one, other)),
                "seed {seed}: events {first} and {second} race\n{}",
                print(&trace)
            );
        }
        deadlocks += usize::from(!known.deadlocks.is_empty());
        assert_eq!(deadlocked, !known.deadlocks.is_empty(), "seed {seed}: a deadlock\n{}", print(&trace));
    }
    cases.too_large(too_large);
    assert!(too_large * 2 < cases.done(), "{too_large} are too large");
    println!("{races} races, {deadlocks} traces with deadlocks, {too_large} too large");
    assert!(races > 1000 && deadlocks > 10, "{races} races, {deadlocks} deadlocks");
}
