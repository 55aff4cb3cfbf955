//! `cargo run -p raddle-frontend --example lower -- [--stats] [-m32] [FLAGS…] FILE…`: the lowered program as text, or how much of it was
//! understood. Flags are clang's.

use raddle_frontend::{Request, load};
use raddle_ir::{DataModel, Inst, Terminator};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let (mut flags, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with('-'));
    let stats = flags.iter().any(|flag| flag == "--stats");
    let data_model = flags.iter().any(|flag| flag == "-m32").then_some(DataModel::Ilp32);
    flags.retain(|flag| flag != "--stats" && flag != "-m32");
    let inputs = files.into_iter().map(PathBuf::from).collect();
    let start = Instant::now();
    let loaded = match load(&Request { inputs, cflags: flags, data_model, ..Request::default() }) {
        Ok(loaded) => loaded,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    let program = &loaded.program;
    if !stats {
        print!("{}", raddle_ir::print(program));
    }
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut functions, mut whole, mut instructions) = (0, 0, 0);
    for function in program.functions.values().filter(|function| function.is_defined()) {
        functions += 1;
        let before: usize = reasons.values().sum();
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
        whole += usize::from(before == reasons.values().sum::<usize>());
    }
    let share = 100.0 * whole as f64 / functions.max(1) as f64;
    eprintln!(
        "{functions} functions, {share:.2} % without Unsupported, {instructions} instructions, {seconds:.1} s"
    );
    for warning in &loaded.warnings {
        eprintln!("warning: {warning}");
    }
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
