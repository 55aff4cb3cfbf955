//! The reduced searches find what the enumerator finds.

mod compared;
mod dense;

use compared::{enumerated, for_all, keys, limits, seeds};
use raddle_event::{Problem, ProblemKind};
use raddle_explore::dpor::{Reduced, baseline, optimal};
use raddle_explore::enumerate::{Coverage, Exploration, FoundProblem, Goal, Limits};
use raddle_machine::Visibility;
use raddle_testkit::script::{Profile, Script, ScriptMachine, generate};
use std::collections::BTreeSet;

/// Where in its loop a thread falls asleep depends on when others moved meanwhile: for a livelock only the threads count.
fn problems(exploration: &Exploration) -> BTreeSet<Vec<(String, u32)>> {
    let key = |found: &FoundProblem| {
        let place = |problem: &Problem| match problem.kind {
            ProblemKind::Livelock => problem.thread.0,
            _ => problem.site.0,
        };
        let mut key: Vec<_> =
            found.problems.iter().map(|problem| (problem.kind.name().to_owned(), place(problem))).collect();
        key.sort();
        key
    };
    exploration.problems.iter().map(key).collect()
}

type Search = fn(&mut ScriptMachine, &Limits, Visibility) -> Reduced;

/// The same answer to whether there is a race; when there is none, the same problems.
fn decides_the_same(script: &Script, search: Search) -> Option<Result<(), String>> {
    let all = enumerated(script, Goal::FirstRace);
    let reduced =
        search(&mut ScriptMachine::new(script), &limits(Goal::FirstRace), Visibility::SyncOnly).exploration;
    if all.coverage == Coverage::Partial {
        return None;
    }
    Some(if reduced.races.is_empty() != all.races.is_empty() {
        Err(format!("races {:?} enumerated, {:?} reduced", keys(&all), keys(&reduced)))
    } else if reduced.coverage != all.coverage {
        Err(format!("coverage {:?} enumerated, {:?} reduced", all.coverage, reduced.coverage))
    } else if all.races.is_empty() && problems(&all) != problems(&reduced) {
        Err(format!("problems {:?} enumerated, {:?} reduced", problems(&all), problems(&reduced)))
    } else {
        Ok(())
    })
}

/// The same races, all of them, and the same problems.
fn lists_the_same(script: &Script, search: Search) -> Option<Result<(), String>> {
    let all = enumerated(script, Goal::AllRaces);
    if all.coverage == Coverage::Partial {
        return None;
    }
    let reduced =
        search(&mut ScriptMachine::new(script), &limits(Goal::AllRaces), Visibility::SyncOnly).exploration;
    Some(if keys(&all) != keys(&reduced) {
        Err(format!("races {:?} enumerated, {:?} reduced", keys(&all), keys(&reduced)))
    } else if reduced.coverage != all.coverage || reduced.deadlocks != all.deadlocks {
        Err(format!("coverage {:?} enumerated, {:?} reduced", all.coverage, reduced.coverage))
    } else if problems(&all) != problems(&reduced) {
        Err(format!("problems {:?} enumerated, {:?} reduced", problems(&all), problems(&reduced)))
    } else {
        Ok(())
    })
}

const LISTING: Profile = Profile { tries: true, weak_atomics: true, ..Profile::TINY };

#[test]
fn baseline_decides_like_the_enumerator() {
    let generate = |seed| generate(seed, &Profile::EVERYTHING);
    for_all("baseline", seeds(400, 60_000), generate, |s| decides_the_same(s, baseline));
}

#[test]
fn baseline_lists_like_the_enumerator() {
    let generate = |seed| generate(seed, &LISTING);
    for_all("baseline, all races", seeds(400, 60_000), generate, |s| lists_the_same(s, baseline));
}

#[test]
fn baseline_lists_like_the_enumerator_on_dense_scripts() {
    for_all("baseline, dense", seeds(120, 40_000), dense::dense_with_loops, |s| lists_the_same(s, baseline));
}

#[test]
fn optimal_decides_like_the_enumerator() {
    let generate = |seed| generate(seed, &Profile::EVERYTHING);
    for_all("optimal", seeds(400, 120_000), generate, |s| decides_the_same(s, optimal));
}

#[test]
fn optimal_lists_like_the_enumerator() {
    let generate = |seed| generate(seed, &LISTING);
    for_all("optimal, all races", seeds(400, 120_000), generate, |s| lists_the_same(s, optimal));
}

#[test]
fn optimal_lists_like_the_enumerator_on_dense_scripts() {
    for_all("optimal, dense", seeds(120, 40_000), dense::dense_with_loops, |s| lists_the_same(s, optimal));
}
