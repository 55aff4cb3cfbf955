//! Builds the run-time library that goes into every program: an archive by a cargo of its own, with its own profile, and the part that
//! is inlined into the program as bitcode by clang 19.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let out = PathBuf::from(variable("OUT_DIR"));
    let root = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../..");
    let sources = root.join("crates/runtime");
    println!("cargo:rerun-if-changed={}", sources.join("src").display());
    println!("cargo:rerun-if-changed={}", sources.join("Cargo.toml").display());
    println!("cargo:rerun-if-changed={}", root.join("Cargo.toml").display());
    println!("cargo:rerun-if-env-changed=LLVM_SYS_191_PREFIX");
    archive(&root, &out);
    let hot = sources.join("src/hot.c");
    bitcode(&hot, &out.join("hot.bc"), &[]);
    bitcode(&hot, &out.join("hot-shared.bc"), &["-DRADDLE_SHARED"]);
}

fn archive(root: &Path, out: &Path) {
    const PROFILE: &str = "runtime";
    let target = out.join("runtime");
    let mut cargo = Command::new(variable("CARGO"));
    cargo.args(["build", "--quiet", "--profile", PROFILE, "-p", "raddle-runtime", "--features", "program"]);
    cargo.arg("--target-dir").arg(&target).current_dir(root);
    // What the outer cargo says about its own work is not meant for the inner one.
    for name in [
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_WRAPPER",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_TARGET_DIR",
        "CLIPPY_ARGS",
    ] {
        cargo.env_remove(name);
    }
    run(&mut cargo, "the run-time library");
    let name = "libraddle_runtime.a";
    std::fs::copy(target.join(PROFILE).join(name), out.join(name))
        .expect("the archive of the run-time library is there");
}

fn bitcode(source: &Path, target: &Path, flags: &[&str]) {
    let prefix = std::env::var_os("LLVM_SYS_191_PREFIX").map(|prefix| Path::new(&prefix).join("bin/clang"));
    let clang = prefix.filter(|clang| clang.is_file()).unwrap_or_else(|| "clang-19".into());
    let mut command = Command::new(clang);
    command.args(["-O2", "-fPIC", "-emit-llvm", "-c"]).args(flags).arg(source).arg("-o").arg(target);
    run(&mut command, "the inlined part of the run-time library");
}

fn run(command: &mut Command, what: &str) {
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{what} could not be built: {command:?} ended with {status}"),
        Err(error) => panic!("{what} could not be built: {command:?}: {error}"),
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
