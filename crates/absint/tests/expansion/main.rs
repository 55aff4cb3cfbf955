//! The expanded program runs as the original does, what is not proved is refused, and the policy copies and unrolls what it says.

mod executions;
mod lockstep;
mod policy;
mod refused;
mod wild;

use raddle_config::Config;
use raddle_frontend::{Request, load};
use raddle_ir::{DataModel, FunctionId, Program};
use raddle_libmodel::Models;
use std::path::Path;

/// A C program in a file of its own.
fn compile(source: &str) -> (Program, Models) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("program.c");
    std::fs::write(&path, source).expect("writable");
    compile_file(&path, DataModel::Lp64, &[], &Config::default()).expect("it compiles")
}

fn compile_file(
    path: &Path,
    model: DataModel,
    cflags: &[String],
    config: &Config,
) -> Result<(Program, Models), String> {
    let request = Request {
        inputs: vec![path.to_path_buf()],
        cflags: cflags.to_vec(),
        data_model: Some(model),
        ..Request::default()
    };
    let program = load(&request).map_err(|e| format!("{}: {e}", path.display()))?.program;
    let models = Models::resolve(&program, config);
    Ok((program, models))
}

fn function(program: &Program, symbol: &str) -> FunctionId {
    program.function_by_symbol(symbol).unwrap_or_else(|| panic!("no function {symbol}"))
}

/// `main` and what runs before it.
fn roots(program: &Program) -> Vec<FunctionId> {
    program.constructors.iter().copied().chain(program.function_by_symbol("main")).collect()
}
