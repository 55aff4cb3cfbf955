//! Property-driven pruning: a race is found exactly when the enumerator finds one, and little is explored that cannot have one.

mod branches;
mod compared;
mod dense;
mod knots;

use branches::ScriptBranches;
use compared::{enumerated, for_all, keys, limits, sections, seeds};
use raddle_base::{LoadOrder, RmwOrder};
use raddle_explore::dpor::{Covers, for_races, optimal};
use raddle_explore::enumerate::{Coverage, Exploration, Goal, Limits};
use raddle_explore::pdp::{self, Anything, Oracle, Property, Pruned};
use raddle_finding::Deadlocks;
use raddle_machine::Visibility;
use raddle_testkit::script::{
    Act, Block, Branches, Cond, How, LockKind, Mode, Place, Profile, RmwKind, Script, ScriptMachine, Stmt,
    Value, generate,
};

fn search(script: &Script, limits: &Limits, oracle: &dyn Oracle) -> Pruned {
    search_for(script, limits, oracle, Property::Races)
}

fn search_for(script: &Script, limits: &Limits, oracle: &dyn Oracle, property: Property) -> Pruned {
    let mut machine = ScriptMachine::new(script).branches(Branches::Reported);
    pdp::search(&mut machine, limits, Visibility::SyncOnly, oracle, property)
}

fn decides_the_same(script: &Script) -> Option<Result<(), String>> {
    let all = enumerated(script, Goal::FirstRace);
    if all.coverage == Coverage::Partial {
        return None;
    }
    let found = search(script, &limits(Goal::FirstRace), &ScriptBranches::of(script)).reduced;
    let found = found.exploration;
    Some(if found.races.is_empty() != all.races.is_empty() {
        Err(format!("races {:?} enumerated, {:?} found", keys(&all), keys(&found)))
    } else if found.coverage != all.coverage {
        Err(format!("coverage {:?} enumerated, {:?} found", all.coverage, found.coverage))
    } else {
        Ok(())
    })
}

#[test]
fn decides_like_the_enumerator() {
    let generate = |seed| generate(seed, &Profile::EVERYTHING);
    for_all("pruned", seeds(400, 120_000), generate, decides_the_same);
}

#[test]
fn decides_like_the_enumerator_on_sections() {
    for_all("pruned, sections", seeds(400, 300_000), sections, decides_the_same);
}

#[test]
fn decides_like_the_enumerator_on_dense_scripts() {
    for_all("pruned, dense", seeds(150, 60_000), dense::dense_with_loops, decides_the_same);
}

/// With all races, because behind a race that is not followed runs may go other ways.
fn deadlocks_the_same(script: &Script) -> Option<Result<(), String>> {
    let limits = limits(Goal::AllRaces);
    let all = optimal(&mut ScriptMachine::new(script), &limits, Visibility::SyncOnly).exploration;
    if all.coverage == Coverage::Partial {
        return None;
    }
    let oracle = ScriptBranches::of(script);
    let found = search_for(script, &limits, &oracle, Property::RacesAndDeadlocks).reduced.exploration;
    Some(if found.deadlocks != all.deadlocks {
        Err(format!("deadlocks {:?} enumerated, {:?} found", all.deadlocks, found.deadlocks))
    } else if keys(&found) != keys(&all) {
        Err(format!("races {:?} enumerated, {:?} found", keys(&all), keys(&found)))
    } else {
        Ok(())
    })
}

#[test]
fn deadlocks_like_the_optimal_search() {
    let generate = |seed| generate(seed, &Profile::EVERYTHING);
    for_all("pruned for deadlocks", seeds(400, 60_000), generate, deadlocks_the_same);
}

#[test]
fn deadlocks_like_the_optimal_search_on_sections() {
    for_all("pruned for deadlocks, sections", seeds(400, 120_000), sections, deadlocks_the_same);
}

