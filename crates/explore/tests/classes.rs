//! The optimal search explores each class of runs once: as many runs as there are classes, counted the slow way.
//!
//! The slow way goes through the beginnings of all runs, each class of them once, and checks on the way that all orders of a class lead to the
//! same state: the dependence relation is never too fine.

use raddle_base::StoreOrder;
use raddle_event::Choice;
mod class;
mod dense;

use class::{Class, Done, class, step};
use raddle_explore::dpor::{baseline, optimal};
use raddle_explore::enumerate::{Coverage, Goal, Limits};
use raddle_machine::{Machine, Status, Visibility};
use raddle_testkit::script::{Act, How, Place, Script, ScriptMachine, Stmt, Value, c_text, shrink};
use raddle_testkit::soak::{cases_of_seeds, seeds};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The beginnings of all runs, up to the order of independent steps.
#[derive(Default)]
struct Beginnings {
    /// With the state that each leads to, whatever the order.
    states: HashMap<Class, u128>,
    complete: u64,
}

const MOST_BEGINNINGS: usize = 6_000;

enum Failure {
    TooMany,
    /// Two orders of the same class lead to different states.
    NotIndependent(Vec<Choice>),
}

fn beginnings(script: &Script, visibility: Visibility) -> Result<Beginnings, Failure> {
    let mut machine = ScriptMachine::new(script);
    machine.set_visibility(visibility);
    let mut all = Beginnings::default();
    all.go(&mut machine, &mut Vec::new())?;
    Ok(all)
}

impl Beginnings {
    fn go(&mut self, machine: &mut ScriptMachine, done: &mut Vec<Done>) -> Result<(), Failure> {
        let state = machine.fingerprint();
        match self.states.entry(class(done)) {
            Entry::Occupied(known) if *known.get() == state => return Ok(()),
            Entry::Occupied(_) => {
                return Err(Failure::NotIndependent(done.iter().map(|step| step.choice).collect()));
            }
            Entry::Vacant(new) => new.insert(state),
        };
        if self.states.len() > MOST_BEGINNINGS {
            return Err(Failure::TooMany);
        }
        if machine.status() != Status::Running {
            self.complete += 1;
            return Ok(());
        }
        let mut before = Vec::new();
        machine.enabled(&mut before);
        for choice in &before {
            let checkpoint = machine.checkpoint();
            done.push(step(machine, *choice, &before, done));
            self.go(machine, done)?;
            done.pop();
            machine.restore(&checkpoint);
            machine.discard(checkpoint);
        }
        Ok(())
    }
}

fn limits() -> Limits<'static> {
    Limits { goal: Goal::AllRaces, steps: 2_000_000, ..Limits::default() }
}

#[derive(Debug, Default)]
struct Sums {
    classes: u64,
    baseline: u64,
    blocked: u64,
}

fn as_many_as_classes(script: &Script) -> Option<Result<Sums, String>> {
    let all = match beginnings(script, Visibility::EveryAccess) {
        Ok(all) => all,
        Err(Failure::TooMany) => return None,
        Err(Failure::NotIndependent(run)) => return Some(Err(format!("two states behind {run:?}"))),
    };
    let classes = all.complete;
    let best = optimal(&mut ScriptMachine::new(script), &limits(), Visibility::EveryAccess);
    let runs = best.exploration.runs;
    let explored = runs.executions + runs.infeasible + runs.truncated;
    let simple = baseline(&mut ScriptMachine::new(script), &limits(), Visibility::EveryAccess);
    let baseline = simple.exploration.runs.executions + simple.exploration.runs.infeasible;
    Some(if best.exploration.coverage != Coverage::Complete {
        Err(format!("coverage {:?}", best.exploration.coverage))
    } else if explored != classes || best.blocked != 0 {
        Err(format!("{classes} classes, {explored} explored, {} blocked", best.blocked))
    } else if baseline < classes {
        Err(format!("{classes} classes, baseline {baseline}"))
    } else {
        Ok(Sums { classes, baseline, blocked: simple.blocked })
    })
}

