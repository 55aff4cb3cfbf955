//! From a request to a program that can run: configuration, frontend, verification, library models.

use crate::{DriverError, OutsideValues, Spurious, Subject, consume, input};
use raddle_base::{FenceOrder, LoadOrder, RmwOrder, StableHasher, StoreOrder};
use raddle_config::Config;
use raddle_finding::UnknownReason;
use raddle_frontend::{Release, Request};
use raddle_interp::values::SmallFirst;
use raddle_interp::{Options, Outside, SpuriousWakeups};
use raddle_ir::{Inst, Operand, Program};
use raddle_libmodel::{CondOp, Effect, How, Meaning, Models, SemOp, ThreadOp};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// A program ready to run.
pub(crate) struct Loaded {
    pub(crate) program: Arc<Program>,
    pub(crate) models: Arc<Models>,
    pub(crate) options: Options,
    pub(crate) hash: OnceLock<u128>,
    pub(crate) config: Option<PathBuf>,
    pub(crate) stdin_digest: Option<u128>,
    pub(crate) warnings: Vec<String>,
    pub(crate) assumptions: Vec<&'static str>,
    /// Names of functions that clients call.
    pub(crate) entries: Vec<String>,
    pub(crate) has_main: bool,
    /// Bugs of ours met on the way: no `safe` any more.
    pub(crate) bugs: Vec<UnknownReason>,
    /// Set to stop what is done with it.
    pub(crate) stop: Arc<AtomicBool>,
    /// Kept until the end: LLVM is taken apart meanwhile.
    pub(crate) _release: Option<Release>,
}

/// A program without `main` needs entries that clients call. `stop` is set to stop this and what is done with the program.
pub(crate) fn load(subject: &Subject, stop: &Arc<AtomicBool>) -> Result<Loaded, DriverError> {
    let config_path = subject.config.clone().or_else(|| config_nearby(&subject.inputs));
    let mut config = config_path.as_ref().map(Config::load).transpose()?.unwrap_or_default();
    config.external = subject.external.unwrap_or(config.external);
    let request = Request {
        inputs: subject.inputs.clone(),
        cflags: subject.cflags.clone(),
        data_model: subject.data_model,
        target: subject.target.clone(),
        stop: Arc::clone(stop),
    };
    let built = raddle_frontend::load(&request)?;
    let program = built.program;
    let entries: Vec<String> = subject.entries.iter().chain(&config.entries).cloned().collect();
    let has_main =
        program.function_by_symbol("main").is_some_and(|main| program.functions[main].is_defined());
    if !has_main && entries.is_empty() {
        return Err(DriverError::NoMain);
    }
    let mut bugs = Vec::new();
    if let Err(errors) = raddle_ir::verify(&program) {
        let first = errors.first().map(ToString::to_string).unwrap_or_default();
        bugs.push(crate::bug(&format!("the lowered program is not well formed ({first})")));
    }
    let mut assumptions = built.assumptions;
    if reads_arguments(&program) {
        assumptions.push("A-INPUT");
    }
    let models = Models::resolve(&program, &config);
    if input::has_environ(&program) || input::has_program_name(&program) {
        assumptions.push("A-INPUT");
    }
    let stdin = input::stdin(subject, &models)?;
    let stdin_digest = stdin.as_deref().map(digest);
    let (env, about_env) = input::environment(subject, &program, &models);
    let warnings = built.warnings.into_iter().chain(about_env).collect();
    let mut options = options(subject, stdin.unwrap_or_default(), env);
    if subject.values == OutsideValues::SmallFirst {
        options.values = Arc::new(SmallFirst::of(&program));
    }
    let mut loaded = Loaded {
        hash: OnceLock::new(),
        program: Arc::new(program),
        models: Arc::new(models),
        stdin_digest,
        options,
        config: config_path,
        warnings,
        assumptions,
        entries,
        has_main,
        bugs,
        stop: Arc::clone(stop),
        _release: Some(built.release),
    };
    let files = loaded.program.files.values().map(PathBuf::from).chain(subject.inputs.iter().cloned());
    if loaded.has_weak_atomics() && consume::is_named(files) {
        loaded.assumptions.push("A-CONSUME");
    }
    Ok(loaded)
}

impl Loaded {
    /// A program that somebody else has read.
    pub(crate) fn of_program(program: Program, config: &Config) -> Self {
        let models = Models::resolve(&program, config);
        Self {
            program: Arc::new(program),
            models: Arc::new(models),
            options: Options::default(),
            hash: OnceLock::new(),
            config: None,
            stdin_digest: None,
            warnings: Vec::new(),
            assumptions: Vec::new(),
            entries: Vec::new(),
            has_main: true,
            bugs: Vec::new(),
            stop: Arc::default(),
            _release: None,
        }
    }

    /// Of the program; found when it is first asked for.
    pub(crate) fn hash(&self) -> u128 {
        *self.hash.get_or_init(|| raddle_ir::program_hash(&self.program))
    }

    pub(crate) fn certify_subject(&self) -> raddle_certify::Subject {
        raddle_certify::Subject {
            program: Arc::clone(&self.program),
            models: Arc::clone(&self.models),
            options: self.options.clone(),
            stop: Arc::clone(&self.stop),
        }
    }

