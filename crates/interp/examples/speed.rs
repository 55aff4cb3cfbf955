//! Prints how many million IR instructions a second the interpreter runs: `cargo run --release -p raddle-interp --example speed`.
//!
//! Phis and the instructions of the machine itself are not counted. Events go to a sink that drops them.

use raddle_event::Choice;
use raddle_interp::{Interp, Options};
use raddle_libmodel::Models;
use raddle_machine::{IgnoreEvents, Machine, Status};
use std::sync::Arc;
use std::time::Instant;

const REGISTERS: &str = r#"raddle-ir 1
model LP64

function f0 "main" name "main" returns (i32) {
  params ()
b0:
  br b1
b1:
  %0 = phi (b0: 0, b1: %4)
  %1 = phi (b0: 1, b1: %3)
  %2 = mul i32 %1, 1664525
  %3 = add i32 %2, %0
  %4 = add i32 %0, 1
  %5 = icmp slt i32 %4, 50000000
  cond_br %5, b1, b2
b2:
  %6 = and i32 %3, 1
  ret (%6)
  reg %0 i32
  reg %1 i32
  reg %2 i32
  reg %3 i32
  reg %4 i32
  reg %5 i1
  reg %6 i32
}
"#;

const ARRAY: &str = r#"raddle-ir 1
model LP64
place p0 = g0 [?]
global g0 "a" name "a" bytes 4096 align 16 init "" ()

function f0 "main" name "main" returns (i32) {
  params ()
b0:
  br b1
b1:
  %0 = phi (b0: 0, b1: %7)
  %1 = and i32 %0, 1023
  %2 = zext i32 %1 to i64
  %3 = gep g0 offset 0 (i64 %2 * 4)
  %4 = load i32 %3 place p0
  %5 = add i32 %4, %0
  store i32 %5, %3 place p0
  %7 = add i32 %0, 1
  %8 = icmp slt i32 %7, 20000000
  cond_br %8, b1, b2
b2:
  ret (0)
  reg %0 i32
  reg %1 i32
  reg %2 i64
  reg %3 ptr
  reg %4 i32
  reg %5 i32
  reg %6 i32
  reg %7 i32
  reg %8 i1
}
"#;

fn main() {
    for (name, text) in [("register loop", REGISTERS), ("array loads and stores", ARRAY)] {
        let program = Arc::new(raddle_ir::parse(text).expect("the program above parses"));
        let models = Arc::new(Models { meanings: Default::default() });
        let mut interp = Interp::new(program, models, Options::default()).expect("it has a main");
        let start = Instant::now();
        let mut choices: Vec<Choice> = Vec::new();
        while interp.status() == Status::Running {
            interp.enabled(&mut choices);
            interp.step(choices[0], &mut IgnoreEvents);
        }
        let seconds = start.elapsed().as_secs_f64();
        let millions = interp.instructions() as f64 / 1e6;
        println!(
            "{name}: {:.0} million instructions a second ({millions:.0} M, {:?})",
            millions / seconds,
            interp.status()
        );
    }
}
