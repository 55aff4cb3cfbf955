//! Two ways to search, one answer: random scripts without weak atomics and without try operations.

use raddle_explore::enumerate::{
    Coverage, Exploration, FoundProblem, Goal, Limits, RaceKey, StateCache, every_access, sync,
};
use raddle_testkit::script::{Profile, Script, ScriptMachine, Stuttering, c_text, generate, shrink};
use raddle_testkit::soak::{cases_of_seeds, seeds};
use std::collections::BTreeSet;

fn limits(goal: Goal, cache: StateCache) -> Limits<'static> {
    Limits { goal, cache, steps: 30_000, run_steps: 400, ..Limits::default() }
}

fn by_order(script: &Script, goal: Goal) -> Exploration {
    sync(&mut ScriptMachine::new(script), &limits(goal, StateCache::Off))
}

fn by_state(script: &Script, goal: Goal, cache: StateCache) -> Exploration {
    every_access(&mut ScriptMachine::new(script), &limits(goal, cache))
}

/// Whether the search decided if there is a race.
fn decided(exploration: &Exploration) -> bool {
    !exploration.races.is_empty() || exploration.coverage == Coverage::Complete
}

fn keys(exploration: &Exploration) -> BTreeSet<RaceKey> {
    exploration.races.iter().map(|race| race.key).collect()
}

fn problem_kinds(exploration: &Exploration) -> BTreeSet<Vec<(String, u32, u32)>> {
    let key = |found: &FoundProblem| {
        let mut key: Vec<_> = found
            .problems
            .iter()
            .map(|problem| (problem.kind.name().to_owned(), problem.site.0, problem.thread.0))
            .collect();
        key.sort();
        key
    };
    exploration.problems.iter().map(key).collect()
}

/// Runs the property on all seeds; a failure is shrunk and printed as C.
fn for_all(
    name: &str,
    seeds: std::ops::Range<u64>,
    profile: &Profile,
    check: impl Fn(&Script) -> Option<Result<(), String>>,
) {
    let mut cases = cases_of_seeds(name, seeds);
    let mut undecided = 0;
    for seed in cases.by_ref() {
        let script = generate(seed, profile);
        match check(&script) {
            None => undecided += 1,
            Some(Ok(())) => {}
            Some(Err(_)) => {
                let small = shrink(&script, |script| matches!(check(script), Some(Err(_))));
                let Some(Err(message)) = check(&small) else { unreachable!("shrinking keeps the failure") };
                panic!("{name}, seed {seed}: {message}\n{small:#?}\n{}", c_text(&small).text);
            }
        }
    }
    let total = cases.done();
    cases.too_large(undecided);
    println!("{name}: {total} scripts, {undecided} too large to decide");
    assert!(undecided * 5 <= total, "{undecided} of {total} scripts are too large to say anything");
}

#[test]
fn both_modes_agree_on_whether_there_is_a_race() {
    for_all("agreement", seeds(2_000, 120_000), &Profile::TINY, |script| {
        let order = by_order(script, Goal::FirstRace);
        let state = by_state(script, Goal::FirstRace, StateCache::Off);
        if !decided(&order) || !decided(&state) {
            return None;
        }
        Some(match (order.races.first(), state.races.first()) {
            (Some(race), None) => Err(format!("only happens-before shows {:?}", race.key)),
            (None, Some(race)) => Err(format!("only adjacent accesses show {:?}", race.key)),
            _ => Ok(()),
        })
    });
}

#[test]
fn both_modes_agree_on_larger_scripts_with_a_state_cache() {
    for_all("agreement, larger", seeds(600, 60_000), &Profile::SMALL, |script| {
        let order = by_order(script, Goal::FirstRace);
        let state = by_state(script, Goal::FirstRace, StateCache::Fingerprints);
        if !decided(&order) || !decided(&state) {
            return None;
        }
        Some(match (order.races.first(), state.races.first()) {
            (Some(race), None) => Err(format!("only happens-before shows {:?}", race.key)),
            (None, Some(race)) => Err(format!("only adjacent accesses show {:?}", race.key)),
            _ => Ok(()),
        })
    });
}

