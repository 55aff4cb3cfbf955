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

/// The last one that changes more than the tables of measurements, short, with `+` where files differ from it; `unknown` without git.
pub(crate) fn commit(root: &Path) -> String {
    let git = |arguments: &[&str]| {
        let all_but_tables = ["--", ".", ":(exclude)docs/benchmarks"];
        let output =
            Command::new("git").args(arguments).args(all_but_tables).current_dir(root).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["log", "-1", "--abbrev=9", "--format=%h"]).filter(|commit| !commit.is_empty());
    let Some(commit) = commit else { return "unknown".to_owned() };
    let changed = git(&["status", "--porcelain"]).is_some_and(|changes| !changes.is_empty());
    if changed { commit + "+" } else { commit }
}

#[cfg(test)]
mod tests {
    use super::commit;
    use std::path::Path;
    use std::process::Command;

    #[test]
    fn a_new_table_is_the_same_code() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let git = |arguments: &[&str]| {
            let identity = ["-c", "user.name=n", "-c", "user.email=e"];
            let output = Command::new("git").args(identity).args(arguments).current_dir(root).output();
            assert!(output.expect("git").status.success(), "{arguments:?}");
        };
        let write = |path: &Path, text: &str| std::fs::write(root.join(path), text).expect("writable");
        let (code, table) = (Path::new("code.rs"), Path::new("docs/benchmarks/soak.md"));
        std::fs::create_dir_all(root.join("docs/benchmarks")).expect("writable");
        assert_eq!(commit(root), "unknown");
        git(&["init", "-q"]);
        write(code, "1");
        write(table, "1");
        git(&["add", "."]);
        git(&["commit", "-qm", "first"]);
        let first = commit(root);
        assert_eq!(first.len(), 9);
        write(table, "2");
        assert_eq!(commit(root), first);
        git(&["commit", "-qam", "table"]);
        assert_eq!(commit(root), first);
        write(code, "2");
        assert_eq!(commit(root), first.clone() + "+");
        git(&["commit", "-qam", "code"]);
        assert_ne!(commit(root), first);
    }
}
