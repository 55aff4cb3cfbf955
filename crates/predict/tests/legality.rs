//! The definition of a reordering by example: what the check accepts, and what it rejects and why.

use raddle_predict::legality::{Index, State, Wrong, check, uncertain};
use raddle_predict::{Candidate, Deciding, Error, Initial, Input, Method};
use raddle_testkit::soak::{cases_of_seeds, seeds};
use raddle_testkit::traces::{Case, parse, print, random};

fn case(text: &str) -> Case {
    parse(text).expect("the trace is well formed")
}

fn verdict(case: &Case, order: &[usize], error: Error, uncertain: &[usize]) -> Result<(), Wrong> {
    let (initial, deciding) = (Initial::default(), Deciding::All);
    let input = Input { trace: &case.trace, initial: &initial, deciding: &deciding };
    let (order, uncertain) = (order.to_vec(), uncertain.to_vec());
    check(input, &Candidate { error, order, method: Method::Exhaustive, uncertain })
}

fn race(case: &Case, order: &[usize], first: usize, second: usize) -> Result<(), Wrong> {
    verdict(case, order, Error::Race { first, second }, &[])
}

fn deadlock(case: &Case, order: &[usize], blocked: &[usize]) -> Result<(), Wrong> {
    verdict(case, order, Error::Deadlock { blocked: blocked.to_vec() }, &[])
}

#[test]
fn critical_sections_change_places() {
    let case = case("0 create 1\n1 begin\n0 w y\n0 lock m\n0 unlock m\n1 lock m\n1 unlock m\n1 w y");
    assert_eq!(race(&case, &[0, 1, 5, 6], 2, 7), Ok(()));
    assert_eq!(race(&case, &[1], 2, 7), Err(Wrong::Impossible { at: 0, event: 1 }));
    assert_eq!(race(&case, &[0, 1, 2, 3, 5], 2, 7), Err(Wrong::Impossible { at: 4, event: 5 }));
    assert_eq!(race(&case, &[0, 1, 5], 2, 7), Err(Wrong::NoRace));
    assert_eq!(race(&case, &[0, 1, 5, 6], 7, 2), Err(Wrong::NoRace));
}

#[test]
fn a_read_from_elsewhere_is_uncertain_and_spoils_what_its_thread_writes() {
    let case = case("0 w a\n1 r a\n1 w b\n2 r b\n2 w z\n0 w z");
    let error = Error::Race { first: 4, second: 5 };
    assert_eq!(verdict(&case, &[0, 1, 2, 3], error.clone(), &[]), Ok(()));
    assert_eq!(verdict(&case, &[1, 2, 3, 0], error.clone(), &[1, 3]), Ok(()));
    assert_eq!(verdict(&case, &[3, 0], error.clone(), &[3]), Ok(()));
    let expected = vec![1, 3];
    assert_eq!(verdict(&case, &[1, 2, 3, 0], error, &[1]), Err(Wrong::Uncertain { expected }));
}

#[test]
fn a_read_modify_write_of_the_race_counts_as_read() {
    let case = case("0 st.sc a\n1 rmw.sc a\n2 r a");
    assert_eq!(race(&case, &[0], 1, 2), Ok(()));
    assert_eq!(race(&case, &[], 1, 2), Err(Wrong::Uncertain { expected: vec![1] }));
}

#[test]
fn a_wait_and_its_mutex_are_one_step() {
    let text = "0 lock m\n0 wait c\n0 unlock m\n1 signal c 0\n0 woken c\n0 lock m\n0 w x\n1 w x";
    let case = case(text);
    assert_eq!(race(&case, &[0, 1, 2, 3, 4, 5], 6, 7), Ok(()));
    assert_eq!(race(&case, &[0, 1, 3, 2, 4, 5], 6, 7), Err(Wrong::Impossible { at: 2, event: 3 }));
    assert_eq!(race(&case, &[3, 0, 1, 2, 4, 5], 6, 7), Err(Wrong::Impossible { at: 4, event: 4 }));
    assert_eq!(race(&case, &[0, 1, 2, 3, 4], 6, 7), Err(Wrong::HalfAStep { event: 5 }));
}

#[test]
fn one_signal_ends_one_wait_and_a_broadcast_all_that_began() {
    let waits = "0 lock m\n0 wait c\n0 unlock m\n1 lock m\n1 wait c\n1 unlock m\n";
    let ends = "1 woken c\n1 lock m\n1 unlock m\n0 woken c\n0 lock m\n0 w x\n2 w x";
    let signals = case(&format!("{waits}2 signal c 1\n2 signal c 0\n{ends}"));
    assert_eq!(race(&signals, &[0, 1, 2, 6, 3, 4, 5, 7, 11, 12], 13, 14), Ok(()));
    assert_eq!(race(&signals, &[0, 1, 2, 6, 3, 4, 5, 7, 8, 9, 10, 11, 12], 13, 14), Ok(()));
    assert_eq!(
        race(&signals, &[0, 1, 2, 6, 7, 3, 4, 5, 8], 13, 14),
        Err(Wrong::Impossible { at: 8, event: 8 })
    );
    let broadcast = case(&format!("{waits}2 broadcast c\n{ends}"));
    let early = [0, 1, 2, 6, 3, 4, 5, 7];
    assert_eq!(race(&broadcast, &early, 12, 13), Err(Wrong::Impossible { at: 7, event: 7 }));
    assert_eq!(race(&broadcast, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], 12, 13), Ok(()));
}

