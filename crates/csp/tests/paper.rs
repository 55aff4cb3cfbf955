//! The examples of the 2015 paper, section 2.2: what its refinements find, with the models of `figures`, whose module doc lists the slips
//! of the paper's figures and how they were repaired.
//!
//! Which way it errs: a test that passes says that our semantics give the paper's answer, not that the model fits a C program.

mod figures;

use figures::{Figures, Idle};
use raddle_csp::{
    Arena, Check, Coverage, IllFormed, Limits, Model, Outcome, States, Violation, refine, refine_eagerly,
};

#[test]
fn listing_1_races_on_y_after_the_schedule_of_the_paper() {
    let mut f = Figures::default();
    let program = f.listing_1();
    let outcome = f.check_race(program, "y", 100);
    let Outcome::Fails(counterexamples) = &outcome else { panic!("{outcome:?}") };
    for counterexample in counterexamples {
        assert_eq!(f.alphabet.names(&counterexample.trace), ["race"]);
        let names = f.alphabet.names(&counterexample.underlying);
        let mut accesses = names[names.len() - 3..names.len() - 1].to_vec();
        accesses.sort();
        assert_eq!(accesses, ["write.t1.y", "write.t2.y"]);
        assert_eq!(f.schedule(counterexample), ["fork.t1.t2", "start.t2", "lock.t2.m", "unlock.t2.m"]);
    }
}

#[test]
fn listing_1_does_not_race_on_x() {
    let mut f = Figures::default();
    let program = f.listing_1();
    let outcome = f.check_race(program, "x", 1);
    assert!(matches!(outcome, Outcome::Holds { .. }), "{outcome:?}");
}

/// Two threads that take `a` and `b` in opposite orders, with these events around.
fn opposite_orders(f: &mut Figures, before: &str, after: &str, idle: Idle) -> raddle_csp::ProcId {
    let around = |thread: &str, section: &str| {
        let (before, after) = (before.replace('T', thread), after.replace('T', thread));
        format!("{before} {section} {after}")
    };
    let one = around("t1", "lock.t1.a lock.t1.b unlock.t1.b unlock.t1.a");
    let two = around("t2", "lock.t2.b lock.t2.a unlock.t2.a unlock.t2.b");
    let t1 = f.thread("THREAD1", &format!("fork.t1.t2 {one} join.t1.t2"));
    let t2 = f.thread("THREAD2", &format!("start.t2 {two} end.t2"));
    let mut others = Vec::new();
    for mutex in ["a", "b", "g"] {
        others.push(f.mutex(mutex, &["t1", "t2"], idle));
    }
    others.push(f.order("FORK2", "fork.t1.t2 start.t2"));
    others.push(f.order("JOIN2", "end.t2 join.t1.t2"));
    f.program(&[t1, t2], &others)
}

#[test]
fn opposite_lock_orders_deadlock() {
    let mut f = Figures::default();
    let program = opposite_orders(&mut f, "", "", Idle::Stays);
    let outcome = f.check_deadlock(program);
    let found = f.first(&outcome);
    assert_eq!(found.violation, Violation::Refusal(vec![]));
    assert_eq!(f.schedule(found), ["fork.t1.t2", "lock.t1.a", "start.t2", "lock.t2.b"]);
}

#[test]
fn a_gate_lock_prevents_the_deadlock() {
    let mut f = Figures::default();
    let program = opposite_orders(&mut f, "lock.T.g", "unlock.T.g", Idle::Stays);
    let outcome = f.check_deadlock(program);
    assert!(matches!(outcome, Outcome::Holds { .. }), "{outcome:?}");
}

/// Why `done` is there: a free mutex that offers SKIP may terminate by itself, and then nobody gets it.
#[test]
fn a_mutex_that_may_skip_deadlocks_by_itself() {
    let mut f = Figures::default();
    let program = opposite_orders(&mut f, "lock.T.g", "unlock.T.g", Idle::OffersSkip);
    let outcome = f.check_deadlock(program);
    assert_eq!(f.schedule(f.first(&outcome)), ["fork.t1.t2", "start.t2"]);
}

/// Figure 1 as printed: the program comes to its end, and that counts as a deadlock.
#[test]
fn without_an_end_of_synchronisation_every_program_deadlocks() {
    let mut f = Figures::default();
    let t1 = f.thread("THREAD1", "lock.t1.m unlock.t1.m");
    let mutex = f.mutex("m", &["t1"], Idle::Stays);
    let on = f.synchronisation();
    let program = f.arena.parallel(t1, on, mutex);
    let outcome = f.check_deadlock(program);
    assert_eq!(f.schedule(f.first(&outcome)), ["lock.t1.m", "unlock.t1.m"]);
}

