//! Runs by chance find only what the enumerator finds, the same things for the same seed, and the plain cases for certain.

mod compared;
mod same;

use compared::{enumerated, for_all, keys, limits, seeds};
use raddle_explore::enumerate::{Coverage, Exploration, Gap, Goal};
use raddle_explore::random::{Plan, Strategy, random};
use raddle_finding::Deadlocks;
use raddle_machine::Visibility;
use raddle_testkit::script::{
    Act, How, LockKind, Mode, Place, Profile, Script, ScriptMachine, Stmt, Value, generate,
};
use same::problems;

const STRATEGIES: [Strategy; 3] = [Strategy::Walk, Strategy::Pct { depth: 1 }, Strategy::Pct { depth: 3 }];

fn sampled(script: &Script, goal: Goal, strategy: Strategy, seed: u64, runs: u64) -> Exploration {
    let plan = Plan { strategy, seed, runs };
    random(&mut ScriptMachine::new(script), &limits(goal), Visibility::SyncOnly, plan)
}

#[test]
fn what_is_found_is_real() {
    let profile = Profile { tries: true, weak_atomics: true, ..Profile::TINY };
    let generate = |seed| generate(seed, &profile);
    for_all("random", seeds(300, 20_000), generate, |script| {
        let all = enumerated(script, Goal::AllRaces);
        if all.coverage == Coverage::Partial {
            return None;
        }
        for strategy in STRATEGIES {
            let some = sampled(script, Goal::AllRaces, strategy, 7, 12);
            if !keys(&some).is_subset(&keys(&all)) {
                return Some(Err(format!("{strategy:?}: {:?}, not among {:?}", keys(&some), keys(&all))));
            }
            if !problems(&some).is_subset(&problems(&all)) {
                return Some(Err(format!("{strategy:?}: {:?}", problems(&some))));
            }
            if some.coverage != Coverage::Partial || !some.unknown_reasons.contains(&Gap::Sample) {
                return Some(Err(format!("{strategy:?}: {:?}", some.coverage)));
            }
            if some != sampled(script, Goal::AllRaces, strategy, 7, 12) {
                return Some(Err(format!("{strategy:?}: the same seed gave something else")));
            }
        }
        Some(Ok(()))
    });
}

const X: Place = Place { var: 0, offset: 0, size: 4 };

fn write() -> Stmt {
    Stmt::Act(Act::Write { place: X, value: Value::Const(1) })
}

fn lock(lock: u8) -> Stmt {
    Stmt::Act(Act::Lock { lock, mode: Mode::Exclusive, how: How::Block, result: 3 })
}

fn unlock(lock: u8) -> Stmt {
    Stmt::Act(Act::Unlock { lock })
}

fn two_threads(first: Vec<Stmt>, second: Vec<Stmt>) -> Script {
    let main = [1, 2].map(|thread| Stmt::Act(Act::Create { thread })).into_iter();
    let main = main.chain([1, 2].map(|thread| Stmt::Act(Act::Join { thread }))).collect();
    Script {
        vars: 1,
        locks: vec![LockKind::Mutex, LockKind::Mutex],
        threads: vec![main, first, second],
        ..Script::default()
    }
}

#[test]
fn plain_races_are_found_in_the_first_run() {
    for strategy in STRATEGIES {
        let found = sampled(&two_threads(vec![write()], vec![write()]), Goal::FirstRace, strategy, 1, 1);
        assert_eq!((found.races.len(), found.coverage), (1, Coverage::StoppedAtRace), "{strategy:?}");
    }
}

/// A race that is seen only when one thread takes the lock before the other: x is written before the one section and after the other.
#[test]
fn a_race_that_needs_an_order_is_found_in_some_runs() {
    let script = two_threads(vec![write(), lock(0), unlock(0)], vec![lock(0), unlock(0), write()]);
    for strategy in STRATEGIES {
        let found = sampled(&script, Goal::FirstRace, strategy, 1, 40);
        assert_eq!(found.coverage, Coverage::StoppedAtRace, "{strategy:?}");
    }
    let once = |seed| sampled(&script, Goal::FirstRace, Strategy::Pct { depth: 1 }, seed, 1).races.len();
    let of_hundred: usize = (0..100).map(once).sum();
    assert!((25..75).contains(&of_hundred), "{of_hundred} of 100 runs with random priorities");
}

/// Opposite orders of two locks: a deadlock takes one change of priority in the right place.
#[test]
fn a_deadlock_is_found_with_a_change_of_priority() {
    let section = |a, b| vec![lock(a), lock(b), unlock(b), unlock(a)];
    let script = two_threads(section(0, 1), section(1, 0));
    let with = |depth| sampled(&script, Goal::FirstRace, Strategy::Pct { depth }, 3, 200).deadlocks;
    assert_eq!((with(1), with(2)), (Deadlocks::Unknown, Deadlocks::Found));
}

#[test]
fn no_runs_say_nothing() {
    let nothing = sampled(&two_threads(vec![write()], vec![write()]), Goal::AllRaces, Strategy::Walk, 1, 0);
    assert_eq!((nothing.coverage, nothing.races.len(), nothing.runs.executions), (Coverage::Partial, 0, 0));
}