/// The pruning must be worth something there.
#[test]
fn deadlocks_like_the_optimal_search_on_knots() {
    for_all("pruned for deadlocks, knots", seeds(1_500, 200_000), knots::knots, deadlocks_the_same);
    let scripts: Vec<Script> = (0..150).map(|seed| knots::knots(2 * seed)).collect();
    let limits = limits(Goal::AllRaces);
    let runs = |search: &dyn Fn(&Script) -> Exploration| -> u64 {
        scripts.iter().map(|script| search(script).runs.executions).sum()
    };
    let all =
        runs(&|script| for_races(&mut ScriptMachine::new(script), &limits, Visibility::SyncOnly).exploration);
    let left = runs(&|script| {
        search_for(script, &limits, &ScriptBranches::of(script), Property::RacesAndDeadlocks)
            .reduced
            .exploration
    });
    assert!(left * 10 < all * 9, "{left} runs instead of {all}");
}

#[test]
fn deadlocks_like_the_optimal_search_on_dense_scripts() {
    let generate = dense::dense_with_loops;
    for_all("pruned for deadlocks, dense", seeds(150, 30_000), generate, deadlocks_the_same);
}

/// Who knows nothing prunes nothing but the order in which threads end.
#[test]
fn without_an_oracle_it_is_the_search_for_races() {
    for seed in 0..60 {
        let script = sections(seed);
        let limits = limits(Goal::FirstRace);
        let pruned = search(&script, &limits, &Anything).reduced.exploration;
        let plain = for_races(&mut ScriptMachine::new(&script), &limits, Visibility::SyncOnly).exploration;
        assert_eq!(keys(&pruned), keys(&plain), "seed {seed}");
        assert!(pruned.runs.executions <= plain.runs.executions);
    }
}

fn place(var: u8) -> Place {
    Place { var, offset: 0, size: 4 }
}

fn lock(lock: u8) -> Stmt {
    Stmt::Act(Act::Lock { lock, mode: Mode::Exclusive, how: How::Block, result: 3 })
}

fn unlock(lock: u8) -> Stmt {
    Stmt::Act(Act::Unlock { lock })
}

fn read(to: u8, var: u8) -> Stmt {
    Stmt::Act(Act::Read { to, place: place(var) })
}

fn write(var: u8) -> Stmt {
    Stmt::Act(Act::Write { place: place(var), value: Value::Const(1) })
}

fn add(var: u8) -> Block {
    vec![read(2, var), Stmt::Act(Act::Write { place: place(var), value: Value::Next(2) })]
}

fn section(of: u8, body: Block) -> Block {
    [vec![lock(of)], body, vec![unlock(of)]].concat()
}

fn joined(vars: u8, locks: usize, threads: Vec<Block>) -> Script {
    let numbers = 1..=threads.len() as u8;
    let main = numbers.clone().map(|thread| Stmt::Act(Act::Create { thread }));
    let main = main.chain(numbers.map(|thread| Stmt::Act(Act::Join { thread }))).collect();
    let threads = std::iter::once(main).chain(threads).collect();
    Script { vars, locks: vec![LockKind::Mutex; locks], threads, ..Script::default() }
}

fn traces(script: &Script) -> u64 {
    let found = search(script, &Limits::default(), &ScriptBranches::of(script));
    assert_eq!(found.reduced.exploration.coverage, Coverage::Complete);
    assert_eq!(found.reduced.covers, Covers::RacesOnly);
    found.reduced.exploration.runs.executions
}

#[test]
fn readers_and_writers_of_a_protected_variable_in_one_order() {
    for n in 1..=5 {
        let mut threads = vec![section(0, vec![read(0, 0)]); n];
        threads.extend(vec![section(0, add(0)); n]);
        assert_eq!(traces(&joined(1, 1, threads)), 1);
    }
}

/// What the other side of a branch would do is protected by the lock around the branch, or by its own.
#[test]
fn sides_not_taken_that_are_protected() {
    let look =
        |then: Block| vec![read(0, 0), Stmt::If { cond: Cond::IsNot(0, 0), then, otherwise: Block::new() }];
    let around = section(0, look(add(1)));
    let own = [section(0, look(section(1, add(1)))), section(0, look(Block::new()))].concat();
    let setter = |of: u8| [section(0, vec![write(0)]), section(of, add(1))].concat();
    assert_eq!(traces(&joined(2, 2, vec![around, setter(0)])), 1);
    assert_eq!(traces(&joined(2, 2, vec![own.clone(), setter(1)])), 1);
    // The lock of the other side is not the one that the setter takes: only the runs tell that there is a race.
    let found = search(&joined(2, 2, vec![own, setter(0)]), &Limits::default(), &Anything);
    assert!(found.reduced.exploration.races.is_empty(), "the outer section protects");
}

