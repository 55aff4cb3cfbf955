//! The slow obvious twin: all values that a pointer can have at every point, forwards, as sets, until nothing changes. A pointer must hold a
//! value exactly if that is the only one.
//!
//! Sets of whole states lose nothing, so the engine may know less only where a join or a callee forgets which pointers go together. On
//! programs without copies there is nothing to forget, and the two must agree.

use crate::toy::{Block, Entries, Pointer, Statement, Toy, address};
use raddle_absint::must_alias::{At, Engine, Held};
use raddle_facts::Term;
use raddle_ir::{BlockId, FunctionId};
use raddle_testkit::random::Random;
use std::collections::{BTreeMap, BTreeSet};

const POINTERS: u32 = 3;

/// The pointers' values, and the stack of calls to return to.
type State = Vec<Option<u32>>;
type Stack = Vec<(usize, usize, usize)>;

/// Values seen at each point: by walking all states of the whole program, with stacks up to a depth.
struct Truth {
    seen: BTreeMap<(usize, usize, usize), BTreeSet<State>>,
    /// A call was too deep to follow.
    cut: bool,
}

/// `Some(u32::MAX)` stands for what a clobbered pointer holds.
const ANYTHING: u32 = u32::MAX;

fn walk(toy: &Toy, depth: usize) -> Truth {
    let mut truth = Truth { seen: BTreeMap::new(), cut: false };
    let mut done: BTreeSet<(usize, usize, usize, State, Stack)> = BTreeSet::new();
    let mut work = vec![(0, 0, 0, vec![None; POINTERS as usize], Stack::new())];
    while let Some((function, block, index, mut state, stack)) = work.pop() {
        if !done.insert((function, block, index, state.clone(), stack.clone())) {
            continue;
        }
        truth.seen.entry((function, block, index)).or_default().insert(state.clone());
        let code = &toy.functions[function][block];
        match code.statements.get(index) {
            Some(Statement::Call(callee)) => {
                if stack.len() == depth {
                    truth.cut = true;
                    continue;
                }
                let mut stack = stack;
                stack.push((function, block, index + 1));
                work.push((*callee, 0, 0, state, stack));
                continue;
            }
            Some(Statement::Address(p, global)) => state[*p as usize] = Some(*global),
            Some(Statement::Copy(p, q)) => state[*p as usize] = state[*q as usize],
            Some(Statement::Clobber(p)) => state[*p as usize] = Some(ANYTHING),
            Some(Statement::Skip) => {}
            None if code.next.is_empty() => {
                let mut stack = stack;
                if let Some((function, block, index)) = stack.pop() {
                    work.push((function, block, index, state, stack));
                }
                continue;
            }
            None => {
                for next in &code.next {
                    work.push((function, *next, 0, state.clone(), stack.clone()));
                }
                continue;
            }
        }
        work.push((function, block, index + 1, state, stack));
    }
    truth
}

impl Truth {
    /// The one value that the pointer has at a point, if it is one.
    fn must(&self, at: (usize, usize, usize), pointer: Pointer) -> Option<Option<Term>> {
        let states = self.seen.get(&at)?;
        let values: BTreeSet<Option<u32>> = states.iter().map(|state| state[pointer as usize]).collect();
        let mut values = values.into_iter();
        match (values.next(), values.next()) {
            (Some(Some(ANYTHING)), None) => Some(None),
            (Some(Some(global)), None) => Some(Some(address(global))),
            (Some(None), None) => Some(Some(Term::constant(0))),
            _ => Some(None),
        }
    }
}