#[test]
fn a_failed_acquisition_needs_a_holder_and_a_semaphore_at_zero() {
    let mutex = case("0 lock m\n1 lockfail m\n0 unlock m\n1 w x\n0 w x");
    assert_eq!(race(&mutex, &[0, 1, 2], 3, 4), Ok(()));
    assert_eq!(race(&mutex, &[0, 2, 1], 3, 4), Err(Wrong::Impossible { at: 2, event: 1 }));
    let shared = case("0 lock m\n1 lockfail m\n0 unlock m\n2 rdlock m\n1 w x\n0 w x");
    assert_eq!(race(&shared, &[0, 2, 3, 1], 4, 5), Err(Wrong::Impossible { at: 3, event: 1 }));
    let sem = case("0 lockfail s\n1 post s\n1 take s\n1 post s\n0 w x\n1 w x");
    assert_eq!(race(&sem, &[1, 2, 0, 3], 4, 5), Ok(()));
    assert_eq!(race(&sem, &[1, 0, 2, 3], 4, 5), Err(Wrong::Impossible { at: 1, event: 0 }));
}

#[test]
fn a_block_is_used_between_allocation_and_release() {
    let case = case("0 alloc b\n0 create 1\n1 begin\n1 r b\n0 w b\n0 free b\n1 w b");
    assert_eq!(race(&case, &[0, 1, 2], 3, 4), Ok(()));
    assert_eq!(race(&case, &[0, 1, 2, 3], 4, 6), Ok(()));
    assert_eq!(race(&case, &[0, 1, 2, 4, 5], 3, 4), Err(Wrong::Impossible { at: 4, event: 5 }));
}

#[test]
fn opposite_lock_orders_are_a_deadlock_of_exactly_these_threads() {
    let text = "0 fork 1 2\n1 lock a\n1 lock b\n1 unlock b\n1 unlock a\n1 end\n2 lock b\n2 lock a\n2 unlock a\n2 unlock b\n2 end\n0 join 1\n0 join 2";
    let case = case(text);
    let order = [0, 1, 2, 3, 4, 9];
    assert_eq!(deadlock(&case, &order, &[5, 10]), Ok(()));
    assert_eq!(deadlock(&case, &order, &[5, 10, 14]), Ok(()));
    assert_eq!(deadlock(&case, &order, &[5]), Err(Wrong::NoDeadlock));
    assert_eq!(deadlock(&case, &order, &[14]), Err(Wrong::NoDeadlock));
    assert_eq!(deadlock(&case, &order[..5], &[10]), Err(Wrong::NoDeadlock));
}

#[test]
fn a_lost_signal_is_a_deadlock_when_nobody_else_is_left() {
    let text = "0 fork 1 2\n1 lock m\n1 wait c\n1 unlock m\n2 signal c 1\n2 end\n1 woken c\n1 lock m\n1 unlock m\n1 end\n0 join 1";
    let case = case(text);
    let lost = [0, 1, 2, 3, 7, 8, 4, 5, 6];
    assert_eq!(deadlock(&case, &lost, &[9, 13]), Ok(()));
    assert_eq!(deadlock(&case, &lost, &[9]), Err(Wrong::NoDeadlock));
    let in_time = [0, 1, 2, 3, 4, 5, 6];
    assert_eq!(deadlock(&case, &in_time, &[9, 13]), Err(Wrong::NoDeadlock));
}

/// Also a trace that begins in the middle: without its first events.
#[test]
fn every_trace_is_a_certain_reordering_of_itself() {
    let (initial, deciding) = (Initial::default(), Deciding::All);
    for seed in cases_of_seeds("a trace reorders itself", seeds(3_000, 100_000)) {
        let mut trace = random(seed);
        trace.events.drain(..seed as usize % 3 * trace.events.len() / 4);
        let input = Input { trace: &trace, initial: &initial, deciding: &deciding };
        let index = Index::new(input);
        let mut state = State::new(&index);
        for event in 0..trace.events.len() {
            assert!(state.is_possible(event), "seed {seed}, event {event}\n{}", print(&trace));
            state.take(event);
        }
        let order: Vec<usize> = (0..trace.events.len()).collect();
        let none = Error::Deadlock { blocked: vec![] };
        assert!(uncertain(input, &order, &none).is_empty(), "seed {seed}");
    }
}
