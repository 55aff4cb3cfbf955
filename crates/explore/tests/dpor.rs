//! The reduced searches find what the enumerator finds.

mod compared;
mod dense;
mod same;

use compared::{for_all, keys, limits, seeds};
use raddle_base::{LoadOrder, StoreOrder};
use raddle_explore::dpor::{baseline, optimal};
use raddle_explore::enumerate::{Coverage, Exploration, Goal, Limits};
use raddle_finding::Deadlocks;
use raddle_machine::Visibility;
use raddle_testkit::script::{
    Act, Cond, How, LockKind, Mode, Place, Profile, Script, ScriptMachine, Stmt, Value, generate,
};
use same::{decides_the_same, lists_the_same};

fn by_baseline(machine: &mut ScriptMachine, limits: &Limits) -> Exploration {
    baseline(machine, limits, Visibility::SyncOnly).exploration
}

fn by_optimal(machine: &mut ScriptMachine, limits: &Limits) -> Exploration {
    optimal(machine, limits, Visibility::SyncOnly).exploration
}

const LISTING: Profile = Profile { tries: true, weak_atomics: true, ..Profile::TINY };

#[test]
fn baseline_decides_like_the_enumerator() {
    let generate = |seed| generate(seed, &Profile::EVERYTHING);
    for_all("baseline", seeds(400, 60_000), generate, |s| decides_the_same(s, by_baseline));
}

#[test]
fn baseline_lists_like_the_enumerator() {
    let generate = |seed| generate(seed, &LISTING);
    for_all("baseline, all races", seeds(400, 60_000), generate, |s| lists_the_same(s, by_baseline));
}

#[test]
fn baseline_lists_like_the_enumerator_on_dense_scripts() {
    for_all("baseline, dense", seeds(120, 40_000), dense::dense_with_loops, |s| {
        lists_the_same(s, by_baseline)
    });
}

#[test]
fn optimal_decides_like_the_enumerator() {
    let generate = |seed| generate(seed, &Profile::EVERYTHING);
    for_all("optimal", seeds(400, 120_000), generate, |s| decides_the_same(s, by_optimal));
}

#[test]
fn optimal_lists_like_the_enumerator() {
    let generate = |seed| generate(seed, &LISTING);
    for_all("optimal, all races", seeds(400, 120_000), generate, |s| lists_the_same(s, by_optimal));
}

#[test]
fn optimal_lists_like_the_enumerator_on_dense_scripts() {
    for_all("optimal, dense", seeds(120, 40_000), dense::dense_with_loops, |s| lists_the_same(s, by_optimal));
}

/// Where threads go round in circles the enumerator seldom comes to an end; the two searches reverse in different ways.
fn both_list_the_same(script: &Script) -> Option<Result<(), String>> {
    let limits = limits(Goal::AllRaces);
    let [a, b] = [by_baseline, by_optimal].map(|search| search(&mut ScriptMachine::new(script), &limits));
    if a.coverage == Coverage::Partial || b.coverage == Coverage::Partial {
        return None;
    }
    Some(if keys(&a) != keys(&b) {
        Err(format!("races {:?} by the baseline, {:?} by the optimal search", keys(&a), keys(&b)))
    } else if a.deadlocks != b.deadlocks {
        Err(format!("deadlocks {:?} by the baseline, {:?} by the optimal search", a.deadlocks, b.deadlocks))
    } else {
        Ok(())
    })
}

#[test]
fn both_list_the_same_on_dense_scripts() {
    for_all("both, dense", seeds(300, 60_000), dense::dense_with_loops, both_list_the_same);
}

/// The second thread goes round in circles. When the third one's look is to come before the store, the second one sleeps where it went on behind the store,
/// and its further rounds must be left out of what comes before.
#[test]
fn a_look_that_comes_before_what_ends_a_circle() {
    let place = |var| Place { var, offset: 0, size: 8 };
    let look = |var| Stmt::Act(Act::AtomicLoad { to: 0, place: place(var), order: LoadOrder::SeqCst });
    let store = Act::AtomicStore { place: place(0), value: Value::Const(1), order: StoreOrder::SeqCst };
    let lock = Act::Lock { lock: 0, mode: Mode::Exclusive, how: How::Block, result: 1 };
    let circle = vec![Stmt::Act(lock), look(0), Stmt::Act(Act::Unlock { lock: 0 })];
    let waits = vec![look(0), Stmt::BreakIf(Cond::IsNot(0, 0)), look(1)];
    let main = (1..=3).map(|thread| Stmt::Act(Act::Create { thread })).chain([Stmt::Act(store)]);
    let main = main.chain([Stmt::Act(Act::Join { thread: 1 })]);
    let script = Script {
        vars: 2,
        locks: vec![LockKind::Mutex],
        threads: vec![
            main.collect(),
            vec![Stmt::Forever { body: circle }],
            vec![Stmt::Forever { body: waits }],
            vec![Stmt::Act(Act::Write { place: place(1), value: Value::Const(1) })],
        ],
        ..Script::default()
    };
    for search in [by_baseline, by_optimal] {
        let found = search(&mut ScriptMachine::new(&script), &limits(Goal::AllRaces));
        assert_eq!((found.coverage, found.races.len()), (Coverage::Complete, 1));
    }
}

/// Five arrivals at a barrier for two: main is left alone if the third thread is in both rounds before it. That departure needs its own round only.
#[test]
fn a_barrier_that_main_comes_to_last() {
    let arrive = || Stmt::Act(Act::Barrier { barrier: 0 });
    let main = (1..=3).map(|thread| Stmt::Act(Act::Create { thread })).chain([arrive()]).collect();
    let threads = vec![main, vec![arrive()], vec![arrive()], vec![arrive(), arrive()]];
    let script = Script { barriers: vec![2], threads, ..Script::default() };
    for search in [by_baseline, by_optimal] {
        let found = search(&mut ScriptMachine::new(&script), &limits(Goal::AllRaces));
        assert_eq!(found.deadlocks, Deadlocks::Found);
    }
}