/// What only lets others go on may come at once: fewer states, the same answer.
#[test]
fn eager_events_change_no_answer() {
    for (gates, holds) in [("lock.T.g", true), ("", false)] {
        let mut f = Figures::default();
        let program = opposite_orders(&mut f, gates, &gates.replace("lock", "unlock"), Idle::Stays);
        let (live, implementation) = f.living(program);
        let check = Check::new(live, Model::StableFailures, implementation);
        let eager = f.alphabet.under_any(&["fork", "start", "unlock", "end", "join", "done"]);
        let all = refine(&mut f.arena, &check).unwrap();
        let (fewer, coverage) = refine_eagerly(&mut f.arena, &check, &eager).unwrap();
        assert_eq!(coverage, if holds { Coverage::All } else { Coverage::Part });
        match (all, fewer) {
            (Outcome::Holds { states: all }, Outcome::Holds { states: fewer }) if holds => {
                assert!(fewer < all, "{fewer} of {all} states");
            }
            (all @ Outcome::Fails(_), fewer @ Outcome::Fails(_)) if !holds => {
                assert_eq!(f.first(&all).violation, f.first(&fewer).violation);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_signal_orders_accesses_and_a_lock_alone_does_not() {
    let mut f = Figures::default();
    let t1 = f.thread("THREAD1", "write.t1.v signal.t1.c0");
    let t2 = f.thread("THREAD2", "wait.t2.c0 read.t2.v");
    let signal = f.order("SIGNAL_c0", "signal.t1.c0 wait.t2.c0");
    let program = f.program(&[t1, t2], &[signal]);
    assert!(matches!(f.check_race(program, "v", 1), Outcome::Holds { .. }));
    assert!(matches!(f.check_deadlock(program), Outcome::Holds { .. }));

    let mut f = Figures::default();
    let t1 = f.thread("THREAD1", "write.t1.v lock.t1.m unlock.t1.m");
    let t2 = f.thread("THREAD2", "lock.t2.m unlock.t2.m read.t2.v");
    let mutex = f.mutex("m", &["t1", "t2"], Idle::Stays);
    let program = f.program(&[t1, t2], &[mutex]);
    let outcome = f.check_race(program, "v", 1);
    assert_eq!(f.schedule(f.first(&outcome)), ["lock.t2.m", "unlock.t2.m"]);
}

#[test]
fn a_barrier_orders_accesses_and_lets_threads_arrive_in_any_order() {
    let mut f = Figures::default();
    let t1 = f.thread("THREAD1", "write.t1.v barrier_enter.t1.b0 barrier_exit.t1.b0");
    let t2 = f.thread("THREAD2", "barrier_enter.t2.b0 barrier_exit.t2.b0 write.t2.v");
    let barrier = f.barrier("b0", &["t1", "t2"]);
    let program = f.program(&[t1, t2], &[barrier]);
    assert!(matches!(f.check_race(program, "v", 1), Outcome::Holds { .. }));
    assert!(matches!(f.check_deadlock(program), Outcome::Holds { .. }));
    for (order, possible) in [
        ("barrier_enter.t2.b0 barrier_enter.t1.b0 barrier_exit.t1.b0 barrier_exit.t2.b0", true),
        ("barrier_enter.t1.b0 barrier_enter.t2.b0 barrier_exit.t2.b0 barrier_exit.t1.b0", true),
        ("barrier_enter.t1.b0 barrier_exit.t1.b0", false),
    ] {
        let events = f.events(order);
        let trace = f.arena.events(&events, Arena::STOP);
        let hidden = f.alphabet.under_any(&["write", "done"]);
        let shown = f.arena.hide(program, hidden);
        let outcome = refine(&mut f.arena, &Check::new(shown, Model::Traces, trace)).unwrap();
        assert_eq!(matches!(outcome, Outcome::Holds { .. }), possible, "{order}");
    }
}

#[test]
fn a_thread_of_100_000_events_is_no_recursion() {
    let mut f = Figures::default();
    let names: Vec<String> = (0..100_000).map(|i| format!("write.t1.v{}", i % 10)).collect();
    let long = f.events(&names.join(" "));
    let specification = f.arena.events(&long, Arena::STOP);
    let implementation = f.arena.events(&long, Arena::SKIP);
    let outcome = refine(&mut f.arena, &Check::new(specification, Model::Traces, implementation)).unwrap();
    let found = f.first(&outcome);
    assert_eq!((found.trace.len(), &found.violation), (100_000, &Violation::Tick));
}

#[test]
fn the_budget_ends_a_search_without_an_answer() {
    let mut f = Figures::default();
    let a = f.alphabet.intern("a");
    let name = f.arena.declare("GROWS");
    let again = f.arena.call(name);
    let both = f.arena.interleave(&[again, again]);
    let body = f.arena.prefix(a, both);
    f.arena.define(name, body);
    let run = f.arena.declare("RUN");
    let specification = f.arena.call(run);
    let body = f.arena.prefix(a, specification);
    f.arena.define(run, body);
    let mut check = Check::new(specification, Model::Traces, again);
    check.limits = Limits { states: 50, counterexamples: 1, until: None };
    for states in [States::Flat, States::Terms] {
        check.states = states;
        assert_eq!(refine(&mut f.arena, &check), Ok(Outcome::Exhausted { states: 50 }));
    }
}

#[test]
fn recursion_that_has_no_first_step_is_rejected() {
    let mut f = Figures::default();
    let (p, q) = (f.arena.declare("P"), f.arena.declare("Q"));
    let (call_p, call_q) = (f.arena.call(p), f.arena.call(q));
    let body = f.arena.choice(&[Arena::STOP, call_q]);
    f.arena.define(p, body);
    assert_eq!(f.arena.check(&[call_p]), Err(IllFormed::Undefined("Q".into())));
    let body = f.arena.interrupt(Arena::SKIP, call_p);
    f.arena.define(q, body);
    let cycle = ["P", "Q", "P"].map(String::from).to_vec();
    assert_eq!(f.arena.check(&[call_p]), Err(IllFormed::Unguarded(cycle)));
    // A termination is a step: this one diverges, and can be searched.
    let loops = f.arena.declare("LOOPS");
    let again = f.arena.call(loops);
    let body = f.arena.then(Arena::SKIP, again);
    f.arena.define(loops, body);
    let outcome = refine(&mut f.arena, &Check::new(Arena::STOP, Model::StableFailures, again));
    assert!(matches!(outcome, Ok(Outcome::Holds { .. })));
}
