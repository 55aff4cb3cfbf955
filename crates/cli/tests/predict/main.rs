//! `raddle predict`, as a user runs it.

mod around;
mod paths;
mod scenarios;
mod usage;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn raddle(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    command.args(arguments).current_dir(folder).output().expect("raddle can be started")
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Builds a program with all checks and gives its path.
fn built(folder: &Path, source: &Path) -> PathBuf {
    let program = folder.join(source.file_stem().expect("a file has a name"));
    let (source, target) = (source.to_string_lossy(), program.to_string_lossy());
    let flags = ["cc", "-O1", "-g", "--raddle-no-prune", "-pthread", &source, "-o", &target];
    let output = raddle(folder, &flags);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}
