//! Three ways to compute, one answer: random traces over all kinds of events.
//!
//! `RADDLE_SOAK=1` compares many more. A failure prints the seed and the shortest trace that still fails.

use raddle_event::{Addr, Event, EventKind, Loc, LockMode, Trace};
use raddle_order::lockset::history::between;
use raddle_order::lockset::point::Point;
use raddle_order::pairs::{Listing, Pairs, list, races};
use raddle_order::{Closure, Epochs, FirstRace, Locksets, RacePair, Rewinding, epochs, lockset};
use raddle_testkit::soak::{cases_of_seeds, seeds};
use raddle_testkit::traces::{check, print, random, shrink};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Runs `disagreement` on the traces of many seeds; `None` from it means that all is well.
fn for_random_traces(property: &str, slice: u64, full: u64, disagreement: impl Fn(&Trace) -> Option<String>) {
    for seed in cases_of_seeds(property, seeds(slice, full)) {
        let trace = random(seed);
        if disagreement(&trace).is_some() {
            let small = shrink(&trace, |candidate| disagreement(candidate).is_some());
            let what = disagreement(&small).expect("shrinking keeps the failure");
            panic!("seed {seed}: {what}\n{}", print(&small));
        }
    }
}

fn by_byte(races: &[FirstRace]) -> BTreeMap<Addr, usize> {
    let mut bytes = BTreeMap::new();
    for race in races {
        for i in 0..race.loc.len {
            let byte = Addr { object: race.loc.object, offset: race.loc.offset + i };
            let twice = bytes.insert(byte, race.event);
            assert_eq!(twice, None, "byte reported twice");
        }
    }
    bytes
}

fn compare<T: PartialEq + std::fmt::Debug>(what: &str, got: &T, expected: &T) -> Option<String> {
    (got != expected).then(|| format!("{what}: {got:?}, closure: {expected:?}"))
}

#[test]
fn first_racing_access_of_every_byte() {
    for_random_traces(
        "first racing access of every byte: epochs = locksets = closure",
        20_000,
        400_000,
        |trace| {
            let expected = Closure::of(trace).first_races();
            compare("epochs", &by_byte(&epochs::first_races(trace)), &expected)
                .or_else(|| compare("lockset form", &by_byte(&lockset::first_races(trace)), &expected))
        },
    );
}

#[test]
fn all_pairs() {
    for_random_traces("all racing pairs: vector clocks = closure", 20_000, 400_000, |trace| {
        compare("pairs", &races(trace), &Closure::of(trace).races())
    });
}

/// The lockset of one access, followed to another, meets what that one comes with exactly when they are ordered.
#[test]
fn histories_of_two_accesses() {
    for_random_traces(
        "the lockset of one access meets another exactly when they are ordered",
        2_000,
        40_000,
        |trace| {
            let closure = Closure::of(trace);
            let accesses: Vec<usize> = (0..trace.events.len())
                .filter(|i| {
                    matches!(trace.events[*i].kind, EventKind::Access { .. } | EventKind::Atomic { .. })
                })
                .collect();
            let pairs = accesses.iter().flat_map(|j| accesses.iter().map(move |i| (*i, *j)));
            pairs.filter(|(i, j)| i < j && trace.events[*i].thread != trace.events[*j].thread).find_map(
                |(i, j)| {
                    let history = between(trace, i, j);
                    let ordered = !history.meets.is_empty();
                    let starts = history.start.contains(&Point::Thread(trace.events[i].thread));
                    compare(&format!("{i} before {j}"), &ordered, &closure.happens_before(i, j))
                        .or_else(|| (!starts).then(|| format!("{i} starts with {:?}", history.start)))
                },
            )
        },
    );
}

/// What two accesses look like, for [`Listing::OncePerSite`].
fn looks(trace: &Trace, pair: &RacePair) -> (String, String) {
    let look = |event: &Event| match event.kind {
        EventKind::Atomic { loc, op } => format!("{} atomic {} {loc:?}", event.site, op.writes()),
        kind => format!("{} {kind:?}", event.site),
    };
    (look(&trace.events[pair.first]), look(&trace.events[pair.second]))
}

#[test]
fn one_pair_for_each_two_sites() {
    for_random_traces("one pair for each two sites", 20_000, 100_000, |trace| {
        let all = races(trace);
        let once = list(trace, Listing::OncePerSite);
        let expected: BTreeSet<_> = all.iter().map(|pair| looks(trace, pair)).collect();
        let got: BTreeSet<_> = once.iter().map(|pair| looks(trace, pair)).collect();
        let real: HashSet<_> = all.into_iter().collect();
        let invented = once.iter().find(|pair| !real.contains(pair));
        let repeated = got.len() != once.len();
        compare("sites", &got, &expected)
            .or_else(|| invented.map(|pair| format!("{pair:?} is no race")))
            .or_else(|| repeated.then(|| format!("repeats itself: {once:?}")))
    });
}

