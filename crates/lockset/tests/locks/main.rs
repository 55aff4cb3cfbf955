//! Locks on C programs: what is held where, by what they say and by running them; events and their reduction; deadlock candidates; sides
//! of branches.

mod branches;
mod deadlocks;
mod figure2;
mod held;
mod runs;
mod threads;

use raddle_absint::Roots;
use raddle_absint::accesses::{self, Access};
use raddle_absint::calls::Calls;
use raddle_absint::terms::Definitions;
use raddle_config::Config;
use raddle_facts::{LockFacts, PointsTo, ThreadFacts, Values};
use raddle_frontend::{Request, load};
use raddle_ir::Program;
use raddle_libmodel::Models;
use raddle_lockset::held::Locks;
use std::path::{Path, PathBuf};

/// A program with the facts that everything here stands on. It is not expanded.
struct Solved {
    program: Program,
    models: Models,
    values: Values,
    points_to: PointsTo,
    threads: ThreadFacts,
    locks: LockFacts,
    accesses: Vec<Access>,
}

impl Solved {
    fn reader(&self) -> Locks<'_> {
        let mut locks = Locks::new(&self.program, &self.models, &self.points_to, &self.values, &self.threads);
        locks.use_solution(&self.locks);
        locks
    }
}

fn solved(path: &Path) -> Solved {
    let request = Request { inputs: vec![path.to_path_buf()], ..Request::default() };
    let program = load(&request).unwrap_or_else(|e| panic!("{}: {e}", path.display())).program;
    let models = Models::resolve(&program, &Config::default());
    solve_all(program, models)
}

fn solve_all(program: Program, models: Models) -> Solved {
    let entries = program.functions.ids().filter(|id| {
        let name = program.text(program.functions[*id].name);
        name.starts_with("client_")
    });
    let roots = Roots::of(&program, entries.collect());
    let values = raddle_absint::values::registers(&program, &models, &roots);
    let points_to = raddle_absint::points_to::solve(&program, &models, &values, &roots);
    let calls = Calls::new(&program, &models, &values, &points_to);
    let definitions = Definitions::new(&program);
    let accesses = accesses::collect(&program, &calls, &values, &points_to);
    let threads =
        raddle_absint::threads::solve(&program, &roots, &calls, &definitions, &values, &points_to, &accesses);
    let locks = Locks::new(&program, &models, &points_to, &values, &threads).solve();
    Solved { program, models, values, points_to, threads, locks, accesses }
}

/// A C file of this test.
fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/locks").join(name)
}
