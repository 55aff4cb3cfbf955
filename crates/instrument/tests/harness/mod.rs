//! Compiles C text, instruments it, links it with hooks that write down what they see, and runs it.

#![allow(dead_code)]

pub mod programs;

use std::path::Path;
use std::process::{Command, Output};

use raddle_instrument::{Built, Keep, Level, Options, Reduce, Text, Unit, build_with_text};

/// Hooks that log. Regions end at atomics, fences and calls of `sync_point`.
pub const LOG_HOOKS: &str = include_str!("log_hooks.c");

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
}

pub struct Workshop {
    folder: tempfile::TempDir,
}

impl Workshop {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    pub fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// Bitcode as `raddle cc` makes it.
    pub fn unit(&self, name: &str, text: &str, language: Language) -> Unit {
        let extension = if language == Language::Cxx { "cc" } else { "c" };
        let source = self.path(&format!("{name}.{extension}"));
        std::fs::write(&source, text).expect("the source is written");
        let bitcode = self.path(&format!("{name}.bc"));
        let flags = ["-O2", "-Xclang", "-disable-llvm-passes", "-g", "-fno-discard-value-names", "-w"];
        let status = Command::new(compiler(language))
            .args(flags)
            .args(if language == Language::C { &["-std=gnu23"][..] } else { &[] })
            .args(["-pthread", "-emit-llvm", "-c", "-o"])
            .args([&bitcode, &source])
            .status()
            .expect("clang runs");
        assert!(status.success(), "{name} does not compile:\n{text}");
        let bitcode = std::fs::read(&bitcode).expect("bitcode");
        Unit { source: source.display().to_string(), level: Level::O2, flags: Vec::new(), bitcode }
    }

    pub fn instrument(&self, units: &[Unit], reduce: Reduce) -> Built {
        let options = Options { reduce, ..Options::default() };
        build_with_text(units, &options, &|_| Keep::All, Text::Yes).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Links an object with hooks in C.
    pub fn link(&self, name: &str, object: &[u8], hooks: &str, language: Language) -> std::path::PathBuf {
        let path = self.path(&format!("{name}.o"));
        std::fs::write(&path, object).expect("the object is written");
        let stub = self.path("hooks.c");
        let stub_object = self.path("hooks.o");
        if !stub_object.exists() {
            std::fs::write(&stub, hooks).expect("the hooks are written");
            run(Command::new(compiler(Language::C))
                .args(["-O1", "-w", "-c", "-o"])
                .args([&stub_object, &stub]));
        }
        let program = self.path(name);
        run(Command::new(compiler(language))
            .arg("-o")
            .args([&program, &path, &stub_object])
            .args(["-lpthread", "-lm"]));
        program
    }
}

fn run(command: &mut Command) {
    let output = command.output().expect("the compiler runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Runs a program for at most ten seconds.
pub fn execute(program: &Path) -> Output {
    Command::new("timeout").arg("10").arg(program).output().expect("the program runs")
}

fn compiler(language: Language) -> &'static str {
    match language {
        Language::C => "clang-19",
        Language::Cxx => "clang++-19",
    }
}

/// How often each hook is called in the text of an instrumented program.
pub fn hook_calls(text: &str) -> std::collections::BTreeMap<String, usize> {
    let mut counts = std::collections::BTreeMap::new();
    for line in text.lines().filter(|line| line.contains("call ") && !line.starts_with("declare")) {
        if let Some((_, rest)) = line.split_once("@__raddle_")
            && let Some((name, _)) = rest.split_once('(')
        {
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
    counts
}
