//! What is found out about registers and memory: small programs that say in the names of the functions they call what must be known
//! there, and every rule of the solution checked again over all fixtures.

mod snippets;

use raddle_config::Config;
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
        target: None,
    };
    let program = load(&request).map_err(|e| format!("{}: {e}", path.display()))?.program;
    let models = Models::resolve(&program, &Config::default());
    Ok((program, models))
}
