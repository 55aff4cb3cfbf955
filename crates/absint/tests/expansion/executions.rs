//! Originals and expansions side by side: written programs, fixtures under random schedules, csmith's programs.

use crate::lockstep::{Input, Locals, compare};
use crate::{compile_file, roots, wild};
use raddle_absint::specialise::{self, Budget};
use raddle_config::Config;
use raddle_ir::expand::{Expanded, Recipe, apply};
use raddle_ir::{DataModel, Program, verify};
use raddle_libmodel::Models;
use raddle_machine::Status;
use raddle_testkit::fixtures::{DataModels, files, parse};
use raddle_testkit::random::Random;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Cases in an ordinary run and in a soak.
fn count(ordinary: u64, soak: u64) -> u64 {
    if std::env::var_os("RADDLE_SOAK").is_some() { soak } else { ordinary }
}

#[test]
fn written_programs_run_alike() {
    let mut total = Tally::default();
    for path in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/native")).expect("readable") {
        let text = std::fs::read_to_string(&path).expect("readable");
        let input = Input {
            args: header(&text, "args").split_whitespace().map(str::to_owned).collect(),
            stdin: format!("{}\n", header(&text, "stdin")).into_bytes(),
            steps: usize::MAX,
            instructions: 100_000_000,
            locals: Locals::Compare,
        };
        let flags = ["-std=gnu17".to_owned()];
        let (program, models) =
            compile_file(&path, DataModel::Lp64, &flags, &Config::default()).expect("it compiles");
        total.check(&path, &program, &models, &input, count(4, 40));
    }
    println!("written: {total:?}");
    assert!(total.unrolled >= 20 && total.copies >= 40 && total.exits > 0, "{total:?}");
}

#[test]
fn fixtures_run_alike_under_the_same_schedules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let mut total = Tally::default();
    let soak = count(0, 1) == 1;
    for (index, path) in files(&root).expect("readable").into_iter().enumerate() {
        if !soak && index % 4 != 0 {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("readable");
        let fixture = parse(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let config = fixture.config.as_ref().map(|name| {
            Config::load(path.with_file_name(name)).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        });
        let model = match fixture.data_models {
            DataModels::Ilp32 => DataModel::Ilp32,
            DataModels::Lp64 | DataModels::Both => DataModel::Lp64,
        };
        let compiled = compile_file(&path, model, &fixture.cflags, &config.unwrap_or_default());
        let (program, models) = compiled.expect("it compiles");
        let input = Input {
            args: fixture.args,
            stdin: fixture.stdin.into_bytes(),
            steps: 300,
            instructions: 100_000_000,
            // Behind a call that never returns, an expansion has no code that takes the address of a local.
            locals: if path.ends_with("unwinding/cleanup_in_caller.c") {
                Locals::Ignore
            } else {
                Locals::Compare
            },
        };
        total.check(&path, &program, &models, &input, count(3, 20));
    }
    println!("fixtures: {total:?}");
    assert!(total.unrolled >= 20 && total.copies >= 100 && total.events > 1_000, "{total:?}");
}

#[test]
fn generated_programs_run_alike() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut total = Tally::default();
    for seed in 1..=count(8, 200) {
        let path = csmith_program(folder.path(), seed);
        let flags = ["-I/usr/include/csmith".to_owned(), "-w".to_owned()];
        let Ok((program, models)) = compile_file(&path, DataModel::Lp64, &flags, &Config::default()) else {
            continue;
        };
        let input = Input {
            args: Vec::new(),
            stdin: Vec::new(),
            steps: 2_000,
            instructions: 3_000_000,
            locals: Locals::Ignore,
        };
        total.check(&path, &program, &models, &input, 2);
    }
    println!("csmith: {total:?}");
    assert!(total.unrolled >= 400 && total.exits >= 5, "{total:?}");
}

#[derive(Debug, Default)]
struct Tally {
    runs: usize,
    exits: usize,
    events: usize,
    unrolled: usize,
    copies: usize,
}

impl Tally {
    /// The policy's recipe and some wild ones, each under its own schedule.
    fn check(&mut self, path: &Path, program: &Program, models: &Models, input: &Input, rounds: u64) {
        for round in 0..rounds {
            let mut random = Random::new(round);
            let recipe = match round {
                0 => specialise::recipe(program, models, &roots(program), Budget::default()),
                _ => wild::recipe(program, &mut random),
            };
            let expanded = expand(path, program, &recipe);
            self.unrolled += recipe.functions.iter().map(|f| f.unroll.len()).sum::<usize>();
            self.copies += recipe.functions.len() - program.functions.len();
            match compare(program, models, &expanded, input, round) {
                Ok(ran) => {
                    self.runs += 1;
                    self.events += ran.events;
                    self.exits += usize::from(matches!(ran.status, Status::Exited(_)));
                }
                Err(why) => panic!("{} round {round}: {why}", path.display()),
            }
        }
    }
}

fn expand(path: &Path, program: &Program, recipe: &Recipe) -> Expanded {
    let expanded = apply(program, recipe).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    verify(&expanded.program).expect("an expanded program is well formed");
    for (site, origin) in expanded.site_origin.iter() {
        let (new, old) = (expanded.program.sites[site], program.sites[*origin]);
        assert_eq!((expanded.function_origin[new.function], new.span), (old.function, old.span));
    }
    expanded
}

fn header<'a>(text: &'a str, key: &str) -> &'a str {
    let start = format!("//@ {key}:");
    text.lines().find_map(|line| line.strip_prefix(&start)).map_or("", str::trim)
}

fn csmith_program(folder: &Path, seed: u64) -> PathBuf {
    // csmith keeps a file of its own in the working folder.
    let folder = folder.join(seed.to_string());
    std::fs::create_dir(&folder).expect("a fresh folder");
    let path = folder.join("program.c");
    let status = Command::new("csmith")
        .args(["--seed", &seed.to_string(), "--max-funcs", "5", "--max-block-depth", "4", "-o"])
        .arg(&path)
        .current_dir(&folder)
        .stdout(Stdio::null())
        .status()
        .expect("csmith is installed (scripts/setup.sh)");
    assert!(status.success(), "csmith failed on seed {seed}");
    path
}
