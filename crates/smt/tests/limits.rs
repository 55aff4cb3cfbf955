//! What ends a query without an answer, and that the solver answers afterwards; cores.

use raddle_logic::{Op, Sort, Term, Var};
use raddle_smt::{Answer, Limits, NoModel, Solver};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

fn word(name: &str, width: u32) -> Term {
    Term::var(name, Sort::Bits(width))
}

/// The factors of a prime.
fn factors() -> Vec<Term> {
    let [x, y] = ["x", "y"].map(|name| word(name, 32).zero_extended_to(64));
    let product = Term::app(Op::Mul, vec![x.clone(), y.clone()]);
    let one = Term::bits(1, 64);
    vec![
        product.equals(&Term::bits((1 << 61) - 1, 64)),
        Term::app(Op::Ult, vec![one, x.clone()]),
        Term::app(Op::Ult, vec![x, y]),
    ]
}

fn unlimited() -> Limits {
    Limits { resources: u32::MAX, timeout: Duration::from_secs(600), ..Limits::default() }
}

fn factoring(limits: Limits) -> Solver {
    let mut solver = Solver::new(limits);
    factors().iter().for_each(|formula| solver.assert(formula));
    solver
}

fn unknown(reason: &str) -> Answer {
    Answer::Unknown(reason.to_owned())
}

/// It still answers what is easy.
fn is_usable(solver: &mut Solver) {
    solver.push();
    solver.assert(&Term::truth(false));
    assert_eq!(solver.check(), Answer::Unsat);
    solver.pop();
}

#[test]
fn resources_end_a_query_at_the_same_step() {
    for resources in [2_000, 10_000, 300_000] {
        let mut solver = factoring(Limits { resources, ..unlimited() });
        assert_eq!(solver.check(), unknown("resource limit"), "{resources}");
        assert_eq!(solver.check_assuming(&[word("x", 32).is_nonzero()]), unknown("resource limit"));
        assert_eq!(solver.core(), None);
        assert_eq!(solver.model(&[]), Err(NoModel::NotSat));
        assert_eq!(solver.queries(), 2);
        if resources > 2_000 {
            is_usable(&mut solver);
        }
    }
    assert_eq!(factoring(Limits { resources: 0, ..unlimited() }).check(), unknown("resource limit"));
}

#[test]
fn a_timeout_is_kept() {
    let mut solver = factoring(Limits { timeout: Duration::from_millis(200), ..unlimited() });
    for _ in 0..2 {
        let started = Instant::now();
        assert_eq!(solver.check(), unknown("timeout"));
        assert!((200..700).contains(&started.elapsed().as_millis()), "{:?}", started.elapsed());
    }
    is_usable(&mut solver);
}

#[test]
fn a_deadline_is_kept() {
    let deadline = Instant::now() + Duration::from_millis(300);
    let mut solver = factoring(Limits { deadline: Some(deadline), ..unlimited() });
    assert_eq!(solver.check(), unknown("stopped"));
    let late = deadline.elapsed();
    assert!(late < Duration::from_millis(300), "{late:?} late");
    let asked = solver.queries();
    assert_eq!(solver.check(), unknown("stopped"));
    assert_eq!(solver.queries(), asked, "Z3 is not asked after the deadline");
}

#[test]
fn a_flag_stops_a_query_and_all_later_ones() {
    let stop = Arc::new(AtomicBool::new(false));
    let timeout = Duration::from_secs(20);
    let mut solver = factoring(Limits { stop: Arc::clone(&stop), timeout, ..unlimited() });
    let setter = std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            std::thread::sleep(Duration::from_millis(300));
            stop.store(true, Ordering::Relaxed);
            Instant::now()
        }
    });
    assert_eq!(solver.check(), unknown("stopped"));
    let late = setter.join().expect("it only sleeps").elapsed();
    assert!(late < Duration::from_millis(300), "{late:?} late");
    assert_eq!(solver.check(), unknown("stopped"));
    // The context of the thread is as good as before.
    let mut other = Solver::new(unlimited());
    other.assert(&word("x", 32).is_nonzero());
    assert_eq!(other.check(), Answer::Sat);
    is_usable(&mut other);
    stop.store(false, Ordering::Relaxed);
    is_usable(&mut solver);
}

