//! Scripts as C, compiled and loaded into the interpreter.

use raddle_config::Config;
use raddle_frontend::Request;
use raddle_interp::{Interp, Options};
use raddle_libmodel::Models;
use raddle_testkit::script::{Script, c_text};
use std::path::Path;
use std::sync::Arc;

/// The folder is where the C file goes.
pub fn load(script: &Script, folder: &Path) -> Interp {
    let file = folder.join("script.c");
    std::fs::write(&file, c_text(script).text).expect("the folder can be written");
    let request = Request { inputs: vec![file], cflags: Vec::new(), data_model: None, ..Request::default() };
    let program = raddle_frontend::load(&request).expect("scripts are valid C").program;
    let models = Models::resolve(&program, &Config::default());
    Interp::new(Arc::new(program), Arc::new(models), Options::default()).expect("scripts have a main")
}