/// Fig. 3: both sides take lock C, so what comes after them is protected by it; a side that does not take it makes it open.
#[test]
fn locks_taken_in_both_sides() {
    let (a, b, c) = (0, 1, 2);
    let left = [section(a, add(0)), vec![lock(c)]].concat();
    let fig_3 = |right: Block| {
        let branch = Stmt::If { cond: Cond::IsNot(0, 0), then: left.clone(), otherwise: right };
        [vec![lock(b), read(0, 1), branch], add(2), vec![unlock(c), unlock(b)]].concat()
    };
    let script = |right, other| joined(4, 4, vec![fig_3(right), other]);
    // The second thread flips what the branch looks at, under the lock that is held there, and uses z under C.
    let other = [section(c, add(2)), section(b, vec![write(1)])].concat();
    assert_eq!(traces(&script(vec![lock(c)], other.clone())), 1);
    // Here z is not protected when the right side is taken.
    let mut open = script(vec![lock(3)], other);
    let at = open.threads[1].len() - 2;
    open.threads[1][at] =
        Stmt::If { cond: Cond::IsNot(0, 0), then: vec![unlock(c)], otherwise: vec![unlock(3)] };
    let found = search(&open, &limits(Goal::FirstRace), &ScriptBranches::of(&open));
    assert!(!found.reduced.exploration.races.is_empty());
}

/// A compare-exchange that failed may succeed another time: then it writes.
#[test]
fn an_exchange_that_failed_may_succeed() {
    let exchange = |expected| {
        let (success, failure) = (RmwOrder::Relaxed, LoadOrder::Relaxed);
        let desired = Value::Const(1);
        Stmt::Act(Act::AtomicCas { to: 0, place: place(0), expected, desired, success, failure })
    };
    let script = Script {
        vars: 1,
        threads: vec![vec![Stmt::Act(Act::Create { thread: 1 }), exchange(1)], vec![exchange(0), read(0, 0)]],
        ..Script::default()
    };
    let found = search(&script, &limits(Goal::FirstRace), &ScriptBranches::of(&script));
    assert!(!found.reduced.exploration.races.is_empty());
}

/// Main takes the lock and ends, which is before all that the others do; that their tries could come first shows only when that end is
/// reversed with them, although nothing can race behind it. The paper's algorithm misses the race.
#[test]
fn what_is_cut_off_may_conflict_with_what_is_before() {
    let timed = Act::Lock { lock: 0, mode: Mode::Exclusive, how: How::Timed, result: 3 };
    let attempt = Act::Lock { lock: 0, mode: Mode::Exclusive, how: How::Try, result: 2 };
    let end = Stmt::If { cond: Cond::Is(3, 0), then: vec![Stmt::Act(Act::Return)], otherwise: Block::new() };
    let creations = (1..=2).map(|thread| Stmt::Act(Act::Create { thread }));
    let main = creations.chain([Stmt::Act(timed), end, write(0)]).collect();
    let script = Script {
        vars: 1,
        locks: vec![LockKind::Mutex],
        threads: vec![main, vec![Stmt::Act(attempt)], vec![read(3, 0)]],
        ..Script::default()
    };
    let found = search(&script, &limits(Goal::FirstRace), &ScriptBranches::of(&script));
    assert!(!found.reduced.exploration.races.is_empty());
}

/// The end of main is before all that others could still do, and nothing races behind it; the exchange that does race comes only after
/// a choice that is not taken before it.
#[test]
fn a_race_behind_a_choice_and_an_exit() {
    let (order, place) = (RmwOrder::SeqCst, place(0));
    let add = Act::AtomicRmw { to: 0, place, kind: RmwKind::Add, value: Value::Const(1), order };
    let exchange = Act::AtomicCas {
        to: 0,
        place,
        expected: 1,
        desired: Value::Const(2),
        success: order,
        failure: LoadOrder::SeqCst,
    };
    let then = vec![Stmt::Act(exchange)];
    let chooser = vec![
        Stmt::Act(Act::Choose { to: 0 }),
        Stmt::If { cond: Cond::Is(0, 1), then, otherwise: Block::new() },
    ];
    let main = (1..=2).map(|thread| Stmt::Act(Act::Create { thread })).collect();
    let threads = vec![main, vec![write(0), Stmt::Act(add)], chooser];
    let script = Script { vars: 1, threads, ..Script::default() };
    let found = search(&script, &limits(Goal::FirstRace), &ScriptBranches::of(&script));
    assert!(!found.reduced.exploration.races.is_empty());
}