/// Calls only go to later functions, or anywhere.
fn generate(random: &mut Random, copies: bool, recursion: bool) -> Toy {
    let count = 1 + random.below(3);
    let functions = (0..count)
        .map(|function| {
            let blocks = 1 + random.below(5);
            (0..blocks)
                .map(|block| {
                    let statements = (0..random.below(4))
                        .map(|_| statement(random, function, count, copies, recursion))
                        .collect();
                    // The last block returns; others go on or back.
                    let next = match block + 1 == blocks {
                        true => Vec::new(),
                        false => {
                            let mut next = vec![block + 1];
                            if random.chance(50) {
                                next.push(1 + random.below(blocks - 1));
                            }
                            next.dedup();
                            next
                        }
                    };
                    Block { statements, next }
                })
                .collect()
        })
        .collect();
    Toy { functions, entries: Entries::Callers }
}

fn statement(random: &mut Random, function: usize, count: usize, copies: bool, recursion: bool) -> Statement {
    let pointer = |random: &mut Random| random.below(POINTERS as usize) as Pointer;
    match random.below(10) {
        0..4 => Statement::Address(pointer(random), 1 + random.below(2) as u32),
        4 if copies => Statement::Copy(pointer(random), pointer(random)),
        5 if copies => Statement::Copy(pointer(random), pointer(random)),
        6 => Statement::Clobber(pointer(random)),
        7 | 8 if recursion && count > 1 => Statement::Call(1 + random.below(count - 1)),
        7 | 8 if function + 1 < count => Statement::Call(function + 1 + random.below(count - function - 1)),
        _ => Statement::Skip,
    }
}

fn compare(toy: &Toy, exact: bool, depth: usize) -> (usize, usize) {
    let truth = walk(toy, depth);
    let everything = |_: Pointer| true;
    let mut engine = Engine::new(toy, &everything);
    let (mut questions, mut known) = (0, 0);
    for (function, blocks) in toy.functions.iter().enumerate() {
        for (block, code) in blocks.iter().enumerate() {
            for index in 0..=code.statements.len() {
                for pointer in 0..POINTERS {
                    let at =
                        At { function: FunctionId(function as u32), block: BlockId(block as u32), index };
                    let held = engine.at_most(at, pointer, 100_000);
                    let Some(must) = truth.must((function, block, index), pointer) else { continue };
                    questions += 1;
                    match held {
                        Held::Value(value) => {
                            known += 1;
                            assert_eq!(Some(value), must, "p{pointer} at {at:?} of {toy:?}");
                        }
                        Held::Unknown if exact && !truth.cut => {
                            assert_eq!(None, must, "p{pointer} at {at:?} of {toy:?}");
                        }
                        Held::Unknown => {}
                        other => panic!("{other:?} for p{pointer} at {at:?}, which is reached, of {toy:?}"),
                    }
                }
            }
        }
    }
    (questions, known)
}

fn rounds() -> u64 {
    if std::env::var_os("RADDLE_SOAK").is_some() { 200_000 } else { 2_000 }
}

#[test]
fn what_is_known_is_true_and_without_copies_all_that_is_true() {
    let (mut questions, mut known) = (0, 0);
    for seed in 0..rounds() {
        let toy = generate(&mut Random::new(seed), false, false);
        let (asked, found) = compare(&toy, one_caller_each(&toy), 8);
        questions += asked;
        known += found;
    }
    assert!(known * 5 > questions, "{known} of {questions}");
}

#[test]
fn copies_and_recursion_are_never_wrong() {
    let (mut questions, mut known) = (0, 0);
    for seed in 0..rounds() {
        let mut random = Random::new(seed ^ 0xC0FFEE);
        let recursion = random.chance(50);
        let toy = generate(&mut random, true, recursion);
        let (asked, found) = compare(&toy, false, 4);
        questions += asked;
        known += found;
    }
    assert!(known * 8 > questions, "{known} of {questions}");
}

/// With several callers the engine joins what the twin keeps apart.
fn one_caller_each(toy: &Toy) -> bool {
    let mut calls = vec![0; toy.functions.len()];
    for statement in toy.functions.iter().flatten().flat_map(|block| &block.statements) {
        if let Statement::Call(callee) = statement {
            calls[*callee] += 1;
        }
    }
    calls.iter().all(|count| *count <= 1)
}
