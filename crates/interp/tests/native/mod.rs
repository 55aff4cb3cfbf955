//! Runs one C program natively and under the interpreter and compares what comes out.

use raddle_config::Config;
use raddle_frontend::{Request, load};
use raddle_interp::{Interp, Options};
use raddle_ir::DataModel;
use raddle_libmodel::Models;
use raddle_machine::{IgnoreEvents, Machine, Status};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

pub enum Verdict {
    Agrees,
    /// The native program did not end in time or was killed: nothing to compare with.
    NoReference,
    /// Raddle says that it does not understand the program: no wrong answer, but none either.
    NotUnderstood(String),
    Differs(String),
}

impl Verdict {
    pub fn not_understood(&self) -> Option<&String> {
        match self {
            Verdict::NotUnderstood(reason) => Some(reason),
            _ => None,
        }
    }

    pub fn complaint(&self) -> Option<&String> {
        match self {
            Verdict::Differs(text) => Some(text),
            _ => None,
        }
    }
}

/// Applies `job` to all items on two threads and keeps the order.
pub fn compare_all<T>(
    items: impl Iterator<Item = T> + Send,
    job: impl Fn(T) -> Verdict + Sync,
) -> Vec<Verdict> {
    let items = Mutex::new(items.enumerate());
    let next = || items.lock().expect("no item panicked").next();
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let worker = || {
                while let Some((index, item)) = next() {
                    let verdict = job(item);
                    done.lock().expect("no job panicked").push((index, verdict));
                }
            };
            std::thread::Builder::new()
                .stack_size(64 << 20)
                .spawn_scoped(scope, worker)
                .expect("a thread can be started");
        }
    });
    let mut done = done.into_inner().expect("no job panicked");
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, verdict)| verdict).collect()
}

pub fn compare(source: &Path, model: DataModel, cflags: &[&str]) -> Verdict {
    let text = std::fs::read_to_string(source).expect("a readable program");
    let args: Vec<String> = header(&text, "args").split_whitespace().map(str::to_owned).collect();
    let stdin = header(&text, "stdin").to_owned() + "\n";
    let Some(expected) = run_native(source, model, cflags, &args, &stdin) else {
        return Verdict::NoReference;
    };
    let got = match run_interpreted(source, model, cflags, &args, &stdin) {
        Ok(got) => got,
        Err(Failure::NotUnderstood(reason)) => return Verdict::NotUnderstood(reason),
        Err(Failure::Other(why)) => {
            return Verdict::Differs(format!("{} ({}): {why}", source.display(), model.name()));
        }
    };
    if got == expected {
        return Verdict::Agrees;
    }
    let show = |(output, code): &(Vec<u8>, i32)| format!("exit {code}\n{}", String::from_utf8_lossy(output));
    let line = first_difference(&expected.0, &got.0);
    Verdict::Differs(format!(
        "{} ({}): differs at output line {line}\n--- clang: {}\n--- raddle: {}",
        source.display(),
        model.name(),
        excerpt(&show(&expected), line),
        excerpt(&show(&got), line)
    ))
}

pub fn runs_32_bit() -> bool {
    static ANSWER: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *ANSWER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let source = folder.path().join("probe.c");
        std::fs::write(&source, "#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n")
            .expect("writable");
        run_native(&source, DataModel::Ilp32, &[], &[], "").is_some_and(|(_, code)| code == 0)
    })
}

pub fn csmith_program(folder: &Path, seed: u64, model: DataModel) -> PathBuf {
    // csmith keeps a file of its own in the working folder, which two of them at once would share.
    let folder = folder.join(format!("{}-{seed}", model.name()));
    std::fs::create_dir(&folder).expect("a fresh folder");
    let path = folder.join("program.c");
    let status = Command::new("csmith")
        .args(["--seed", &seed.to_string(), "--max-funcs", "6", "--max-block-depth", "4", "-o"])
        .arg(&path)
        .current_dir(&folder)
        .stdout(Stdio::null())
        .status()
        .expect("csmith is installed (scripts/setup.sh)");
    assert!(status.success(), "csmith failed on seed {seed}");
    path
}

