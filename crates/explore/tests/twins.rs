//! Identical threads: a search up to symmetry gives the answers of the enumerator in fewer runs.

mod compared;
mod dense;
mod same;

use compared::{enumerated, for_all, keys, limits, seeds};
use raddle_base::{RmwOrder, StoreOrder};
use raddle_explore::dpor::{optimal, up_to_symmetry};
use raddle_explore::enumerate::{Coverage, Exploration, Goal, sync};
use raddle_machine::Visibility;
use raddle_testkit::random::Random;
use raddle_testkit::script::{
    Act, Block, Cond, How, LockKind, Mode, Place, Profile, RmwKind, Script, ScriptMachine, Stmt, Value,
    generate,
};
use std::cell::Cell;
use std::collections::BTreeSet;

/// Scripts whose main creates some thread several times, mostly one right after the other, and seldom joins one of them.
fn twins(seed: u64) -> Script {
    let mut random = Random::new(seed ^ 0x7713_5000);
    let mut script = match seed % 3 {
        0 => generate(
            seed / 3,
            &Profile { tries: true, weak_atomics: true, nested_threads: false, ..Profile::TINY },
        ),
        1 => dense::dense(seed / 3),
        _ => dense::dense_with_loops(seed / 3),
    };
    let body = 1 + random.below(script.threads.len() - 1) as u8;
    let count = if random.below(4) == 0 { 3 } else { 2 };
    let joined = random.below(6) == 0;
    let apart = random.below(6) == 0;
    let between = Stmt::Act(Act::Write { place: X, value: Value::Const(1) });
    let mut main = Block::new();
    for statement in &script.threads[0] {
        match statement {
            Stmt::Act(Act::Create { thread }) if *thread == body => {
                for at in 0..count {
                    if apart && at > 0 && script.vars > 0 {
                        main.push(between.clone());
                    }
                    main.push(statement.clone());
                }
            }
            Stmt::Act(Act::Join { thread } | Act::Detach { thread }) if *thread == body && !joined => {}
            other => main.push(other.clone()),
        }
    }
    // Mostly main ends like any other thread, and cuts nobody off.
    if random.below(4) > 0 {
        main.push(Stmt::Act(Act::Return));
    }
    script.threads[0] = main;
    script
}

const X: Place = Place { var: 0, offset: 0, size: 1 };

fn kinds(exploration: &Exploration) -> BTreeSet<String> {
    exploration.problems.iter().map(|found| found.problems[0].kind.name().to_owned()).collect()
}

#[test]
fn it_decides_like_the_enumerator() {
    let (fewer, as_many) = (Cell::new(0), Cell::new(0));
    for_all("twins", seeds(200, 100_000), twins, |script| {
        let all = enumerated(script, Goal::FirstRace);
        let one = optimal(&mut ScriptMachine::new(script), &limits(Goal::FirstRace), Visibility::SyncOnly);
        if all.coverage == Coverage::Partial || one.exploration.coverage == Coverage::Partial {
            return None;
        }
        let reduced =
            up_to_symmetry(&mut ScriptMachine::new(script), &limits(Goal::FirstRace), Visibility::SyncOnly);
        let other = &reduced.exploration;
        let less = other.runs.executions < one.exploration.runs.executions;
        let count = if less { &fewer } else { &as_many };
        count.set(count.get() + 1);
        Some(if (other.races.is_empty(), other.coverage) != (all.races.is_empty(), all.coverage) {
            Err(format!(
                "{:?} {:?} enumerated, {:?} {:?} searched",
                all.coverage,
                keys(&all),
                other.coverage,
                keys(other)
            ))
        } else if all.races.is_empty() && (all.deadlocks, kinds(&all)) != (other.deadlocks, kinds(other)) {
            Err(format!(
                "{:?} {:?}, searched {:?} {:?}",
                all.deadlocks,
                kinds(&all),
                other.deadlocks,
                kinds(other)
            ))
        } else if other.passes == 1 && other.runs.executions > one.exploration.runs.executions {
            Err(format!("{:?} without, {:?} with symmetry", one.exploration.runs, other.runs))
        } else {
            Ok(())
        })
    });
    println!("fewer runs with symmetry: {}, not fewer: {}", fewer.get(), as_many.get());
    assert!(fewer.get() * 8 > as_many.get(), "{} against {}", fewer.get(), as_many.get());
}

/// The enumeration is mostly too large here, but the optimal search has been compared with it.
#[test]
fn it_lists_like_the_search_without_symmetry() {
    for_all("twins, all races", seeds(300, 100_000), twins, |script| {
        let limits = limits(Goal::AllRaces);
        let all = optimal(&mut ScriptMachine::new(script), &limits, Visibility::SyncOnly).exploration;
        if all.coverage == Coverage::Partial {
            return None;
        }
        let other =
            up_to_symmetry(&mut ScriptMachine::new(script), &limits, Visibility::SyncOnly).exploration;
        let found = |exploration: &Exploration| {
            (keys(exploration), kinds(exploration), exploration.deadlocks, exploration.coverage)
        };
        let (all, other) = (found(&all), found(&other));
        Some(if all == other { Ok(()) } else { Err(format!("{all:?} without, {other:?} with symmetry")) })
    });
}