#[test]
fn a_core_names_what_contradicts() {
    let flags: Vec<Term> = (0..6).map(|index| Term::var(format!("flag {index}"), Sort::Bool)).collect();
    let mut solver = Solver::new(unlimited());
    solver.assert(&Term::or([flags[1].negated(), flags[4].negated()]));
    assert_eq!(solver.check_assuming(&flags), Answer::Unsat);
    assert_eq!(solver.core(), Some(vec![1, 4]));
    // Formulas, negations, and the same one twice.
    let x = word("x", 8);
    let assumed = [
        flags[0].negated(),
        x.equals(&Term::bits(3, 8)),
        flags[1].clone(),
        Term::app(Op::Ult, vec![x.clone(), Term::bits(3, 8)]),
        flags[1].clone(),
    ];
    assert_eq!(solver.check_assuming(&assumed), Answer::Unsat);
    assert_eq!(solver.core(), Some(vec![1, 3]));
    assert_eq!(solver.check_assuming(&[Term::truth(true), Term::truth(false)]), Answer::Unsat);
    assert_eq!(solver.core(), Some(vec![1]));
    assert_eq!(solver.check_assuming(&[flags[2].negated(), flags[2].clone()]), Answer::Unsat);
    assert_eq!(solver.core(), Some(vec![0, 1]));
    // What the assumptions meant is forgotten.
    assert_eq!(solver.check(), Answer::Sat);
    assert_eq!(solver.core(), None);
}

#[test]
fn an_empty_core_needs_no_assumption() {
    let flags: Vec<Term> = (0..3).map(|index| Term::var(format!("flag {index}"), Sort::Bool)).collect();
    for assumed in [flags.clone(), flags.iter().map(|flag| flag.as_bit().is_nonzero()).collect()] {
        let mut solver = Solver::new(unlimited());
        solver.assert(&word("x", 8).differs(&word("x", 8).clone()));
        assert_eq!(solver.check_assuming(&assumed), Answer::Unsat);
        assert_eq!(solver.core(), Some(Vec::new()));
        assert_eq!(solver.check(), Answer::Unsat);
        assert_eq!(solver.core(), Some(Vec::new()));
    }
}

#[test]
fn scopes() {
    let flag = Term::var("flag", Sort::Bool);
    let mut solver = Solver::new(unlimited());
    solver.assert(&flag);
    solver.push();
    solver.assert(&flag.negated());
    assert_eq!(solver.check(), Answer::Unsat);
    assert_eq!(solver.check_assuming(&[word("x", 8).is_nonzero()]), Answer::Unsat);
    solver.pop();
    assert_eq!(solver.core(), None, "the query was in the scope");
    assert_eq!(solver.check(), Answer::Sat);
    // The second name cannot be a C string, the variables differ by their sort alone.
    let twice =
        [Var::new("one", Sort::Bits(8)), Var::new("a\0b|c", Sort::Bits(8)), Var::new("one", Sort::Bool)];
    solver.assert(&Term::from(twice[0].clone()).differs(&Term::from(twice[1].clone())));
    solver.assert(&Term::from(twice[2].clone()));
    assert_eq!(solver.check(), Answer::Sat);
    let model = solver.model(&twice).expect("a model");
    assert_ne!(model[&twice[0]], model[&twice[1]]);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| solver.pop())).is_err());
}

/// A term of which the tree has 2 to the power of 200 nodes.
#[test]
fn shared_parts_are_translated_once() {
    let mut term = word("x", 16);
    for _ in 0..200 {
        term = Term::app(Op::Add, vec![term.clone(), term]);
    }
    let mut solver = Solver::new(unlimited());
    solver.assert(&term.is_nonzero());
    assert_eq!(solver.check(), Answer::Unsat);
}
