//! Deadlock candidates: the cycles of one C program by the comments on their lines, and the limits of the search.

use crate::{program, solved};
use raddle_base::{IdVec, SiteId};
use raddle_facts::{LockMode, ObjectId, Offsets, Start, Term, Thread, ThreadFacts, ThreadId};
use raddle_ir::{BlockId, FunctionId};
use raddle_lockset::deadlock::{Edge, Limits, candidates, edges};
use std::collections::BTreeMap;

#[test]
fn cycles_of_a_program() {
    let s = solved(&program("deadlocks.c"));
    let text = std::fs::read_to_string(program("deadlocks.c")).expect("the program");
    let line_of = |site: SiteId| s.program.sites[site].span.expect("a line").line;
    let mut wanted: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (at, line) in text.lines().enumerate().skip(1) {
        if let Some((_, label)) = line.split_once("// ") {
            wanted.entry(label.to_owned()).or_default().push(at as u32 + 1);
        }
    }
    let mut wanted: Vec<Vec<u32>> = wanted.into_values().collect();
    // The wrapper's only caller holds b: its line is an edge against the same partner.
    let wrapper = text.lines().position(|line| line.contains("void take(")).expect("the wrapper") as u32 + 1;
    let partner = text.lines().position(|line| line.ends_with("// simple")).expect("an edge") as u32 + 1;
    wanted.push(vec![wrapper, partner]);
    wanted.sort();

    let found = edges(&s.program, &s.reader(), &s.locks, &s.threads);
    let all = candidates(&found, &s.threads, |_, _, _, _| true, Limits::default());
    let mut lines: Vec<Vec<u32>> = all
        .found
        .iter()
        .map(|candidate| {
            let mut lines: Vec<u32> = candidate.edges.iter().map(|edge| line_of(edge.site)).collect();
            lines.sort();
            lines
        })
        .collect();
    lines.sort();
    assert_eq!(lines, wanted);
    assert!(!all.more);

    let none = candidates(&found, &s.threads, |_, _, _, _| false, Limits::default());
    assert!(none.found.is_empty());
    let few =
        candidates(&found, &s.threads, |_, _, _, _| true, Limits { candidates: 2, ..Limits::default() });
    assert!(few.more && few.found.len() == 2);
    let short = candidates(&found, &s.threads, |_, _, _, _| true, Limits { longest: 2, ..Limits::default() });
    assert!(short.more && short.found.len() == all.found.len() - 1);
}

/// Every lock before every other: far more cycles than anyone wants.
#[test]
fn a_dense_graph_ends_with_more() {
    let threads = ThreadFacts {
        threads: IdVec::from_vec(vec![Thread {
            entry: FunctionId(0),
            start: Start::Main,
            many: true,
            creators: Vec::new(),
        }]),
        ..ThreadFacts::default()
    };
    let class = |n: u32| (ObjectId(n), Offsets::exact(0));
    let mut list = Vec::new();
    for from in 0..60 {
        for to in (0..60).filter(|to| *to != from) {
            list.push(Edge {
                held: class(from),
                acquired: class(to),
                held_mode: LockMode::Exclusive,
                acquired_mode: LockMode::Exclusive,
                site: SiteId(from * 60 + to),
                function: FunctionId(0),
                block: BlockId(0),
                index: 0,
                thread: ThreadId(0),
                held_term: Term::constant(i64::from(from)),
                acquired_term: Term::constant(i64::from(to)),
                gates: Vec::new(),
            });
        }
    }
    let found = candidates(&list, &threads, |_, _, _, _| true, Limits::default());
    assert!(found.more);
    assert_eq!(found.found.len(), Limits::default().candidates);
    assert_eq!(found, candidates(&list, &threads, |_, _, _, _| true, Limits::default()));
}
