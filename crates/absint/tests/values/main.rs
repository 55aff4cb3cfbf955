//! What is found out about registers and memory: small programs that say in the names of the functions they call what must be known
//! there, and every rule of the solution checked again over all fixtures.

mod instrumented;
mod memory;
mod runs;
mod snippets;

use raddle_absint::calls::Calls;
use raddle_absint::terms::Definitions;
use raddle_absint::values::{registers, with_memory};
use raddle_absint::{Roots, accesses, order, points_to, threads};
use raddle_config::{Config, External};
use raddle_facts::Values;
use raddle_frontend::{Request, load};
use raddle_ir::{DataModel, Program};
use raddle_libmodel::Models;
use std::path::Path;

/// A C program in a file of its own.
fn compile(source: &str) -> (Program, Models) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("program.c");
    std::fs::write(&path, source).expect("writable");
    compile_file(&path, DataModel::Lp64, &[]).expect("it compiles")
}

fn compile_file(path: &Path, model: DataModel, cflags: &[String]) -> Result<(Program, Models), String> {
    let request = Request {
        inputs: vec![path.to_path_buf()],
        cflags: cflags.to_vec(),
        data_model: Some(model),
        ..Request::default()
    };
    let program = load(&request).map_err(|e| format!("{}: {e}", path.display()))?.program;
    let models = Models::resolve(&program, &Config { external: External::Pure, ..Config::default() });
    Ok((program, models))
}

/// All facts of a program, as the analysis solves them one after the other.
struct Solved {
    first: Values,
    values: Values,
}

fn solve(program: &Program, models: &Models) -> Solved {
    let roots = Roots::of(program, Vec::new());
    let first = registers(program, models, &roots);
    let points_to = points_to::solve(program, models, &first, &roots);
    let calls = Calls::new(program, models, &first, &points_to);
    let accesses = accesses::collect(program, &calls, &first, &points_to);
    let definitions = Definitions::new(program);
    let threads = threads::solve(program, &roots, &calls, &definitions, &first, &points_to, &accesses);
    let holders = order::Holders::find(program, &calls, &points_to, &threads, &accesses);
    let input = order::Input {
        program,
        calls: &calls,
        definitions: &definitions,
        values: &first,
        points_to: &points_to,
        threads: &threads,
        accesses: &accesses,
        holders: &holders,
        constructors: &roots.constructors,
    };
    let order = order::solve(input, None, None).facts();
    let values = with_memory(program, models, &roots, &first, &points_to, &threads, &order);
    Solved { first, values }
}
