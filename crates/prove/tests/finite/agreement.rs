//! Algorithm TAR and its slow twin on random systems: `Safe` is true, and what it says of the states of each location, too; and most systems
//! that are safe thread-modularly are found to be.

use crate::product::Product;
use crate::table::{Table, holds};
use crate::thread_modular::Reachable;
use crate::{random, show};
use raddle_prove::Asker;
use raddle_prove::tar::{Answer, Environment, run};
use raddle_smt::{Limits, Solver};
use raddle_testkit::random::Random;
use raddle_testkit::soak;

#[derive(Debug, Default)]
struct Counts {
    systems: u64,
    /// In all interleavings.
    safe: u64,
    thread_modular: u64,
    proved: u64,
    /// Of those that are safe thread-modularly.
    candidates: u64,
    stuck: u64,
    stopped: u64,
    refinements: u64,
    /// Not looked at.
    too_large: u64,
}

fn check(seed: u64, environment: Environment, counts: &mut Counts) {
    let mut random = Random::new(seed);
    let space = random::space(&mut random);
    let system = random::system(&mut random, &space);
    let table = Table::new(&system, &space, environment);
    let Some(product) = Product::new(&system, &table) else {
        counts.too_large += 1;
        return;
    };
    let facts = random::facts(&mut random, &space, &system, &product);
    let reachable = Reachable::new(&system, &space, &facts, &table);
    let is_safe = !product.has_conflict(&system, &space, &facts);
    let is_modular = !reachable.has_conflict(&system, &space, &facts);
    let replay =
        format!("RADDLE_PROGRAMS={seed}..{} {environment:?} {}{facts:?}", seed + 1, show::system(&system));
    assert!(is_safe || !is_modular, "the twin misses a conflict: {replay}");
    let mut asker = Asker::new(Solver::new(Limits::default()), Box::new(|| false));
    let result = run(&system, &facts, &mut asker, environment);
    counts.systems += 1;
    counts.safe += u64::from(is_safe);
    counts.thread_modular += u64::from(is_modular);
    counts.refinements += result.counts.outer;
    match result.answer {
        Answer::Safe(invariants) => {
            assert!(is_safe, "not safe: {replay}");
            assert!(is_modular, "not safe thread-modularly: {replay}");
            for state in &reachable.states {
                let invariant = &invariants[state.thread][state.location];
                let values = space.values(state.shared, state.private);
                assert!(holds(invariant, &values), "{state:?} is not in {invariant}: {replay}");
            }
            counts.proved += 1;
        }
        Answer::Candidate { .. } => counts.candidates += u64::from(is_modular),
        Answer::Stuck { .. } => counts.stuck += u64::from(is_modular),
        Answer::Stopped(_) => counts.stopped += u64::from(is_modular),
    }
}

/// Percent of the systems that are safe thread-modularly: the refinement may lack a predicate for so many. What it lacks today are
/// equalities between the private variables of both threads where neither has a constant.
const NOT_PROVED: u64 = 1;

/// Fewer systems have no rate.
const FEWEST: u64 = 1_000;

fn agrees(environment: Environment, slice: u64) {
    let mut counts = Counts::default();
    let property = format!("TAR agrees with thread-modular reachability, {environment:?}");
    let mut cases = soak::cases_of_seeds(&property, soak::seeds(slice, 50_000));
    for seed in cases.by_ref() {
        check(seed, environment, &mut counts);
    }
    cases.too_large(counts.too_large);
    println!("{environment:?}: {counts:?}");
    if counts.systems >= FEWEST {
        let not_proved = counts.thread_modular - counts.proved;
        assert!(not_proved * 100 <= NOT_PROVED * counts.thread_modular, "{environment:?}: {counts:?}");
        // Both answers are common, and those that only interleavings explain are there.
        assert!(counts.proved * 2 > counts.systems && counts.safe * 4 < counts.systems * 3);
        assert!(counts.thread_modular < counts.safe);
    }
}

#[test]
fn with_the_relation_of_the_environment() {
    agrees(Environment::Relation, 2_000);
}

#[test]
fn with_havoc() {
    agrees(Environment::Havoc, 1_000);
}