fn header<'a>(text: &'a str, key: &str) -> &'a str {
    let start = format!("//@ {key}:");
    text.lines().find_map(|line| line.strip_prefix(&start)).map_or("", str::trim)
}

/// `None` when it does not compile, does not end within some seconds, or dies by a signal.
fn run_native(
    source: &Path,
    model: DataModel,
    cflags: &[&str],
    args: &[String],
    stdin: &str,
) -> Option<(Vec<u8>, i32)> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let binary = folder.path().join("program");
    let width: &[&str] = match model {
        DataModel::Lp64 => &["-m64"],
        // x87 arithmetic keeps excess precision that the IR does not have.
        DataModel::Ilp32 => &["-m32", "-msse2", "-mfpmath=sse"],
    };
    let compiled = Command::new("clang-19")
        .args(["-O0", "-w", "-fwrapv", "-Wno-error", "-Wno-int-conversion", "-Wno-implicit-int"])
        .args(["-Wno-implicit-function-declaration", "-Wno-return-mismatch", "-fcommon"])
        .args(width)
        .args(cflags)
        .arg(source)
        .arg("-o")
        .arg(&binary)
        .arg("-lm")
        .output()
        .expect("clang-19 is installed");
    if !compiled.status.success() {
        return None;
    }
    let mut child = Command::new("timeout")
        .arg("5")
        .arg(&binary)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("timeout is installed");
    child.stdin.take().expect("piped").write_all(stdin.as_bytes()).ok();
    let output = child.wait_with_output().expect("the program can be waited for");
    let code = output.status.code()?;
    // `timeout` answers 124; a program that dies by a signal has no code.
    (code != 124).then_some((output.stdout, code))
}

enum Failure {
    NotUnderstood(String),
    Other(String),
}

fn run_interpreted(
    source: &Path,
    model: DataModel,
    cflags: &[&str],
    args: &[String],
    stdin: &str,
) -> Result<(Vec<u8>, i32), Failure> {
    let request = Request {
        inputs: vec![source.to_path_buf()],
        cflags: cflags.iter().map(|f| (*f).to_owned()).collect(),
        data_model: Some(model),
        ..Request::default()
    };
    let loaded = load(&request).map_err(|e| Failure::Other(format!("frontend: {e}")))?;
    let models = Models::resolve(&loaded.program, &Config::default());
    let options = Options {
        args: std::iter::once("program".to_owned()).chain(args.iter().cloned()).collect(),
        stdin: stdin.as_bytes().to_vec(),
        ..Options::default()
    };
    let mut machine = Interp::new(Arc::new(loaded.program), Arc::new(models), options)
        .map_err(|e| Failure::Other(format!("start: {e}")))?;
    let mut choices = Vec::new();
    loop {
        match machine.status() {
            Status::Running => {
                choices.clear();
                machine.enabled(&mut choices);
                machine.step(choices[0], &mut IgnoreEvents);
            }
            Status::Exited(code) => return Ok((machine.output().to_vec(), code & 0xff)),
            Status::Unsupported { reason, .. } => return Err(Failure::NotUnderstood(reason)),
            other => return Err(Failure::Other(format!("{other:?} {:?}", machine.problems()))),
        }
    }
}

fn first_difference(a: &[u8], b: &[u8]) -> usize {
    let lines = |bytes: &[u8]| bytes.split(|c| *c == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let (a, b) = (lines(a), lines(b));
    (0..a.len().max(b.len())).find(|i| a.get(*i) != b.get(*i)).unwrap_or(0) + 1
}

fn excerpt(text: &str, line: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let from = line.saturating_sub(1).min(lines.len());
    let to = (line + 3).min(lines.len());
    format!("{}\n{}", lines.first().unwrap_or(&""), lines[from..to].join("\n"))
}
