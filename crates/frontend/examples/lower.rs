//! `cargo run -p raddle-frontend --example lower -- [--stats] FILE…`: the lowered program as text, or how much of it was understood.

use raddle_frontend::{Request, load};
use raddle_ir::{Inst, Terminator};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut inputs: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let stats = inputs.iter().any(|input| input.as_os_str() == "--stats");
    inputs.retain(|input| input.as_os_str() != "--stats");
    let loaded = match load(&Request { inputs, ..Request::default() }) {
        Ok(loaded) => loaded,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let program = &loaded.program;
    if !stats {
        print!("{}", raddle_ir::print(program));
    }
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut functions, mut instructions) = (0, 0);
    for function in program.functions.values().filter(|function| function.is_defined()) {
        functions += 1;
        for block in function.blocks.values() {
            instructions += block.insts.len() + 1;
            for inst in &block.insts {
                if let Inst::Unsupported { reason, .. } = inst {
                    *reasons.entry(program.text(*reason)).or_default() += 1;
                }
            }
            if let Terminator::Unsupported { reason } = &block.terminator {
                *reasons.entry(program.text(*reason)).or_default() += 1;
            }
        }
    }
    eprintln!("{functions} functions, {instructions} instructions");
    for (reason, count) in reasons {
        eprintln!("unsupported: {count} x {reason}");
    }
    match raddle_ir::verify(program) {
        Ok(()) => ExitCode::SUCCESS,
        Err(errors) => {
            for error in errors {
                eprintln!("{error}");
            }
            ExitCode::FAILURE
        }
    }
}
