//! Starts the binary in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A scratch folder; the examples and the programs of these tests are reached by absolute paths.
pub struct Scratch {
    folder: tempfile::TempDir,
}

pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Scratch {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a scratch folder") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).expect("the scratch folder is writable");
        path
    }

    /// Runs `raddle` with these arguments; whatever happens, it must not panic or be killed.
    pub fn raddle<S: AsRef<std::ffi::OsStr>>(&self, args: &[S]) -> Ran {
        let output = self.command(args).output().expect("the binary starts");
        Ran::of(output)
    }

    pub fn command<S: AsRef<std::ffi::OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
        command.args(args).current_dir(self.folder.path());
        command
    }

    /// Names of all files below the folder, sorted.
    pub fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        collect(self.folder.path(), "", &mut found);
        found.sort();
        found
    }
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        let ran = Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        };
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!((0..=3).contains(&ran.code), "exit code {}:\n{all}", ran.code);
        assert!(!all.contains("panicked") && !all.contains("bug in Raddle"), "{all}");
        ran
    }

    pub fn expect(&self, code: i32, words: &[&str]) -> &Ran {
        let all = format!("{}{}", self.stdout, self.stderr);
        assert_eq!(self.code, code, "exit code; output:\n{all}");
        for word in words {
            assert!(all.contains(word), "`{word}` is missing in:\n{all}");
        }
        self
    }
}

/// A program of these tests.
pub fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

/// A program of the README.
pub fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

pub fn text(path: &Path) -> &str {
    path.to_str().expect("paths of the project are UTF-8")
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.path().is_dir() {
            true => collect(&entry.path(), &format!("{name}/"), found),
            false => found.push(name),
        }
    }
}
