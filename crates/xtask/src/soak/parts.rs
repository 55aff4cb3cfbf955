//! The parts of the soak: every test function that cargo builds, and the mutants.

use super::shares;
use crate::tool::{release_binary, target};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

pub(super) struct Part {
    /// `driver/static_is_sound`.
    group: String,
    /// The test, and which of its cases.
    test: String,
    pub(super) executable: PathBuf,
    pub(super) arguments: Vec<OsString>,
    /// Where it runs.
    pub(super) folder: PathBuf,
    pub(super) variables: Vec<(String, String)>,
    pub(super) share: Duration,
}

impl Part {
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.group, self.test)
    }

    /// It may take more time than nearly all others.
    pub(super) fn is_long(&self) -> bool {
        self.share > shares::USUAL
    }

    #[cfg(test)]
    pub(super) fn new(group: &str, test: &str, share: Duration) -> Part {
        let (group, test) = (group.to_owned(), test.to_owned());
        let (executable, folder) = (PathBuf::new(), PathBuf::new());
        Part { group, test, executable, arguments: Vec::new(), folder, variables: Vec::new(), share }
    }
}

/// Of these packages, or of all.
pub(super) fn all(root: &Path, packages: &[String], profile: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    for artifact in test_executables(root, packages, profile)? {
        parts.extend(tests_of(&artifact)?);
    }
    if packages.is_empty() {
        parts.extend(mutants(root)?);
    }
    Ok(parts)
}

struct Artifact {
    group: String,
    executable: PathBuf,
    folder: PathBuf,
}

fn test_executables(root: &Path, packages: &[String], profile: &str) -> Result<Vec<Artifact>, String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["test", "--profile", profile, "--no-run", "--message-format=json"]);
    match packages {
        [] => cargo.arg("--workspace"),
        named => cargo.args(named.iter().flat_map(|name| ["-p", name.as_str()])),
    };
    cargo.current_dir(root).stderr(std::process::Stdio::inherit());
    let output = cargo.output().map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err("the tests do not build".to_owned());
    }
    let mut artifacts = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        let (Some(executable), Some(manifest)) =
            (message["executable"].as_str(), message["manifest_path"].as_str())
        else {
            continue;
        };
        if message["profile"]["test"] != true {
            continue;
        }
        let folder = Path::new(manifest).parent().unwrap_or(root).to_path_buf();
        let package = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let target = message["target"]["name"].as_str().unwrap_or_default();
        let group = format!("{package}/{}", target.trim_start_matches("raddle_"));
        artifacts.push(Artifact { group, executable: executable.into(), folder });
    }
    artifacts.sort_by(|a, b| a.group.cmp(&b.group));
    Ok(artifacts)
}

fn tests_of(artifact: &Artifact) -> Result<Vec<Part>, String> {
    let output = Command::new(&artifact.executable)
        .args(["--list", "--format", "terse"])
        .current_dir(&artifact.folder)
        .output()
        .map_err(|error| format!("{}: {error}", artifact.executable.display()))?;
    let mut parts = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Some(test) = line.strip_suffix(": test") else { continue };
        let share = shares::of(&format!("{} {test}", artifact.group));
        for range in share.ranges() {
            let words = ["--exact", test, "--nocapture", "--test-threads=1"];
            let suffix = range.as_ref().map_or(String::new(), |range| format!(" {range}"));
            parts.push(Part {
                group: artifact.group.clone(),
                test: format!("{test}{suffix}"),
                executable: artifact.executable.clone(),
                arguments: words.map(OsString::from).to_vec(),
                folder: artifact.folder.clone(),
                variables: range.map(|range| ("RADDLE_PROGRAMS".to_owned(), range)).into_iter().collect(),
                share: share.time,
            });
        }
    }
    Ok(parts)
}

fn mutants(root: &Path) -> Result<Vec<Part>, String> {
    let binary = release_binary(root)?;
    let executable = std::env::current_exe().map_err(|error| error.to_string())?;
    let share = shares::of("mutants");
    let part = |range: String| {
        let mut arguments: Vec<OsString> =
            ["mutants", "--seeds", &range, "--binary"].map(OsString::from).to_vec();
        arguments.push(binary.clone().into());
        arguments.extend(["--jobs", "2", "--found"].map(OsString::from));
        arguments.push(target(root).join("soak/mutants").into());
        Part {
            group: "xtask/mutants".to_owned(),
            test: range,
            executable: executable.clone(),
            arguments,
            folder: root.to_path_buf(),
            variables: Vec::new(),
            share: share.time,
        }
    };
    Ok(share.ranges().into_iter().flatten().map(part).collect())
}
