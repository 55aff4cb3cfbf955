//! Whether a search finds what the enumerator finds on a script.

#![allow(dead_code, reason = "not every test file uses all of it")]

use crate::compared::{enumerated, keys, limits};
use raddle_event::{Problem, ProblemKind};
use raddle_explore::enumerate::{Coverage, Exploration, FoundProblem, Goal, Limits};
use raddle_finding::Deadlocks;
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
    both(script, Goal::FirstRace, search).map(|(all, other)| same_decision(&all, &other))
}

/// The same races, all of them, and the same problems.
pub fn lists_the_same(script: &Script, search: Search) -> Option<Result<(), String>> {
    both(script, Goal::AllRaces, search).map(|(all, other)| same_list(&all, &other))
}

/// What the enumerator and the search say; `None` when the enumerator reaches its limit.
pub fn both(script: &Script, goal: Goal, search: Search) -> Option<(Exploration, Exploration)> {
    let all = enumerated(script, goal);
    if all.coverage == Coverage::Partial {
        return None;
    }
    Some((all, search(&mut ScriptMachine::new(script), &limits(goal))))
}

pub fn same_decision(all: &Exploration, other: &Exploration) -> Result<(), String> {
    if other.races.is_empty() != all.races.is_empty() {
        Err(format!("races {:?} enumerated, {:?} searched", keys(all), keys(other)))
    } else if other.coverage != all.coverage {
        Err(format!("coverage {:?} enumerated, {:?} searched", all.coverage, other.coverage))
    } else if all.races.is_empty() && problems(all) != problems(other) {
        Err(format!("problems {:?} enumerated, {:?} searched", problems(all), problems(other)))
    } else {
        Ok(())
    }
}

pub fn same_list(all: &Exploration, other: &Exploration) -> Result<(), String> {
    if keys(all) != keys(other) {
        Err(format!("races {:?} enumerated, {:?} searched", keys(all), keys(other)))
    } else if other.coverage != all.coverage || other.deadlocks != all.deadlocks {
        Err(format!("coverage {:?} enumerated, {:?} searched", all.coverage, other.coverage))
    } else if problems(all) != problems(other) {
        Err(format!("problems {:?} enumerated, {:?} searched", problems(all), problems(other)))
    } else {
        Ok(())
    }
}

/// What a search says that has reached its limit: that it has, and no race or absence of deadlocks that it cannot know.
pub fn claims_nothing_more(all: &Exploration, cut_off: &Exploration) -> Result<(), String> {
    let (coverage, deadlocks) = (cut_off.coverage, cut_off.deadlocks);
    if coverage != Coverage::Partial || deadlocks == Deadlocks::None {
        Err(format!("at its limit, but coverage {coverage:?}, deadlocks {deadlocks:?}"))
    } else if !keys(cut_off).is_subset(&keys(all)) {
        Err(format!("races {:?} enumerated, {:?} searched up to a limit", keys(all), keys(cut_off)))
    } else {
        Ok(())
    }
}
