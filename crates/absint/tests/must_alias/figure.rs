//! Fig. 1, and what the module doc says of loops, recursion and the paper's gaps.

use crate::toy::Statement::{Address, Call, Clobber, Copy, Skip};
use crate::toy::{Block, Pointer, Toy, address};
use raddle_absint::must_alias::{At, Engine, Held};
use raddle_ir::{BlockId, FunctionId};

const P: Pointer = 0;
const Q: Pointer = 1;

fn block(statements: Vec<crate::toy::Statement>, next: &[usize]) -> Block {
    Block { statements, next: next.to_vec() }
}

/// `Sum(f, p, l)` for the location after a statement.
fn sum(toy: &Toy, function: usize, block: usize, after: usize, pointer: Pointer) -> Held<Pointer> {
    let everything = |_: Pointer| true;
    let mut engine = Engine::new(toy, &everything);
    let at = At { function: FunctionId(function as u32), block: BlockId(block as u32), index: after + 1 };
    engine.at(at, pointer)
}

#[test]
fn summaries_of_figure_1() {
    const FOO: usize = 0;
    const BAR: usize = 1;
    const GOO: usize = 2;
    let toy = Toy {
        functions: vec![
            // 1a: p = g1; 2a: q = g2; 3a: bar(); 4a: ...
            vec![block(vec![Address(P, 1), Address(Q, 2), Call(BAR), Skip], &[])],
            // 1b: goo();
            vec![block(vec![Call(GOO)], &[])],
            // 1c: p = g3; 2c: q = g4; 3c: if (global_var) 4c: p = g5; 5c: u = 1;
            vec![
                block(vec![Address(P, 3), Address(Q, 4)], &[1, 2]),
                block(vec![Address(P, 5)], &[2]),
                block(vec![Skip], &[]),
            ],
        ],
        ..Toy::default()
    };
    assert_eq!(sum(&toy, GOO, 0, 1, P), Held::Value(address(3)), "Sum(goo, 2c, p)");
    assert_eq!(sum(&toy, GOO, 0, 1, Q), Held::Value(address(4)), "Sum(goo, 2c, q)");
    assert_eq!(sum(&toy, GOO, 2, 0, Q), Held::Value(address(4)), "Sum(goo, 5c, q)");
    assert_eq!(sum(&toy, GOO, 2, 0, P), Held::Unknown, "Sum(goo, 5c, p)");
    assert_eq!(sum(&toy, BAR, 0, 0, P), Held::Unknown, "Sum(bar, 1b, p)");
    assert_eq!(sum(&toy, BAR, 0, 0, Q), Held::Value(address(4)), "Sum(bar, 1b, q)");
    assert_eq!(sum(&toy, FOO, 0, 1, P), Held::Value(address(1)), "Sum(foo, 2a, p)");
    assert_eq!(sum(&toy, FOO, 0, 1, Q), Held::Value(address(2)), "Sum(foo, 2a, q)");
    assert_eq!(sum(&toy, FOO, 0, 2, P), Held::Unknown, "Sum(foo, 3a, p)");
    assert_eq!(sum(&toy, FOO, 0, 2, Q), Held::Value(address(4)), "Sum(foo, 3a, q)");
}

#[test]
fn a_loop_that_does_not_write_keeps_the_pointer() {
    // p = g; while (c) u = 1; use(p)
    let body = |inside| Toy {
        functions: vec![vec![
            block(vec![Address(P, 7)], &[1]),
            block(vec![], &[2, 3]),
            block(vec![inside], &[1]),
            block(vec![Skip], &[]),
        ]],
        ..Toy::default()
    };
    assert_eq!(sum(&body(Skip), 0, 3, 0, P), Held::Value(address(7)));
    assert_eq!(sum(&body(Address(P, 7)), 0, 3, 0, P), Held::Value(address(7)));
    assert_eq!(sum(&body(Address(P, 8)), 0, 3, 0, P), Held::Unknown);
    assert_eq!(sum(&body(Copy(P, Q)), 0, 3, 0, P), Held::Unknown);
    assert_eq!(sum(&body(Copy(P, P)), 0, 3, 0, P), Held::Value(address(7)));
}