/// Two accesses that can be next to each other are unordered, whatever else the program does.
#[test]
fn adjacent_accesses_are_unordered_in_any_script() {
    for_all("adjacent is unordered", seeds(600, 60_000), &Profile::EVERYTHING, |script| {
        let state = by_state(script, Goal::FirstRace, StateCache::Fingerprints);
        let order = by_order(script, Goal::FirstRace);
        if !decided(&order) || !decided(&state) {
            return None;
        }
        Some(match (order.races.first(), state.races.first()) {
            (None, Some(race)) => Err(format!("only adjacent accesses show {:?}", race.key)),
            _ => Ok(()),
        })
    });
}

#[test]
fn a_state_cache_changes_no_answer() {
    for_all("state cache", seeds(800, 40_000), &Profile { tries: true, ..Profile::TINY }, |script| {
        let plain = by_state(script, Goal::AllRaces, StateCache::Off);
        let cached = by_state(script, Goal::AllRaces, StateCache::Fingerprints);
        if plain.coverage != Coverage::Complete || cached.coverage != Coverage::Complete {
            return None;
        }
        Some(if keys(&plain) != keys(&cached) {
            Err(format!("races {:?} without, {:?} with the cache", keys(&plain), keys(&cached)))
        } else if problem_kinds(&plain) != problem_kinds(&cached) {
            Err(format!("problems {:?}, {:?}", problem_kinds(&plain), problem_kinds(&cached)))
        } else {
            Ok(())
        })
    });
}

/// Threads that go round in circles may sleep: what can happen stays the same. A thread that never sleeps is in no livelock.
#[test]
fn sleeping_changes_no_answer() {
    for_all("sleep", seeds(1_500, 60_000), &Profile { tries: true, ..Profile::TINY }, |script| {
        let sleeps = by_state(script, Goal::AllRaces, StateCache::Fingerprints);
        let mut restless = ScriptMachine::new(script).stuttering(Stuttering::GoesOn);
        let limits = limits(Goal::AllRaces, StateCache::Fingerprints);
        let goes_on = every_access(&mut restless, &limits);
        if sleeps.coverage != Coverage::Complete || goes_on.coverage != Coverage::Complete {
            return None;
        }
        let moving = |exploration: &Exploration| {
            let mut kinds = problem_kinds(exploration);
            kinds.retain(|group| group.iter().all(|(kind, ..)| kind != "livelock"));
            kinds
        };
        Some(if keys(&sleeps) != keys(&goes_on) {
            Err(format!("races {:?} with sleep, {:?} without", keys(&sleeps), keys(&goes_on)))
        } else if moving(&sleeps) != moving(&goes_on) {
            Err(format!("problems {:?} with sleep, {:?} without", moving(&sleeps), moving(&goes_on)))
        } else {
            Ok(())
        })
    });
}

#[test]
fn the_listing_of_all_races_has_every_adjacent_pair() {
    for_all("all races", seeds(800, 40_000), &Profile { tries: true, ..Profile::TINY }, |script| {
        let order = by_order(script, Goal::AllRaces);
        let state = by_state(script, Goal::AllRaces, StateCache::Off);
        if order.coverage != Coverage::Complete || state.coverage != Coverage::Complete {
            return None;
        }
        let missing: Vec<RaceKey> = keys(&state).difference(&keys(&order)).copied().collect();
        Some(if !missing.is_empty() {
            Err(format!("not listed: {missing:?}"))
        } else if problem_kinds(&order) != problem_kinds(&state) {
            Err(format!("problems {:?}, {:?}", problem_kinds(&order), problem_kinds(&state)))
        } else {
            Ok(())
        })
    });
}
