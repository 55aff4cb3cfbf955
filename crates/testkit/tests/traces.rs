//! The tools for traces do what they say: notation, legality, shrinking.

use raddle_event::{EventKind, Trace};
use raddle_testkit::traces::{check, parse, print, random, shrink};

fn trace(text: &str) -> Trace {
    parse(&text.replace(';', "\n")).expect("well-formed").trace
}

#[test]
fn what_is_printed_can_be_read_again() {
    for seed in 0..500 {
        let trace = random(seed);
        assert_eq!(parse(&print(&trace)).expect("well-formed").trace, trace, "seed {seed}");
    }
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    assert_eq!(random(7), random(7));
    assert_ne!(random(7), random(8));
}

#[test]
fn mistakes_in_the_notation_are_told() {
    for (text, reason) in [
        ("0 w", "line 1: argument missing: 0 w"),
        ("0 fly x", "line 1: unknown operation fly: 0 fly x"),
        ("\n0 st.acq x", "line 2: unknown order acq: 0 st.acq x"),
        ("zero w x", "line 1: not a number: zero: zero w x"),
        ("0 w x !a", "mark a is not on two events"),
        ("0", "line 1: no operation: 0"),
    ] {
        assert_eq!(parse(text).expect_err(text), reason);
    }
}

/// Each trace is legal up to its last event, which is not.
#[test]
fn impossible_traces_are_told() {
    for (text, reason) in [
        ("1 w x", "the thread was not created"),
        ("0 create 1; 0 create 1", "the thread exists"),
        ("0 fork 1; 1 begin", "the thread has begun"),
        ("0 fork 1; 1 end; 1 w x", "the thread has ended"),
        ("0 fork 1; 0 join 1", "cannot be joined"),
        ("0 fork 1; 1 end; 0 join 1; 0 join 1", "cannot be joined"),
        ("0 fork 1; 1 end; 0 detach 1; 0 join 1", "cannot be joined"),
        ("0 detach 1", "detached thread does not exist"),
        ("0 lock m; 0 lock m", "the lock is not free"),
        ("0 fork 1; 0 lock m; 1 rdlock m", "the lock is not free"),
        ("0 fork 1; 0 rdlock m; 1 lock m", "the lock is not free"),
        ("0 rdlock m; 0 rdlock m", "the lock is not free"),
        ("0 fork 1; 0 lock m; 1 unlock m", "the lock is not held that way"),
        ("0 rdlock m; 0 unlock m", "the lock is not held that way"),
        ("0 destroy m; 0 lock m", "the object is destroyed"),
        ("0 destroy m; 0 destroy m", "destroyed twice"),
        ("0 lock m; 0 init m", "initialised while in use"),
        ("0 arrive b 0; 0 w x", "the thread is blocked"),
        ("0 fork 1; 0 arrive b 0; 0 leave b 0; 1 arrive b 0", "the round is over"),
        ("0 leave b 0", "has not arrived"),
        ("0 fork 1; 0 arrive b 0; 1 destroy b", "destroyed while in use"),
        ("0 take s; 0 take s", "the semaphore is 0"),
        ("0 once-begin c; 0 once-begin c", "run before"),
        ("0 fork 1; 0 once-begin c; 1 once-end c", "not running"),
        ("0 once-pass c", "not initialised"),
        ("0 lock m; 0 wait c; 0 w x", "no release follows"),
        ("0 lock m; 0 wait c; 0 unlock m; 0 w x", "the thread is blocked"),
        ("0 lock m; 0 wait c; 0 unlock m; 0 woken d; 0 lock m", "does not wait"),
        ("0 lock m; 0 wait c; 0 unlock m; 0 spurious c; 0 w x", "no acquisition follows"),
        ("0 lock m; 0 wait c; 0 unlock m; 0 spurious c; 0 lock n", "wrong mutex"),
        ("0 lock m; 0 wait c; 0 unlock m; 0 woken c; 0 lock m", "nobody woke it"),
        ("0 fork 1; 0 signal c 1", "the woken thread does not wait"),
        ("0 fork 1; 1 lock m; 1 wait c; 1 unlock m; 0 broadcast c; 0 destroy m", "destroyed while in use"),
        ("0 branch-end", "no open branch"),
        ("0 exit; 0 w x", "the process has exited"),
    ] {
        let illegal = check(&trace(text)).expect_err(text);
        assert_eq!(illegal.reason, reason, "{text}");
    }
}

/// A condition may be destroyed once nobody is blocked on it; who was woken may come back later.
#[test]
fn conditions_are_in_use_until_their_waiters_are_woken() {
    let wait = "0 fork 1; 0 fork 2; 1 lock m; 1 wait c; 1 unlock m; 2 lock m; 2 wait c; 2 unlock m";
    for (between, ends) in [
        ("0 broadcast c; 0 destroy c", ["woken", "woken"]),
        ("0 signal c 2; 0 signal c 1; 0 destroy c; 0 init c", ["woken", "woken"]),
        ("0 broadcast c; 0 init c", ["woken", "woken"]),
        ("0 signal c 2; 0 destroy c", ["spurious", "woken"]),
        ("0 destroy c", ["timeout", "spurious"]),
    ] {
        let text =
            format!("{wait}; {between}; 1 {} c; 1 lock m; 1 unlock m; 2 {} c; 2 lock m", ends[0], ends[1]);
        assert_eq!(check(&trace(&text)), Ok(()), "{text}");
    }
    for (between, reason) in [
        ("0 signal c 2; 0 destroy c; 0 init c; 0 broadcast c", "destroyed while in use"),
        ("0 signal c 2; 0 init c; 0 signal c 1", "initialised while in use"),
    ] {
        let text = format!("{wait}; {between}; 1 woken c; 1 lock m");
        assert_eq!(check(&trace(&text)).expect_err(&text).reason, reason, "{text}");
    }
}

#[test]
fn legal_traces_pass() {
    for text in [
        "0 fork 1; 0 rdlock m; 1 rdlock m; 0 rdunlock m; 1 rdunlock m; 0 lock m; 0 unlock m",
        "0 lock m; 0 wait c; 0 unlock m; 0 spurious c; 0 lock m; 0 unlock m; 0 destroy m; 0 init m",
        "0 fork 1; 0 arrive b 0; 1 arrive b 0; 1 leave b 0; 1 arrive b 1; 0 leave b 0",
        "0 fork 1; 1 end; 0 join 1; 0 end",
        "0 take s; 0 post s; 0 take s; 0 init s; 0 take s",
    ] {
        assert_eq!(check(&trace(text)), Ok(()), "{text}");
    }
}

#[test]
fn shrinking_ends_with_what_matters_and_a_legal_trace() {
    let fails = |trace: &Trace| {
        let count = |wanted: fn(&EventKind) -> bool| trace.events.iter().filter(|e| wanted(&e.kind)).count();
        count(|kind| matches!(kind, EventKind::Release { .. })) > 0
            && count(|kind| matches!(kind, EventKind::Join { .. })) > 0
    };
    let failing = (0..).map(random).find(fails).expect("there is one");
    let small = shrink(&failing, fails);
    assert!(check(&small).is_ok() && fails(&small));
    for (i, j) in (0..small.events.len()).flat_map(|i| (i..small.events.len()).map(move |j| (i, j))) {
        let kept = small.events.iter().enumerate().filter(|(at, _)| *at != i && *at != j);
        let smaller = Trace { events: kept.map(|(_, event)| *event).collect() };
        assert!(!fails(&smaller) || check(&smaller).is_err(), "{i} and {j} can go:\n{}", print(&small));
    }
}
