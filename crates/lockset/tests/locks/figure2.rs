//! Fig. 2 of the 2007 paper: (6a, 6b) is ruled out by histories, (6a, 9b) is kept below (6a, 2b), and the lockset-based reduction of
//! Definition 5 would have dropped (6a, 9b) in favour of the bogus (6a, 6b). Then covers on more paths.

use crate::{Solved, program, solved};
use raddle_absint::calls::Calls;
use raddle_facts::HeldLock;
use raddle_ir::{BlockId, FunctionId};
use raddle_lockset::events::{Event, weaker_by_histories, weaker_by_locksets};
use raddle_lockset::history::{consistent, contradiction, histories};
use raddle_lockset::reduce::{Ranked, Warning, covers, rank};
use std::collections::BTreeMap;

/// The accesses to one global, each with the label in the comment on its line.
fn events(s: &Solved, file: &str, variable: &str) -> (Vec<Event>, Vec<String>) {
    let text = std::fs::read_to_string(program(file)).expect("the program");
    let labels: BTreeMap<u32, String> = text
        .lines()
        .enumerate()
        .filter_map(|(at, line)| {
            let (_, label) = line.split_once("// ")?;
            Some((at as u32 + 1, label.trim().to_owned()))
        })
        .collect();
    let reader = s.reader();
    let mut states: BTreeMap<(FunctionId, BlockId, usize), Vec<HeldLock>> = BTreeMap::new();
    for function in s.program.functions.ids() {
        reader.for_each_site(&s.locks, function, |block, index, held| {
            states.insert((function, block, index), held.to_vec());
        });
    }
    let mut found = Vec::new();
    let mut names = Vec::new();
    for access in &s.accesses {
        let is_it = access.place.is_some_and(|place| s.program.place_text(place) == variable);
        if !is_it {
            continue;
        }
        let line = s.program.sites[access.site].span.expect("a line").line;
        let held = &states[&(access.function, access.block, access.index)];
        for thread in &s.threads.runs[access.function] {
            found.push(Event {
                variable: 0,
                thread: *thread,
                function: access.function,
                block: access.block,
                index: access.index,
                write: access.is_write(),
                locks: held.iter().map(|held| held.lock).collect(),
                history: histories(held, |term| reader.is_global(term)),
            });
            names.push(labels[&line].clone());
        }
    }
    (found, names)
}

#[test]
fn figure_2() {
    let s = solved(&program("figure2.c"));
    let (events, names) = events(&s, "figure2.c", "x");
    let calls = Calls::new(&s.program, &s.models, &s.values, &s.points_to);
    let at = |label: &str| names.iter().position(|name| name == label).expect("an access");
    let (a6, b2, b6, b9) = (at("6a"), at("2b"), at("6b"), at("9b"));

    assert!(!consistent(&events[a6].history, &events[b6].history), "(6a, 6b) is bogus");
    let (l1, l2) = contradiction(&events[a6].history, &events[b6].history).expect("two locks");
    assert_eq!((vec![l1], vec![l2]), (events[a6].locks.clone(), events[b6].locks.clone()));
    assert!(consistent(&events[a6].history, &events[b9].history));
    assert!(consistent(&events[a6].history, &events[b2].history));

    let all = [b2, b6, b9].map(|b| Warning { first: a6, second: b });
    let left: Vec<Warning> =
        all.into_iter().filter(|w| consistent(&events[w.first].history, &events[w.second].history)).collect();
    assert_eq!(left, [b2, b9].map(|b| Warning { first: a6, second: b }));

    let by_histories = covers(&s.program, &calls, &s.threads, &events, weaker_by_histories);
    assert_eq!(by_histories[b9], Some(vec![b2]));
    assert_eq!(by_histories[b6], Some(vec![b2]));
    assert_eq!(by_histories[b2], None);
    let ranked = rank(&left, &by_histories);
    assert_eq!(
        ranked,
        [
            Ranked { warning: 0, rank: 0, covered_by: Vec::new() },
            Ranked { warning: 1, rank: 1, covered_by: vec![0] }
        ]
    );

    // The baseline: 9b is covered by the nearest access with no more locks, which is 6b.
    assert!(weaker_by_locksets(&events[b6], &events[b9]) && !weaker_by_histories(&events[b6], &events[b9]));
    let by_locksets = covers(&s.program, &calls, &s.threads, &events, weaker_by_locksets);
    assert_eq!(by_locksets[b9], Some(vec![b6]));
    let dropped: Vec<&Warning> = all.iter().filter(|w| by_locksets[w.second].is_some()).collect();
    assert!(dropped.contains(&&Warning { first: a6, second: b9 }), "the real race is dropped");
}

#[test]
fn covers_on_all_paths() {
    let s = solved(&program("covers.c"));
    let (events, names) = events(&s, "covers.c", "x");
    let calls = Calls::new(&s.program, &s.models, &s.values, &s.points_to);
    assert_eq!(events.len(), 15);
    let covers = covers(&s.program, &calls, &s.threads, &events, weaker_by_histories);
    for (label, cover) in names.iter().zip(&covers) {
        let wanted: Vec<&str> = match label.split_once(':') {
            Some((_, list)) => list.split_whitespace().collect(),
            None => Vec::new(),
        };
        let short = |at: &usize| names[*at].split(':').next().expect("a label");
        let mut found: Vec<&str> = cover.iter().flatten().map(short).collect();
        found.sort();
        assert_eq!(found, wanted, "{label}");
    }
}

#[test]
fn nothing_is_dropped_and_chains_go_down() {
    let w = |first, second| Warning { first, second };
    let warnings = [w(0, 3), w(0, 2), w(0, 1), w(4, 3), w(4, 4)];
    let covers = [None, None, Some(vec![1]), Some(vec![2]), None];
    let ranked = rank(&warnings, &covers);
    let order: Vec<(usize, usize, Vec<usize>)> =
        ranked.into_iter().map(|r| (r.warning, r.rank, r.covered_by)).collect();
    // (4, 3) is not covered: (4, 2) was ruled out by something else.
    let wanted = [(2, 0, vec![]), (3, 0, vec![]), (4, 0, vec![]), (1, 1, vec![2]), (0, 2, vec![1])];
    assert_eq!(order, wanted);
}
