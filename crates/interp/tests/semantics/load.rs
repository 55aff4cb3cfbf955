//! From C text to a machine.

use raddle_config::Config;
use raddle_frontend::{Request, load};
use raddle_interp::{Interp, Options};
use raddle_ir::{DataModel, Program};
use raddle_libmodel::Models;
use std::sync::Arc;

const PRELUDE: &str = "#define _GNU_SOURCE\n#include <pthread.h>\n#include <semaphore.h>\n#include <stdatomic.h>\n#include <stdio.h>\n\
    #include <stdlib.h>\n#include <string.h>\n#include <assert.h>\n#include <errno.h>\n#include <time.h>\n#line 1\n";

pub fn program(source: &str, model: DataModel) -> Arc<Program> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("test.c");
    std::fs::write(&file, format!("{PRELUDE}{source}")).expect("a writable folder");
    let request = Request { inputs: vec![file], data_model: Some(model), ..Request::default() };
    let loaded = load(&request).unwrap_or_else(|error| panic!("{error}\n{source}"));
    raddle_ir::verify(&loaded.program).unwrap_or_else(|errors| panic!("{errors:?}"));
    Arc::new(loaded.program)
}

pub fn machine_with(source: &str, options: Options) -> Interp {
    machine_for(program(source, DataModel::Lp64), options)
}

pub fn machine_for(program: Arc<Program>, options: Options) -> Interp {
    let models = Arc::new(Models::resolve(&program, &Config::default()));
    Interp::new(program, models, options).expect("the program has a main")
}

pub fn machine(source: &str) -> Interp {
    machine_with(source, Options::default())
}