#[test]
fn copies_are_followed_to_the_entry() {
    // q = p at the entry, p overwritten: q is what p was.
    let toy =
        Toy { functions: vec![vec![block(vec![Copy(Q, P), Address(P, 1), Skip], &[])]], ..Toy::default() };
    assert_eq!(sum(&toy, 0, 0, 2, Q), Held::Entry(P));
    assert_eq!(sum(&toy, 0, 0, 2, P), Held::Value(address(1)));
}

#[test]
fn a_summary_in_terms_of_the_entry_is_used_in_every_context() {
    // swap-like: f() { q = p; p = g9; }, called twice with different p.
    let toy = Toy {
        functions: vec![
            vec![block(vec![Address(P, 1), Call(1), Skip, Address(P, 2), Call(1), Skip], &[])],
            vec![block(vec![Copy(Q, P), Address(P, 9)], &[])],
        ],
        ..Toy::default()
    };
    assert_eq!(sum(&toy, 0, 0, 2, Q), Held::Value(address(1)));
    assert_eq!(sum(&toy, 0, 0, 5, Q), Held::Value(address(2)));
    assert_eq!(sum(&toy, 0, 0, 5, P), Held::Value(address(9)));
}

#[test]
fn the_same_value_on_a_branch_and_before_it() {
    // p = g1; if (c) p = g1; use(p): intersecting backwards at the branch would give nothing.
    let toy = Toy {
        functions: vec![vec![
            block(vec![Address(P, 1)], &[1, 2]),
            block(vec![Address(P, 1)], &[2]),
            block(vec![Skip], &[]),
        ]],
        ..Toy::default()
    };
    assert_eq!(sum(&toy, 0, 2, 0, P), Held::Value(address(1)));
}

#[test]
fn recursive_functions_have_summaries() {
    // f() { if (c) { p = g1; } else { f(); } } : p is g1 whenever f returns; q is not touched.
    let recursive = |last| Toy {
        functions: vec![
            vec![block(vec![Address(Q, 3), Call(1), Skip], &[])],
            vec![
                block(vec![], &[1, 2]),
                block(vec![Address(P, 1)], &[3]),
                block(vec![Call(1), last], &[3]),
                block(vec![Skip], &[]),
            ],
        ],
        ..Toy::default()
    };
    assert_eq!(sum(&recursive(Skip), 0, 0, 2, P), Held::Value(address(1)));
    assert_eq!(sum(&recursive(Skip), 0, 0, 2, Q), Held::Value(address(3)));
    assert_eq!(sum(&recursive(Address(P, 2)), 0, 0, 2, P), Held::Unknown);
    assert_eq!(sum(&recursive(Clobber(P)), 0, 0, 2, P), Held::Unknown);
}

#[test]
fn a_function_that_never_returns_holds_anything() {
    let toy = Toy {
        functions: vec![
            vec![block(vec![Call(1), Skip], &[])],
            vec![block(vec![Address(P, 1)], &[1]), block(vec![], &[1])],
        ],
        ..Toy::default()
    };
    assert_eq!(sum(&toy, 0, 0, 1, P), Held::Never);
}

#[test]
fn pointers_of_other_partitions_are_not_followed() {
    let toy = Toy { functions: vec![vec![block(vec![Address(P, 1), Address(Q, 2)], &[])]], ..Toy::default() };
    let only_q = |pointer: Pointer| pointer == Q;
    let mut engine = Engine::new(&toy, &only_q);
    let end = At { function: FunctionId(0), block: BlockId(0), index: 2 };
    assert_eq!(engine.at(end, P), Held::Unknown);
    assert_eq!(engine.at(end, Q), Held::Value(address(2)));
}

#[test]
fn a_question_that_is_too_large_is_given_up() {
    let mut blocks: Vec<Block> = (0..50).map(|at| block(vec![Skip], &[at + 1])).collect();
    blocks[0].statements = vec![Address(P, 1)];
    blocks.push(block(vec![Skip], &[]));
    let toy = Toy { functions: vec![blocks], ..Toy::default() };
    let everything = |_: Pointer| true;
    let end = At { function: FunctionId(0), block: BlockId(50), index: 1 };
    assert_eq!(Engine::new(&toy, &everything).at_most(end, P, 20), Held::Unknown);
    assert_eq!(Engine::new(&toy, &everything).at(end, P), Held::Value(address(1)));
}
