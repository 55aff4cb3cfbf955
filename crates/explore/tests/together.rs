//! Several machines that share the work of a search find what one finds, in as many runs.

mod compared;
mod dense;
mod same;

use compared::{for_all, keys, limits, seeds};
use raddle_explore::dpor::{Reduced, optimal, optimal_together};
use raddle_explore::enumerate::{Coverage, Exploration, Goal, Limits};
use raddle_machine::Visibility;
use raddle_testkit::script::{Profile, Script, ScriptMachine, generate};
use same::{decides_the_same, lists_the_same, problems};

fn together(machine: &ScriptMachine, limits: &Limits, visibility: Visibility) -> Reduced {
    let mut machines = [(); 3].map(|()| machine.clone());
    optimal_together(&mut machines.each_mut(), limits, visibility)
}

fn by_three(machine: &mut ScriptMachine, limits: &Limits) -> Exploration {
    together(machine, limits, Visibility::SyncOnly).exploration
}

const LISTING: Profile = Profile { tries: true, weak_atomics: true, ..Profile::TINY };

#[test]
fn three_decide_like_the_enumerator() {
    let generate = |seed| generate(seed, &Profile::EVERYTHING);
    for_all("together", seeds(300, 60_000), generate, |s| decides_the_same(s, by_three));
}

#[test]
fn three_list_like_the_enumerator() {
    let generate = |seed| generate(seed, &LISTING);
    for_all("together, all races", seeds(300, 60_000), generate, |s| lists_the_same(s, by_three));
}

/// Every class is explored by one of them and once, as if one had done it all. All accesses are visible, so that one pass finds all.
/// With threads that may go round in circles classes are finer than need be, and how fine depends on the order of the runs.
#[test]
fn three_explore_every_class_once() {
    let same = |script: &Script| {
        let limits = limits(Goal::AllRaces);
        let one = optimal(&mut ScriptMachine::new(script), &limits, Visibility::EveryAccess);
        if one.exploration.coverage != Coverage::Complete {
            return None;
        }
        let three = together(&ScriptMachine::new(script), &limits, Visibility::EveryAccess);
        let found = |reduced: &Reduced| {
            let exploration = &reduced.exploration;
            let exact = !ScriptMachine::new(script).has_endless_loops();
            (
                exact.then_some(exploration.runs),
                reduced.blocked,
                keys(exploration),
                problems(exploration),
                exploration.coverage,
            )
        };
        let (one, three) = (found(&one), found(&three));
        Some(if one == three { Ok(()) } else { Err(format!("alone {one:?}, together {three:?}")) })
    };
    for_all("together, counts", seeds(600, 60_000), |seed| generate(seed, &Profile::TINY), same);
    for_all("together, counts, dense", seeds(60, 20_000), dense::dense_with_loops, same);
}

/// A limit holds for all of them together.
#[test]
fn limits_are_shared() {
    let script = (0..)
        .map(|seed| generate(seed, &Profile::EVERYTHING))
        .find(|script| {
            let one =
                optimal(&mut ScriptMachine::new(script), &limits(Goal::FirstRace), Visibility::SyncOnly);
            one.exploration.coverage == Coverage::Complete && one.exploration.runs.executions > 200
        })
        .expect("some script has many runs");
    let few = Limits { executions: 50, ..limits(Goal::FirstRace) };
    let three = together(&ScriptMachine::new(&script), &few, Visibility::SyncOnly).exploration;
    assert_eq!(three.coverage, Coverage::Partial);
    // Each may be in the middle of one when the limit is met.
    assert!((50..53).contains(&three.runs.executions), "{:?}", three.runs);
}
