//! Example 1 of the 2003 paper, `while (1) { acquire(m); x = i; release(m); }`, by the algorithms of section 2.

use crate::paper::{Own, Program, Verdict, algorithm_a, algorithm_b, algorithm_tar};
use std::collections::BTreeSet;

/// `m` and `x` of a shared state.
fn split(shared: usize) -> (usize, usize) {
    (shared / 3, shared % 3)
}

fn step(thread: usize, (shared, pc): Own) -> Vec<Own> {
    let ((m, x), i) = (split(shared), thread + 1);
    let to = |m: usize, x: usize| vec![(m * 3 + x, (pc + 1) % 4)];
    match pc {
        0 => to(m, x),
        1 if m == 0 => to(i, x),
        1 => Vec::new(),
        2 => to(m, i),
        3.. => to(0, x),
    }
}

/// The second thread does not look whether the lock is free.
fn broken_step(thread: usize, (shared, pc): Own) -> Vec<Own> {
    if (thread, pc) == (1, 1) { vec![(2 * 3 + split(shared).1, 2)] } else { step(thread, (shared, pc)) }
}

fn example_1(step: fn(usize, Own) -> Vec<Own>) -> Program {
    Program {
        shared: 9,
        private: 4,
        initial: (0, 0, 0),
        step,
        is_error: |(_, first, second)| first == 2 && second == 2,
        predicates: vec![
            vec![|own| own.1 == 0, |own| own.1 == 1, |own| own.1 == 2, |own| own.1 == 3],
            vec![|own| split(own.0).0 == 0, |own| split(own.0).0 == 1, |own| split(own.0).0 == 2],
        ],
    }
}

#[test]
fn algorithm_a_proves_it_in_the_product() {
    assert_eq!(algorithm_a(&example_1(step)).verdict, Verdict::Safe);
    assert_eq!(algorithm_a(&example_1(broken_step)).verdict, Verdict::Unsafe);
}

#[test]
fn algorithm_b_does_not_know() {
    assert_eq!(algorithm_b(&example_1(step)).verdict, Verdict::DoNotKnow);
    assert_eq!(algorithm_b(&example_1(broken_step)).verdict, Verdict::Unsafe);
}

/// Table 1: three iterations, with these environment assumptions.
#[test]
fn algorithm_tar_proves_it_as_in_table_1() {
    let program = example_1(step);
    let outcome = algorithm_tar(&program);
    assert_eq!((outcome.verdict, outcome.iterations), (Verdict::Safe, 3));
    let assumptions = outcome.assumptions.expect("algorithm TAR has some");
    for (index, assumption) in assumptions.iter().enumerate() {
        let i = index + 1;
        let of_lock: BTreeSet<(usize, usize)> =
            assumption.shared(&program).into_iter().map(|(from, to)| (split(from).0, split(to).0)).collect();
        assert_eq!(of_lock, BTreeSet::from([(0, 0), (1, 1), (2, 2), (0, i), (i, 0)]));
    }
    assert_eq!(algorithm_tar(&example_1(broken_step)).verdict, Verdict::Unsafe);
}
