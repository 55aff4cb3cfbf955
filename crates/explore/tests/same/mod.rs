//! Whether a search finds what the enumerator finds on a script.

#![allow(dead_code, reason = "not every test file uses all of it")]

use crate::compared::{enumerated, keys, limits};
use raddle_event::{Problem, ProblemKind};
use raddle_explore::enumerate::{Coverage, Exploration, FoundProblem, Goal, Limits};
use raddle_testkit::script::{Script, ScriptMachine};
use std::collections::BTreeSet;

pub type Search = fn(&mut ScriptMachine, &Limits) -> Exploration;

/// Where in its loop a thread falls asleep depends on when others moved meanwhile: for a livelock only the threads count.
pub fn problems(exploration: &Exploration) -> BTreeSet<Vec<(String, u32)>> {
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

/// The same answer to whether there is a race; when there is none, the same problems.
pub fn decides_the_same(script: &Script, search: Search) -> Option<Result<(), String>> {
    let all = enumerated(script, Goal::FirstRace);
    if all.coverage == Coverage::Partial {
        return None;
    }
    let other = search(&mut ScriptMachine::new(script), &limits(Goal::FirstRace));
    Some(if other.races.is_empty() != all.races.is_empty() {
        Err(format!("races {:?} enumerated, {:?} searched", keys(&all), keys(&other)))
    } else if other.coverage != all.coverage {
        Err(format!("coverage {:?} enumerated, {:?} searched", all.coverage, other.coverage))
    } else if all.races.is_empty() && problems(&all) != problems(&other) {
        Err(format!("problems {:?} enumerated, {:?} searched", problems(&all), problems(&other)))
    } else {
        Ok(())
    })
}

/// The same races, all of them, and the same problems.
pub fn lists_the_same(script: &Script, search: Search) -> Option<Result<(), String>> {
    let all = enumerated(script, Goal::AllRaces);
    if all.coverage == Coverage::Partial {
        return None;
    }
    let other = search(&mut ScriptMachine::new(script), &limits(Goal::AllRaces));
    Some(if keys(&all) != keys(&other) {
        Err(format!("races {:?} enumerated, {:?} searched", keys(&all), keys(&other)))
    } else if other.coverage != all.coverage || other.deadlocks != all.deadlocks {
        Err(format!("coverage {:?} enumerated, {:?} searched", all.coverage, other.coverage))
    } else if problems(&all) != problems(&other) {
        Err(format!("problems {:?} enumerated, {:?} searched", problems(&all), problems(&other)))
    } else {
        Ok(())
    })
}
