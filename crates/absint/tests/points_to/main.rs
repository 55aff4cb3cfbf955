//! Points-to against three things that know better: runs of the interpreter, the rules by which a solution is closed, and small programs
//! that say in the names of the functions they call what a pointer points to.

mod closure;
mod partitions;
mod runs;
mod snippets;

use raddle_absint::values::registers;
use raddle_absint::{Roots, points_to};
use raddle_config::Config;
use raddle_facts::{PointsTo, Values};
use raddle_frontend::{Request, load};
use raddle_ir::{DataModel, FunctionId, Program};
use raddle_libmodel::Models;
use raddle_testkit::fixtures::{self, Fixture};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A program and everything that its points-to facts rest on.
struct Solved {
    program: Program,
    models: Models,
    roots: Roots,
    values: Values,
    facts: PointsTo,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn soak() -> bool {
    std::env::var_os("RADDLE_SOAK").is_some()
}

fn compile(source: &str) -> Program {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("program.c");
    std::fs::write(&path, source).expect("writable");
    compile_file(&path, DataModel::Lp64, &[]).expect("it compiles")
}

fn compile_file(path: &Path, model: DataModel, cflags: &[String]) -> Result<Program, String> {
    let request = Request {
        inputs: vec![path.to_path_buf()],
        cflags: cflags.to_vec(),
        data_model: Some(model),
        ..Request::default()
    };
    Ok(load(&request).map_err(|e| format!("{}: {e}", path.display()))?.program)
}

fn solve(program: Program, entries: Vec<FunctionId>) -> Solved {
    // The functions that the snippets ask with do nothing.
    let config = Config { ignore: vec!["points".to_owned()], ..Config::default() };
    let models = Models::resolve(&program, &config);
    let roots = Roots::of(&program, entries);
    let values = registers(&program, &models, &roots);
    let facts = points_to::solve(&program, &models, &values, &roots);
    Solved { program, models, roots, values, facts }
}

/// Fixtures, and the programs that are compared with native code; a slice of them unless this is a soak run.
fn programs() -> &'static [(PathBuf, Fixture, Program)] {
    static ALL: LazyLock<Vec<(PathBuf, Fixture, Program)>> = LazyLock::new(|| {
        let mut all = Vec::new();
        let every = if soak() { 1 } else { 9 };
        let fixtures = fixtures::files(&root().join("tests/fixtures")).expect("fixtures");
        for path in fixtures.into_iter().step_by(every) {
            let text = std::fs::read_to_string(&path).expect("readable");
            let Ok(fixture) = fixtures::parse(&text) else { continue };
            let model = match fixture.data_models {
                fixtures::DataModels::Ilp32 => DataModel::Ilp32,
                fixtures::DataModels::Lp64 | fixtures::DataModels::Both => DataModel::Lp64,
            };
            if let Ok(program) = compile_file(&path, model, &fixture.cflags) {
                all.push((path, fixture, program));
            }
        }
        for path in fixtures::files(&root().join("tests/native")).expect("programs") {
            let program = compile_file(&path, DataModel::Lp64, &[]).expect("it compiles");
            all.push((path, Fixture::default(), program));
        }
        all
    });
    &ALL
}