fn for_all(name: &str, seeds: std::ops::Range<u64>, generate: fn(u64) -> Script) {
    let mut cases = cases_of_seeds(name, seeds);
    let mut large = 0;
    let mut sums = Sums::default();
    for seed in cases.by_ref() {
        let script = generate(seed);
        match as_many_as_classes(&script) {
            None => large += 1,
            Some(Ok(Sums { classes, baseline, blocked })) => {
                sums.classes += classes;
                sums.baseline += baseline;
                sums.blocked += blocked;
            }
            Some(Err(_)) => {
                let fails = |script: &Script| matches!(as_many_as_classes(script), Some(Err(_)));
                let small = shrink(&script, fails);
                let Some(Err(message)) = as_many_as_classes(&small) else { unreachable!("it still fails") };
                panic!("{name}, seed {seed}: {message}\n{small:#?}\n{}", c_text(&small).text);
            }
        }
    }
    let total = cases.done();
    cases.too_large(large);
    let Sums { classes, baseline, blocked } = sums;
    println!(
        "{name}: {total} scripts, {large} too large; {classes} classes, baseline {baseline} and {blocked} blocked"
    );
    assert!(large * 4 <= total, "{large} of {total} scripts are too large to say anything");
}

#[test]
fn one_run_for_each_class() {
    for_all("classes", seeds(400, 150_000), dense::dense);
}

const PLACE: Place = Place { var: 0, offset: 0, size: 8 };

fn store() -> Stmt {
    Stmt::Act(Act::AtomicStore { place: PLACE, value: Value::Const(1), order: StoreOrder::SeqCst })
}

fn store_half(offset: u8) -> Stmt {
    let place = Place { offset, size: 4, ..PLACE };
    Stmt::Act(Act::AtomicStore { place, value: Value::Const(1), order: StoreOrder::SeqCst })
}

fn unjoined(objects: Script, main: Vec<Stmt>, threads: Vec<Vec<Stmt>>) -> Script {
    let creations = (1..=threads.len() as u8).map(|thread| Stmt::Act(Act::Create { thread }));
    let main = creations.chain(main).collect();
    Script { vars: 1, threads: std::iter::once(main).chain(threads).collect(), ..objects }
}

fn assert_one_run_for_each_class(script: &Script, expected: u64) {
    match as_many_as_classes(script) {
        Some(Ok(sums)) => assert_eq!(sums.classes, expected),
        Some(Err(message)) => panic!("{message}"),
        None => panic!("too large"),
    }
}

/// A thread that is on the way to the reversed operation, but cannot go first, may sleep where it is added.
#[test]
fn the_thread_added_must_be_able_to_go_first() {
    let script = unjoined(Script::default(), vec![store()], vec![vec![], vec![store()]]);
    assert_one_run_for_each_class(&script, 18);
}

/// The latest of two steps that race with one is not enough: the thread that would find the other one may sleep.
#[test]
fn every_direct_race_must_be_reversed() {
    let threads = vec![vec![store_half(0)], vec![store_half(4)]];
    let script = unjoined(Script::default(), vec![store()], threads);
    assert_one_run_for_each_class(&script, 36);
}

/// That nobody can move behind a failed try says nothing about the try: it still commutes with another.
#[test]
fn a_deadlock_behind_a_step_is_not_its_footprint() {
    let objects = Script { sems: vec![1], ..Script::default() };
    let down = |how| Stmt::Act(Act::Down { sem: 0, how, result: 0 });
    let threads = vec![vec![down(How::Try), down(How::Block)], vec![down(How::Block), down(How::Try)]];
    let script = unjoined(objects, vec![Stmt::Act(Act::Join { thread: 1 })], threads);
    assert_one_run_for_each_class(&script, 2);
}

/// A planned arrival stands for another one only when both fit into the round: planning it twice leaves a sleeper that hides runs.
#[test]
fn arrivals_of_one_round_are_planned_once() {
    let objects = Script { barriers: vec![3], ..Script::default() };
    let arrive = || vec![Stmt::Act(Act::Barrier { barrier: 0 })];
    let script = unjoined(objects, vec![store()], vec![arrive(), arrive(), vec![store()]]);
    assert_one_run_for_each_class(&script, 54);
}

/// Two of three fit into a round.
#[test]
fn three_arrivals_at_a_barrier_for_two() {
    let objects = Script { barriers: vec![2], ..Script::default() };
    let arrive = || vec![Stmt::Act(Act::Barrier { barrier: 0 })];
    let join = (1..=3).map(|thread| Stmt::Act(Act::Join { thread })).collect();
    assert_one_run_for_each_class(&unjoined(objects, join, vec![arrive(), arrive(), arrive()]), 3);
}
