//! Claims against runs: over all fixtures, the programs that are compared with native code, and random programs with threads.

use crate::instrumented::instrument;
use crate::{compile, compile_file, solve};
use raddle_base::Id;
use raddle_config::Config;
use raddle_facts::{Interval, MemoryFact, Root, Term, Values};
use raddle_interp::Options;
use raddle_ir::{BlockId, DataModel, FunctionId, Operand, Program, Terminator, verify};
use raddle_libmodel::{Effect, Meaning, Models, ThreadOp};
use raddle_testkit::fixtures;
use raddle_testkit::programs::{Profile, Sample, batch, generate, prefix, slice};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn soak() -> bool {
    std::env::var_os("RADDLE_SOAK").is_some()
}

/// Claims made, and those that some run breaks.
fn check(program: &Program, models: &Models, options: &Options, seeds: u64) -> (usize, Vec<String>) {
    let solved = solve(program, models);
    let mut made = 0;
    let mut broken = Vec::new();
    for values in [&solved.first, &solved.values] {
        let instrumented = instrument(program, models, values);
        if let Err(errors) = verify(&taken_branches(instrumented.program.clone(), values)) {
            broken.push(format!("a term out of scope: {errors:?}"));
            continue;
        }
        made += instrumented.claims();
        for seed in 0..seeds {
            match instrumented.broken(options, seed, 4000) {
                Ok(more) => broken.extend(more),
                Err(_) => break,
            }
        }
    }
    broken.sort();
    broken.dedup();
    (made, broken)
}

/// The program without the branches that are never taken: what a term names has a value on all other ways.
fn taken_branches(mut program: Program, values: &Values) -> Program {
    let ids: Vec<FunctionId> = values.terms.ids().collect();
    for id in ids {
        let constant = |operand: Operand| match operand {
            Operand::Reg(reg) => {
                values.terms[id].get(reg.index()).copied().flatten().and_then(Term::as_constant)
            }
            Operand::Const(value) => Some(value as i64),
            _ => None,
        };
        let function = &mut program.functions[id];
        let blocks: Vec<BlockId> = function.blocks.ids().collect();
        for from in blocks {
            let Terminator::CondBr { cond, then, other } = function.blocks[from].terminator else { continue };
            let Some(value) = constant(cond).filter(|_| then != other) else { continue };
            let (to, never) = if value == 0 { (other, then) } else { (then, other) };
            function.blocks[from].terminator = Terminator::Br(to);
            for phi in &mut function.blocks[never].phis {
                phi.incoming.retain(|(block, _)| *block != from);
            }
        }
    }
    program
}

fn fine(segment_limit: u64) -> Options {
    Options { segment_limit, ..Options::default() }
}

#[test]
fn fixtures_keep_what_is_said_of_them() {
    let mut made = 0;
    let mut wrong = Vec::new();
    let (seeds, every) = if soak() { (60, 1) } else { (4, 12) };
    for path in fixtures::files(&root().join("tests/fixtures")).expect("fixtures").into_iter().step_by(every)
    {
        let text = std::fs::read_to_string(&path).expect("readable");
        let Ok(fixture) = fixtures::parse(&text) else { continue };
        let Ok((program, models)) = compile_file(&path, DataModel::Lp64, &fixture.cflags) else { continue };
        // A clean-up handler that runs when its thread exits is a gap.
        if models.meanings.values().any(is_cleanup) && models.meanings.values().any(is_exit) {
            continue;
        }
        let options = Options {
            args: std::iter::once("program".to_owned()).chain(fixture.args).collect(),
            stdin: fixture.stdin.into_bytes(),
            ..fine(7)
        };
        let (claims, broken) = check(&program, &models, &options, seeds);
        made += claims;
        wrong.extend(broken.into_iter().map(|text| format!("{}: {text}", path.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(made > 1_000, "only {made} claims");
}

fn is_cleanup(meaning: &Meaning) -> bool {
    matches!(meaning, Meaning::Effect(Effect::Thread(ThreadOp::CleanupRegister, _), _))
}

fn is_exit(meaning: &Meaning) -> bool {
    matches!(meaning, Meaning::Effect(Effect::Thread(ThreadOp::Exit { .. }, _), _))
}

#[test]
fn native_programs_keep_what_is_said_of_them() {
    let mut made = 0;
    let mut wrong = Vec::new();
    for path in fixtures::files(&root().join("tests/native")).expect("programs") {
        let (program, models) = compile_file(&path, DataModel::Lp64, &[]).expect("it compiles");
        let (claims, broken) = check(&program, &models, &Options::default(), 1);
        made += claims;
        wrong.extend(broken.into_iter().map(|text| format!("{}: {text}", path.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(made > 5_000, "only {made} claims");
}

#[test]
fn a_wrong_claim_is_noticed() {
    let source = "static int g;
        int main(void) {
            for (int i = 0; i < 10; i++) g = i;
            if (g == 9) g = 3;
            return g;
        }";
    let (program, models) = compile(source);
    let right = solve(&program, &models).values;
    let main = program.function_by_symbol("main").expect("main");
    let broken =
        |values: &Values| instrument(&program, &models, values).broken(&fine(7), 0, 100).expect("it runs");
    assert!(broken(&right).is_empty());
    let mut unreachable = right.clone();
    *unreachable.reachable[main].last_mut().expect("blocks") = false;
    assert_eq!(broken(&unreachable).len(), 1);
    for reg in program.functions[main].regs.ids() {
        let mut wrong = right.clone();
        wrong.terms[main][reg.index()] = Some(Term::constant(77));
        assert!(!broken(&wrong).is_empty(), "{reg} is not 77");
        let mut wrong = right.clone();
        wrong.intervals[main][reg.index()] = Interval { low: 60, high: 66 };
        assert!(!broken(&wrong).is_empty(), "{reg} is not between 60 and 66");
    }
    let g = program.globals.ids().next().expect("a global");
    let mut wrong = right.clone();
    let last = wrong.memory[main].len() - 1;
    let cell = Term::root(Root::Global(g));
    wrong.memory[main][last].push(MemoryFact { cell, bytes: 4, value: Term::constant(8) });
    assert_eq!(broken(&wrong).len(), 1);
}

#[test]
fn random_programs_keep_what_is_said_of_them() {
    let (programs, seeds) = if soak() { (6_000, 25) } else { (60, 6) };
    let mut made = 0;
    let mut wrong = Vec::new();
    for first in (0..programs).step_by(60) {
        let samples: Vec<Sample> =
            (first..first + 60).map(|seed| generate(seed, &Profile::default())).collect();
        let (whole, _) = compile(&batch(&samples));
        for (index, sample) in samples.iter().enumerate() {
            let Some(program) = slice(&whole, &prefix(index)) else { continue };
            let models = Models::resolve(&program, &Config::default());
            let (claims, broken) = check(&program, &models, &fine(3), seeds);
            made += claims;
            wrong.extend(broken.into_iter().map(|text| format!("seed {}: {text}", sample.seed)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(made > 2_000, "only {made} claims");
}
