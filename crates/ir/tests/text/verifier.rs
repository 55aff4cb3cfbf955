//! The verifier accepts what is well formed and refuses each way of being wrong.

use super::count;
use super::generate::program;
use raddle_ir::{parse, verify};

#[test]
fn generated_programs_are_well_formed() {
    for seed in 0..count(1_500, 100_000) {
        if let Err(errors) = verify(&program(seed)) {
            panic!("seed {seed}: {}\n{}", errors[0], raddle_ir::print(&program(seed)));
        }
    }
}

/// A well-formed program; each case below breaks it by one replacement.
const GOOD: &str = r#"raddle-ir 1
model LP64
file file0 "a.c"
type t0 = scalar "int" 4
type t1 = typedef "num" t0
place p0 = g0
global g0 "x" name "x" type t1 bytes 16 align 4 init "00" (8 f1) at file0:1:5
global g1 "tls" bytes 4 align 4 thread_local
constructors (f0)
function f0 "main" name "main" returns (i32) {
  params (%0)
b0:
  %1 = load i32 g0 place p0 at file0:3:5
  %2 = icmp eq i32 %1, %0
  %3 = tls_addr g1
  cond_br %2, b1, b2
b1:
  %4 = add i32 %1, 1
  br b2
b2:
  %5 = phi (b0: 7, b1: %4)
  store i32 %5, %3 place p0
  %6 = trunc i32 %5 to i8
  ret (%5)
  reg %0 i32
  reg %1 i32
  reg %2 i1
  reg %3 ptr
  reg %4 i32
  reg %5 i32
  reg %6 i8
}
function f1 "other" name "other" returns () {
  params ()
}
"#;

#[test]
fn the_example_is_well_formed() {
    verify(&parse(GOOD).unwrap()).unwrap();
}

#[test]
fn every_break_is_found() {
    for (from, to, message) in [
        ("typedef \"num\" t0", "typedef \"num\" t1", "t1 is an alias of itself"),
        ("typedef \"num\" t0", "pointer t9", "t9 does not exist"),
        ("place p0 = g0", "place p0 = g7", "g7 does not exist"),
        ("\"tls\"", "\"x\"", "two globals named x"),
        ("function f1 \"other\"", "function f1 \"main\"", "two functions named main"),
        ("bytes 16 align 4", "bytes 16 align 3", "global x: alignment 3"),
        ("(8 f1)", "(9 f1)", "global x: an address at offset 9"),
        ("(8 f1)", "(8 f1 b0)", "b0 does not exist"),
        ("(f0)", "(f2)", "f2 does not exist"),
        ("at file0:3:5", "at file1:3:5", "file1 does not exist"),
        ("load i32 g0 place p0", "load i32 g0 place p3", "function main @0: p3 does not exist"),
        ("load i32 g0", "load i64 g0", "function main @0: %1 has type Int(32), its value Int(64)"),
        ("load i32 g0", "load i32 g1", "function main @0: g1 is thread-local"),
        ("icmp eq i32 %1, %0", "icmp eq i8 %1, %0", "%1 has type Int(32), Int(8) is expected"),
        ("tls_addr g1", "tls_addr g0", "function main @2: g0 is not thread-local"),
        ("cond_br %2, b1, b2", "cond_br %2, b1, b9", "b9 does not exist"),
        ("cond_br %2", "cond_br %1", "%1 has type Int(32), Int(1) is expected"),
        ("%4 = add i32 %1, 1", "%1 = add i32 %1, 1", "%1 is assigned in two places"),
        ("%4 = add i32 %1, 1", "%4 = add i32 %5, 1", "%5 is used in b1 where it may have no value"),
        ("store i32 %5", "store i32 %4", "%4 is used in b2 where it may have no value"),
        ("add i32 %1, 1", "add i32 %1, 4294967296", "the constant 4294967296 does not fit Int(32)"),
        ("(b0: 7, b1: %4)", "(b0: 7)", "the phi of %5 in b2 does not name each predecessor once"),
        ("(b0: 7, b1: %4)", "(b0: %4, b1: %4)", "%4 is used in b0 where it may have no value"),
        ("(b0: 7, b1: %4)", "(b0: 7, b1: %2)", "%2 has type Int(1), Int(32) is expected"),
        ("trunc i32 %5 to i8", "zext i32 %5 to i8", "a cast ZExt from Int(32) to Int(8)"),
        ("ret (%5)", "ret ()", "function main @8: returns 0 values of 1"),
        ("ret (%5)", "ret (%9)", "%9 does not exist"),
    ] {
        assert_eq!(GOOD.matches(from).count(), 1, "{from}");
        let errors = verify(&parse(&GOOD.replace(from, to)).unwrap()).expect_err(to);
        assert!(errors.iter().any(|e| e.to_string().contains(message)), "{to}: {errors:?}");
    }
}

#[test]
fn sites_follow_the_layout() {
    let mut program = parse(GOOD).unwrap();
    let blocks = &mut program.functions[raddle_ir::FunctionId(0)].blocks;
    blocks[raddle_ir::BlockId(1)].first_site.0 += 1;
    assert!(verify(&program).is_err());

    let mut program = parse(GOOD).unwrap();
    program.sites[raddle_ir::SiteId(3)].function = raddle_ir::FunctionId(1);
    assert!(verify(&program).is_err());

    let mut program = parse(GOOD).unwrap();
    program.sites.push(program.sites[raddle_ir::SiteId(3)]);
    assert!(verify(&program).is_err());
}

#[test]
fn sites_lead_back_to_their_code() {
    use raddle_ir::{Code, Inst, Terminator};
    let program = parse(GOOD).unwrap();
    let at = |site| program.code_at(raddle_ir::SiteId(site));
    assert!(matches!(at(0), Some(Code::Inst(Inst::Load { .. }))));
    assert!(matches!(at(3), Some(Code::Terminator(Terminator::CondBr { .. }))));
    assert!(matches!(at(5), Some(Code::Terminator(Terminator::Br(_)))));
    assert!(matches!(at(6), Some(Code::Inst(Inst::Store { .. }))));
    assert!(matches!(at(8), Some(Code::Terminator(Terminator::Ret { .. }))));
    assert!(at(9).is_none() && program.code_at(raddle_ir::SiteId::NONE).is_none());
}