/// An assumption that ended the run is not what happens in every run.
#[test]
fn an_assumption_that_failed_may_hold() {
    let script = Script {
        vars: 1,
        threads: vec![
            vec![
                Stmt::Act(Act::Choose { to: 1 }),
                Stmt::Act(Act::Create { thread: 1 }),
                Stmt::Act(Act::Assume(Cond::IsNot(1, 0))),
                read(0, 0),
            ],
            vec![write(0)],
        ],
        ..Script::default()
    };
    let found = search(&script, &limits(Goal::FirstRace), &ScriptBranches::of(&script));
    assert!(!found.reduced.exploration.races.is_empty());
}

/// Fig. 6: a side not taken that has branches itself, and branches taken inside of each other.
#[test]
fn nested_branches() {
    let test = |reg, then: Block, otherwise: Block| Stmt::If { cond: Cond::IsNot(reg, 0), then, otherwise };
    // Unobserved inside unobserved: every way takes lock 1, or one does not.
    for (inner, protected) in [(vec![lock(1)], true), (vec![lock(2)], false)] {
        let hidden = test(0, vec![test(1, vec![lock(1)], inner)], vec![lock(1)]);
        let body = [vec![read(0, 0), read(1, 0), hidden], add(1), vec![unlock(1)]].concat();
        let other = [section(0, vec![write(0)]), section(1, add(1))].concat();
        let script = joined(2, 3, vec![section(0, body), other]);
        let found = search(&script, &Limits::default(), &ScriptBranches::of(&script));
        let plain = for_races(&mut ScriptMachine::new(&script), &Limits::default(), Visibility::SyncOnly);
        assert_eq!(found.reduced.exploration.races.is_empty(), plain.exploration.races.is_empty());
        assert_eq!(found.reduced.exploration.runs.executions == 1, protected);
    }
    // Observed inside observed: the inner one ends first.
    let inner = test(1, vec![lock(2), unlock(2)], vec![lock(2), unlock(2)]);
    let outer = test(0, vec![write(1)], vec![lock(1), inner, unlock(1)]);
    let body = section(0, vec![read(0, 0), outer, write(2)]);
    let other = section(0, vec![write(0), write(1), write(2)]);
    assert_eq!(traces(&joined(3, 3, vec![body, other])), 1);
}

/// The paper's Fig. 1, fdrd2: one race, in few of the runs.
#[test]
fn figure_1() {
    let script = figure_1_with(0);
    let all = optimal(&mut ScriptMachine::new(&script), &limits(Goal::AllRaces), Visibility::SyncOnly);
    let found = search(&script, &limits(Goal::FirstRace), &ScriptBranches::of(&script)).reduced.exploration;
    assert_eq!((all.exploration.races.is_empty(), found.races.is_empty()), (false, false));
    assert!(found.runs.executions <= 14, "{:?}", found.runs);
}

/// `work`: sections more, of each thread.
fn figure_1_with(work: usize) -> Script {
    let (f1, f2, x, y, z) = (0, 1, 0, 1, 2);
    let more = |own: u8| (0..work).flat_map(move |_| section(f1, add(own))).collect::<Block>();
    let one = [section(f1, add(x)), more(3), section(f2, add(y)), section(f1, add(z))].concat();
    let look = Stmt::If { cond: Cond::Is(0, 0), then: add(y), otherwise: Block::new() };
    let two = [
        vec![lock(f1), lock(f2)],
        add(z),
        vec![read(0, x), unlock(f2), unlock(f1)],
        more(3),
        section(f1, vec![look]),
    ]
    .concat();
    joined(4, 2, vec![one, two])
}