/// A detector that is set back now and then, and goes on from there, sees what one that starts anew sees.
#[test]
fn set_back_and_gone_on() {
    for_random_traces("a detector that is set back sees the same", 20_000, 400_000, |trace| {
        let length = trace.events.len();
        let mut rewinding = Rewinding::new();
        let mut dice = length as u64;
        for round in 0..8 {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(round);
            let back = (dice >> 33) as usize % (rewinding.len() + 1);
            // Whatever is taken back leaves nothing behind, also what no trace has.
            trace.events.iter().rev().take(round as usize).for_each(|event| rewinding.observe(event));
            rewinding.truncate(back);
            let further = back + (dice >> 21) as usize % (length - back + 1);
            trace.events[back..further].iter().for_each(|event| rewinding.observe(event));
            let seen = Trace { events: trace.events[..further].to_vec() };
            let expected = !Closure::of(&seen).races().is_empty();
            let wrong = compare("set back", &rewinding.has_race(), &expected);
            if wrong.is_some() {
                return wrong.map(|wrong| format!("{wrong} from {back} to {further}"));
            }
        }
        None
    });
}

/// A copy goes its own way: what the original sees after the copy was made does not reach it.
#[test]
fn a_copy_goes_on_by_itself() {
    for_random_traces("a copy of a detector sees the same", 2_000, 20_000, |trace| {
        let (head, tail) = trace.events.split_at(trace.events.len() / 2);
        let mut originals = (Epochs::new(), Locksets::new(), Pairs::new(Listing::Every));
        let mut found = (Vec::new(), Vec::new(), Vec::new());
        for event in head {
            found.0.extend(originals.0.observe(event));
            found.1.extend(originals.1.observe(event));
            found.2.extend(originals.2.observe(event));
        }
        let mut copies = originals.clone();
        for event in tail.iter().rev() {
            originals.0.observe(event);
            originals.2.observe(event);
        }
        for event in tail {
            found.0.extend(copies.0.observe(event));
            found.1.extend(copies.1.observe(event));
            found.2.extend(copies.2.observe(event));
        }
        compare("epochs", &found.0, &epochs::first_races(trace))
            .or_else(|| compare("lockset form", &found.1, &lockset::first_races(trace)))
            .or_else(|| compare("pairs", &found.2, &races(trace)))
    });
}

#[test]
fn random_traces_are_legal_and_of_all_kinds() {
    let mut kinds = BTreeMap::new();
    let (mut racy, mut quiet) = (0, 0);
    for seed in 0..5_000 {
        let trace = random(seed);
        if let Err(illegal) = check(&trace) {
            panic!("seed {seed}: {illegal:?}\n{}", print(&trace));
        }
        for event in &trace.events {
            *kinds.entry(kind_name(event)).or_insert(0) += 1;
        }
        if races(&trace).is_empty() { quiet += 1 } else { racy += 1 }
    }
    assert_eq!(kinds.len(), ALL_KINDS, "{kinds:?}");
    assert!(kinds.values().all(|count| *count > 20), "{kinds:?}");
    assert!(racy > 1_000 && quiet > 1_000, "{racy} racy, {quiet} quiet");
}

/// Variants of `EventKind`, with atomics by operation and locks by mode.
const ALL_KINDS: usize = 37;

fn kind_name(event: &Event) -> String {
    let text = print(&Trace { events: vec![*event] });
    let word = text.split_whitespace().nth(1).expect("an operation");
    word.split('.').next().expect("a name").to_owned()
}

/// The comparison can fail: a happens-before that treats atomics as the paper treats volatiles is found out.
#[test]
fn volatile_as_lock_is_found_out() {
    let differs = |trace: &Trace| {
        let expected: BTreeSet<Addr> = Closure::of(trace).first_races().into_keys().collect();
        let locked = atomics_as_locks(trace);
        let got: BTreeSet<Addr> = by_byte(&lockset::first_races(&locked)).into_keys().collect();
        got != expected
    };
    let found = (0..2_000).map(random).find(differs).expect("some trace tells them apart");
    let small = shrink(&found, differs);
    assert!(small.events.len() <= 7, "{}", print(&small));
}

/// Section 4 of the paper: a lock of its own around each access to a volatile.
fn atomics_as_locks(trace: &Trace) -> Trace {
    let mut events = Vec::new();
    for event in &trace.events {
        let EventKind::Atomic { loc: Loc { object, .. }, .. } = event.kind else {
            events.push(*event);
            continue;
        };
        let lock = Addr { object, offset: u32::MAX };
        let mode = LockMode::Exclusive;
        events.push(Event { kind: EventKind::Acquire { lock, mode }, ..*event });
        events.push(*event);
        events.push(Event { kind: EventKind::Release { lock, mode }, ..*event });
    }
    Trace { events }
}
