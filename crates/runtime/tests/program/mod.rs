//! Builds a C program with hooks in it, hot.c and the runtime's archive, as `raddle cc` would.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The program made of this C file.
pub fn build(source: &Path) -> PathBuf {
    static ARCHIVE: OnceLock<PathBuf> = OnceLock::new();
    let archive = ARCHIVE.get_or_init(archive);
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let name = source.file_stem().unwrap().to_string_lossy();
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join(&*name);
    let status = Command::new("clang-19")
        .args(["-O2", "-g", "-flto=full", "-fuse-ld=lld", "-pthread"])
        .arg(here.join(source))
        .arg(here.join("src/hot.c"))
        .arg(archive)
        .args(["-ldl", "-lm", "-o"])
        .arg(&output)
        .status()
        .expect("clang-19 runs");
    assert!(status.success(), "{name} does not build");
    output
}

/// The static library, built as `native` builds it.
fn archive() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("archive");
    let status = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--profile",
            "runtime",
            "--package",
            "raddle-runtime",
            "--features",
            "program",
        ])
        .arg("--target-dir")
        .arg(&target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("cargo runs");
    assert!(status.success(), "the archive does not build");
    target.join("runtime/libraddle_runtime.a")
}