/// Without the race: the last section takes the lock of `y`, too.
#[test]
fn figure_1_repaired() {
    let mut script = figure_1_with(0);
    let last = script.threads[2].pop().expect("it has statements");
    let branch = script.threads[2].pop().expect("it has statements");
    script.threads[2].extend([lock(1), branch, unlock(1), last]);
    let counted = traces(&script);
    let plain = for_races(&mut ScriptMachine::new(&script), &Limits::default(), Visibility::SyncOnly);
    assert!(counted < plain.exploration.runs.executions, "{counted}");
    assert_eq!(counted, 1);
}

fn deadlocks(script: &Script) -> (Deadlocks, u64) {
    let oracle = ScriptBranches::of(script);
    let found = search_for(script, &limits(Goal::AllRaces), &oracle, Property::RacesAndDeadlocks).reduced;
    assert_eq!(found.covers, Covers::RacesAndDeadlocks);
    (found.exploration.deadlocks, found.exploration.runs.executions)
}

/// Lock 0 guards the variable; locks 1 and 2 are taken when it was set.
#[test]
fn deadlocks_behind_what_a_run_does_not_do() {
    let look = |then: Block| {
        let mut block = section(0, vec![read(0, 0)]);
        block.push(Stmt::If { cond: Cond::IsNot(0, 0), then, otherwise: Block::new() });
        block
    };
    let set = || section(0, vec![write(0)]);
    let both = |a: u8, b: u8| section(a, section(b, Block::new()));
    let after = |first: Block, then: Block| [first, then].concat();
    let attempt = Stmt::Act(Act::Lock { lock: 1, mode: Mode::Exclusive, how: How::Try, result: 2 });
    let cases: [(&str, Vec<Block>, Deadlocks); 8] = [
        ("one order", vec![look(both(1, 2)), after(set(), both(1, 2))], Deadlocks::None),
        ("both orders", vec![look(both(1, 2)), after(set(), both(2, 1))], Deadlocks::Found),
        (
            "both orders under another lock",
            vec![look(section(3, both(1, 2))), after(set(), section(3, both(2, 1)))],
            Deadlocks::None,
        ),
        (
            "an end with a lock",
            vec![look(vec![lock(1), Stmt::Act(Act::Return)]), after(set(), section(1, Block::new()))],
            Deadlocks::Found,
        ),
        (
            "a lock taken and not given back",
            vec![after(look(vec![lock(1)]), vec![lock(1)]), set()],
            Deadlocks::Found,
        ),
        (
            "a lock taken on one side",
            vec![
                after(after(look(vec![lock(1)]), section(2, Block::new())), look(vec![unlock(1)])),
                after(set(), both(2, 1)),
            ],
            Deadlocks::Found,
        ),
        (
            "a try that may succeed",
            vec![after(vec![attempt.clone()], after(section(2, Block::new()), vec![unlock(1)])), both(2, 1)],
            Deadlocks::Found,
        ),
        ("tries do not wait", vec![section(2, vec![attempt, unlock(1)]), both(1, 2)], Deadlocks::None),
    ];
    for (name, threads, expected) in cases {
        let script = joined(1, 4, threads);
        let (found, runs) = deadlocks(&script);
        let all = optimal(&mut ScriptMachine::new(&script), &limits(Goal::AllRaces), Visibility::SyncOnly);
        assert_eq!((found, all.exploration.deadlocks), (expected, expected), "{name}");
        println!("{name}: {runs} runs of {}", all.exploration.runs.executions);
    }
}

/// What main does before it creates the thread is over by then; the same afterwards is not.
#[test]
fn deadlocks_and_the_order_of_creation() {
    let both = |a: u8, b: u8| section(a, section(b, Block::new()));
    let create = || vec![Stmt::Act(Act::Create { thread: 1 })];
    let join = || vec![Stmt::Act(Act::Join { thread: 1 })];
    let script = |parts: &[Block]| Script {
        locks: vec![LockKind::Mutex; 2],
        threads: vec![parts.concat(), both(1, 0)],
        ..Script::default()
    };
    assert_eq!(deadlocks(&script(&[both(0, 1), create(), join(), both(0, 1)])), (Deadlocks::None, 1));
    assert_eq!(deadlocks(&script(&[both(0, 1), create(), both(0, 1), join()])).0, Deadlocks::Found);
    assert_eq!(deadlocks(&script(&[create(), section(0, join())])).0, Deadlocks::Found);
}