/// Threads that learn which one they are in the order, and then do different things; main does something between their creations.
fn elections(seed: u64) -> Script {
    let mut random = Random::new(seed ^ 0xe1ec_7104);
    let places = [1, 2].map(|var| Place { var, ..X });
    let touch = |random: &mut Random| {
        let place = random.pick(&places);
        let touch = match random.below(3) {
            0 => Act::Read { to: 1, place },
            1 => Act::Write { place, value: Value::Const(1) },
            _ => Act::AtomicStore { place, value: Value::Const(1), order: StoreOrder::Release },
        };
        act(touch)
    };
    let body = |random: &mut Random| {
        let order = random.pick(&[RmwOrder::Relaxed, RmwOrder::AcqRel]);
        let election = Act::AtomicRmw { to: 0, place: X, kind: RmwKind::Add, value: Value::Const(1), order };
        let turn = random.below(3) as u8;
        let (then, otherwise) =
            (vec![touch(random)], if random.chance(30) { vec![touch(random)] } else { Vec::new() });
        vec![act(election), Stmt::If { cond: Cond::Is(0, turn), then, otherwise }]
    };
    let bodies = [body(&mut random), body(&mut random)];
    let mut main = Block::new();
    for at in 0..random.between(2, 3) {
        if random.chance(25) {
            main.push(touch(&mut random));
        }
        let thread = if at == 2 && random.chance(50) { 2 } else { 1 };
        main.push(act(Act::Create { thread }));
    }
    if random.chance(40) {
        main.push(touch(&mut random));
    }
    if random.chance(20) {
        main.push(act(Act::Join { thread: 1 }));
        main.push(touch(&mut random));
    }
    main.push(act(Act::Return));
    Script { vars: 3, threads: std::iter::once(main).chain(bodies).collect(), ..Script::default() }
}

#[test]
fn it_decides_elections_like_the_enumerator() {
    for_all("elections", seeds(500, 100_000), elections, |script| {
        let all = enumerated(script, Goal::AllRaces);
        if all.coverage == Coverage::Partial {
            return None;
        }
        let other =
            up_to_symmetry(&mut ScriptMachine::new(script), &limits(Goal::AllRaces), Visibility::SyncOnly)
                .exploration;
        let found =
            |exploration: &Exploration| (keys(exploration), exploration.deadlocks, exploration.coverage);
        let (all, other) = (found(&all), found(&other));
        Some(if all == other { Ok(()) } else { Err(format!("{all:?} enumerated, {other:?} searched")) })
    });
}

fn act(act: Act) -> Stmt {
    Stmt::Act(act)
}

fn section(inside: Vec<Stmt>) -> Block {
    let lock = act(Act::Lock { lock: 0, mode: Mode::Exclusive, how: How::Block, result: 3 });
    std::iter::once(lock).chain(inside).chain([act(Act::Unlock { lock: 0 })]).collect()
}

fn creating(bodies: &[u8], threads: Vec<Block>) -> Script {
    let creations = bodies.iter().map(|body| act(Act::Create { thread: *body }));
    let main = creations.chain([act(Act::Return)]).collect();
    let locks = vec![LockKind::Mutex];
    Script { vars: 1, locks, threads: std::iter::once(main).chain(threads).collect(), ..Script::default() }
}

fn runs(script: &Script) -> (u64, u64) {
    let limits = limits(Goal::FirstRace);
    let all = optimal(&mut ScriptMachine::new(script), &limits, Visibility::SyncOnly);
    let some = up_to_symmetry(&mut ScriptMachine::new(script), &limits, Visibility::SyncOnly);
    assert_eq!((all.blocked, some.blocked), (0, 0));
    assert_eq!(some.exploration.coverage, Coverage::Complete);
    (all.exploration.runs.executions, some.exploration.runs.executions)
}

#[test]
fn lockers_come_in_one_order() {
    let add = act(Act::Write { place: X, value: Value::Const(1) });
    assert_eq!(runs(&creating(&[1, 1, 1, 1], vec![section(vec![add.clone()])])), (24, 1));
    // Two kinds: which of the places in the order have which.
    let read = act(Act::Read { to: 0, place: X });
    let both = vec![section(vec![add]), section(vec![read])];
    assert_eq!(runs(&creating(&[1, 1, 2, 2], both.clone())), (24, 6));
    assert_eq!(runs(&creating(&[1, 2, 1, 2], both)), (24, 6));
}

/// What main writes between two creations comes before what the second of them does, and not before what the first one does. The
/// thread that comes second reads it, and nothing orders it behind the one that comes first.
#[test]
fn an_access_between_the_creations_tells_them_apart() {
    let y = Place { var: 1, ..X };
    let value = Value::Const(1);
    let body = vec![
        act(Act::AtomicRmw { to: 0, place: X, kind: RmwKind::Add, value, order: RmwOrder::Relaxed }),
        Stmt::If {
            cond: Cond::Is(0, 1),
            then: vec![act(Act::Read { to: 1, place: y })],
            otherwise: Vec::new(),
        },
    ];
    let create = act(Act::Create { thread: 1 });
    let apart = vec![create.clone(), act(Act::Write { place: y, value }), create.clone(), act(Act::Return)];
    let before = vec![act(Act::Write { place: y, value }), create.clone(), create, act(Act::Return)];
    for (main, races, executions) in [(apart, 1, 3), (before, 0, 1)] {
        let script = Script { vars: 2, threads: vec![main, body.clone()], ..Script::default() };
        let all = sync(&mut ScriptMachine::new(&script), &limits(Goal::FirstRace));
        let some =
            up_to_symmetry(&mut ScriptMachine::new(&script), &limits(Goal::FirstRace), Visibility::SyncOnly);
        assert_eq!((all.races.len(), some.exploration.races.len()), (races, races));
        assert_eq!(some.exploration.runs.executions, executions);
    }
}
