//! Hand-written traces, one idea each, with the races on the lines: every detector must report exactly those.

use raddle_event::Addr;
use raddle_order::{Closure, FirstRace, RacePair, epochs, lockset, races};
use raddle_testkit::traces::{Case, check, parse_cases};
use std::collections::BTreeMap;

const FILES: [(&str, &str); 7] = [
    ("threads", include_str!("litmus/threads.txt")),
    ("bytes", include_str!("litmus/bytes.txt")),
    ("mutex", include_str!("litmus/mutex.txt")),
    ("rwlock", include_str!("litmus/rwlock.txt")),
    ("counters", include_str!("litmus/counters.txt")),
    ("atomics", include_str!("litmus/atomics.txt")),
    ("fences", include_str!("litmus/fences.txt")),
];

#[test]
fn every_case_has_exactly_the_races_on_its_lines() {
    let mut failures = Vec::new();
    let mut cases = 0;
    for (file, text) in FILES {
        for case in parse_cases(text).unwrap_or_else(|error| panic!("{file}: {error}")) {
            cases += 1;
            failures.extend(failure(&case).map(|what| format!("{file}: {}: {what}", case.title)));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    println!("{cases} litmus traces");
}

fn failure(case: &Case) -> Option<String> {
    if let Err(illegal) = check(&case.trace) {
        return Some(format!("{illegal:?}"));
    }
    let expected: Vec<RacePair> =
        case.races.iter().map(|&(first, second)| RacePair { first, second }).collect();
    let closure = Closure::of(&case.trace);
    let first = closure.first_races();
    let wrong = |what: &str, got: String| Some(format!("{what}: {got}, expected {expected:?}"));
    if closure.races() != expected {
        return wrong("closure", format!("{:?}", closure.races()));
    }
    if races(&case.trace) != expected {
        return wrong("pairs", format!("{:?}", races(&case.trace)));
    }
    for (what, found) in
        [("epochs", epochs::first_races(&case.trace)), ("locksets", lockset::first_races(&case.trace))]
    {
        if by_byte(&found) != first {
            return wrong(what, format!("{found:?}"));
        }
    }
    None
}

fn by_byte(found: &[FirstRace]) -> BTreeMap<Addr, usize> {
    let bytes = |race: &FirstRace| {
        let (loc, event) = (race.loc, race.event);
        (0..loc.len).map(move |i| (Addr { object: loc.object, offset: loc.offset + i }, event))
    };
    found.iter().flat_map(bytes).collect()
}