    /// Names of functions that are declared, never defined, and known to no model; sorted, the first few.
    pub(crate) fn unknown_functions(&self) -> Vec<&str> {
        const SHOWN: usize = 6;
        let unknown = self.models.meanings.iter().filter(|(_, meaning)| **meaning == Meaning::Unknown);
        let mut names: Vec<&str> =
            unknown.map(|(id, _)| self.program.text(self.program.functions[id].name)).collect();
        names.sort_unstable();
        if names.len() > SHOWN {
            names.truncate(SHOWN);
            names.push("…");
        }
        names
    }

    /// Whether some inline assembly of the program may do more than hold the compiler or the processor back.
    pub(crate) fn has_assembly(&self) -> bool {
        let blocks = self.program.functions.values().flat_map(|function| function.blocks.values());
        blocks.flat_map(|block| &block.insts).any(|inst| matches!(inst, Inst::Asm { .. }))
    }

    /// Whether the program has atomic operations weaker than `seq_cst`, or such whose order only a run tells.
    pub(crate) fn has_weak_atomics(&self) -> bool {
        let called =
            self.models.meanings.values().any(|m| matches!(m, Meaning::Effect(Effect::Atomic(_), _)));
        let blocks = self.program.functions.values().flat_map(|function| function.blocks.values());
        called
            || blocks.flat_map(|block| &block.insts).any(|inst| match inst {
                Inst::Load { atomic: Some(order), .. } => *order != LoadOrder::SeqCst,
                Inst::Store { atomic: Some(order), .. } => *order != StoreOrder::SeqCst,
                Inst::Rmw { order, .. } => *order != RmwOrder::SeqCst,
                Inst::CmpXchg(exchange) => {
                    exchange.on_success != RmwOrder::SeqCst || exchange.on_failure != LoadOrder::SeqCst
                }
                Inst::Fence { order } => *order != FenceOrder::SeqCst,
                _ => false,
            })
    }

    /// Whether some operation of the program may have an outcome that tells a thread something without ordering anything.
    pub(crate) fn has_unordered_outcomes(&self) -> bool {
        let modelled = self.models.meanings.values().any(|meaning| match meaning {
            Meaning::Effect(effect, _) => unordered_outcome(effect),
            _ => false,
        });
        let blocks = self.program.functions.values().flat_map(|function| function.blocks.values());
        modelled || blocks.flat_map(|block| &block.insts).any(|inst| matches!(inst, Inst::CmpXchg(_)))
    }
}

/// Failed try and timed operations, successful compare-exchanges, the value of a semaphore, what is ready and which numbers descriptors get.
fn unordered_outcome(effect: &Effect) -> bool {
    match effect {
        Effect::Lock { how, .. }
        | Effect::Sem(SemOp::Wait { how, .. }, _)
        | Effect::Cond(CondOp::Wait { how, .. }, _)
        | Effect::Thread(ThreadOp::Join { how, .. }, _) => *how != How::Block,
        Effect::Sem(SemOp::GetValue { .. }, _) | Effect::Atomic(_) => true,
        Effect::Libc(function) => function.descriptor_use().is_some(),
        _ => false,
    }
}

/// Whether `main` looks at its parameters.
fn reads_arguments(program: &Program) -> bool {
    let Some(main) = program.function_by_symbol("main").map(|main| &program.functions[main]) else {
        return false;
    };
    let mut reads = false;
    let mut look = |operand: Operand| {
        reads |= matches!(operand, Operand::Reg(reg) if main.params.iter().any(|param| param.reg == reg));
    };
    for block in main.blocks.values() {
        block.phis.iter().flat_map(|phi| &phi.incoming).for_each(|(_, value)| look(*value));
        block.insts.iter().for_each(|inst| inst.each_operand(&mut look));
        block.terminator.each_operand(&mut look);
    }
    reads
}

fn options(subject: &Subject, stdin: Vec<u8>, env: Vec<(String, String)>) -> Options {
    let name = subject.inputs.first().and_then(|input| input.file_stem()).map(|stem| stem.to_string_lossy());
    let mut args = vec![name.as_deref().unwrap_or("program").to_owned()];
    args.extend(subject.args.iter().cloned());
    let spurious_wakeups = match subject.spurious {
        Spurious::On => SpuriousWakeups::On,
        Spurious::Off => SpuriousWakeups::Off,
    };
    Options { args, stdin, env, spurious_wakeups, files: Arc::new(Outside::readable()), ..Options::default() }
}

/// The `raddle.toml` of the project that is being built: in the working folder, or the nearest one above it.
pub(crate) fn config_above() -> Option<PathBuf> {
    let folder = std::env::current_dir().ok()?;
    folder.ancestors().map(|folder| folder.join("raddle.toml")).find(|path| path.is_file())
}

/// `raddle.toml` beside the first input, else in the current folder.
pub(crate) fn config_nearby(inputs: &[PathBuf]) -> Option<PathBuf> {
    let beside = inputs.first().and_then(|input| input.parent()).map(|folder| folder.join("raddle.toml"));
    beside.into_iter().chain([PathBuf::from("raddle.toml")]).find(|path| path.is_file())
}

pub(crate) fn digest(bytes: &[u8]) -> u128 {
    let mut hasher = StableHasher::new();
    hasher.bytes(bytes);
    hasher.finish128()
}
