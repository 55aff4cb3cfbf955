//! All runs of a small program, by going back to checkpoints.

use crate::load::machine;
use raddle_event::Choice;
use raddle_interp::Interp;
use raddle_machine::{IgnoreEvents, Machine, Status};
use std::collections::BTreeSet;

/// How runs can end, as text: status, output, kinds of problems.
pub fn ends(source: &str) -> BTreeSet<String> {
    ends_of(&mut machine(source))
}

pub fn ends_of(interp: &mut Interp) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut runs = 0;
    explore(interp, &mut found, &mut runs);
    found
}

/// Runs that do not count (`Infeasible`) leave no trace.
fn explore(interp: &mut Interp, found: &mut BTreeSet<String>, runs: &mut u32) {
    let mut choices = Vec::new();
    interp.enabled(&mut choices);
    assert_eq!(choices.is_empty(), interp.status() != Status::Running);
    if choices.is_empty() {
        *runs += 1;
        assert!(*runs < 200_000, "too many runs for a test");
        if interp.status() != Status::Infeasible {
            found.insert(end(interp));
        }
        return;
    }
    if let [only] = choices[..] {
        interp.step(only, &mut IgnoreEvents);
        return explore(interp, found, runs);
    }
    let checkpoint = interp.checkpoint();
    for choice in choices {
        interp.step(choice, &mut IgnoreEvents);
        explore(interp, found, runs);
        interp.restore(&checkpoint);
    }
    interp.discard(checkpoint);
}

pub fn end(interp: &Interp) -> String {
    let status = match interp.status() {
        Status::Exited(code) => format!("exit {code}"),
        Status::Unsupported { reason, .. } => format!("unsupported: {reason}"),
        Status::Limit { reason } => format!("limit: {reason}"),
        other => format!("{other:?}").to_lowercase(),
    };
    let output = String::from_utf8_lossy(interp.output()).trim().replace('\n', "|");
    let mut problems: Vec<&str> = interp.problems().iter().map(|problem| problem.kind.name()).collect();
    problems.dedup();
    [vec![status, output], problems.iter().map(|kind| format!("[{kind}]")).collect()]
        .concat()
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The end of the run that always takes the first choice.
pub fn first_run(interp: &mut Interp) -> String {
    let mut choices = Vec::new();
    while interp.status() == Status::Running {
        interp.enabled(&mut choices);
        interp.step(choices[0], &mut IgnoreEvents);
    }
    end(interp)
}

/// A run with choices from a simple random source.
pub fn random_choice(choices: &[Choice], state: &mut u64) -> Choice {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    choices[(*state >> 33) as usize % choices.len()]
}

#[track_caller]
pub fn check(source: &str, expected: &[&str]) {
    let expected: BTreeSet<String> = expected.iter().map(|&text| text.to_owned()).collect();
    assert_eq!(ends(source), expected);
}
