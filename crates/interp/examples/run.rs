//! Runs a C program once, always the first open choice, and prints what it wrote: `cargo run -p raddle-interp --example run -- a.c`.
//!
//! With `RADDLE_SEED=n` the choices are random; `RADDLE_M32=1` compiles for ILP32.

use raddle_interp::{Interp, Options};
use raddle_libmodel::Models;
use raddle_machine::{IgnoreEvents, Machine, Status};
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(file) = args.next() else {
        eprintln!("run: a C file is needed");
        return ExitCode::from(2);
    };
    let data_model = std::env::var("RADDLE_M32").ok().map(|_| raddle_ir::DataModel::Ilp32);
    let request =
        raddle_frontend::Request { inputs: vec![file.clone().into()], data_model, ..Default::default() };
    let loaded = match raddle_frontend::load(&request) {
        Ok(loaded) => loaded,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let program = Arc::new(loaded.program);
    let models = Arc::new(Models::resolve(&program, &raddle_config::Config::default()));
    let options = Options { args: std::iter::once(file).chain(args).collect(), ..Options::default() };
    let mut interp = match Interp::new(program, models, options) {
        Ok(interp) => interp,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let mut seed = std::env::var("RADDLE_SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
    let mut choices = Vec::new();
    while interp.status() == Status::Running {
        interp.enabled(&mut choices);
        let index = match &mut seed {
            None => 0,
            Some(state) => {
                *state =
                    state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (*state >> 33) as usize % choices.len()
            }
        };
        interp.step(choices[index], &mut IgnoreEvents);
    }
    let _ = std::io::stdout().write_all(interp.output());
    for problem in interp.problems() {
        eprintln!("{}: {} {}", problem.thread, problem.kind.name(), problem.detail);
    }
    match interp.status() {
        Status::Exited(code) => ExitCode::from(code as u8),
        other => {
            eprintln!("{other:?}");
            ExitCode::from(3)
        }
    }
}
