//! What chores need of the project they stand in: its release binary and its commit.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds `raddle` in release mode.
pub(crate) fn release_binary(root: &Path) -> Result<PathBuf, String> {
    let build = ["build", "--quiet", "--release", "-p", "raddle-cli"];
    let status = Command::new("cargo").args(build).current_dir(root).status();
    if !status.map_err(|error| format!("cargo: {error}"))?.success() {
        return Err("raddle does not build".to_owned());
    }
    Ok(target(root).join("release/raddle"))
}

pub(crate) fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// Short, with `+` where files differ from it; `unknown` without git.
pub(crate) fn commit(root: &Path) -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(root).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short=9", "HEAD"]) else { return "unknown".to_owned() };
    let changed = git(&["status", "--porcelain"]).is_some_and(|changes| !changes.is_empty());
    if changed { commit + "+" } else { commit }
}
